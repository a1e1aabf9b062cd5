"""The page of one picture: it allows itself its own script, and no name in it becomes code."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import headwater
from headwater.view.diagram import Box, Diagram, End, Line, Port
from headwater.view.report import to_page

HOSTILE = "</script><script>alert(1)</script>"


def test_the_policy_names_the_page_s_own_script_and_style():
    page = to_page(Diagram((Box("a", "a"),)))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    for tag, text in re.findall(r"<(script|style)>(.*?)</(?:script|style)>", page, re.DOTALL):
        assert b64encode(sha256(text.encode()).digest()).decode() in policy, tag
    assert "default-src 'none'" in policy
    assert not re.search(r"https?://(?!www\.w3\.org)", page), "nothing is fetched"


def test_names_stay_text():
    box = Box(HOSTILE, HOSTILE, (Port(HOSTILE, HOSTILE),))
    page = to_page(Diagram((box,), (Line(End(HOSTILE), End(HOSTILE, HOSTILE)),)), title=HOSTILE)
    assert page.count("<script>") == 1
    data = re.search(r'id="lines">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(data) == [[HOSTILE, None, HOSTILE, HOSTILE]]


def test_results_have_the_format():
    page = headwater.analyze("INSERT INTO d SELECT a FROM t").to_text("html")
    assert page.startswith("<!doctype html>")
    assert 'id="port-t-a"' in page


def test_notebooks_show_the_picture():
    result = headwater.analyze("INSERT INTO d SELECT a FROM t")
    bundle = result._repr_mimebundle_()
    assert bundle["text/html"].startswith("<svg")
    assert bundle["text/vnd.mermaid"].startswith("flowchart")

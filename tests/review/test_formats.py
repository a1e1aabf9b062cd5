"""The formats of a review: what hosts take, and what is safe to show."""

import json
import re
from html.parser import HTMLParser

import pytest
from tests.review.history import History

STAGING, MART = "sql/1_staging.sql", "sql/2_mart.sql"
LEVELS = {"none", "note", "warning", "error"}


@pytest.fixture
def changed(shop):
    shop.replace(STAGING, "o.amount AS total, ", "")
    shop.replace(STAGING, "email, ", "email, phone, ")
    return shop


def test_text(changed):
    done = changed.run()
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[1].startswith("1 breaking, 0 possibly breaking, 1 additive")
    assert "    - total: column removed  sql/1_staging.sql:1" in lines
    assert any("read by mart.revenue.revenue (sql/2_mart.sql:2)" in line for line in lines)
    assert lines[-3:] == ["To rebuild", "  stg.orders", "  stg.customers"] or "  stg.orders" in lines


@pytest.mark.parametrize(
    ("fails", "code"), [((), 0), (("breaking",), 1), (("new-issues",), 1), (("pii",), 0), (("pii", "breaking"), 1)]
)
def test_exit_codes(changed, fails, code):
    done = changed.run(*(word for each in fails for word in ("--fail-on", each)))
    assert done.returncode == code
    assert ("fails on" in done.stderr) == bool(code)


def test_exit_codes_without_a_change(shop):
    assert shop.run("--fail-on", "breaking", "--fail-on", "new-issues", "--fail-on", "pii").returncode == 0


def test_a_comment_is_marked_folded_and_drawn(changed):
    text = changed.run("--format", "github").stdout
    assert text.startswith("<!-- headwater-pr -->\n### Lineage: 1 breaking")
    assert text.count("<details") == text.count("</details>") >= 3
    assert "<details open><summary>Breaking" in text
    drawn = re.search(r"```mermaid\n(.*?)```", text, re.DOTALL)[1]
    assert drawn.startswith("flowchart LR")
    assert '["total"]' in drawn
    removed = re.search(r'(n\d+)\["total"\]', drawn)[1]
    assert re.search(rf"class \S*\b{removed}\b\S* removed", drawn)
    assert changed.run("--format", "gitlab").stdout == text


def test_a_comment_says_what_it_leaves_out(tmp_path):
    tables = 900
    files = {
        f"t{number}.sql": f"CREATE TABLE a_rather_long_name_of_a_schema.t{number} AS SELECT x FROM s;"
        for number in range(tables)
    }
    there = History(tmp_path / "r", {"a.sql": "CREATE TABLE a AS SELECT x FROM s;"})
    there.write(files)
    text = there.run("--format", "github").stdout
    assert len(text) < 65_000
    left = int(re.search(r"… and ([\d,]+) more, left out here", text)[1].replace(",", ""))
    shown = len(re.findall(r"^\| \+ \|", text, re.MULTILINE))
    assert shown + left == tables
    assert shown > 100


def test_names_cannot_become_markup(tmp_path):
    hostile = "`</details><img src=x>|@everyone`"
    there = History(tmp_path / "r", {"a.sql": "CREATE TABLE a AS SELECT x FROM s;"})
    there.write(
        {
            "a.sql": f"CREATE TABLE a AS SELECT x AS {hostile} FROM s;",
            "b.sql": f"CREATE TABLE {hostile} AS SELECT 1 AS y;",
        }
    )
    text = there.run("--dialect", "mysql", "--format", "github").stdout
    outside = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    assert "<img" not in outside
    assert "@everyone" not in outside
    page = there.run("--dialect", "mysql", "--format", "html").stdout
    assert "<img" not in page


def test_sarif(changed):
    log = json.loads(changed.run("--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in LEVELS
        assert result["message"]["text"]
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert re.fullmatch(r"[\w./%-]+", place["artifactLocation"]["uri"])
            assert place["region"]["startLine"] >= 1
    places = {
        (each["ruleId"], each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for each in run["results"]
    }
    assert places == {("column-removed", STAGING), ("UNKNOWN_COLUMN", MART)}


def test_the_page_stands_alone(changed):
    page = changed.run("--format", "html").stdout
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append((tag, dict(attrs)))

    Reader().feed(page)
    assert [tag for tag, _ in seen].count("svg") == 2
    assert not [attrs for _, attrs in seen if {"src", "href"} & attrs.keys()]
    before, after = page.split("<h2>After</h2>")[0], page.split("<h2>After</h2>")[1].split("</svg>")[0]
    assert ">total</text>" in before
    assert ">phone</text>" in after
    assert ">phone</text>" not in before
    assert "script" not in [tag for tag, _ in seen]


def test_owners_of_readers_are_named(changed):
    changed.write({"headwater.policy.toml": '[[owners]]\ntables = ["mart.*"]\nowner = "Finance"\n'})
    assert "mart.revenue.revenue (sql/2_mart.sql:2, Finance)" in changed.run().stdout


def test_of_long_expressions_the_difference_is_shown(shop):
    cases = " ".join(f"WHEN o.state = 'state number {at}' THEN {at}" for at in range(12))
    shop.replace("sql/1_staging.sql", "o.amount AS total", f"CASE {cases} ELSE 0 END AS total")
    shop.commit("long")
    shop.replace("sql/1_staging.sql", "'state number 7' THEN 7", "'state number 7' THEN 70")
    lines = shop.run().stdout.splitlines()
    assert "        … number 7' THEN 7 WHEN o.state = … ⇒ … number 7' THEN 70 WHEN o.state = …" in lines

"""The rows behind a row, over HTTP and in a real browser."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.server.browsing import wait
from tests.server.conftest import client_of, serving

from headwater.query import connect
from headwater.query.sandbox import ReadLimits
from headwater.server.options import Limits

TABLES = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer VARCHAR, amount DOUBLE);
INSERT INTO orders VALUES (1, 'ann', 1.5), (2, 'b''<b>', 2.5), (3, 'ann', 4), (4, NULL, 7);
CREATE TABLE sums AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;
CREATE TABLE best (PRIMARY KEY (total)) AS SELECT total, customer FROM sums WHERE total > 1;
"""


@pytest.fixture
def folder(tmp_path):
    with connect(tmp_path / "lake") as session:
        session.sql(TABLES)
        (tmp_path / "in.csv").write_text("id\n1\n")
        session.sql(f"CREATE TABLE loaded AS SELECT * FROM read_csv('{tmp_path}/in.csv')")
    return tmp_path / "lake"


@pytest.fixture
def ask(folder):
    with client_of(folder) as client:
        yield lambda **question: client.post("/api/v1/why-row", json=question)


def test_one_hop_of_rows(ask):
    answer = ask(table="sums", row={"customer": "ann", "total": "5.5"}).json()
    (hop,) = answer["hops"]
    assert hop["verified"] is True
    assert [(each["dataset"], each["snapshot"], each["count"]) for each in hop["inputs"]] == [
        ("default.orders", 1, 2)
    ]
    assert hop["inputs"][0]["rows"]["rows"] == [[1, "ann", 1.5], [3, "ann", 4.0]]
    assert answer["keys"] == {"default.orders": ["id"], "default.sums": []}


def test_a_row_without_a_value_and_one_with_quotes(ask):
    assert ask(table="sums", row={"customer": None}).json()["hops"][0]["inputs"][0]["rows"]["rows"] == [
        [4, None, 7.0]
    ]
    assert ask(table="sums", row={"customer": "b'<b>"}).json()["hops"][0]["inputs"][0]["count"] == 1


def test_no_value_becomes_sql(ask):
    assert ask(table="sums", row={"customer": "x' OR true --"}).status_code == 400
    refused = ask(table="sums", row={'customer" IS NULL OR true --': "x"})
    assert refused.status_code == 400
    assert ask(table="sums", row={}).status_code == 400
    assert ask(table="none", row={"a": "1"}).status_code == 404


def test_files_outside_of_the_lake_are_not_read(ask):
    (hop,) = ask(table="loaded", row={"id": "1"}).json()["hops"]
    assert "only `headwater why` on the command line" in hop["reason"]
    assert hop["files"] == []


def test_it_ends_when_it_takes_too_much(folder):
    """A count is quick; the list of all rows behind it is not."""
    with connect(folder) as session:
        session.sql("CREATE TABLE n AS SELECT 1 AS a")
        session.sql("CREATE TABLE slow AS SELECT count(*) AS c FROM n, range(100000000)")
    with client_of(folder, limits=Limits(sql=ReadLimits(seconds=0.5, memory=1 << 28))) as client:
        answer = client.post("/api/v1/why-row", json={"table": "slow", "row": {"c": "100000000"}})
    assert answer.json()["error"]["code"] in ("time-limit", "memory-limit")


@pytest.mark.ui
def test_values_lead_down_and_back(page, folder):
    with serving(folder) as (_, base):
        page.goto(f"{base}tables?table=default.best&tab=rows")
        page.click("a.value:has-text('5.5')")
        page.wait_for_selector("text=Made of 1 row of default.sums@1")
        page.click(".behind a.value:has-text('ann')")
        page.wait_for_selector("text=Made of 2 rows of default.orders@1")
        page.click(".behind a.value:has-text('1.5')")
        page.wait_for_selector("text=Loaded from outside by this commit.")
        steps = [json.loads(each) for each in parse_qs(urlsplit(page.url).query)["step"]]
        assert [(each["table"], each["column"]) for each in steps] == [
            *(("default.best", "total"), ("default.sums", "customer"), ("default.orders", "amount"))
        ]
        page.reload()
        page.wait_for_selector("text=Loaded from outside by this commit.")
        page.click(".trail a:has-text('default.sums@1')")
        page.wait_for_selector("text=Made of 2 rows of default.orders@1")
        page.go_back()
        page.wait_for_selector("text=Loaded from outside by this commit.")
        page.goto(f"{base}why?step=nonsense")
        page.wait_for_selector("text=Which row?")


@pytest.mark.ui
def test_hostile_values_stay_text(page, folder):
    with serving(folder) as (_, base):
        page.goto(f"{base}tables?table=default.sums&tab=rows")
        page.click("a.value:has-text('<b>')")
        page.wait_for_selector("text=Made of 1 row of default.orders@1")
        assert page.locator(".why b b, .why td b").count() == 0
        page.click("text=The whole row")
        wait(page, "() => document.body.innerText.includes('Checked: the query over these rows alone')")

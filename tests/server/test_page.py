"""The page in a real browser: tables, runs, issues, SQL, and what no name and no stranger may do."""

import json
import re
from urllib.parse import quote

import pytest
from tests.effort import first_then_slow
from tests.graph.conftest import STAGING, harvested
from tests.server.browsing import drawn, graph, wait
from tests.server.conftest import serving

from headwater.graph import GraphStore
from headwater.graph.check_data import check_tables, declare
from headwater.graph.observed import ingest
from headwater.lake.tables import Warehouse
from headwater.query import connect

pytestmark = pytest.mark.ui


def test_the_warehouse_can_be_browsed(page):
    page.goto(f"{page.base}tables")
    page.wait_for_selector(".list a")
    assert page.locator(".list a").count() == 3, "without our own books"
    page.click("text=Show the graph's own tables")
    page.wait_for_selector(".list >> text=lineage.edges")
    page.click("text=Hide the graph's own tables")
    wait(page, "() => document.querySelectorAll('.list a').length === 3")
    page.click("text=raw.orders")
    page.wait_for_selector("h1:has-text('raw.orders')")
    assert "+ channel STRING" in page.inner_text(".history")
    page.click("[role=tab]:has-text('Snapshots')")
    page.wait_for_selector("text=snapshot 3")
    assert "made from" in page.inner_text(".history")
    page.click("[role=tab]:has-text('Levels')")
    page.wait_for_selector("svg.levels rect")
    assert page.locator("svg.levels rect").count() == 3
    page.click("[role=tab]:has-text('Runs')")
    page.wait_for_selector("text=No run that was observed read or wrote it")
    page.click("[role=tab]:has-text('Files')")
    page.wait_for_selector("text=.sst")
    page.click("[role=tab]:has-text('Rows')")
    page.wait_for_selector("text=cancelled")
    page.click("[role=tab]:has-text('Snapshots')")
    page.click("text=rows as of then >> nth=2")
    page.wait_for_selector("text=As of snapshot 1")
    assert page.locator("text=cancelled").count() == 0


def test_failed_checks_are_shown_on_columns(page, tmp_path):
    lake = Warehouse(tmp_path / "lake")
    harvested(GraphStore(lake), ("staging.sql", STAGING))
    with connect(lake) as session:
        session.sql("CREATE DATABASE raw; CREATE TABLE raw.orders (id BIGINT, amount BIGINT)")
        session.sql("INSERT INTO raw.orders VALUES (1, NULL)")
    checks = {"raw.orders": declare({"columns": {"amount": {"not_null": True}}})}
    ingest(GraphStore(lake), [check_tables(lake, checks)])
    with serving(tmp_path / "lake") as (_, base):
        page.goto(f"{base}tables?table=raw.orders")
        page.wait_for_selector("text=✗ not_null failed on raw.orders.amount@1: 1 null")
        assert page.locator(".failed").count() == 1
        page.goto(f"{base}graph?select={quote('1+stg.orders')}&table=stg.orders")
        page.wait_for_selector(".panel .failed")
        assert "cents" in page.inner_text(".panel li:has(.failed)")


def test_checks_are_told_on_the_table_at_home_and_in_the_panel(page, tmp_path):
    lake = Warehouse(tmp_path / "lake")
    harvested(GraphStore(lake), ("staging.sql", STAGING))
    with connect(lake) as session:
        session.sql("CREATE DATABASE raw; CREATE TABLE raw.orders (id BIGINT, amount BIGINT)")
        session.sql("INSERT INTO raw.orders VALUES (1, NULL)")
    checks = {"raw.orders": declare({"columns": {"amount": {"not_null": True}, "id": {"not_null": True}}})}
    ingest(GraphStore(lake), [check_tables(lake, checks)])
    with serving(tmp_path / "lake") as (_, base):
        page.goto(base)
        page.wait_for_selector(".attention .checks.some:has-text('1 failed check')")
        page.click(".attention .checks a")
        page.wait_for_selector(".detail .facts:has-text('1 failed, 1 passed')")
        rows = page.eval_on_selector_all(".tab tbody tr", "rows => rows.map(row => row.innerText.split(/\\s+/))")
        assert rows[0][:3] == ["fail", "amount", "not_null"], "what failed comes first"
        assert "1 null" in page.inner_text(".tab tbody tr >> nth=0")
        assert rows[1][:3] == ["pass", "id", "not_null"]
        page.goto(f"{base}graph?select={quote('raw.orders+1')}&table=raw.orders")
        page.wait_for_selector(".panel .checks[open] tbody tr")
        assert page.inner_text(".panel .checks summary") == "Checks: 1 failed, 1 passed"


def test_runs_have_states_and_durations(page):
    page.goto(f"{page.base}runs")
    page.wait_for_selector(".grid tbody tr")
    assert page.locator(".grid tbody tr").count() == 10
    assert "1 min 17 s" in page.inner_text(".grid")
    page.select_option("select", "FAIL")
    wait(page, "() => document.querySelectorAll('.grid tbody tr').length === 1")
    page.click(".grid tbody tr")
    page.wait_for_selector(".panel .error-text")
    assert "staging.customers" in page.inner_text(".panel")
    page.keyboard.press("Escape")
    page.wait_for_selector(".panel", state="hidden")


def test_issues_are_listed_and_filtered(page):
    page.goto(f"{page.base}issues")
    page.wait_for_selector(".issues li")
    assert "did you mean `raw.order_items`?" in page.inner_text(".issues")
    page.select_option("select", "UNKNOWN_TABLE")
    wait(page, "() => document.querySelectorAll('.issues li').length === 1")
    page.click("button:has-text('Errors')")
    page.wait_for_selector("text=No issue is like that")


def test_numbers_are_written_as_people_write_them(page):
    page.goto(page.base)
    shown = page.evaluate("""() => import('/assets/format.js').then(({counted, decimal, decimals}) => [
      counted(1, 'bucket'), counted(2, 'bucket'), counted(3, 'query'), counted(0, 'batch'), counted(2, 'day'),
      decimal(54.57000000000001), decimal(0.1 + 0.2), decimal(0.10000000149011612, 7), decimal(1234567),
      decimals('[0.30000000000000004, 2.5]'), decimals('v1.2.3 at 10.0.0.12')])""")
    words = ["1 bucket", "2 buckets", "3 queries", "0 batches", "2 days"]
    assert shown == [*words, "54.57", "0.3", "0.1", "1,234,567", "[0.3, 2.5]", "v1.2.3 at 10.0.0.12"]
    page.goto(f"{page.base}sql?q={quote('SELECT 54.57000000000001::double AS a, [0.1::double + 0.2] AS b')}")
    page.wait_for_selector(".grid td")
    assert page.locator(".grid td").all_inner_texts() == ["54.57", "[0.3]"]


def test_sql_is_asked_and_only_reads(page):
    page.goto(f"{page.base}sql")
    write(page, "SELECT count(*) AS n, max(id) AS last FROM raw.orders")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("td:has-text('5,200')")
    page.wait_for_selector(".made a:has-text('raw.orders.id')")
    with page.expect_download() as caught:
        page.click("button:has-text('CSV')")
    assert caught.value.path().read_bytes() == b"n,last\r\n5200,5199"
    write(page, "DROP TABLE raw.orders")
    page.click("button:has-text('Run')")
    page.wait_for_selector("text=only queries are answered here")
    page.click("summary:has-text('History')")
    page.click(".past .items button >> nth=1")
    assert "count(*)" in page.inner_text(".cm-content")


def test_a_query_says_what_it_would_read_and_how(page):
    page.goto(f"{page.base}sql")
    write(page, "SELECT status, count(*) FROM raw.orders WHERE id > 4900 GROUP BY status")
    page.wait_for_selector(".cost:has-text('would read 1 of 3 files, 1,200 of 5,280 rows')")
    page.click("button:has-text('Plan')")
    page.wait_for_selector(".plan pre:has-text('hash_group_by')")
    assert page.inner_text(".plan tbody td >> nth=0") == "raw.orders"
    assert page.inner_text(".plan tbody td >> nth=2") == "1 of 3"
    write(page, "SELECT statu FROM raw.orders")
    page.wait_for_function("() => !document.querySelector('.cost').textContent")
    page.click("button:has-text('Plan')")
    page.wait_for_selector("text=statu")


def test_a_query_can_be_stopped(page):
    page.goto(f"{page.base}sql")
    write(
        page, "SELECT count(*) FROM range(100000) a, range(100000) b, range(1000) c WHERE a.range + b.range = c.range"
    )
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=Running")
    page.wait_for_timeout(1_000)
    page.click("button:has-text('Stop')")
    page.wait_for_selector("h2:has-text('Stopped')")


def write(page, text):
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def test_sql_is_typed_and_its_lineage_follows(page):
    page.goto(f"{page.base}play")
    drawn(page, "mart.revenue", "shop.orders")
    write(page, "CREATE TABLE a.b AS SELECT x, 'é😀' AS y, z FROM c.d")
    drawn(page, "a.b", "c.d")
    wait(page, "() => document.getElementById('port-c.d-x')")
    write(page, "SELECT FROM WHERE")
    page.wait_for_selector(".findings li.error")
    page.wait_for_selector(".cm-lintRange-error")
    write(page, "CREATE TABLE q.r AS SELECT x FROM c.d WHERE y > 1")
    drawn(page, "q.r")
    assert page.locator(".stage .line.row.faint").count() == 1
    page.click("button:has-text('Copy link')")
    page.wait_for_selector("text=The address has all of it")
    page.reload()
    drawn(page, "q.r", "c.d")


def test_play_needs_no_warehouse(page, tmp_path):
    with serving(tmp_path / "none", "--no-open", command="play") as (_, url):
        page.goto(url)
        drawn(page, "mart.revenue")


def test_dark_and_light(page):
    graph(page, "1+staging.lines")
    colour = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != light
    page.reload()
    page.wait_for_selector(".stage .box")
    assert page.evaluate(colour) != light, "the choice is remembered"


@pytest.mark.parametrize("width", first_then_slow([390, 1280]))
def test_nothing_is_cut_or_overlaps(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("", "graph?select=1%2Bstaging.lines%2B1", "tables?table=raw.orders", "runs", "issues", "sql"):
        page.goto(page.base + path)
        page.wait_for_load_state("networkidle")
        wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{path} is wider than the window"
    graph(page, "1+staging.lines+1")
    too_long = page.evaluate(
        """() => [...document.querySelectorAll('.stage .box')].flatMap(box => {
          const frame = box.querySelector('.frame').getBoundingClientRect();
          return [...box.querySelectorAll('text')].filter(text => {
            const at = text.getBoundingClientRect();
            return at.right > frame.right + 1 || at.left < frame.left - 1;
          }).map(text => text.textContent);
        })"""
    )
    assert too_long == []


BROKEN = """() => {
  const broken = [];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.parentElement.closest('.top, .tabs, .spoken, .editor, option')) continue;
    for (const word of text.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter((each) => each.width);
      if (lines.length > 1 || lines.some((each) => each.right > window.innerWidth)) broken.push(word[0]);
    }
  }
  return broken;
}"""


def test_a_phone_breaks_no_word_and_shows_whole_rows(page):
    page.set_viewport_size({"width": 390, "height": 844})
    for path, there in (
        ("runs", ".grid td"),
        ("tables?table=raw.orders&tab=rows", ".grid td"),
        ("tables?table=raw.orders&tab=files", ".grid td"),
        ("tables?table=mart.best_sellers", ".grid td"),
        ("issues", ".issues li"),
    ):
        page.goto(page.base + path)
        page.wait_for_selector(there)
        assert page.evaluate(BROKEN) == [], path


def test_states_of_loading_emptiness_and_error(page, tmp_path):
    graph(page, "1+staging.lines")
    page.fill(".selector", "staging.linse")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice.error")
    assert page.inner_text(".toolbar .status") == ""
    page.click(".notice a:has-text('staging.lines')")
    drawn(page, "staging.lines")
    page.goto(f"{page.base}no/such/page")
    page.wait_for_selector("text=There is no such page")
    page.route("**/api/v1/runs*", lambda route: route.abort())
    page.goto(f"{page.base}runs")
    page.wait_for_selector("text=The server does not answer")
    with serving(tmp_path / "lake") as (_, url):
        for path, text in (
            ("", "No lineage here yet"),
            ("graph", "No lineage here yet"),
            ("tables", "No tables yet"),
        ):
            page.goto(url + path)
            page.wait_for_selector(f"text={text}")


def test_the_page_follows_the_graph(page, tmp_path):
    from headwater.graph import GraphStore

    with serving(tmp_path / "lake") as (_, url):
        page.goto(url)
        page.wait_for_selector("text=No lineage here yet")
        store = GraphStore(str(tmp_path / "lake"))
        harvested(store, ("a.sql", "CREATE TABLE new.b AS SELECT x FROM new.a"), schema=None)
        page.wait_for_selector(".card", timeout=20_000)
        page.goto(f"{url}graph?select=1%2Bnew.b")
        drawn(page, "new.a", "new.b")
        harvested(store, ("a.sql", "CREATE TABLE new.b AS SELECT x, y FROM new.a"), schema=None)
        wait(page, "() => document.getElementById('port-new.b-y')")


HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "‮desrever‬",
    "tab\tand\nline",
    "x" * 300,
    "'; DROP TABLE students; --",
    "${window.hacked=1}",
    "javascript:window.hacked=1",
    "表名·Ünïcødé",
]


def test_hostile_names_stay_text(page, tmp_path):
    from headwater.graph import GraphChange, GraphStore
    from headwater.graph.facts import Facts, add_edge
    from headwater.graph.tables import COLUMNS, DATASETS, ISSUES, STATEMENTS
    from headwater.model.edges import ColumnRef, Edge, Kind
    from headwater.model.names import TableName

    facts = Facts()
    target = TableName.of("safe", "target")
    for number, name in enumerate(HOSTILE):
        source = TableName.of(name)
        add_edge(
            facts, Edge(ColumnRef(source, name), ColumnRef(target, name), Kind.TRANSFORMATION, name), "s", file=name
        )
        facts.add(DATASETS, dataset=name, kind=name)
        facts.add(COLUMNS, dataset=name, column=name, type=name)
        facts.add(
            ISSUES, statement="s", number=number, code=name, severity="error", message=name, hint=name, file=name
        )
    sql = "SELECT '" + "<script>window.hacked=1</script>" * 300_000 + "'"
    facts.add(
        STATEMENTS, statement="s", source="x.sql", number=0, text=sql, status="resolved", type="<b>", line=1, start=0
    )
    GraphStore(str(tmp_path / "lake")).apply(GraphChange(facts, record={"kind": HOSTILE[0], "sources": HOSTILE}))
    assert len(sql) > 9_000_000
    with serving(tmp_path / "lake") as (_, url):
        page.goto(url)
        page.wait_for_selector(".card")
        page.goto(f"{url}graph?select=1%2Bsafe.target&level=column")
        page.wait_for_selector(".stage .box")
        assert page.locator(".stage .box").count() == len(HOSTILE) + 1
        for name in HOSTILE[:3]:
            page.goto(
                f"{url}graph?select=1%2Bsafe.target&from={quote(name)}&from_column={quote(name)}&to=safe.target"
            )
            page.wait_for_selector(".panel pre.sql")
        page.goto(f"{url}issues")
        page.wait_for_selector(".issues li")
        assert page.evaluate("() => window.hacked") is None
        response = page.request.get(f"{url}api/v1/edge?source={quote(HOSTILE[0])}&target=safe.target")
        assert len(response.body()) < 100_000, "of 10 MB of SQL a part is sent"


def test_a_token_is_asked_for(page, estate):
    with serving(estate, "--token", "correct horse battery") as (_, url):
        page.goto(f"{url}graph")
        assert page.url.endswith("/login")
        page.fill("input", "correct horse battery")
        page.click("button")
        page.wait_for_selector(".card")
        cookie = next(each for each in page.context.cookies() if each["name"] == "headwater")
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Strict"


def test_printing_leaves_the_controls_out(page):
    graph(page, "1+staging.lines")
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible()
    assert page.locator(".stage svg").is_visible()


def test_no_script_is_inline(page):
    text = page.request.get(page.base).text()
    assert not re.search(r"<script(?![^>]*src=)", text)
    assert not re.search(r"\son\w+=|style=", text)
    assert json.loads(page.request.get(f"{page.base}api/v1/openapi.json").text())["openapi"].startswith("3.1")

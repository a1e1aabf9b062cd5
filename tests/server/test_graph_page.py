"""The lineage view in a real browser: every gesture does what it says."""

import pytest
from tests.effort import one_in
from tests.server.browsing import boxes, drawn, graph, lit, wait

pytestmark = pytest.mark.ui


def test_the_home_page_lists_what_there_is(page):
    page.goto(page.base)
    page.wait_for_selector(".busiest a")
    assert "in 4 regions" in page.inner_text(".lead")
    page.wait_for_selector("text=1 failed run")
    page.wait_for_selector(".attention >> text=UNKNOWN_TABLE")
    page.wait_for_selector("text=nothing so old is kept to compare with")
    page.click(".busiest >> text=staging.lines")
    drawn(page, "staging.lines", "raw.orders")


def test_names_that_are_cut_stay_different(page):
    """`accounts_db_external` and `accounts_db_nonprod_external` were both `accounts…external`."""
    cut = """() => import('/assets/mappaint.js').then(({cut}) => {
        const names = ['accounts_db_external', 'accounts_db_nonprod_external', 'accounts_db_stage_external', 'short'];
        return [12, 14, 16, 19].map((most) => names.map((name) => cut(name, most, 1, names)));
    })"""
    page.goto(f"{page.base}map")
    for shown in page.evaluate(cut):
        assert len(set(shown)) == 4, shown
        assert "short" in shown


def test_the_map_opens_regions_then_tables_then_columns(page):
    page.goto(f"{page.base}map")
    page.wait_for_selector(".mapstage canvas")
    assert "12 tables in 4 regions" in page.inner_text(".map .list")
    page.click(".map .list >> text=staging")
    page.wait_for_selector("h1:has-text('staging')")
    assert "Comes from" in page.inner_text(".map .list")
    assert "region=staging" in page.url
    where = """name => import('/assets/map.js').then(async () => {
      const stage = document.querySelector('.mapstage');
      const box = stage.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    })"""
    page.wait_for_timeout(500)  # the journey to the region
    page.mouse.move(*page.evaluate(where, "staging"))
    page.wait_for_selector(".tip:visible")
    assert "staging" in page.inner_text(".tip")
    page.keyboard.press("f")
    page.wait_for_selector(".map .list >> text=12 tables")
    page.click(".map .list >> text=staging")
    page.click(".map .list >> text=lines")
    drawn(page, "staging.lines")


def test_search_by_slash_and_by_selector(page):
    page.goto(page.base)
    page.wait_for_selector(".card")
    page.keyboard.press("/")
    page.keyboard.type("amount_e")
    page.wait_for_selector("#found li[data-select]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawn(page, "staging.lines")
    assert "select=1%2Bstaging.lines.amount_eur%2B1" in page.url
    page.keyboard.press("/")
    page.keyboard.type("1+mart.revenue")
    page.keyboard.press("Enter")
    drawn(page, "mart.revenue", "staging.customers")
    assert "select=1%2Bmart.revenue" in page.url


def test_a_table_opens_at_one_step_and_further_by_its_counts(page):
    graph(page, "1+mart.revenue+1")
    assert boxes(page) == {"mart.revenue", "staging.lines", "staging.customers"}
    before = page.locator("[id='box-staging.lines'] .frame").bounding_box()
    page.click("[id='box-staging.lines'] .badge.before")
    drawn(page, "raw.orders", "raw.order_items")
    wait(page, "() => !document.querySelector(\"[id='box-staging.lines'] .badge.before\")")
    after = page.locator("[id='box-staging.lines'] .frame").bounding_box()
    assert abs(before["x"] - after["x"]) < 2, "the clicked box keeps its place"
    assert abs(before["y"] - after["y"]) < 2
    page.go_back()
    wait(page, "() => !document.getElementById('box-raw.orders')")


def test_columns_open_per_table_with_the_linked_ones_first(page):
    graph(page, "1+mart.revenue")
    texts = page.locator("[id='box-staging.lines'] .port").all_text_contents()
    assert not any("sku" in text for text in texts), "it takes no part"
    page.click("[id='box-staging.lines'] .more")
    wait(page, "() => document.getElementById('port-staging.lines-sku')")
    page.click("[id='box-staging.lines'] .fold")
    wait(page, "() => !document.getElementById('port-staging.lines-day')")
    page.click("text=Tables >> nth=1")
    wait(page, "() => !document.querySelector('.stage .port')")


def test_hover_previews_click_locks_escape_clears(page):
    graph(page, "2+mart.revenue")
    page.hover("[id='port-mart.revenue-revenue']")
    wait(page, "() => document.querySelector('.hw.lit:not(.locked)')")
    previewed = lit(page)
    assert previewed
    page.hover("[id='port-raw.customers-email']")
    wait(page, "() => document.querySelector('[id=\"port-raw.customers-email\"].on')")
    assert lit(page) != previewed
    page.click("[id='port-mart.revenue-revenue']")
    wait(page, "() => document.querySelector('.hw.locked')")
    assert lit(page) == previewed
    assert "lock=mart.revenue.revenue" in page.url
    page.wait_for_selector(".panel .step")
    assert "ROUND(SUM(d.revenue), 2)" in page.inner_text(".panel")
    page.hover("[id='port-raw.customers-email']")
    assert lit(page) == previewed, "what is locked stays"
    page.keyboard.press("Escape")
    wait(page, "() => !document.querySelector('.hw.lit')")
    assert page.locator(".panel:visible").count() == 0


def test_kinds_are_filtered_and_drawn_apart(page):
    graph(page, "1+staging.lines")
    dashes = "name => getComputedStyle(document.querySelector('.stage .line.' + name)).strokeDasharray"
    assert page.evaluate(dashes, "value") == "none"
    assert page.evaluate(dashes, "condition") != "none"
    page.click(".kind button:has-text('Rows')")
    wait(page, "() => !document.querySelector('.stage .line.condition')")
    assert "kind=IDENTITY" in page.url
    page.click(".kind:has-text('Values') summary")
    page.click("label:has-text('identity')")
    wait(page, "() => document.querySelectorAll('.stage .line.value').length === 4")


def test_values_come_first_and_one_key_adds_the_rest(page):
    graph(page, "1+staging.lines")
    assert page.locator(".stage .line.value.faint").count() == 0
    assert page.locator(".stage .line.row:not(.faint)").count() == 0
    page.click("[id='port-staging.lines-amount_eur']")
    wait(page, "() => document.querySelector('.hw.locked')")
    assert page.locator(".stage .line.on.row, .stage .line.on.condition").count() == 0
    page.wait_for_selector(".panel .step")
    assert page.locator(".panel .chip.row").count() == 0
    page.keyboard.press("a")
    wait(page, "() => document.querySelector('.stage .line.row:not(.faint)')")
    assert "lines=all" in page.url
    page.wait_for_selector(".stage .line.on.condition")
    page.wait_for_selector(".panel .chip.row")
    page.keyboard.press("a")
    wait(page, "() => !document.querySelector('.stage .line.row:not(.faint)')")
    assert "lines=" not in page.url


def test_an_edge_shows_its_sql_with_the_place_lit(page):
    graph(page, "1+staging.lines")
    line = page.evaluate(
        """() => {
          const line = document.querySelector('.stage .line.condition');
          const point = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
          return [point.x, point.y];
        }"""
    )
    page.mouse.click(*line)
    page.wait_for_selector(".panel pre.sql mark")
    assert page.inner_text(".panel mark") == "o.currency"
    assert "models/1_staging.sql:10" in page.inner_text(".panel")
    assert "IFF(o.currency = 'EUR', 1, r.to_eur)" in page.inner_text(".panel .expression")
    page.reload()
    page.wait_for_selector(".panel pre.sql mark")
    assert lit(page), "the address says it all"


def test_an_observed_edge_names_its_run_and_snapshot(page):
    graph(page, "1+mart.segments", **{"from": "staging.customers", "from_column": "country", "to": "mart.segments"})
    page.wait_for_selector(".panel .run")
    assert "nightly/segments" in page.inner_text(".panel .run")
    assert "snapshot 5" in page.inner_text(".panel .run")


def test_an_observed_edge_shows_the_query_or_the_program_of_its_run(page):
    ends = {"from": "staging.customers", "from_column": "country", "to_column": "segment"}
    graph(page, "1+mart.segments", to="mart.segments", **ends)
    page.wait_for_selector(".panel pre.sql mark")
    assert page.inner_text(".panel mark") == "upper(country)"
    assert "line 2 of the query" in page.inner_text(".panel .place")
    graph(page, "1+mart.export", to="mart.export", **ends)
    page.wait_for_selector(".panel pre.sql mark")
    assert page.inner_text(".panel mark").endswith('.writeTo("mart.export").append()')
    assert "jobs/export.py:2" in page.inner_text(".panel .place")


def test_the_past_and_what_changed_since(page):
    graph(page, "1+mart.revenue+1")
    page.wait_for_selector(".timeline input[type=range]")
    assert page.locator("[id='port-mart.revenue-latest']").count() == 1
    page.locator(".timeline input[type=range]").press("ArrowLeft")
    wait(page, "() => !document.getElementById('port-mart.revenue-latest')")
    assert "at=3" in page.url
    assert page.evaluate("() => document.activeElement.type") == "range", "the slider keeps the focus"
    page.locator(".timeline input[type=range]").press("ArrowRight")
    wait(page, "() => document.getElementById('port-mart.revenue-latest')")
    page.click("text=Compare")
    page.wait_for_selector(".stage .line.added")
    page.wait_for_selector(".stage .line.changed")
    assert "since=3" in page.url
    assert "added" in page.inner_text(".diff-legend")
    assert page.locator(".since option").all_inner_texts() == ["2 · harvest", "3 · ingest"]  # 1 has expired
    page.locator(".timeline input[type=range]").press("Home")
    wait(page, "() => document.querySelector('.timeline .when').textContent.startsWith('state 2 of 4 · harvest')")
    wait(page, "() => document.querySelector('.timeline .toggle').disabled")


def test_groups(page):
    graph(page, "2+mart.revenue")
    page.click(".toolbar > .toggle:has-text('Group')")
    page.wait_for_selector(".stage .group")
    assert "group=true" in page.url


def test_the_keyboard_walks_opens_and_helps(page):
    graph(page, "1+mart.revenue+1")
    page.keyboard.press("ArrowRight")
    wait(page, "() => document.querySelector('[id=\"box-mart.revenue\"].cursor')")
    page.keyboard.press("ArrowDown")
    wait(page, "() => document.querySelector('[id=\"port-mart.revenue-day\"].cursor')")
    page.keyboard.press("ArrowLeft")
    wait(page, "() => document.querySelector('[id=\"port-staging.lines-day\"].cursor')")
    assert "column day of staging.lines" in page.text_content("div.spoken")
    page.keyboard.press("Enter")
    drawn(page, "raw.orders")
    page.keyboard.press("Space")
    page.wait_for_selector(".hw.locked")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    wait(page, "() => !document.getElementById('port-staging.lines-day')")
    page.keyboard.press("?")
    assert "walk" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize("format", one_in(3, ["svg", "html", "csv", "png", "json", "mermaid", "dot"]))
def test_the_picture_can_be_taken_along(page, format):
    graph(page, "1+staging.lines")
    page.click(".export summary")
    with page.expect_download() as caught:
        page.click(f"[data-format={format}]")
    data = caught.value.path().read_bytes()
    begins = {
        "svg": b"<svg",
        "png": b"\x89PNG",
        "html": b"<!doctype",
        "csv": b"target",
        "json": b"{",
        "dot": b"digraph",
    }
    assert data.startswith(begins.get(format, b"flowchart"))


def test_the_saved_page_works_without_a_server(page, tmp_path):
    graph(page, "2+mart.revenue")
    page.click(".export summary")
    with page.expect_download() as caught:
        page.click("[data-format=html]")
    file = tmp_path / "lineage.html"
    file.write_bytes(caught.value.path().read_bytes())
    page.goto(file.as_uri())
    page.keyboard.press("/")
    page.keyboard.type("to_eur")
    assert "1 found" in page.inner_text("output")
    page.click("[id='port-raw.exchange_rates-to_eur']")
    page.wait_for_selector(".hw.locked .line.on")
    page.keyboard.press("Escape")
    wait(page, "() => !document.querySelector('.line.on')")


SPACE = """() => {
  const stage = document.querySelector('.stage').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.stage .box .frame')].map((each) => each.getBoundingClientRect());
  const all = (side) => boxes.map((each) => each[side]);
  const [left, top] = ['left', 'top'].map((side) => Math.min(...all(side)) - stage[side]);
  const [right, bottom] = ['right', 'bottom'].map((side) => stage[side] - Math.max(...all(side)));
  return {left, top, right, bottom, wide: stage.width};
}"""


@pytest.mark.parametrize("width", [1000, 1440])
def test_the_first_picture_is_whole_with_the_panel_and_without(page, width):
    """It began in the middle of what was asked for, half of the stage empty and the rest cut off."""
    page.set_viewport_size({"width": width, "height": 900})
    graph(page, "+mart.revenue", level="column")
    page.wait_for_timeout(300)
    space = page.evaluate(SPACE)
    assert min(space["left"], space["top"], space["right"], space["bottom"]) >= 0, space
    page.click("[id='port-mart.revenue-revenue']")
    page.wait_for_selector(".panel .step")
    wait(page, f"wide => ({SPACE})().wide < wide - 300", width)
    page.wait_for_timeout(300)
    space = page.evaluate(SPACE)
    assert min(space["left"], space["top"], space["right"], space["bottom"]) >= 0, space


def test_a_picture_too_large_for_the_stage_fills_it(page):
    page.set_viewport_size({"width": 700, "height": 500})
    graph(page, "+mart.revenue", level="column")
    page.wait_for_timeout(300)
    space = page.evaluate(SPACE)
    assert space["left"] < 0 < space["right"] < 60, "it ends where the stage ends"
    minimap = page.locator(".minimap").bounding_box()
    assert minimap["width"] < 40, "folded: boxes stand where it would lie"
    page.hover(".minimap")
    assert page.locator(".minimap").bounding_box()["width"] > 150


def test_of_what_did_not_exist_yet_the_page_says_so(page):
    graph(page, "1+mart.segments+1", level="table")
    page.wait_for_selector(".timeline input[type=range]")
    page.locator(".timeline input[type=range]").press("Home")
    page.wait_for_selector("text=mart.segments did not exist yet")
    page.wait_for_selector(".timeline >> text=state 2 of 4")
    page.click("text=Show it now")
    drawn(page, "mart.segments")
    assert "at=" not in page.url
    assert "level=table" in page.url


def test_a_state_that_there_is_not_is_named_with_those_there_are(page):
    page.goto(f"{page.base}graph?select=mart.revenue&at=999")
    page.wait_for_selector("text=the graph has no state 999")
    assert "states that can be read: 2 to 4" in page.inner_text(".cover")
    page.wait_for_selector(".timeline >> text=no state 999")
    page.goto(f"{page.base}map?at=999")
    page.wait_for_selector("text=the graph has no state 999")


def test_a_name_that_was_meant_keeps_the_rest_of_the_address(page):
    page.goto(f"{page.base}graph?select=2%2Bmart.revenu&at=3&level=table")
    page.click("a:has-text('mart.revenue')")
    drawn(page, "mart.revenue", "raw.orders")
    assert page.url.endswith("graph?select=2%2Bmart.revenue&at=3&level=table")
    page.wait_for_selector(".timeline >> text=state 3 of 4")

"""No answer is cut without saying so: the pages of a question are together the whole, and texts that are cut are
counted."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.mcp.conftest import HOSTILE


def of_edges(data):
    return [(pair["to"], pair["from"], *map(str, row)) for pair in data["edges"] for row in pair["columns"]]


def listed(name):
    return lambda data: [json.dumps(each) for each in data[name]]


NAMES = (
    "mart.revenue",
    "mart.revenue.revenue",
    "staging.customers",
    "staging.lines.amount_eur",
    "raw.orders",
    "mart.*",
)
WALKS = ("trace", "impact", "neighbourhood")
QUERY = "SELECT id, customer_id FROM raw.orders ORDER BY id LIMIT 60"
TEXT = "CREATE TABLE x AS SELECT o.id, o.status, c.country FROM orders o JOIN customers c ON c.id = o.customer_id"
WHOLES = st.one_of(
    st.tuples(st.sampled_from(WALKS), st.fixed_dictionaries({"name": st.sampled_from(NAMES)}), st.just(of_edges)),
    st.tuples(
        st.sampled_from(WALKS),
        st.fixed_dictionaries({"name": st.sampled_from(NAMES), "by": st.just("table")}),
        st.just(listed("edges")),
    ),
    st.tuples(st.just("path"), st.just({"source": "raw.order_items", "target": "mart.revenue"}), st.just(of_edges)),
    st.tuples(
        st.just("search"),
        st.fixed_dictionaries({"text": st.sampled_from(["a", "revenue", "staging"])}),
        st.just(listed("names")),
    ),
    st.tuples(
        st.just("table"), st.fixed_dictionaries({"name": st.sampled_from(NAMES[::2])}), st.just(listed("columns"))
    ),
    st.tuples(st.just("states"), st.just({}), st.just(listed("states"))),
    st.tuples(st.just("why"), st.just({"table": "told.counted"}), st.just(listed("made"))),
    st.tuples(st.just("diff"), st.just({"since": "@-1"}), st.just(listed("changes"))),
    st.tuples(st.just("run_sql"), st.just({"sql": QUERY}), st.just(listed("rows"))),
    st.tuples(st.just("lineage_of_sql"), st.just({"sql": TEXT, "lines": "all"}), st.just(listed("edges"))),
)


@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(question=WHOLES, limit=st.integers(1, 40))
def test_the_pages_of_an_answer_are_together_the_whole(shop, question, limit):
    tool, arguments, items = question
    answer = shop.ask(tool, **arguments, limit=1_000)
    assert "next_offset" not in answer
    whole = items(answer["data"])
    assert answer["total"] == len(whole)
    assert shop.pages(tool, limit, items, **arguments) == whole


def test_texts_that_are_cut_are_counted(shop):
    answer = shop.ask("run_sql", sql="SELECT text FROM told.notes ORDER BY id", longest=30)
    assert answer["data"]["rows"][0] == [HOSTILE[:29] + "…"]
    told = "\n".join(answer["left_out"])
    assert "2 texts are cut to 30 characters" in told
    assert "1 cells are cut (…) to 2,000 characters" in told
    whole = shop.ask("run_sql", sql="SELECT text FROM told.notes WHERE id = 1")
    assert whole["data"]["rows"] == [[HOSTILE]]
    assert "left_out" not in whole


def test_rows_that_were_not_counted_are_announced(shop):
    answer = shop.ask("run_sql", sql="SELECT * FROM raw.orders", limit=7)
    assert (answer["shown"], answer["next_offset"], "total" in answer) == (7, 7, False)
    assert "there are more rows" in answer["left_out"][0]


def test_what_is_beyond_a_depth_is_announced(shop):
    assert any("greater depth" in each for each in shop.ask("trace", name="mart.revenue", depth=1)["left_out"])
    assert "left_out" not in shop.ask("trace", name="mart.revenue")

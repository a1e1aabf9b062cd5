"""Questions about a small estate whose answers can be told by hand."""

import json

import pytest

from headwater.errors import NotFoundError, UsageError
from headwater.graph import LineageGraph, Node
from headwater.graph.formats import render_answer
from headwater.graph.index import Direction
from headwater.graph.questions import Answer
from headwater.graph.selector import parse_selector
from headwater.graph.steps import Step
from headwater.graph.tables import ALL_TABLES, COLUMNS, DATASETS, ISSUES, STATEMENTS
from headwater.model.edges import InfluenceClass, Kind
from headwater.view.formats import ANSWER_FORMATS

from .conftest import harvested

VALUE = (InfluenceClass.VALUE,)


def names(nodes):
    return {str(node) for node in nodes}


def test_trace_goes_to_the_raw_columns(graph):
    answer = graph.trace("mart.revenue.total", influences=VALUE)
    assert names(answer.nodes) == {"stg.orders.cents", "raw.orders.amount"}
    assert answer.distance[Node("raw.orders", "amount")] == 2
    first = next(step for step in answer.steps if step.target.dataset == "mart.revenue")
    assert (first.expression, first.place, first.kind.value) == ("sum(o.cents)", "marts.sql:2", "AGGREGATION")


def test_trace_includes_what_decides_rows(graph):
    found = names(graph.trace("mart.revenue.total").nodes)
    assert {"raw.orders.status", "raw.orders.customer_id", "stg.customers.email"} <= found
    assert "raw.orders.note" not in found


def test_impact_of_a_filter_reaches_every_column_of_the_table(graph):
    found = names(graph.impact("raw.orders.status").nodes)
    assert {"stg.orders.*", "mart.revenue.total", "mart.counts.*"} <= found
    assert names(graph.impact("raw.orders.status", influences=VALUE).nodes) == set()


def test_impact_of_a_value_does_not_reach_row_counts(graph):
    found = graph.impact("raw.orders.amount")
    assert names(found.nodes) == {"stg.orders.cents", "mart.revenue.total"}
    assert found.datasets == ["stg.orders", "mart.revenue"]


def test_rows_of_a_table_reach_counts(graph):
    assert "mart.counts.*" in names(graph.impact("stg.orders").nodes)


def test_depth_cuts_and_says_so(graph):
    answer = graph.trace("mart.revenue.total", depth=1, influences=VALUE)
    assert (names(answer.nodes), answer.cut) == ({"stg.orders.cents"}, True)
    assert "there is more" in render_answer(answer)
    assert graph.trace("raw.orders.amount").cut is False


def test_path_is_everything_between(graph):
    answer = graph.path("raw.orders.amount", "mart.revenue.total")
    assert names(answer.distance) == {"raw.orders.amount", "stg.orders.cents", "mart.revenue.total"}
    assert graph.path("mart.revenue.total", "raw.orders.amount").steps == ()


def test_a_selector_goes_both_ways(graph):
    answer = graph.select("1+stg.orders.cents+1", influences=VALUE)
    assert names(answer.distance) == {"raw.orders.amount", "stg.orders.cents", "mart.revenue.total"}
    assert graph.select("stg.orders.cents").steps == ()
    assert names(graph.select("+mart.revenue.total").distance) >= {"raw.orders.amount"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.b", ("a.b", 0, 0)),
        ("+a.b", ("a.b", None, 0)),
        ("2+a.b+13", ("a.b", 2, 13)),
        ("a.b+", ("a.b", 0, None)),
        ("s3://x/y+1", ("s3://x/y", 0, 1)),
    ],
)
def test_selectors(text, parts):
    chosen = parse_selector(text)
    assert (chosen.pattern, chosen.up, chosen.down) == parts


def test_empty_selectors_are_refused():
    with pytest.raises(UsageError):
        parse_selector(" ")


def test_names_are_found_in_any_case_and_by_pattern(graph):
    assert graph.trace("MART.Revenue.TOTAL").starts == (Node("mart.revenue", "total"),)
    assert {node.dataset for node in graph.trace("stg.*.id").starts} == {"stg.orders", "stg.customers"}
    with pytest.raises(NotFoundError) as caught:
        graph.trace("mart.revenu.total")
    assert "mart.revenue" in caught.value.hint


def test_search_ranks_whole_words_first(graph):
    found = graph.search("email")
    assert str(found[0]) == "stg.customers.email" or str(found[0]) == "mart.revenue.email"
    assert Node("raw.customers", "email") in found
    assert Node("stg.customers", "*") in graph.search("customers")
    assert graph.search("nothing like it") == []


def test_unused_columns(graph):
    found = names(graph.unused())
    assert {"mart.revenue.total", "stg.customers.name_hash"} <= found
    assert "raw.orders.note" not in found, "nobody here makes it"
    found = names(graph.unused("raw.*"))
    assert "raw.orders.note" in found
    assert "raw.orders.amount" not in found


def test_tags_spread_along_values_and_stop_at_masks(estate):
    from headwater.graph.tags import tag_columns

    tag_columns(estate, ["raw.customers.email", "raw.customers.name"], ["pii"])
    answer = LineageGraph(estate.state()).tagged("pii")
    assert names(answer.nodes) == {"stg.customers.email", "mart.revenue.email"}
    with pytest.raises(NotFoundError, match="no column has the tag"):
        LineageGraph(estate.state()).tagged("phone")


def test_tags_outlive_a_harvest(estate):
    from headwater.graph.tags import tag_columns

    from .conftest import MARTS, STAGING

    tag_columns(estate, ["raw.customers.email"], ["pii"])
    harvested(estate, ("staging.sql", STAGING), ("marts.sql", MARTS))
    assert names(LineageGraph(estate.state()).tagged("pii").starts) == {"raw.customers.email"}


@pytest.mark.parametrize("format", ANSWER_FORMATS)
def test_every_format_has_the_columns_in_it(graph, format):
    text = render_answer(graph.trace("mart.revenue.total"), format)
    assert "cents" in text
    assert "raw.orders" in text
    if format == "json":
        assert {node["column"] for node in json.loads(text)["nodes"]} >= {"total", "cents", "amount"}


def test_the_tree_shows_each_step(graph):
    text = render_answer(graph.trace("mart.revenue.total", influences=VALUE))
    assert text.splitlines() == [
        "mart.revenue.total",
        "└─ stg.orders.cents  AGGREGATION sum(o.cents)  marts.sql:2",
        "   └─ raw.orders.amount  TRANSFORMATION amount * 100  staging.sql:2",
    ]


def test_unknown_formats_are_refused(graph):
    with pytest.raises(UsageError, match="svgg") as caught:
        render_answer(graph.trace("mart.revenue.total"), "svgg")
    assert "svg" in caught.value.hint


def test_structs_and_their_fields_are_one(store):
    harvested(
        store,
        ("a.sql", "INSERT INTO b (city) SELECT (addr).city FROM a; INSERT INTO c (addr) SELECT addr FROM a;"),
        schema={"a": {"addr": "STRUCT<city STRING, zip STRING>"}, "b": ["city"], "c": ["addr"]},
    )
    graph = LineageGraph(store.state())
    assert names(graph.impact("a.addr").nodes) == {"b.city", "c.addr"}


def test_tables_describe_themselves(estate):
    for spec in ALL_TABLES:
        table = estate.table(spec)
        assert table.schema.comment == spec.about
        assert all(field.description for field in table.schema.fields)


def test_what_the_tables_hold(estate):
    state = estate.state()
    kinds = dict(zip(*(state.read(DATASETS).column(name).to_pylist() for name in ("dataset", "kind"))))
    assert kinds["stg.customers"] == "view"
    assert kinds["stg.orders"] == "table"
    statements = state.read(STATEMENTS).to_pylist()
    assert [row["statement"] for row in statements] == [
        "marts.sql#0",
        "marts.sql#1",
        "staging.sql#0",
        "staging.sql#1",
    ]
    assert statements[2]["text"].startswith("CREATE TABLE stg.orders AS")
    assert {row["origin"] for row in state.read(COLUMNS).to_pylist()} == {"imported", "implied"}
    assert state.read(ISSUES).num_rows == 0


def test_a_table_that_takes_the_name_of_another_descends_from_its_sources(store):
    harvested(
        store,
        (
            "build.sql",
            """CREATE TABLE stg.t_new AS SELECT id, amount * 100 AS cents FROM raw.orders;
            ALTER TABLE stg.t RENAME TO t_old;
            ALTER TABLE stg.t_new RENAME TO t;
            ALTER TABLE stg.t RENAME COLUMN cents TO total;""",
        ),
        ("read.sql", "CREATE TABLE mart.sums AS SELECT sum(total) AS s FROM stg.t"),
    )
    graph = LineageGraph(store.state())
    assert names(graph.trace("mart.sums.s", influences=VALUE).nodes) == {
        *("stg.t.total", "stg.t.cents", "stg.t_new.cents", "raw.orders.amount"),
    }
    assert "mart.sums.s" in names(graph.impact("raw.orders.amount").nodes)


def test_notebooks_show_an_answer(graph):
    bundle = graph.trace("mart.revenue.total")._repr_mimebundle_()
    assert 'id="port-raw.orders-amount"' in bundle["text/html"]
    assert bundle["text/vnd.mermaid"].startswith("flowchart")


def test_a_table_says_what_an_observed_job_did():
    ends = Node("raw.orders", "amount"), Node("bronze.orders", "amount")
    step = Step(*ends, Kind.IDENTITY, "job:default/shop.append_data.bronze_orders", observed=True)
    answer = Answer(ends[1:], {ends[1]: 0, ends[0]: 1}, (step,), Direction.UPSTREAM)
    assert "shop: append to bronze.orders" in render_answer(answer, "table")
    assert "job:default/shop.append_data.bronze_orders" in render_answer(answer, "csv")  # for programs: its name

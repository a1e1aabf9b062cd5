"""Edges survive the way through the columnLineage facet."""

import json

from hypothesis import given
from hypothesis import strategies as st

from headwater.events import (
    DatasetName,
    Job,
    JobEvent,
    OutputDataset,
    by_key,
    column_lineage,
    decode,
    edges_into,
    encode,
)
from headwater.events.columns import column_ref
from headwater.model.edges import ELEMENT, ColumnRef, Edge, Kind
from headwater.model.names import TableName

TARGET = TableName.of("db", "out")
WORD = st.text("abcxyz_", min_size=1, max_size=4)
PATHS = st.lists(WORD | st.just(ELEMENT), max_size=3).map(tuple)
KINDS = st.sampled_from([kind for kind in Kind if kind is not Kind.MERGE])
SOURCES = st.builds(ColumnRef, st.builds(TableName.of, WORD, WORD), WORD, PATHS)


@st.composite
def edges(draw):
    row_wide = draw(st.booleans())
    target = ColumnRef(TARGET, None) if row_wide else ColumnRef(TARGET, draw(WORD), draw(PATHS))
    return Edge(
        draw(SOURCES),
        target,
        draw(KINDS),
        draw(st.none() | st.just("a + b")),
        masking=draw(st.booleans()),
        approximate=draw(st.none() | st.just("a UDF is opaque")),
        place=draw(st.none() | st.just("jobs/daily.py:22")),
    )


def named(table: TableName) -> DatasetName:
    return DatasetName("n", str(table))


def table(name: DatasetName) -> TableName:
    return TableName.of(*name.name.split("."))


@given(st.lists(edges(), max_size=12))
def test_edges_come_back(given_edges):
    lineage = column_lineage(given_edges, named)
    event = JobEvent(
        job=Job(namespace="n", name="j"),
        outputs=(OutputDataset(namespace="n", name="db.out", facets=by_key(lineage)),),
    )
    read = decode(encode(event))
    assert isinstance(read, JobEvent)
    assert set(edges_into(read.outputs[0], table)) == set(given_edges)


def test_merge_conditions_are_filters_there():
    edge = Edge(ColumnRef(TableName.of("s"), "k"), ColumnRef(TARGET, None), Kind.MERGE)
    lineage = column_lineage([edge], named)
    assert lineage is not None
    assert lineage.dataset[0].transformations[0].subtype == "FILTER"


def test_whole_tables_say_nothing_of_columns():
    assert (
        column_lineage([Edge(ColumnRef(TableName.of("s"), None), ColumnRef(TARGET, None), Kind.FILTER)], named)
        is None
    )


def test_events_of_older_versions():
    old = {
        "fields": {
            "a": {
                "transformationType": "IDENTITY",
                "transformationDescription": "as is",
                "inputFields": [{"namespace": "n", "name": "s", "field": "x"}],
            }
        }
    }
    output = OutputDataset(namespace="n", name="db.out", facets=json.loads(json.dumps({"columnLineage": old})))
    [edge] = edges_into(output, table)
    assert (edge.kind, edge.expression, str(edge.source)) == (Kind.IDENTITY, "as is", "s.x")


def test_subtypes_of_others():
    way = {"type": "INDIRECT", "subtype": "SOMETHING"}
    field = {"namespace": "n", "name": "s", "field": "x", "transformations": [way]}
    lineage = {"fields": {"a": {"inputFields": [field]}}, "dataset": [field]}
    output = OutputDataset(namespace="n", name="db.out", facets={"columnLineage": lineage})
    assert [edge.kind for edge in edges_into(output, table)] == [Kind.CONDITIONAL, Kind.FILTER]


def test_odd_field_names_stay_whole():
    assert column_ref(TARGET, "a..b") == ColumnRef(TARGET, "a..b")
    assert column_ref(TARGET, "a b[x]") == ColumnRef(TARGET, "a b[x]")
    assert column_ref(TARGET, "") == ColumnRef(TARGET, "")

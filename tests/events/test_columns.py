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
from headwater.model.edges import ELEMENT, ColumnRef, Edge, Kind
from headwater.model.names import TableName

TARGET = TableName.of("db", "out")
WORD = st.text("abxy_.[]", min_size=1, max_size=4)
PATHS = st.lists(WORD | st.just(ELEMENT), max_size=3).map(tuple)
KINDS = st.sampled_from([kind for kind in Kind if kind is not Kind.MERGE])
TABLES = st.builds(TableName.of, st.text("abc", min_size=1), st.text("abc", min_size=1))
SOURCES = st.builds(ColumnRef, TABLES, WORD, PATHS)


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
        outputs=(OutputDataset(namespace="n", name="db.out", facets=by_key(*lineage)),),
    )
    read = decode(encode(event))
    assert isinstance(read, JobEvent)
    assert set(edges_into(read.outputs[0], table)) == set(given_edges)


def test_merge_conditions_are_filters_there():
    edge = Edge(ColumnRef(TableName.of("s"), "k"), ColumnRef(TARGET, None), Kind.MERGE)
    (lineage,) = column_lineage([edge], named)
    assert lineage.dataset[0].transformations[0].subtype == "FILTER"


def test_whole_tables_say_nothing_of_columns():
    assert (
        column_lineage([Edge(ColumnRef(TableName.of("s"), None), ColumnRef(TARGET, None), Kind.FILTER)], named) == ()
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


def test_names_are_those_of_columns_and_paths_stand_beside_them():
    source = TableName.of("db", "t")
    made = [
        Edge(ColumnRef(source, "xs", (ELEMENT,)), ColumnRef(TARGET, "x.y"), Kind.IDENTITY),
        Edge(ColumnRef(source, "s", ("a",)), ColumnRef(TARGET, "st", ("u",)), Kind.IDENTITY),
        Edge(ColumnRef(source, "s"), ColumnRef(TARGET, "n"), Kind.TRANSFORMATION),
    ]
    lineage, paths = column_lineage(made, named)
    assert {field: [each.field for each in of.input_fields] for field, of in lineage.fields.items()} == {
        "x.y": ["xs"],
        "st": ["s"],
        "n": ["s"],
    }
    assert [(each.field, each.path, each.input.field, each.input_path) for each in paths.paths] == [
        ("x.y", (), "xs", (ELEMENT,)),
        ("st", ("u",), "s", ("a",)),
    ]
    output = OutputDataset(namespace="n", name="db.out", facets=by_key(lineage, paths))
    assert set(edges_into(output, table)) == set(made)

"""Schemas in the form of BigQuery's own tools."""

import json
from pathlib import Path

import pytest

import headwater
from headwater.errors import SchemaError
from headwater.lineage.imports import schema_of_json

FIELDS = [
    {"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
    {"name": "at", "type": "RANGE", "rangeElementType": {"type": "TIMESTAMP"}},
    {"name": "rec", "type": "RECORD", "mode": "REPEATED", "fields": [{"name": "f", "type": "FLOAT"}]},
]
TABLE = {
    "tableReference": {"projectId": "p-1", "datasetId": "d", "tableId": "t"},
    "schema": {"fields": FIELDS},
    "type": "TABLE",
}
TYPES = ["INT64", "RANGE<TIMESTAMP>", "ARRAY<STRUCT<`f` FLOAT64>>"]


def test_a_table_and_a_list_of_tables() -> None:
    for value in (TABLE, [TABLE]):
        (table,) = schema_of_json(json.dumps(value)).tables
        assert table.parts == ("p-1", "d", "t")
        assert [column.data_type for column in table.columns] == TYPES


def test_fields_by_table_name() -> None:
    (table,) = schema_of_json(json.dumps({"d.t": FIELDS})).tables
    assert table.parts == ("d", "t")
    assert [column.data_type for column in table.columns] == TYPES


def test_fields_alone_take_the_name_of_their_file(tmp_path: Path) -> None:
    file = tmp_path / "p-1.d.t.json"
    file.write_text(json.dumps(FIELDS))
    result = headwater.analyze("SELECT r.f FROM `p-1.d.t`, UNNEST(rec) AS r", "bigquery", schema=file)
    assert [str(edge.source) for edge in result.edges] == ["p-1.d.t.rec[].f", "p-1.d.t.rec"]
    with pytest.raises(SchemaError, match="do not say which table"):
        schema_of_json(json.dumps(FIELDS))


@pytest.mark.parametrize(
    "table",
    [
        {"tableReference": {}},
        {"tableReference": {"tableId": "t"}, "schema": {"fields": [{"type": "STRING"}]}},
        {"tableReference": {"tableId": "t"}, "schema": {"fields": [{"name": "x"}]}},
    ],
)
def test_what_is_no_table_is_refused(table: object) -> None:
    with pytest.raises(SchemaError, match="BigQuery"):
        schema_of_json(json.dumps(table))

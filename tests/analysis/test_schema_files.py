"""Schema files of every kind, alone and in folders."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater import analyze, import_schema
from headwater.errors import SchemaError
from headwater.lineage.schema import SchemaMetadata

AVRO = {
    "type": "record",
    "namespace": "com.example.shop",
    "name": "payments",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "paid_at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {
            "name": "payer",
            "type": {"type": "record", "name": "person", "fields": [{"name": "name", "type": "string"}]},
        },
        {"name": "others", "type": {"type": "array", "items": "person"}},
        {"name": "labels", "type": {"type": "map", "values": "int"}},
    ],
}
JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer"},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "anything": {},
    },
    "$defs": {"line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
}
CATALOG = {
    "metadata": {},
    "nodes": {
        "model.shop.orders": {
            "metadata": {"database": "db", "schema": "prod", "name": "orders"},
            "columns": {
                "b": {"name": "b", "index": 2, "type": "text"},
                "a": {"name": "a", "index": 1, "type": "int"},
            },
        }
    },
    "sources": {},
}
PROPERTIES = """
version: 2
models:
  - name: orders
    columns: [{name: id, data_type: bigint}, {name: note}]
sources:
  - name: raw
    database: lake
    tables:
      - {name: payments, identifier: pay, columns: [{name: amount}]}
  - name: other
    schema: "{{ var('s') }}"
    tables: [{name: nothing_described}]
"""


def columns(schema: SchemaMetadata) -> dict[str, list[tuple[str, str | None]]]:
    return {
        ".".join(table.parts): [(column.name, column.data_type) for column in table.columns]
        for table in schema.tables
    }


def written(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_fields_in_a_tree_are_named_by_their_path(tmp_path: Path) -> None:
    fields = "fields:\n- {name: id, type: INTEGER}\n- {name: tags, type: STRING, mode: REPEATED}\n"
    files = {
        "my-project/shop/orders/schema.yaml": fields,
        "my-project/shop/orders/metadata.yaml": "owners: [ann]\n",
        "my-project/shop/people.json": [{"name": "name", "type": "STRING"}],
        "crm.notes.json": [{"name": "text", "type": "STRING"}],
    }
    found = columns(import_schema(written(tmp_path, files), "bigquery"))
    assert found == {
        "my-project.shop.orders": [("id", "INT64"), ("tags", "ARRAY<STRING>")],
        "my-project.shop.people": [("name", "STRING")],
        "crm.notes": [("text", "STRING")],
    }


def test_tags_of_somebody_s_own_in_yaml_are_unknown_values(tmp_path: Path) -> None:
    text = "fields:\n- name: id\n  type: INT64\n  description: !include-text\n    from: elsewhere\n"
    file = tmp_path / "shop.orders.yaml"
    file.write_text(text)
    assert columns(import_schema(file)) == {"shop.orders": [("id", "INT64")]}


def test_avro_records_with_named_types(tmp_path: Path) -> None:
    file = tmp_path / "payments.avsc"
    file.write_text(json.dumps(AVRO))
    plain, google = columns(import_schema(file, "spark")), columns(import_schema(file, "bigquery"))
    assert plain == {
        "shop.payments": [
            ("id", "BIGINT"),
            ("paid_at", "TIMESTAMP_LTZ"),
            ("amount", "DECIMAL(12, 2)"),
            ("payer", "STRUCT<name: STRING>"),
            ("others", "ARRAY<STRUCT<name: STRING>>"),
            ("labels", "MAP<STRING, INT>"),
        ]
    }
    assert dict(google["shop.payments"])["others"] == "ARRAY<STRUCT<`name` STRING>>"


def test_an_avro_record_that_contains_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tree.avsc"
    inner: dict[str, object] = {"type": "array", "items": "string"}
    for _ in range(60):
        inner = {"type": "array", "items": inner}
    file.write_text(json.dumps({"type": "record", "name": "tree", "fields": [{"name": "x", "type": inner}]}))
    with pytest.raises(SchemaError, match="nested too deeply"):
        import_schema(file)


def test_json_schema_with_references(tmp_path: Path) -> None:
    file = tmp_path / "web.events.json"
    file.write_text(json.dumps(JSON_SCHEMA))
    assert columns(import_schema(file)) == {
        "web.events": [
            ("id", "BIGINT"),
            ("at", "TIMESTAMP_LTZ"),
            ("lines", "ARRAY<STRUCT<sku: STRING>>"),
            ("anything", "JSON"),
        ]
    }


def test_dbt_catalog_and_properties(tmp_path: Path) -> None:
    files = {"target/catalog.json": CATALOG, "models/schema.yml": PROPERTIES, "dbt_project.yml": "name: shop\n"}
    schema = import_schema(written(tmp_path, files))
    assert columns(schema) == {
        "orders": [("id", "bigint"), ("note", None)],
        "lake.raw.pay": [("amount", None)],
        "db.prod.orders": [("a", "int"), ("b", "text")],
    }
    assert {table.name: table.complete for table in schema.tables if table.schema != "prod"} == {
        "orders": False,
        "pay": False,
    }


def test_a_parquet_dump_of_information_schema(tmp_path: Path) -> None:
    rows = pa.table({"TABLE_SCHEMA": ["s", "s"], "TABLE_NAME": ["t", "t"], "COLUMN_NAME": ["a", "b"]})
    pq.write_table(rows, tmp_path / "columns.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "data.parquet")
    assert columns(import_schema(tmp_path)) == {"s.t": [("a", None), ("b", None)]}
    assert columns(import_schema(tmp_path / "columns.parquet")) == {"s.t": [("a", None), ("b", None)]}


def test_migrations_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    files = {
        "V1__start.sql": "CREATE TABLE shop.orders (id INT, old INT);",
        "V2__more.sql": "ALTER TABLE shop.orders ADD COLUMN amount INT;",
        "V10__less.sql": "ALTER TABLE shop.orders DROP COLUMN amount; -- nobody needs to SELECT it",
        "report.sql": "SELECT id FROM shop.orders",
    }
    assert columns(import_schema(written(tmp_path, files), "postgres")) == {
        "shop.orders": [("id", "INT"), ("old", "INT")]
    }


def test_a_broken_file_in_a_folder_is_told_and_costs_only_itself(tmp_path: Path) -> None:
    files = {
        "a.good.yaml": "fields: [{name: id, type: INT64}]",
        "b.bad.yaml": "fields: [",
        "c.json": "{",
        "d.sql": "CREATE TABLE t (a INT); CREATE TABLE (;",
    }
    written(tmp_path, files)
    told: list[str] = []
    found = columns(import_schema(tmp_path, "postgres", warn=told.append))
    assert found == {"a.good": [("id", "INT64")], "t": [("a", "INT")]}
    assert [Path(line.split(" ")[0].split(":")[0]).name for line in told] == ["b.bad.yaml", "c.json", "d.sql"]
    with pytest.raises(SchemaError, match=r"b\.bad\.yaml"):
        import_schema(tmp_path, "postgres")


def test_of_two_descriptions_the_complete_one_counts(tmp_path: Path) -> None:
    files = {
        "a.yml": "models: [{name: t, columns: [{name: x}]}]",
        "b.yml": "models: [{name: t, columns: [{name: x}, {name: y}]}]",
    }
    assert columns(import_schema(written(tmp_path, files))) == {"t": [("x", None), ("y", None)]}
    (tmp_path / "t.json").write_text(json.dumps([{"name": "z", "type": "INT64"}]))
    assert columns(import_schema(tmp_path)) == {"t": [("z", "INT64")]}


def test_two_complete_descriptions_that_differ_are_told(tmp_path: Path) -> None:
    files = {"t.json": [{"name": "a", "type": "INT64"}], "t/schema.yaml": "fields: [{name: b, type: INT64}]"}
    told: list[str] = []
    assert columns(import_schema(written(tmp_path, files), warn=told.append)) == {"t": [("b", "INT64")]}
    assert "t is described by" in told[0]
    assert "the first counts" in told[0]


def test_a_folder_without_schemas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readme.yaml").write_text("a: 1")
    with pytest.raises(SchemaError, match="describes tables"):
        import_schema(tmp_path)


def test_lineage_through_a_tree(tmp_path: Path) -> None:
    written(tmp_path, {"p/d/t/schema.yaml": "fields: [{name: a, type: INT64}, {name: b, type: STRING}]"})
    result = analyze("CREATE TABLE p.d.u AS SELECT * FROM p.d.t", "bigquery", schema=tmp_path)
    assert [str(edge.source) for edge in result.edges] == ["p.d.t.a", "p.d.t.b"]

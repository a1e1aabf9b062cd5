"""Spark's DDL of tables, translated into the lake's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from pyspark.sql import types as spark

from headwater.errors import SchemaChangeError, SchemaError
from headwater.lake.metadata import schema_change as evolution
from headwater.model.schema import Schema
from headwater.model.types import DataType
from headwater.spark.source.types import lake_schema

KEY = "primary-key"
_SPARKS_OWN: tuple[str, ...] = (
    "provider",
    "owner",
    "location",
    "external",
    "is_managed_location",
    "table_type",
    "comment",
    KEY,
)
_SPARKS_OWN += ("headwater.warehouse", "headwater.snapshot", "headwater.table", "collation")


@dataclass(frozen=True, slots=True)
class Partitioning:
    """One transform of PARTITIONED BY or CLUSTERED BY."""

    name: str
    column: str = ""
    argument: str = ""


def table_schema(
    columns: spark.StructType,
    partitions: Sequence[Partitioning],
    properties: Mapping[str, str],
    keys: tuple[str, ...] = (),
) -> Schema:
    """The schema that CREATE TABLE asks for: the key is PRIMARY KEY or the property `primary-key`.

    RAISES: SchemaError.
    """
    own = {key for key in properties if key in _SPARKS_OWN or key.startswith("option.")}  # `option.x` is beside `x`
    options = {key: value for key, value in properties.items() if key not in own}
    names: list[str] = []
    for each in partitions:
        if each.name == "identity":
            names.append(each.column)
        elif each.name == "bucket":
            options.setdefault("bucket", each.argument)
        else:
            raise SchemaError(
                f"a lake table cannot be partitioned by {each.name}({each.column})",
                hint="add a column with that value and partition by it",
            )
    key = keys or tuple(key.strip() for key in properties.get(KEY, "").split(",") if key.strip())
    schema = lake_schema(columns)
    return replace(
        schema,
        fields=tuple(replace(field, nullable=field.nullable and field.name not in key) for field in schema.fields),
        primary_keys=key,
        partition_keys=tuple(names),
        options=options,
        comment=properties.get("comment"),
    )


def schema_changes(changes: Sequence[Mapping[str, Any]], schema: Schema) -> Iterator[evolution.SchemaChange]:
    """The changes that ALTER TABLE asks for. RAISES: SchemaChangeError for one that the lake does not make."""
    for change in changes:
        name = change["name"]
        if "." in name and name not in schema.names and change["kind"] not in ("set", "unset"):
            raise SchemaChangeError(f"`{name}` is a part of a column: only whole columns can be changed")
        if change["kind"] == "drop" and change.get("if_exists") and name not in schema.names:
            continue
        yield from _change(change)


def _change(change: Mapping[str, Any]) -> Iterator[evolution.SchemaChange]:
    name = change["name"]
    match change["kind"]:
        case "set" if name == "comment":
            yield evolution.SetComment(change["value"])
        case "set" | "unset":
            yield evolution.SetOption(name, change.get("value"))
        case "add":
            described = (change["nullable"], None, change.get("comment"))
            yield evolution.AddColumn(name, _type(change["type"]), *described, after=change.get("after"))
        case "rename":
            yield evolution.RenameColumn(name, change["to"])
        case "type":
            yield evolution.WidenColumn(name, _type(change["type"]))
        case "nullable" if change["nullable"]:
            yield evolution.RelaxColumn(name)
        case "nullable":
            raise SchemaChangeError(f"`{name}` cannot become NOT NULL: rows of the past may be null")
        case "comment":
            yield evolution.DescribeColumn(name, change.get("comment"))
        case "move":
            yield evolution.MoveColumn(name, change["after"])
        case "drop":
            yield evolution.DropColumn(name)


def _type(text: str) -> DataType:
    column = {"name": "c", "type": msgspec.json.decode(text), "nullable": True, "metadata": {}}
    return lake_schema(spark.StructType([spark.StructField.fromJson(column)])).fields[0].type

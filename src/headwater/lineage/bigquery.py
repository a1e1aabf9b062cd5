"""Schemas as BigQuery's own tools write them: `bq show`, `bq show --schema`, and the tables of its REST API.
A field has a name, a type, a mode (REPEATED makes it an array) and, if it is a record, fields of its own."""

from collections.abc import Iterable, Mapping
from typing import Any

from headwater.errors import SchemaError
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable

_TYPES = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "DECIMAL": "NUMERIC", "BIGDECIMAL": "BIGNUMERIC"}
_MAX_DEPTH = 30


def is_bigquery_table(value: Any) -> bool:
    """Return whether a JSON value is a table as `bq show --format=json` or the API gives it."""
    return isinstance(value, Mapping) and "tableReference" in value


def is_bigquery_fields(value: Any) -> bool:
    """Return whether a JSON value is a list of fields as `bq show --schema` gives it."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(field, Mapping) and {"name", "type"} <= field.keys() for field in value)
    )


def schema_of_bigquery(tables: Iterable[Mapping[str, Any]]) -> SchemaMetadata:
    """A schema from tables of BigQuery's API.

    >>> table = {"tableReference": {"projectId": "p", "datasetId": "d", "tableId": "t"},
    ...          "schema": {"fields": [{"name": "tags", "type": "STRING", "mode": "REPEATED"}]}}
    >>> schema_of_bigquery([table]).tables[0].columns[0].data_type
    'ARRAY<STRING>'

    RAISES: SchemaError when one of them is not a table.
    """
    return SchemaMetadata(tables=tuple(table_of_bigquery(table) for table in tables))


def table_of_bigquery(table: Mapping[str, Any]) -> SchemaTable:
    """One table of BigQuery's API. RAISES: SchemaError when it is not a table."""
    reference = table.get("tableReference")
    if not isinstance(reference, Mapping) or not reference.get("tableId"):
        raise SchemaError("a BigQuery table must have a tableReference with a tableId")
    schema = table.get("schema") or {}
    fields = schema.get("fields") or [] if isinstance(schema, Mapping) else None
    if not isinstance(fields, list):
        raise SchemaError(f"the BigQuery table `{reference['tableId']}` has a schema that is not one")
    return SchemaTable(
        catalog=_text(reference.get("projectId")),
        schema=_text(reference.get("datasetId")),
        name=str(reference["tableId"]),
        columns=columns_of_bigquery(fields),
    )


def _text(part: object) -> str | None:
    return None if part is None else str(part)


def columns_of_bigquery(fields: Iterable[Mapping[str, Any]]) -> tuple[ColumnSchema, ...]:
    """The columns of a list of fields. RAISES: SchemaError when one of them has no name or type."""
    return tuple(ColumnSchema(name=_name(field), data_type=_type(field, 0)) for field in fields)


def _name(field: Mapping[str, Any]) -> str:
    name = field.get("name") if isinstance(field, Mapping) else None
    if not isinstance(name, str) or not name:
        raise SchemaError(f"a BigQuery field must have a name: {field!r}")
    return name


def _inner(field: Mapping[str, Any]) -> list[Any]:
    fields = field.get("fields") or []
    if not isinstance(fields, list):
        raise SchemaError(f"the fields of the BigQuery field `{_name(field)}` are not a list")
    return fields


def _type(field: Mapping[str, Any], depth: int) -> str:
    name = str(field.get("type") or "").upper()
    if not name or depth > _MAX_DEPTH:
        raise SchemaError(f"the type of the BigQuery field `{_name(field)}` cannot be read")
    if name in ("RECORD", "STRUCT"):
        inside = ", ".join(f"`{_name(inner)}` {_type(inner, depth + 1)}" for inner in _inner(field))
        name = f"STRUCT<{inside}>"
    elif name == "RANGE":
        element = field.get("rangeElementType")
        name = f"RANGE<{str(element.get('type') or 'DATE').upper() if isinstance(element, Mapping) else 'DATE'}>"
    else:
        name = _TYPES.get(name, name)
    return f"ARRAY<{name}>" if str(field.get("mode") or "").upper() == "REPEATED" else name

"""Tables as other tools describe them in JSON and YAML: BigQuery, dbt, Avro, JSON Schema."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from headwater.errors import SchemaError
from headwater.lineage.bigquery import columns_of_bigquery, is_bigquery_fields, is_bigquery_table, schema_of_bigquery
from headwater.lineage.imports import schema_of_rows
from headwater.lineage.schema import ColumnSchema, SchemaTable
from headwater.model.types import Array, DataType, Decimal, Foreign, Map, Member, Primitive, Struct, google_type

Value: TypeAlias = Mapping[str, Any]

_AVRO = {
    "null": "STRING",
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "string": "STRING",
    "fixed": "BINARY",
    "enum": "STRING",
}
_AVRO_LOGICAL = {
    "date": "DATE",
    "timestamp-millis": "TIMESTAMP_LTZ",
    "timestamp-micros": "TIMESTAMP_LTZ",
    "timestamp-nanos": "TIMESTAMP_LTZ",
    "local-timestamp-millis": "TIMESTAMP",
    "local-timestamp-micros": "TIMESTAMP",
    "uuid": "STRING",
}
_JSON = {"string": "STRING", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "null": "STRING"}
_JSON_FORMATS = {"date": "DATE", "date-time": "TIMESTAMP_LTZ"}
_MAX_DEPTH = 30


def find_tables(value: Any, path: Sequence[str], dialect: str | None = None) -> list[SchemaTable] | None:
    """The tables that a decoded file describes, with types as the dialect spells them; None if it describes none.
    `path` names the table of a description that has no name of its own.
    RAISES: SchemaError when a description is of a known form but is wrong."""
    if is_bigquery_table(value):
        return list(schema_of_bigquery([value]).tables)
    if isinstance(value, list) and value and all(map(is_bigquery_table, value)):
        return list(schema_of_bigquery(value).tables)
    fields: Any = value.get("fields") if isinstance(value, Mapping) and "type" not in value else value
    if is_bigquery_fields(fields):
        return [_table(path, columns_of_bigquery(fields))]
    if isinstance(value, list):
        is_dump = value and all(isinstance(row, Mapping) and _names_a_column(row) for row in value)
        return list(schema_of_rows(value).tables) if is_dump else None
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("nodes"), Mapping) and isinstance(value.get("sources"), Mapping):
        return list(_of_catalog(value))
    if value.get("type") == "record" and isinstance(value.get("fields"), list):
        # an Avro record. Its own name counts; the last step of its namespace is the schema.
        type = _avro(value, {}, 0)
        if not isinstance(type, Struct) or not value.get("name"):
            raise SchemaError("the Avro record has no name")
        own = [part for part in f"{value.get('namespace') or ''}.{value['name']}".split(".") if part]
        return [_table(own[-2:], _columns(type, dialect))]
    if isinstance(value.get("properties"), Mapping) and ("$schema" in value or value.get("type") == "object"):
        return [_of_json_schema(value, path, dialect)]
    if any(isinstance(value.get(kind), list) for kind in ("models", "sources", "seeds", "snapshots")):
        return list(_of_properties(value))
    return None


def _names_a_column(row: Value) -> bool:
    return {"table_name", "column_name"} <= {str(key).lower() for key in row}


def _table(path: Sequence[str], columns: tuple[ColumnSchema, ...], *, complete: bool = True) -> SchemaTable:
    if not path:
        raise SchemaError("the description does not name its table", hint="name the file dataset.table.json")
    *place, name = path
    catalog, schema = (place[-2] if len(place) > 1 else None), (place[-1] if place else None)
    return SchemaTable(catalog=catalog, schema=schema, name=name, columns=columns, complete=complete)


def _spelled(type: DataType, dialect: str | None) -> str:
    return google_type(type) if dialect in ("bigquery", "spanner") else str(type)


# ----------------------------------------------------------------------------------------------------- dbt


def _of_catalog(value: Value) -> Iterator[SchemaTable]:
    """The tables of dbt's catalog.json, which it read from the warehouse."""
    for node in (*value["nodes"].values(), *value["sources"].values()):
        place, columns = (node.get("metadata"), node.get("columns")) if isinstance(node, Mapping) else (None, None)
        if not isinstance(place, Mapping) or not isinstance(columns, Mapping) or not place.get("name"):
            continue
        ordered = sorted(columns.values(), key=lambda column: column.get("index") or 0)
        path = [str(part) for part in (place.get("database"), place.get("schema"), place["name"]) if part]
        yield _table(
            path, tuple(ColumnSchema(name=str(each["name"]), data_type=each.get("type")) for each in ordered)
        )


def _of_properties(value: Value) -> Iterator[SchemaTable]:
    """The tables of a dbt properties file: as many of their columns as somebody has described."""
    for kind in ("models", "seeds", "snapshots"):
        for each in _mappings(value.get(kind)):
            yield from _described_table((), each.get("alias") or each.get("name"), each)
    for source in _mappings(value.get("sources")):
        schema = source.get("schema") or source.get("name")
        place = [str(part) for part in (source.get("database"), schema) if part and "{" not in str(part)]
        for each in _mappings(source.get("tables")):
            yield from _described_table(place, each.get("identifier") or each.get("name"), each)


def _described_table(place: Sequence[str], name: Any, value: Value) -> Iterator[SchemaTable]:
    columns = tuple(
        ColumnSchema(name=str(column["name"]), data_type=column.get("data_type"))
        for column in _mappings(value.get("columns"))
        if column.get("name")
    )
    if name and columns:
        yield _table([*place, str(name)], columns, complete=False)


def _mappings(value: Any) -> list[Value]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


# ---------------------------------------------------------------------------------------------------- Avro


def _columns(type: Struct, dialect: str | None) -> tuple[ColumnSchema, ...]:
    return tuple(ColumnSchema(name=each.name, data_type=_spelled(each.type, dialect)) for each in type.members)


def _avro(value: Any, named: dict[str, DataType], depth: int) -> DataType:
    """The type of an Avro schema; `named` are the types that it has defined so far."""
    if depth > _MAX_DEPTH:
        raise SchemaError("the Avro schema is nested too deeply, or contains itself")
    if isinstance(value, list):  # a union: what it may be beside null
        members = [each for each in value if each != "null"] or ["null"]
        return _avro(members[0], named, depth + 1) if len(members) == 1 else Foreign("VARIANT")
    if isinstance(value, str):
        return named.get(value) or (Primitive(_AVRO[value]) if value in _AVRO else Foreign(value))
    if not isinstance(value, Mapping) or "type" not in value:
        raise SchemaError(f"{value!r} is no Avro type")
    if value.get("logicalType") == "decimal":
        return Decimal(int(value.get("precision", 38)), int(value.get("scale", 0)))
    if value.get("logicalType") in _AVRO_LOGICAL:
        return Primitive(_AVRO_LOGICAL[value["logicalType"]])
    found = _avro_nested(value, named, depth + 1)
    if isinstance(value.get("name"), str):
        named[value["name"]] = found
    return found


def _avro_nested(value: Value, named: dict[str, DataType], depth: int) -> DataType:
    match value["type"]:
        case "record":
            fields = _mappings(value.get("fields"))
            return Struct(tuple(Member(str(each["name"]), _avro(each.get("type"), named, depth)) for each in fields))
        case "array":
            return Array(_avro(value.get("items", "string"), named, depth))
        case "map":
            return Map(Primitive("STRING"), _avro(value.get("values", "string"), named, depth))
        case inner:
            return _avro(inner, named, depth)


# --------------------------------------------------------------------------------------------- JSON Schema


def _of_json_schema(value: Value, path: Sequence[str], dialect: str | None) -> SchemaTable:
    """An object of JSON Schema, as a table: named by its path."""
    type = _json_type(value, value, 0)
    if not isinstance(type, Struct):
        raise SchemaError("the JSON Schema describes no object with properties")
    return _table(path, _columns(type, dialect), complete=value.get("additionalProperties") is False)


def _json_type(value: Any, root: Value, depth: int) -> DataType:
    if depth > _MAX_DEPTH or not isinstance(value, Mapping):
        return Foreign("JSON")
    if isinstance(value.get("$ref"), str):
        return _json_type(_referred(value["$ref"], root), root, depth + 1)
    kinds = value.get("type")
    kinds = [each for each in kinds if each != "null"] if isinstance(kinds, list) else [kinds]
    match kinds:
        case ["object"] | [None] if isinstance(value.get("properties"), Mapping):
            members = value["properties"].items()
            return Struct(tuple(Member(str(name), _json_type(each, root, depth + 1)) for name, each in members))
        case ["object"] if isinstance(value.get("additionalProperties"), Mapping):
            return Map(Primitive("STRING"), _json_type(value["additionalProperties"], root, depth + 1))
        case ["array"]:
            return Array(_json_type(value.get("items"), root, depth + 1))
        case [str() as name] if name in _JSON:
            return Primitive(_JSON_FORMATS.get(str(value.get("format")), _JSON[name]))
        case _:
            return Foreign("JSON")


def _referred(reference: str, root: Value) -> Any:
    """Return the part of the same document that a `$ref` names; nothing if it names another document."""
    if not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found

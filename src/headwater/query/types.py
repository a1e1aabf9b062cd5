"""Types between SQL text, the lake and DuckDB."""

from typing import Any

from sqlglot import exp

from headwater.errors import SchemaError
from headwater.model.types import (
    BINARY,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Array,
    DataType,
    Decimal,
    Foreign,
    Map,
    Member,
    Primitive,
    Struct,
    parse_type,
)
from headwater.query.parse import Node, Statement, quoted

_DUCKDB = {
    STRING: "VARCHAR",
    BINARY: "BLOB",
    TIMESTAMP: "TIMESTAMP",
    TIMESTAMP_LTZ: "TIMESTAMP WITH TIME ZONE",
}


def duckdb_type(type: DataType) -> str:
    """A type of the lake as DuckDB writes it.

    >>> duckdb_type(parse_type("map<string, array<int>>"))
    'MAP(VARCHAR, INT[])'
    """
    match type:
        case Primitive():
            return _DUCKDB.get(type, type.name)
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case Array(element):
            return f"{duckdb_type(element)}[]"
        case Map(key, value):
            return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
        case Struct(members):
            inner = ", ".join(f"{quoted(each.name)} {duckdb_type(each.type)}" for each in members)
            return f"STRUCT({inner})"
        case Foreign(text):
            return text


def sql_type(type: DataType) -> str:
    """A type of the lake as our SQL reads it back.

    >>> sql_type(parse_type("struct<`a b`: array<timestamp_ltz>>"))
    'STRUCT<"a b": ARRAY<TIMESTAMP_LTZ>>'
    """
    match type:
        case Array(element):
            return f"ARRAY<{sql_type(element)}>"
        case Map(key, value):
            return f"MAP<{sql_type(key)}, {sql_type(value)}>"
        case Struct(members):
            return f"STRUCT<{', '.join(f'{quoted(each.name)}: {sql_type(each.type)}' for each in members)}>"
        case _:
            return str(type)


def column_type(node: Node, statement: Statement, at: Node) -> DataType:
    """The type that a column definition names.

    RAISES: SqlError at the column when the lake has no such type.
    """
    try:
        return _lake_type(node)
    except SchemaError as err:
        raise statement.error(f"column `{at.name}`: {err.message}", at, hint=err.hint) from err


def _lake_type(node: Node) -> DataType:
    kind = node.this
    if kind in _NESTED:
        nested: DataType = _NESTED[kind](node)
        return nested
    if kind == exp.DataType.Type.DECIMAL and not node.expressions:
        return Decimal(18, 3)  # as DuckDB has it
    return parse_type(node.sql(dialect="spark")) if kind not in _NAMES else _NAMES[kind]


def _array(node: Node) -> DataType:
    return Array(_lake_type(node.expressions[0]))


def _map(node: Node) -> DataType:
    return Map(_lake_type(node.expressions[0]), _lake_type(node.expressions[1]))


def _struct(node: Node) -> DataType:
    members = []
    for each in node.expressions:
        if not isinstance(each, exp.ColumnDef) or each.args.get("kind") is None:
            raise SchemaError(f"`{node.sql(dialect='duckdb')}` is not a type", hint="STRUCT<a: INT, b: STRING>")
        members.append(Member(each.name, _lake_type(each.args["kind"])))
    return Struct(tuple(members))


_T = exp.DataType.Type
_NESTED: dict[Any, Any] = {_T.ARRAY: _array, _T.LIST: _array, _T.MAP: _map, _T.STRUCT: _struct}
_NAMES: dict[Any, DataType] = {
    _T.TIMESTAMP: TIMESTAMP,
    _T.TIMESTAMPNTZ: TIMESTAMP,
    _T.DATETIME: TIMESTAMP,
    _T.TIMESTAMPTZ: TIMESTAMP_LTZ,
    _T.TIMESTAMPLTZ: TIMESTAMP_LTZ,
    _T.TEXT: STRING,
    _T.VARCHAR: STRING,
    _T.CHAR: STRING,
    _T.VARBINARY: BINARY,
    _T.BINARY: BINARY,
}

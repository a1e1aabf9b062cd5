"""Types between SQL text, the lake and DuckDB."""

from typing import Any

from sqlglot import exp

from headwater.errors import SchemaError
from headwater.model import types as dt
from headwater.query.parse import Node, SqlStatement, quoted


def duckdb_type(type: dt.DataType) -> str:
    """A type of the lake as DuckDB writes it.

    >>> duckdb_type(dt.parse_type("map<string, array<int>>"))
    'MAP(VARCHAR, INT[])'
    """
    match type:
        case dt.Primitive():
            return dt.TYPES[type].duckdb if type in dt.TYPES else type.name
        case dt.Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case dt.Array(element):
            return f"{duckdb_type(element)}[]"
        case dt.Map(key, value):
            return f"MAP({duckdb_type(key)}, {duckdb_type(value)})"
        case dt.Struct(members):
            inner = ", ".join(f"{quoted(each.name)} {duckdb_type(each.type)}" for each in members)
            return f"STRUCT({inner})"
        case dt.Foreign(text):
            return text


def sql_type(type: dt.DataType) -> str:
    """A type of the lake as our SQL reads it back.

    >>> sql_type(dt.parse_type("struct<`a b`: array<timestamp_ltz>>"))
    'STRUCT<"a b": ARRAY<TIMESTAMP_LTZ>>'
    """
    match type:
        case dt.Array(element):
            return f"ARRAY<{sql_type(element)}>"
        case dt.Map(key, value):
            return f"MAP<{sql_type(key)}, {sql_type(value)}>"
        case dt.Struct(members):
            return f"STRUCT<{', '.join(f'{quoted(each.name)}: {sql_type(each.type)}' for each in members)}>"
        case _:
            return str(type)


def column_type(node: Node, statement: SqlStatement, at: Node) -> dt.DataType:
    """The type that a column definition names. RAISES: SqlError at the column when the lake has no such type."""
    try:
        return _lake_type(node)
    except SchemaError as err:
        raise statement.error(f"column `{at.name}`: {err.message}", at, hint=err.hint) from err


def _lake_type(node: Node) -> dt.DataType:
    kind = node.this
    if kind in (_T.ARRAY, _T.LIST):
        return dt.Array(_lake_type(node.expressions[0]))
    if kind == _T.MAP:
        return dt.Map(_lake_type(node.expressions[0]), _lake_type(node.expressions[1]))
    if kind == _T.STRUCT:
        return _struct(node)
    if kind == _T.DECIMAL and not node.expressions:
        return dt.Decimal(18, 3)  # as DuckDB has it
    return dt.parse_type(node.sql(dialect="spark")) if kind not in _NAMES else _NAMES[kind]


def _struct(node: Node) -> dt.DataType:
    members = []
    for each in node.expressions:
        if not isinstance(each, exp.ColumnDef) or each.args.get("kind") is None:
            raise SchemaError(f"`{node.sql(dialect='duckdb')}` is not a type", hint="STRUCT<a: INT, b: STRING>")
        members.append(dt.Member(each.name, _lake_type(each.args["kind"])))
    return dt.Struct(tuple(members))


_T = exp.DataType.Type
_NAMES: dict[Any, dt.DataType] = {
    _T.TIMESTAMP: dt.TIMESTAMP,
    _T.TIMESTAMPNTZ: dt.TIMESTAMP,
    _T.DATETIME: dt.TIMESTAMP,
    _T.TIMESTAMPTZ: dt.TIMESTAMP_LTZ,
    _T.TIMESTAMPLTZ: dt.TIMESTAMP_LTZ,
    _T.TEXT: dt.STRING,
    _T.VARCHAR: dt.STRING,
    _T.CHAR: dt.STRING,
    _T.VARBINARY: dt.BINARY,
    _T.BINARY: dt.BINARY,
}

"""The rows of a VALUES clause, value by value, with their places in the text."""

import decimal
from dataclasses import dataclass
from typing import Any

from headwater.model.schema import Field
from headwater.model.types import Array, DataType, Map, Struct
from headwater.query.parse import SqlStatement, quoted
from headwater.query.types import duckdb_type
from headwater.text import Span

_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it was written."""

    span: Span
    is_default: bool = False


def value_cells(statement: SqlStatement) -> list[list[Cell]]:
    """The values of each row after VALUES."""
    tokens = list(statement.tokens)
    begin = next(at for at, token in enumerate(tokens) if token.token_type.name == "VALUES")
    rows: list[list[Cell]] = []
    depth, first = 0, -1
    for at in range(begin + 1, len(tokens)):
        kind = tokens[at].token_type.name
        if kind in _OPEN:
            depth += 1
            if depth == 1:
                rows.append([])
                first = at + 1
        elif kind in _CLOSE or (kind == "COMMA" and depth == 1):
            if depth == 1 and at > first:
                count = at - first
                start, end = tokens[first].start, tokens[at - 1].end + 1
                span = statement.source.span(start, end)
                rows[-1].append(Cell(span, count == 1 and statement.source.excerpt(span).upper() == "DEFAULT"))
            if kind in _CLOSE:
                depth -= 1
            else:
                first = at + 1
    return rows


def default_text(field: Field) -> str:
    """The default of a column, as SQL."""
    return _typed(field.default, field.type)


def _typed(value: Any, type: DataType) -> str:
    return f"CAST({literal(value, type)} AS {duckdb_type(type)})"


def literal(value: Any, type: DataType) -> str:
    """A value of Python as SQL that becomes the same value when it is cast to its type."""
    match type:
        case _ if value is None:
            return "NULL"
        case Array(element):
            return f"[{', '.join(_typed(each, element) for each in value)}]"
        case Map(key, item):
            keys, items = (_typed(each, key) for each in value), (_typed(each, item) for each in value.values())
            return f"MAP([{', '.join(keys)}], [{', '.join(items)}])"
        case Struct(members):
            given = (f"{quoted(each.name)} := {_typed(value[each.name], each.type)}" for each in members)
            return f"struct_pack({', '.join(given)})"
    match value:
        case bool():
            return str(value).lower()
        case decimal.Decimal():
            return string_literal(format(value, "f"))
        case bytes():
            return string_literal("".join(f"\\x{byte:02X}" for byte in value))
        case int() if abs(value) < 1 << 63:
            return str(value)
    return string_literal(str(value))  # a float, too: as a number DuckDB would round it by way of a decimal


def string_literal(text: str) -> str:
    """A text in quotes."""
    return "'" + text.replace("'", "''") + "'"

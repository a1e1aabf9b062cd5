"""The rows of a VALUES clause, value by value, with their places in the text."""

from dataclasses import dataclass

from sqlglot import exp

from headwater.model.schema import Field
from headwater.query.parse import DIALECT, Statement
from headwater.query.types import duckdb_type
from headwater.text import Span

_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it was written."""

    span: Span
    is_default: bool = False


def value_cells(statement: Statement) -> list[list[Cell]]:
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
                rows[-1].append(_cell(statement, tokens[first], tokens[at - 1], at - first))
            if kind in _CLOSE:
                depth -= 1
            else:
                first = at + 1
    return rows


def _cell(statement: Statement, first: object, last: object, count: int) -> Cell:
    start, end = first.start, last.end + 1  # type: ignore[attr-defined]
    span = statement.source.span(start, end)
    return Cell(span, count == 1 and statement.source.excerpt(span).upper() == "DEFAULT")


def default_text(field: Field) -> str:
    """The default of a column, as SQL."""
    type = duckdb_type(field.type)
    if field.default is None:
        return f"CAST(NULL AS {type})"
    value = field.default
    literal = exp.convert(value) if isinstance(value, bool | int | float) else exp.Literal.string(str(value))
    return f"CAST({literal.sql(dialect=DIALECT)} AS {type})"

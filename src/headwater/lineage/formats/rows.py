"""Lineage as rows: one per edge, for tables, CSV files, JSON lines and notebooks; and the choice of a format."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from html import escape

import msgspec

from headwater.errors import UsageError
from headwater.fit import align
from headwater.lineage.statement import StatementLineage
from headwater.model.edges import Edge
from headwater.text import suggest

COLUMN_HEADERS = (
    *("statement", "target_table", "target_column", "source_table", "source_column"),
    *("kind", "influence", "expression", "approximate", "source", "line", "column"),
)
TABLE_HEADERS = ("statement", "statement_type", "target_table", "source_table", "status", "source", "line", "column")

Row = tuple[object, ...]


def column_rows(statements: Sequence[StatementLineage]) -> list[Row]:
    """One row per edge, in the order of `COLUMN_HEADERS`."""
    return [
        (
            *(statement.index, str(edge.target.table), edge.target.name, str(edge.source.table), edge.source.name),
            *(edge.kind.value, edge.kind.influence.value, edge.expression, edge.approximate, statement.source_name),
            *((span.line, span.column) if (span := edge.source_span) else (None, None)),
        )
        for statement in statements
        for edge in statement.edges
    ]


def table_rows(statements: Sequence[StatementLineage]) -> list[Row]:
    """One row per table that a statement reads, in the order of `TABLE_HEADERS`."""
    return [
        (
            *(statement.index, statement.statement_type, str(statement.target or ""), str(source.name)),
            *(statement.status.value, statement.source_name),
            *((source.spans[0].line, source.spans[0].column) if source.spans else (None, None)),
        )
        for statement in statements
        for source in statement.sources
    ]


def aligned(headers: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows in aligned columns, without the columns that are empty throughout."""
    kept = [at for at in range(len(headers)) if any(row[at] not in (None, "") for row in rows)]
    return align([headers[at] for at in kept], [[row[at] for at in kept] for row in rows])


def to_csv(headers: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows as CSV with a header line. Text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(headers)
    writer.writerows([_safe(value) for value in row] for row in rows)
    return out.getvalue().rstrip("\n")


def to_json_lines(headers: Sequence[str], rows: Sequence[Row]) -> str:
    """Rows as one JSON object a line."""
    return "\n".join(msgspec.json.encode(dict(zip(headers, row))).decode() for row in rows)


def _safe(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


_STYLE = "border-collapse:collapse;font-size:90%"
_MOST = 500  # rows; a notebook cell is for looking, not for export


def html(statements: Sequence[StatementLineage]) -> str:
    """A table of edges as an HTML fragment, grouped by what they lead to. All text is escaped; nothing is fetched."""
    rows = [_row(edge) for statement in statements for edge in statement.edges]
    cut = f"<p>… and {len(rows) - _MOST:,} more edges</p>" if len(rows) > _MOST else ""
    head = "".join(
        f"<th style='text-align:left'>{title}</th>" for title in ("column", "comes from", "how", "expression")
    )
    return f"<table style='{_STYLE}'><tr>{head}</tr>{''.join(rows[:_MOST])}</table>{cut}"


def _row(edge: Edge) -> str:
    kind = edge.kind.value + (f" <em title='{escape(edge.approximate)}'>~</em>" if edge.approximate else "")
    expression = f"<code>{escape(edge.expression)}</code>" if edge.expression else ""
    cells = (f"<b>{escape(str(edge.target))}</b>", escape(str(edge.source)), kind, expression)
    return "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>"


def in_format(makers: Mapping[str, Callable[[], str]], format: str) -> str:
    """Return what the maker of that name makes. RAISES: UsageError with the nearest name when there is none."""
    if format not in makers:
        hint = suggest(format, makers, f"formats: {', '.join(makers)}")
        raise UsageError(f"there is no format `{format}`", hint=hint)
    return makers[format]()

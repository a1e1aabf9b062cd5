"""Lineage as an HTML fragment, for notebooks. All text is escaped; there is no script and nothing is fetched."""

from collections.abc import Sequence
from html import escape

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import Edge

_STYLE = "border-collapse:collapse;font-size:90%"
_MOST = 500  # rows; a notebook cell is for looking, not for export


def html(statements: Sequence[StatementLineage]) -> str:
    """A table of edges, grouped by what they lead to."""
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

"""The places and texts of a plan's expressions.

Spark remembers for each expression the piece of SQL or the line of Python it came from. Here each gets a span of its
own, so that the lineage rules can carry it like any other; the text behind it is made when somebody asks. Literals
are not shown: a plan holds the values people filter by, and those are data.
"""

import re
from functools import cache
from typing import Any

from headwater.spark.plan.node import Encoded, Place
from headwater.text import Source, Span

_LONGEST = 500
_STATEMENT = re.compile(
    r"\s*(?:MERGE|UPDATE|INSERT|DELETE|CREATE|REPLACE|SELECT|WITH|FROM|VALUES)\b(?!\s*\()", re.IGNORECASE
)
_LITERAL = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<name>`[^`]*`|[A-Za-z_][\w.]*)
  | (?P<text>[rRxX]?'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
  | (?P<number>\d[\w.]*)
    """,
    re.VERBOSE | re.DOTALL,
)


def redact(sql: str) -> str:
    """SQL with its literals blotted out and its comments gone.

    >>> redact("SELECT a1, 'Bob''s', 3.5e7 FROM `x y` -- tax id 12")
    'SELECT a1, ?, ? FROM `x y` '
    """

    def shown(match: "re.Match[str]") -> str:
        if match["name"] is not None:
            return match[0]
        return "" if match["comment"] is not None else "?"

    return _LITERAL.sub(shown, sql)


class Places:
    """The spans given out for one plan. `redacted` False shows literals of SQL text as they were written."""

    def __init__(self, texts: tuple[str, ...] = (), *, redacted: bool = True) -> None:
        self.names: dict[int, str] = {}  # what columns are called, for expressions that have no text
        self.texts = list(texts)
        self.first_text = 0  # that of the plan being lowered, where there are several
        self._redacted = redacted
        self._given: list[tuple[Place | None, Encoded, int]] = []
        self._source = cache(lambda at: Source(self.texts[at]))

    def span(self, place: Place | None, expression: Encoded) -> Span:
        """A span that stands for an expression written at a place. No expression begins where a statement does: what
        has that place was not written, such as the columns of `UPDATE SET *`."""
        if place is not None and "text" in place:
            text = self.texts[self.first_text + place["text"]]
            if not text[: place["start"]].strip() and _STATEMENT.match(text):
                place = None
        self._given.append((place, expression, self.first_text))
        number = len(self._given)
        return Span(number - 1, number, number, 1)

    def excerpt(self, span: Span) -> str:
        """The text of an expression: the SQL it was written as, else what the plan says."""
        place, expression, first = self._given[span.start]
        if place is not None and "text" in place:
            text = self.texts[first + place["text"]][place["start"] : place["end"]]
            text = " ".join((redact(text) if self._redacted else text).split())
        else:
            text = self._shown(expression)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def place(self, span: Span) -> str | None:
        """`/jobs/daily.py:22` for Python, `sql:3:8` for SQL text; None where Spark does not say."""
        place, _, first = self._given[span.start]
        if place is None:
            return None
        if "at" in place:
            return str(place["at"])
        return f"sql:{self._source(first + place['text']).span(place['start'], place['end'])}"

    def _shown(self, expression: Encoded, depth: int = 8) -> str:
        if expression is None or depth == 0:
            return "?" if expression is None else "…"
        if isinstance(expression, int):
            return self.names.get(expression, f"#{expression}")
        if isinstance(expression, dict):
            return str(expression.get("text", ""))
        return self._call(expression, depth - 1)

    def _call(self, expression: list[Any], depth: int) -> str:
        head, *rest = expression
        if head == "=":
            return self._shown(rest[2], depth)
        if head == "?":
            return "(…)"
        if head == "->":
            return f"{', '.join(self._shown(each, depth) for each in rest[1:])} -> {self._shown(rest[0], depth)}"
        more = rest[-1] if isinstance(rest[-1], dict) and "text" not in rest[-1] else {}
        operands = [self._shown(each, depth) for each in (rest[1:-1] if more else rest[1:])]
        if head in _SIGNS:
            return f"({f' {_SIGNS[head]} '.join(operands)})"
        if "field" in more:
            return f"{operands[0]}.{more['field']}"
        if head in _TRANSPARENT and operands:
            return operands[0]
        return f"{rest[0]}({', '.join(operands)})"


_TRANSPARENT = frozenset({"AggregateExpression", "SortOrder", "WindowExpression"})
_SIGNS = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "And": "AND",
    "Or": "OR",
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}

"""The context of one rewriting: names for provenance columns, the tables whose rows are told apart, and notes.

A query is rewritten so that each of its rows has one more column, a list of texts. `3|17` is the row of the third
source whose key is 17; `@0|4` is the fourth record of the first CSV file; `!2` says that the second note holds:
something is not there, and that decided.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlglot

from headwater.errors import CannotTellError
from headwater.query.parse import DIALECT, Node, quoted

Env = Mapping[str, str | None]
"""The common table expressions in sight, folded, and the provenance column of each."""

NOTHING = "CAST([] AS VARCHAR[])"


@dataclass(frozen=True, slots=True)
class TaggedSource:
    """A table whose rows are told apart: by key columns, by a column of numbers, or by their place in a file."""

    number: int
    identity: str  # an expression over the columns of the table
    hidden: str | None = None  # a column that is ours


@dataclass
class Rewriting:
    """The state of one rewriting. `describe` gives the column names of a query that stands alone."""

    sources: Mapping[str, TaggedSource]
    describe: Callable[[str], list[str]]
    aggregates: frozenset[str]
    columns: frozenset[str] | None = None  # output columns that are asked for, None for all
    prefix: str = "#"  # of our names; no column of the query begins with it
    notes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # CSV files whose lines are told apart
    originals: dict[str, str] = field(default_factory=dict)  # common table expressions as they were written
    _made: int = 0

    def fresh(self) -> str:
        """The name of a provenance column, which no other column has."""
        self._made += 1
        return f"{self.prefix}{self._made}"

    def absent(self, note: str) -> str:
        """A list with the mark of a note: what is not there decided."""
        if note not in self.notes:
            self.notes.append(note)
        return f"['!{self.notes.index(note)}']"

    def is_aggregate(self, node: Node) -> bool:
        """Return whether a node is a call of an aggregate function."""
        return function_name(node) in self.aggregates


def function_name(node: Node) -> str:
    """The name of a called function in DuckDB's SQL, empty for what is no call."""
    if not isinstance(node, sqlglot.exp.Func) or isinstance(node, sqlglot.exp.Connector):
        return ""
    return str(node.sql(dialect=DIALECT)).partition("(")[0].strip().lower()


def refuse(what: str) -> CannotTellError:
    """The error for a part of a query that is not followed."""
    return CannotTellError(f"{what} is not followed row by row")


def sql_of(node: Node) -> str:
    return str(node.sql(dialect=DIALECT))


def short(node: Node) -> str:
    """A node as text for a note."""
    text = " ".join(sql_of(node).split())
    return text if len(text) <= 300 else text[:299] + "…"


def parsed(text: str) -> Node:
    return sqlglot.parse_one(text, dialect=DIALECT)


def together(parts: Sequence[str]) -> str:
    """Lists joined to one; NULL counts as empty."""
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else f"flatten([{', '.join(parts)}])"


def local_nodes(node: Any) -> Iterator[Node]:
    """The nodes of an expression, those of nested queries left out; the queries themselves are given."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one is None:
            continue
        yield one
        if not isinstance(one, sqlglot.exp.Query):
            stack.extend(reversed(list(one.iter_expressions())))


def name_text(name: str) -> str:
    return quoted(name)

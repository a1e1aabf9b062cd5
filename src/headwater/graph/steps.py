"""Columns and edges of the graph, as its answers have them."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from headwater.graph.tables import WHOLE
from headwater.model.edges import ColumnRef, Edge, Kind
from headwater.model.names import TableName
from headwater.text import Span


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A column of a dataset; `*` is the dataset as a whole."""

    dataset: str
    column: str

    def __str__(self) -> str:
        return f"{self.dataset}.{self.column}"

    def is_like(self, pattern: str) -> bool:
        """Return whether the column or its dataset is like a file pattern."""
        return fnmatchcase(str(self), pattern) or fnmatchcase(self.dataset, pattern)


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of the graph, with who says so and where."""

    source: Node
    target: Node
    kind: Kind
    statement: str
    expression: str | None = None
    masking: bool = False
    approximate: str | None = None
    file: str | None = None
    line: int | None = None
    start: int | None = None
    end: int | None = None
    observed: bool = False

    @property
    def place(self) -> str | None:
        """`file:line`, where that is known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def as_edge(self) -> Edge:
        """The edge without who says so, for formats that draw edges."""
        span = None if self.start is None or self.end is None else Span(self.start, self.end, self.line or 1, 1)
        return Edge(
            _ref(self.source),
            _ref(self.target),
            self.kind,
            self.expression,
            target_span=span,
            masking=self.masking,
            approximate=self.approximate,
        )


def _ref(node: Node) -> ColumnRef:
    return ColumnRef(TableName.of(node.dataset), None if node.column == WHOLE else node.column)

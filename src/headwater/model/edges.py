"""Edges: one output column depends on one input column, in one way.

Three kinds of influence are kept apart, because users ask for them apart:

* *value*: the output's value is made of the input's (OpenLineage DIRECT);
* *condition*: the input decides, inside the expression, which value the output takes;
* *row*: the input decides which rows there are, or their order. It concerns every column of the target alike, so
  such an edge may have a whole table as target (`ColumnRef.column` is None).
"""

from enum import Enum

import msgspec

from headwater.model.names import TableName
from headwater.text import Span

ELEMENT = "[]"
"""The path step from an array or map to its elements: `items[].sku` is ("items", ELEMENT, "sku")."""


class InfluenceClass(Enum):
    """The three ways in which one column can matter to another."""

    VALUE = "value"
    CONDITION = "condition"
    ROW = "row"


class Kind(Enum):
    """The part that the source takes in the target; the order is from weaker to stronger within value kinds."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    CONDITIONAL = "CONDITIONAL"
    WINDOW = "WINDOW"
    FILTER = "FILTER"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"
    MERGE = "MERGE"

    @property
    def influence(self) -> InfluenceClass:
        return _INFLUENCE[self]

    @property
    def is_direct(self) -> bool:
        """Return whether OpenLineage calls it DIRECT."""
        return _INFLUENCE[self] is InfluenceClass.VALUE


_INFLUENCE = {
    Kind.IDENTITY: InfluenceClass.VALUE,
    Kind.TRANSFORMATION: InfluenceClass.VALUE,
    Kind.AGGREGATION: InfluenceClass.VALUE,
    Kind.CONDITIONAL: InfluenceClass.CONDITION,
    Kind.WINDOW: InfluenceClass.CONDITION,
    Kind.FILTER: InfluenceClass.ROW,
    Kind.JOIN: InfluenceClass.ROW,
    Kind.GROUP_BY: InfluenceClass.ROW,
    Kind.SORT: InfluenceClass.ROW,
    Kind.MERGE: InfluenceClass.ROW,
}


class ColumnRef(msgspec.Struct, frozen=True, gc=False):
    """A column of a table, or a field inside it, or (column None) the table as a whole.

    >>> str(ColumnRef(TableName.of("shop", "orders"), "items", (ELEMENT, "sku")))
    'shop.orders.items[].sku'
    """

    table: TableName
    column: str | None
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The column with its path, without the table."""
        text = self.column or "*"
        for step in self.path:
            text += step if step == ELEMENT else f".{step}"
        return text

    def collapse(self) -> "ColumnRef":
        """The same column without the path inside it."""
        return ColumnRef(self.table, self.column) if self.path else self

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


class Edge(msgspec.Struct, frozen=True, gc=False):
    """One dependency. The expression lives on the edge, never on a node.

    `approximate` is the reason for doubt, None when the edge is certain; `masking` says that every way from source
    to target goes through a function that hides the value (hashes, COUNT, …). `place` says where the expression was
    written, when that is not the text the spans point into: `jobs/daily.py:22`.
    """

    source: ColumnRef
    target: ColumnRef
    kind: Kind
    expression: str | None = None
    source_span: Span | None = None
    target_span: Span | None = None
    masking: bool = False
    approximate: str | None = None
    place: str | None = None

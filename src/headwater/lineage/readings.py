"""Read-outs: the answers people ask of the same edges.

* **value-only** (`Reading.VALUE`): what the output's value is made of. Conditions are not parents. This is the answer
  of ZetaSQL's toolkit.
* **whole-expression** (`Reading.FULL`): also what the expression looks at: CASE and IF conditions, window keys. This
  is the answer of most other tools.

Row influence (WHERE, JOIN, GROUP BY …) makes no parents in either; a full read-out of the *edges* has it.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from msgspec import structs

from headwater.lineage.statement import StatementLineage
from headwater.model.edges import ColumnRef, Edge, InfluenceClass


class Reading(Enum):
    """The kinds of influence that make a parent."""

    VALUE = "value"
    FULL = "full"

    def takes(self, edge: Edge) -> bool:
        """Return whether an edge counts in this reading."""
        influence = edge.kind.influence
        return influence is InfluenceClass.VALUE or (self is Reading.FULL and influence is InfluenceClass.CONDITION)


@dataclass(frozen=True, slots=True)
class ColumnEntity:
    """A column of a table, by name; `addr.city` names a field inside it. The case of the name does not matter.

    >>> ColumnEntity("d.t", "Id") == ColumnEntity("d.t", "ID"), ColumnEntity("d.t", "id") == ColumnEntity("d.T", "id")
    (True, False)
    """

    table: str
    name: str = field(compare=False)
    _folded: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_folded", self.name.lower())

    @classmethod
    def from_resolved_column(cls, column: Any) -> "ColumnEntity":
        """The entity of a column of ZetaSQL's resolved tree."""
        return cls(column.table_name, column.name)

    @classmethod
    def from_ref(cls, ref: ColumnRef) -> "ColumnEntity":
        return cls(str(ref.table), ref.name)

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """An output column and the columns it comes from; none for a constant or COUNT(*)."""

    target: ColumnEntity
    parents: frozenset[ColumnEntity] = frozenset()


@dataclass(frozen=True, slots=True)
class TableLineage:
    """The tables a statement reads and the one it writes, None for a SELECT."""

    target: str | None
    sources: frozenset[str]
    statement_type: str


def collapse_paths(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """The same edges between whole columns; those that differed only inside columns become one."""
    seen: dict[tuple[ColumnRef, ColumnRef, str], list[Edge]] = {}
    for edge in edges:
        is_whole = not edge.source.path and not edge.target.path
        if not is_whole:
            edge = structs.replace(edge, source=edge.source.collapse(), target=edge.target.collapse())
        same = seen.setdefault((edge.source, edge.target, edge.kind.value), [])
        if not same or (is_whole and edge.expression not in [each.expression for each in same]):
            same.append(edge)
    return tuple(edge for same in seen.values() for edge in same)


def column_lineage(
    lineage: StatementLineage, *, reading: Reading = Reading.VALUE, collapse: bool = False
) -> tuple[ColumnLineage, ...]:
    """Each output column with its parents, in order; with `collapse`, without paths inside columns."""
    edges = collapse_paths(lineage.edges) if collapse else lineage.edges
    parents: dict[ColumnEntity, set[ColumnEntity]] = {}
    pathed = {edge.target.column for edge in edges if edge.target.path}
    for column in lineage.columns:
        if column.name not in pathed:
            parents[ColumnEntity(str(lineage.output), column.name)] = set()
    for edge in edges:
        if reading.takes(edge):
            parents.setdefault(ColumnEntity.from_ref(edge.target), set()).add(ColumnEntity.from_ref(edge.source))
    order = {column.name.lower(): at for at, column in enumerate(lineage.columns)}
    found = [ColumnLineage(target, frozenset(sources)) for target, sources in parents.items()]
    return tuple(sorted(found, key=lambda each: order.get(each.target.name.split(".")[0].lower(), len(order))))


def restrict(lineage: StatementLineage, reading: Reading, *, collapse: bool = False) -> StatementLineage:
    """The same statement with the edges of one reading: values only, or everything."""
    edges = collapse_paths(lineage.edges) if collapse else lineage.edges
    if reading is Reading.VALUE:
        edges = tuple(edge for edge in edges if edge.kind.influence is InfluenceClass.VALUE)
    return lineage if edges is lineage.edges else dataclasses.replace(lineage, edges=edges)


def table_lineage(lineage: StatementLineage) -> TableLineage:
    """The tables of a statement."""
    return TableLineage(
        None if lineage.target is None else str(lineage.target),
        frozenset(str(table.name) for table in lineage.sources),
        lineage.statement_type,
    )

"""The differences between two sets of facts: datasets, columns and edges that came, went or are computed in another
way."""

from collections.abc import Iterable
from dataclasses import dataclass

from headwater.graph.facts import Facts, Row
from headwater.graph.regions import is_own
from headwater.graph.steps import Node
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, WHOLE
from headwater.model.edges import Kind

EdgeKey = tuple[str, str, str, str, str]  # source, its column, target, its column, kind


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge that came, went, or is computed in another way."""

    change: str  # added, removed or changed
    source: Node
    target: Node
    kind: Kind
    before: str | None = None  # expressions
    after: str | None = None


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """The differences between two graphs."""

    edges: tuple[EdgeChange, ...] = ()
    datasets_added: tuple[str, ...] = ()
    datasets_removed: tuple[str, ...] = ()
    columns_added: tuple[Node, ...] = ()
    columns_removed: tuple[Node, ...] = ()

    def __bool__(self) -> bool:
        return bool(
            self.edges or self.datasets_added or self.datasets_removed or self.columns_added or self.columns_removed
        )

    def of(self, change: str) -> list[EdgeChange]:
        return [edge for edge in self.edges if edge.change == change]


def diff_facts(before: Facts, after: Facts) -> GraphDiff:
    """Return what changed from one collection of facts to another."""
    sides = [expressions_of(facts.rows[EDGES.name].values()) for facts in (before, after)]
    datasets = [{key[0] for key in facts.rows[DATASETS.name]} for facts in (before, after)]
    columns = [{Node(*key) for key in facts.rows[COLUMNS.name]} for facts in (before, after)]
    return difference(sides[0], sides[1], datasets, columns)


def edge_key(row: Row) -> EdgeKey:
    return row["source"], row["source_column"], row["target"], row["target_column"], row["kind"]


def expressions_of(rows: Iterable[Row]) -> dict[EdgeKey, str | None]:
    """Return how each edge is computed; of several statements, what the first says."""
    found: dict[EdgeKey, str | None] = {}
    for row in sorted(rows, key=lambda row: row["statement"]):
        found.setdefault(edge_key(row), row["expression"])
    return found


def difference(
    old: dict[EdgeKey, str | None], new: dict[EdgeKey, str | None], datasets: list[set[str]], columns: list[set[Node]]
) -> GraphDiff:
    changes = [_change("added", key, None, new[key]) for key in new.keys() - old.keys()]
    changes += [_change("removed", key, old[key], None) for key in old.keys() - new.keys()]
    changes += [
        _change("changed", key, old[key], new[key]) for key in old.keys() & new.keys() if old[key] != new[key]
    ]
    changes = [each for each in changes if not (is_own(each.source.dataset) or is_own(each.target.dataset))]
    datasets = [{name for name in side if not is_own(name)} for side in datasets]
    columns = [{node for node in side if node.column != WHOLE and not is_own(node.dataset)} for side in columns]
    return GraphDiff(
        edges=tuple(sorted(changes, key=lambda each: (each.target, each.source, each.kind.value, each.change))),
        datasets_added=tuple(sorted(datasets[1] - datasets[0])),
        datasets_removed=tuple(sorted(datasets[0] - datasets[1])),
        columns_added=tuple(sorted(columns[1] - columns[0])),
        columns_removed=tuple(sorted(columns[0] - columns[1])),
    )


def _change(change: str, key: EdgeKey, before: str | None, after: str | None) -> EdgeChange:
    return EdgeChange(change, Node(key[0], key[1]), Node(key[2], key[3]), Kind(key[4]), before, after)

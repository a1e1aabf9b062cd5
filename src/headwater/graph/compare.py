"""Differences: between two states of the graph, between two sets of SQL files, and between what SQL says and what
runs did."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from headwater.graph.facts import Facts, Row
from headwater.graph.questions import Node
from headwater.graph.regions import is_own
from headwater.graph.store import GraphState
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, WHOLE, TableSpec
from headwater.lake.engine.predicates import In
from headwater.model.edges import Kind

EdgeKey = tuple[str, str, str, str, str]  # source, its column, target, its column, kind
_KEY = ("source", "source_column", "target", "target_column", "kind")


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


def diff_states(before: GraphState, after: GraphState, aliases: Mapping[str, str] | None = None) -> GraphDiff:
    """Return what changed from one state to another. Only what differs between the snapshots of the tables is read.
    With `aliases`, datasets of one alias are one dataset: what one of them has, all have."""
    named = aliases or {}
    old, new = (_named(rows, named, "source", "target") for rows in _changed_rows(before, after, EDGES))
    keys = {_edge_key(row) for row in (*old, *new)}
    # an edge that one statement dropped may still be there by another
    sides = [_expressions(side) if keys else {} for side in (old, new)]
    untouched = _other_witnesses(before, keys, {row["id"] for row in old}, named) if keys else {}
    for side in sides:
        for key, expression in untouched.items():
            side.setdefault(key, expression)
    datasets, columns = (_changed_keys(before, after, spec, named) for spec in (DATASETS, COLUMNS))
    tables = [{key[0] for key in side} for side in datasets]
    return _difference(sides[0], sides[1], tables, [{Node(*key) for key in side} for side in columns])


def _named(rows: Iterable[Row], aliases: Mapping[str, str], *names: str) -> list[Row]:
    """Rows of the edges, each with its `id`, in which datasets go by their aliases."""
    return [row | {"id": row_id(row)} | {name: aliases.get(row[name], row[name]) for name in names} for row in rows]


def _changed_keys(
    before: GraphState, after: GraphState, spec: TableSpec, aliases: Mapping[str, str]
) -> list[set[tuple[str, ...]]]:
    """The keys of the rows of a table that one of two states has and the other has not; one of several datasets of
    an alias that came or went is no change."""
    sides = []
    for rows, other in zip(_changed_rows(before, after, spec), (after, before)):
        found = {tuple(row[name] for name in spec.key) for row in rows}
        shared = {(aliases[key[0]], *key[1:]) for key in found if key[0] in aliases}
        if shared:
            members = tuple(name for name, alias in aliases.items() if alias in {key[0] for key in shared})
            there = other.read(spec, list(spec.key), where=In("dataset", members)).to_pylist()
            shared -= {(aliases[row["dataset"]], *(row[name] for name in spec.key[1:])) for row in there}
        sides.append({key for key in found if key[0] not in aliases} | shared)
    return sides


def row_id(row: Row) -> tuple[str, ...]:
    return tuple(row[name] for name in EDGES.key)


def _changed_rows(before: GraphState, after: GraphState, spec: TableSpec) -> tuple[list[Row], list[Row]]:
    """The rows of a table that are only in one of two states, as they are there."""
    start, end = before.pins.get(spec.name), after.pins.get(spec.name)
    if start == end:
        return [], []
    if start is None:
        return [], after.read(spec).to_pylist()
    if end is None:
        return before.read(spec).to_pylist(), []
    backwards = start > end
    log = before.store.table(spec).changes(min(start, end), max(start, end)).read_all().to_pylist()
    old = [row for row in log if row["_kind"] in ("-D", "-U")]
    new = [row for row in log if row["_kind"] in ("+I", "+U")]
    return (new, old) if backwards else (old, new)


def _other_witnesses(
    state: GraphState, keys: set[EdgeKey], gone: set[tuple[str, ...]], aliases: Mapping[str, str]
) -> dict[EdgeKey, str | None]:
    """Edges among `keys` that rows say which did not change."""
    edges = state.read(EDGES, [*EDGES.key, "expression"])
    targets = {key[2] for key in keys}
    members = {name for name, alias in aliases.items() if alias in targets}
    near = edges.filter(pa.compute.is_in(edges.column("target"), pa.array(sorted(targets | members))))
    rows = _named(near.to_pylist(), aliases, "source", "target")
    return _expressions(row for row in rows if _edge_key(row) in keys and row["id"] not in gone)


def diff_facts(before: Facts, after: Facts) -> GraphDiff:
    """Return what changed from one collection of facts to another."""
    sides = [_expressions(facts.rows[EDGES.name].values()) for facts in (before, after)]
    datasets = [{key[0] for key in facts.rows[DATASETS.name]} for facts in (before, after)]
    columns = [{Node(*key) for key in facts.rows[COLUMNS.name]} for facts in (before, after)]
    return _difference(sides[0], sides[1], datasets, columns)


def _edge_key(row: Row) -> EdgeKey:
    return row["source"], row["source_column"], row["target"], row["target_column"], row["kind"]


def _expressions(rows: Iterable[Row]) -> dict[EdgeKey, str | None]:
    """Return how each edge is computed; of several statements, what the first says."""
    found: dict[EdgeKey, str | None] = {}
    for row in sorted(rows, key=lambda row: row["statement"]):
        found.setdefault(_edge_key(row), row["expression"])
    return found


def _difference(
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


@dataclass(frozen=True, slots=True)
class Drift:
    """A column whose sources by SQL text and by observed runs are not the same."""

    target: Node
    only_said: tuple[Node, ...]  # SQL says so, no run did it
    only_done: tuple[Node, ...]  # a run did it, no SQL says so

    other: ClassVar[str] = "runs"

    @property
    def title(self) -> str:
        return str(self.target)


def drift(state: GraphState) -> list[Drift]:
    """Return where texts and runs disagree about what a column's value is made of; datasets known from one side only
    are not compared."""
    edges = state.read(EDGES, [*_KEY, "observed"]).to_pylist()
    sides: dict[bool, dict[Node, set[Node]]] = {True: {}, False: {}}
    for row in edges:
        if Kind(row["kind"]).is_direct and row["target_column"] != WHOLE:
            target = Node(row["target"], row["target_column"])
            sides[bool(row["observed"])].setdefault(target, set()).add(Node(row["source"], row["source_column"]))
    written = [{target.dataset for target in side} for side in (sides[True], sides[False])]
    both = written[0] & written[1]
    found = []
    for target in sorted(sides[True].keys() | sides[False].keys()):
        said, done = sides[False].get(target, set()), sides[True].get(target, set())
        if target.dataset in both and said != done:
            found.append(Drift(target, tuple(sorted(said - done)), tuple(sorted(done - said))))
    return found

"""Differences between two states of the graph, and between what SQL says and what runs did."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from headwater.graph.diff import EdgeKey, GraphDiff, difference, edge_key, expressions_of
from headwater.graph.facts import Row
from headwater.graph.steps import Node
from headwater.graph.store import GraphState
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, WHOLE, TableSpec
from headwater.lake.engine.predicates import In
from headwater.lazy import arrow_compute as pc
from headwater.model.edges import Kind

_KEY = ("source", "source_column", "target", "target_column", "kind")


def diff_states(before: GraphState, after: GraphState, aliases: Mapping[str, str] | None = None) -> GraphDiff:
    """Return what changed from one state to another. Only what differs between the snapshots of the tables is read.
    With `aliases`, datasets of one alias are one dataset: what one of them has, all have."""
    named = aliases or {}
    old, new = (_named(rows, named, "source", "target") for rows in _changed_rows(before, after, EDGES))
    keys = {edge_key(row) for row in (*old, *new)}
    # an edge that one statement dropped may still be there by another
    sides = [expressions_of(side) if keys else {} for side in (old, new)]
    untouched = _other_witnesses(before, keys, {row["id"] for row in old}, named) if keys else {}
    for side in sides:
        for key, expression in untouched.items():
            side.setdefault(key, expression)
    datasets, columns = (_changed_keys(before, after, spec, named) for spec in (DATASETS, COLUMNS))
    tables = [{key[0] for key in side} for side in datasets]
    return difference(sides[0], sides[1], tables, [{Node(*key) for key in side} for side in columns])


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
    near = edges.filter(pc.is_in(edges.column("target"), pa.array(sorted(targets | members))))
    rows = _named(near.to_pylist(), aliases, "source", "target")
    return expressions_of(row for row in rows if edge_key(row) in keys and row["id"] not in gone)


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

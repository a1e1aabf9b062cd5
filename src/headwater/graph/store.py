"""The graph in the lake: changed one commit a table, seen as whole states.
A change of the graph touches several tables, and a process may die between two of them. So every change ends with one
record in `lineage.harvests` that names the snapshot of each table; readers go by the records, never by what is newest
in a table. Until the record is there, nobody sees any of the change."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.errors import NotFoundError, SchemaError, UsageError
from headwater.events.event import new_run_id
from headwater.graph.facts import Facts, Key, Row
from headwater.graph.lock import one_at_a_time, take_back_all
from headwater.graph.states import KeptSnapshots, State, choose, list_states, spans
from headwater.graph.tables import ALL_TABLES, DATABASE, FACT_TABLES, HARVESTS, TableSpec
from headwater.lake.engine.predicates import Where
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.commit import PlacedFile
from headwater.lake.metadata.schema_change import AddColumn
from headwater.lake.metadata.snapshot import Origin
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.maintenance import compact_if_due
from headwater.lake.tables.time_travel import At, Back, ById, ByTag, ByTime, parse_at
from headwater.lake.tables.writes import CommitFacts, write_rows
from headwater.model.schema import Field, Schema
from headwater.model.types import parse_type

_USER = "headwater-graph"


@dataclass(slots=True)
class WrittenFiles:
    """Files that tasks have written, by the table they belong to, and how many rows they hold."""

    placed: dict[str, list[PlacedFile]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    @classmethod
    def together(cls, parts: Iterable["WrittenFiles"]) -> "WrittenFiles":
        """The files of many tasks, in the order of the tasks."""
        whole = cls()
        for part in parts:
            for name, placed in part.placed.items():
                whole.placed.setdefault(name, []).extend(placed)
                whole.rows[name] = whole.rows.get(name, 0) + part.rows[name]
        return whole


@dataclass(slots=True)
class GraphChange:
    """A change of the graph: rows to write and keys to remove, by table, and the record of it."""

    facts: Facts = field(default_factory=Facts)
    removed: dict[str, list[Key]] = field(default_factory=dict)
    record: Row = field(default_factory=dict)
    tables: Mapping[str, pa.Table] = field(default_factory=dict)  # rows besides the facts, where there are many
    written: Mapping[str, Sequence[PlacedFile]] = field(default_factory=dict)  # rows that tasks have written to files
    origin: "OriginOf | None" = None
    id: str = field(default_factory=new_run_id)


OriginOf: TypeAlias = Callable[[TableSpec, Mapping[str, int]], Origin]
"""Where the rows of a table come from, given the snapshots of those written before it."""


class GraphStore:
    """The tables of the graph in a warehouse."""

    def __init__(self, warehouse: Warehouse | str) -> None:
        self.warehouse = Warehouse(warehouse) if isinstance(warehouse, str) else warehouse
        self._known: tuple[int, list[State]] | None = None  # the states by a snapshot of the table of harvests

    @property
    def exists(self) -> bool:
        return self.warehouse.has_table(HARVESTS.full_name)

    def create(self) -> None:
        """Make the tables that are not there."""
        self.warehouse.create_database(DATABASE, if_not_exists=True, comment="lineage, kept by Headwater")
        for spec in ALL_TABLES:
            self.warehouse.create_table(
                spec.full_name,
                model_schema(spec),
                primary_key=spec.key,
                options=dict(spec.options),
                comment=spec.about,
                if_not_exists=True,
            )
            # give a table that an earlier version made the columns that it lacks
            table = self.table(spec)
            there = {each.name for each in table.schema.fields}
            missing = [each for each in model_schema(spec).fields if each.name not in there]
            if missing:
                table.alter(*(AddColumn(each.name, each.type, description=each.description) for each in missing))

    def table(self, spec: TableSpec) -> Table:
        return self.warehouse.table(spec.full_name)

    def apply(self, change: GraphChange, ready: Callable[[], bool] = lambda: True) -> str:
        """Carry out a change; returns its id. Trying the same change again does what was not done yet.

        `ready` is called when no other change can come between. It completes the change from what the tables hold,
        and returns whether there is anything to write.
        """
        self.create()
        with one_at_a_time(self.warehouse) as alone:
            undone = self._take_back(change.id) if alone else {}
            if ready():
                self._write(change, undone)
        return change.id

    def settle(self) -> None:
        """Take back what a process has left that died in the middle of a change. Waits for changes under way.
        Who makes a change from what the tables hold calls this before it reads them."""
        if self.exists:
            with one_at_a_time(self.warehouse) as alone:
                if alone:
                    self._take_back("-")

    def _take_back(self, mine: str) -> dict[str, int]:
        pins = self.state().pins if self.states() else {}  # without a state, no change has come to its end yet
        return take_back_all({spec.name: self.table(spec) for spec in FACT_TABLES}, pins, mine)

    def _write(self, change: GraphChange, undone: Mapping[str, int]) -> None:
        """Write the tables of a change, and its record. What was `undone` is written again under another name.
        The record names the tables that have changed: the others stay at the snapshots of the states before, so that
        a compaction in between belongs to those states too."""
        snapshots: dict[str, int] = {}
        changed: set[str] = set()
        for spec in FACT_TABLES:
            table = self.table(spec)
            again = f"-{undone[spec.name]}" if undone.get(spec.name) else ""
            removed = change.removed.get(spec.name, [])
            rows, written = _rows(change, spec), change.written.get(spec.name, ())
            if len(rows) or removed or written:
                origin = change.origin(spec, snapshots) if change.origin is not None else None
                id = f"{change.id}-{spec.name}{again}"
                facts = CommitFacts(origin=origin, user=_USER, id=id, replayed=True)
                made = write_rows(table.store, rows, facts, deletes=_keys(spec, removed), written=written)
                if not written:  # whoever has tasks that write has tasks that compact
                    compact_if_due(table.store, made)
                changed.add(spec.name)
            latest = table.snapshot()
            if latest is not None:
                snapshots[spec.name] = latest.snapshot_id
        self.record(change, {name: id for name, id in snapshots.items() if name in changed})

    def record(self, change: GraphChange, snapshots: Mapping[str, int]) -> None:
        """Make a change visible: its tables are written, at these snapshots."""
        states = self.states()
        again = next((state.number for state in states if state.harvest == change.id), None)
        row = {
            **dict.fromkeys(HARVESTS.names),
            **change.record,
            "harvest": change.id,
            "ended": datetime.now(UTC),
            "snapshots": sorted(snapshots.items()),
            "number": again or (states[-1].number + 1 if states else 1),
        }
        rows = pa.Table.from_pylist([row], arrow_schema(HARVESTS))
        self.table(HARVESTS).write(rows, commit_user=_USER, commit_id=change.id)

    def states(self) -> list[State]:
        """Every state that the graph has had, oldest first; `harvests` tells which of them have expired."""
        snapshot = self.table(HARVESTS).snapshot() if self.exists else None
        if snapshot is None:
            return []
        known = self._known
        if known is None or known[0] != snapshot.snapshot_id:
            records = self._records(snapshot.snapshot_id, ("harvest", "number", "ended", "snapshots"))
            known = self._known = snapshot.snapshot_id, list_states(records)
        return known[1]

    def _records(self, at: At, names: Sequence[str] = ()) -> list[Row]:
        """The records as a snapshot of their table has them: all columns, or of `names` those that it has."""
        table = self.table(HARVESTS)
        columns = [each.name for each in table.schema.fields if not names or each.name in names]
        rows: list[Row] = table.to_arrow(columns, at=at).to_pylist()
        return rows

    def state(self, at: At | None = None) -> "GraphState":
        """The graph as it is, or was: `at` is the number of a state, a time, or `@-1` for the one before the latest.

        RAISES: NotFoundError when there is no lineage in the warehouse, or not such a state any more.
        """
        states = self.states()
        if not states:
            raise NotFoundError(
                f"there is no lineage in the warehouse {self.warehouse.url} yet",
                hint="`headwater harvest PATH` reads SQL files, `headwater ingest FILE` OpenLineage events",
            )
        wanted = Back(0) if at is None else self._wanted(at)
        found = choose(states, self._kept(), wanted)
        return GraphState(self, found.number, found.pins, found.ended)

    def first_state(self) -> "GraphState":
        """The oldest state that can be read. RAISES: NotFoundError when there is none."""
        kept = self._kept().readable(self.states())
        return self.state(kept[0].number if kept else None)

    def _wanted(self, at: At) -> ById | Back | ByTime:
        tags = self.table(HARVESTS).store.tags.names() if isinstance(at, str) else []
        try:
            wanted = parse_at(at, now=time.time(), tags=tags)
        except UsageError:
            wanted = ByTag(str(at))
        if not isinstance(wanted, ByTag):
            return wanted
        if wanted.name not in tags:
            numbers = spans(each.number for each in self._kept().readable(self.states())) or "none"
            raise UsageError(
                f"`{wanted.name}` is not a state of the graph",
                hint=f"a number, now {numbers} (`headwater harvests` lists them), `@-1` for the state before the "
                "latest, `2 hours ago` or `2026-11-01`",
            )
        return ById(list_states(self._records(wanted.name))[-1].number)

    def _kept(self) -> KeptSnapshots:
        return KeptSnapshots({spec.name: self.table(spec) for spec in FACT_TABLES if self._has(spec)})

    def _has(self, spec: TableSpec) -> bool:
        return self.warehouse.has_table(spec.full_name)

    def harvests(self) -> list[Row]:
        """The records, oldest first, each with the `number` of its state and whether that has `expired`."""
        states = self.states()
        if not states:
            return []
        kept = {state.number for state in self._kept().readable(states)}
        records = {record["harvest"]: record for record in self._records("@0")}
        return [
            records[state.harvest] | {"number": state.number, "expired": state.number not in kept}
            for state in states
            if state.harvest in records
        ]


@dataclass(frozen=True)
class GraphState:
    """The tables of the graph at the snapshots that belong together."""

    store: GraphStore
    number: int  # from 1, as `headwater harvests` shows it
    pins: Mapping[str, int]
    time: datetime

    @property
    def is_latest(self) -> bool:
        return self.number == self.store.states()[-1].number

    def read(self, spec: TableSpec, columns: Sequence[str] | None = None, *, where: Where = None) -> pa.Table:
        """Rows of a table of the graph as they are in this state."""
        pin = self.pins.get(spec.name)
        if pin is None:
            wanted = [arrow_schema(spec).field(name) for name in columns or spec.names]
            return pa.schema(wanted).empty_table()
        table, wanted = self.store.table(spec), list(columns or spec.names)
        try:
            found = table.to_arrow(columns, where=where, at=pin)
        except SchemaError:  # an earlier version made the state, without some of the columns
            there = set(table.plan_scan(at=pin).columns)
            found = table.to_arrow([name for name in wanted if name in there], where=where, at=pin)
        for name in wanted:
            if name not in found.column_names:
                found = found.append_column(name, pa.nulls(len(found), arrow_schema(spec).field(name).type))
        return found.select(wanted) if found.column_names != wanted else found


def model_schema(spec: TableSpec) -> Schema:
    """The lake schema of a table of the graph."""
    fields = []
    for id, (name, text, about) in enumerate(spec.columns):
        required = text.endswith(" NOT NULL")
        type = parse_type(text.removesuffix(" NOT NULL"))
        fields.append(Field(id, name, type, nullable=not required, description=about))
    return Schema(tuple(fields))


def arrow_schema(spec: TableSpec) -> pa.Schema:
    """The Arrow schema of a table of the graph."""
    return pa.schema(
        [pa.field(each.name, arrow_type(each.type), nullable=each.nullable) for each in model_schema(spec).fields]
    )


def facts_to_arrow(facts: Facts, spec: TableSpec) -> pa.Table:
    """Return the rows that facts have for a table."""
    return pa.Table.from_pylist(facts.of(spec), arrow_schema(spec))


def _rows(change: GraphChange, spec: TableSpec) -> pa.Table:
    rows = facts_to_arrow(change.facts, spec)
    return pa.concat_tables([rows, change.tables[spec.name]]) if spec.name in change.tables else rows


def _keys(spec: TableSpec, keys: Sequence[Key]) -> Any:
    if not keys:
        return None
    schema = pa.schema([arrow_schema(spec).field(name) for name in spec.key])
    return pa.Table.from_pylist([dict(zip(spec.key, key)) for key in sorted(keys)], schema)

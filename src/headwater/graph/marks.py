"""The columns that descend from a version that failed a check.

A lake table at a snapshot carries the marks of

- its own checks: those that failed on the snapshot, or on one before whose rows it still holds and which no later
  check of the same name has looked at again;
- its inputs: what marks a column of the version that was read marks every column whose value is made of it.

The commits say which versions were read, and which columns are made of which. Field ids follow a column through its
names. A version that is gone is known by its facts, and by the runs that were brought into the graph.
Where nothing has versions, the newest check before a moment counts, and the edges of the graph lead on.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TypeAlias

from headwater.errors import NotFoundError
from headwater.graph.checks import FAIL, MEASURED
from headwater.graph.facts import Row
from headwater.graph.store import GraphState
from headwater.graph.tables import CHECKS, EDGES, RUN_INPUTS, WHOLE, root_column
from headwater.graph.versions import DatasetVersion, has_table, held_by
from headwater.lake.engine.predicates import Compare, In
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Table
from headwater.lake.tables.names import parse_name
from headwater.model.edges import Kind
from headwater.model.schema import Schema

Name: TypeAlias = tuple[str, str]
"""A dataset and a column of it."""
Column: TypeAlias = int | str
"""A column of a version: its field id; `*`; its name where the table is gone."""
_ANY = ""  # every column of a dataset: where only the table is known, anything may flow
_MOMENT = timedelta(milliseconds=1)  # what a commit has read was there before it
_EXPIRED = "the snapshots since have expired: whether its rows are still there cannot be told"


@dataclass(frozen=True, slots=True)
class Mark:
    """A failed check of a version that a column descends from."""

    dataset: str
    column: str  # * for the dataset as a whole
    check: str
    version: str | None
    time: datetime
    message: str | None = None
    doubt: str | None = None
    key: "_Key" = field(default=(None, ""), repr=False)  # the table and the field that failed

    def __str__(self) -> str:
        column = "" if self.column == WHOLE else f".{self.column}"
        version = f"@{self.version}" if self.version is not None else f" at {self.time:%F %T}"
        return f"{self.check} failed on {self.dataset}{column}{version}"


_Key: TypeAlias = tuple[str | None, Column]
_Marks: TypeAlias = frozenset[Mark]
_Found: TypeAlias = dict[Column, _Marks]
_NONE: _Marks = frozenset()
_Source: TypeAlias = tuple[DatasetVersion, Column]  # a column of a version


@dataclass(frozen=True, slots=True)
class _Making:
    """The making of a version: the version whose rows it holds, and what each column is made of."""

    held: DatasetVersion | None = None
    reads: tuple[tuple[Column, _Source], ...] = ()
    time: datetime | None = None


class Marks:
    """The marks of a state of the graph; of the newest state, on what the lake holds now.

    `entering` returns the edges into some columns that values flow along, as pairs of source and target.
    """

    def __init__(
        self, state: GraphState, entering: Callable[[Iterable[Name]], Iterable[tuple[Name, Name]]] | None = None
    ) -> None:
        self._state = state
        self._warehouse = state.store.warehouse
        self._entering = entering or (lambda names: ())
        self._tables: dict[str, tuple[Table, str | None] | None] = {}
        self._schemas: dict[str | None, list[Schema]] = {}
        self._found: dict[DatasetVersion, _Found] = {}
        self._links: dict[Name, set[Name]] = {}

    def of(self, names: Iterable[Name]) -> dict[Name, tuple[Mark, ...]]:
        """The marks of those columns that have any: of lake tables at their latest snapshot."""
        if not self._fails:
            return {}
        moment = None if self._state.is_latest else self._state.time
        wanted = list(dict.fromkeys(names))
        self._follow({(dataset, root_column(column)) for dataset, column in wanted if not self._table(dataset)})
        found = {
            (dataset, column): _NONE.union(
                *(self._marks(source, moment) for source in self._sources(dataset, column, moment))
            )
            for dataset, column in wanted
        }
        return {name: _in_order(marks) for name, marks in found.items() if marks}

    def of_version(self, version: DatasetVersion) -> dict[str, tuple[Mark, ...]]:
        """The marks of the columns of one version of a lake table, by the names that they had."""
        if not self._fails or version.snapshot_id is None:
            return {}
        table, snapshot = self._table_of(version), self._snapshot(version)
        names = {WHOLE, *(row["column"] for row in self._facts.get(version.table_uuid or "", ()))}
        if table is not None and snapshot is not None:
            names |= {*table.store.schemas.get_schema(snapshot.schema_id).names}
        found = {name: self._marks((version, self._key(version, name)), None) for name in sorted(names)}
        return {name: _in_order(marks) for name, marks in found.items() if marks}

    # ------------------------------------------------------------------------------------------------ versions

    def _marks(self, source: _Source, moment: datetime | None) -> _Marks:
        """The marks of a column of a version; those of the table as a whole are among them."""
        version, column = source
        if version.snapshot_id is None:
            return frozenset(self._failed(version.dataset, str(column), moment))
        found = self._of(version)
        if column == _ANY:
            return _NONE.union(*found.values())
        return found.get(column, _NONE) | found.get(WHOLE, _NONE)

    def _of(self, version: DatasetVersion) -> _Found:
        """The marks of a version, after those of all versions that it descends from."""
        waiting = [version]
        while waiting:
            top = waiting[-1]
            if top in self._found:
                waiting.pop()
                continue
            making = self._making(top)
            sources = {making.held, *(source for _, (source, _) in making.reads)}
            ahead = [each for each in sources if each is not None and each.snapshot_id is not None]
            ahead = [each for each in ahead if each not in self._found and each not in waiting]
            waiting += ahead
            if not ahead:
                self._found[top] = self._joined(top, making)
        return self._found[version]

    def _joined(self, version: DatasetVersion, making: _Making) -> _Found:
        found: dict[Column, set[Mark]] = {}
        checked = self._checked(version)
        for column, marks in (self._found.get(making.held, {}) if making.held is not None else {}).items():
            found[column] = {mark for mark in marks if (mark.key, mark.check) not in checked}
        for (key, _), row in checked.items():
            if row["outcome"] == FAIL:
                is_older = row["version"] != str(version.snapshot_id)
                found.setdefault(key[1], set()).add(_mark(row, key, _EXPIRED if is_older else None))
        for target, source in making.reads:
            if source[0] in self._found or source[0].snapshot_id is None:
                found.setdefault(target, set()).update(self._marks(source, making.time))
        return {column: frozenset(marks) for column, marks in found.items() if marks}

    def _checked(self, version: DatasetVersion) -> dict[tuple[_Key, str], Row]:
        """The facts of the checks of a version by field and name, the newest of each. Of a version that is gone also
        the facts of those before it: what came between them is not known any more."""
        is_gone = self._snapshot(version) is None
        found: dict[tuple[_Key, str], Row] = {}
        for row in self._facts.get(version.table_uuid or "", ()):
            id = int(row["version"] or 0)
            if id == version.snapshot_id or (is_gone and id < (version.snapshot_id or 0)):
                field_id = self._key(DatasetVersion(version.dataset, id, version.table_uuid), row["column"])
                key = (version.table_uuid, field_id), row["check"]
                if key not in found or int(found[key]["version"] or 0) <= id:
                    found[key] = row
        return found

    def _making(self, version: DatasetVersion) -> _Making:
        snapshot = self._snapshot(version)
        if snapshot is None:
            return _Making(reads=tuple(self._recorded(version)))
        held = held_by(snapshot)
        before = None if held is None else DatasetVersion(version.dataset, held, version.table_uuid)
        time = datetime.fromtimestamp(snapshot.timestamp / 1000, UTC) - _MOMENT
        read: dict[str, list[DatasetVersion]] = {}
        reads: list[tuple[Column, _Source]] = []
        for each in snapshot.origin.inputs if snapshot.origin is not None else ():
            uuid = each.table_uuid or self._uuid(each.dataset)
            read.setdefault(each.dataset, []).append(DatasetVersion(each.dataset, each.snapshot_id, uuid))
        for edge in snapshot.origin.columns if snapshot.origin is not None else ():
            if Kind(edge.kind).is_direct:
                target, column = self._key(version, edge.column), _ANY if edge.source == WHOLE else edge.source
                for source in read.get(edge.dataset, ()):
                    if source.snapshot_id:
                        reads.append((target, (source, self._key(source, column))))
                    else:
                        reads += [(target, each) for each in self._sources(edge.dataset, column, time)]
        return _Making(before, tuple(reads), time)

    def _recorded(self, version: DatasetVersion) -> Iterator[tuple[Column, _Source]]:
        """Yield how the graph says that a version was made that is gone: `ingest --origins` brings it in."""
        of = [Compare("dataset", "=", version.dataset), Compare("version", "=", str(version.snapshot_id))]
        made = self._state.read(RUN_INPUTS, where=[*of, Compare("role", "=", "output")]).to_pylist()
        runs = tuple(row["run"] for row in made if row["table_uuid"] == version.table_uuid)
        where = (In("run", runs), Compare("role", "=", "input"))
        edges = self._state.read(EDGES, where=Compare("target", "=", version.dataset)).to_pylist() if runs else ()
        for read in self._state.read(RUN_INPUTS, where=where).to_pylist() if runs else ():
            id = int(read["version"]) if (read["version"] or "").isdigit() else None
            source = DatasetVersion(read["dataset"], id, read["table_uuid"])
            for edge in edges:
                if edge["observed"] and edge["source"] == source.dataset and Kind(edge["kind"]).is_direct:
                    column = self._key(source, edge["source_column"])
                    yield self._key(version, edge["target_column"]), (source, column)

    # -------------------------------------------------------------------------------------------------- tables

    @cached_property
    def _facts(self) -> dict[str, list[Row]]:
        """The outcomes of checks by lake table, and by dataset of those that are none; oldest first."""
        found: dict[str, list[Row]] = {}
        rows = self._state.read(CHECKS).to_pylist()
        for row in sorted(rows, key=lambda row: (row["time"], row["run"])):
            if row["outcome"] != MEASURED:
                found.setdefault(row["table_uuid"] or row["dataset"], []).append(row)
        return found

    @cached_property
    def _fails(self) -> bool:
        return any(row["outcome"] == FAIL for rows in self._facts.values() for row in rows)

    def _table(self, dataset: str) -> tuple[Table, str | None] | None:
        """The lake table that has a name now, and its id."""
        if dataset not in self._tables:
            table = self._warehouse.table(dataset) if has_table(self._warehouse, dataset) else None
            self._tables[dataset] = None if table is None else (table, table.store.table_uuid)
        return self._tables[dataset]

    def _uuid(self, dataset: str) -> str | None:
        table = self._table(dataset)
        return None if table is None else table[1]

    def _table_of(self, version: DatasetVersion) -> Table | None:
        """The lake table of a version, which may have another name now; None if it is gone."""
        known = self._table(version.dataset)
        if known is None or known[1] != version.table_uuid:
            known = self._table(self._names.get(version.table_uuid, ""))
        return None if known is None else known[0]

    @cached_property
    def _names(self) -> dict[str | None, str]:
        house = self._warehouse
        names = (f"{base}.{name}" for base in house.list_databases() for name in house.list_tables(base))
        return {house.entry(parse_name(name)).table_uuid: name for name in names}

    def _snapshot(self, version: DatasetVersion) -> Snapshot | None:
        table = self._table_of(version)
        try:
            return None if table is None or version.snapshot_id is None else table.snapshot(version.snapshot_id)
        except NotFoundError:
            return None

    def _key(self, version: DatasetVersion, column: str) -> Column:
        """The field of a column by the name that it had in a version, or got later without another snapshot."""
        table = self._table_of(version)
        if column in (WHOLE, _ANY) or table is None:
            return column
        schemas = self._schemas.setdefault(version.table_uuid, []) or table.schemas()
        self._schemas[version.table_uuid] = schemas
        snapshot = self._snapshot(version)
        first = snapshot.schema_id if snapshot is not None else len(schemas)
        for schema in (*schemas[first:], *reversed(schemas[:first])):
            for each in schema.fields:
                if each.name in (column, root_column(column)):
                    return each.id
        return column

    # --------------------------------------------------------------------------------------------------- graph

    def _sources(self, dataset: str, column: str, moment: datetime | None) -> list[_Source]:
        """The column at a moment: of a lake table in its latest version; else with the columns that its value comes
        from, as the graph has them, up to lake tables."""
        found: list[_Source] = []
        waiting, seen = [(dataset, column)], {(dataset, column)}
        self._follow({(dataset, root_column(column))} if not self._table(dataset) else set())
        for name, part in waiting:
            known = self._table(name)
            if known is not None:
                try:
                    snapshot = known[0].snapshot(moment)
                except NotFoundError:  # the moment is before the oldest that is kept
                    snapshot = None
                if snapshot is None:
                    continue
                version = DatasetVersion(name, snapshot.snapshot_id, known[1])
                if moment is not None or part in (WHOLE, _ANY):
                    found.append((version, self._key(version, part)))
                else:  # by the name that it has now
                    fields = known[0].schema.fields
                    found += [(version, each.id) for each in fields if each.name in (part, root_column(part))]
                continue
            found.append((DatasetVersion(name, None), part))
            near = self._from(name, root_column(part)) - seen
            waiting += near
            seen |= near
        return found

    def _from(self, dataset: str, column: str) -> set[Name]:
        """The columns that a column's value comes from in one step, and those that flow into the whole dataset."""
        return self._links.get((dataset, column), set()) | self._links.get((dataset, WHOLE), set())

    def _follow(self, names: set[Name]) -> None:
        """Read the edges into some columns, and on as far as there are no lake tables."""
        ahead = names - self._links.keys()
        while ahead:
            self._links |= {name: set() for name in ahead}
            for (source, column), (target, into) in self._entering([(name, part or WHOLE) for name, part in ahead]):
                part = _ANY if column == WHOLE else root_column(column)
                self._links.setdefault((target, root_column(into)), set()).add((source, part))
            sources = {source for name in ahead for source in self._from(*name)}
            ahead = {name for name in sources if name not in self._links and not self._table(name[0])}

    def _failed(self, dataset: str, column: str, moment: datetime | None) -> Iterator[Mark]:
        """The checks whose newest outcome at a moment is a failure; before the first outcome, that one counts."""
        newest: dict[Name, Row] = {}
        for row in self._facts.get(dataset, ()):
            key = row["column"], row["check"]
            concerns = column == _ANY or root_column(row["column"]) in (root_column(column), WHOLE)
            if concerns and (key not in newest or moment is None or row["time"] <= moment):
                newest[key] = row
        yield from (_mark(row, (None, row["column"])) for row in newest.values() if row["outcome"] == FAIL)


def _mark(row: Row, key: _Key, doubt: str | None = None) -> Mark:
    shown = {name: row[name] for name in ("dataset", "column", "check", "version", "time")}
    return Mark(**shown, message=row["message"] or row["actual"], doubt=doubt, key=key)


def _in_order(marks: _Marks) -> tuple[Mark, ...]:
    """Marks of columns before those of tables, by name."""
    return tuple(sorted(marks, key=lambda mark: (mark.column == WHOLE, mark.dataset, mark.column, mark.check)))

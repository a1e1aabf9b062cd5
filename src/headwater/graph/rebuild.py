"""Bring the tables that queries define up to date, inputs before what is made of them."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from threading import local
from typing import cast

from headwater.errors import CannotTellError, HeadwaterError, NotFoundError, UsageError
from headwater.graph.selector import parse_selector
from headwater.graph.versions import tables_told
from headwater.lake.tables import Warehouse
from headwater.query.materialized import adopt, refresh_table
from headwater.query.refresh.definition import TableDefinition, find_definition
from headwater.query.refresh.refresh import Refresh, Way
from headwater.query.session import Session
from headwater.text import suggest


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input of a table that has changed since the table was made."""

    dataset: str
    read: int
    latest: int
    gone: int  # rows
    came: int


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One table of a rebuild: how it is brought up to date and, unless that was only planned, what came of it."""

    table: str
    way: str  # nothing, rows, groups, keys, full, waits, failed
    reasons: tuple[str, ...] = ()
    inputs: tuple[ChangedInput, ...] = ()
    gone: int = 0
    came: int = 0
    snapshot_id: int | None = None
    seconds: float = 0.0
    error: str | None = None
    differs: int | None = None  # with `verify`: rows that a full run gives otherwise


def find_tables(warehouse: Warehouse, selector: str | None = None) -> dict[str, TableDefinition]:
    """The tables that a selector names and a query defines; without one all that are declared.
    RAISES: NotFoundError when there is none, UsageError when tables are made of each other in a circle."""
    every = {name: definition for name in tables_told(warehouse) if (definition := _definition(warehouse, name))}
    if selector is None:
        chosen = {name for name, definition in every.items() if definition.is_declared}
    else:
        chosen = _selected(every, selector)
    return {name: every[name] for name in _in_order(every) if name in chosen}


def _definition(warehouse: Warehouse, name: str) -> TableDefinition | None:
    try:
        return find_definition(warehouse, name)
    except CannotTellError:
        return None


def _selected(every: dict[str, TableDefinition], selector: str) -> set[str]:
    wanted = parse_selector(selector)
    found = {name for name in every if fnmatchcase(name.lower(), wanted.pattern.lower())}
    if not found:
        hint = suggest(wanted.pattern, every, "`headwater rebuild` brings all declared tables up to date")
        raise NotFoundError(f"no table that a query defines is called `{wanted.pattern}`", hint=hint)
    below = {name: set(definition.inputs) & every.keys() for name, definition in every.items()}
    above = {name: {other for other, inputs in below.items() if name in inputs} for name in every}
    return found | _reached(found, below, wanted.up) | _reached(found, above, wanted.down)


def _reached(start: set[str], edges: dict[str, set[str]], steps: int | None) -> set[str]:
    found, front = set(start), set(start)
    while front and steps != 0:
        front = {other for name in front for other in edges[name]} - found
        found |= front
        steps = None if steps is None else steps - 1
    return found


def _in_order(tables: dict[str, TableDefinition]) -> list[str]:
    try:
        return list(TopologicalSorter({name: _inputs(tables, name) for name in tables}).static_order())
    except CycleError as err:
        raise UsageError(f"tables are made of each other: {' → '.join(err.args[1])}") from err


def _inputs(tables: dict[str, TableDefinition], name: str) -> set[str]:
    return set(tables[name].inputs) & tables.keys()


def plan_rebuild(warehouse: Warehouse, tables: dict[str, TableDefinition], *, full: bool = False) -> list[Rebuilt]:
    """The way in which each table would be brought up to date; a table whose inputs will change waits for them."""
    found: dict[str, Rebuilt] = {}
    with Session(warehouse) as session:
        for name, definition in tables.items():
            moving = [each for each in _inputs(tables, name) if found[each].way != Way.NOTHING.value]
            if moving and not full:
                found[name] = Rebuilt(name, "waits", (f"after {', '.join(sorted(moving))}",))
                continue
            plan = refresh_table(session.execution(definition.statement), name, full=full, dry_run=True)
            found[name] = _told(plan, 0.0)
    return list(found.values())


def rebuild(
    warehouse: Warehouse,
    tables: dict[str, TableDefinition],
    *,
    full: bool = False,
    verify: bool = False,
    jobs: int = 1,
    progress: Callable[[Rebuilt], None] = lambda done: None,
) -> list[Rebuilt]:
    """Bring tables up to date, each in one commit. What is made of a table that fails is left as it is."""
    order = TopologicalSorter({name: _inputs(tables, name) for name in tables})
    order.prepare()
    found: dict[str, Rebuilt] = {}
    sessions = _Sessions(warehouse)
    with sessions, ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[Rebuilt], str] = {}
        while order.is_active():
            for name in order.get_ready():
                failed = [each for each in _inputs(tables, name) if found[each].error is not None]
                if failed:
                    found[name] = Rebuilt(name, "failed", error=f"{failed[0]} failed, which it is made of")
                    progress(found[name])
                    order.done(name)
                else:
                    running[pool.submit(_one, sessions, name, full, verify)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                name = running.pop(future)
                found[name] = future.result()
                progress(found[name])
                order.done(name)
    return list(found.values())


class _Sessions:
    """A session for each thread, which keeps the columns that its tables share."""

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse
        self._own = local()
        self._every: list[Session] = []

    def get(self) -> Session:
        if not hasattr(self._own, "session"):
            self._own.session = Session(self.warehouse)
            self._every.append(self._own.session)
        return cast(Session, self._own.session)

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        for session in self._every:
            session.close()


def _one(sessions: _Sessions, name: str, full: bool, verify: bool) -> Rebuilt:
    start = time.perf_counter()
    session = sessions.get()
    try:
        definition = find_definition(session.warehouse, name)
        plan = refresh_table(session.execution(definition.statement), name, full=full)
        differs = _differences(session, definition) if verify else None
    except HeadwaterError as err:
        return Rebuilt(name, "failed", error=err.message, seconds=time.perf_counter() - start)
    return _told(plan, time.perf_counter() - start, differs)


def _differences(session: Session, definition: TableDefinition) -> int:
    """The rows that a table has more or fewer of than its query gives on the states that it was made from."""
    mine = f"SELECT * FROM {definition.table.name}"
    text = "SELECT count(*) FROM ({} EXCEPT ALL {})"
    pinned = _pinned_query(session, definition)
    ways = ((mine, pinned), (pinned, mine))
    return sum(int(session.sql(text.format(*way)).table.column(0)[0].as_py()) for way in ways)


def _pinned_query(session: Session, definition: TableDefinition) -> str:
    """The query of a table with the states that its last refresh read."""
    fresh = find_definition(session.warehouse, definition.table.name)
    statement = fresh.statement
    run = session.execution(statement)
    edits = []
    for ref in run.names.refs(statement.tree.expression):
        read = fresh.inputs.get(str(ref.pinned.name))
        if read is not None and read.snapshot_id and ref.system is None and not ref.pinned.is_past:
            edits.append((ref.span.end, f" VERSION AS OF {read.snapshot_id}"))
    text = statement.source.text
    for at, more in sorted(edits, reverse=True):
        text = text[:at] + more + text[at:]
    return f"({text.partition(' AS ')[2]})"


def _told(plan: Refresh, seconds: float, differs: int | None = None) -> Rebuilt:
    inputs = tuple(
        ChangedInput(
            name,
            max(0, change.before.state.snapshot_id),
            change.after.state.snapshot_id,
            change.gone.num_rows,
            change.came.num_rows,
        )
        for name, change in sorted(plan.changes.items())
    )
    numbers = (plan.gone, plan.came, plan.snapshot_id)
    return Rebuilt(
        plan.table, plan.way.value, tuple(plan.reasons), inputs, *numbers, seconds=seconds, differs=differs
    )


def adopt_table(warehouse: Warehouse, name: str) -> TableDefinition:
    """Declare the query that made a table, so that it is refreshed with the others; the first refresh is in full.
    RAISES: NotFoundError, CannotTellError when no query made all of it."""
    definition = find_definition(warehouse, name)
    if not definition.is_declared:
        with Session(warehouse) as session:
            adopt(session.execution(definition.statement), definition)
    return find_definition(warehouse, name)

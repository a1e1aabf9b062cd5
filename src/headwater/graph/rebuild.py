"""Bring the tables that queries define up to date, inputs before what is made of them."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from statistics import median
from threading import local
from typing import cast

from headwater.errors import CannotTellError, HeadwaterError, NotFoundError, UsageError
from headwater.graph.rebuild_recipe import RowsNow, plan_recipe, run_recipe, tables_read
from headwater.graph.selector import parse_selector
from headwater.graph.store import GraphStore
from headwater.graph.tags import tagged_tables
from headwater.graph.versions import stale, tables_told
from headwater.lake.tables import Warehouse
from headwater.query.materialized import adopt, refresh_table
from headwater.query.parse import quoted
from headwater.query.refresh.definition import TableDefinition, create_text, find_definition
from headwater.query.refresh.refresh import Refresh, Refresher, Way, open_refresher
from headwater.query.session import Session
from headwater.text import suggest

_TAG = "tag:"
_RECENT = 5  # earlier refreshes that tell the time of the next


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input of a table that has changed since the table was made."""

    dataset: str
    read: int
    latest: int
    gone: int  # rows
    came: int


@dataclass(frozen=True, slots=True)
class RefreshCost:
    """The rows and bytes that a refresh reads, as far as is known before, and the time that earlier ones took."""

    changed_rows: int | None  # rows that differ; what they meet is read too. None: not known before an input is done
    changed_bytes: int | None  # of those rows, in memory
    input_rows: int  # of all inputs: what a full run reads
    input_bytes: int  # of their files
    seconds: float | None  # the median of the last refreshes in the same way, None when there was none


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
    cost: RefreshCost | None = None  # of a plan


def find_tables(warehouse: Warehouse, selector: str | None = None) -> dict[str, TableDefinition]:
    """The tables that a selector names and a query defines; without one all that are declared. `stale` names those
    that are behind and what is made of them, `tag:pii` those with that tag on them or a column.
    RAISES: NotFoundError when there is none, UsageError when tables are made of each other in a circle."""
    every = {name: definition for name in tables_told(warehouse) if (definition := _definition(warehouse, name))}
    if selector is None:
        chosen = {name for name, definition in every.items() if definition.is_declared}
    else:
        chosen = _selected(warehouse, every, selector)
    return {name: every[name] for name in _in_order({name: every[name] for name in chosen})}


def _definition(warehouse: Warehouse, name: str) -> TableDefinition | None:
    try:
        return find_definition(warehouse, name)
    except CannotTellError:
        return None


def _selected(warehouse: Warehouse, every: dict[str, TableDefinition], selector: str) -> set[str]:
    wanted = parse_selector("stale+" if selector == "stale" else selector)
    found = _named(warehouse, every, wanted.pattern)
    below = {name: set(definition.inputs) & every.keys() for name, definition in every.items()}
    above = {name: {other for other, inputs in below.items() if name in inputs} for name in every}
    return found | _reached(found, below, wanted.up) | _reached(found, above, wanted.down)


def _named(warehouse: Warehouse, every: dict[str, TableDefinition], pattern: str) -> set[str]:
    """RAISES: NotFoundError when a pattern or a tag is met by none."""
    if pattern == "stale":
        return {each.table for each in stale(warehouse)} & every.keys()
    if pattern.startswith(_TAG):
        tag = pattern.removeprefix(_TAG)
        found = set(tagged_tables(GraphStore(warehouse).state(), tag)) & every.keys()
        what, hint = f"has the tag `{tag}`", f"`headwater tag TABLE.COLUMN {tag}` puts it on a column"
    else:
        what = f"is called `{pattern}`"
        found = {name for name in every if fnmatchcase(name.lower(), pattern.lower())}
        hint = suggest(pattern, every, "`headwater rebuild` brings all declared tables up to date")
    if not found:
        raise NotFoundError(f"no table that a query defines {what}", hint=hint)
    return found


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
            if definition.engine == "spark":
                found[name] = _planned_recipe(warehouse, definition, moving, full=full)
                continue
            refresher = open_refresher(session.execution(definition.statement), definition)
            if moving and not full:
                told = Rebuilt(name, "waits", (f"after {', '.join(sorted(moving))}",))
            else:
                told = _told(refresher.decide(full=full), 0.0)
            found[name] = replace(told, cost=_cost(refresher, told.way))
    return list(found.values())


def _planned_recipe(warehouse: Warehouse, definition: TableDefinition, moving: list[str], *, full: bool) -> Rebuilt:
    if moving and not full:
        told = Rebuilt(str(definition.table.name), "waits", (f"after {', '.join(sorted(moving))}",))
    else:
        told = _told(plan_recipe(warehouse, definition, full=full), 0.0)
    scans = [table.plan_scan() for table in tables_read(warehouse, definition).values()]
    numbers = sum(each.rows for each in scans), sum(each.bytes for each in scans)
    return replace(told, cost=RefreshCost(None, None, *numbers, _expected_seconds(definition, told.way)))


def _cost(refresher: Refresher, way: str) -> RefreshCost:
    query, mentioned = refresher.query, refresher.query.mentioned
    scans = [
        table.plan([name for name in table.schema.names if mentioned is None or name.casefold() in mentioned])
        for _, table in query.datasets
    ]
    changes = [rows for each in refresher.plan.changes.values() for rows in (each.gone, each.came)]
    known = way not in ("waits", Way.FULL.value)
    return RefreshCost(
        sum(rows.num_rows for rows in changes) if known else None,
        sum(rows.nbytes for rows in changes) if known else None,
        sum(each.rows for each in scans),
        sum(each.bytes for each in scans),
        _expected_seconds(refresher.definition, way),
    )


def _expected_seconds(definition: TableDefinition, way: str) -> float | None:
    """The median time of the last refreshes of a table in one way; of the last in any, when the way is not known."""
    if way == Way.NOTHING.value:
        return None
    origins = [each.origin for each in reversed(definition.table.snapshots()) if each.origin is not None]
    earlier = [each.refresh for each in origins if each.refresh is not None]
    alike = [each.seconds for each in earlier if way in (each.way, "waits")][: 1 if way == "waits" else _RECENT]
    return median(alike) if alike else None


def rebuild(
    warehouse: Warehouse,
    tables: dict[str, TableDefinition],
    *,
    full: bool = False,
    verify: bool = False,
    jobs: int = 1,
    spark: RowsNow | None = None,
    progress: Callable[[Rebuilt], None] = lambda done: None,
) -> list[Rebuilt]:
    """Bring tables up to date, each in one commit. What is made of a table that fails is left as it is.
    `spark` runs the statements of tables that Spark made; without it these fail."""
    order = TopologicalSorter({name: _inputs(tables, name) for name in tables})
    order.prepare()
    found: dict[str, Rebuilt] = {}
    sessions = _Sessions(warehouse, spark)
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

    def __init__(self, warehouse: Warehouse, spark: RowsNow | None) -> None:
        self.warehouse = warehouse
        self.spark = spark
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
        if definition.engine == "spark":
            plan = run_recipe(session.warehouse, definition, sessions.spark, full=full)
            return _told(plan, time.perf_counter() - start)
        plan = refresh_table(session.execution(definition.statement), name, full=full)
        differs = _differences(session, definition) if verify else None
    except HeadwaterError as err:
        return Rebuilt(name, "failed", error=err.message, seconds=time.perf_counter() - start)
    return _told(plan, time.perf_counter() - start, differs)


def _differences(session: Session, definition: TableDefinition) -> int:
    """The rows that a table has more or fewer of than its query gives on the states that it was made from."""
    name = definition.table.name
    mine = f"SELECT * FROM {quoted(name.database)}.{quoted(name.table)}"
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
    return f"({text.removeprefix(create_text(fresh.table.name, ''))})"


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
    if definition.engine == "spark":
        raise CannotTellError(
            f"{name} was made by Spark, whose SQL is no definition", hint=f"headwater rebuild {name}"
        )
    if not definition.is_declared:
        with Session(warehouse) as session:
            adopt(session.execution(definition.statement), definition)
    return find_definition(warehouse, name)

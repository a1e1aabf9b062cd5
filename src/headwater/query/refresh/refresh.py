"""Bring a table that a query defines up to date, by the least work that is known to give the same rows.

From the cheapest: *nothing*, when no column that the query reads has changed; *rows*, when the rows that changed rows
give are all that differs; *groups*, when counts, sums and extremes of groups are kept; *keys*, when the rows of some
values of a column can be computed alone; *full*. Each is taken only where the text of the query shows that it gives
what a full run would give, and says why a cheaper one was not.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import msgspec
import pyarrow as pa

from headwater.errors import NotFoundError, SqlError
from headwater.lake.metadata.snapshot import Origin, RefreshRecord
from headwater.query.create import prepare_tail
from headwater.query.doubts import doubts
from headwater.query.names import Names, Pinned, TableRef
from headwater.query.origins import origin_of
from headwater.query.parse import DIALECT, SqlStatement, quoted
from headwater.query.refresh.apply import commit_change, lake_rows, net, refuse_repeated, typed
from headwater.query.refresh.blocks import QueryTree, RefusedWay, read_query
from headwater.query.refresh.changes import InputChange, find_change
from headwater.query.refresh.definition import TableDefinition
from headwater.query.refresh.evaluate import VALUE, RefreshEvaluation, plan_steps, signed_rows
from headwater.query.refresh.groups import GroupState
from headwater.query.refresh.split import Splitter, is_flat
from headwater.query.select import PreparedQuery, StatementExecution
from headwater.query.views import expand_views

ATTEMPTS = 20
NOT_RUN = "the rewritten query does not run"
_DEEPEST = 20  # views of views
_MOST_TOUCHED = 2  # more rows of the table than a half: a full run is cheaper
_SMALL = 1_000  # rows that cost nothing either way
_LARGE_SHARE = 3  # more changed rows than a third of the input: a full run is cheaper


class Way(Enum):
    """A way to bring a table up to date."""

    NOTHING = "nothing"
    ROWS = "rows"
    GROUPS = "groups"
    KEYS = "keys"
    FULL = "full"


@dataclass
class Refresh:
    """The plan of one refresh and, once it is carried out, its result."""

    table: str
    way: Way = Way.FULL
    reasons: list[str] = field(default_factory=list)  # why no cheaper way
    changes: dict[str, InputChange] = field(default_factory=dict)  # by dataset
    gone: int = 0
    came: int = 0
    snapshot_id: int | None = None

    @property
    def changed_rows(self) -> int:
        return sum(change.rows for change in self.changes.values())


@dataclass
class Refresher:
    """One table, its definition, and the states of its inputs now."""

    run: StatementExecution
    definition: TableDefinition
    query: PreparedQuery
    plan: Refresh
    tree: QueryTree | None = None
    evaluation: RefreshEvaluation | None = None

    @property
    def target(self) -> Pinned:
        table = self.definition.table
        return Pinned(table, self._state)

    def __post_init__(self) -> None:
        self._state = self.definition.table.store.latest()
        self._begun = time.perf_counter()

    # ---------------------------------------------------------------------------------------- planning

    def decide(self, *, full: bool = False) -> Refresh:
        """Find the cheapest way; nothing is carried out."""
        plan = self.plan
        try:
            if full:
                raise RefusedWay("a full run was asked for")
            self._find_changes()
            if not plan.changes:
                plan.way = Way.NOTHING
                return plan
            self._check_text()
            plan.way = self._way()
        except RefusedWay as err:
            plan.way = Way.FULL
            plan.reasons.append(str(err))
        return plan

    def _find_changes(self) -> None:
        """Find what changed in each input. RAISES: RefusedWay when that cannot be told."""
        definition, changes = self.definition, dict[str, InputChange]()
        if definition.made is None:
            raise RefusedWay(definition.why_not or "it was never made")
        recipe = definition.made.origin.recipe if definition.made.origin is not None else None
        if recipe is not None and recipe.files:
            raise RefusedWay(f"it reads {recipe.files[0].path}, and changes of files are not kept")
        by_name: dict[str, InputChange] = {}
        self.tree = self._read_tree()
        for (name, ref), columns in zip(self._refs().items(), self._columns()):
            if ref.pinned.is_past:
                continue
            dataset = str(ref.pinned.name)
            before = self._before(ref)
            try:
                change = find_change(self.run, before, ref.pinned, columns)
            except NotFoundError as err:
                raise RefusedWay(
                    f"{dataset}@{before.state.snapshot_id}, which it was made from, has expired"
                ) from err
            if change.rows:
                by_name[name] = change
                known = changes.get(dataset)
                changes[dataset] = change if known is None or known.rows < change.rows else known
        self.plan.changes = changes
        after = {name: ref.pinned for name, ref in self._refs().items()}
        if self.tree is not None:
            self.evaluation = RefreshEvaluation(self.run, self.tree, after, by_name)

    def _refs(self) -> Mapping[str, TableRef]:
        return dict(zip(self.query.tables, self.query.refs))

    def _read_tree(self) -> QueryTree | None:
        """The query with its columns told apart, None when that does not work; the reason is kept."""
        tables = {name: tuple(ref.pinned.schema.names) for name, ref in self._refs().items()}
        try:
            return read_query(self.query.text.text, tables)
        except RefusedWay as err:
            self.plan.reasons.append(str(err))
            return None

    def _columns(self) -> list[list[str]]:
        """The columns that the query reads of each of its tables; all where that cannot be told."""
        if self.tree is None:
            return [list(ref.pinned.schema.names) for ref in self.query.refs]
        return [self.tree.read_columns(name) for name in self._refs()]

    def _before(self, ref: TableRef) -> Pinned:
        """The state of an input that the table was made from. RAISES: RefusedWay when it is not known any more."""
        name, store = ref.pinned.name, ref.pinned.table.store
        if ref.system is not None:
            raise RefusedWay(f"it reads {name}${ref.system}, whose changes are not kept")
        read = self.definition.inputs.get(str(name))
        if read is None or read.snapshot_id is None:
            raise RefusedWay(f"the state of {name} that it was made from is not known")
        if read.table_uuid not in (None, store.table_uuid):
            raise RefusedWay(f"{name} was replaced by another table")
        try:
            snapshot = ref.pinned.table.snapshot(read.snapshot_id) if read.snapshot_id > 0 else None
        except NotFoundError as err:
            raise RefusedWay(f"{name}@{read.snapshot_id}, which it was made from, has expired") from err
        latest = ref.pinned.state.snapshot_id
        if snapshot is not None and snapshot.snapshot_id > latest:
            raise RefusedWay(f"{name} was rolled back behind {name}@{read.snapshot_id}")
        schema_id = ref.pinned.schema.id
        if snapshot is not None and _columns_differ(ref, snapshot.schema_id):
            raise RefusedWay(f"the columns of {name} have changed")
        return Pinned(ref.pinned.table, store.state(snapshot, store.shape(schema_id)), is_past=True)

    def _check_text(self) -> None:
        """RAISES: RefusedWay for a query whose rows depend on more than its inputs."""
        if self.tree is None:
            raise RefusedWay(self.plan.reasons.pop())
        found = doubts(self.tree.root)
        if found:
            raise RefusedWay(found[0])
        read = len(self.tree.tables)
        if read != len(set(self.tree.tables_in(self.tree.root))):
            raise RefusedWay("a table is read in a part that is not understood")
        for change in self.plan.changes.values():
            rows = change.after.snapshot.summary.total_records if change.after.snapshot is not None else 0
            if change.rows * _LARGE_SHARE > max(rows, _SMALL):
                raise RefusedWay(f"{change.rows:,} rows of {change.after.name} changed: a full run is cheaper")

    def _way(self) -> Way:
        """The cheapest way for what changed. RAISES: RefusedWay when only a full run will do."""
        assert self.tree is not None
        assert self.evaluation is not None
        reasons = self.plan.reasons
        root = self.tree.root
        if is_flat(root):
            try:
                plan_steps(self.tree, root, self.evaluation.changed)
                return Way.ROWS
            except RefusedWay as err:
                reasons.append(f"rows: {err}")
        else:
            try:
                self.groups().check()
                return Way.GROUPS
            except RefusedWay as err:
                reasons.append(f"groups: {err}")
        try:
            self._check_share(*self._key_column())
            return Way.KEYS
        except RefusedWay as err:
            raise RefusedWay(f"keys: {err}") from err

    def groups(self) -> GroupState:
        """The groups that are kept of the query. RAISES: RefusedWay when it has none that can be."""
        assert self.evaluation is not None
        return GroupState.over(self.evaluation, self.definition)

    def _key_column(self) -> tuple[int, dict[str, str]]:
        """The first output column that the query is split by, and the columns of its tables."""
        assert self.tree is not None
        assert self.evaluation is not None
        splitter, refused = Splitter(self.tree, self.evaluation.changed), RefusedWay("it has no columns")
        for at in range(len(self.target.schema.fields)):
            try:
                return at, splitter.by_output(self.tree.root, at)
            except RefusedWay as err:
                refused = err
        raise refused

    # ------------------------------------------------------------------------------------- carrying out

    def carry_out(self) -> Refresh:
        """Do what was decided; in full when the engine does not take a rewritten part of the query.
        RAISES: CommitConflictError when the table was changed meanwhile."""
        try:
            self._carry_out()
        except (SqlError, RefusedWay) as err:
            if self.plan.way is Way.FULL:
                raise
            self.plan.reasons.append(f"{self.plan.way.value}: {NOT_RUN}: {err}")
            self.plan.way = Way.FULL
            self._full()
        return self.plan

    def _carry_out(self) -> None:
        match self.plan.way:
            case Way.NOTHING:
                pass
            case Way.ROWS:
                self._commit(*self._changed_rows())
            case Way.GROUPS:
                self._refresh_groups()
            case Way.KEYS:
                self._commit(*self._rows_of_keys())
            case Way.FULL:
                self._full()

    def origin(self) -> Origin:
        """The origin of the snapshot that the refresh makes: that of the whole query, on the states of now."""
        name = self.definition.table.name
        made = origin_of(self.run, list(self.query.refs), name, self.run.statement.tree.this, self.target.schema)
        seconds = round(time.perf_counter() - self._begun, 3)
        return msgspec.structs.replace(made, refresh=RefreshRecord(way=self.plan.way.value, seconds=seconds))

    def _changed_rows(self) -> tuple[pa.Table, pa.Table]:
        assert self.tree is not None
        assert self.evaluation is not None
        items = [item.sql(dialect=DIALECT) for item in self.tree.root.expressions]
        empty = self.target.table.arrow_schema.empty_table()
        sides: dict[int, list[pa.Table]] = {-1: [empty], 1: [empty]}
        for sign, rows in signed_rows(self.evaluation, self.tree.root, items):
            sides[sign].append(typed(self.run, self.target, rows).cast(empty.schema))
        return net(self.run, pa.concat_tables(sides[-1]), pa.concat_tables(sides[1]))

    def _rows_of_keys(self) -> tuple[pa.Table, pa.Table]:
        assert self.evaluation is not None
        of, (at, split) = self.evaluation, self._key_column()
        values = of.values(split, sorted(of.changed))
        keys = {name: (column, values) for name, column in split.items()}
        names = [f"c{number}" for number in range(len(self.target.schema.fields))]
        condition = f"EXISTS (SELECT 1 FROM values AS v WHERE v.{VALUE} IS NOT DISTINCT FROM q.c{at})"
        text = f"SELECT * FROM ({self.query.text.text}) AS q({', '.join(names)}) WHERE {condition}"
        came = typed(self.run, self.target, of.generated(text, [], {"values": values}, keys))
        column = quoted(self.target.schema.names[at])
        condition = f"EXISTS (SELECT 1 FROM values AS v WHERE v.{VALUE} IS NOT DISTINCT FROM t.{column})"
        tables = {"mine": lake_rows(self.run, self.target), "values": values}
        gone = self.run.generated(f"SELECT * FROM mine AS t WHERE {condition}", tables)
        return net(self.run, gone, came)

    def _check_share(self, at: int, split: dict[str, str]) -> None:
        """RAISES: RefusedWay when the values that changed are those of most rows: a full run is cheaper."""
        assert self.evaluation is not None
        values = self.evaluation.values(split, sorted(self.evaluation.changed))
        column = quoted(self.target.schema.names[at])
        tables = {"mine": lake_rows(self.run, self.target), "values": values}
        condition = f"EXISTS (SELECT 1 FROM values AS v WHERE v.{VALUE} IS NOT DISTINCT FROM t.{column})"
        text = f"SELECT count(*), (SELECT count(*) FROM mine) FROM mine AS t WHERE {condition}"
        touched, rows = (each[0].as_py() for each in self.run.generated(text, tables).columns)
        read = sum(
            change.after.snapshot.summary.total_records
            for change in self.plan.changes.values()
            if change.after.snapshot
        )
        if touched * _MOST_TOUCHED > rows and read > _SMALL:
            raise RefusedWay(f"{touched:,} of {rows:,} rows have values that changed: a full run is cheaper")

    def _refresh_groups(self) -> None:
        groups = self.groups()
        before, after = groups.changed()
        if groups.is_local:
            gone, came = (typed(self.run, self.target, groups.rows_of(state)) for state in (before, after))
        else:
            gone, came = (
                lake_rows(self.run, self.target),
                typed(self.run, self.target, groups.rows_after(before, after)),
            )
        groups.write(before, after, self._commit(*net(self.run, gone, came)))

    def _commit(self, gone: pa.Table, came: pa.Table) -> Origin:
        self.plan.gone, self.plan.came = gone.num_rows, came.num_rows
        origin = self.origin()
        self.plan.snapshot_id = commit_change(self.run, self.target, gone, came, origin).snapshot_id
        return origin

    def _full(self) -> None:
        rows = typed(self.run, self.target, self.run.run(self.query))
        refuse_repeated(self.target, rows)
        origin = self.origin()
        table = self.definition.table
        self.plan.gone, self.plan.came = table.count(), rows.num_rows
        self.plan.snapshot_id = table.overwrite(rows, origin=origin).snapshot_id
        self._keep_groups(rows, origin)

    def _keep_groups(self, rows: pa.Table, origin: Origin) -> None:
        """Keep the groups of the query for the next refresh, if they give the rows that the query gave."""
        tree = self.tree if self.tree is not None else self._read_tree()
        if tree is None or is_flat(tree.root):
            return
        after = {name: ref.pinned for name, ref in self._refs().items()}
        try:
            groups = GroupState.over(RefreshEvaluation(self.run, tree, after), self.definition)
            state = groups.whole()
            gone, came = net(self.run, rows, typed(self.run, self.target, groups.rows_of(state)))
        except RefusedWay:
            return
        if not gone.num_rows and not came.num_rows:
            groups.replace(state, origin)


def _columns_differ(ref: TableRef, schema_id: int) -> bool:
    """Return whether the columns of a table are others than those of an earlier schema."""
    old = ref.pinned.table.store.shape(schema_id).schema
    shape = [(field.id, field.name, field.type) for field in old.fields]
    return shape != [(field.id, field.name, field.type) for field in ref.pinned.schema.fields]


def execution_of(run: StatementExecution, statement: SqlStatement, database: str | None = None) -> StatementExecution:
    """The context of another statement in the session of one."""
    names = Names(run.names.warehouse, database or run.names.database, statement, run.names.tables)
    return replace(run, names=names, statement=statement, parameters=None)


def open_refresher(run: StatementExecution, definition: TableDefinition) -> Refresher:
    """The refresh of a table, on the states that its inputs have now. Views in its query are written out."""
    statement = definition.statement
    for _ in range(_DEEPEST):
        run = execution_of(run, statement, definition.database)
        try:
            query = prepare_tail(run, statement.tree.expression)
        except NotFoundError:
            expanded = expand_views(statement, run.names)
            if expanded is None:
                raise
            statement = expanded.statement
        else:
            return Refresher(run, definition, query, Refresh(str(definition.table.name)))
    raise statement.error("views refer to each other without end")

"""The table that an UPDATE, DELETE or MERGE changes: how its rows are told apart, and how they are replaced.
With a primary key, rows are told apart by it: changed rows are written over the old ones, keys are deleted, and only
those rows are ever held. Without one, rows are numbered, the files that hold changed rows are written anew and the
others stay. Either way it is one commit, made from the state that was read; if others have changed the same rows in
between it is refused, and the session carries the statement out again on the new state."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.lake.engine.merge import MergeEngine
from headwater.lake.engine.predicates import Predicate
from headwater.lake.metadata.commit import Guard, PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Operation, Origin, Snapshot
from headwater.lake.tables.conflicts import nothing_changed
from headwater.lake.tables.convert import conforming
from headwater.lake.tables.edits import change_rows
from headwater.lake.tables.maintenance import compact_if_due
from headwater.lake.tables.plan import ScanPlan, plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.lake.tables.writes import CommitFacts, add_files, commit, discard
from headwater.lazy import arrow_compute as pc
from headwater.query.names import Pinned, TableRef, has_database
from headwater.query.parse import Node, SqlStatement, quoted
from headwater.query.select import StatementExecution


def own_prefix(names: Iterable[str]) -> str:
    """Return a beginning for names of our own columns, so that they are none of `names`.

    >>> own_prefix(["id", "#action"])
    '##'
    """
    return "#" * (1 + max((len(name) - len(name.lstrip("#")) for name in names), default=0))


@dataclass(frozen=True)
class Target:
    """A table to be changed. `rows` and `plan` are of a table without a key: its rows with a number each."""

    ref: TableRef
    rows: pa.Table | None = None  # all columns, and `row_column`
    plan: ScanPlan | None = None

    @property
    def pinned(self) -> Pinned:
        return self.ref.pinned

    @property
    def is_keyed(self) -> bool:
        return self.plan is None

    @property
    def old(self) -> str:
        """The prefix of a key column's name that stands for its value before the change."""
        return own_prefix(self.pinned.schema.names) + "old "

    @property
    def identity(self) -> list[str]:
        """The columns of a query of ours that tell which row of the target a row came from."""
        names = self.pinned.schema.primary_keys
        return [self.old + name for name in names] if self.is_keyed else [row_column(self.pinned)]

    def selected(self) -> list[str]:
        """The identity as items of a SELECT."""
        alias = quoted(self.ref.alias)
        return [f"{alias}.{quoted(name.removeprefix(self.old))} AS {quoted(name)}" for name in self.identity]


def row_column(pinned: Pinned) -> str:
    """The name of the column with the number of a row, in a table without a key."""
    return own_prefix(pinned.schema.names) + "row"


def open_target(run: StatementExecution, ref: TableRef, where: tuple[Predicate, ...] = ()) -> Target:
    """Return what a statement may change; of a table without a key it is read.
    RAISES: SqlError for a system table, and for a table whose rows are made of several."""
    statement, pinned = run.statement, ref.pinned
    if ref.system is not None:
        raise statement.error("system tables are read only", ref.span)
    run.names.refuse_version(ref.node)
    shape = pinned.state.shape
    if shape.is_keyed and shape.rule.engine is not MergeEngine.DEDUPLICATE:
        raise statement.error(
            f"rows of `{pinned.name}` are merged by `{shape.rule.engine.value}` and cannot be changed in place",
            ref.span,
            hint="INSERT what is to be merged",
        )
    if shape.is_keyed:
        return Target(ref)
    plan = plan_scan(pinned.table.store, pinned.state, None, where)
    # whole files are written anew, so whole files are read
    plan = replace(plan, where=(), splits=tuple(replace(split, where=()) for split in plan.splits))
    batches = list(read_plan(pinned.table.store, plan, pinned.state))
    rows = pa.Table.from_batches(batches, result_schema(shape, pinned.schema.names))
    return Target(ref, rows.append_column(row_column(pinned), pa.array(range(rows.num_rows), pa.int64())), plan)


def put_back(
    target: Target,
    changed: pa.Table,
    gone: pa.Table,
    operation: Operation,
    origin: Origin,
    *,
    fresh: pa.Array,
    alone: bool = False,
) -> Snapshot:
    """Commit: the rows with the identities `gone` are removed, `changed` rows are added.
    `fresh` says of each changed row whether it has a key that it did not have before. RAISES: CommitConflictError
    when others changed one of these rows since they were read, or with `alone` any row; SchemaError when two rows
    would have one key."""
    guard = nothing_changed(target.pinned.table.store) if alone else None
    if target.is_keyed:
        store, state = target.pinned.table.store, target.pinned.state
        keys = gone.rename_columns([name.removeprefix(target.old) for name in target.identity])
        kept, facts = changed.filter(pc.invert(fresh)), CommitFacts(operation, origin)
        snapshot = change_rows(
            store, state, deletes=keys, kept=kept, fresh=changed.filter(fresh), facts=facts, guard=guard
        )
        compact_if_due(store, snapshot)
        return snapshot
    assert target.rows is not None
    row = row_column(target.pinned)
    removed = pc.is_in(target.rows.column(row), value_set=gone.column(row).combine_chunks())
    remaining = target.rows.filter(pc.invert(removed)).drop_columns([row])
    return _rewritten(target, pa.concat_tables([remaining, changed]), operation, origin, guard)


def key_changed(rows: pa.Table, target: Target) -> pa.Array:
    """Say of each row whether it has a key that it did not have before; a row of no old key is new.
    REQUIRES: the identity and all columns of a target with a key."""
    changed = pa.array([False] * rows.num_rows)
    for name in target.pinned.schema.primary_keys:
        same = pc.equal(rows.column(target.old + name), rows.column(name))
        changed = pc.or_(changed, pc.invert(pc.fill_null(same, False)))
    return changed


def _rewritten(target: Target, rows: pa.Table, operation: Operation, origin: Origin, guard: Guard | None) -> Snapshot:
    """Put rows in the place of the files that were read."""
    pinned = target.pinned
    store, shape = pinned.table.store, pinned.state.shape
    added: list[PlacedFile] = []
    with store.naming():
        try:
            add_files(store, shape, conforming(rows, shape.schema), added)
        except BaseException:
            discard(store, added)
            raise
    facts = CommitFacts(operation, origin)
    read = target.plan.splits if target.plan is not None else ()
    change = TableChange(
        *(facts.operation, facts.user, facts.id, shape.schema.id),
        added=tuple(added),
        removed=tuple(PlacedFile(file, split.bucket, split.partition) for split in read for file in split.files),
        base=pinned.state.snapshot_id if pinned.snapshot is not None else None,
        guard=guard,
        origin=origin,
    )
    return commit(store, change)


def twice(identities: pa.Table) -> bool:
    """Return whether a row is there more than once."""
    return len(identities.group_by(identities.column_names).aggregate([])) != len(identities)


def rename_tables(refs: list[TableRef], names: list[str], tree: Node) -> None:
    """Write into a tree the names under which DuckDB knows its tables."""
    tables = [ref.written for ref in refs]
    for column in tree.find_all(exp.Column):
        if has_database(column, tables):
            column.set("catalog" if column.args.get("catalog") is not None else "db", None)
    for ref, name in zip(refs, names):
        alias = ref.alias
        ref.node.set("this", exp.to_identifier(name, quoted=True))
        ref.node.set("db", None)
        if not ref.node.args.get("alias"):
            ref.node.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def check_nulls(rows: pa.Table, pinned: Pinned, statement: SqlStatement, places: dict[str, Any]) -> None:
    """RAISES: SqlError at the assignment that made a NOT NULL column null."""
    for field in pinned.schema.fields:
        if not field.nullable and rows.column(field.name).null_count:
            raise statement.error(f"column `{field.name}` of `{pinned.name}` may not be null", places.get(field.name))

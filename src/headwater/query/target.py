"""The table that an UPDATE, DELETE or MERGE changes: its rows numbered, and how they are replaced.

With a primary key, changed rows are written over the old ones and keys are deleted. Without one, the files that hold
changed rows are written anew and the others stay. Either way it is one commit, made from the state that was read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from headwater.lake.commit import Change, PlacedFile
from headwater.lake.merge import MergeEngine
from headwater.lake.predicates import Predicate
from headwater.lake.snapshot import Operation, Origin, Snapshot
from headwater.lake.tables.convert import conforming
from headwater.lake.tables.plan import ScanPlan, plan_scan
from headwater.lake.tables.read import read_plan, result_schema
from headwater.lake.tables.writes import CommitFacts, add_files, commit, discard
from headwater.query.names import Pinned, TableRef
from headwater.query.parse import Node, Statement
from headwater.query.select import Execution

ROW = "#row"


@dataclass(frozen=True)
class Target:
    """The rows of a table that a statement may change, with a number each."""

    ref: TableRef
    rows: pa.Table  # all columns, and ROW
    plan: ScanPlan

    @property
    def pinned(self) -> Pinned:
        return self.ref.pinned

    @property
    def is_keyed(self) -> bool:
        return bool(self.pinned.schema.primary_keys)

    def without(self, numbers: pa.ChunkedArray) -> pa.Table:
        """The rows that are not numbered so, without their numbers."""
        gone = pc.is_in(self.rows.column(ROW), value_set=numbers.combine_chunks())
        return self.rows.filter(pc.invert(gone)).drop_columns([ROW])

    def keys(self, numbers: pa.ChunkedArray) -> pa.Table:
        """The keys of numbered rows."""
        kept = pc.is_in(self.rows.column(ROW), value_set=numbers.combine_chunks())
        return self.rows.filter(kept).select(list(self.pinned.schema.primary_keys))


def open_target(run: Execution, ref: TableRef, where: tuple[Predicate, ...] = ()) -> Target:
    """Read what a statement may change.

    RAISES: SqlError for a system table, and for a table whose rows are made of several.
    """
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
    plan = plan_scan(pinned.table.store, pinned.state, None, where)
    if not shape.is_keyed:  # whole files are written anew, so whole files are read
        plan = replace(plan, where=(), splits=tuple(replace(split, where=()) for split in plan.splits))
    batches = list(read_plan(pinned.table.store, plan, pinned.state))
    rows = pa.Table.from_batches(batches, result_schema(shape, pinned.schema.names))
    return Target(ref, rows.append_column(ROW, pa.array(range(rows.num_rows), pa.int64())), plan)


def put_back(
    target: Target, changed: pa.Table, gone: pa.ChunkedArray, operation: Operation, origin: Origin
) -> Snapshot:
    """Commit: rows numbered `gone` are removed, `changed` rows are added."""
    if target.is_keyed:
        keys = target.keys(gone) if len(gone) else None
        table = target.pinned.table
        return table.write(changed, deletes=keys, origin=origin, operation=operation)
    return _rewritten(target, pa.concat_tables([target.without(gone), changed]), operation, origin)


def _rewritten(target: Target, rows: pa.Table, operation: Operation, origin: Origin) -> Snapshot:
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
    change = Change(
        *(facts.operation, facts.user, facts.id, shape.schema.id),
        added=tuple(added),
        removed=tuple(_placed(target.plan)),
        base=pinned.state.snapshot_id if pinned.snapshot is not None else None,
        origin=origin,
    )
    return commit(store, change)


def _placed(plan: ScanPlan) -> Iterator[PlacedFile]:
    for split in plan.splits:
        for file in split.files:
            yield PlacedFile(file, split.bucket, split.partition)


def twice(numbers: pa.ChunkedArray) -> bool:
    """Whether a number is there more than once."""
    return bool(len(numbers)) and pc.count_distinct(numbers).as_py() != len(numbers)


def rename_tables(refs: list[TableRef], names: list[str], tree: Node) -> None:
    """Write into a tree the names under which DuckDB knows its tables."""
    for column in tree.find_all(exp.Column):
        if column.args.get("db") is not None:
            column.set("db", None)
    for ref, name in zip(refs, names):
        alias = ref.alias
        ref.node.set("this", exp.to_identifier(name, quoted=True))
        ref.node.set("db", None)
        if not ref.node.args.get("alias"):
            ref.node.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def check_nulls(rows: pa.Table, pinned: Pinned, statement: Statement, places: dict[str, Any]) -> None:
    """RAISES: SqlError at the assignment that made a NOT NULL column null."""
    for field in pinned.schema.fields:
        if not field.nullable and rows.column(field.name).null_count:
            raise statement.error(f"column `{field.name}` of `{pinned.name}` may not be null", places.get(field.name))

"""The groups of a materialized view, kept in a table of their own beside it.

The state names the same inputs as the view: a refresh that dies between the two commits leaves them at different
inputs, and the next one starts from nothing.
"""

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from headwater.errors import NotFoundError
from headwater.lake.engine.types import model_type
from headwater.lake.metadata.snapshot import Operation, Origin
from headwater.lake.tables import Warehouse
from headwater.lake.tables.names import STATE_DATABASE, TableIdentifier
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field, Schema
from headwater.query.names import Pinned
from headwater.query.parse import DIALECT, Node
from headwater.query.refresh.aggregates import (
    KEY,
    ROWS,
    STATE,
    GroupedBlock,
    changed_state,
    find_groups,
    over_state,
    read_groups,
    whole_state,
    with_averages,
)
from headwater.query.refresh.apply import lake_rows
from headwater.query.refresh.blocks import QueryTree, RefusedWay
from headwater.query.refresh.definition import TableDefinition, state_name
from headwater.query.refresh.evaluate import RefreshEvaluation, plan_steps


@dataclass(frozen=True)
class GroupState:
    """The block of a query whose groups are kept, and the query over them."""

    of: RefreshEvaluation
    definition: TableDefinition
    block: GroupedBlock
    rest: Node  # the query with the state in the place of the block
    is_local: bool  # each row of the query comes from one group

    @classmethod
    def over(cls, of: RefreshEvaluation, definition: TableDefinition) -> "GroupState":
        """The groups of a query. RAISES: RefusedWay when it has none that can be kept up to date."""
        block = read_groups(of, find_groups(of.tree))
        rest, is_local = over_state(of.tree, block)
        return cls(of, definition, block, rest, is_local)

    @property
    def _warehouse(self) -> Warehouse:
        return self.of.run.names.warehouse

    def check(self) -> None:
        """RAISES: RefusedWay when the groups of the last refresh are not kept, or what changed is not followed."""
        changed = self.of.changed
        if not changed <= self.of.tree.tables_in(self.block.select):
            raise RefusedWay("a table outside of its groups has changed")
        rest = QueryTree(self.rest, self.of.tree.tables, _ctes(self.rest))
        if changed & rest.tables_in(self.rest):
            raise RefusedWay("a changed table is also read beside its groups")
        plan_steps(self.of.tree, self.block.select, changed)
        self.kept()

    def kept(self) -> Pinned:
        """The groups as the last refresh left them. RAISES: RefusedWay when they are of other inputs, or of another
        query."""
        try:
            table = self._warehouse.table(state_name(self.definition.table.name))
        except NotFoundError as err:
            raise RefusedWay("its groups are not kept yet") from err
        state = table.store.latest()
        made = self.definition.made
        snapshot = state.snapshot
        while snapshot is not None and snapshot.operation is Operation.COMPACT:
            snapshot = table.store.committer.log.get(snapshot.snapshot_id - 1)
        mine, theirs = (each.origin if each is not None else None for each in (made, snapshot))
        if mine is None or theirs is None or theirs.sql != mine.sql or theirs.inputs != mine.inputs:
            raise RefusedWay("its groups are of other inputs: a refresh was broken off")
        return Pinned(table, state)

    def whole(self) -> pa.Table:
        """The state of all rows of the inputs."""
        return whole_state(self.of, self.block)

    def changed(self) -> tuple[pa.Table, pa.Table]:
        """The groups that what changed touches, as they were and as they are; empty ones are left out."""
        before, after = changed_state(self.of, self.block, lake_rows(self.of.run, self.kept()))
        if not self.block.total:
            after = after.filter(pc.greater(after.column(ROWS), 0))
        return before, after

    def rows_of(self, state: pa.Table) -> pa.Table:
        """The rows that the query gives over some groups, and over its other tables as they are now."""
        tables = {name: self.of.lake_table(name) for name in self.of.after}
        return self.of.run.generated(
            str(self.rest.sql(dialect=DIALECT)), tables | {STATE: with_averages(self.block, state)}
        )

    def rows_after(self, before: pa.Table, after: pa.Table) -> pa.Table:
        """The rows that the query gives over all groups, some of them changed."""
        tables = {"kept": lake_rows(self.of.run, self.kept()), "before": before, "after": after}
        text = f"SELECT * FROM kept ANTI JOIN before USING ({KEY}) UNION ALL BY NAME SELECT * FROM after"
        return self.rows_of(self.of.run.generated(text, tables))

    def write(self, before: pa.Table, after: pa.Table, origin: Origin) -> None:
        """Keep the groups as they are now."""
        pinned = self.kept()
        gone = pc.invert(pc.is_in(before.column(KEY), value_set=after.column(KEY).combine_chunks()))
        pinned.table.write(
            after.select(pinned.schema.names),
            deletes=before.filter(gone).select([KEY]) if before.num_rows else None,
            origin=origin,
            operation=Operation.MERGE,
        )

    def replace(self, state: pa.Table, origin: Origin) -> None:
        """Keep groups in the place of all that were kept."""
        warehouse, name = self._warehouse, state_name(self.definition.table.name)
        warehouse.create_database(STATE_DATABASE, if_not_exists=True)
        fields = [
            Field(at, each.name, model_type(each.type), nullable=each.name != KEY)
            for at, each in enumerate(state.schema)
        ]
        schema = Schema(tuple(fields), (KEY,), highest_field_id=len(fields) - 1)
        table = warehouse.begin_table(name, schema)
        table.write(state, origin=origin)
        warehouse.publish_table(table, replace=True)


def drop_groups(warehouse: Warehouse, name: TableIdentifier) -> None:
    """Forget the groups of a table that is dropped."""
    if warehouse.has_database(STATE_DATABASE):
        warehouse.drop_table(state_name(name), if_exists=True)


def _ctes(root: Node) -> dict[str, Node]:
    return {cte.alias: cte.this for clause in root.find_all(exp.With) for cte in clause.expressions}

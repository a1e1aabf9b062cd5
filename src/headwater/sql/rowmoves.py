"""Rows that go from one table to another as they are: partitions that are exchanged, switched, attached, appended."""

import dataclasses
from collections.abc import Sequence

from sqlglot import exp

from headwater.lineage.script import Lowered
from headwater.sql.inserts import lower_insert
from headwater.sql.lowering import Lowering, Node


def move_rows(
    lowering: Lowering,
    pairs: Sequence[tuple[Node, Node]],
    statement_type: str = "ALTER_TABLE",
    *,
    by_name: bool = False,
) -> Lowered:
    """Each pair is a table that gets rows and the table that gives them: every column goes into its like.

    The engines want both tables to have the same columns in the same order; `by_name` is for one that does not.
    """
    writes = []
    for target, source in pairs:
        taken = _shared(lowering, target, source) if by_name else [exp.Star()]
        query = exp.Select(expressions=taken, from_=exp.From(this=source.copy()))
        lowered = lower_insert(lowering, exp.Insert(this=target.copy(), expression=query, by_name=by_name))
        writes += [dataclasses.replace(write, statement_type=statement_type) for write in lowered.writes]
    return Lowered(statement_type, tuple(writes))


def _shared(lowering: Lowering, target: Node, source: Node) -> list[Node]:
    """The columns that two tables both have; a star when those of one are not known."""
    to, given = (lowering.resolver.resolve(lowering.table_name(each)[0]) for each in (target, source))
    if not (to.complete and given.complete):
        return [exp.Star()]
    there = {lowering.key_of(column.name) for column in to.columns}
    shared = [column.name for column in given.columns if lowering.key_of(column.name) in there]
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in shared] or [exp.Star()]

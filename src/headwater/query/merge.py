"""MERGE INTO: rows of a source matched with rows of a table, and what to do with each.
One join decides everything. Every row of it gets the number of the first WHEN that holds for it, and the values that
this WHEN gives to the columns of the target."""

from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
from sqlglot import exp

from headwater.lake.metadata.snapshot import Operation
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field
from headwater.query.modify import assigned_text, assignments, registered
from headwater.query.names import TableRef, find_field
from headwater.query.origins import origin_of
from headwater.query.parse import DIALECT, Node, quoted
from headwater.query.result import Result, done
from headwater.query.select import StatementExecution
from headwater.query.target import (
    Target,
    check_nulls,
    key_changed,
    open_target,
    own_prefix,
    put_back,
    rename_tables,
    twice,
)
from headwater.query.types import duckdb_type
from headwater.query.values import default_text


@dataclass(frozen=True)
class When:
    """One WHEN clause: for which rows of the join, and the value of each column, None to delete."""

    kind: Literal["matched", "new", "left"]  # in both; only in the source; only in the target
    condition: str | None
    values: dict[str, str] | None
    inserts: bool = False


def merge(run: StatementExecution) -> Result:
    """Carry out a MERGE.
    RAISES: SqlError when a row of the target is matched by several rows that would change it."""
    tree = run.statement.tree
    refs, target = merged_tables(run)
    origin = origin_of(run, refs, target.pinned.name, tree.this, target.pinned.schema)
    text, tables, whens = merge_query(run, refs, target)
    return _carry_out(run, target, whens, run.generated(text, tables), origin)


def merged_tables(run: StatementExecution) -> tuple[list[TableRef], Target]:
    """The tables of a MERGE, and that which it changes."""
    tree = run.statement.tree
    refs = run.names.refs(tree)
    ref = next((each for each in refs if each.node is tree.this), None)
    if ref is None:
        raise run.statement.error("this is not a table that can be changed", tree.this)
    return refs, open_target(run, ref)


def merge_query(
    run: StatementExecution, refs: list[TableRef], target: Target
) -> tuple[str, dict[str, Any], list[When]]:
    """The query of a MERGE, which says for every row what becomes of it; its tables, and the WHENs by number."""
    tree = run.statement.tree
    tables = registered(run, refs, target)
    rename_tables(refs, list(tables), tree)
    source = tree.args["using"].sql(dialect=DIALECT)
    columns = list(run.generated(f"SELECT * FROM {source} LIMIT 0", tables).column_names)
    whens = [_when(each, target, columns, run) for each in tree.args["whens"].expressions]
    return _join(run, target, whens, own_prefix([*target.pinned.schema.names, *columns])), tables, whens


def _carry_out(run: StatementExecution, target: Target, whens: list[When], joined: pa.Table, origin: Any) -> Result:
    action, first = joined.column(0), joined.column(target.identity[0])
    touched = joined.filter(pc.is_valid(first)).select(target.identity)
    if twice(touched):
        raise run.statement.error(
            f"a row of `{target.pinned.name}` is matched by several rows of the source", run.statement.tree.args["on"]
        )
    deletes = [at for at, when in enumerate(whens) if when.values is None]
    deleted = pc.is_in(action, value_set=pa.array(deletes, action.type))
    written = joined.filter(pc.invert(deleted))
    rows = written.select(list(target.pinned.schema.names))
    check_nulls(rows, target.pinned, run.statement, {})
    if not joined.num_rows:
        return done(f"{target.pinned.name} merged: nothing to do")
    fresh = key_changed(written, target) if target.is_keyed else pa.repeat(True, rows.num_rows)
    gone = touched
    if target.is_keyed:  # the old key must go of rows that are deleted, and of those that get another key
        leaves = pc.or_(deleted, key_changed(joined, target))
        gone = joined.filter(pc.and_(leaves, pc.is_valid(first))).select(target.identity)
    snapshot = put_back(target, rows, gone, Operation.MERGE, origin, fresh=fresh)
    new = sum(when.inserts * pc.sum(pc.equal(action, at)).as_py() for at, when in enumerate(whens))
    removed = pc.sum(deleted).as_py() or 0
    message = (
        f"{target.pinned.name} merged: {new:,} inserted, {joined.num_rows - new - removed:,} updated, "
        f"{removed:,} deleted (snapshot {snapshot.snapshot_id})"
    )
    return done(message, rows=joined.num_rows, snapshot_id=snapshot.snapshot_id)


def _when(node: Node, target: Target, columns: list[str], run: StatementExecution) -> When:
    kind: Literal["matched", "new", "left"] = "matched"
    if not node.args.get("matched"):
        kind = "left" if node.args.get("source") else "new"
    condition = node.args["condition"].sql(dialect=DIALECT) if node.args.get("condition") else None
    then = node.args["then"]
    if isinstance(then, exp.Insert):
        return When(kind, condition, _inserted(then, target, columns, run), inserts=True)
    if isinstance(then, exp.Update):
        return When(kind, condition, _updated(then, target, columns, run))
    if then.name.upper() == "DELETE":
        return When(kind, condition, None)
    raise run.statement.error("WHEN … THEN needs UPDATE, DELETE or INSERT", node)


def _updated(then: Node, target: Target, columns: list[str], run: StatementExecution) -> dict[str, str]:
    alias = quoted(target.ref.alias)
    values = {field.name: f"{alias}.{quoted(field.name)}" for field in target.pinned.schema.fields}
    if any(isinstance(each, exp.Star) for each in then.expressions):
        return values | _by_name(target, columns, run)
    for name, (_, value) in assignments(then.expressions, target.pinned, run).items():
        values[name] = assigned_text(target.pinned.schema.field(name), value)
    return values


def _inserted(then: Node, target: Target, columns: list[str], run: StatementExecution) -> dict[str, str]:
    schema = target.pinned.schema
    values = {field.name: default_text(field) for field in schema.fields}
    if isinstance(then.this, exp.Star):
        return values | _by_name(target, columns, run)
    given = then.expression.expressions if then.expression is not None else []
    named = then.this.expressions if then.this is not None else [exp.to_identifier(name) for name in schema.names]
    if len(named) != len(given):
        raise run.statement.error(f"{len(given)} values for {len(named)} columns", then)
    for node, value in zip(named, given):
        field = schema.field(find_field(schema, node, run.statement, target.pinned.name))
        values[field.name] = assigned_text(field, value)
    return values


def _by_name(target: Target, columns: list[str], run: StatementExecution) -> dict[str, str]:
    """The columns of the target that the source has too."""
    source = quoted(run.statement.tree.args["using"].alias_or_name)
    known = {name.casefold(): name for name in columns}
    return {
        field.name: f"{source}.{quoted(known[field.name.casefold()])}"
        for field in target.pinned.schema.fields
        if field.name.casefold() in known
    }


def _join(run: StatementExecution, target: Target, whens: list[When], prefix: str) -> str:
    """The query that says for every row what becomes of it: first the number of its WHEN, then identity and values.
    The columns that are ours have names that begin with `prefix`, which no other name does."""
    tree, mark = run.statement.tree, prefix + "source"
    using = tree.args["using"]
    source = quoted(using.alias_or_name)
    there = f"{source}.{quoted(mark)}"
    inner = using.sql(dialect=DIALECT)
    kinds = {when.kind for when in whens}
    side = {(True, True): "FULL", (True, False): "LEFT", (False, True): "RIGHT"}.get(
        ("left" in kinds, "new" in kinds), "INNER"
    )
    schema = target.pinned.schema
    columns = ", ".join(_column(field, whens, target, there) for field in schema.fields)
    action = " ".join(f"WHEN {_holds(when, target, there)} THEN {at}" for at, when in enumerate(whens))
    clause = f"{tree.args['with_'].sql(dialect=DIALECT)} " if tree.args.get("with_") else ""
    return (
        f"{clause}SELECT CASE {action} END AS {quoted(prefix + 'action')}, {', '.join(target.selected())}, {columns} "
        f"FROM {tree.this.sql(dialect=DIALECT)} {side} JOIN "
        f"(SELECT *, TRUE AS {quoted(mark)} FROM {inner}) AS {source} ON {tree.args['on'].sql(dialect=DIALECT)} "
        f"WHERE CASE {action} END IS NOT NULL"
    )


def _holds(when: When, target: Target, there: str) -> str:
    """The condition under which a WHEN concerns a row of the join."""
    row = quoted(target.identity[0].removeprefix(target.old))
    in_target = f"{quoted(target.ref.alias)}.{row} IS {'NULL' if when.kind == 'new' else 'NOT NULL'}"
    in_source = f"{there} IS {'NULL' if when.kind == 'left' else 'NOT NULL'}"
    more = f" AND ({when.condition})" if when.condition else ""
    return f"({in_target} AND {in_source}{more})"


def _column(field: Field, whens: list[When], target: Target, there: str) -> str:
    type = duckdb_type(field.type)
    cases = " ".join(
        f"WHEN {_holds(when, target, there)} THEN CAST({when.values[field.name]} AS {type})"
        if when.values is not None
        else f"WHEN {_holds(when, target, there)} THEN NULL"
        for when in whens
    )
    return f"CAST(CASE {cases} END AS {type}) AS {quoted(field.name)}"

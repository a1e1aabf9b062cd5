"""UPDATE, DELETE and TRUNCATE."""

import uuid
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.lake.metadata.snapshot import Operation, Origin
from headwater.model.schema import Field
from headwater.query.names import Pinned, TableRef, find_field
from headwater.query.origins import JOB, origin_of
from headwater.query.parse import DIALECT, Node, quoted
from headwater.query.pushdown import pushed_predicates
from headwater.query.recipes import recipe_of
from headwater.query.result import Result, done
from headwater.query.select import StatementExecution
from headwater.query.statements import unknown_statement
from headwater.query.target import Target, check_nulls, key_changed, open_target, put_back, rename_tables, twice
from headwater.query.types import duckdb_type
from headwater.query.values import default_text
from headwater.text import counted


def update(run: StatementExecution) -> Result:
    """Carry out an UPDATE: rows that satisfy the condition get new values."""
    tree, statement = run.statement.tree, run.statement
    refs, target = targeted(run, tree.this)
    origin = origin_of(run, refs, target.pinned.name, tree.this, target.pinned.schema)
    assigned = assignments(tree.expressions, target.pinned, run)
    places = {name: node for name, (node, _) in assigned.items()}
    text, tables = update_query(run, refs, target)
    found = run.generated(text, tables)
    identities, rows = found.select(target.identity), found.drop_columns(target.identity)
    if twice(identities):
        raise statement.error("a row would be updated by more than one row of FROM", tree.args["from_"])
    if not rows.num_rows:
        return done(f"0 rows of {target.pinned.name} updated")
    check_nulls(rows, target.pinned, statement, places)
    moved = key_changed(found, target) if target.is_keyed else pa.repeat(True, rows.num_rows)
    snapshot = put_back(target, rows, identities.filter(moved), Operation.UPDATE, origin, fresh=moved)
    return _told("updated", target, rows.num_rows, snapshot.snapshot_id)


def update_query(run: StatementExecution, refs: list[TableRef], target: Target) -> tuple[str, dict[str, Any]]:
    """The query of the identities and new values of the rows that an UPDATE changes, and its tables."""
    tree = run.statement.tree
    assigned = assignments(tree.expressions, target.pinned, run)
    tables = registered(run, refs, target)
    rename_tables(refs, list(tables), tree)
    alias = quoted(target.ref.alias)
    columns = [
        f"{assigned_text(field, assigned[field.name][1])} AS {quoted(field.name)}"
        if field.name in assigned
        else f"{alias}.{quoted(field.name)}"
        for field in target.pinned.schema.fields
    ]
    return _matching(run, [*target.selected(), *columns]), tables


def delete(run: StatementExecution) -> Result:
    """Carry out a DELETE."""
    tree = run.statement.tree
    refs, target = targeted(run, tree.this)
    origin = origin_of(run, refs, target.pinned.name, tree.this, target.pinned.schema)
    tables = registered(run, refs, target)
    rename_tables(refs, list(tables), tree)
    distinct = f"DISTINCT {', '.join(target.selected())}"
    found = run.generated(_matching(run, [distinct]), tables)
    if not found.num_rows:
        return done(f"0 rows of {target.pinned.name} deleted")
    nothing = target.pinned.table.arrow_schema.empty_table()
    snapshot = put_back(target, nothing, found, Operation.DELETE, origin, fresh=pa.array([], pa.bool_()))
    return _told("deleted", target, found.num_rows, snapshot.snapshot_id)


def truncate(run: StatementExecution) -> Result:
    """Carry out a TRUNCATE: the table is empty, its past stays."""
    nodes = run.statement.tree.expressions
    pins = [run.names.pin(node) for node in nodes]
    text, recipe = recipe_of(run)
    for pinned in pins:
        origin = Origin(run_id=str(uuid.uuid4()), job=JOB, sql=text, recipe=recipe)
        snapshot = pinned.table.overwrite(pinned.table.arrow_schema.empty_table(), origin=origin)
    return done(f"{', '.join(str(pinned.name) for pinned in pins)} truncated", snapshot_id=snapshot.snapshot_id)


def assignments(pairs: list[Node], pinned: Pinned, run: StatementExecution) -> dict[str, tuple[Node, Node]]:
    """Column → where it is assigned, and the expression. RAISES: SqlError for a column twice or not there."""
    found: dict[str, tuple[Node, Node]] = {}
    targets = (pinned.name.table.casefold(), run.statement.tree.this.alias_or_name.casefold())
    for pair in pairs:
        if not isinstance(pair, exp.EQ) or not isinstance(pair.this, exp.Column):
            raise run.statement.error("SET needs `column = value`", pair)
        column = pair.this
        if column.table and column.table.casefold() not in targets:
            raise run.statement.error(f"`{column.sql(dialect=DIALECT)}` is not a column of the target", column)
        name = find_field(pinned.schema, column.this, run.statement, pinned.name)
        if name in found:
            raise run.statement.error(f"column `{name}` is assigned twice", column)
        found[name] = (column.copy(), pair.expression)
    return found


def assigned_text(field: Field, value: Node) -> str:
    """An assigned expression in the type of its column."""
    is_default = isinstance(value, exp.Column | exp.Var) and value.name.upper() == "DEFAULT"
    text = default_text(field) if is_default else value.sql(dialect=DIALECT)
    return f"CAST({text} AS {duckdb_type(field.type)})"


def registered(run: StatementExecution, refs: list[TableRef], target: Target) -> dict[str, Any]:
    """The tables of the statement for DuckDB, the numbered rows of a target without a key in its place."""
    tables = run.register(refs)
    for ref, name in zip(refs, list(tables)):
        if ref is target.ref and target.rows is not None:
            tables[name] = target.rows
    return tables


def targeted(run: StatementExecution, node: Node) -> tuple[list[TableRef], Target]:
    """The tables of an UPDATE or DELETE, and that which it changes."""
    if not isinstance(node, exp.Table):  # DELETE without FROM
        statement = run.statement
        raise unknown_statement(statement.tokens, statement.source) or statement.error(
            "which table is to be changed?"
        )
    refs = run.names.refs(run.statement.tree)
    pushed = pushed_predicates(refs, run.engine.constant)
    for index, ref in enumerate(refs):
        if ref.node is node:
            return refs, open_target(run, ref, pushed.get(index, ()))
    raise run.statement.error("this is not a table that can be changed", node)


def _matching(run: StatementExecution, columns: list[str]) -> str:
    """The query of columns of the target's rows that satisfy the condition, joined with FROM or USING."""
    tree = run.statement.tree
    source = tree.args.get("from_")
    others = [source.this] if source is not None else tree.args.get("using") or ()
    froms = [each.sql(dialect=DIALECT) for each in (tree.this, *others)]
    where = tree.args.get("where")
    clause = f"{tree.args['with_'].sql(dialect=DIALECT)} " if tree.args.get("with_") else ""
    text = f"{clause}SELECT {', '.join(columns)} FROM {', '.join(froms)}"
    return text + (f" {where.sql(dialect=DIALECT)}" if where is not None else "")


def _told(verb: str, target: Target, rows: int, snapshot_id: int) -> Result:
    count = counted(rows, "row")
    message = f"{count} of {target.pinned.name} {verb} (snapshot {snapshot_id})"
    return done(message, rows=rows, snapshot_id=snapshot_id)

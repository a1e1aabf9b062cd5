"""CREATE DATABASE, CREATE TABLE and CREATE TABLE AS."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.lake.engine.types import model_type
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Table
from headwater.lake.tables.maintenance import forget_folder
from headwater.lake.tables.names import TableIdentifier
from headwater.model.schema import Field, Schema
from headwater.query.origins import origin_of
from headwater.query.parse import DIALECT, Node, SqlStatement, query_start
from headwater.query.result import Result, done
from headwater.query.select import PreparedQuery, StatementExecution
from headwater.query.types import column_type, duckdb_type
from headwater.text import counted


def create(run: StatementExecution) -> Result:
    """Carry out a CREATE statement."""
    tree, statement = run.statement.tree, run.statement
    kind = (tree.args.get("kind") or "").upper()
    if kind in ("DATABASE", "SCHEMA"):
        name, quietly = tree.this.name, bool(tree.args.get("exists"))
        run.names.warehouse.create_database(name, comment=table_comment(tree), if_not_exists=quietly)
        return done(f"database {name} created")
    if kind != "TABLE":
        raise statement.error(f"CREATE {kind} is not something this SQL knows", hint="DATABASE, TABLE or VIEW")
    refuse_clauses(run)
    if tree.expression is not None and isinstance(tree.expression, exp.Query):
        return _create_as(run)
    return _create_table(run)


_KEPT = (exp.PartitionedByProperty, exp.SchemaCommentProperty)


def refuse_clauses(run: StatementExecution) -> None:
    """RAISES: SqlError for a clause of CREATE that would be ignored: TEMP, EXTERNAL, STORED AS, UNIQUE, CHECK …"""
    tree, statement = run.statement.tree, run.statement
    properties = tree.args.get("properties")
    for each in properties.expressions if properties is not None else ():
        if isinstance(each, exp.TemporaryProperty):
            hint = "create it without TEMP and DROP it when it is done with, or use WITH … AS in the query"
            raise statement.error("there are no temporary tables and views: all are kept in the warehouse", hint=hint)
        if type(each) is not exp.Property and not isinstance(each, _KEPT):
            raise statement.error(f"`{each.sql(dialect=DIALECT)}` is not kept with a table")
    body = tree.this.expressions if isinstance(tree.this, exp.Schema) else ()
    for each in map(_unnamed, body):
        if not isinstance(each, exp.ColumnDef | exp.PrimaryKey | exp.Identifier):
            raise statement.error(f"`{each.sql(dialect=DIALECT)}` is a constraint that is not kept", each)


def _unnamed(node: Node) -> Node:
    """Return a constraint without its name: `CONSTRAINT pk PRIMARY KEY (a)` is a primary key."""
    return node.expressions[0] if isinstance(node, exp.Constraint) and len(node.expressions) == 1 else node


def _create_table(run: StatementExecution) -> Result:
    tree = run.statement.tree
    if not isinstance(tree.this, exp.Schema):
        raise run.statement.error("a table needs columns", tree.this)
    node = tree.this.this
    name = run.names.table_name(node)
    if run.names.warehouse.has_table(name):
        if tree.args.get("exists"):
            return done(f"table {name} is there already")
        if not tree.args.get("replace"):
            raise run.statement.error(f"there is a table {name} already", node, hint="CREATE TABLE IF NOT EXISTS")
    schema = read_schema(run)
    _make(run, name, schema, lambda table: None)
    return done(f"table {name} created")


def _make(
    run: StatementExecution, name: TableIdentifier, schema: Schema, fill: Callable[[Table], Snapshot | None]
) -> Snapshot | None:
    """Make a table and fill it, and give it its name when that is done: nobody sees it half full.
    With OR REPLACE the name passes from the old table to the new one in one step."""
    warehouse = run.names.warehouse
    if name.table in warehouse.views.list(name.database):
        raise run.statement.error(f"there is a view {name} already", hint="DROP VIEW it first")
    table = warehouse.begin_table(name, schema)
    try:
        snapshot = fill(table)
    except BaseException:
        forget_folder(table.store)
        raise
    warehouse.publish_table(table, replace=bool(run.statement.tree.args.get("replace")))
    return snapshot


def read_schema(run: StatementExecution) -> Schema:
    """The schema that a CREATE TABLE describes. RAISES: SqlError at the column or key that does not fit."""
    tree, statement = run.statement.tree, run.statement
    definitions = [each for each in tree.this.expressions if isinstance(each, exp.ColumnDef)]
    keys = primary_key(tree.this, statement)
    fields: list[Field] = []
    for definition in definitions:
        if any(field.name.casefold() == definition.name.casefold() for field in fields):
            raise statement.error(f"column `{definition.name}` is there twice", definition.this)
        field = read_column(definition, len(fields), run)
        fields.append(replace(field, nullable=field.nullable and field.name not in keys))
    return _schema_of(fields, keys, statement)


def _schema_of(fields: list[Field], keys: dict[str, Node], statement: SqlStatement) -> Schema:
    """Columns as a schema, with the partitions, options and comment of the statement."""
    tree, names = statement.tree, [field.name for field in fields]
    partitions = partition_columns(tree)
    for name, node in [*keys.items(), *partitions.items()]:
        if name not in names:
            hint = f"columns: {', '.join(names)}"
            raise statement.error(f"key column `{name}` is not a column of the table", node, hint=hint)
    return Schema(
        tuple(fields),
        tuple(keys),
        tuple(partitions),
        options=table_options(tree),
        comment=table_comment(tree),
        highest_field_id=len(fields) - 1,
    )


def read_column(definition: Node, id: int, run: StatementExecution) -> Field:
    """One column definition."""
    statement = run.statement
    kind = definition.args.get("kind")
    if kind is None:
        raise statement.error(f"column `{definition.name}` has no type", definition.this)
    type = column_type(kind, statement, definition.this)
    nullable, default, comment = True, None, None
    for constraint in definition.args.get("constraints") or ():
        rule = constraint.kind
        if isinstance(rule, exp.NotNullColumnConstraint):
            nullable = bool(rule.args.get("allow_null"))
        elif isinstance(rule, exp.PrimaryKeyColumnConstraint):
            nullable = False
        elif isinstance(rule, exp.CommentColumnConstraint):
            comment = rule.this.name
        elif isinstance(rule, exp.DefaultColumnConstraint):
            default = default_value(rule.this, duckdb_type(type), definition, run)
        else:
            raise statement.error(f"column `{definition.name}` has a constraint that is not kept", definition.this)
    return Field(id, definition.name, type, nullable, comment, default)


def default_value(node: Node, type: str, definition: Node, run: StatementExecution) -> Any:
    """The value of a DEFAULT, in the type of its column."""
    if isinstance(node, exp.Null):
        return None
    value = run.engine.constant(exp.cast(node.copy(), exp.DataType.build(type, dialect="duckdb")))
    if value is None:
        raise run.statement.error(
            f"the default of `{definition.name}` is not a constant of type {type}", definition.this
        )
    return value


def primary_key(body: Node, statement: SqlStatement) -> dict[str, Node]:
    """The columns of the key and where they are named."""
    found: dict[str, Node] = {}
    for each in map(_unnamed, body.expressions):
        if isinstance(each, exp.PrimaryKey):
            if found:
                raise statement.error("a table has one primary key", each)
            found = {_plain(part).name: part for part in each.expressions}
        elif isinstance(each, exp.ColumnDef):
            rules = [constraint.kind for constraint in each.args.get("constraints") or ()]
            if any(isinstance(rule, exp.PrimaryKeyColumnConstraint) for rule in rules):
                if found:
                    raise statement.error("a table has one primary key", each.this, hint="PRIMARY KEY (a, b)")
                found = {each.name: each.this}
    return found


def partition_columns(tree: Node) -> dict[str, Node]:
    """The columns of PARTITIONED BY; one with a type is a column of its own, as Hive has it."""
    properties = tree.args.get("properties")
    for each in properties.expressions if properties is not None else ():
        if isinstance(each, exp.PartitionedByProperty):
            parts = each.this.expressions if isinstance(each.this, exp.Schema | exp.Tuple) else [each.this]
            return {_plain(part).name: part for part in parts}
    return {}


def _plain(node: Node) -> Node:
    while isinstance(node, exp.Ordered | exp.Column):
        node = node.this
    return node


def table_options(tree: Node) -> dict[str, str]:
    """The options of WITH (…) or TBLPROPERTIES (…)."""
    properties = tree.args.get("properties")
    found = properties.expressions if properties is not None else ()
    return {option_name(each.this): option_value(each.args["value"]) for each in found if type(each) is exp.Property}


def option_name(node: Node) -> str:
    return str(node.name or node.sql(dialect="duckdb"))


def option_value(node: Node) -> str:
    """The value of an option as text, however it was written: 'true', true, -1, '-1'."""
    if isinstance(node, exp.Boolean | exp.Neg):
        return str(node.sql(dialect="duckdb")).lower()
    return str(node.name)


def table_comment(tree: Node) -> str | None:
    """The text of a COMMENT clause."""
    properties = tree.args.get("properties")
    for each in properties.expressions if properties is not None else ():
        if isinstance(each, exp.SchemaCommentProperty):
            return str(each.this.name)
    return None


# ------------------------------------------------------------------------------------------- create table as


def _create_as(run: StatementExecution) -> Result:
    tree, statement = run.statement.tree, run.statement
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = run.names.table_name(node)
    if run.names.warehouse.has_table(name) and tree.args.get("exists"):
        return done(f"table {name} is there already")
    if run.names.warehouse.has_table(name) and not tree.args.get("replace"):
        raise statement.error(f"there is a table {name} already", node, hint="CREATE OR REPLACE TABLE")
    query = prepare_tail(run, tree.expression)
    rows = run.run(query)
    schema = _schema_of_rows(run, rows)
    origin = origin_of(run, list(query.refs), name, node, schema)
    snapshot = _make(run, name, schema, lambda table: table.write(rows, origin=origin))
    message = f"table {name} created with {counted(rows.num_rows, 'row')}"
    return done(message, rows=rows.num_rows, snapshot_id=snapshot.snapshot_id if snapshot else None)


def prepare_tail(run: StatementExecution, tree: Node) -> PreparedQuery:
    """The query at the end of a statement: all of the text from its first word on."""
    statement = run.statement
    begin = query_start(statement)
    return run.prepare(tree, begin, statement.span.end)


def _schema_of_rows(run: StatementExecution, rows: pa.Table) -> Schema:
    """The schema of CREATE TABLE AS: the columns of the query, with the keys and options that were said."""
    tree, statement = run.statement.tree, run.statement
    names: list[str] = []
    for name in rows.column_names:
        if name.casefold() in (known.casefold() for known in names):
            raise statement.error(f"column `{name}` is there twice", hint="give one of them another name with AS")
        names.append(name)
    body = tree.this if isinstance(tree.this, exp.Schema) else exp.Schema(expressions=[])
    keys = primary_key(body, statement)
    fields = [
        Field(at, field.name, model_type(field.type), nullable=field.name not in keys)
        for at, field in enumerate(rows.schema)
    ]
    return _schema_of(fields, keys, statement)

"""CREATE, REFRESH, ALTER and DROP MATERIALIZED VIEW: tables that know the query they are made by."""

import re
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.errors import CommitConflictError
from headwater.lake.engine.types import model_type
from headwater.lake.metadata.schema_change import SetOption
from headwater.lake.tables import Table
from headwater.lake.tables.maintenance import forget_folder
from headwater.lake.tables.names import TableIdentifier
from headwater.model.schema import Field, Schema
from headwater.query.create import option_name, option_value, prepare_tail, primary_key, table_comment
from headwater.query.edits import apply_edits
from headwater.query.parse import Node, SqlStatement, parse_statements, query_start
from headwater.query.refresh.definition import OPTION, TableDefinition, find_definition
from headwater.query.refresh.groups import drop_groups
from headwater.query.refresh.refresh import ATTEMPTS, Refresh, Way, execution_of, open_refresher
from headwater.query.result import Result, done
from headwater.query.select import StatementExecution
from headwater.query.views import full_name
from headwater.text import Source, counted

_REFRESH = re.compile(r"refresh\s+materialized\s+view\s+(?P<name>\S+?)(?P<full>\s+full)?\s*;?", re.IGNORECASE)
_ALTER = re.compile(
    r"alter\s+materialized\s+view\s+(?P<name>\S+)\s+as\s+(?P<query>.+?)\s*;?", re.IGNORECASE | re.DOTALL
)


def create_materialized(run: StatementExecution) -> Result:
    """Carry out CREATE MATERIALIZED VIEW: the table is seen when it is filled."""
    tree, statement, warehouse = run.statement.tree, run.statement, run.names.warehouse
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = run.names.table_name(node)
    if warehouse.has_table(name) and tree.args.get("exists"):
        return done(f"materialized view {name} is there already")
    if warehouse.has_table(name) and not tree.args.get("replace"):
        raise statement.error(f"there is a table {name} already", node, hint="CREATE OR REPLACE MATERIALIZED VIEW")
    if name.table in warehouse.views.list(name.database):
        raise statement.error(f"there is a view {name} already", node, hint="DROP VIEW it first")
    query = prepare_tail(run, tree.expression)
    edits = [full_name(ref, statement) for ref in query.refs]
    text = apply_edits(statement.source.text, query_start(statement), statement.span.end, edits).text
    text = text.strip().rstrip(";")
    empty = run.generated(f"SELECT * FROM ({query.text.text}) LIMIT 0", query.tables)
    table = warehouse.begin_table(name, _schema(run, empty.schema, text))
    try:
        plan = _filled(run, table, text)
    except BaseException:
        forget_folder(table.store)
        raise
    warehouse.publish_table(table, replace=bool(tree.args.get("replace")))
    message = f"materialized view {name} created with {counted(plan.came, 'row')}"
    return done(message, rows=plan.came, snapshot_id=plan.snapshot_id)


def _filled(run: StatementExecution, table: Table, text: str) -> Refresh:
    refresher = open_refresher(run, TableDefinition(table, text, is_declared=True, made=None, why_not="it is new"))
    refresher.plan.way = Way.FULL
    return refresher.carry_out()


def _schema(run: StatementExecution, columns: pa.Schema, text: str) -> Schema:
    """The schema of a materialized view: the columns of its query, with the key and options that were said."""
    tree, statement = run.statement.tree, run.statement
    names = [name.casefold() for name in columns.names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise statement.error(f"column `{twice}` is there twice", hint="give one of them another name with AS")
    properties = tree.args["properties"].expressions
    body = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    stated = [each for each in properties if isinstance(each, exp.PrimaryKey)]
    keys = primary_key(exp.Schema(expressions=[*(each.copy() for each in (*body, *stated))]), statement)
    for key in keys:
        if key not in columns.names:
            raise statement.error(f"key column `{key}` is not a column of the query", hint=", ".join(columns.names))
    fields = [
        Field(at, each.name, model_type(each.type), nullable=each.name not in keys) for at, each in enumerate(columns)
    ]
    options = {option_name(each.this): option_value(each.args["value"]) for each in _options(properties, stated)}
    return Schema(
        tuple(fields),
        tuple(keys),
        options=options | {OPTION: text},
        comment=table_comment(tree),
        highest_field_id=len(fields) - 1,
    )


def _options(properties: list[Node], keys: list[Node]) -> list[Node]:
    """The options of WITH (…); after PRIMARY KEY (…) they are read as parameters of the key."""
    found = [each for each in properties if type(each) is exp.Property]
    for key in keys:
        include = key.args.get("include")
        storage: Any = include.args.get("with_storage") if include is not None else None
        found += storage or []
    return found


def refresh_materialized(run: StatementExecution) -> Result:
    """Carry out REFRESH MATERIALIZED VIEW name [FULL]."""
    match = _REFRESH.fullmatch(run.statement.text.strip())
    if match is None:
        raise run.statement.error("this REFRESH cannot be read", hint="REFRESH MATERIALIZED VIEW name [FULL]")
    name = run.names.table_name(exp.to_table(match["name"], dialect="duckdb"))
    run.names.pin(exp.to_table(match["name"], dialect="duckdb"))
    plan = refresh_table(run, name, full=bool(match["full"]))
    return done(refresh_message(plan), rows=plan.came, snapshot_id=plan.snapshot_id)


def refresh_table(run: StatementExecution, name: str | TableIdentifier, *, full: bool = False) -> Refresh:
    """Bring a table that a query defines up to date.
    RAISES: NotFoundError for a table that is not there, CannotTellError for one that no query defines."""
    for attempt in range(ATTEMPTS):
        refresher = open_refresher(run, find_definition(run.names.warehouse, name))
        refresher.decide(full=full)
        try:
            return refresher.carry_out()
        except CommitConflictError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError


def refresh_message(plan: Refresh) -> str:
    """One line on what a refresh did."""
    if plan.way is Way.NOTHING:
        return f"{plan.table} is up to date"
    rows = f"{counted(plan.came, 'row')} written, {plan.gone:,} removed"
    return f"{plan.table} refreshed by {plan.way.value}: {rows} (snapshot {plan.snapshot_id})"


def alter_materialized(run: StatementExecution) -> Result:
    """Carry out ALTER MATERIALIZED VIEW name AS query: the columns stay, the query and so the rows are others."""
    match = _ALTER.fullmatch(run.statement.text.strip())
    if match is None:
        raise run.statement.error("this ALTER cannot be read", hint="ALTER MATERIALIZED VIEW name AS SELECT …")
    pinned = run.names.pin(exp.to_table(match["name"], dialect="duckdb"))
    _require(pinned.table, run.statement)
    statement = next(iter(parse_statements(Source(match["query"]))))
    inner = execution_of(run, statement)
    query = inner.prepare(statement.tree, statement.span.start, statement.span.end)
    columns = inner.generated(f"SELECT * FROM ({query.text.text}) LIMIT 0", query.tables).schema
    old = [(field.name, field.type) for field in pinned.schema.fields]
    new = [(field.name, model_type(field.type)) for field in columns]
    if old != new:
        hint = "CREATE OR REPLACE MATERIALIZED VIEW makes it anew with other columns"
        raise run.statement.error(f"the new query has other columns than {pinned.name}", hint=hint)
    edits = [full_name(ref, statement) for ref in query.refs]
    text = apply_edits(statement.source.text, statement.span.start, statement.span.end, edits).text
    pinned.table.alter(SetOption(OPTION, text.strip().rstrip(";")))
    plan = refresh_table(run, pinned.name, full=True)
    return done(f"{pinned.name} altered; {refresh_message(plan)}", rows=plan.came, snapshot_id=plan.snapshot_id)


def drop_materialized(run: StatementExecution) -> Result:
    """Carry out DROP MATERIALIZED VIEW; the groups that are kept of it go too."""
    tree, warehouse = run.statement.tree, run.names.warehouse
    nodes = tree.args.get("tables") or [tree.this]
    names = [run.names.table_name(node) for node in nodes]
    found = [name for name in names if warehouse.has_table(name) or not tree.args.get("exists")]
    for node, name in zip(nodes, names):
        if name in found:
            _require(run.names.pin(node).table, run.statement)
    for name in found:
        drop_groups(warehouse, name)
        warehouse.drop_table(name)
    return done(f"materialized view {', '.join(map(str, names))} dropped")


def _require(table: Table, statement: SqlStatement) -> None:
    if OPTION not in table.schema.options:
        raise statement.error(f"{table.name} is a table, not a materialized view", hint="DROP TABLE, ALTER TABLE")


def adopt(run: StatementExecution, definition: TableDefinition) -> None:
    """Declare the query that made a table as its definition, with full names of tables."""
    statement = definition.statement
    inner = execution_of(run, statement, definition.database)
    edits = [full_name(ref, statement) for ref in prepare_tail(inner, statement.tree.expression).refs]
    text = apply_edits(statement.source.text, query_start(statement), statement.span.end, edits).text
    definition.table.alter(SetOption(OPTION, text.strip().rstrip(";")))


__all__ = [
    "adopt",
    "alter_materialized",
    "create_materialized",
    "drop_materialized",
    "refresh_materialized",
    "refresh_message",
    "refresh_table",
]

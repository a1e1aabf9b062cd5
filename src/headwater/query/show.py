"""SHOW, DESCRIBE and USE: what there is."""

import fnmatch
import re
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.lake.tables.names import DEFAULT_DATABASE, TableIdentifier
from headwater.model.schema import Field, Schema
from headwater.query.parse import Node, quoted
from headwater.query.refresh.definition import OPTION
from headwater.query.result import Result, listing
from headwater.query.select import StatementExecution
from headwater.query.statements import unknown_statement
from headwater.query.types import sql_type
from headwater.query.values import literal, string_literal

_SHOW = re.compile(
    r"(?P<what>databases|schemas|tables|materialized\s+views|views|create\s+table|create\s+view|columns|partitions|snapshots|tags)"
    r"(?:\s+(?:in|from)\b)?(?:\s+(?P<name>(?!like\b)[^\s']+))?(?:\s+like\s+'(?P<like>[^']*)')?\s*;?",
    re.IGNORECASE,
)


def show(run: StatementExecution) -> Result:
    """Carry out a SHOW."""
    match = _SHOW.fullmatch(run.statement.tree.args["expression"].strip())
    if match is None:
        hint = "SHOW DATABASES, TABLES, [MATERIALIZED] VIEWS [IN d] [LIKE 'a%'], COLUMNS FROM t, CREATE TABLE t"
        unknown = run.statement.error("this SHOW is not known", hint=hint)
        raise unknown_statement(run.statement.tokens, run.statement.source) or unknown
    what = " ".join(match["what"].lower().split())
    if what in ("databases", "schemas"):
        own = match["like"] is not None
        names = sorted({DEFAULT_DATABASE, *run.names.warehouse.list_databases(own=own)})
        return listing({"database": _like(names, match["like"])})
    if what in ("tables", "views", "materialized views"):
        named, warehouse = match["name"], run.names.warehouse
        database = run.names.database_name(exp.to_identifier(named)) if named else run.names.database
        found = warehouse.views.list(database) if what == "views" else warehouse.list_tables(database)
        if what == "materialized views":
            options = {name: warehouse.table(TableIdentifier(database, name)).schema.options for name in found}
            found = [name for name in found if OPTION in options[name]]
        return listing({what.removesuffix("s").replace(" ", "_"): _like(found, match["like"])})
    if not match["name"]:
        raise run.statement.error(f"SHOW {what.upper()} of which table?")
    node = exp.to_table(match["name"], dialect="duckdb")
    if what == "create view":
        name = run.names.table_name(node)
        view = run.names.warehouse.views.get(name)
        columns = f" ({', '.join(map(quoted, view.columns))})" if view.columns else ""
        return listing({"create_view": [f"CREATE VIEW {_table(name)}{columns} AS {view.sql}"]})
    return _of_table(run, what, node)


def _of_table(run: StatementExecution, what: str, node: Node) -> Result:
    pinned = run.names.pin(node)
    if what == "create table":
        return listing({"create_table": [create_text(pinned.name, pinned.schema)]})
    if what == "columns":
        return describe_schema(pinned.schema)
    if what == "snapshots":
        rows = pinned.table.snapshots()
        return listing(
            {
                "snapshot_id": [row.snapshot_id for row in rows],
                "commit_time": [row.timestamp for row in rows],
                "operation": [row.operation.value for row in rows],
            },
            {"snapshot_id": pa.int64(), "commit_time": pa.timestamp("ms", tz="UTC")},
        )
    if what == "tags":
        tags = pinned.table.tags()
        return listing(
            {"tag": list(tags), "snapshot_id": [snapshot.snapshot_id for snapshot in tags.values()]},
            {"snapshot_id": pa.int64()},
        )
    keys = pinned.schema.partition_keys
    places = sorted({entry.partition for entry in pinned.state.entries}, key=repr)
    return listing({key: [str(place[at]) for place in places] for at, key in enumerate(keys)})


def _like(names: list[str], pattern: str | None) -> list[str]:
    """Names that a LIKE pattern fits, whatever their case."""
    if pattern is None:
        return names
    glob = pattern.lower().replace("%", "*").replace("_", "?")
    return [name for name in names if fnmatch.fnmatchcase(name.lower(), glob)]


def describe(run: StatementExecution) -> Result:
    """Carry out a DESCRIBE of a table, a database, or a query."""
    tree = run.statement.tree
    if isinstance(tree.this, exp.Query):
        begin = next(token.start for token in run.statement.tokens[1:])
        query = run.prepare(tree.this, begin, run.statement.span.end)
        columns = run.engine.columns(query.text, query.tables, run.statement)
        return listing({"column": [name for name, _ in columns], "type": [type for _, type in columns]})
    if str(tree.args.get("kind")).upper() in ("DATABASE", "SCHEMA"):
        name = run.names.database_name(tree.this)
        tables = run.names.warehouse.list_tables(name)
        return listing({"name": ["database", "tables"], "value": [name, ", ".join(tables)]})
    pinned = run.names.pin(tree.this)
    described = describe_schema(pinned.schema)
    if not tree.args.get("style"):
        return described
    return _extended(described, pinned.schema, run)


def _extended(described: Result, schema: Schema, run: StatementExecution) -> Result:
    """The columns, and below them what is known of the table."""
    pinned = run.names.pin(run.statement.tree.this)
    facts: dict[str, Any] = {
        "table": pinned.name,
        "comment": schema.comment,
        "primary key": ", ".join(schema.primary_keys),
        "partitioned by": ", ".join(schema.partition_keys),
        "schema id": schema.id,
        "snapshot": pinned.state.snapshot_id,
        **{f"option {name}": value for name, value in sorted(schema.options.items())},
    }
    known = {f"# {name}": str(value) for name, value in facts.items() if value not in (None, "")}
    blank = [None] * len(known)
    more = {"column": list(known), "type": list(known.values())}
    columns = {name: described.table.column(name).to_pylist() + more.get(name, blank) for name in described.columns}
    return listing(columns)


def describe_schema(schema: Schema) -> Result:
    """The columns of a table."""
    return listing(
        {
            "column": [field.name for field in schema.fields],
            "type": [str(field.type) for field in schema.fields],
            "null": ["yes" if field.nullable else "no" for field in schema.fields],
            "key": [_key(field, schema) for field in schema.fields],
            "default": [None if field.default is None else str(field.default) for field in schema.fields],
            "comment": [field.description for field in schema.fields],
        }
    )


def _key(field: Field, schema: Schema) -> str | None:
    roles = [
        name
        for name, keys in (("primary", schema.primary_keys), ("partition", schema.partition_keys))
        if field.name in keys
    ]
    return ", ".join(roles) or None


def create_text(name: TableIdentifier, schema: Schema) -> str:
    """The statement that makes a table of this schema."""
    lines = [f"  {_definition(field)}" for field in schema.fields]
    if schema.primary_keys:
        lines.append(f"  PRIMARY KEY ({', '.join(map(quoted, schema.primary_keys))})")
    text = f"CREATE TABLE {_table(name)} (\n" + ",\n".join(lines) + "\n)"
    if schema.comment is not None:
        text += f" COMMENT {string_literal(schema.comment)}"
    if schema.partition_keys:
        text += f" PARTITIONED BY ({', '.join(map(quoted, schema.partition_keys))})"
    if schema.options:
        pairs = ", ".join(
            f"{string_literal(key)} = {string_literal(value)}" for key, value in sorted(schema.options.items())
        )
        text += f" WITH ({pairs})"
    return text


def _table(name: TableIdentifier) -> str:
    return f"{quoted(name.database)}.{quoted(name.table)}"


def _definition(field: Field) -> str:
    text = f"{quoted(field.name)} {sql_type(field.type)}"
    text += "" if field.nullable else " NOT NULL"
    if field.default is not None:
        text += f" DEFAULT {literal(field.default, field.type)}"
    return text + (f" COMMENT {string_literal(field.description)}" if field.description is not None else "")

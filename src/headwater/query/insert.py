"""INSERT INTO and INSERT OVERWRITE, of values or of a query."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.errors import SqlError
from headwater.lake.metadata.snapshot import Operation
from headwater.model.schema import Field, Schema
from headwater.query.edits import Edit, Edited
from headwater.query.names import Pinned, find_field
from headwater.query.origins import origin_of
from headwater.query.parse import Node, SqlStatement, query_start, quoted
from headwater.query.result import Result, done
from headwater.query.select import PreparedQuery, StatementExecution
from headwater.query.types import duckdb_type
from headwater.query.values import Cell, default_text, value_cells
from headwater.text import Span, counted

_SOURCE = "inserted"


@dataclass(frozen=True)
class Insert:
    """The parts of an INSERT: the table, the columns in the order of the values, and where the values stand."""

    target: Pinned
    node: Node
    columns: tuple[Field, ...]
    query: PreparedQuery
    cells: list[list[Cell]]  # empty when the rows come from a query


def insert(run: StatementExecution) -> Result:
    """Carry out an INSERT."""
    wanted = read_insert(run)
    rows = _converted(run, wanted)
    for field in wanted.target.schema.fields:
        column = rows.column(field.name)
        if field.nullable or not column.null_count:
            continue
        span = run.statement.place(wanted.node)
        if wanted.cells and field in wanted.columns:
            first = column.to_pylist().index(None)
            span = wanted.cells[first][wanted.columns.index(field)].span
        raise run.statement.error(f"column `{field.name}` of `{wanted.target.name}` may not be null", span)
    schema = wanted.target.schema
    origin = origin_of(run, list(wanted.query.refs), wanted.target.name, wanted.node, schema)
    table, name, count = wanted.target.table, wanted.target.name, counted(rows.num_rows, "row")
    if run.statement.tree.args.get("overwrite"):
        snapshot = table.overwrite(rows, _partitions(run, wanted), origin=origin)
        message = f"{name} overwritten with {count}"
    else:
        snapshot = table.write(rows, origin=origin, operation=Operation.INSERT)
        message = f"{count} inserted into {name}"
    return done(f"{message} (snapshot {snapshot.snapshot_id})", rows=rows.num_rows, snapshot_id=snapshot.snapshot_id)


def read_insert(run: StatementExecution) -> Insert:
    """The parts of an INSERT. RAISES: SqlError where they do not fit the table."""
    tree, statement = run.statement.tree, run.statement
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if "$" in node.name:
        raise statement.error("system tables are read only", node)
    run.names.refuse_version(node)
    target = run.names.pin(node)
    if tree.expression is None:
        raise statement.error("INSERT needs VALUES or a query")
    fields = _columns(named, target, statement)
    cells = value_cells(statement) if isinstance(tree.expression, exp.Values) else []
    for row in cells:
        if len(row) != len(fields):
            span = row[0].span.cover(row[-1].span) if row else statement.span
            raise _arity_error(len(row), fields, target, statement, span)
    query = _prepared(run, cells, fields)
    return Insert(target, node, fields, query, cells)


def _prepared(run: StatementExecution, cells: list[list[Cell]], fields: tuple[Field, ...]) -> PreparedQuery:
    """The rows as a query: DEFAULT written out, and with `WITH … INSERT INTO t SELECT …` all but the middle."""
    statement = run.statement
    tree, begin = statement.tree, query_start(statement)
    edits = [
        Edit(cell.span.start, cell.span.end, default_text(field))
        for row in cells
        for cell, field in zip(row, fields)
        if cell.is_default
    ]
    if tree.args.get("with_") is None or not statement.text[:4].upper().startswith("WITH"):
        return run.prepare(tree.expression, begin, statement.span.end, tuple(edits))
    into = next(token for token in statement.tokens if str(token.text).upper() == "INSERT")
    edits.append(Edit(into.start, begin, " "))
    return run.prepare(tree, statement.span.start, statement.span.end, tuple(edits))


def _columns(named: list[Node], target: Pinned, statement: SqlStatement) -> tuple[Field, ...]:
    """The columns that values are given for, in their order."""
    schema = target.schema
    if not named:
        return schema.fields
    found: list[Field] = []
    for node in named:
        field = schema.field(find_field(schema, node, statement, target.name))
        if field in found:
            raise statement.error(f"column `{field.name}` is there twice", node)
        found.append(field)
    missing = [
        field.name for field in schema.fields if field not in found and not field.nullable and field.default is None
    ]
    if missing:
        raise statement.error(
            f"column `{missing[0]}` of `{target.name}` may not be null and is given no value", named[-1]
        )
    return tuple(found)


def _arity_error(
    given: int, fields: tuple[Field, ...], target: Pinned, statement: SqlStatement, at: Span
) -> SqlError:
    message = f"{counted(given, 'value')} for {counted(len(fields), 'column')} of `{target.name}`"
    return statement.error(message, at, hint=f"columns: {', '.join(field.name for field in fields)}")


def _converted(run: StatementExecution, wanted: Insert) -> pa.Table:
    """The rows in the columns and types of the table, defaults filled in."""
    whole = converted_text(run, wanted)
    try:
        return run.engine.rows(whole, wanted.query.tables, run.statement, run.parameters)
    except SqlError as err:
        raise _bad_cell(run, wanted) or err from err


def converted_text(run: StatementExecution, wanted: Insert) -> Edited:
    """The query that gives the rows in the columns and types of the table."""
    fields, statement = wanted.columns, run.statement
    if statement.tree.args.get("by_name"):
        return _by_name(run, wanted)
    given = (
        len(wanted.cells[0])
        if wanted.cells
        else len(run.engine.columns(wanted.query.text, wanted.query.tables, statement, run.parameters))
    )
    if given != len(fields):
        span = statement.source.span(query_start(statement), statement.span.end)
        raise _arity_error(given, fields, wanted.target, statement, span)
    letters = [f"c{at}" for at in range(len(fields))]
    return _selected(wanted, dict(zip((field.name for field in fields), letters)), f"({', '.join(letters)})")


def _by_name(run: StatementExecution, wanted: Insert) -> Edited:
    columns = run.engine.columns(wanted.query.text, wanted.query.tables, run.statement, run.parameters)
    nodes = [exp.to_identifier(name) for name, _ in columns]
    known = [find_field(wanted.target.schema, node, run.statement, wanted.target.name) for node in nodes]
    return _selected(wanted, dict(zip(known, (quoted(name) for name, _ in columns))))


def _selected(wanted: Insert, given: dict[str, str], names: str = "") -> Edited:
    """The query of the rows with all columns of the table, those `given` by expressions, cast to their types."""
    casts = [
        f"CAST({given.get(field.name) or default_text(field)} AS {duckdb_type(field.type)}) AS {quoted(field.name)}"
        for field in wanted.target.schema.fields
    ]
    text, before = wanted.query.text, f"SELECT {', '.join(casts)} FROM ("
    after = f") AS {_SOURCE}{names}"
    return Edited(before + text.text + after, text.begin, (Edit(text.begin, text.begin, before), *text.edits))


def _bad_cell(run: StatementExecution, wanted: Insert) -> SqlError | None:
    """The first value that cannot be converted, found by trying each on its own."""
    for row in wanted.cells:
        for cell, field in zip(row, wanted.columns):
            type = duckdb_type(field.type)
            text = default_text(field) if cell.is_default else run.statement.source.excerpt(cell.span)
            probe = Edited(f"SELECT CAST(({text}) AS {type})", cell.span.start, ())
            try:
                run.engine.rows(probe, {}, run.statement, None)
            except SqlError:
                return run.statement.error(
                    f"{text} is not a value for column `{field.name}`, which is {field.type}", cell.span
                )
    return None


def _partitions(run: StatementExecution, wanted: Insert) -> Any:
    """Return what an INSERT OVERWRITE replaces: the partition that is named, else those of the new rows, else all."""
    spec = wanted.node.args.get("partition")
    schema: Schema = wanted.target.schema
    if spec is None or isinstance(spec, bool):
        return "dynamic" if schema.partition_keys else None
    values = {}
    for each in spec.expressions:
        if not isinstance(each, exp.EQ):
            raise run.statement.error("PARTITION needs a value for each column", each)
        name = find_field(schema, each.this, run.statement, wanted.target.name)
        values[name] = run.engine.constant(each.expression)
    return [values]

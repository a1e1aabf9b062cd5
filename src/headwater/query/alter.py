"""ALTER TABLE (its tags too), COMMENT ON and DROP."""

import re
from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from headwater.errors import AlreadyExistsError, NotFoundError
from headwater.lake.metadata import schema_change as evolution
from headwater.lake.tables import Table
from headwater.lake.tables.names import TableIdentifier
from headwater.query.create import option_name, option_value, read_column
from headwater.query.names import Pinned, find_field
from headwater.query.parse import Node
from headwater.query.result import Result, done
from headwater.query.select import StatementExecution
from headwater.query.statements import unknown_statement
from headwater.query.types import column_type

_NAME = r"""(?P<tag>"[^"]+"|'[^']+'|\S+)"""
_MOMENT = r"(?:version\s+as\s+of|timestamp\s+as\s+of|as\s+of(?:\s+version|\s+timestamp)?)"
_CREATE = re.compile(
    rf"create\s+tag\s+(?P<quietly>if\s+not\s+exists\s+)?{_NAME}(?:\s+{_MOMENT}\s+(?P<at>\d+|'[^']+'))?", re.IGNORECASE
)
_DROP = re.compile(rf"drop\s+tag\s+(?P<quietly>if\s+exists\s+)?{_NAME}", re.IGNORECASE)


def alter_tag(table: Table, action: str) -> Result | None:
    """Carry out a CREATE TAG or DROP TAG; None if the action is neither.
    RAISES: AlreadyExistsError, NotFoundError."""
    if create := _CREATE.fullmatch(action):
        name, at = _plain(create["tag"]), create["at"]
        if create["quietly"] and name in table.tags():
            return done(f"tag {name} of {table.name} is there already")
        try:
            moment = int(at) if at and at.isdigit() else _plain(at) if at else None
            snapshot = table.create_tag(name, moment)
        except AlreadyExistsError as err:
            raise AlreadyExistsError(f"{table.name} has a tag `{name}` already", hint="DROP TAG it first") from err
        return done(f"tag {name} of {table.name} is snapshot {snapshot.snapshot_id}")
    if drop := _DROP.fullmatch(action):
        name = _plain(drop["tag"])
        try:
            table.delete_tag(name)
        except NotFoundError:
            if not drop["quietly"]:
                raise
        return done(f"tag {name} of {table.name} dropped")
    return None


def _plain(text: str) -> str:
    return text.strip("\"'")


def alter(run: StatementExecution) -> Result:
    """Carry out an ALTER TABLE; its actions are one change of the schema."""
    tree, statement = run.statement.tree, run.statement
    if (tree.args.get("kind") or "").upper() != "TABLE":
        raise statement.error(f"ALTER {tree.args.get('kind')} is not something this SQL knows", hint="ALTER TABLE")
    if tree.args.get("exists") and not run.names.warehouse.has_table(run.names.table_name(tree.this)):
        return done(f"there is no table {run.names.table_name(tree.this)}")
    pinned = run.names.pin(tree.this)
    actions = tree.args["actions"]
    if len(actions) == 1 and isinstance(actions[0], exp.AlterRename):
        node = actions[0].this
        database = node.args.get("db")
        new = TableIdentifier(database.name if database else pinned.name.database, node.name)
        run.names.warehouse.rename_table(pinned.name, new)
        return done(f"table {pinned.name} is now {new}")
    changes = [change for action in actions for change in _changes(action, pinned, run)]
    pinned.table.alter(*changes)
    return done(f"table {pinned.name} altered (schema {pinned.table.schema.id})")


def _changes(action: Node, pinned: Pinned, run: StatementExecution) -> list[evolution.SchemaChange]:
    match action:
        case exp.ColumnDef():
            return [_added(action, pinned, run)]
        case exp.Schema():
            return [_added(each, pinned, run) for each in action.expressions]
        case exp.Drop():
            return [evolution.DropColumn(_column(each, pinned, run)) for each in action.args["tables"]]
        case exp.RenameColumn():
            return [evolution.RenameColumn(_column(action.this, pinned, run), action.args["to"].name)]
        case exp.AlterColumn():
            return [_altered(action, pinned, run)]
        case exp.AlterSet():
            return [evolution.SetOption(name, value) for name, value in _options(action)]
    raise run.statement.error("this change of a table is not known", action, hint="ADD, DROP, RENAME, ALTER, SET")


def _added(definition: Node, pinned: Pinned, run: StatementExecution) -> evolution.AddColumn:
    field = read_column(definition, 0, run)
    position = definition.args.get("position")
    after = None
    if position is not None:
        first = (position.args.get("position") or "").upper() == "FIRST"
        after = "" if first else _column(position.this, pinned, run)
    return evolution.AddColumn(field.name, field.type, field.nullable, field.default, field.description, after)


def _altered(action: Node, pinned: Pinned, run: StatementExecution) -> evolution.SchemaChange:
    name = _column(action.this, pinned, run)
    if action.args.get("dtype") is not None:
        return evolution.WidenColumn(name, column_type(action.args["dtype"], run.statement, action.this))
    if action.args.get("comment") is not None:
        return evolution.DescribeColumn(name, action.args["comment"].name)
    if action.args.get("drop") and action.args.get("allow_null"):
        return evolution.RelaxColumn(name)
    raise run.statement.error(
        f"column `{name}` cannot be altered so", action, hint="TYPE …, DROP NOT NULL, COMMENT '…', FIRST, AFTER …"
    )


def _options(action: Node) -> Iterator[tuple[str, str | None]]:
    for each in action.expressions:
        for pair in each.expressions if isinstance(each, exp.Properties) else [each]:
            value = pair.args.get("value") or pair.args.get("expression")
            yield option_name(pair.this), option_value(value) if value is not None else None


def _column(node: Node, pinned: Pinned, run: StatementExecution) -> str:
    return find_field(pinned.schema, node, run.statement, pinned.name)


_WORD = r'((?:"[^"]*"|[^\s"])+)'  # a name; inside of quotes it may have spaces
_MOVE = re.compile(rf"alter\s+(?:column\s+)?{_WORD}\s+(first|after\s+{_WORD})", re.IGNORECASE)
_UNSET = re.compile(r"unset\s+(?:tblproperties\s*)?\((.*)\)", re.IGNORECASE | re.DOTALL)
_ALTER = re.compile(rf"alter\s+table\s+{_WORD}\s+(.*)", re.IGNORECASE | re.DOTALL)


def alter_more(run: StatementExecution) -> Result:
    """Carry out what sqlglot has no tree for: moving columns, removing options, tags."""
    statement = run.statement
    match = _ALTER.fullmatch(statement.text.strip().rstrip(";"))
    if match is None:
        raise unknown_statement(statement.tokens, statement.source) or statement.error("this ALTER cannot be read")
    pinned = run.names.pin(exp.to_table(match[1], dialect="duckdb"))
    done_with_tags = alter_tag(pinned.table, match[2].strip())
    if done_with_tags is not None:
        return done_with_tags
    change: list[evolution.SchemaChange]
    if move := _MOVE.fullmatch(match[2].strip()):
        after = find_field(pinned.schema, _name(move[3]), statement, pinned.name) if move[3] else ""
        change = [evolution.MoveColumn(find_field(pinned.schema, _name(move[1]), statement, pinned.name), after)]
    elif unset := _UNSET.fullmatch(match[2].strip()):
        change = [evolution.SetOption(name.strip().strip("'\""), None) for name in unset[1].split(",")]
    else:
        raise statement.error(
            "this ALTER cannot be read", hint="ADD, DROP, RENAME, ALTER COLUMN, SET, UNSET, CREATE TAG, DROP TAG"
        )
    pinned.table.alter(*change)
    return done(f"table {pinned.name} altered (schema {pinned.table.schema.id})")


def _name(text: str) -> Node:
    is_quoted = text.startswith('"')
    return exp.to_identifier(text[1:-1].replace('""', '"') if is_quoted else text, quoted=is_quoted)


def comment(run: StatementExecution) -> Result:
    """Carry out COMMENT ON TABLE or COLUMN."""
    tree, statement = run.statement.tree, run.statement
    text: Any = None if isinstance(tree.expression, exp.Null) else tree.expression.name
    kind = str(tree.args.get("kind")).upper()
    if kind == "TABLE":
        pinned = run.names.pin(tree.this)
        pinned.table.alter(evolution.SetComment(text))
    elif kind == "COLUMN" and tree.this.args.get("table") is not None:
        node = exp.Table(this=tree.this.args["table"].copy(), db=tree.this.args.get("db"))
        pinned = run.names.pin(node)
        pinned.table.alter(evolution.DescribeColumn(_column(tree.this.this, pinned, run), text))
    else:
        raise statement.error("COMMENT ON TABLE t, or ON COLUMN t.c")
    return done(f"comment on {pinned.name} set")


def drop(run: StatementExecution) -> Result:
    """Carry out DROP TABLE or DROP DATABASE."""
    tree, warehouse = run.statement.tree, run.names.warehouse
    kind = str(tree.args.get("kind")).upper()
    nodes = tree.args.get("tables") or [tree.this]
    if kind in ("DATABASE", "SCHEMA"):
        for node in nodes:
            if tree.args.get("exists") and not warehouse.has_database(node.name):
                continue
            name = run.names.database_name(node)
            warehouse.drop_database(name, cascade=bool(tree.args.get("cascade")))
        return done(f"database {', '.join(node.name for node in nodes)} dropped")
    if kind != "TABLE":
        raise run.statement.error(f"DROP {kind} is not something this SQL knows", hint="TABLE or DATABASE")
    tables = [run.names.table_name(node) for node in nodes]
    found = [each for each, node in zip(tables, nodes) if warehouse.has_table(each) or not tree.args.get("exists")]
    for node, table in zip(nodes, tables):
        if table in found:
            run.names.pin(node)  # all are there before the first goes
    for table in found:
        warehouse.drop_table(table)
    return done(f"table {', '.join(map(str, tables))} dropped")

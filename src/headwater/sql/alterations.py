"""ALTER, DROP, TRUNCATE: statements that change tables without writing rows."""

from sqlglot import exp

from headwater.lineage.effects import (
    AlterColumns,
    ColumnDefinition,
    DropTable,
    RenameTable,
    SchemaEffect,
    SwapTables,
    UseNamespace,
)
from headwater.lineage.moves import Moves
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.sql.creates import column_definition
from headwater.sql.inserts import move_rows
from headwater.sql.lowering import Lowering, Node
from headwater.sql.writes import states
from headwater.text import Span


@states(exp.Alter)
def lower_alter(lowering: Lowering, node: Node) -> Lowered:
    kind = str(node.args.get("kind") or "TABLE").upper()
    if not isinstance(node.this, exp.Table) or kind not in ("TABLE", "VIEW"):
        return Lowered("ALTER" if kind == "TABLE" else f"ALTER_{kind.replace(' ', '_')}")
    name, _ = lowering.table_name(node.this)
    target = lowering.resolver.resolve(name).name
    actions = node.args.get("actions") or ()
    filled = [action for action in actions if isinstance(action, exp.ReplacePartition)]
    if filled:  # REPLACE PARTITION … FROM other
        return move_rows(lowering, [(node.this, each.args["source"]) for each in filled])
    moves = Moves(lowering.resolver, f"ALTER_{kind}")
    for action in actions:
        span, to = _places(lowering, action, node)
        for effect in _action(lowering, name, action, node):
            moves.add(effect, span=span, to=to)
    return moves.lowered(target)


def _places(lowering: Lowering, action: Node, alter: Node) -> tuple[Span | None, Span | None]:
    """Return where the old and the new name stand in the text, of a table or of a column."""
    if isinstance(action, exp.AlterRename | exp.SwapTable):
        column = _column_renamed_to(alter)
        old = alter.this if column is None else action.this
        return lowering.table_span(old), lowering.table_span(action.this if column is None else column)
    if isinstance(action, exp.RenameColumn):
        return lowering.cover(action.this.this), lowering.cover(action.args["to"].this)
    if isinstance(action, exp.ModifyColumn):
        return lowering.cover(action.args.get("rename_from")), lowering.cover(action.this.this)
    if isinstance(action, exp.AlterColumn):
        return lowering.cover(action.this), lowering.cover(action.args.get("rename_to"))
    return None, None


def _action(lowering: Lowering, name: TableName, action: Node, alter: Node) -> list[SchemaEffect]:
    span = lowering.span(action.this) if isinstance(action.this, exp.Identifier) else None
    if isinstance(action, exp.ColumnDef):
        return [AlterColumns(name, add=(column_definition(lowering, action),), span=span)]
    if isinstance(action, exp.Schema):
        added = tuple(
            column_definition(lowering, each) for each in action.expressions if isinstance(each, exp.ColumnDef)
        )
        return [AlterColumns(name, add=added)]
    if isinstance(action, exp.RenameColumn):
        return [AlterColumns(name, rename=((action.this.name, action.args["to"].name),))]
    if isinstance(action, exp.Drop) and str(action.args.get("kind") or "").upper() == "COLUMN":
        return [AlterColumns(name, drop=tuple(each.name for each in _dropped(action)))]
    if isinstance(action, exp.AlterColumn | exp.ModifyColumn):
        return _changed_column(lowering, name, action)
    if isinstance(action, exp.AlterRename):
        column = _column_renamed_to(alter)
        if column is not None:
            return [AlterColumns(name, rename=((action.this.name, column.name),))]
        return [RenameTable(name, lowering.table_name(action.this)[0])]
    if isinstance(action, exp.SwapTable):
        return [SwapTables(name, lowering.table_name(action.this)[0])]
    if isinstance(action, exp.AddConstraint | exp.AlterSet):
        return []
    return [each for inner in action.expressions or () for each in _action(lowering, name, inner, alter)]


def _changed_column(lowering: Lowering, name: TableName, action: Node) -> list[SchemaEffect]:
    """ALTER COLUMN, MODIFY and CHANGE: another type, another name (CHANGE old new type), or both."""
    if isinstance(action, exp.ModifyColumn):
        definition = column_definition(lowering, action.this)
        old = action.args.get("rename_from")
    else:
        kind, to = action.args.get("dtype"), action.args.get("rename_to")
        old = action.this if to is not None else None
        kind = kind.sql(lowering.dialect or None) if kind is not None else None
        definition = ColumnDefinition((to if to is not None else action.this).name, kind)
    effects: list[SchemaEffect] = []
    if old is not None and lowering.key_of(old.name) != lowering.key_of(definition.name):
        effects.append(AlterColumns(name, rename=((old.name, definition.name),)))
    if definition.type is not None:
        effects.append(AlterColumns(name, retype=(definition,)))
    return effects


def _column_renamed_to(alter: Node) -> Node | None:
    """The new name of a column in `RENAME a TO b`, where the parser takes `a` for a table; None if it is one."""
    for option in alter.args.get("options") or ():
        if isinstance(option, exp.ToTableProperty) and isinstance(option.this, exp.Table):
            return option.this
    return None


def _dropped(action: Node) -> list[Node]:
    listed = action.args.get("tables") or action.expressions
    if listed:
        return list(listed)
    return [action.this] if action.this is not None else []


@states(exp.Drop)
def lower_drop(lowering: Lowering, node: Node) -> Lowered:
    kind = str(node.args.get("kind") or "").upper()
    tables = [each for each in _dropped(node) if isinstance(each, exp.Table)]
    if kind not in ("TABLE", "VIEW", "MATERIALIZED VIEW", "DYNAMIC TABLE") or not tables:
        return Lowered(f"DROP_{kind.replace(' ', '_') or 'OBJECT'}")
    names = [lowering.table_name(each)[0] for each in tables]
    effects = tuple(DropTable(name) for name in names)
    return Lowered(f"DROP_{kind.replace(' ', '_')}", effects=effects, target=lowering.resolver.resolve(names[0]).name)


@states(exp.Use)
def lower_use(lowering: Lowering, node: Node) -> Lowered:
    """USE names the schema (or, where it says so, the catalog) of the names that follow."""
    if not isinstance(node.this, exp.Table):
        return Lowered("USE")
    *outer, last = ("?" if "headwater_hole_" in each else each for each in lowering.table_name(node.this)[0].parts)
    kind = str(node.args.get("kind") or "").upper()
    if kind in ("ROLE", "WAREHOUSE"):
        return Lowered("USE")
    if kind in ("CATALOG", "DATABASE") and lowering.dialect in ("snowflake", "databricks", "trino") and not outer:
        return Lowered("USE", effects=(UseNamespace(None, last),))
    return Lowered("USE", effects=(UseNamespace(last, outer[-1] if outer else None),))


@states(exp.TruncateTable)
def lower_truncate(lowering: Lowering, node: Node) -> Lowered:
    names = [lowering.table_name(each)[0] for each in node.expressions if isinstance(each, exp.Table)]
    target = lowering.resolver.resolve(names[0]).name if names else None
    return Lowered("TRUNCATE", target=target)

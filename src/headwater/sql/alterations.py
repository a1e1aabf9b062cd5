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
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.sql.definitions import column_definition
from headwater.sql.lowering import Lowering, Node
from headwater.sql.writes import states


@states(exp.Alter)
def lower_alter(lowering: Lowering, node: Node) -> Lowered:
    if not isinstance(node.this, exp.Table):
        return Lowered("ALTER")
    name, _ = lowering.table_name(node.this)
    effects: list[SchemaEffect] = []
    for action in node.args.get("actions") or ():
        effects += _action(lowering, name, action)
    return Lowered("ALTER_TABLE", effects=tuple(effects), target=lowering.resolver.resolve(name).name)


def _action(lowering: Lowering, name: TableName, action: Node) -> list[SchemaEffect]:
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
    if isinstance(action, exp.AlterColumn) and action.args.get("dtype") is not None:
        kind = action.args["dtype"].sql(lowering.dialect or None)
        return [AlterColumns(name, retype=(ColumnDefinition(action.this.name, kind),))]
    if isinstance(action, exp.AlterRename):
        return [RenameTable(name, lowering.table_name(action.this)[0])]
    if isinstance(action, exp.SwapTable):
        return [SwapTables(name, lowering.table_name(action.this)[0])]
    if isinstance(action, exp.AddConstraint | exp.AlterSet):
        return []
    return [each for inner in action.expressions or () for each in _action(lowering, name, inner)]


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
    *outer, last = lowering.table_name(node.this)[0].parts
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

"""Statements that change the schema only: ALTER, DROP, RENAME."""

from typing import Any

from headwater.lineage.effects import AlterColumns, ColumnDefinition, DropTable, RenameTable, SchemaEffect
from headwater.lineage.moves import Moves
from headwater.lineage.script import Lowered
from headwater.zetasql.lower.lowering import ResolvedLowering, message_type, unwrap
from headwater.zetasql.lower.statements import states
from headwater.zetasql.types import type_text

_TABLES = frozenset({"TABLE", "VIEW", "MATERIALIZED VIEW", "EXTERNAL TABLE", "SNAPSHOT TABLE"})


@states("DropStmt")
def lower_drop(low: ResolvedLowering, node: Any) -> Lowered:
    kind = node.object_type.upper()
    return _dropped(low, node, kind) if kind in _TABLES else Lowered(f"DROP_{kind.replace(' ', '_')}")


@states("DropMaterializedViewStmt")
def lower_drop_view(low: ResolvedLowering, node: Any) -> Lowered:
    return _dropped(low, node, "MATERIALIZED VIEW")


@states("DropSnapshotTableStmt")
def lower_drop_snapshot(low: ResolvedLowering, node: Any) -> Lowered:
    return _dropped(low, node, "SNAPSHOT TABLE")


def _dropped(low: ResolvedLowering, node: Any, kind: str) -> Lowered:
    name = low.around.qualify(tuple(node.name_path))
    return Lowered(f"DROP_{kind.replace(' ', '_')}", effects=(DropTable(name),), target=name)


@states("RenameStmt")
def lower_rename(low: ResolvedLowering, node: Any) -> Lowered:
    name, to = low.around.qualify(tuple(node.old_name_path)), low.around.qualify(tuple(node.new_name_path))
    moves = Moves(low.around.resolver, "RENAME_TABLE")
    moves.add(RenameTable(name, to))
    return moves.lowered(None)


@states("AlterTableStmt", "AlterViewStmt", "AlterMaterializedViewStmt")
def lower_alter(low: ResolvedLowering, node: Any) -> Lowered:
    alter = node.parent
    name = low.around.qualify(tuple(alter.name_path))
    add: list[ColumnDefinition] = []
    drop: list[str] = []
    rename: list[tuple[str, str]] = []
    retype: list[ColumnDefinition] = []
    renames: list[SchemaEffect] = []
    for each in alter.alter_action_list:
        action = unwrap(each)
        match type(action).__name__.removeprefix("Resolved").removesuffix("ActionProto"):
            case "AddColumn":
                definition = action.column_definition
                add.append(ColumnDefinition(definition.name, type_text(definition.type)))
            case "DropColumn":
                drop.append(action.name)
            case "RenameColumn":
                rename.append((action.name, action.new_name))
            case "AlterColumnSetDataType":
                retype.append(ColumnDefinition(action.parent.column, type_text(action.updated_type)))
            case "RenameTo":
                renames.append(RenameTable(name, low.around.qualify(tuple(action.new_path))))
    columns = AlterColumns(name, tuple(add), tuple(drop), tuple(rename), tuple(retype))
    changes = (columns,) if add or drop or rename or retype else ()
    what = "VIEW" if type(node) is not message_type("AlterTableStmt") else "TABLE"
    moves = Moves(low.around.resolver, f"ALTER_{what}")
    for effect in (*changes, *renames):
        moves.add(effect)
    return moves.lowered(name)

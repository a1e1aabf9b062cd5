"""The parts of table definitions: columns, types, keys."""

from collections.abc import Iterable

from sqlglot import exp

from headwater.lineage.effects import ColumnDefinition
from headwater.lineage.schema import ConstraintType, TableConstraintInfo
from headwater.sql.lowering import Lowering, Node


def is_temporary(node: Node) -> bool:
    """Whether CREATE makes a table of the session only."""
    properties = node.args.get("properties")
    if properties is not None and any(
        isinstance(each, exp.TemporaryProperty | exp.VolatileProperty) for each in properties.expressions
    ):
        return True
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    return (
        isinstance(table, exp.Table)
        and isinstance(table.this, exp.Identifier)
        and bool(table.this.args.get("temporary"))
    )


def column_definitions(lowering: Lowering, nodes: Iterable[Node]) -> tuple[ColumnDefinition, ...]:
    """The columns of a table definition, with the types as the dialect writes them."""
    return tuple(
        column_definition(lowering, each) if isinstance(each, exp.ColumnDef) else ColumnDefinition(each.name)
        for each in nodes
        if isinstance(each, exp.ColumnDef | exp.Identifier | exp.Column)
    )


def column_definition(lowering: Lowering, node: Node) -> ColumnDefinition:
    """One column of a definition."""
    kind = node.args.get("kind")
    primary, references = False, None
    for constraint in node.args.get("constraints") or ():
        inner = constraint.args.get("kind")
        if isinstance(inner, exp.PrimaryKeyColumnConstraint):
            primary = True
        elif isinstance(inner, exp.Reference):
            table, columns = _referenced(lowering, inner)
            references = (table, columns[0] if columns else node.name)
    return ColumnDefinition(
        node.name,
        kind.sql(lowering.dialect or None) if kind is not None else None,
        primary,
        references,
        quoted=isinstance(node.this, exp.Identifier) and bool(node.this.args.get("quoted")),
    )


def constraints_of(lowering: Lowering, nodes: Iterable[Node]) -> tuple[TableConstraintInfo, ...]:
    """The keys that a table definition declares; PRIMARY KEY and REFERENCES of a column are kept with the column."""
    found: list[TableConstraintInfo] = []
    for node in nodes:
        for each in node.expressions if isinstance(node, exp.Constraint) else [node]:
            if isinstance(each, exp.PrimaryKey):
                found.append(_constraint(ConstraintType.PRIMARY_KEY, each))
            elif isinstance(each, exp.UniqueColumnConstraint):
                inner = each.this.expressions if isinstance(each.this, exp.Schema) else []
                found.append(TableConstraintInfo(constraint_type=ConstraintType.UNIQUE, columns=_names(inner)))
            elif isinstance(each, exp.ForeignKey):
                reference = each.args.get("reference")
                table, columns = _referenced(lowering, reference) if reference is not None else (None, ())
                found.append(_constraint(ConstraintType.FOREIGN_KEY, each, table, columns))
            elif isinstance(each, exp.ColumnDef):
                kinds = [held.args.get("kind") for held in each.args.get("constraints") or ()]
                if any(isinstance(kind, exp.UniqueColumnConstraint) for kind in kinds):
                    found.append(TableConstraintInfo(constraint_type=ConstraintType.UNIQUE, columns=(each.name,)))
    return tuple(found)


def _constraint(
    kind: ConstraintType, node: Node, table: str | None = None, columns: tuple[str, ...] = ()
) -> TableConstraintInfo:
    return TableConstraintInfo(
        constraint_type=kind, columns=_names(node.expressions), referenced_table=table, referenced_columns=columns
    )


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(each.this.name if isinstance(each, exp.Ordered) else each.name for each in nodes)


def _referenced(lowering: Lowering, reference: Node) -> tuple[str, tuple[str, ...]]:
    target = reference.this
    table = target.this if isinstance(target, exp.Schema) else target
    columns = target.expressions if isinstance(target, exp.Schema) else []
    return str(lowering.table_name(table)[0]), _names(columns)


def model_of(node: Node) -> Node | None:
    """The table that a new one is like."""
    schema = node.this
    properties = node.args.get("properties")
    candidates = [*(schema.expressions if isinstance(schema, exp.Schema) else ())]
    candidates += properties.expressions if properties is not None else []
    return next((each.this for each in candidates if isinstance(each, exp.LikeProperty)), None)

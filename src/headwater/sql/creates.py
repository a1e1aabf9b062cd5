"""CREATE: tables and views made by a query, by their columns, or after another table."""

from collections.abc import Iterable

from sqlglot import exp

from headwater.lineage.effects import ColumnDefinition, CopyTable, CreateTable
from headwater.lineage.schema import ConstraintType, TableConstraintInfo
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import With, Write
from headwater.sql.dialects import MICROSOFT
from headwater.sql.given_functions import keep_function
from headwater.sql.items import ItemColumn
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.queries import build_ctes
from headwater.sql.writes import assignments_by_name, created, identifier_of, states
from headwater.text import Span


@states(exp.Create)
def lower_create(lowering: Lowering, node: Node) -> Lowered:
    kind = str(node.args.get("kind") or "").upper()
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    if kind in ("FUNCTION", "MACRO"):
        keep_function(lowering.functions, node)
    if kind not in ("TABLE", "VIEW", "EXTERNAL TABLE", "DYNAMIC TABLE") or not isinstance(table, exp.Table):
        return Lowered(f"CREATE_{kind.replace(' ', '_') or 'OBJECT'}")
    if isinstance(node.expression, exp.Query):
        return _create_as(lowering, node, table, kind)
    clone = node.args.get("clone")
    if clone is not None:
        return _create_clone(lowering, node, table, clone.this)
    return _create_by_columns(lowering, node, table)


def _create_as(lowering: Lowering, node: Node, table: Node, kind: str) -> Lowered:
    scope = Scope()
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    query = lowering.query(node.expression, scope)
    if ctes:
        query.relation = With(ctes, query.relation)
    listed = node.this.expressions if isinstance(node.this, exp.Schema) else ()
    names = [each for each in listed if isinstance(each, exp.Identifier | exp.ColumnDef | exp.Column)]
    if names:
        query.columns = [
            ItemColumn(each.name, column.key, column.expression, lowering.span(identifier_of(each)), column.type)
            for each, column in zip(names, query.columns)
        ]
    target, name, span = _target(lowering, node, table)
    properties = node.args.get("properties")
    materialized = properties is not None and properties.find(exp.MaterializedProperty) is not None
    view = "CREATE_MATERIALIZED_VIEW" if materialized else "CREATE_VIEW"
    statement_type = view if kind == "VIEW" else "CREATE_TABLE_AS_SELECT"
    to = properties.find(exp.ToTableProperty) if properties is not None else None
    if to is not None:  # a materialized view that writes into a table of its own (ClickHouse)
        target = lowering.resolver.resolve(lowering.table_name(to.this)[0]).name
    write = Write(statement_type, target, assignments_by_name(query), (query.relation,), target_span=span)
    keeps_existing = bool(node.args.get("exists"))
    effect = created(lowering, name, query, temporary=is_temporary(node), keeps_existing=keeps_existing)
    return Lowered(statement_type, (write,), (effect,))


def _target(lowering: Lowering, node: Node, table: Node) -> tuple[TableName, TableName, Span | None]:
    """The table that is created: its full name, its name as written, and where that is."""
    name, quoted = lowering.table_name(table)
    full = name if is_temporary(node) else lowering.resolver.resolve(name, quoted=quoted).name
    return full, name, lowering.table_span(table)


def _create_clone(lowering: Lowering, node: Node, table: Node, original: Node) -> Lowered:
    """CLONE and COPY take the rows along with the columns."""
    query: Query = lowering.query(original, None)
    target, name, span = _target(lowering, node, table)
    copied, _ = lowering.table_name(original)
    effect = CopyTable(name, copied, is_temporary(node), bool(node.args.get("exists")), span)
    write = Write("CREATE_TABLE_CLONE", target, assignments_by_name(query), (query.relation,), target_span=span)
    return Lowered("CREATE_TABLE_CLONE", (write,), (effect,))


def _create_by_columns(lowering: Lowering, node: Node, table: Node) -> Lowered:
    target, name, span = _target(lowering, node, table)
    exists, temporary = bool(node.args.get("exists")), is_temporary(node)
    # the table that a new one is like
    schema = node.this
    properties = node.args.get("properties")
    candidates = [*(schema.expressions if isinstance(schema, exp.Schema) else ())]
    candidates += properties.expressions if properties is not None else []
    model = next((each.this for each in candidates if isinstance(each, exp.LikeProperty)), None)
    if model is not None:
        original, _ = lowering.table_name(model)
        return Lowered(
            "CREATE_TABLE_LIKE", effects=(CopyTable(name, original, temporary, exists, span),), target=target
        )
    if not isinstance(node.this, exp.Schema):
        return Lowered("CREATE_TABLE", target=target)
    columns = column_definitions(lowering, node.this.expressions)
    constraints = constraints_of(lowering, node.this.expressions)
    effect = CreateTable(
        name,
        columns,
        temporary=temporary,
        keeps_existing=exists,
        complete=bool(columns),
        constraints=constraints,
        span=span,
    )
    return Lowered("CREATE_TABLE", effects=(effect,), target=target)


# --------------------------------------------------------------------------------------- the parts of a definition


def is_temporary(node: Node) -> bool:
    """Return true if CREATE makes a table of the session only."""
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
        and not (lowering.dialect in MICROSOFT and _is_index(each))
    )


def _is_index(node: Node) -> bool:
    """Return whether what stands among the columns of a table is an index of it."""
    named = node.find(exp.Identifier)
    return node.name.upper() == "INDEX" and (named is None or not named.quoted)


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

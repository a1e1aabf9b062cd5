"""INSERT: which output goes into which column; inserts into several tables, and rows that move as they are."""

import dataclasses
from collections.abc import Sequence

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.events.naming import file_table
from headwater.lineage.script import Lowered
from headwater.model.edges import Kind
from headwater.model.relation import Assignment, Influence, Values, With, Write
from headwater.sql.items import DerivedItem, ItemColumn, Named, StoredItem
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.output_into import output_writes
from headwater.sql.queries import build_ctes
from headwater.sql.table_names import files_read
from headwater.sql.tables import open_table
from headwater.sql.writes import assign, assignments_by_name, identifier_of, states


@states(exp.Insert)
def lower_insert(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    _settle_brackets(node)
    ctes = build_ctes(lowering, node.args.get("with_"), scope)
    body = node.expression  # none for DEFAULT VALUES, or a file
    query = lowering.query(body, scope) if body is not None else Query(Values((), ()), [])
    if ctes:
        query.relation = With(ctes, query.relation)
    write = insert_write(lowering, node, query, scope)
    if node.args.get("returning") is None or not isinstance(table_of(node), exp.Table):
        return Lowered("INSERT", (write,))
    target = open_table(lowering, table_of(node), report=False)
    return Lowered("INSERT", output_writes(lowering, node, write, target=target, scope=scope))


def _settle_brackets(node: Node) -> None:
    """Correct what the parser takes for a list of columns: `(VALUES (1), (2))` and the name in `IDENTIFIER('t')`."""
    listed = node.this.expressions if isinstance(node.this, exp.Schema) else []
    first = listed[0] if listed else None
    if isinstance(first, exp.Anonymous) and first.name.upper() == "VALUES" and node.expression is None:
        rows = [exp.Tuple(expressions=first.expressions)]
        rows += [each if isinstance(each, exp.Tuple) else exp.Tuple(expressions=[each.this]) for each in listed[1:]]
        node.set("expression", exp.Values(expressions=rows))
        node.set("this", node.this.this)
    elif isinstance(first, exp.Literal) and first.is_string and node.this.this.name.upper() == "IDENTIFIER":
        node.set("this", exp.Table(this=exp.DynamicIdentifier(this=first)))


def table_of(node: Node) -> Node:
    """Return the target of an INSERT, without the list of columns."""
    return node.this.this if isinstance(node.this, exp.Schema) else node.this


def insert_write(
    lowering: Lowering, node: Node, query: Query, scope: Scope, influences: Sequence[Influence] = ()
) -> Write:
    """The write of an INSERT whose query is already lowered."""
    schema, table = node.this, table_of(node)
    if not isinstance(table, exp.Table):  # INSERT OVERWRITE DIRECTORY '…'
        files = files_read(table)  # INSERT INTO FUNCTION file('…')
        path = table.this.name if isinstance(table.this, exp.Expr) else str(table.this)
        directory = files[0] if files else file_table(path)
        return Write("INSERT", directory, assignments_by_name(query), (query.relation,), tuple(influences))
    target = open_table(lowering, table, report=False)
    listed = list(schema.expressions) if isinstance(schema, exp.Schema) else list(node.args.get("columns") or ())
    if node.args.get("by_name"):
        pairs = [(None if each.is_wildcard else target.ask(each.name, each.key), each) for each in query.columns]
        assignments = tuple(assign(known.name if known is not None else each.name, each) for known, each in pairs)
    elif listed:
        assignments = _by_list(lowering, target, listed, query)
    else:
        partition = table.args.get("partition") or node.args.get("partition")
        parts = partition.expressions if isinstance(partition, exp.Partition) else ()
        fixed = [each.this.name for each in parts if isinstance(each, exp.EQ)]  # they take nothing from the query
        assignments = _by_position(lowering, target, query, fixed)
    conflict = node.args.get("conflict")
    if conflict is not None:
        around = Scope(outer=scope, items=query.scope.items if query.scope is not None else [])
        inside = _conflict_scope(lowering, node, table, target=target, assignments=assignments, scope=around)
        assignments += _on_conflict(lowering, conflict, inside)
        where = conflict.args.get("where")
        if where is not None and conflict.args.get("expressions"):  # it decides which of the rows there change
            span = lowering.claim(lowering.first_position(where.this))
            influences = [*influences, Influence(Kind.FILTER, lowering.expression(where.this, inside), span)]
    return Write(
        "INSERT",
        target.table.name,
        assignments,
        (query.relation,),
        tuple(influences),
        target_scan=target.scan if conflict is not None else None,
        target_span=target.scan.span,
    )


def _by_list(lowering: Lowering, target: StoredItem, listed: Sequence[Node], query: Query) -> tuple[Assignment, ...]:
    assignments = []
    for at, node in enumerate(listed):
        identifier = identifier_of(node)
        known = target.ask(identifier.name, lowering.key(identifier))
        name = known.name if known is not None else identifier.name
        if known is None:
            lowering.report(
                IssueCode.UNKNOWN_COLUMN,
                f"`{identifier.name}` is not a column of `{target.table.name}`",
                span=lowering.span(identifier),
            )
        # from a star whose columns are not known on, it is the star
        column = next((each for place, each in enumerate(query.columns) if place == at or each.is_wildcard), None)
        if column is not None:
            assignments.append(assign(name, column, lowering.span(identifier)))
    return tuple(assignments)


def _by_position(
    lowering: Lowering, target: StoredItem, query: Query, static: Sequence[str]
) -> tuple[Assignment, ...]:
    """Into the columns of the target in their order, when they are known; else into those of the same name."""
    fixed = {lowering.key_of(name) for name in static}
    names = [column.name for column in target.table.columns if lowering.key_of(column.name) not in fixed]
    if not target.table.complete or not names:
        return assignments_by_name(query)
    if any(column.is_wildcard for column in query.columns):
        return tuple(assign(column.name, column) for column in query.columns)
    return tuple(assign(name, column) for name, column in zip(names, query.columns))


def _inserted_value(node: Node) -> Node:
    """VALUES(x), MySQL's way to say excluded.x."""
    if isinstance(node, exp.Anonymous) and node.name.upper() == "VALUES" and node.expressions:
        return exp.Column(this=node.expressions[0], table=exp.to_identifier("excluded"))
    return node


def _conflict_scope(
    lowering: Lowering,
    node: Node,
    table: Node,
    *,
    target: StoredItem,
    assignments: tuple[Assignment, ...],
    scope: Scope,
) -> Scope:
    """Return what ON CONFLICT can name: the row that was to be inserted and, nearer, the row that is there."""
    offered = [
        ItemColumn(each.column, key, each.expression)
        for each in assignments
        if not each.path
        for key in dict.fromkeys((lowering.key_of(each.column), each.column))  # as it is without quotes, and in them
    ]
    values_alias = node.expression.args.get("alias") if isinstance(node.expression, exp.Values) else None
    names = ["excluded", *([lowering.key(values_alias.this)] if values_alias is not None else [])]
    outside = Scope(outer=scope)
    outside.items += [Named((name,), DerivedItem(offered), shown=name) for name in names]
    inside = Scope(outer=outside)
    alias = table.args.get("alias")
    called = (lowering.key(alias.this),) if alias is not None else lowering.table_keys(table)
    inside.items.append(Named(called, target, shown=str(target.table.name)))
    return inside


def _on_conflict(lowering: Lowering, node: Node, scope: Scope) -> tuple[Assignment, ...]:
    """ON CONFLICT DO UPDATE, ON DUPLICATE KEY UPDATE: `excluded.x` and `VALUES(x)` are what was to be inserted."""
    result = []
    for each in node.args.get("expressions") or ():
        if not isinstance(each, exp.EQ):
            continue
        value = each.expression.transform(_inserted_value, copy=False)
        identifier = each.this.this if isinstance(each.this, exp.Column) else each.this
        expression = lowering.expression(value, scope)
        result.append(Assignment(identifier.name, expression, target_span=lowering.span(identifier)))
    return tuple(result)


# -------------------------------------------------------------------------------------------------- several tables


@states(exp.MultitableInserts)
def lower_multi_insert(lowering: Lowering, node: Node) -> Lowered:
    scope = Scope()
    build_ctes(lowering, node.args.get("with_"), scope)
    source = node.args["source"]
    if isinstance(node.expressions[0], exp.ConditionalInsert):
        writes = _from_query(lowering, node, source, scope)
    else:
        writes = []
        for insert in node.expressions:  # each SELECT of Hive's form reads the FROM before it
            select = insert.expression.copy()
            select.set("from_", exp.From(this=source.copy()))
            writes.append(insert_write(lowering, insert, lowering.query(select, scope), scope))
    return Lowered("INSERT", tuple(writes))


def _from_query(lowering: Lowering, node: Node, source: Node, scope: Scope) -> list[Write]:
    query = lowering.query(source, scope)
    inside = Scope(outer=scope, items=[Named(("",), query.item, shown="the query")])
    writes = []
    conditions: list[Influence] = []
    for each in node.expressions:
        insert = each.this if isinstance(each, exp.ConditionalInsert) else each
        influences: list[Influence] = []
        condition = each.args.get("expression") if isinstance(each, exp.ConditionalInsert) else None
        if condition is not None:
            influences = [Influence(Kind.FILTER, lowering.expression(condition, inside))]
            conditions += influences
        elif each.args.get("else_"):
            influences = conditions  # what no condition before it has taken
        given = Query(query.relation, _values(lowering, insert, query, inside))
        writes.append(insert_write(lowering, insert, given, inside, influences))
    return writes


def _values(lowering: Lowering, insert: Node, query: Query, scope: Scope) -> list[ItemColumn]:
    """The values of INTO … VALUES (…), or the whole row."""
    values = insert.expression
    if values is None:
        return query.columns
    row = values.expressions[0]
    items = row.expressions if isinstance(row, exp.Tuple) else [row]
    return [
        ItemColumn(
            each.output_name or f"_col_{at}", lowering.key_of(each.output_name), lowering.expression(each, scope)
        )
        for at, each in enumerate(items)
    ]


# ------------------------------------------------------------------------------------------------ whole partitions


def move_rows(
    lowering: Lowering,
    pairs: Sequence[tuple[Node, Node]],
    statement_type: str = "ALTER_TABLE",
    *,
    by_name: bool = False,
) -> Lowered:
    """Each pair is a table that gets rows and the table that gives them: every column goes into its like.
    The engines want both tables to have the same columns in the same order; `by_name` is for one that does not."""
    writes = []
    for target, source in pairs:
        taken = _shared(lowering, target, source) if by_name else [exp.Star()]
        query = exp.Select(expressions=taken, from_=exp.From(this=source.copy()))
        lowered = lower_insert(lowering, exp.Insert(this=target.copy(), expression=query, by_name=by_name))
        writes += [dataclasses.replace(write, statement_type=statement_type) for write in lowered.writes]
    return Lowered(statement_type, tuple(writes))


def _shared(lowering: Lowering, target: Node, source: Node) -> list[Node]:
    """The columns that two tables both have; a star when those of one are not known."""
    to, given = (lowering.resolver.resolve(lowering.table_name(each)[0]) for each in (target, source))
    if not (to.complete and given.complete):
        return [exp.Star()]
    there = {lowering.key_of(column.name) for column in to.columns}
    shared = [column.name for column in given.columns if lowering.key_of(column.name) in there]
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in shared] or [exp.Star()]

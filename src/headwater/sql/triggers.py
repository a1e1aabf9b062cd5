"""The rows of a trigger's table as its body sees them: NEW and OLD, or T-SQL's `inserted` and `deleted`."""

from sqlglot import exp

from headwater.model.names import TableName
from headwater.model.relation import Assignment, Write
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.routines import Trigger


def table_of(trigger: Trigger, alias: str) -> Node:
    """The table of a trigger under the name that its body has for its rows."""
    parts = [exp.to_identifier(part) for part in trigger.table]
    names = dict(zip(("this", "db", "catalog"), reversed(parts)))
    return exp.Table(**names, alias=exp.TableAlias(this=exp.to_identifier(alias)))


def row_of(trigger: Trigger, alias: str) -> Node:
    """A row of the table of a trigger, as the value of a variable."""
    row = exp.Select(kind="STRUCT", expressions=[exp.Star()], from_=exp.From(this=table_of(trigger, alias)))
    return exp.Subquery(this=row)


def with_rows(tree: Node, trigger: Trigger) -> Node:
    """A statement of a trigger's body, with the table in the place of `inserted` and behind `NEW.*`."""
    for table in list(tree.find_all(exp.Table)):
        name = table.name.lower()
        if name in trigger.tables and table.args.get("db") is None:
            instead = table_of(trigger, table.alias or table.name)
            instead.set("joins", table.args.get("joins"))
            table.replace(instead)
    for select in list(tree.find_all(exp.Select)):
        whole = {
            each.table.lower()
            for each in select.expressions
            if isinstance(each, exp.Column) and isinstance(each.this, exp.Star) and each.table.lower() in trigger.rows
        }
        for name in sorted(whole - {each.alias_or_name.lower() for each in select.find_all(exp.Table)}):
            _add_table(select, table_of(trigger, name))
    return tree


def _add_table(select: Node, table: Node) -> None:
    if select.args.get("from_") is None:
        select.set("from_", exp.From(this=table))
    else:
        select.append("joins", exp.Join(this=table, kind="CROSS"))


def row_column(lowering: Lowering, node: Node) -> str | None:
    """The column of a trigger's row that an expression such as `NEW.x` or `:NEW.x` is; None for any other."""
    if lowering.trigger is None:
        return None
    if isinstance(node, exp.Dot):
        row, column = node.this.name, node.expression.name
    else:
        owner = node.args.get("db" if isinstance(node, exp.Table) else "table")
        row, column = owner.name if owner is not None else "", node.name
    return column if row.lstrip(":@").lower() in lowering.trigger.rows else None


def assign_row(lowering: Lowering, left: Node, right: Node) -> bool:
    """`NEW.x := value`: the column of the table is made of it. Returns whether the left side is such a column."""
    trigger, column = lowering.trigger, row_column(lowering, left)
    if trigger is None or column is None:
        return False
    target = lowering.resolver.resolve(TableName(trigger.table)).name
    value = lowering.expression(right, Scope())
    lowering.side_writes.append(Write("SET", target, (Assignment(column, value),), ()))
    return True

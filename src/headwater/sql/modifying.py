"""WITH queries that write: `WITH gone AS (DELETE … RETURNING …) INSERT … SELECT … FROM gone`.

Each is a statement of its own, and to the statement around it a query over the rows it returns.
"""

from sqlglot import exp

from headwater.model.relation import Write
from headwater.sql.lowering import Lowering, Node
from headwater.sql.writes import STATEMENTS

_WRITING = (exp.Insert, exp.Update, exp.Delete, exp.Merge)


def take_out_writes(lowering: Lowering, tree: Node) -> tuple[Write, ...]:
    """The writes among the WITH queries of a statement, which then only read what those return."""
    clause = tree.args.get("with_")
    if clause is None or not any(isinstance(each.this, _WRITING) for each in clause.expressions):
        return ()
    writes: list[Write] = []
    before: list[Node] = []
    for each in clause.expressions:
        if isinstance(each.this, _WRITING):
            inner = each.this
            returned = _returned_rows(inner)
            if before:
                inner.set("with_", exp.With(expressions=[cte.copy() for cte in before]))
            writes += STATEMENTS[type(inner)](lowering, inner).writes
            each.set("this", returned)
        before.append(each)
    return tuple(writes)


def _returned_rows(node: Node) -> Node:
    """What RETURNING gives, as a query over the table that was written."""
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    returning = node.args.get("returning")
    items = returning.expressions if returning is not None else [exp.Star()]
    select = exp.Select(
        expressions=[each.copy() for each in items], from_=exp.From(this=table.copy()), where=_copy(node, "where")
    )
    source = node.args.get("from_")
    joined = [source.this] if isinstance(source, exp.From) else node.args.get("using") or []
    if isinstance(joined, list) and joined:
        select.set("joins", [exp.Join(this=each.copy()) for each in joined])
    return select


def _copy(node: Node, part: str) -> Node | None:
    found = node.args.get(part)
    return found.copy() if isinstance(found, exp.Expr) else None

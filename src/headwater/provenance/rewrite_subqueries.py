"""Subqueries in expressions: the rows of them that made the expression what it is.

An EXISTS, IN or comparison that holds does so because of some rows of the subquery; one that does not, because there
are none. A subquery that gives a value is made of all rows of that value.
"""

from collections.abc import Iterator

from sqlglot import exp

from headwater.provenance.rewrite_sources import RewriteQuery
from headwater.provenance.rewriting import Env, Rewriting, local_nodes, refuse, short, sql_of
from headwater.query.parse import Node, quoted

_OPERATORS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}


def witnesses(run: Rewriting, clause: Node, env: Env, rewrite: RewriteQuery) -> Iterator[str]:
    """A list for each subquery of an expression: the rows behind it, or a mark that there are none."""
    for node in local_nodes(clause):
        if isinstance(node, exp.Query):
            yield _witness(run, node, env, rewrite)


def _witness(run: Rewriting, query: Node, env: Env, rewrite: RewriteQuery) -> str:
    body = query.unnest() if isinstance(query, exp.Subquery) else query
    column, alias = run.fresh(), run.fresh()
    inner = sql_of(rewrite(run, body.copy(), env, column))
    holder: Node = query.parent
    names, condition, note = "", "", f"no row of {short(body)}"
    if isinstance(holder, exp.In) and holder.args.get("query") is query:
        names, condition = _compared(run, holder.this, "=", alias)
        note = f"no row of {short(body)} that {short(holder.this)} is in"
    elif isinstance(holder, exp.Any | exp.All):
        comparison: Node = holder.parent
        operator = _OPERATORS.get(type(comparison))
        if operator is None or comparison.expression is not holder:
            raise refuse(f"`{short(comparison)}`")
        names, condition = _compared(run, comparison.this, operator, alias)
        if isinstance(holder, exp.All):
            condition = f"({condition}) IS NOT TRUE"
        note = f"no row of {short(body)} {'against' if isinstance(holder, exp.All) else 'for'} {short(comparison)}"
    where = f" WHERE {condition}" if condition else ""
    gathered = f"(SELECT flatten(list({quoted(column)})) FROM ({inner}) AS {quoted(alias)}{names}{where})"
    return f"coalesce(nullif({gathered}, CAST([] AS VARCHAR[])), {run.absent(note)})"


def _compared(run: Rewriting, left: Node, operator: str, alias: str) -> tuple[str, str]:
    """The names of a subquery's columns, and the comparison of them with the left side."""
    while isinstance(left, exp.Paren):
        left = left.this
    values = left.expressions if isinstance(left, exp.Tuple) else [left]
    names = [run.fresh() for _ in values]
    pairs = (f"({sql_of(value)}) {operator} {quoted(alias)}.{quoted(name)}" for value, name in zip(values, names))
    return f"({', '.join(map(quoted, names))})", " AND ".join(pairs)

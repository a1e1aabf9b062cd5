"""The provenance of a row that is made of many: of a group by its aggregates, of a window by its frame."""

from collections.abc import Iterator

from sqlglot import exp

from headwater.provenance.rewriting import Rewriting, function_name, local_nodes, refuse, sql_of, together
from headwater.query.parse import Node

_SKIPS_NULLS = {"sum", "avg", "mean", "count", "min", "max", "stddev", "variance", "stddev_pop", "var_pop", "product"}
_UP_TO_ROW = {"row_number": "ROWS", "rank": "RANGE", "dense_rank": "RANGE", "rank_dense": "RANGE"}
_OF_PARTITION = {"ntile", "percent_rank", "cume_dist", "fill"}
_OF_FRAME = {"first_value", "last_value", "nth_value", "first", "last"}
_STEP = {"lag": "BETWEEN {n} PRECEDING AND CURRENT ROW", "lead": "BETWEEN CURRENT ROW AND {n} FOLLOWING"}


def aggregates_in(run: Rewriting, clauses: list[Node]) -> Iterator[Node]:
    """The aggregates of some expressions; those over a window are none, what stands inside them may have some."""
    for clause in clauses:
        for node in local_nodes(clause):
            if run.is_aggregate(node) and not _is_windowed(node):
                yield node


def windows_in(clauses: list[Node]) -> Iterator[Node]:
    for clause in clauses:
        yield from (node for node in local_nodes(clause) if isinstance(node, exp.Window))


def _is_windowed(node: Node) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def grouped_list(run: Rewriting, clauses: list[Node], row: str, *, total: bool) -> str:
    """The rows behind one group: those that its aggregates read; all of them, if these read none or there are none.
    `total`: there is no GROUP BY, so that there is a row even of nothing."""
    parts: list[str] = []
    everything = f"coalesce(flatten(list({row})), CAST([] AS VARCHAR[]))"
    for each in aggregates_in(run, clauses):
        part = _aggregate_list(each, row)
        parts = [everything] if part is None else parts + [part] * (parts != [everything])
        if part is None:
            break
    found = everything
    if parts and parts != [everything]:
        found = f"coalesce(nullif({together(list(dict.fromkeys(parts)))}, CAST([] AS VARCHAR[])), {everything})"
    if total:
        found = f"coalesce(nullif({found}, CAST([] AS VARCHAR[])), {run.absent('no row to aggregate')})"
    return found


def _aggregate_list(node: Node, row: str) -> str | None:
    """The rows that one aggregate reads; None for all of the group."""
    parent = node.parent
    conditions = [sql_of(parent.expression.this)] if isinstance(parent, exp.Filter) else []
    name, value = function_name(node), node.this if isinstance(node.this, exp.Expression) else None
    if isinstance(value, exp.Distinct):
        value = value.expressions[0] if len(value.expressions) == 1 else None
    plain = value is not None and not isinstance(value, exp.Star | exp.Order) and value.find(exp.Query) is None
    if name in _SKIPS_NULLS and plain:
        conditions.append(f"({sql_of(value)}) IS NOT NULL")
    elif not conditions:
        return None
    where = f" FILTER (WHERE {' AND '.join(f'({each})' for each in conditions)})"
    if name in ("min", "max") and plain and not node.expressions and node.args.get("expression") is None:
        return f"arg_{name}({row}, {sql_of(value)}){where}"
    return f"flatten(list({row}){where})"


def window_list(select: Node, node: Node, row: str) -> str:
    """The rows that a window function reads for a row: its frame, or all that decide a number or a place."""
    function = node.this
    condition = f" FILTER ({sql_of(function.expression)})" if isinstance(function, exp.Filter) else ""
    ignores = any(isinstance(each, exp.IgnoreNulls) for each in local_nodes(function))
    while isinstance(function, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        function = function.this
    spec = _spec(select, node)
    partition = f"PARTITION BY {', '.join(map(sql_of, spec['partition_by']))} " if spec["partition_by"] else ""
    order = f"{sql_of(spec['order'])} " if spec["order"] is not None else ""
    name = function_name(function)
    ordered = name in (*_UP_TO_ROW, *_STEP) and function.find(exp.Order) is not None  # `rank(ORDER BY a)`
    if name in _OF_PARTITION or ordered:
        frame = ""
    elif name in _UP_TO_ROW:
        frame = f"{order}{_UP_TO_ROW[name]} BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" if order else ""
    elif name in _STEP:
        steps = function.args.get("offset")
        count = 1 if steps is None else int(steps.this) if isinstance(steps, exp.Literal) and steps.is_int else None
        frame = f"{order}ROWS {_STEP[name].format(n=count)}" if order and count is not None and not ignores else ""
    elif name in _OF_FRAME and ignores:
        frame = ""
    elif name in _OF_FRAME or isinstance(function, exp.AggFunc | exp.Anonymous):
        frame = order + (sql_of(spec["spec"]) if spec["spec"] is not None else "")
    else:
        frame = ""
    return f"flatten(list({row}){condition} OVER ({partition}{frame}))"


def _spec(select: Node, node: Node) -> dict[str, Node]:
    """The parts of a window, of a named one those that the WINDOW clause gives it."""
    parts = {part: node.args.get(part) for part in ("partition_by", "order", "spec")}
    name = node.args.get("alias")
    if name is None and not node.args.get("first"):
        return parts
    if any(parts.values()):
        raise refuse("a window that extends another")
    for each in select.args.get("windows") or ():
        if name is not None and each.name.casefold() == name.name.casefold():
            if each.args.get("alias") is not None:
                raise refuse("a window that extends another")
            return {part: each.args.get(part) for part in ("partition_by", "order", "spec")}
    return parts

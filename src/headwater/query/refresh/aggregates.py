"""Groups kept up to date by what changed: counts and sums are added and taken away, the lowest and highest values are
found again where a row with such a value is gone.

The rows of a block with GROUP BY become the *state*: one row for each group, with the number of its rows, and counts,
sums and extremes of the arguments of its aggregates. The query reads the state in the place of the block. Sums are of
whole numbers and decimals alone, which add up to the same in any order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.lazy import arrow_compute as pc
from headwater.query.edits import Edited
from headwater.query.parse import DIALECT, Node
from headwater.query.refresh.averages import averages, is_narrow
from headwater.query.refresh.blocks import QueryTree, RefusedWay, inner_queries, local_nodes
from headwater.query.refresh.evaluate import RefreshEvaluation, from_text, plan_steps, signed_rows

STATE = "#state"
KEY = "key"
ROWS = "rows"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "BOOLEAN"}
_KEYS = _WHOLE | {"VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID", "HUGEINT"}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


@dataclass(frozen=True)
class AggregateArgument:
    """An argument of aggregates: its expression, and the numbers that are kept of it."""

    name: str
    text: str
    scale: int | None = None  # of its sum; None: it is not summed
    extremes: tuple[str, ...] = ()
    averaged: str | None = None  # its type, where its average is read

    @property
    def sum_type(self) -> str:
        return f"DECIMAL(38,{self.scale})"


@dataclass
class GroupedBlock:
    """A block with GROUP BY, or with aggregates over all of its rows."""

    select: Node
    keys: list[str]  # expressions
    arguments: dict[str, AggregateArgument] = field(default_factory=dict)  # by their text
    total: bool = False  # one row, whatever there is

    @property
    def items(self) -> list[str]:
        """The keys and arguments as items of a SELECT."""
        named = [f"{key} AS g{at}" for at, key in enumerate(self.keys)]
        named += [f"{each.text} AS {each.name}" for each in self.arguments.values()]
        return named or ["1 AS nothing"]

    def key_text(self) -> str:
        """The keys of a group as one text, different for different groups."""
        parts = ", ".join(f"CAST(g{at} AS VARCHAR)" for at in range(len(self.keys)))
        return f"CAST(json_array({parts}) AS VARCHAR)"

    def numbers(self, sign: int = 1) -> list[str]:
        """The numbers that are kept of a group, computed from rows of `items` that are added or taken away.
        Extremes of rows that are taken away have names of their own."""
        found = [f"{sign} * count(*) AS {ROWS}"]
        lost = "lost_" if sign < 0 else ""
        for each in self.arguments.values():
            found.append(f"{sign} * count({each.name}) AS n_{each.name}")
            if each.scale is not None:
                found.append(f"CAST({sign} * sum({each.name}) AS {each.sum_type}) AS s_{each.name}")
            found += [f"{kind}({each.name}) AS {lost}{kind}_{each.name}" for kind in each.extremes]
        return found

    def state_text(self, source: str, sign: int = 1) -> str:
        """The query of the state of rows of `items`."""
        keys = [f"g{at}" for at in range(len(self.keys))]
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        return f"SELECT {', '.join([f'{self.key_text()} AS {KEY}', *keys, *self.numbers(sign)])} FROM {source}{group}"

    def extremes(self) -> list[tuple[str, str]]:
        """The kind and the argument of each extreme that is kept."""
        return [(kind, each.name) for each in self.arguments.values() for kind in each.extremes]


def find_groups(tree: QueryTree) -> Node:
    """The block with groups whose state is kept: the outermost in which a change of any of its tables can be
    followed. RAISES: RefusedWay when there is none."""
    blocks = [tree.root, *tree.ctes.values(), *(each.this for each in tree.root.find_all(exp.Subquery))]
    refused = RefusedWay("it has no groups")
    for block in blocks:
        if isinstance(block, exp.Select) and _is_grouped(block) and _stands_alone(block):
            try:
                for name in tree.tables_in(block):
                    plan_steps(tree, block, frozenset([name]))
                return block
            except RefusedWay as err:
                refused = err
    raise refused


def _stands_alone(block: Node) -> bool:
    """Return whether a block is a source of its own, not a query that refers to columns of others."""
    known = {each.alias_or_name for each in block.find_all(exp.Table, exp.Subquery, exp.Unnest)}
    return all(not column.table or column.table in known for column in block.find_all(exp.Column))


def _is_grouped(select: Node) -> bool:
    return select.args.get("group") is not None or any(True for _ in _aggregates(select))


def _aggregates(select: Node) -> list[Node]:
    """The aggregates of a block, with the FILTER of each; not those over windows."""
    found = []
    for node in local_nodes(select):
        if isinstance(node, exp.AggFunc):
            holder = node.parent if isinstance(node.parent, exp.Filter) else node
            if not isinstance(holder.parent, exp.Window) and node.find_ancestor(exp.AggFunc) is None:
                found.append(holder)
    return found


def read_groups(of: RefreshEvaluation, select: Node) -> GroupedBlock:
    """The keys and arguments of a block with groups. RAISES: RefusedWay for other aggregates."""
    group = select.args.get("group")
    if group is not None and any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "totals")):
        raise RefusedWay("GROUPING SETS")
    keys = list(group.expressions) if group is not None else []
    if group is not None and group.args.get("all"):
        keys = [each.unalias() for each in select.expressions if each.find(exp.AggFunc) is None]
    block = GroupedBlock(select, [_sql(each) for each in keys], total=group is None)
    wanted: dict[str, set[str]] = {}
    for node in _aggregates(select):
        text, kind = _read_aggregate(node)
        if text is not None:
            wanted.setdefault(text, set()).add(kind)
    if any(of.changed & of.tree.tables_in(query) for key in keys for query in key.find_all(exp.Query)):
        raise RefusedWay("a query in GROUP BY")
    names = {text: f"a{at}" for at, text in enumerate(wanted)}
    types = _types(of, select, [*block.keys, *names])
    for key, type in zip(block.keys, types):
        if type not in _KEYS and not _DECIMAL.fullmatch(type):
            raise RefusedWay(f"groups by `{key}`, which is {type}")
    for (text, kinds), type in zip(wanted.items(), types[len(keys) :]):
        extremes = tuple(sorted(kinds & {"min", "max"}))
        if extremes and type in ("FLOAT", "DOUBLE"):
            raise RefusedWay(f"{extremes[0]}() of {type}")
        scale = _scale(type, text) if kinds & {"sum", "avg"} else None
        averaged = type if "avg" in kinds else None
        block.arguments[text] = AggregateArgument(names[text], text, scale, extremes, averaged)
    return block


def _types(of: RefreshEvaluation, select: Node, items: Sequence[str]) -> list[str]:
    """The types of expressions over the rows of a block."""
    if not items:
        return []
    clause = of.tree.root.args.get("with_")
    ctes = f"{_sql(clause)} " if clause is not None else ""
    named = ", ".join(f"{item} AS c{at}" for at, item in enumerate(items))
    tables = {name: of.lake_table(name) for name in of.after}
    found = of.run.engine.columns(
        Edited(f"{ctes}SELECT {named} {from_text(select)}", 0, ()), tables, of.run.statement
    )
    return [type for _, type in found]


def _scale(type: str, text: str) -> int:
    """The decimal places of a sum. RAISES: RefusedWay for sums that depend on the order of rows."""
    if type in _WHOLE:
        return 0
    match = _DECIMAL.fullmatch(type)
    if match is None:
        raise RefusedWay(f"a sum of `{text}`, which is {type}: it depends on the order of rows")
    return int(match[2])


def _read_aggregate(node: Node) -> tuple[str | None, str]:
    """The argument of an aggregate, NULL where its FILTER does not hold, and its kind; None for COUNT(*)."""
    call = node.this if isinstance(node, exp.Filter) else node
    condition = _sql(node.expression.this) if isinstance(node, exp.Filter) else None
    kind = _kind(call)
    value = call.this
    if call.args.get("expressions") or isinstance(value, exp.Distinct | exp.Order):
        raise RefusedWay(f"`{_sql(call)}`")
    if value is None or isinstance(value, exp.Star):
        if condition is None:
            return None, "count"
        return f"CASE WHEN {condition} THEN 1 END", "count"
    text = _sql(value)
    return (text if condition is None else f"CASE WHEN {condition} THEN {text} END"), kind


def _kind(call: Node) -> str:
    kinds = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
    if type(call) not in kinds:
        raise RefusedWay(f"`{_sql(call)}`")
    return kinds[type(call)]


def over_state(tree: QueryTree, block: GroupedBlock) -> tuple[Node, bool]:
    """The query with the state in the place of a block, and whether each of its rows comes from one row of the state.
    RAISES: RefusedWay when the block uses something that the state does not have."""
    root = tree.root.copy()
    is_root = block.select is tree.root
    select = root if is_root else _same_place(tree.root, root, block.select)
    for part in ("from_", "joins", "where", "group"):
        select.set(part, None)
    select.set("from_", exp.From(this=exp.to_table("state_")))
    select.args["from_"].set("this", exp.Table(this=exp.to_identifier(STATE, quoted=True)))
    for node in _aggregates(select):
        node.replace(exp.paren(exp.maybe_parse(_from_state(block, node), dialect=DIALECT)))
    keys = {text: f"g{at}" for at, text in enumerate(block.keys)}
    for item in list(select.expressions):
        name = item.alias_or_name
        _replace_keys(item, keys)
        if isinstance(item, exp.Column) and name:
            item.replace(exp.alias_(item.copy(), name, quoted=True))
    for part in ("having", "qualify", "order", "distinct"):
        if select.args.get(part) is not None:
            _replace_keys(select.args[part], keys)
    if select.args.get("having") is not None and (block.keys or block.total):
        having = select.args["having"].this
        select.set("having", None)
        select.set("where", exp.Where(this=having.copy()))
    names = {f"g{at}" for at in range(len(keys))}
    for column in (node for node in local_nodes(select) if isinstance(node, exp.Column)):
        if column.table and column.name not in names:
            raise RefusedWay(f"`{_sql(column)}` is neither a key nor in an aggregate")
    plain = is_root and not any(select.args.get(part) for part in ("limit", "offset", "distinct", "qualify"))
    has_windows = any(isinstance(node, exp.Window) for node in local_nodes(select))
    return root, plain and not has_windows and not inner_queries(select)


def _same_place(root: Node, copy: Node, wanted: Node) -> Node:
    for original, copied in zip(root.walk(), copy.walk()):
        if original is wanted:
            return copied
    raise AssertionError


def _replace_keys(node: Node, keys: dict[str, str]) -> None:
    """Replace the expressions of keys by the columns of the state that hold them, the largest first."""
    stack = [node]
    while stack:
        one = stack.pop()
        if not isinstance(one, exp.Expression) or isinstance(one, exp.Query):
            continue
        name = keys.get(_sql(one)) if not isinstance(one, exp.Alias | exp.Ordered | exp.Identifier) else None
        if name is not None:
            one.replace(exp.column(name))
            continue
        for value in one.args.values():
            stack.extend(value if isinstance(value, list) else [value])


def _from_state(block: GroupedBlock, node: Node) -> str:
    """The value of an aggregate, from the numbers of the state."""
    text, kind = _read_aggregate(node)
    if text is None:
        return ROWS
    argument = block.arguments[text]
    name, scale = argument.name, argument.scale
    if kind == "count":
        return f"n_{name}"
    if kind in ("min", "max"):
        return f"{kind}_{name}"
    if kind == "avg":
        return f"avg_{name}"
    whole = f"CAST(s_{name} AS HUGEINT)" if scale == 0 else f"s_{name}"
    return f"CASE WHEN n_{name} > 0 THEN {whole} END"


def with_averages(block: GroupedBlock, state: pa.Table) -> pa.Table:
    """A state with the averages that the query reads of it."""
    for each in block.arguments.values():
        if each.averaged is not None:
            sums, counts = state.column(f"s_{each.name}"), state.column(f"n_{each.name}")
            found = averages(sums, counts, narrow=is_narrow(each.averaged))
            state = state.append_column(f"avg_{each.name}", found)
    return state


def whole_state(of: RefreshEvaluation, block: GroupedBlock) -> pa.Table:
    """The state of all rows of a block."""
    rows = of.block_rows(block.select, block.items, {}, {})
    return of.run.generated(block.state_text("rows"), {"rows": rows})


def changed_state(of: RefreshEvaluation, block: GroupedBlock, state: Any) -> tuple[pa.Table, pa.Table]:
    """The groups that what changed touches: as they were in the state, and as they are now, empty ones too.
    RAISES: RefusedWay when what changed cannot be followed."""
    parts = signed_rows(of, block.select, block.items)
    named: dict[str, Any] = {f"p{at}": rows for at, (_, rows) in enumerate(parts)}
    texts = [block.state_text(f"p{at}", sign) for at, (sign, _) in enumerate(parts)] or ["SELECT 1 WHERE false"]
    sums = [f"sum({name}) AS {name}" for name in _added(block)]
    signs = {sign for sign, _ in parts}
    for kind, name in block.extremes():
        sums += [f"{kind}({lost}{kind}_{name}) AS {lost}{kind}_{name}" for lost in _sides(signs)]
    firsts = [f"any_value(g{at}) AS g{at}" for at in range(len(block.keys))]
    union = " UNION ALL BY NAME ".join(texts)
    delta = of.run.generated(f"SELECT {KEY}, {', '.join([*firsts, *sums])} FROM ({union}) GROUP BY {KEY}", named)
    tables = {"state": state, "delta": delta}
    before = of.run.generated(f"SELECT state.* FROM state SEMI JOIN delta USING ({KEY})", tables)
    after = of.run.generated(_combined(block, signs), tables | {"state": before})
    again = after.filter(after.column("again")).select([KEY])
    after = after.filter(pc.invert(after.column("again"))).drop_columns(["again"])
    if again.num_rows:
        text = f"SELECT * FROM rows WHERE {block.key_text()} IN (SELECT {KEY} FROM again)"
        rows = of.block_rows(block.select, block.items, {}, {})
        found = of.run.generated(block.state_text(f"({text})"), {"rows": rows, "again": again})
        after = pa.concat_tables([after, found.select(after.column_names).cast(after.schema)])
    return before, after


def _sides(signs: set[int]) -> list[str]:
    return [lost for sign, lost in ((1, ""), (-1, "lost_")) if sign in signs]


def _combined(block: GroupedBlock, signs: set[int]) -> str:
    """The query of groups as they are now, from those before and what is added; `again` where an extreme is gone."""
    items = [f"delta.{KEY} AS {KEY}"]
    items += [
        f"CASE WHEN state.{KEY} IS NULL THEN delta.g{at} ELSE state.g{at} END AS g{at}"
        for at in range(len(block.keys))
    ]
    again = ["false"]
    items.append(f"CAST(coalesce(state.{ROWS}, 0) + delta.{ROWS} AS BIGINT) AS {ROWS}")
    for each in block.arguments.values():
        name = each.name
        items.append(f"CAST(coalesce(state.n_{name}, 0) + delta.n_{name} AS BIGINT) AS n_{name}")
        if each.scale is not None:
            added = f"coalesce(state.s_{name}, 0) + coalesce(delta.s_{name}, 0)"
            items.append(f"CAST({added} AS {each.sum_type}) AS s_{name}")
        for kind in each.extremes:
            column, one = f"{kind}_{name}", "least" if kind == "min" else "greatest"
            came = f"delta.{column}" if 1 in signs else "NULL"
            items.append(f"{one}(state.{column}, {came}) AS {column}")
            if -1 in signs:
                sign = "<=" if kind == "min" else ">="
                again.append(f"coalesce(delta.lost_{column} {sign} state.{column}, false)")
    items.append(f"({' OR '.join(again)}) AS again")
    return f"SELECT {', '.join(items)} FROM delta LEFT JOIN state ON state.{KEY} = delta.{KEY}"


def _added(block: GroupedBlock) -> list[str]:
    names = [ROWS]
    for each in block.arguments.values():
        names.append(f"n_{each.name}")
        if each.scale is not None:
            names.append(f"s_{each.name}")
    return names


def _sql(node: Node) -> str:
    return str(node.sql(dialect=DIALECT))

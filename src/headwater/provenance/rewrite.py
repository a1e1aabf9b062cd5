"""A query rewritten so that each row of its result carries the rows that it is made of.

The result keeps its columns, in their order, and gets one more. What cannot be followed is refused by its name.
"""

from sqlglot import exp

from headwater.provenance.rewrite_columns import asked_below
from headwater.provenance.rewrite_groups import aggregates_in, grouped_list, window_list, windows_in
from headwater.provenance.rewrite_sets import check_limit, rewrite_set
from headwater.provenance.rewrite_sources import Sources, rewrite_from
from headwater.provenance.rewrite_subqueries import witnesses
from headwater.provenance.rewriting import NOTHING, Env, Rewriting, parsed, refuse, sql_of, together
from headwater.query.parse import Node, quoted

_SELECT_PARTS = {
    *("expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "distinct", "order"),
    *("limit", "offset", "with_"),
}


def rewrite_query(run: Rewriting, node: Node, env: Env, column: str) -> Node:
    """The query with one more column, called `column`. RAISES: CannotTellError for what is not followed."""
    if isinstance(node, exp.Subquery):
        if any(value for part, value in node.args.items() if part not in ("this", "alias")):
            raise refuse("a query in parentheses with clauses after it")
        return rewrite_query(run, node.this, env, column)
    clause = node.args.get("with_")
    if clause is not None:
        asked, run.columns = run.columns, None
        env = _rewrite_ctes(run, clause, env)
        node.set("with_", None)
        run.columns = asked
    if isinstance(node, exp.Select):
        made = rewrite_select(run, node, env, column)
    elif isinstance(node, exp.SetOperation):
        made = rewrite_set(run, node, env, column, rewrite_query)
    elif isinstance(node, exp.Values):
        made = parsed(f"SELECT *, {NOTHING} AS {quoted(column)} FROM {sql_of(node)}")
    else:
        raise refuse(node.key.upper())
    if clause is not None:
        made.set("with_", clause)
    return made


def _rewrite_ctes(run: Rewriting, clause: Node, env: Env) -> Env:
    """Rewrite common table expressions in place, and return those that are in sight after them."""
    seen = dict(env)
    for cte in clause.expressions:
        name = cte.alias.casefold()
        inside = {**seen, name: None} if clause.args.get("recursive") else seen  # None: a reference is refused
        column = run.fresh()
        run.originals[name] = sql_of(cte)
        names, body = cte.args["alias"].args.get("columns"), cte.this
        cte.set("this", rewrite_query(run, body, inside, column))
        if names:
            names.append(exp.to_identifier(column, quoted=True))
        seen[name] = column
    return seen


def rewrite_select(run: Rewriting, select: Node, env: Env, column: str) -> Node:
    """A SELECT with its provenance as the last column."""
    for part, value in select.args.items():
        if value and part not in _SELECT_PARTS:
            raise refuse(part.upper())
    check_limit(select)
    asked, run.columns = run.columns, None  # of the outermost query only
    items = [item for item in select.expressions if asked is None or item.alias_or_name.casefold() in asked]
    items = items or list(select.expressions)
    row_clauses, late_clauses = _clauses(run, select, items)
    lists = [each for clause in row_clauses for each in witnesses(run, clause, env, rewrite_query)]
    late = [each for clause in late_clauses for each in witnesses(run, clause, env, rewrite_query)]
    run.columns = None if asked is None else asked_below(run, select, items)
    sources = rewrite_from(run, select, env, rewrite_query)
    run.columns = None
    _exclude(run, select, sources)
    deciding = [*items, *(select.args[part] for part in ("having", "qualify") if select.args.get(part) is not None)]
    found = together([*sources.lists, *lists])
    grouped = select.args.get("group") is not None or _has_aggregates(run, select)
    if grouped:
        found = grouped_list(run, deciding, found, total=select.args.get("group") is None)
    if late:
        found = together([found, *late])
    windows = [window_list(select, each, found) for each in windows_in(deciding)]
    found = together([found, *dict.fromkeys(windows)])
    if select.args.get("offset") is not None:
        found = _with_earlier(select, found, bool(windows))
    select.append("expressions", exp.alias_(parsed(f"SELECT {found}").expressions[0], column, quoted=True))
    distinct = select.args.get("distinct")
    return _distinct(run, select, column) if distinct is not None and not distinct.args.get("on") else select


def _has_aggregates(run: Rewriting, select: Node) -> bool:
    clauses = [*select.expressions, *(select.args[part] for part in ("having",) if select.args.get(part))]
    return any(True for _ in aggregates_in(run, clauses))


def _clauses(run: Rewriting, select: Node, items: list[Node]) -> tuple[list[Node], list[Node]]:
    """The clauses that are evaluated for each row of FROM, and those after the groups are made."""
    before = [select.args[part] for part in ("where", "group") if select.args.get(part) is not None]
    after = [*items, *(select.args[part] for part in ("having", "qualify") if select.args.get(part) is not None)]
    if select.args.get("group") is None and not _has_aggregates(run, select):
        return before + after, []
    for each in aggregates_in(run, after):
        if (each.parent if isinstance(each.parent, exp.Filter) else each).find(exp.Query) is not None:
            raise refuse("a subquery in an aggregate")
    return before, after


def _exclude(run: Rewriting, select: Node, sources: Sources) -> None:
    """Keep the provenance of sources out of `*`. RAISES: CannotTellError for a whole row as a value."""
    for item in select.expressions:
        for node in item.find_all(exp.Star, exp.Columns, exp.Column):
            if isinstance(node, exp.Columns) and isinstance(node.this, exp.Literal):
                chosen = f"lambda c: regexp_matches(c, {sql_of(node.this)}) AND NOT starts_with(c, '{run.prefix}')"
                node.set("this", parsed(f"SELECT f({chosen})").expressions[0].expressions[0])
            elif isinstance(node, exp.Columns) and not isinstance(node.this, exp.Star):
                raise refuse("COLUMNS of a condition")
            elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                holder: Node = node.parent
                of_table = isinstance(holder, exp.Column)
                names = sources.by_alias.get(holder.table.casefold(), []) if of_table else sources.columns
                hidden = [exp.column(exp.to_identifier(name, quoted=True)) for name in names]
                node.set("except_", [*(node.args.get("except_") or []), *hidden])
            elif isinstance(node, exp.Column) and not node.table and node.name.casefold() in sources.by_alias:
                raise refuse(f"the whole row `{node.name}` as a value")


def _order_keys(select: Node) -> list[str]:
    """The keys of ORDER BY as expressions over FROM: positions and names of columns are written out."""
    keys: list[str] = []
    by_name = {item.alias.casefold(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for each in select.args["order"].expressions if select.args.get("order") is not None else ():
        key = each.copy()
        value = key.this
        if isinstance(value, exp.Literal) and value.is_int:
            key.set("this", select.expressions[int(value.this) - 1].unalias().copy())
        elif isinstance(value, exp.Column) and not value.table and value.name.casefold() in by_name:
            key.set("this", by_name[value.name.casefold()].copy())
        elif isinstance(value, exp.Var):  # ALL
            if any(item.find(exp.Star) is not None for item in select.expressions):
                raise refuse("ORDER BY ALL of * with OFFSET")
            way = sql_of(key).removeprefix(sql_of(value))
            keys += [sql_of(item.unalias()) + way for item in select.expressions]
            continue
        keys.append(sql_of(key))
    return keys


def _with_earlier(select: Node, found: str, has_windows: bool) -> str:
    """The provenance of a row after an OFFSET: the rows before it are needed too, for it to come after them."""
    keys = _order_keys(select)
    if not keys or has_windows or select.args.get("distinct") is not None:
        raise refuse("OFFSET without ORDER BY, or with DISTINCT or windows")
    return f"flatten(list({found}) OVER (ORDER BY {', '.join(keys)} ROWS UNBOUNDED PRECEDING))"


def _distinct(run: Rewriting, select: Node, column: str) -> Node:
    """SELECT DISTINCT: one row of many equal ones, made of any of them."""
    limit, order = select.args.get("limit"), select.args.get("order")
    keys: list[str] = []
    if limit is not None and order is not None:
        shown = [sql_of(item.unalias()) for item in select.expressions]
        for each in order.expressions:
            text = sql_of(each.this)
            if text in shown:
                each.set("this", exp.Literal.number(shown.index(text) + 1))
            keys.append(sql_of(each))
    for part in ("distinct", "limit", "order"):
        select.set(part, None)
    name = quoted(column)
    text = f"SELECT * EXCLUDE ({name}), flatten(list({name})) AS {name} FROM ({sql_of(select)}) GROUP BY ALL"
    text += f" ORDER BY {', '.join(keys)}" if keys else ""
    return parsed(text + (f" {sql_of(limit)}" if limit is not None else ""))

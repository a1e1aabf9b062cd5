"""Row identity: the query with one more column, which says of which input rows each row is made."""

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

ID = "__made_of"
_NOT_SUPPORTED = ("distinct", "qualify", "pivots", "sample", "laterals", "match", "connect")

_MAKING_ROWS = (exp.Unnest, exp.Explode)
"""Functions of a select list that make several rows of one."""

_BY_PEERS = (exp.Sum, exp.Count, exp.Max, exp.Min, exp.Avg)
"""Window functions that give rows with equal keys equal values."""


@dataclass(frozen=True, slots=True)
class Identified:
    """A query whose last column is the identity of a row; `whole` if rows depend on those beside them (windows)."""

    sql: str
    whole: bool


class NoIdentity(Exception):
    """The rows of the query cannot be told apart by the rows they are made of."""


def identify(sql: str) -> Identified | None:
    """The query with the identity of its rows as the last column, or None where that cannot be said."""
    try:
        query = sqlglot.parse_one(sql, dialect="duckdb")
        if not isinstance(query, exp.Select | exp.Union):
            return None
        whole = _windows(query)
        _extend(query, {}, set())
        return Identified(query.sql(dialect="duckdb"), whole)
    except (NoIdentity, sqlglot.errors.SqlglotError):
        return None


def _windows(query: exp.Expression) -> bool:
    """Return whether the query has window functions; they must look at the rows of the result and at no others."""
    everywhere = list(query.find_all(exp.Window))
    if not everywhere:
        return False
    if any(not isinstance(window.this, _BY_PEERS) or window.args.get("spec") for window in everywhere):
        raise NoIdentity  # among rows with equal keys, chance decides which one gets which value
    own = [
        window
        for item in query.args.get("expressions") or ()
        for window in item.find_all(exp.Window)
        if window.find_ancestor(exp.Select) is query
    ]
    if len(own) < len(everywhere) or query.args.get("limit") or query.args.get("offset"):
        raise NoIdentity
    return True


def _extend(query: exp.Expression, tables: dict[str, exp.CTE], done: set[int]) -> None:
    """Add the identity to a query, to its branches and to the subqueries and CTEs that it reads."""
    if with_ := query.args.get("with_") or query.args.get("with"):
        if with_.args.get("recursive"):
            raise NoIdentity
        tables = tables | {cte.alias.lower(): cte for cte in with_.expressions}
    if isinstance(query, exp.Subquery):
        _extend(query.this, tables, done)
    elif isinstance(query, exp.Union) and not query.args.get("distinct") and not query.args.get("by_name"):
        for at, branch in enumerate((query.this, query.expression)):
            _extend(branch, tables, done)
            _tag_branch(branch, at)
    elif isinstance(query, exp.Select):
        _extend_select(query, tables, done)
    else:
        raise NoIdentity


def _tag_branch(branch: exp.Expression, at: int) -> None:
    """Tell the rows of two branches apart."""
    select = branch
    while isinstance(select, exp.Subquery):
        select = select.this
    if isinstance(select, exp.Union):
        for inner in (select.this, select.expression):
            _tag_branch(inner, at)
        return
    item = select.args["expressions"][-1]
    item.set("this", sqlglot.parse_one(f"'{at}' || ({item.this.sql(dialect='duckdb')})", dialect="duckdb"))


def _extend_select(select: exp.Select, tables: dict[str, exp.CTE], done: set[int]) -> None:
    if any(select.args.get(clause) for clause in _NOT_SUPPORTED):
        raise NoIdentity
    group = select.args.get("group")
    if group and group.find(exp.GroupingSets, exp.Cube, exp.Rollup) is not None:  # a sum may be made as a group is
        raise NoIdentity
    if any(item.find(*_MAKING_ROWS) is not None for item in select.expressions):  # which of its elements a row has
        raise NoIdentity
    from_ = select.args.get("from_") or select.args.get("from")
    joins = select.args.get("joins") or ()
    parts: list[str] = []
    if from_:
        parts += _source(from_.this, tables, done)
    for join in joins:
        found = _source(join.this, tables, done)
        if join.args.get("method") == "NATURAL" and any(ID in part for part in (*parts, *found)):
            raise NoIdentity
        if join.kind not in ("SEMI", "ANTI"):
            parts += found
    starred = any(item.is_star for item in select.expressions)
    if starred and any(ID in part for part in parts):
        raise NoIdentity
    made_of = f"[{', '.join(f'{part}::VARCHAR' for part in parts)}]" if parts else "['']"
    if group or _aggregates(select):
        made_of = f"list_sort(list({made_of}))"
    select.args["expressions"].append(sqlglot.parse_one(f"({made_of})::VARCHAR AS {ID}", dialect="duckdb"))


def _aggregates(select: exp.Select) -> bool:
    found = [aggregate for item in select.expressions for aggregate in item.find_all(exp.AggFunc)]
    own = [aggregate for aggregate in found if aggregate.find_ancestor(exp.Select) is select]
    return bool(select.args.get("having")) or any(not isinstance(aggregate.parent, exp.Window) for aggregate in own)


def _source(source: exp.Expression, tables: dict[str, exp.CTE], done: set[int]) -> list[str]:
    """The parts of the identity that an item of FROM brings."""
    if source.args.get("pivots") or source.args.get("joins") or source.args.get("sample"):
        raise NoIdentity
    name = source.alias_or_name
    if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
        cte = tables.get(source.name.lower())
        if cte is None or source.args.get("db"):
            return [f'"{name}".rowid']
        if id(cte) not in done:
            done.add(id(cte))
            visible = dict(tables)
            visible.pop(cte.alias.lower())
            _extend(cte.this, visible, done)
            _more_names(cte)
    elif isinstance(source, exp.Subquery | exp.Lateral) and name:
        inner = source.this
        _extend(inner, tables, done)
    else:
        raise NoIdentity
    _more_names(source)
    return [f'"{name}".{ID}']


def _more_names(source: exp.Expression) -> None:
    """Lengthen a list of column names behind an alias, which must name all columns."""
    alias = source.args.get("alias")
    if alias is None or not alias.args.get("columns"):
        return
    first = source.this if isinstance(source, exp.CTE | exp.Subquery | exp.Lateral) else None
    while isinstance(first, exp.Subquery | exp.Union):
        first = first.this
    names = first.args["expressions"] if isinstance(first, exp.Select) else ()
    if len(names) != len(alias.args["columns"]) + 1 or any(item.is_star for item in names):
        raise NoIdentity
    alias.args["columns"].append(exp.to_identifier(ID))

"""UNION, INTERSECT and EXCEPT, rewritten: a row of both sides is made of rows of both, one of EXCEPT of the left."""

from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.provenance.rewrite_columns import names_of
from headwater.provenance.rewrite_sources import RewriteQuery
from headwater.provenance.rewriting import Env, Rewriting, parsed, refuse, short, sql_of
from headwater.query.parse import Node, quoted


def rewrite_set(run: Rewriting, node: Node, env: Env, column: str, rewrite: RewriteQuery) -> Node:
    """A set operation with its provenance as the last column."""
    if node.args.get("offset") is not None:
        raise refuse("OFFSET after a set operation")
    check_limit(node)
    if isinstance(node, exp.Union):
        made = _union(run, node, env, column, rewrite)
    else:
        made = _matched(run, node, env, column, rewrite)
    for part in ("order", "limit"):
        if node.args.get(part) is not None:
            made.set(part, node.args[part].copy())
    return made


def check_limit(query: Node) -> None:
    """RAISES: CannotTellError for a LIMIT that other rows than those of the result decide."""
    limit = query.args.get("limit")
    if limit is None:
        return
    if limit.find(exp.LimitOptions) is not None:
        raise refuse("LIMIT of a share of the rows")
    parts = (query.args.get(part) for part in ("limit", "offset", "order"))
    if any(part is not None and part.find(exp.Query) is not None for part in parts):
        raise refuse("a subquery in LIMIT, or in the ORDER BY before it")


def _union(run: Rewriting, node: Node, env: Env, column: str, rewrite: RewriteQuery) -> Node:
    asked = run.columns
    names, others = names_of(node.this), names_of(node.expression)
    left = sql_of(rewrite(run, node.this, env, column))
    run.columns = asked
    if asked is not None and not node.args.get("by_name"):  # the columns of the right are those at the same places
        places = None if names is None or others is None else zip(names, others)
        run.columns = None if places is None else frozenset(other for name, other in places if name in asked) or None
    right = sql_of(rewrite(run, node.expression, env, column))
    by_name = " BY NAME" if node.args.get("by_name") else ""
    both, name = f"({left}) UNION ALL{by_name} ({right})", quoted(column)
    if not node.args.get("distinct"):
        return parsed(f"SELECT * EXCLUDE ({name}), {name} FROM ({both})")
    gathered = f"SELECT * EXCLUDE ({name}), flatten(list({name})) AS {name} FROM ({both}) GROUP BY ALL"
    return parsed(gathered)


def _matched(run: Rewriting, node: Node, env: Env, column: str, rewrite: RewriteQuery) -> Node:
    """INTERSECT and EXCEPT: rows of the left that are, or are not, on the right. With ALL, equal rows are numbered,
    and the third of the left is matched with the third of the right."""
    run.columns = None
    names = _names(run, node, env)
    is_except, every = isinstance(node, exp.Except), not node.args.get("distinct")
    note = run.absent(f"no such row in {short(node.expression)}") if is_except else ""
    sides = []
    left, right, number = (quoted(run.fresh()) for _ in range(3))
    for side, gathered in ((node.this, left), (node.expression, right)):
        query = sql_of(rewrite(run, side, env, run.fresh()))
        sides.append(_gathered(query, names, gathered, number if every else None))
    on = [f"l.{quoted(name)} IS NOT DISTINCT FROM r.{quoted(name)}" for name in names]
    on += [f"l.{number} = r.{number}"] if every else []
    shown = ", ".join(f"l.{quoted(name)} AS {quoted(name)}" for name in names)
    made = f"flatten([l.{left}, {note if is_except else f'r.{right}'}])"
    return parsed(
        f"SELECT {shown}, {made} AS {quoted(column)} FROM ({sides[0]}) AS l "
        f"{'ANTI' if is_except else ''} JOIN ({sides[1]}) AS r ON {' AND '.join(on)}"
    )


def _gathered(query: str, names: list[str], name: str, number: str | None) -> str:
    """A side with the rows behind all equal rows in the column `name`: the one that is left of three equal rows, of
    which EXCEPT ALL takes two away, is there because there are three. With `number`, equal rows stay apart."""
    listed = ", ".join(map(quoted, names))
    source = f"({query}) AS s({listed}, {name})"
    if number is not None:
        equal = f"OVER (PARTITION BY {listed}"
        every = f"flatten(list({name}) {equal})) AS {name}"
        return f"SELECT {listed}, {every}, row_number() {equal}) AS {number} FROM {source}"
    return f"SELECT {listed}, flatten(list({name})) AS {name} FROM {source} GROUP BY {listed}"


def _names(run: Rewriting, node: Node, env: Env) -> list[str]:
    """The columns of a set operation. RAISES: CannotTellError where it does not stand alone."""
    ctes = [run.originals[name] for name in env]
    before = f"WITH {', '.join(ctes)} " if ctes else ""
    try:
        found = run.describe(before + sql_of(node))
    except HeadwaterError as err:
        raise refuse(f"{node.key.upper()} in a subquery that depends on the query around it") from err
    folded = [name.casefold() for name in found]
    if len(set(folded)) != len(folded):
        raise refuse(f"{node.key.upper()} of columns with one name")
    return found

"""UNION, INTERSECT and EXCEPT, rewritten: a row of both sides is made of rows of both, one of EXCEPT of the left."""

from sqlglot import exp

from headwater.errors import HeadwaterError
from headwater.provenance.rewrite_sources import RewriteQuery
from headwater.provenance.rewriting import Env, Rewriting, parsed, refuse, short, sql_of
from headwater.query.parse import Node, quoted

_NUMBER = '"#n"'


def rewrite_set(run: Rewriting, node: Node, env: Env, column: str, rewrite: RewriteQuery) -> Node:
    """A set operation with its provenance as the last column."""
    if node.args.get("offset") is not None:
        raise refuse("OFFSET after a set operation")
    if isinstance(node, exp.Union):
        made = _union(run, node, env, column, rewrite)
    else:
        made = _matched(run, node, env, column, rewrite)
    for part in ("order", "limit"):
        if node.args.get(part) is not None:
            made.set(part, node.args[part].copy())
    return made


def _union(run: Rewriting, node: Node, env: Env, column: str, rewrite: RewriteQuery) -> Node:
    asked = run.columns
    left = sql_of(rewrite(run, node.this, env, column))
    run.columns = asked
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
    for side, list_name in ((node.this, "#l"), (node.expression, "#r")):
        inner = run.fresh()
        sides.append(_gathered(sql_of(rewrite(run, side, env, inner)), names, list_name, every))
    on = [f"l.{quoted(name)} IS NOT DISTINCT FROM r.{quoted(name)}" for name in names]
    on += [f"l.{_NUMBER} = r.{_NUMBER}"] if every else []
    shown = ", ".join(f"l.{quoted(name)} AS {quoted(name)}" for name in names)
    made = f'flatten([l."#l", {note}])' if is_except else 'flatten([l."#l", r."#r"])'
    return parsed(
        f"SELECT {shown}, {made} AS {quoted(column)} FROM ({sides[0]}) AS l "
        f"{'ANTI' if is_except else ''} JOIN ({sides[1]}) AS r ON {' AND '.join(on)}"
    )


def _gathered(query: str, names: list[str], list_name: str, every: bool) -> str:
    listed, name = ", ".join(map(quoted, names)), quoted(list_name)
    source = f"({query}) AS s({listed}, {name})"
    if every:
        return f"SELECT {listed}, {name}, row_number() OVER (PARTITION BY {listed}) AS {_NUMBER} FROM {source}"
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

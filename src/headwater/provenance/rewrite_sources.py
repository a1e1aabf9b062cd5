"""FROM, rewritten: every item brings a provenance column, and joins say what was not there."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.provenance.rewriting import Env, Rewriting, parsed, refuse, short, sql_of
from headwater.query.parse import Node, quoted

_TABLE_PARTS = {"this", "db", "alias", "pivots"}
_SUBQUERY_PARTS = {"this", "alias", "pivots"}

RewriteQuery = Callable[[Rewriting, Node, Env, str], Node]


@dataclass
class Sources:
    """The items of one FROM: their provenance columns, by alias, and the lists that joins add."""

    columns: list[str] = field(default_factory=list)
    by_alias: dict[str, list[str]] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # the items, for notes

    def add(self, alias: str, column: str | None) -> None:
        if column is not None:
            self.columns.append(column)
            self.by_alias.setdefault(alias.casefold(), []).append(column)
            self.lists.append(quoted(column))
        else:
            self.by_alias.setdefault(alias.casefold(), [])


def rewrite_from(run: Rewriting, select: Node, env: Env, rewrite: RewriteQuery) -> Sources:
    """Rewrite FROM and the joins of a SELECT in place."""
    found = Sources()
    clause = select.args.get("from_")
    if clause is None:
        return found
    found.told.append(_told(clause.this))
    node, column = _source(run, clause.this, env, rewrite)
    clause.set("this", node)
    found.add(node.alias_or_name, column)
    for join in select.args.get("joins") or ():
        _join(run, join, found, env, rewrite)
    return found


def _source(run: Rewriting, node: Node, env: Env, rewrite: RewriteQuery) -> tuple[Node, str | None]:
    """An item of FROM that brings its provenance, and the name of that column; None for one made of no rows."""
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Pivot):
        raise refuse("PIVOT or UNPIVOT as a query")
    if node.args.get("joins") or (isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query)):
        raise refuse("a join in parentheses")
    for pivot in node.args.get("pivots") or ():
        if not pivot.args.get("unpivot"):
            raise refuse("PIVOT")
    if isinstance(node, exp.Table):
        return _table(run, node, env)
    if isinstance(node, exp.Subquery):
        _check_parts(node, _SUBQUERY_PARTS)
        column = run.fresh()
        node.set("this", rewrite(run, node.this, env, column))
        return node, column
    if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
        column = run.fresh()
        node.this.set("this", rewrite(run, node.this.this, env, column))
        return node, column
    if isinstance(node, exp.Unnest | exp.Values | exp.Lateral):
        return node, None
    raise refuse(f"`{short(node)}` in FROM")


def _table(run: Rewriting, node: Node, env: Env) -> tuple[Node, str | None]:
    _check_parts(node, _TABLE_PARTS)
    column, plain = run.fresh(), exp.Table(this=node.this.copy())
    path = _csv_file(node)
    if path is not None:
        run.files.append(path)
        tag = f"['@{len(run.files) - 1}|' || CAST(row_number() OVER () AS VARCHAR)]"
        return _tagged(node, f"SELECT *, {tag} AS {quoted(column)} FROM {sql_of(plain)}"), column
    if not isinstance(node.this, exp.Identifier):  # a table function
        return node, None
    if not node.args.get("db") and node.name.casefold() in env:
        inner = env[node.name.casefold()]
        if inner is None:
            raise refuse("a recursive query")
        text = f"SELECT * EXCLUDE ({quoted(inner)}), {quoted(inner)} AS {quoted(column)} FROM {sql_of(plain)}"
    elif node.name in run.sources and not node.args.get("db"):
        source = run.sources[node.name]
        tag = f"['{source.number}|' || {source.identity}]"
        hidden = f" EXCLUDE ({quoted(source.hidden)})" if source.hidden else ""
        text = f"SELECT *{hidden}, {tag} AS {quoted(column)} FROM {sql_of(plain)}"
    else:
        return node, None
    return _tagged(node, text), column


def _tagged(node: Node, text: str) -> Node:
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name or "read_csv", quoted=True))
    return exp.Subquery(this=parsed(text), alias=alias.copy(), pivots=node.args.get("pivots"))


def _csv_file(node: Node) -> str | None:
    """The one CSV file that an item of FROM reads, None for anything else."""
    if isinstance(node.this, exp.ReadCSV) and isinstance(node.this.this, exp.Literal):
        path = str(node.this.this.this)
    elif isinstance(node.this, exp.Identifier) and not node.args.get("db"):
        path = str(node.name)
    else:
        return None
    return path if path.endswith(".csv") and "*" not in path else None


def _check_parts(node: Node, known: set[str]) -> None:
    for part, value in node.args.items():
        if value and part not in known:
            raise refuse(f"`{part}` in FROM")


def _join(run: Rewriting, join: Node, found: Sources, env: Env, rewrite: RewriteQuery) -> None:
    method, kind = ((join.args.get(part) or "").upper() for part in ("method", "kind"))
    side = (join.args.get("side") or "").upper()
    if method == "POSITIONAL":
        raise refuse("POSITIONAL JOIN")
    condition = join.args.get("on")
    if condition is not None and condition.find(exp.Query) is not None:
        raise refuse("a subquery in ON")
    if kind == "ANTI" or side == "ANTI":
        found.lists.append(run.absent(f"no row of {_told(join.this)} with {_condition(join)}"))
        return
    told = _told(join.this)
    node, column = _source(run, join.this, env, rewrite)
    join.set("this", node)
    if kind == "SEMI" or side == "SEMI":
        if column is not None:
            _semi(run, join, node, column, found)
        return
    before, left = list(found.columns), " and ".join(found.told)
    found.add(node.alias_or_name, column)
    found.told.append(told)
    if side in ("LEFT", "FULL") and column is not None:
        found.lists.append(_padded(run, [column], f"no row of {told} with {_condition(join)}"))
    if side in ("RIGHT", "FULL") and before:
        found.lists.append(_padded(run, before, f"no row of {left} with {_condition(join)}"))


def _padded(run: Rewriting, columns: list[str], note: str) -> str:
    """The mark of an outer join that found nothing: then there is no provenance where it would be."""
    missing = " AND ".join(f"{quoted(column)} IS NULL" for column in columns)
    return f"CASE WHEN {missing} THEN {run.absent(note)} END"


def _semi(run: Rewriting, join: Node, node: Node, column: str, found: Sources) -> None:
    """A SEMI JOIN as a LATERAL one that gathers the rows which match."""
    condition = join.args.get("on")
    if condition is None:
        raise refuse("a SEMI JOIN with USING")
    name, inner = run.fresh(), quoted(column)
    gathered = f"SELECT flatten(list({inner})) AS {quoted(name)} FROM {sql_of(node)} WHERE {sql_of(condition)}"
    alias = exp.TableAlias(this=exp.to_identifier(run.fresh(), quoted=True))
    made = exp.Lateral(this=exp.Subquery(this=parsed(gathered)), alias=alias, view=False, outer=False)
    for part in ("kind", "side", "method", "using"):
        join.set(part, None)
    join.set("this", made)
    join.set("on", parsed(f"len({quoted(name)}) > 0"))
    found.add(alias.name, name)


def _told(node: Node) -> str:
    """A table or query of a join, for a note."""
    plain = node.copy()
    if isinstance(plain, exp.Table):
        return str(plain.name).partition("#")[0]
    return short(plain)


def _condition(join: Node) -> str:
    if join.args.get("using"):
        return f"the same {', '.join(each.name for each in join.args['using'])}"
    if (join.args.get("method") or "").upper() == "NATURAL":
        return "the same values in the columns that both have"
    return short(join.args["on"]) if join.args.get("on") is not None else "it"

"""The columns of a query below that some columns of a query are made of: the others are left out."""

from sqlglot import exp

from headwater.provenance.rewrite_groups import aggregates_in
from headwater.provenance.rewriting import Rewriting
from headwater.query.parse import Node

_OTHER_PARTS = ("joins", "where", "group", "having", "qualify", "windows", "distinct", "order", "limit", "offset")


def asked_below(run: Rewriting, select: Node, items: list[Node]) -> frozenset[str] | None:
    """The columns of the one query in FROM that items of a SELECT are made of, which only picks and converts its
    columns, as that of an INSERT does; None for all of them."""
    clause = select.args.get("from_")
    source = None if clause is None else clause.this
    if not isinstance(source, exp.Subquery) or source.args.get("pivots"):
        return None
    if any(select.args.get(part) for part in _OTHER_PARTS) or any(True for _ in aggregates_in(run, items)):
        return None
    if any(item.find(exp.Query, exp.Star, exp.Columns, exp.Window) is not None for item in items):
        return None
    read = {part.name.casefold() for item in items for each in item.find_all(exp.Column) for part in each.parts}
    alias = source.args.get("alias")
    renamed = alias.args.get("columns") if alias is not None else None
    if not read or not renamed:
        return frozenset(read) or None
    name_columns(run, source.this)
    names = names_of(source.this)
    if names is None or len(names) < len(renamed):
        return None
    return frozenset(name for name, each in zip(names, renamed) if each.name.casefold() in read) or None


def name_columns(run: Rewriting, query: Node) -> None:
    """Give the columns of a query names that have none, where only their order matters."""
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.SetOperation) and not query.args.get("by_name"):
        name_columns(run, query.this)
        name_columns(run, query.expression)
    elif isinstance(query, exp.Select):
        for item in list(query.expressions):
            if not isinstance(item, exp.Alias | exp.Column) and not _is_many(item):
                item.replace(exp.alias_(item.copy(), run.fresh(), quoted=True))


def names_of(query: Node) -> list[str] | None:
    """The names of the columns of a query, in their order; None where they are not written down."""
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.SetOperation) and not query.args.get("by_name"):
        return names_of(query.this)
    if not isinstance(query, exp.Select) or any(map(_is_many, query.expressions)):
        return None
    return [item.alias_or_name.casefold() for item in query.expressions]


def _is_many(item: Node) -> bool:
    """Return whether an item of a SELECT may be several columns."""
    return item.is_star or item.find(exp.Star, exp.Columns) is not None

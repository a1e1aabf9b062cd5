"""Queries that can be split by the values of a column, and queries that are linear in a table.

A block is split by a column when its rows with one value of the column depend, of each changed table, on the rows
with this value alone. Then the rows of the values that occur in changed rows are all that can differ, and a run over
the rows with these values gives them. `Split` says by which column each table is cut down.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from headwater.query.parse import Node
from headwater.query.refresh.blocks import (
    Column,
    FromItem,
    QueryTree,
    RefusedWay,
    column_of,
    conjuncts,
    equal_columns,
    equal_to,
    inner_queries,
    local_nodes,
    sources,
    unwrapped,
)

Split = dict[str, str]
"""Tables by their names in the query, and the column of each that is cut down."""


@dataclass(frozen=True)
class Splitter:
    """Finds splits of one query for some changed tables."""

    tree: QueryTree
    changed: frozenset[str]

    def by_output(self, query: Node, at: int | str) -> Split:
        """The split of a query by one of its output columns. RAISES: RefusedWay when there is none."""
        query = unwrapped(query)
        if query.args.get("limit") or query.args.get("offset"):
            raise RefusedWay("LIMIT in a part of the query")
        if isinstance(query, exp.SetOperation):
            if query.args.get("by_name"):
                raise RefusedWay("a set operation BY NAME")
            index = at if isinstance(at, int) else _index(query, at)
            return _joined(self.by_output(query.left, index), self.by_output(query.right, index))
        if not isinstance(query, exp.Select):
            raise RefusedWay(f"{query.key.upper()} in a part of the query")
        item = query.expressions[at if isinstance(at, int) else _index(query, at)].unalias()
        if not isinstance(item, exp.Column):
            raise RefusedWay(f"`{item.sql(dialect='duckdb')}` is computed")
        _check_groups(query, item)
        if not sources(query)[item.table].kept:
            raise RefusedWay(f"`{item.name}` is of an optional side")
        return self.by_column(query, column_of(item))

    def by_column(self, select: Node, column: Column) -> Split:
        """The split of the joined and filtered rows of a block by a column of one of its sources."""
        equal = equal_to(select, column)
        found = self._windows(select, equal)
        split, anchored = self._of_sources(select, equal)
        if not anchored:
            raise RefusedWay("no source whose rows are kept is cut down")
        return _joined(found, split, *(self._of_inner(each, select, equal) for each in self._changed_inner(select)))

    def _windows(self, select: Node, equal: set[Column]) -> Split:
        if select.args.get("distinct") is not None and select.args["distinct"].args.get("on"):
            raise RefusedWay("DISTINCT ON")
        for node in local_nodes(select):
            if isinstance(node, exp.Window):
                parts = [each for each in node.args.get("partition_by") or () if isinstance(each, exp.Column)]
                if not any(column_of(each) in equal for each in parts):
                    raise RefusedWay("a window over other columns")
        return {}

    def _of_sources(self, select: Node, equal: set[Column]) -> tuple[Split, bool]:
        """The split of the sources of a block, and whether one of them is cut down whose rows are in the result."""
        split: Split = {}
        anchored = False
        matched = set(equal)
        for alias, source in sources(select).items():
            columns = [name for of, name in equal if of == alias] if source.kept else []
            columns += [name for name, other in source.links if other in matched]
            matched |= {(alias, name) for name in columns}
            found = self._of_source(source, sorted(columns))
            anchored |= source.kept and found is not None
            split = _joined(split, found or {})
        return split, anchored

    def _of_source(self, source: FromItem, columns: list[str]) -> Split | None:
        """The split of one source by one of its columns; None for one that is not cut down and has not changed."""
        node = source.node
        changed = self.changed & self.tree.tables_in(node)
        name = node.name if isinstance(node, exp.Table) and not node.db else ""
        if name in self.tree.tables and columns:
            return {name: columns[0]}
        query = self.tree.ctes.get(name) if name else node.this if isinstance(node, exp.Subquery) else None
        refused = RefusedWay(f"`{node.alias_or_name}` is not joined by an equal column")
        for column in columns if query is not None else ():
            try:
                return self.by_output(query, column)
            except RefusedWay as err:
                refused = err
        if changed:
            raise refused
        return None

    def _changed_inner(self, select: Node) -> Iterator[Node]:
        return (query for query in inner_queries(select) if self.changed & self.tree.tables_in(query))

    def _of_inner(self, query: Node, outer: Node, equal: set[Column]) -> Split:
        """The split of a query in an expression: by the column that it is compared with, or correlated by."""
        holder = query.parent
        while isinstance(holder, exp.Subquery | exp.Paren):
            holder = holder.parent
        if isinstance(holder, exp.In) and isinstance(holder.this, exp.Column) and column_of(holder.this) in equal:
            conditions = [*conjuncts(outer.args.get("where")), *conjuncts(outer.args.get("having"))]
            if any(each is holder for each in conditions):
                return self.by_output(query, 0)
        if not isinstance(query, exp.Select):
            raise RefusedWay("a set operation in an expression")
        inner = set(sources(query))
        for left, right in equal_columns(query.args.get("where")):
            for mine, theirs in ((left, right), (right, left)):
                if mine[0] in inner and theirs[0] not in inner and theirs in equal and sources(query)[mine[0]].kept:
                    return self._of_correlated(query, mine)
        raise RefusedWay("a query in an expression that is not correlated by an equal column")

    def _of_correlated(self, query: Node, column: Column) -> Split:
        """The split of a correlated query. It sees only the rows with one value, whatever it does with them."""
        equal = equal_to(query, column)
        split, _ = self._of_sources(query, equal)
        return _joined(split, *(self._of_inner(each, query, equal) for each in self._changed_inner(query)))


def _index(query: Node, name: str) -> int:
    names = [each.casefold() for each in query.named_selects]
    if names.count(name.casefold()) != 1:
        raise RefusedWay(f"`{name}` is not one column")
    return names.index(name.casefold())


def _check_groups(select: Node, item: Node) -> None:
    """RAISES: RefusedWay when a block makes groups that do not keep a column apart."""
    group = select.args.get("group")
    if group is None:
        if any(isinstance(node, exp.AggFunc) and not _in_window(node) for node in local_nodes(select)):
            raise RefusedWay("an aggregate over all rows")
        return
    if any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "totals")):
        raise RefusedWay("GROUPING SETS")
    if not group.args.get("all") and item not in group.expressions:
        raise RefusedWay(f"`{item.name}` is not a key of its groups")


def _in_window(node: Node) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def _joined(*splits: Split) -> Split:
    """Several splits as one. RAISES: RefusedWay when they cut a table down by different columns."""
    found: Split = {}
    for split in splits:
        for name, column in split.items():
            if found.setdefault(name, column) != column:
                raise RefusedWay(f"`{name}` would be cut down by two columns")
    return found


def is_flat(query: Node) -> bool:
    """Return whether a query only joins, filters and computes: no groups, windows, DISTINCT, LIMIT, UNION."""
    if not isinstance(query, exp.Select):
        return False
    if any(query.args.get(part) for part in ("group", "having", "distinct", "limit", "offset", "qualify", "windows")):
        return False
    return not any(isinstance(node, exp.AggFunc | exp.Window) or _generates(node) for node in local_nodes(query))


def _generates(node: Node) -> bool:
    return isinstance(node, exp.Unnest | exp.Explode) and not isinstance(node.parent, exp.Join | exp.From)


def is_linear(tree: QueryTree, select: Node, table: str) -> bool:
    """Return whether the joined and filtered rows of a block are linear in a table: those that come from some rows
    of the table, added to those that come from the others, are all."""
    if any(table in tree.tables_in(query) for query in inner_queries(select)):
        return False
    found = [source for source in sources(select).values() if table in tree.tables_in(source.node)]
    if len(found) != 1 or not found[0].kept:
        return False
    node = found[0].node
    if isinstance(node, exp.Table) and node.name in tree.tables:
        return True
    if isinstance(node, exp.Table):
        query = tree.ctes.get(node.name)
        uses = sum(1 for each in tree.root.find_all(exp.Table) if each.name == node.name)
        return query is not None and uses == 1 and is_flat(query) and is_linear(tree, query, table)
    query = node.this if isinstance(node, exp.Subquery) else None
    return query is not None and is_flat(query) and is_linear(tree, query, table)

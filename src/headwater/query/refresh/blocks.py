"""The blocks of a query: the sources of each SELECT, how they are joined, and which columns are equal.

A refresh asks two things of a query. Is it *linear* in a table: do the rows that come from changed rows of the table
alone make up the difference? And can it be *split* by the values of a column: do the rows with one value depend on no
rows of a table but those with this value? Both are answered from the text alone, and what is not understood is
refused by name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify

from headwater.query.parse import DIALECT, Node

Column = tuple[str, str]
"""An alias of a block's FROM clause, and a column of it."""


class RefusedWay(Exception):
    """A part of a query that cannot be refreshed in a certain way; the text says why."""


@dataclass(frozen=True)
class FromItem:
    """One item of a FROM clause."""

    node: Node
    kept: bool  # its rows are in the result, or decide that there is none; False: NULLs may take their place
    links: tuple[tuple[str, Column], ...] = ()  # columns of an optional source, and what each equals where it matches


@dataclass
class QueryTree:
    """A query with every column qualified. `tables` maps the names of its tables to their columns: each place that
    names a table has a name of its own."""

    root: Node
    tables: Mapping[str, tuple[str, ...]]
    ctes: dict[str, Node] = field(default_factory=dict)

    def tables_in(self, node: Node, seen: frozenset[str] = frozenset()) -> set[str]:
        """The names of the tables that a part of the query reads, those behind its common table expressions too."""
        found: set[str] = set()
        for table in node.find_all(exp.Table):
            name = table.name
            if name in self.tables:
                found.add(name)
            elif name in self.ctes and name not in seen:
                found |= self.tables_in(self.ctes[name], seen | {name})
        return found

    def read_columns(self, name: str) -> list[str]:
        """The columns of a table that the query mentions, in the order of the table."""
        used: set[str] = set()
        for table in self.root.find_all(exp.Table):
            if table.name == name:
                alias = table.alias_or_name
                used |= {each.name for each in self.root.find_all(exp.Column) if each.table == alias}
        return [column for column in self.tables[name] if column.casefold() in used]


_FILTERING = ("SEMI", "ANTI")


def read_query(text: str, tables: Mapping[str, tuple[str, ...]]) -> QueryTree:
    """Parse a query and qualify its columns. RAISES: RefusedWay when that does not work."""
    try:
        tree = sqlglot.parse_one(text, dialect=DIALECT)
        short = {f"t{at}": name for at, name in enumerate(tables)}
        by_name = {name: one for one, name in short.items()}
        for node in tree.find_all(exp.Table):
            if node.name in by_name and not node.db:
                node.set("this", exp.to_identifier(by_name[node.name], quoted=True))
        _rename_filtering(tree)
        schema: dict[str, object] = {one: dict.fromkeys(tables[name], "UNKNOWN") for one, name in short.items()}
        tree = qualify(tree, schema=schema, dialect=DIALECT)
    except RefusedWay:
        raise
    except Exception as err:  # sqlglot's passes raise whatever it is on shapes that they do not know
        why = next(iter(str(err).splitlines()), type(err).__name__)
        raise RefusedWay(f"its columns cannot be told apart: {why[:200]}") from err
    for node in tree.find_all(exp.Table):
        if node.name in short and not node.db:
            node.set("this", exp.to_identifier(short[node.name], quoted=True))
    if any(not isinstance(node.parent, exp.Count) for node in tree.find_all(exp.Star)) or tree.find(exp.Columns):
        raise RefusedWay("a * whose columns are not known")
    ctes: dict[str, Node] = {}
    for clause in tree.find_all(exp.With):
        if clause.args.get("recursive"):
            raise RefusedWay("a recursive query")
        for cte in clause.expressions:
            if cte.alias in ctes:
                raise RefusedWay(f"two common table expressions called {cte.alias}")
            ctes[cte.alias] = cte.this
    return QueryTree(tree, tables, ctes)


def _rename_filtering(tree: Node) -> None:
    """Give each source of a SEMI or ANTI JOIN an alias that no column has: there sqlglot takes `o` of `o.id` for a
    column of another source. RAISES: RefusedWay for a query in the condition."""
    for at, join in enumerate(list(tree.find_all(exp.Join))):
        condition = join.args.get("on")
        if join.kind.upper() not in _FILTERING or condition is None:
            continue
        if condition.find(exp.Query):
            raise RefusedWay(f"a query in the condition of a {join.kind} JOIN")
        alias, own = join.this.alias_or_name, exp.to_identifier(f"#filter{at}", quoted=True)
        for column in condition.find_all(exp.Column):
            if column.table.casefold() == alias.casefold():
                column.set("table", own.copy())
        named = join.this.args.get("alias") or exp.TableAlias()
        named.set("this", own)
        join.this.set("alias", named)


def conjuncts(node: Node) -> Iterator[Node]:
    """The conditions that hold together in a condition; none for None."""
    if isinstance(node, exp.And):
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    elif isinstance(node, exp.Paren | exp.Where):
        yield from conjuncts(node.this)
    elif node is not None:
        yield node


def equal_columns(condition: Node) -> Iterator[tuple[Column, Column]]:
    """The pairs of columns that a condition says are equal."""
    for each in conjuncts(condition):
        if isinstance(each, exp.EQ) and isinstance(each.left, exp.Column) and isinstance(each.right, exp.Column):
            yield column_of(each.left), column_of(each.right)


def column_of(node: Node) -> Column:
    return node.table, node.name


def sources(select: Node) -> dict[str, FromItem]:
    """The items of FROM by alias. RAISES: RefusedWay for joins that are not followed."""
    clause = select.args.get("from_")
    if clause is None:
        return {}
    found = {clause.this.alias_or_name: FromItem(_plain(clause.this), kept=True)}
    for join in select.args.get("joins") or ():
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        if join.method or side in ("RIGHT", "FULL") or join.args.get("using"):
            raise RefusedWay(f"{' '.join(part for part in (join.method, side, kind) if part) or 'this'} JOIN")
        alias = join.this.alias_or_name
        if not alias or alias in found:
            raise RefusedWay("a source without a name of its own")
        if side == "LEFT" or kind in _FILTERING:
            found[alias] = FromItem(_plain(join.this), kept=False, links=tuple(_links(join.args.get("on"), alias)))
        else:
            found[alias] = FromItem(_plain(join.this), kept=True)
    if select.args.get("laterals"):
        raise RefusedWay("LATERAL VIEW")
    return found


def _plain(node: Node) -> Node:
    if node.args.get("pivots") or node.args.get("sample") or node.args.get("joins"):
        raise RefusedWay("PIVOT, TABLESAMPLE or joins in parentheses")
    return node


def _links(condition: Node, alias: str) -> Iterator[tuple[str, Column]]:
    for left, right in equal_columns(condition):
        if left[0] == alias != right[0]:
            yield left[1], right
        elif right[0] == alias != left[0]:
            yield right[1], left


def equal_to(select: Node, start: Column) -> set[Column]:
    """The columns that have the value of a column in every row that the joins and WHERE of a block give."""
    pairs = list(equal_columns(select.args.get("where")))
    for join in select.args.get("joins") or ():
        if not join.side and (join.kind or "").upper() not in _FILTERING:
            pairs += equal_columns(join.args.get("on"))
    found, grown = {start}, True
    while grown:
        grown = False
        for pair in pairs:
            if (pair[0] in found) != (pair[1] in found):
                found |= set(pair)
                grown = True
    return found


def inner_queries(select: Node) -> list[Node]:
    """The queries in the expressions of a block, not those of its FROM clause; each as SELECT or set operation."""
    skipped = {id(source.node) for source in sources(select).values()}
    stack = [value for key, value in select.args.items() if key != "with_"]
    found: list[Node] = []
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, exp.Expression) and id(node) not in skipped:
            if isinstance(node, exp.Select | exp.SetOperation):
                found.append(node)
            else:
                stack.extend(node.args.values())
    return found


def local_nodes(select: Node) -> Iterator[Node]:
    """The nodes of a block that belong to no other: not those of queries in it."""
    stack = [value for key, value in select.args.items() if key != "with_"]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, exp.Expression) and not isinstance(node, exp.Select | exp.SetOperation):
            yield node
            stack.extend(node.args.values())


def unwrapped(node: Node) -> Node:
    """The query inside of parentheses."""
    while isinstance(node, exp.Subquery | exp.Paren):
        if isinstance(node, exp.Subquery) and any(node.args.get(key) for key in ("limit", "order", "offset")):
            raise RefusedWay("a query in parentheses with clauses after it")
        node = node.this
    return node

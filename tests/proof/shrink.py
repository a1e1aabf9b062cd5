"""A smaller query, with fewer rows and columns of input, that is still unsound by the same rule."""

from collections.abc import Callable

import sqlglot
from sqlglot import exp

from headwater.errors import HeadwaterError
from tests.proof.bound import SECONDS, Bound
from tests.proof.engine import Variant, World
from tests.proof.judge import Query, compare
from tests.proof.tables import Column, Table

TRIES = 400
"""Smaller candidates that are tried, at the most."""

_Values = dict[str, dict[str, tuple[str, ...]]]
_Change = Callable[[exp.Expression, exp.Expression], exp.Expression]
"""Changes a copy of the tree at one of its nodes, and returns the new tree."""

_CLAUSES = ("where", "having", "qualify", "order", "limit", "offset", "distinct", "group", "windows", "filter")


class Shrinker:
    """An unsound query in one world with one change: all that its counterexample needs."""

    def __init__(self, query: Query, world: World, variant: Variant, rule: str, bound: Bound) -> None:
        self.make, self.dialect = type(query), query.dialect
        self.open = type(world)
        self.rule, self.sources = rule, variant.sources
        self.schema = {name: {column: held.type for column, held in of.items()} for name, of in world.tables.items()}
        self.sql = query.sql
        self.old = {name: world.base(name) for name in query.tables}
        self.new = {name: variant.values.get(name, self.old[name]) for name in query.tables}
        self.left, self.bound = TRIES, bound

    def unsound(self, sql: str, old: _Values, new: _Values) -> bool:
        """Return whether the query breaks the rule on these tables, by the same changed columns or fewer."""
        self.left = 0 if self.bound.over else self.left - 1
        try:
            query = self._query(sql)
        except (HeadwaterError, ValueError):  # not one statement, or none that is read
            return False
        if not query.edges.resolved or not set(query.tables) <= old.keys():
            return False
        tables: dict[str, Table] = {
            name: {column: Column(self.schema[name][column], values, ()) for column, values in old[name].items()}
            for name in query.tables
        }
        with self.open(tables, "shrunk") as world:
            self.bound.world = world
            variant = Variant("shrunk", {name: new[name] for name in query.tables}, self.sources)
            before, after = query.run(world), query.run(world, variant)
            if before is None or after is None or (before.ids is None) != (after.ids is None):
                return False
            if (before.rows or after.rows) and len((before.rows or after.rows)[0]) != len(query.edges.columns):
                return False
            bugs = query.edges.unexplained(self.sources, compare(before, after, query.whole))
            return any(rule == self.rule for rule, _ in bugs) and not query.unstable(world, variant)

    def _query(self, sql: str) -> Query:
        if self.make is Query:
            return Query(sql, self.schema, self.dialect)
        return self.make(sql)  # type: ignore[call-arg]  # a write knows its schema

    def run(self) -> None:
        """Make the query smaller while something can be dropped, then the change and the tables."""
        smaller = True
        while smaller and self.left > 0:
            smaller = self._smaller_query()
        self._fewer_changes()
        self._fewer_rows()

    def _smaller_query(self) -> bool:
        tree = sqlglot.parse_one(self.sql, dialect=self.dialect)
        for at in range(sum(1 for _ in tree.walk())):
            for candidate in _reductions(tree, at, self.dialect):
                if self.left <= 0:
                    return False
                if len(candidate) < len(self.sql) and self.unsound(candidate, self.old, self.new):
                    self.sql = candidate
                    return True
        return False

    def _fewer_changes(self) -> None:
        """Take back what was changed, column by column and cell by cell."""
        for name, columns in self.new.items():
            for column in columns:
                kept = {**self.new, name: {**self.new[name], column: self.old[name][column]}}
                if kept != self.new and self.left > 0 and self.unsound(self.sql, self.old, kept):
                    self.new = kept
        for name, columns in self.new.items():
            for column, values in columns.items():
                for at in range(len(values)):
                    now = self.new[name][column]
                    back = (*now[:at], self.old[name][column][at], *now[at + 1 :])
                    kept = {**self.new, name: {**self.new[name], column: back}}
                    if back != now and self.left > 0 and self.unsound(self.sql, self.old, kept):
                        self.new = kept

    def _fewer_rows(self) -> None:
        for name in self.old:
            at = 0
            while at < len(next(iter(self.old[name].values()))) and self.left > 0:
                old = {**self.old, name: _without_row(self.old[name], at)}
                new = {**self.new, name: _without_row(self.new[name], at)}
                if len(next(iter(old[name].values()))) and self.unsound(self.sql, old, new):
                    self.old, self.new = old, new
                else:
                    at += 1

    def told(self) -> str:
        """The query, the rows of its tables, and the change."""
        query = self._query(self.sql)
        lines = [f"  shrunk: {self.sql}"]
        for name in query.tables:
            columns = [column for column in self.old[name] if column in self.sql or "*" in self.sql]
            for at, row in enumerate(zip(*(self.old[name][column] for column in columns), strict=True)):
                new = [self.new[name][column][at] for column in columns]
                changed = [f"{c} = {n}" for c, o, n in zip(columns, row, new, strict=True) if o != n]
                told = ", ".join(f"{c} {v}" for c, v in zip(columns, row, strict=True))
                lines.append(f"    {name}: {told}{'  => ' + ', '.join(changed) if changed else ''}")
        edges = sorted(f"{source} -> {target or '*'} {kind.value}" for source, target, kind in query.edges.keys)
        return "\n".join([*lines, f"    edges: {'; '.join(edges) or 'none'}"])


def shrink(query: Query, world: World, variant: Variant, rule: str) -> str:
    """The counterexample as text, as small as it can be made in the time for one query."""
    with Bound(SECONDS) as bound:
        shrinker = Shrinker(query, world, variant, rule, bound)
        shrinker.run()
    return shrinker.told()


def _without_row(table: dict[str, tuple[str, ...]], at: int) -> dict[str, tuple[str, ...]]:
    return {column: (*values[:at], *values[at + 1 :]) for column, values in table.items()}


def _reductions(tree: exp.Expression, at: int, dialect: str) -> list[str]:
    """The query with the node at a place left out, or put in place of what is around it."""
    node = next(node for number, node in enumerate(tree.walk()) if number == at)
    found: list[str] = []

    def keep(change: _Change) -> None:
        copy = tree.copy()
        here = next(node for number, node in enumerate(copy.walk()) if number == at)
        whole = change(copy, here)
        found.append(whole.sql(dialect=dialect))

    for clause in (*_CLAUSES, "with_"):
        if node.args.get(clause):
            keep(lambda copy, here, clause=clause: (here.set(clause, None), copy)[1])
    for part in ("expressions", "joins", "ifs"):
        listed = node.args.get(part) or ()
        for place in range(len(listed) if part != "expressions" or len(listed) > 1 else 0):
            keep(lambda copy, here, part=part, place=place: (here.args[part][place].pop(), copy)[1])
    if isinstance(node, exp.SetOperation):
        for side in ("this", "expression"):
            keep(lambda copy, here, side=side: _put(copy, here, here.args[side]))
    if isinstance(node, exp.Func | exp.Binary | exp.Unary | exp.Case | exp.If | exp.Paren | exp.Cast):
        inner = [child for child in node.iter_expressions() if isinstance(child, exp.Condition)]
        for place in range(len(inner)):
            keep(lambda copy, here, place=place: _put(copy, here, _conditions(here)[place]))
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        first = node.this.args.get("from_")
        if first is not None and isinstance(first.this, exp.Subquery):
            keep(lambda copy, here: _put(copy, here.this, here.this.args["from_"].this.this))
    return found


def _conditions(node: exp.Expression) -> list[exp.Expression]:
    return [child for child in node.iter_expressions() if isinstance(child, exp.Condition)]


def _put(tree: exp.Expression, old: exp.Expression, new: exp.Expression) -> exp.Expression:
    new = new.copy()
    if old is tree:
        return new
    old.replace(new)
    return tree

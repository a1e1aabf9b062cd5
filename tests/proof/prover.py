"""The proof of one query: which changes are tried in which worlds, and when enough is enough.

Each column that the query could read is changed alone, in several ways, and the query runs on all variants at once
(`together.py`). Where that does not work, it runs on one after the other, until each edge is witnessed, and columns
without an edge, which must change nothing, are changed together. Later worlds have other tables and try only what is
not yet witnessed: all edges at first, then only those that values are made of.
"""

from collections.abc import Iterable, Iterator

from headwater.model.edges import InfluenceClass, Kind
from tests.proof.account import Account, Finding
from tests.proof.bound import SECONDS, Bound
from tests.proof.engine import Variant, World
from tests.proof.judge import SAME, Bug, Difference, EdgeKey, Query, Result, compare, compare_bags, is_empty
from tests.proof.shrink import shrink

FOR_ALL_EDGES = 2
"""Worlds with rows in which every kind of edge is tried; those after them are for value edges."""

WAYS_AT_FIRST, WAYS_LATER = 4, 3
"""Ways tried in vain on a column, in the first world and in each later one."""


WAYS_OF_SILENT = ("other", "null", "another")
"""Ways tried on columns without an edge."""


class Proof:
    """One query on its way through worlds."""

    def __init__(
        self, query: Query, account: Account, columns: frozenset[str] | None = None, *, least: int = 1
    ) -> None:
        self.query, self.account = query, account
        self.columns = columns
        """Columns that are worth a change, by name; None: all."""
        self.least = least
        """Worlds with rows in which all columns are changed, also those whose edges are witnessed."""
        self.witnessed: set[EdgeKey] = set()
        self.ran = 0
        self.over = False
        self.bound = Bound(SECONDS)

    def through(self, worlds: Iterable[World]) -> bool:
        """Prove the query in worlds until nothing is left to witness; False when it ran in none of them.

        A query that the engine refuses is counted, and so is one whose time is over before all is tried.
        """
        with self.bound:
            self._through(worlds)
        if self.bound.over:
            self.account.slow.append(self.query.seed or self.query.sql)
        elif not self.ran:
            self.account.refused += 1
            self.account.not_run.append(self.query.sql)
        if not self.ran:
            return False
        self.account.identified += self.query.identified is not None
        self.account.settle(self.query, self.witnessed)
        return True

    def _through(self, worlds: Iterable[World]) -> None:
        empty: World | None = None
        for world in worlds:
            self.bound.world = world
            base = self.query.run(world)
            if base is None or self.bound.over:
                break
            if is_empty(base.rows):
                empty = world
                continue  # nothing comes out of these tables; the next may do better
            self._in_world(world, base)
            if self.over or self.bound.over or (self.ran >= self.least and not self._wanted()):
                break
        if not self.ran and empty is not None and (base := self.query.run(empty)) is not None:
            self.account.empty += 1
            self._in_world(empty, base)

    def _wanted(self) -> dict[str, set[EdgeKey]]:
        """The edges that are still tried, by source."""
        wanted: dict[str, set[EdgeKey]] = {}
        for key in self.query.edges.keys - self.witnessed:
            if self.ran < FOR_ALL_EDGES or key[2].influence is InfluenceClass.VALUE:
                wanted.setdefault(key[0], set()).add(key)
        return wanted

    def _in_world(self, world: World, base: Result) -> None:
        wanted = self._wanted()
        self.ran += 1
        edges = self.query.edges
        if base.rows and len(base.rows[0]) != len(edges.columns):
            if edges.resolved:
                self.account.findings.append(Finding(self.query.sql, "width", "*", None, "none", self.query.seed))
            self.over = True
            return
        plan = dict(self._plan(world, wanted))
        variants = [variant for variants in plan.values() for variant in variants]
        runs = None
        if variants:
            with Bound(SECONDS / 6, world):  # DuckDB plans some lateral joins badly; one by one may be quick
                runs = self.query.run_together(world, base, variants)
        if runs is not None:
            self.account.runs += len(variants)
            for variant, new in zip(variants, runs[1:], strict=True):
                self._judge(world, base, variant, compare_bags(runs[0], new, self.query.whole))
            wanted = {source: left for source, keys in wanted.items() if (left := self._by_order(keys))}
        for source, variants in plan.items():
            if self.over or self.bound.over:
                return
            if runs is None:
                self._try_apart(world, base, variants, wanted.get(source, set()))
            elif source in wanted:
                self._try_apart(world, base, variants[:1], wanted[source])

    def _by_order(self, keys: set[EdgeKey]) -> set[EdgeKey]:
        """Edges without a witness that the order of the rows may show."""
        return {key for key in keys - self.witnessed if key[2] is Kind.SORT and "ORDER BY" in self.query.sql}

    def _plan(self, world: World, wanted: dict[str, set[EdgeKey]]) -> Iterator[tuple[str, list[Variant]]]:
        """The changes to try: of each column with edges alone, and of all others at once."""
        silent: list[tuple[str, str]] = []
        for table, column in self._inputs(world):
            source = f"{table}.{column}".lower()
            if source not in self.query.edges.by_source:
                silent.append((table, column))
            elif self.ran <= self.least or source in wanted:
                made = (world.changed(table, column, way) for way in self._ways(world, table))
                yield source, [variant for variant in made if variant is not None]
        if not silent or self.ran > max(self.least, FOR_ALL_EDGES):
            return
        if self.query.apart:
            yield "", [world.changed_together(silent, way) for way in WAYS_OF_SILENT]
        else:
            way = WAYS_OF_SILENT[(self.ran - 1) % len(WAYS_OF_SILENT)]
            alone = (world.changed(table, column, way) for table, column in silent)
            yield "", [variant for variant in alone if variant is not None]

    def _ways(self, world: World, table: str) -> list[str]:
        ways = world.ways(table)
        if self.ran <= self.least:
            return ways[:WAYS_AT_FIRST]
        rows = ways[-1 - self.ran % (len(ways) - 6)], ways[-1 - (self.ran + 3) % (len(ways) - 6)]
        return [*ways[:1], *rows, *ways[1:]][:WAYS_LATER]

    def _inputs(self, world: World) -> Iterator[tuple[str, str]]:
        for table in self.query.tables:
            for column in world.tables[table]:
                if self.columns is None or column.lower() in self.columns:
                    yield table, column

    def _try_apart(self, world: World, base: Result, variants: list[Variant], wanted: set[EdgeKey]) -> None:
        """Run the query on one variant after the other, until all edges are witnessed."""
        left = set(wanted)
        for variant in variants:
            new = self.query.run(world, variant)
            self.account.runs += 1
            if new is None or (new.ids is None) != (base.ids is None):
                continue
            found = compare(base, new, self.query.whole)
            left -= self._judge(world, base, variant, found)
            if not left or self.over or self.bound.over:
                return

    def _judge(self, world: World, base: Result, variant: Variant, found: Difference) -> set[EdgeKey]:
        """Note what is unsound, and return the edges that a difference witnesses."""
        edges = self.query.edges
        if found is SAME or self.over:
            return set()
        if edges.resolved and edges.unexplained(variant.sources, found):
            self._confirm(world, base, variant)
        seen = edges.witnesses(variant.sources[0], found) if len(variant.sources) == 1 else set()
        self.witnessed |= seen
        return seen

    def _confirm(self, world: World, base: Result, variant: Variant) -> None:
        """Run the query on the variant alone; chance (the order of ties) may have made the difference."""
        new = self.query.run(world, variant)
        bugs: list[Bug] = []
        if new is not None and (new.ids is None) == (base.ids is None):
            bugs = self.query.edges.unexplained(variant.sources, compare(base, new, self.query.whole))
        if bugs:
            self._note(world, variant, bugs)
        else:
            self.account.unconfirmed += 1

    def _note(self, world: World, variant: Variant, bugs: list[Bug]) -> None:
        self.over = True
        query, account = self.query, self.account
        if query.unstable(world, variant) and not self.bound.over:
            account.unstable += 1
            account.by_chance.append(query.sql)
            return
        told = shrink(query, world, variant, bugs[0][0]) if account.shrinks and len(account.findings) < 5 else ""
        for rule, at in bugs:
            name = None if at is None else query.edges.columns[at]
            sources = ", ".join(variant.sources)
            account.findings.append(Finding(query.sql, rule, sources, name, variant.way, query.seed, told))
            told = ""

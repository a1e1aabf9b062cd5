"""The judge: compare two results, and ask the lineage for an edge that explains the difference."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

import headwater
from headwater.lineage import StatementLineage, Status
from headwater.model.edges import Kind
from tests.proof.engine import Row, Variant, World
from tests.proof.identity import identify
from tests.proof.tables import Schema
from tests.proof.together import together

EdgeKey = tuple[str, str | None, Kind]
"""Source as `table.column`, target column or None for all rows, kind."""

Bug = tuple[str, int | None]
"""A rule that is broken, and the output column that breaks it."""


class Edges:
    """The edges of a statement, by source column."""

    def __init__(self, lineage: StatementLineage) -> None:
        self.columns = [column.name for column in lineage.columns]
        self.resolved = lineage.status is Status.RESOLVED
        self.keys: set[EdgeKey] = set()
        self.by_source: dict[str, set[str | None]] = defaultdict(set)
        for edge in lineage.edges:
            if edge.source.column is not None:
                source = f"{edge.source.table.name}.{edge.source.column}".lower()
                self.keys.add((source, edge.target.column, edge.kind))
                self.by_source[source].add(edge.target.column)

    def unexplained(self, sources: tuple[str, ...], found: "Difference") -> list[Bug]:
        """The differences that no edge from one of the changed sources explains."""
        reached = {target for source in sources for target in self.by_source.get(source, ())}
        bugs: list[Bug] = []
        if None not in reached:
            bugs += [("column", at) for at in sorted(found.columns) if self.columns[at] not in reached]
        if found.rows and not reached:
            bugs.append(("rows", None))
        bugs += [("stayed", at) for at in sorted(found.stayed) if self.columns[at] not in reached]
        return bugs

    def witnesses(self, source: str, found: "Difference") -> set[EdgeKey]:
        """The edges of a source that a difference shows."""
        changed = {self.columns[at] for at in found.columns | found.stayed}
        return {
            key for key in self.keys if key[0] == source and (found.moved if key[1] is None else key[1] in changed)
        }


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a run without their identities, and those identities."""

    rows: list[Row]
    ids: list[object] | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of two results: whole rows, columns as bags, columns of rows that stayed.

    `moved`: rows came, went or changed their place; where identities are not known, any change of the rows.
    """

    rows: bool
    moved: bool
    columns: frozenset[int]
    stayed: frozenset[int]


def is_empty(rows: list[Row]) -> bool:
    """Return whether nothing came out: no row, or the one row that an aggregate makes of no rows."""
    return all(value is None or value == 0 for row in rows for value in row) and len(rows) < 2


SAME = Difference(False, False, frozenset(), frozenset())


def compare(old: Result, new: Result, whole: bool) -> Difference:
    """The difference of two results; with `whole`, rows are paired only if none came or went."""
    if old.rows == new.rows and old.ids == new.ids:
        return SAME
    width = len((old.rows or new.rows)[0])
    columns = frozenset(
        at for at in range(width) if Counter(row[at] for row in old.rows) != Counter(row[at] for row in new.rows)
    )
    different = bool(columns) or Counter(old.rows) != Counter(new.rows)
    moved = old.rows != new.rows if old.ids is None or new.ids is None else old.ids != new.ids
    return Difference(different, moved, columns, _stayed(old, new, whole))


def compare_bags(old: Result, new: Result, whole: bool) -> Difference:
    """The difference of two results whose rows are in any order: `moved` says that rows came or went."""
    if old.ids is not None and new.ids is not None:
        moved = Counter(old.ids) != Counter(new.ids)
    else:
        moved = Counter(old.rows) != Counter(new.rows)
    found = compare(old, new, whole)
    return Difference(found.rows, moved, found.columns, found.stayed)


def _stayed(old: Result, new: Result, whole: bool) -> frozenset[int]:
    if old.ids is None or new.ids is None or (whole and Counter(old.ids) != Counter(new.ids)):
        return frozenset()
    before, after = _unique(old), _unique(new)
    return frozenset(
        at
        for made_of in before.keys() & after.keys()
        for at, (was, is_) in enumerate(zip(before[made_of], after[made_of], strict=True))
        if was != is_
    )


def _unique(result: Result) -> dict[object, Row]:
    assert result.ids is not None
    counted = Counter(result.ids)
    return {made_of: row for made_of, row in zip(result.ids, result.rows, strict=True) if counted[made_of] == 1}


def _result(rows: list[Row], identified: bool) -> Result:
    if not identified:
        return Result(rows, None)
    return Result([row[:-1] for row in rows], [row[-1] for row in rows])


class Query:
    """A query: its lineage in the dialect of its engine, and its results in a world."""

    def __init__(self, sql: str, schema: Schema, dialect: str = "duckdb", seed: str = "") -> None:
        self.sql, self.dialect, self.seed = sql, dialect, seed
        (lineage,) = headwater.analyze(sql, dialect, schema=schema).statements
        self.edges = Edges(lineage)
        self.tables = sorted({source.name.name.lower() for source in lineage.sources} & schema.keys())
        self.identified = identify(sql) if dialect == "duckdb" else None
        self.together: str | None = None
        self.told_apart = False
        """Whether runs on many variants at once have the identities of rows."""
        self.apart = dialect != "duckdb"
        """Whether variants are run one by one."""

    @property
    def whole(self) -> bool:
        return self.identified is not None and self.identified.whole

    def run(self, world: World, variant: Variant | None = None) -> Result | None:
        if self.identified is not None:
            rows = world.run(self.identified.sql, variant)
            if rows is not None:
                return _result(rows, True)
            if variant is None:
                self.identified = None
        rows = world.run(self.sql, variant)
        return None if rows is None else _result(rows, False)

    def run_together(self, world: World, base: Result, variants: list[Variant]) -> list[Result] | None:
        """The results in many variants at once, in any order; None where that gives other rows than the base has."""
        if self.apart:
            return None
        if self.together is None:
            if self.identified is not None:
                self.together = together(self.identified.sql, world.tables, identified=True)
                self.told_apart = self.together is not None
            self.together = self.together or together(self.sql, world.tables, identified=False) or ""
        runs = world.run_together(self.together, variants) if self.together else None
        if runs is None:
            self.apart = True
            return None
        results = [_result(rows, self.told_apart) for rows in runs]
        if Counter(results[0].rows) != Counter(base.rows):
            self.apart = True
            return None
        return results

    def unstable(self, world: World, variant: Variant) -> bool:
        """Return whether the rows depend on the order in which rows are stored, or on that of ties in a window."""
        for at in (None, variant):
            told = self.run(world, at)
            if told is None:
                return True
            for turn in range(4):
                again = self.run(world, world.shuffled(at, turn))
                if again is None or Counter(again.rows) != Counter(told.rows):
                    return True
                shaken = shake(self.sql, turn) if self.dialect == "duckdb" else None
                rows = world.run(shaken, at) if shaken else None
                if rows is not None and Counter(rows) != Counter(told.rows):
                    return True
        return False


def shake(sql: str, turn: int) -> str | None:
    """The query with a last key in windows that tell ties apart, another one each turn; None without such windows."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    shaken = False
    for at, window in enumerate([*tree.find_all(exp.Window)] if isinstance(tree, exp.Query) else ()):
        order, spec = window.args.get("order"), window.args.get("spec")
        rows = spec is not None and spec.args.get("kind") == "ROWS"
        select = window.find_ancestor(exp.Select)
        if select is None or select.args.get("from_") is None:
            continue
        if rows or window.this.find(*_BY_PLACE) is not None:
            joins = [join for join in select.args.get("joins") or () if join.kind not in ("SEMI", "ANTI")]
            items = [select.args["from_"].this, *(join.this for join in joins)]
            key = f"hash({turn * 101 + at}, {', '.join(item.alias_or_name for item in items)})"
            keys = order.expressions if order is not None else []
            last = exp.Ordered(this=sqlglot.parse_one(key, dialect="duckdb"))
            window.set("order", exp.Order(expressions=[*keys, last]))
            shaken = True
    return tree.sql(dialect="duckdb") if shaken else None


_BY_PLACE = (exp.Lag, exp.Lead, exp.RowNumber, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Ntile)
"""Window functions for which the place of a row among its ties counts."""

"""The judge: compare two results, ask the lineage for an edge that explains the difference, and count witnesses."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import headwater
from headwater.lineage import StatementLineage, Status
from headwater.model.edges import InfluenceClass, Kind
from tests.proof.engine import Row, Variant, World
from tests.proof.identity import identify
from tests.proof.tables import Schema

EdgeKey = tuple[str, str | None, Kind]
"""Source as `table.column`, target column or None for all rows, kind."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that no edge explains."""

    sql: str
    rule: str
    source: str
    column: str | None
    way: str

    def __str__(self) -> str:
        return f"[{self.rule}] {self.source} ({self.way}) changes {self.column or 'rows'}: {self.sql}"


@dataclass(slots=True)
class Account:
    """The sum of a proof: what was run, which edges there were and which were witnessed, what was found."""

    queries: int = 0
    runs: int = 0
    refused: int = 0
    empty: int = 0
    unstable: int = 0
    identified: int = 0
    in_doubt: int = 0
    edges: Counter[Kind] = field(default_factory=Counter)
    witnessed: Counter[Kind] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    unwitnessed: list[tuple[str, EdgeKey]] = field(default_factory=list)


class Edges:
    """The edges of a statement, by source column."""

    def __init__(self, lineage: StatementLineage) -> None:
        self.columns = [column.name for column in lineage.columns]
        self.resolved = lineage.status is Status.RESOLVED
        self.arrays: set[str] = set()
        """Columns whose length may decide the number of rows: see the exception in the docstring of the package."""
        self.keys: set[EdgeKey] = set()
        self.by_source: dict[str, dict[str | None, set[InfluenceClass]]] = defaultdict(lambda: defaultdict(set))
        for edge in lineage.edges:
            if edge.source.column is None:
                continue
            source = f"{edge.source.table.name}.{edge.source.column}".lower()
            target = edge.target.column
            self.keys.add((source, target, edge.kind))
            self.by_source[source][target].add(edge.kind.influence)

    def explains_rows(self, source: str) -> bool:
        return None in self.by_source.get(source, {}) or source in self.arrays

    def explains_any(self, source: str) -> bool:
        return bool(self.by_source.get(source)) or source in self.arrays

    def explains_value(self, source: str, column: str) -> bool:
        return column in self.by_source.get(source, {})


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


def compare(old: Result, new: Result, whole: bool) -> Difference:
    """The difference of two results; with `whole`, rows are paired only if none came or went."""
    if old.rows == new.rows and old.ids == new.ids:
        return Difference(False, False, frozenset(), frozenset())
    width = len((old.rows or new.rows)[0])
    columns = frozenset(
        at for at in range(width) if Counter(row[at] for row in old.rows) != Counter(row[at] for row in new.rows)
    )
    different = bool(columns) or Counter(old.rows) != Counter(new.rows)
    moved = old.rows != new.rows if old.ids is None or new.ids is None else old.ids != new.ids
    return Difference(different, moved, columns, _stayed(old, new, whole))


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


class Query:
    """A query in a world: its lineage, and its results in the base and in variants."""

    def __init__(self, sql: str, schema: Schema) -> None:
        self.sql = sql
        (lineage,) = headwater.analyze(sql, "duckdb", schema=schema).statements
        self.edges = Edges(lineage)
        if "unnest(" in sql.lower():
            self.edges.arrays = {
                f"{table}.{column}".lower()
                for table, columns in schema.items()
                for column, kind in columns.items()
                if kind.endswith("[]")
            }
        self.tables = sorted({source.name.name.lower() for source in lineage.sources} & schema.keys())
        self.identified = identify(sql)

    def run(self, world: World, schema: str = "main") -> Result | None:
        if self.identified is not None:
            rows = world.run(self.identified.sql, schema)
            if rows is not None:
                return Result([row[:-1] for row in rows], [row[-1] for row in rows])
            if schema == "main":
                self.identified = None
        rows = world.run(self.sql, schema)
        return None if rows is None else Result(rows, None)

    def unstable(self, world: World, variant: Variant) -> bool:
        """Return whether the rows depend on the order in which rows are stored."""
        for at in (None, variant):
            told = self.run(world, at.name if at else "main")
            for turn in range(3):
                again = self.run(world, world.shuffled(at, turn))
                if told is None or again is None or Counter(again.rows) != Counter(told.rows):
                    return True
        return False


def prove(query: Query, world: World, account: Account, columns: frozenset[str] | None = None) -> set[EdgeKey] | None:
    """Try all variants on a query and note findings; return the witnessed edges, or None if it does not run."""
    base = query.run(world)
    if base is None:
        return None
    account.empty += not base.rows
    account.identified += query.identified is not None
    if base.rows and len(base.rows[0]) != len(query.edges.columns):
        account.findings.append(Finding(query.sql, "width", "*", None, "none"))
        return set()
    whole = query.identified is not None and query.identified.whole
    witnessed: set[EdgeKey] = set()
    told: set[tuple[str, str, int | None]] = set()
    for table in query.tables:
        for variant in world.of_table(table, columns):
            new = query.run(world, variant.name)
            account.runs += 1
            if new is None or (not base.rows and not new.rows):
                continue
            difference = compare(base, new, whole)
            source = f"{table}.{variant.column}".lower()
            witnessed |= _witnesses(query.edges, source, difference)
            for rule, at in _unexplained(query.edges, source, difference):
                if query.edges.resolved and (source, rule, at) not in told:
                    told.add((source, rule, at))
                    if query.unstable(world, variant):
                        account.unstable += 1
                        return witnessed
                    name = None if at is None else query.edges.columns[at]
                    account.findings.append(Finding(query.sql, rule, source, name, variant.way))
    return witnessed


def _unexplained(edges: Edges, source: str, found: Difference) -> list[tuple[str, int | None]]:
    bugs: list[tuple[str, int | None]] = []
    if not edges.explains_rows(source):
        bugs += [("column", at) for at in found.columns if not edges.explains_value(source, edges.columns[at])]
    if found.rows and not edges.explains_any(source):
        bugs.append(("rows", None))
    bugs += [("stayed", at) for at in found.stayed if not edges.explains_value(source, edges.columns[at])]
    return bugs


def _witnesses(edges: Edges, source: str, found: Difference) -> set[EdgeKey]:
    changed = {edges.columns[at] for at in found.columns | found.stayed}
    return {key for key in edges.keys if key[0] == source and (found.moved if key[1] is None else key[1] in changed)}


def settle(query: Query, witnessed: set[EdgeKey], account: Account) -> None:
    """Count the edges of a query and those that were witnessed."""
    account.queries += 1
    account.in_doubt += not query.edges.resolved
    for key in query.edges.keys:
        account.edges[key[2]] += 1
        account.witnessed[key[2]] += key in witnessed
        if key not in witnessed:
            account.unwitnessed.append((query.sql, key))

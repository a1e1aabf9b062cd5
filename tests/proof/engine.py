"""Worlds: the tables of a proof in an engine, and the rows of a statement in each variant of them."""

import random
import threading
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import duckdb

from tests.proof.tables import WAYS, Table, change

Row = tuple[object, ...]
Values = dict[str, dict[str, tuple[str, ...]]]
"""Tables to columns to the SQL texts of their values."""


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """Tables of which some columns have other values than in the base.

    `names` says what each of its tables is called in this world; a table without a name is used once.
    """

    way: str
    values: Values
    sources: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class World:
    """Base tables in an engine. An engine says how a statement runs on them, or on a variant of them."""

    tables: dict[str, Table]
    seed: str
    variants: dict[tuple[str, str, str], Variant | None] = field(default_factory=dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        raise NotImplementedError

    def run(self, sql: str, variant: Variant | None = None, *, then: str | None = None) -> list[Row] | None:
        """The rows of a query, or None when the engine refuses it; with `then`, of that query after a write."""
        raise NotImplementedError

    def run_together(self, sql: str, variants: list[Variant]) -> list[list[Row]] | None:
        """The rows of a query that `together` has made, in the base and in each variant; None if it does not run."""
        return None

    def interrupt(self) -> None:
        """End the statement that runs now, from another thread; it then counts as one that does not run."""
        raise NotImplementedError

    def base(self, name: str) -> dict[str, tuple[str, ...]]:
        return {column: held.values for column, held in self.tables[name].items()}

    def changed(self, table: str, column: str, way: str) -> Variant | None:
        """The variant in which one column is changed in one way; None if that changes nothing."""
        key = (table, column, way)
        if key not in self.variants:
            values = self._new_values(table, column, way)
            name = f"v_{table}_{column}_{way.replace(' ', '_')}"
            same = values == self.tables[table][column].values
            changed = {table: self.base(table) | {column: values}}
            made = Variant(way, changed, (f"{table}.{column}".lower(),), {table: name})
            self.variants[key] = None if same else made
        return self.variants[key]

    def changed_together(self, columns: list[tuple[str, str]], way: str) -> Variant:
        """The variant in which several columns are changed at once."""
        values: Values = {}
        for table, column in columns:
            values.setdefault(table, self.base(table))[column] = self._new_values(table, column, way)
        sources = tuple(f"{table}.{column}".lower() for table, column in columns)
        places = {name: list(held) for name, held in self.tables.items()}
        names = {
            name: f"m_{name}_{way}_" + "_".join(str(places[name].index(of)) for table, of in columns if table == name)
            for name in values
        }
        return Variant(f"{way}, together", values, sources, names)

    def _new_values(self, table: str, column: str, way: str) -> tuple[str, ...]:
        return change(self.tables[table][column], way, random.Random(f"{self.seed}/{table}/{column}/{way}"))

    def ways(self, table: str) -> list[str]:
        """All ways to change a column of a table."""
        rows = len(next(iter(self.tables[table].values())).values)
        return [*WAYS, *(f"row {at}" for at in range(rows))]

    def shuffled(self, variant: Variant | None, turn: int) -> Variant:
        """All tables, the variant's among them, with their rows in another order."""
        values: Values = {}
        for name in self.tables:
            held = variant.values.get(name) if variant else None
            lines = list(zip(*(held or self.base(name)).values(), strict=True))
            random.Random(f"{turn}/{name}").shuffle(lines)
            values[name] = dict(zip(self.tables[name], zip(*lines, strict=True), strict=True))
        return Variant("shuffled", values)


BREAKS = (duckdb.InternalException, duckdb.FatalException)
"""Faults of DuckDB's own, after which it runs nothing more."""


class DuckWorld(World):
    """Base tables in the schema `main` of DuckDB, variants in schemas of their own."""

    __slots__ = ("connection", "lock", "made", "numbers", "path", "running")

    def __init__(self, tables: dict[str, Table], seed: str) -> None:
        super().__init__(tables, seed)
        self.connection = duckdb.connect(":memory:", config={"threads": "1"})
        # Small tables often have two rows where a query expects one; then the first one counts.
        self.connection.execute("SET scalar_subquery_error_on_multiple_rows = false")
        self.connection.execute("SET enable_progress_bar = false")
        self.lock, self.running = threading.Lock(), False
        self.made: set[str] = set()
        self.path = ""
        self.numbers: dict[tuple[str, str], int] = {}
        """The numbers of the variants in the tables that hold all of them; 0 is the base."""
        for name in tables:
            self._create("main", name, self.base(name))

    def close(self) -> None:
        self.connection.close()

    def interrupt(self) -> None:
        with self.lock:
            if self.running:
                self.connection.interrupt()

    def _create(self, schema: str, name: str, values: dict[str, tuple[str, ...]]) -> None:
        typed = ", ".join(f'"{column}" {held.type}' for column, held in self.tables[name].items())
        lines = ", ".join(f"({', '.join(line)})" for line in zip(*values.values(), strict=True))
        made = f'CREATE OR REPLACE TABLE {schema}."{name}" ({typed}); INSERT INTO {schema}."{name}" VALUES {lines}'
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; {made}")

    def _path(self, variant: Variant) -> str:
        """The schemas of a variant's tables, which are made when they are first used."""
        path = []
        for name, values in variant.values.items():
            schema = variant.names.get(name, f"once_{name}")
            if schema not in self.made:
                self._create(schema, name, values)
                if name in variant.names:
                    self.made.add(schema)
            path.append(schema)
        return ",".join([*path, "main"])

    def run(self, sql: str, variant: Variant | None = None, *, then: str | None = None) -> list[Row] | None:
        path = self._path(variant) if variant else "main"
        if path != self.path:
            self.connection.execute(f"SET search_path = '{path}'")
            self.path = path
        if then is None:
            return self._rows(sql)
        self.connection.execute("BEGIN")
        done = self._rows(sql)
        rows = None if done is None else self._rows(then)
        self.connection.execute("ROLLBACK")
        return rows

    def run_together(self, sql: str, variants: list[Variant]) -> list[list[Row]] | None:
        self._number(variants)
        lines = ["(" + ", ".join("0" for _ in range(len(self.tables) + 1)) + ")"]
        for at, variant in enumerate(variants, 1):
            numbers = (str(self.numbers.get((name, variant.names.get(name, "")), 0)) for name in self.tables)
            lines.append(f"({at}, {', '.join(numbers)})")
        rows = self._rows(sql.replace("{runs}", ", ".join(lines), 1))
        if rows is None:
            return None
        found: list[list[Row]] = [[] for _ in range(len(variants) + 1)]
        for row in rows:
            found[int(str(row[0]))].append(row[1:])
        return found

    def _number(self, variants: list[Variant]) -> None:
        """Put the rows of variants that have no number yet into the tables that hold all of them."""
        lines: dict[str, list[str]] = {}
        if not self.numbers:
            for name, held in self.tables.items():
                typed = ", ".join(f'"{column}" {of.type}' for column, of in held.items())
                self.connection.execute(f"CREATE TABLE main.all_{name} (run__ INTEGER, place__ INTEGER, {typed})")
                self.numbers[name, ""] = 0
                lines[name] = _numbered(0, self.base(name))
        for variant in variants:
            for name, values in variant.values.items():
                key = (name, variant.names[name])
                if key not in self.numbers:
                    self.numbers[key] = len(self.numbers)
                    lines.setdefault(name, []).extend(_numbered(self.numbers[key], values))
        for name, found in lines.items():
            self.connection.execute(f"INSERT INTO main.all_{name} VALUES {', '.join(found)}")

    def _rows(self, sql: str) -> list[Row] | None:
        with self.lock:
            self.running = True
        try:
            return [tuple(map(plain, row)) for row in self.connection.execute(sql).fetchall()]
        except BREAKS:
            raise
        except duckdb.Error:
            return None
        finally:
            with self.lock:
                self.running = False


def _numbered(number: int, values: dict[str, tuple[str, ...]]) -> list[str]:
    rows = zip(*values.values(), strict=True)
    return [f"({number}, {place}, {', '.join(row)})" for place, row in enumerate(rows)]


def plain(value: object) -> object:
    """A value that can be compared and counted; sums of floats may differ in their last digits."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if value == value else "NaN"
    return repr(value) if isinstance(value, list | dict | tuple) else value

"""Worlds: the tables of a proof in DuckDB, and what a statement does in each variant of them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

import duckdb

from tests.proof.tables import Table, changes

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A schema of DuckDB that holds one table, of which one column differs from the base."""

    name: str
    table: str
    column: str
    way: str


class World:
    """Base tables in the schema `main`, variants in schemas of their own, shuffled copies when they are asked for."""

    def __init__(self, tables: dict[str, Table], seed: int, *, rounds: int = 1) -> None:
        self.tables, self.seed, self.rounds = tables, seed, rounds
        self.connection = duckdb.connect(":memory:", config={"threads": "1"})
        # Small tables often have two rows where a query expects one; then the first one counts.
        self.connection.execute("SET scalar_subquery_error_on_multiple_rows = false")
        self.variants: dict[str, list[Variant]] = {}
        for name, table in tables.items():
            self._create("main", name, {column: held.values for column, held in table.items()})

    def __enter__(self) -> "World":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.connection.close()

    def _create(self, schema: str, name: str, values: dict[str, tuple[str, ...]]) -> None:
        columns = self.tables[name]
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        typed = ", ".join(f'"{column}" {held.type}' for column, held in columns.items())
        self.connection.execute(f'CREATE TABLE {schema}."{name}" ({typed})')
        lines = ", ".join(
            f"({', '.join(line)})" for line in zip(*(values[column] for column in columns), strict=True)
        )
        self.connection.execute(f'INSERT INTO {schema}."{name}" VALUES {lines}')

    def of_table(self, name: str, columns: frozenset[str] | None = None) -> Iterator[Variant]:
        """The variants of a table, or of some of its columns; they are made when they are first asked for."""
        for column in self.tables[name]:
            if columns is None or column in columns:
                key = f"{name}.{column}"
                if key not in self.variants:
                    self.variants[key] = list(self._vary(name, column))
                yield from self.variants[key]

    def _vary(self, name: str, column: str) -> Iterator[Variant]:
        table = self.tables[name]
        for turn in range(self.rounds):
            chance = random.Random(f"{self.seed}/{name}/{column}/{turn}")
            for way, values in changes(table[column], chance).items():
                schema = f"v_{name}_{column}_{way}_{turn}"
                held = {other: values if other == column else table[other].values for other in table}
                self._create(schema, name, held)
                yield Variant(schema, name, column, way)

    def shuffled(self, variant: Variant | None, turn: int) -> str:
        """A schema in which every table, the variant's among them, has its rows in another order."""
        schema = f"s{turn}_{variant.name if variant else 'main'}"
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for name in self.tables:
            home = variant.name if variant and variant.table == name else "main"
            order = f"ORDER BY hash(rowid + {turn * 7919})"
            self.connection.execute(f'CREATE OR REPLACE TABLE {schema}."{name}" AS FROM {home}."{name}" {order}')
        return schema

    def run(self, sql: str, schema: str = "main", *, then: str | None = None) -> list[Row] | None:
        """The rows of a query, or None when DuckDB refuses it; with `then`, of that query after a write, undone."""
        execute = self.connection.execute
        execute(f"SET search_path = '{schema}{'' if schema == 'main' else ',main'}'")
        if then is None:
            try:
                return [tuple(map(plain, row)) for row in execute(sql).fetchall()]
            except duckdb.Error:
                return None
        execute("BEGIN")
        try:
            execute(sql)
            return [tuple(map(plain, row)) for row in execute(then).fetchall()]
        except duckdb.Error:
            return None
        finally:
            execute("ROLLBACK")


def plain(value: object) -> object:
    """A value that can be compared and counted; sums of floats may differ in their last digits."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if value == value else "NaN"
    return repr(value) if isinstance(value, list | dict | tuple) else value

"""Engines beside DuckDB, each with lineage in its own dialect: SQLite, PostgreSQL, Spark.

A generated query of DuckDB is translated by sqlglot; what an engine then refuses is counted and left out. Variants
run one by one, and rows have no identity, so only the first two rules apply.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache

import sqlglot

from tests.proof.account import Account
from tests.proof.engine import World
from tests.proof.expressions import DATE, INT, LIST, MAP, SCHEMA, STRUCT, TEXT
from tests.proof.judge import Query
from tests.proof.postgres import PostgresWorld, missing_postgres
from tests.proof.prover import Proof
from tests.proof.shapes import generated
from tests.proof.spark import SparkWorld, missing_spark
from tests.proof.sqlite import SqliteWorld
from tests.proof.tables import Column, Schema, Table, make_tables


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: the dialect it speaks, types of columns it has, how tables are opened in it, why it is missing."""

    dialect: str
    kinds: tuple[str, ...]
    open: Callable[[dict[str, Table], str], World]
    missing: Callable[[], str | None]
    shared: int
    """Queries that share their worlds."""
    worlds: int


ENGINES = {
    "sqlite": Engine("sqlite", (INT, TEXT), SqliteWorld, lambda: None, 2000, 8),
    "postgres": Engine("postgres", (INT, TEXT, LIST, DATE), PostgresWorld, missing_postgres, 1000, 3),
    "spark": Engine("spark", (INT, TEXT, LIST, DATE, STRUCT), SparkWorld, missing_spark, 1000, 1),
}


@cache
def spoken(text: str, dialect: str) -> str:
    """A value or a type of DuckDB in another dialect."""
    text = f"CAST([] AS {LIST})" if text == "[]" else text  # elsewhere, an empty array has no type of its own
    (found,) = sqlglot.transpile(f"SELECT CAST(NULL AS {text})" if text in _KINDS else text, "duckdb", dialect)
    return found.removeprefix("SELECT CAST(NULL AS ").removesuffix(")") if text in _KINDS else found


_KINDS = frozenset({INT, TEXT, LIST, DATE, STRUCT, MAP})


def schema_of(engine: Engine) -> Schema:
    """The tables of the generator, without the columns whose types the engine does not have."""
    return {
        name: {column: kind for column, kind in columns.items() if kind in engine.kinds}
        for name, columns in SCHEMA.items()
    }


def prove_in_engine(name: str, account: Account, seed: int, numbers: range) -> None:
    """Prove generated queries in an engine; queries that it refuses are counted."""
    engine = ENGINES[name]
    schema = schema_of(engine)
    known = {
        table: {column: spoken(kind, engine.dialect) for column, kind in columns.items()}
        for table, columns in schema.items()
    }
    for start in range(numbers.start, numbers.stop, engine.shared):
        with ExitStack() as stack:
            worlds = [
                stack.enter_context(engine.open(_tables(engine, schema, f"{seed}/{start}/{at}", at), f"{seed}/{at}"))
                for at in range(engine.worlds)
            ]
            for number in range(start, min(start + engine.shared, numbers.stop)):
                sql = _translated(generated(seed, number), engine.dialect)
                if sql is None or worlds[0].run(sql) is None:
                    account.refused += 1
                else:
                    Proof(Query(sql, known, engine.dialect, f"{name} {seed}:{number}"), account).through(worlds)


def _tables(engine: Engine, schema: Schema, seed: str, at: int) -> dict[str, Table]:
    made = make_tables(schema, random.Random(seed), rows=6 + at % 4)
    return {name: dict(_in_dialect(table, engine.dialect)) for name, table in made.items()}


def _in_dialect(table: Table, dialect: str) -> Iterator[tuple[str, Column]]:
    for column, held in table.items():
        values, pool = (tuple(spoken(text, dialect) for text in texts) for texts in (held.values, held.pool))
        yield column, Column(spoken(held.type, dialect), values, pool)


def _translated(sql: str, dialect: str) -> str | None:
    try:
        (found,) = sqlglot.transpile(sql, "duckdb", dialect, unsupported_level=sqlglot.ErrorLevel.IGNORE)
    except (sqlglot.errors.SqlglotError, TypeError):  # its generators fail on some of DuckDB's structs
        return None
    return found

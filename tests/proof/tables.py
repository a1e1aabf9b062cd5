"""Small tables: which values a column may take, rows of them, and changes of one column."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Schema = Mapping[str, Mapping[str, str]]
"""Tables to columns to types of DuckDB."""

Pools = Mapping[str, Sequence[str]]
"""Columns, as `table.column` or as `column` in any table, to SQL texts of the values that a query asks for."""

NULL = "NULL"

WAYS = ("other", "one", "null", "same", "permuted", "another")
"""Ways to change a column, those that show most first; after them, each row alone."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's values, one SQL text per row, and the texts that a change takes new values from."""

    type: str
    values: tuple[str, ...]
    pool: tuple[str, ...]


Table = dict[str, Column]


def usual_values(kind: str) -> tuple[str, ...]:
    """Values of a type: few, so that keys overlap, and different enough that a change shows."""
    kind = kind.upper()
    if kind.endswith("[]"):
        inner = usual_values(kind[:-2])
        return (f"[{inner[0]}, {inner[1]}]", f"[{inner[2]}]", f"[{inner[1]}, {inner[2]}, {inner[0]}]", "[]")
    if kind.startswith("STRUCT"):
        return ("{'p': 1, 'q': 'a'}", "{'p': 2, 'q': 'b'}", "{'p': 3, 'q': 'a'}", "{'p': 1, 'q': 'c'}")
    if kind.startswith("MAP"):
        return ("MAP {'a': 1, 'b': 2}", "MAP {'a': 3}", "MAP {'b': 1, 'c': 4}", "MAP {'a': 2, 'c': 2}")
    if kind == "DATE":
        return tuple(f"DATE '2000-0{n}-1{n}'" for n in range(1, 5))
    if kind.startswith("TIME"):
        return tuple(f"TIMESTAMP '2000-01-0{n} 0{n}:00:00'" for n in range(1, 5))
    if kind == "BOOLEAN":
        return ("true", "false")
    if kind.startswith(("VARCHAR", "CHAR", "TEXT")):
        return ("'a'", "'b'", "'c'", "'ab'", "'2'")
    if kind.startswith(("DECIMAL", "DOUBLE", "FLOAT", "REAL", "NUMERIC")):
        return ("1.5", "2", "3.25", "4", "7.75")
    return ("1", "2", "3", "4")


def make_tables(schema: Schema, chance: random.Random, *, rows: int, pools: Pools | None = None) -> dict[str, Table]:
    """Tables with overlapping keys, NULLs and a duplicated row."""
    tables: dict[str, Table] = {}
    for name, columns in schema.items():
        wanted = {column: _pool(name, column, kind, pools or {}) for column, kind in columns.items()}
        lines = [{column: _value(pool, chance) for column, pool in wanted.items()} for _ in range(rows - 1)]
        lines.append(dict(chance.choice(lines)))
        tables[name] = {
            column: Column(kind, tuple(line[column] for line in lines), (*wanted[column], *usual_values(kind)))
            for column, kind in columns.items()
        }
    return tables


def _pool(table: str, column: str, kind: str, pools: Pools) -> tuple[str, ...]:
    found = pools.get(f"{table}.{column}") or pools.get(column.lower()) or ()
    return (*found, *found, *usual_values(kind)[:2]) if found else usual_values(kind)


def _value(pool: Sequence[str], chance: random.Random) -> str:
    return NULL if chance.random() < 0.08 else chance.choice(pool)


def change(column: Column, way: str, chance: random.Random) -> tuple[str, ...]:
    """Other values for a column, in one of `WAYS` or, with `row N`, in one row; perhaps the same values."""
    old, pool = column.values, column.pool
    if way in ("other", "another"):
        return tuple(chance.choice([text for text in pool if text != value] or pool) for value in old)
    if way == "null":
        return tuple(NULL if chance.random() < 0.5 else text for text in old)
    if way == "permuted":
        return tuple(chance.sample(old, len(old)))
    if way == "same":
        return (chance.choice(pool),) * len(old)
    one = chance.randrange(len(old)) if way == "one" else int(way.removeprefix("row ")) % len(old)
    others = [text for text in pool if text != old[one]] or [NULL]
    return (*old[:one], chance.choice(others), *old[one + 1 :])

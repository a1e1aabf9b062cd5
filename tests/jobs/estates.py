"""Small estates that are made to be difficult.

Tables are made anew, altered, renamed, dropped, read too early, shadowed by temporary ones, known by their use alone.
"""

import random

TABLES = ("raw.orders", "raw.people", "stg.o", "stg.p", "mart.a", "mart.b", "tmp_x", "Mixed")
COLUMNS = ("id", "amount", "email", "status", "day", "note")
SCHEMA = {"raw.orders": ["id", "amount", "status"], "given.codes": {"id": "INT64", "note": "STRING"}}


def scripts(seed: int, *, dialect: str = "postgres") -> list[tuple[str, str]]:
    """Names and texts of the scripts of an estate."""
    chance = random.Random(seed)
    files = []
    for number in range(chance.randint(2, 7)):
        count = chance.randint(1, 5)
        separator = chance.choice([";\n", ";\n\n-- next; one\n", "; /* a; b */ "])
        text = separator.join(_statement(chance, dialect) for _ in range(count)) + chance.choice(["", ";", ";\n"])
        files.append((f"{number:02}_{chance.choice('abc')}.sql", text))
    return files


def _statement(chance: random.Random, dialect: str) -> str:
    target, source, other = (chance.choice(TABLES) for _ in range(3))
    one, two = chance.sample(COLUMNS, 2)
    kind = "STRING" if dialect == "bigquery" else "TEXT"
    query = chance.choice(
        [
            f"SELECT * FROM {source}",
            f"SELECT {one}, {two} AS b FROM {source} WHERE {two} > 1",
            f"SELECT s.{one}, count(*) AS n FROM {source} s JOIN {other} t ON s.id = t.id GROUP BY s.{one}",
            f"WITH q AS (SELECT {one}, {two} FROM {source}) SELECT q.{one}, t.* FROM q, {other} t",
            f"SELECT id, {one} FROM {source} UNION ALL SELECT id, {two} FROM {other}",
            "SELECT note, id FROM given.codes",
            f"SELECT {one} FROM {source}, {other}",
        ]
    )
    return chance.choice(
        [
            f"CREATE TABLE {target} ({one} {kind}, {two} {kind})",
            f"CREATE TABLE IF NOT EXISTS {target} (id {kind}, {two} {kind})",
            f"CREATE OR REPLACE TABLE {target} AS {query}",
            f"CREATE TABLE {target} AS {query}",
            f"CREATE OR REPLACE VIEW {target} AS {query}",
            f"CREATE TEMP TABLE {target.rpartition('.')[2]} AS {query}",
            f"INSERT INTO {target} {query}",
            f"INSERT INTO {target} ({one}, b) SELECT {one}, {two} FROM {source}",
            f"UPDATE {target} SET {one} = {two} WHERE id = 1",
            f"ALTER TABLE {target} ADD COLUMN {one} {kind}",
            f"ALTER TABLE {target} DROP COLUMN {two}",
            f"ALTER TABLE {target} RENAME TO {chance.choice(TABLES).rpartition('.')[2]}",
            f"ALTER TABLE {target} RENAME COLUMN {one} TO {two}",
            f"ALTER TABLE {target} SWAP WITH {source}",
            f"DROP TABLE {target}",
            f"SELECT x FROM ({query}) AS q",
            "SELEC broken FROM",
            query,
            _special(chance, dialect, query),
        ]
    )


def _special(chance: random.Random, dialect: str, query: str) -> str:
    """Statements that make their script one unit."""
    if dialect == "bigquery":
        return chance.choice(
            [
                "CREATE FUNCTION twice(x INT64) AS (x * 2)",
                "SELECT twice(amount) AS double FROM raw.orders",
                f"DECLARE v INT64 DEFAULT (SELECT max(id) FROM raw.orders); {query}",
            ]
        )
    if dialect == "snowflake":
        return chance.choice(["USE SCHEMA stg", f"SET v = 1; {query}", "CREATE TABLE mart.b CLONE stg.o"])
    return chance.choice(
        ["CREATE FUNCTION f(x int) RETURNS int AS 'select x' LANGUAGE sql", f"SET search_path = stg; {query}"]
    )

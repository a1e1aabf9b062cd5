"""Queries that stand in files: those of TPC-H and TPC-DS, and a folder of SELECTs that somebody names."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import sqlglot
from sqlglot import exp

from tests.proof.account import Account
from tests.proof.engine import DuckWorld, World
from tests.proof.judge import Query, is_empty
from tests.proof.literals import pools
from tests.proof.prover import Proof
from tests.proof.tables import Schema, make_tables
from tests.proof.together import starred

AT_ONCE = 5
"""Tables of a query that runs on all variants at once, at the most."""

DATA = Path(__file__).parents[2] / "benchmarks" / "data"


def tpc_queries() -> dict[str, str]:
    """The 121 queries by name: `tpch-01`, `tpcds-01`, …"""
    found: dict[str, str] = {}
    for suite in ("tpch", "tpcds"):
        for part in re.split(r"(?m)^-- (?=tpc)", (DATA / f"{suite}.sql").read_text()):
            title, _, sql = part.partition("\n")
            if sql.strip():
                found[title.strip()] = sql.strip().rstrip(";")
    return found


def tpc_schema() -> Schema:
    schema: Schema = json.loads((DATA / "tpc_schema.json").read_text())
    return schema


def folder_queries(folder: Path, given: Path | None = None) -> tuple[dict[str, str], Schema]:
    """The SELECTs of the `.sql` files of a folder, and the schema: of a file that is given, else of the folder.

    A schema is JSON (tables to columns to types; in a folder, `schema.json`) or CREATE TABLEs.
    """
    schema: dict[str, dict[str, str]] = {}
    described = given if given is not None and given.suffix == ".json" else folder / "schema.json"
    if described.exists():
        schema = json.loads(described.read_text())
    queries: dict[str, str] = {}
    more = [given] if given is not None and given.suffix != ".json" else []
    for path in [*more, *sorted(folder.rglob("*.sql"))]:
        try:
            trees = sqlglot.parse(path.read_text(), dialect="duckdb")
        except sqlglot.errors.SqlglotError as error:
            print(f"{path}: not read: {str(error).splitlines()[0]}")
            continue
        for at, tree in enumerate(tree for tree in trees if tree is not None):
            if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
                columns = tree.this.find_all(exp.ColumnDef)
                schema[tree.this.this.name.lower()] = {
                    column.name.lower(): column.kind.sql(dialect="duckdb") for column in columns
                }
            elif isinstance(tree, exp.Query):
                queries[f"{path.name}#{at + 1}"] = tree.sql(dialect="duckdb")
    return queries, schema


def prove_text(sql: str, schema: Schema, account: Account, *, name: str = "", seed: int, worlds: int) -> None:
    """Prove one query in several worlds that are filled with the values it asks for."""
    query = Query(sql, schema, seed=name)
    query.apart = len(query.tables) > AT_ONCE  # DuckDB plans a lateral join of many tables badly
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    named = frozenset(column.name.lower() for column in tree.find_all(exp.Column))
    mentioned = None if starred(tree) and len(query.tables) < 3 else named
    with ExitStack() as stack:
        Proof(query, account, mentioned, least=min(worlds, 3)).through(_worlds(query, schema, stack, seed, worlds))


def _worlds(query: Query, schema: Schema, stack: ExitStack, seed: int, worlds: int) -> Iterator[World]:
    """Worlds with rows in the result, as many as are wanted; if no tables give any, some without."""
    used = {name: columns for name, columns in schema.items() if name in query.tables}
    wanted = pools(query.sql, schema)
    found = 0
    for turn in range(worlds + 24):
        chance = random.Random(f"{seed}/{turn}")
        tables = make_tables(used, chance, rows=8 + turn % 4 + turn // 8 * 3, pools=wanted)
        world = stack.enter_context(DuckWorld(tables, f"{seed}/{turn}"))
        yield world
        found += not is_empty(world.run(query.sql) or [])
        if found == worlds:
            return

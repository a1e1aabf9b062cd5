"""Queries that stand in files: those of TPC-H and TPC-DS, and a folder of SELECTs that somebody names."""

import json
import random
import re
from pathlib import Path

import sqlglot
from sqlglot import exp

from tests.proof.engine import World
from tests.proof.judge import Account, EdgeKey, Query, prove, settle
from tests.proof.literals import pools
from tests.proof.tables import Schema, make_tables

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


def folder_queries(folder: Path) -> tuple[dict[str, str], Schema]:
    """The SELECTs of the `.sql` files of a folder, and the schema that its CREATE TABLEs or its `schema.json` say."""
    schema: dict[str, dict[str, str]] = {}
    if (folder / "schema.json").exists():
        schema = json.loads((folder / "schema.json").read_text())
    queries: dict[str, str] = {}
    for path in sorted(folder.rglob("*.sql")):
        try:
            trees = sqlglot.parse(path.read_text(), dialect="duckdb")
        except sqlglot.errors.SqlglotError as error:
            print(f"{path}: not read: {str(error).splitlines()[0]}")
            continue
        for at, tree in enumerate(tree for tree in trees if tree is not None):
            if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema):
                columns = tree.this.find_all(exp.ColumnDef)
                schema[tree.this.this.name] = {column.name: column.kind.sql(dialect="duckdb") for column in columns}
            elif isinstance(tree, exp.Query):
                queries[f"{path.relative_to(folder)}#{at + 1}"] = tree.sql(dialect="duckdb")
    return queries, schema


def prove_text(sql: str, schema: Schema, account: Account, *, seed: int, worlds: int, rows: int = 8) -> None:
    """Prove one query in several worlds that are filled with the values it asks for."""
    query = Query(sql, schema)
    used = {name: columns for name, columns in schema.items() if name in query.tables}
    named = frozenset(column.name for column in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.Column))
    starred = sqlglot.parse_one(sql, dialect="duckdb").find(exp.Star) is not None
    mentioned = None if starred and len(used) < 3 else named
    wanted = pools(sql, schema)
    witnessed: set[EdgeKey] = set()
    ran = 0
    for turn in range(worlds + 24):
        chance = random.Random(f"{seed}/{turn}")
        tables = make_tables(used, chance, rows=rows + turn % 4 + turn // 8 * 3, pools=wanted)
        with World(tables, seed=seed + turn) as world:
            if not world.run(sql) and turn < 24:
                continue  # nothing comes out of these tables; the next may do better
            found = prove(query, world, account, mentioned)
        if found is None:
            break
        ran += 1
        witnessed |= found
        if witnessed == query.edges.keys or ran == worlds:
            break
    if ran:
        settle(query, witnessed, account)
    else:
        account.refused += 1

"""Trials of refreshes: random tables, a random query over them as a materialized view, random changes, and a refresh;
after each the view must have the rows that its query gives.

    python -m tests.refresh.trials [--trials 2000] [--seed 1] [--jobs 2] [--only SEED:NUMBER] [--proof]
"""

import argparse
import math
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from headwater.errors import HeadwaterError, SchemaError
from headwater.files import MemoryFiles
from headwater.lake.tables import Warehouse
from headwater.query import Session
from headwater.query.materialized import refresh_table
from headwater.query.parse import quoted
from headwater.query.refresh import evaluate
from headwater.query.refresh.definition import find_definition
from headwater.query.refresh.refresh import NOT_RUN, Refresh, Way
from tests.proof.expressions import SCHEMA
from tests.proof.shapes import generated
from tests.proof.tables import usual_values
from tests.refresh.shapes import KEYS, ODD_NAMES, TABLES, Shapes, with_odd_names

_ROUNDS = 3
_PORTION = 25  # trials that a process does at a time
_FEW_VALUES = {name for plain in ("c", "cid", "p", "r", "k") for name in (plain, ODD_NAMES.get(plain, plain))}


@dataclass
class Account:
    """The counts of a run of trials."""

    trials: int = 0
    refused: int = 0  # queries that no table can hold, or that the engine refuses
    unstable: int = 0
    ways: Counter[Way] = field(default_factory=Counter)
    not_run: list[str] = field(default_factory=list)  # rewritten queries that the engine refused
    findings: list[str] = field(default_factory=list)

    def add(self, other: "Account") -> None:
        """Count what another run of trials has counted."""
        self.trials += other.trials
        self.refused += other.refused
        self.unstable += other.unstable
        self.ways += other.ways
        self.not_run += other.not_run
        self.findings += other.findings


class Trial:
    """One query over tables of its own."""

    def __init__(self, name: str, *, proof: bool = False) -> None:
        self.name = name
        self.chance = random.Random(name)
        seed, _, number = name.partition(":")
        self.schema = SCHEMA if proof else TABLES
        self.query = generated(int(seed), int(number)) if proof else Shapes(name).query()
        self.session = Session(Warehouse(MemoryFiles()), database="d")
        self.keys: dict[str, list[str]] = {}
        self.next = 1
        self.is_proof = proof
        if not proof and self.chance.random() < 0.3:
            self.query = with_odd_names(self.query)
            self.schema = {table: with_odd(columns) for table, columns in TABLES.items()}

    def make_tables(self) -> None:
        self.session.sql("CREATE DATABASE d")
        for table, columns in self.schema.items():
            listed = [f"{quoted(name)} {type}" for name, type in columns.items()]
            if table in KEYS and not self.is_proof and self.chance.random() < 0.6:
                self.keys[table] = list(columns)[: len(KEYS[table].split(", "))]
                listed.append(f"PRIMARY KEY ({', '.join(map(quoted, self.keys[table]))})")
            self.session.sql(f"CREATE TABLE d.{table} ({', '.join(listed)})")
            self.insert(table, self.chance.randint(0, 12))

    def insert(self, table: str, count: int) -> None:
        """Insert random rows; with a key, those of later rows in the place of earlier ones."""
        rows: dict[Any, str] = {}
        for at in range(count):
            values = []
            for name, type in self.schema[table].items():
                null = name not in self.keys.get(table, ()) and self.chance.random() < 0.1
                values.append("NULL" if null else self.value(name, type))
            key = values[: len(self.keys[table])] if table in self.keys else [at]
            rows[repr(key)] = f"({', '.join(values)})"
        if rows:
            self.session.sql(f"INSERT INTO d.{table} VALUES {', '.join(rows.values())}")

    def value(self, name: str, type: str) -> str:
        if type in ("INTEGER", "BIGINT", "DOUBLE") or type.startswith("DECIMAL"):
            return str(self.chance.randrange(6 if name in _FEW_VALUES else 10))
        return self.chance.choice(usual_values(type))

    def change(self) -> None:
        """One random change of one table."""
        table = self.chance.choice(list(self.schema))
        columns = {name: type for name, type in self.schema[table].items() if not type.startswith(("MAP", "STRUCT"))}
        name = self.chance.choice([each for each in columns if not columns[each].endswith("[]")])
        where = f"WHERE {quoted(name)} = {self.value(name, columns[name])}"
        kind = self.chance.random()
        if kind < 0.42:
            self.insert(table, self.chance.choice((1, 1, 1, 3)))
        elif kind < 0.65:
            self.session.sql(f"DELETE FROM d.{table} {where}")
        elif kind < 0.91:
            column = self.chance.choice([each for each in columns if each not in self.keys.get(table, ())])
            value = self.chance.choice((self.value(column, columns[column]),) * 6 + ("NULL",))
            self.session.sql(f"UPDATE d.{table} SET {quoted(column)} = {value} {where}")
        elif kind < 0.95:
            self.change_key(table, where)
        elif kind < 0.985:
            self.change_columns(table)
        else:
            self.session.table(f"d.{table}").compact()

    def change_key(self, table: str, where: str) -> None:
        """Give rows other keys, where no other row has them."""
        column = quoted(next(iter(self.schema[table])))
        try:
            self.session.sql(f"UPDATE d.{table} SET {column} = {column} + {self.chance.choice((1, 7))} {where}")
        except HeadwaterError:  # two rows would have one key
            return

    def change_columns(self, table: str) -> None:
        """Add a column, or rename, widen or drop one that was added."""
        columns = dict(self.schema[table])
        added = [name for name in columns if name.startswith("extra")]
        new = f"extra{self.next}"
        self.next += 1
        kind = self.chance.randrange(4) if added else 0
        if kind == 0:
            self.session.sql(f"ALTER TABLE d.{table} ADD COLUMN {new} INTEGER")
            columns[new] = "INTEGER"
        elif kind == 1:
            self.session.sql(f"ALTER TABLE d.{table} RENAME COLUMN {added[0]} TO {new}")
            columns = {new if name == added[0] else name: type for name, type in columns.items()}
        elif kind == 2:
            self.session.sql(f"ALTER TABLE d.{table} ALTER COLUMN {added[0]} TYPE BIGINT")
            columns[added[0]] = "BIGINT"
        else:
            self.session.sql(f"ALTER TABLE d.{table} DROP COLUMN {added[0]}")
            del columns[added[0]]
        self.schema = {**self.schema, table: columns}

    def refresh(self) -> Refresh:
        run = self.session.execution(find_definition(self.session.warehouse, "d.v").statement)
        if int(self.name.partition(":")[2]) % 2:
            return refresh_table(run, "d.v")
        with patch.multiple(evaluate, MOST_LISTED=0, PART=0):  # by ranges of keys, as only larger tables are
            return refresh_table(run, "d.v")

    def run(self, account: Account) -> None:
        account.trials += 1
        self.make_tables()
        try:
            self.session.sql(f"CREATE MATERIALIZED VIEW d.v AS {self.query}")
        except HeadwaterError:
            account.refused += 1
            return
        for at in range(_ROUNDS):
            for _ in range(self.chance.randint(1, 4)):
                self.change()
            try:
                plan = self.refresh()
            except SchemaError:  # `*` over a table that got another column
                account.refused += 1
                return
            account.ways[plan.way] += 1
            account.not_run += [f"{self.name}: {reason}" for reason in plan.reasons if NOT_RUN in reason]
            kept, wanted = (_rows(self.session.sql(text).table) for text in ("FROM d.v", self.query))
            if self.is_proof and plan.way is Way.FULL and not _same(kept, wanted):  # it gives other rows each time
                account.unstable += 1
                return
            if not _same(kept, wanted):
                account.findings.append(
                    f"{self.name} round {at} by {plan.way.value}: {self.query}\n  {kept}\n  {wanted}"
                )
                return


def _rows(table: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def _same(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    """Return whether two lists of rows are the same, but for the last digits of floating numbers."""
    if len(left) != len(right):
        return False
    return all(_close(a, b) for one, other in zip(left, right) for a, b in zip(one, other))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def with_odd(columns: dict[str, str]) -> dict[str, str]:
    return {ODD_NAMES.get(name, name): type for name, type in columns.items()}


def run_trials(seed: int, numbers: range, *, proof: bool = False) -> Account:
    """Run trials of a seed, by number."""
    account = Account()
    for number in numbers:
        Trial(f"{seed}:{number}", proof=proof).run(account)
    return account


def run_in_processes(seed: int, trials: int, jobs: int, *, proof: bool) -> Account:
    """Run trials in several processes, and tell how far they are."""
    account = Account()
    portions = [range(start, min(start + _PORTION, trials)) for start in range(0, trials, _PORTION)]
    with ProcessPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(run_trials, seed, portion, proof=proof) for portion in portions]):
            account.add(done.result())
            for finding in done.result().findings:
                print(f"FINDING {finding}", file=sys.stderr)
            print(f"{account.trials} of {trials}, {len(account.findings)} findings", file=sys.stderr, flush=True)
    return account


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", metavar="SEED:NUMBER")
    parser.add_argument("--proof", action="store_true", help="queries of tests/proof, of all shapes")
    given = parser.parse_args()
    account = Account()
    if given.only is not None:
        Trial(given.only, proof=given.proof).run(account)
    else:
        account = run_in_processes(given.seed, given.trials, given.jobs, proof=given.proof)
    for finding in account.findings:
        print(f"FINDING {finding}")
    for each in account.not_run:
        print(f"NOT RUN {each}")
    ways = ", ".join(
        f"{way.value} {count}" for way, count in sorted(account.ways.items(), key=lambda each: each[0].value)
    )
    print(
        f"{account.trials} trials, {account.refused} refused, {account.unstable} unstable, refreshes by {ways}; "
        f"{len(account.findings)} findings"
    )
    return 1 if account.findings else 0


if __name__ == "__main__":
    sys.exit(main())

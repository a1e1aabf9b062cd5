"""Trials of refreshes: random tables, a random query over them as a materialized view, random changes, and a refresh;
after each the view must have the rows that its query gives.

    python -m tests.refresh.trials [--trials 2000] [--seed 1] [--only SEED:NUMBER] [--proof]
"""

import argparse
import math
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import HeadwaterError, SchemaError
from headwater.files import MemoryFiles
from headwater.lake.tables import Warehouse
from headwater.query import Session
from headwater.query.materialized import refresh_table
from headwater.query.refresh.definition import find_definition
from headwater.query.refresh.refresh import NOT_RUN, Refresh, Way
from tests.proof.expressions import SCHEMA
from tests.proof.shapes import generated
from tests.proof.tables import usual_values
from tests.refresh.shapes import KEYS, TABLES, Shapes

_ROUNDS = 3


@dataclass
class Account:
    """The counts of a run of trials."""

    trials: int = 0
    refused: int = 0  # queries that no table can hold, or that the engine refuses
    unstable: int = 0
    ways: Counter[Way] = field(default_factory=Counter)
    not_run: list[str] = field(default_factory=list)  # rewritten queries that the engine refused
    findings: list[str] = field(default_factory=list)


class Trial:
    """One query over tables of its own."""

    def __init__(self, name: str, *, proof: bool = False) -> None:
        self.name = name
        self.chance = random.Random(name)
        seed, _, number = name.partition(":")
        self.schema = SCHEMA if proof else TABLES
        self.query = generated(int(seed), int(number)) if proof else Shapes(name).query()
        self.prefix = "" if proof else "d."
        self.session = Session(Warehouse(MemoryFiles()), database="d")
        self.keys: dict[str, str] = {}
        self.next = 1

    def make_tables(self) -> None:
        self.session.sql("CREATE DATABASE d")
        for table, columns in self.schema.items():
            listed = [f"{name} {type}" for name, type in columns.items()]
            if table in KEYS and self.schema is TABLES and self.chance.random() < 0.6:
                self.keys[table] = KEYS[table]
                listed.append(f"PRIMARY KEY ({KEYS[table]})")
            self.session.sql(f"CREATE TABLE d.{table} ({', '.join(listed)})")
            for _ in range(self.chance.randint(0, 12)):
                self.insert(table)

    def insert(self, table: str) -> None:
        values = []
        for name, type in self.schema[table].items():
            is_key = name in self.keys.get(table, "").split(", ")
            null = not is_key and self.chance.random() < 0.1
            values.append("NULL" if null else self.value(table, name, type))
        self.session.sql(f"INSERT INTO d.{table} VALUES ({', '.join(values)})")

    def value(self, table: str, name: str, type: str) -> str:
        if type in ("INTEGER", "DOUBLE") or type.startswith("DECIMAL"):
            return str(self.chance.randrange(6 if name in ("c", "cid", "p", "r", "k") else 10))
        return self.chance.choice(usual_values(type))

    def change(self) -> None:
        """One random change of one table."""
        table = self.chance.choice(list(self.schema))
        columns = {name: type for name, type in self.schema[table].items() if not type.startswith(("MAP", "STRUCT"))}
        name = self.chance.choice([each for each in columns if not columns[each].endswith("[]")])
        where = f"WHERE {name} = {self.value(table, name, columns[name])}"
        kind = self.chance.random()
        if kind < 0.45:
            self.insert(table)
        elif kind < 0.7:
            self.session.sql(f"DELETE FROM d.{table} {where}")
        elif kind < 0.97:
            free = [each for each in columns if each not in self.keys.get(table, "").split(", ")]
            column = self.chance.choice(free)
            value = self.value(table, column, columns[column])
            self.session.sql(f"UPDATE d.{table} SET {column} = {value} {where}")
        elif kind < 0.985:
            self.session.sql(f"ALTER TABLE d.{table} ADD COLUMN extra{self.next} INTEGER")
            self.schema = {**self.schema, table: {**self.schema[table], f"extra{self.next}": "INTEGER"}}
            self.next += 1
        else:
            self.session.table(f"d.{table}").compact()

    def refresh(self) -> Refresh:
        run = self.session.execution(find_definition(self.session.warehouse, "d.v").statement)
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
            if plan.way is Way.FULL and not _same(kept, wanted):  # the query gives other rows each time
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


def run_trials(seed: int, numbers: range, *, proof: bool = False) -> Account:
    """Run trials of a seed, by number."""
    account = Account()
    for number in numbers:
        Trial(f"{seed}:{number}", proof=proof).run(account)
    return account


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="SEED:NUMBER")
    parser.add_argument("--proof", action="store_true", help="queries of tests/proof, of all shapes")
    given = parser.parse_args()
    account = Account()
    for number in range(given.trials) if given.only is None else ():
        Trial(f"{given.seed}:{number}", proof=given.proof).run(account)
        if number % 100 == 99:
            print(f"{number + 1} of {given.trials}, {len(account.findings)} findings", file=sys.stderr)
    if given.only is not None:
        Trial(given.only, proof=given.proof).run(account)
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

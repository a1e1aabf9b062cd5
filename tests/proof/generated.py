"""The proof of generated queries: many queries share the same worlds."""

import random
from collections.abc import Iterator
from contextlib import ExitStack

from tests.proof.account import Account
from tests.proof.engine import BREAKS, DuckWorld, World
from tests.proof.expressions import SCHEMA
from tests.proof.judge import Query
from tests.proof.prover import Proof
from tests.proof.shapes import generated
from tests.proof.tables import make_tables
from tests.proof.writes import Write, generated_write

SHARED = 1000
"""Queries that share their worlds; then the tables are made anew."""

WORLDS = 10
"""Sets of tables for each query, at the most."""


class Worlds:
    """The worlds of a batch of queries; they are made when they are first asked for."""

    def __init__(self, stack: ExitStack, seed: str) -> None:
        self.stack, self.seed = stack, seed
        self.made: list[World] = []

    def first(self, count: int) -> Iterator[World]:
        for at in range(count):
            if at == len(self.made):
                self.made.append(self.stack.enter_context(_world(f"{self.seed}/{at}", at)))
            yield self.made[at]


def prove_generated(account: Account, seed: int, queries: range, *, worlds: int = WORLDS) -> None:
    """Prove some queries of a seed, by number; a query goes to the next world while it has edges to witness."""
    _prove(account, f"{seed}", queries, worlds)


def prove_writes(account: Account, seed: int, statements: range, *, worlds: int = WORLDS) -> None:
    """Prove some writing statements of a seed, by number."""
    _prove(account, f"{seed}w", statements, worlds)


def _prove(account: Account, seed: str, numbers: range, worlds: int) -> None:
    stack, shared, batch = ExitStack(), None, -1
    with stack:
        for number in numbers:
            if number // SHARED != batch or shared is None:
                stack.close()
                batch = number // SHARED
                shared = Worlds(stack, f"{seed}/{batch}")
            try:
                Proof(made_query(f"{seed}:{number}"), account).through(shared.first(worlds))
            except BREAKS:
                account.broken.append(f"{seed}:{number}")
                shared = None


def made_query(name: str) -> Query:
    """The generated query of a seed and a number: `7:123`, or `7w:123` for a statement that writes."""
    seed, _, number = name.partition(":")
    if seed.endswith("w"):
        return Write(generated_write(int(seed[:-1]), int(number)), name)
    return Query(generated(int(seed), int(number)), SCHEMA, seed=name)


def prove_one(account: Account, name: str, worlds: int = WORLDS) -> None:
    """Prove one generated query again, by its seed and number, in the worlds that it had."""
    seed, _, number = name.partition(":")
    with ExitStack() as stack:
        shared = Worlds(stack, f"{seed}/{int(number) // SHARED}")
        Proof(made_query(name), account).through(shared.first(worlds))


def _world(seed: str, at: int) -> World:
    return DuckWorld(make_tables(SCHEMA, random.Random(seed), rows=6 + at % 4 + at // 4), seed)

"""The proof of generated queries: many queries share the same few worlds."""

import random
from contextlib import ExitStack
from itertools import islice

from tests.proof.engine import World
from tests.proof.expressions import SCHEMA
from tests.proof.generator import generate
from tests.proof.judge import Account, EdgeKey, Query, prove, settle
from tests.proof.tables import make_tables
from tests.proof.writes import Write, generate_writes

SHARED = 500
"""Queries that share their worlds; then the tables are made anew."""


def prove_generated(account: Account, *, seed: int, queries: int, worlds: int) -> None:
    """Prove the first queries of a seed; a query goes to the next world while it has edges that are not witnessed."""
    stream = generate(seed)
    for batch in range(0, queries, SHARED):
        with ExitStack() as stack:
            shared = [stack.enter_context(_world(f"{seed}/{batch}/{at}", at)) for at in range(worlds)]
            for sql in islice(stream, min(SHARED, queries - batch)):
                prove_in(Query(sql, SCHEMA), shared, account)


def prove_writes(account: Account, *, seed: int, statements: int, worlds: int) -> None:
    """Prove the first writing statements of a seed."""
    with ExitStack() as stack:
        shared = [stack.enter_context(_world(f"{seed}/writes/{at}", at)) for at in range(worlds)]
        for sql in islice(generate_writes(seed), statements):
            prove_in(Write(sql), shared, account)


def prove_in(query: Query, worlds: list[World], account: Account) -> None:
    """Prove one query in worlds of the generator's tables."""
    witnessed: set[EdgeKey] = set()
    for world in worlds:
        told = len(account.findings)
        found = prove(query, world, account)
        if found is None:
            account.refused += 1
            return
        witnessed |= found
        if witnessed >= query.edges.keys or len(account.findings) > told:
            break
    settle(query, witnessed, account)


def _world(seed: str, at: int) -> World:
    return World(make_tables(SCHEMA, random.Random(seed), rows=7 + 2 * at), at)

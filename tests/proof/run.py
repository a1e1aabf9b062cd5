"""A long proof in slices: one process or several, progress, and the sum of their accounts."""

import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from tests.proof.account import Account
from tests.proof.engines import prove_in_engine
from tests.proof.generated import WORLDS, prove_generated, prove_writes

DUCKDB = "duckdb"
SLICE = 1000
"""Queries of one slice; they share their worlds."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some generated queries of a seed, by number; `writes`: statements that write."""

    seed: int
    numbers: range
    writes: bool = False
    worlds: int = WORLDS
    engine: str = DUCKDB

    def prove(self) -> Account:
        account = Account(shrinks=True)
        if self.engine != DUCKDB:
            prove_in_engine(self.engine, account, self.seed, self.numbers)
            return account
        prove = prove_writes if self.writes else prove_generated
        prove(account, self.seed, self.numbers, worlds=self.worlds)
        return account


def slices(seed: int, first: int, queries: int, worlds: int, engine: str = DUCKDB) -> list[Slice]:
    """The slices of a run: its queries and, in DuckDB, a tenth as many statements that write."""
    found: list[Slice] = []
    for writes, count in ((False, queries), (True, queries // 10 if engine == DUCKDB else 0)):
        start = first if not writes else first // 10
        for at in range(start, start + count, SLICE):
            found.append(Slice(seed, range(at, min(at + SLICE, start + count)), writes, worlds, engine))
    return found


def prove_slices(wanted: list[Slice], jobs: int, told: Callable[[Account], None]) -> None:
    """Prove slices, and hand over the account of each as it is done."""
    if jobs == 1:
        for each in wanted:
            told(each.prove())
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(each.prove) for each in wanted]):
            told(done.result())


class Progress:
    """Findings as they are met and, every ten seconds, how far the run is."""

    def __init__(self, total: int, account: Account) -> None:
        self.total, self.account = total, account
        self.start = self.last = time.monotonic()

    def __call__(self, part: Account) -> None:
        self.account.add(part)
        for finding in part.findings:
            print(f"FINDING {finding}", flush=True)
        now = time.monotonic()
        if now - self.last > 10:
            self.last = now
            done = self.account.queries + self.account.refused
            print(
                f"{done:,} of {self.total:,} in {now - self.start:,.0f} s, {len(self.account.findings)} findings",
                file=sys.stderr,
                flush=True,
            )

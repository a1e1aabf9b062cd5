"""The durability proof, on the user's own disk: a process writes a tree or a table and is killed with -9.
The child prints every write after it was acknowledged; the parent kills it at a random moment, opens what it wrote,
and compares. Every acknowledged write must be there; the one under way may be. Puts, deletes, flushes and compactions
are interleaved, so that the kill falls on all of them."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import HeadwaterError
from headwater.lake.engine.lsm import LSMTree
from headwater.lake.tables.names import parse_name
from headwater.lake.tables.row_writer import RowWriter
from headwater.lake.tables.warehouse import Warehouse
from headwater.lake.tools.verify import verify_table, verify_tree
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, STRING

SCHEMA = Schema(
    (Field(0, "id", BIGINT, nullable=False), Field(1, "value", STRING)),
    ("id",),
    options={"memtable.size": "32 KB", "num-sorted-run.compaction-trigger": "3", "wal.fsync": "always"},
)
_KEYS = 200
_LONGEST_LIFE = 0.6  # seconds until the kill


@dataclass(frozen=True, slots=True)
class Victim:
    """The target of the test: a tree in a folder, or with a name the rows of a table of the warehouse in it."""

    folder: str
    table: str = ""

    def open(self) -> LSMTree | RowWriter:
        """Open it for writing; what a crash left is recovered."""
        if not self.table:
            return LSMTree(self.folder, SCHEMA)
        warehouse = Warehouse(self.folder)
        warehouse.create_database(parse_name(self.table).database, if_not_exists=True)
        options = SCHEMA.options | {"bucket": "2"}
        return warehouse.create_table(
            self.table, Schema(SCHEMA.fields, SCHEMA.primary_keys, options=options), if_not_exists=True
        ).writer()

    def compact(self, opened: LSMTree | RowWriter) -> None:
        if isinstance(opened, LSMTree):
            opened.compact()
        else:
            Warehouse(self.folder).table(self.table).compact()

    def content(self) -> tuple[list[dict[str, Any]], list[str]]:
        """All rows, and what is damaged."""
        with self.open() as opened:
            if isinstance(opened, LSMTree):
                return opened.to_arrow().to_pylist(), verify_tree(opened).problems
        table = Warehouse(self.folder).table(self.table)
        rows: list[dict[str, Any]] = table.to_arrow().to_pylist()
        return rows, verify_table(Warehouse(self.folder).table(self.table).store).problems


@dataclass(slots=True)
class TortureReport:
    """The findings of the rounds."""

    rounds: int = 0
    acknowledged: int = 0
    kills: int = 0
    problems: list[str] = field(default_factory=list)


def torture(
    victim: Victim, *, rounds: int = 20, seed: int = 0, progress: Callable[[int], None] | None = None
) -> TortureReport:
    """Write, kill and compare so many times. REQUIRES: the tree or table is new: it is filled."""
    chance, report = random.Random(seed), TortureReport()
    model: dict[int, str] = {}
    for turn in range(rounds):
        lines = _live_and_die(victim, seed=chance.randrange(1 << 30), life=chance.random() * _LONGEST_LIFE)
        report.rounds += 1
        report.kills += 1
        _compare(victim, lines, model, report, turn)
        if progress is not None:
            progress(turn + 1)
    return report


def workload(victim: Victim, seed: int, acknowledge: Callable[[str], None]) -> None:
    """Write for ever; every line says what is about to be done, and then that it was."""
    chance, turn = random.Random(seed), 0
    tree = victim.open()
    while True:
        turn += 1
        key = chance.randrange(_KEYS)
        if chance.random() < 0.15:
            acknowledge(f"try {key} -")
            tree.delete(key)
        else:
            value = f"{seed}-{turn}" + "." * chance.randrange(200)
            acknowledge(f"try {key} {value}")
            tree.put((key, value))
        acknowledge("ok")
        if turn % 50 == 0:
            tree.flush()
        if turn % 130 == 0:
            victim.compact(tree)


def _live_and_die(victim: Victim, *, seed: int, life: float) -> list[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "headwater.lake.tools.torture", str(seed), victim.folder, victim.table],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    lines = [child.stdout.readline()]  # it is running
    time.sleep(life)
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read()
    child.wait()
    child.stdout.close()
    whole = "".join(lines) + rest
    return whole[: whole.rfind("\n") + 1].splitlines()


def _compare(victim: Victim, lines: list[str], model: dict[int, str], report: TortureReport, turn: int) -> None:
    """Bring the model up to what was acknowledged, and compare what is there with it."""
    doubtful: tuple[int, str | None] | None = None
    for line in lines:
        if line == "ok" and doubtful is not None:
            _apply(model, *doubtful)
            doubtful = None
            report.acknowledged += 1
        elif line.startswith("try "):
            _, key, value = line.split(" ")
            doubtful = (int(key), None if value == "-" else value)
    try:
        rows, problems = victim.content()
        found = {row["id"]: row["value"] for row in rows}
        report.problems += [f"round {turn}: {problem}" for problem in problems]
    except HeadwaterError as err:
        report.problems.append(f"round {turn}: {err}")
        return
    if doubtful is not None and found.get(doubtful[0]) == doubtful[1]:
        _apply(model, *doubtful)
    for wanted in sorted(model.keys() | found.keys()):
        if model.get(wanted) != found.get(wanted):
            here, there = found.get(wanted), model.get(wanted)
            report.problems.append(f"round {turn}: key {wanted} is {here!r}, acknowledged was {there!r}")
    model.clear()
    model.update(found)


def _apply(model: dict[int, str], key: int, value: str | None) -> None:
    if value is None:
        model.pop(key, None)
    else:
        model[key] = value


def _main(seed: str, folder: str, table: str) -> None:
    workload(Victim(folder, table), int(seed), _say)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main(*sys.argv[1:])

"""One run: a table of a shape, random steps at random doors, and after each the comparison of all rows."""

import random
from collections.abc import Callable
from typing import Any

from tests.lake.checker.checker import Checker, Shape
from tests.lake.checker.doors import SqlDoor
from tests.lake.checker.steps import READS, STEPS

from headwater import Warehouse
from headwater.files import MemoryFiles

Doors = Callable[[Warehouse], list[Any]]


def python_and_sql(warehouse: Warehouse) -> list[Any]:
    return [SqlDoor(warehouse)]


def run(
    shape: Shape, seed: int, *, steps: int = 40, warehouse: Warehouse | None = None, doors: Doors = python_and_sql
) -> None:
    """Try one table. RAISES: AssertionError, or whatever the table raises, with the steps until then as a note."""
    chance, told = random.Random(seed), []
    checker = Checker(shape, warehouse or Warehouse(MemoryFiles()), doors)
    try:
        for _ in range(steps):
            step, door, number = chance.choice(STEPS), chance.randrange(len(checker.doors)), chance.randrange(1 << 20)
            told.append((step.__name__, door, number))
            step(checker, checker.doors[door], random.Random(number))
            if step not in READS:
                checker.agrees(checker.doors[door] if chance.random() < 0.3 else None)
        checker.ends()
    except Exception as err:
        err.add_note(f"{shape}, seed {seed}: {told}")
        raise

"""What is fuzzed: a way to make an input, and the code that must take it or refuse it in our own words."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Make = Callable[[random.Random], Any]
Take = Callable[[Any], object]
Prepare = Callable[[], tuple[Make, Take]]


@dataclass(frozen=True, slots=True)
class Target:
    """One door of the house. `prepare` is called once, and gives what makes inputs and what takes them."""

    name: str
    prepare: Prepare
    quick: int = 2000  # inputs in the test suite: a few seconds
    seconds: float = 5.0  # that one input may take
    memory: int = 1 << 30  # bytes that it may take beyond what the process has


TARGETS: dict[str, Target] = {}


def target(name: str, **bounds: Any) -> Callable[[Prepare], Prepare]:
    """Register what a function prepares, with other bounds than the usual ones."""

    def register(prepare: Prepare) -> Prepare:
        TARGETS[name] = Target(name, prepare, **bounds)
        return prepare

    return register

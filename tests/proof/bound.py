"""A bound of time: a statement that runs when it is over is interrupted, and the caller sees that it is over."""

import threading
from types import TracebackType
from typing import Self

from tests.proof.engine import World

SECONDS = 120.0
"""Time for one query in all its worlds; then the rest is left out, and the query is reported as slow."""


class Bound:
    """A limit of time for the statements of one world at a time, which `world` names."""

    def __init__(self, seconds: float, world: World | None = None) -> None:
        self.seconds, self.world = seconds, world
        self.over = False
        self._done = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._done.set()

    def _watch(self) -> None:
        if self._done.wait(self.seconds):
            return
        self.over = True
        while True:  # the next statement may have begun after an interrupt
            if self.world is not None:
                self.world.interrupt()
            if self._done.wait(0.2):
                return

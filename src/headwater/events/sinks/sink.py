"""The protocol of a sink: it takes events.
A sink takes events one by one and never blocks for long: one that talks to the outside keeps a bounded queue and a
thread of its own, counts what it could not deliver, and says so when it is closed. Nothing a sink does may harm the
job it reports on, so `emit` and `flush` do not raise."""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from headwater.events.event import Event
from headwater.text import without_secrets

log = logging.getLogger("headwater.events")


@dataclass(frozen=True, slots=True)
class Delivery:
    """The fate of the events given to a sink."""

    sent: int = 0
    lost: int = 0
    last_error: str | None = None

    def __str__(self) -> str:
        text = f"{self.sent:,} events sent"
        if self.lost:
            text += f", {self.lost:,} lost ({self.last_error})" if self.last_error else f", {self.lost:,} lost"
        return text


@runtime_checkable
class Sink(Protocol):
    """A receiver of events."""

    def emit(self, event: Event) -> None:
        """Takes the event; delivery may come later."""

    def flush(self, timeout: float) -> bool:
        """Waits for what was emitted to be delivered or given up; False when the time did not suffice."""

    def close(self) -> Delivery:
        """Delivers what it can in a short time, lets go of resources, and tells what became of it all."""


class Buffered:
    """A sink with a bounded queue and one thread that delivers in batches, retrying with growing pauses.
    A subclass says how a batch is delivered (`deliver`). An exception means "try again", `Refused` means "never".
    When the queue is full the newest event is lost, and counted."""

    def __init__(self, *, capacity: int = 10_000, batch: int = 100, retries: int = 5, pause: float = 0.2) -> None:
        self._waiting: deque[Event] = deque()
        self._capacity, self._batch, self._retries, self._pause = capacity, batch, retries, pause
        self._changed = threading.Condition()
        self._sending = 0
        self._sent = self._lost = 0
        self._last_error: str | None = None
        self._closed = False
        self._is_late = False  # a flush did not end in time: nobody waits a second time
        self._given_up = threading.Event()
        self._thread: threading.Thread | None = None

    def deliver(self, batch: Sequence[Event]) -> None:
        """Hands a batch over for good."""
        raise NotImplementedError  # pragma: no cover

    def release(self) -> None:
        """Lets go of what `deliver` opened; called by the same thread, last."""

    def emit(self, event: Event) -> None:
        with self._changed:
            if self._closed or len(self._waiting) >= self._capacity:
                self._lose(1, "the sink is closed" if self._closed else "the queue is full")
                return
            self._waiting.append(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headwater-events", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._waiting or self._sending:
                left = deadline - time.monotonic()
                if left <= 0:
                    self._is_late = True
                    return False
                self._changed.wait(left)
            self._is_late = False
        return True

    def close(self, timeout: float = 10.0) -> Delivery:
        self.flush(0 if self._is_late else timeout)
        self._given_up.set()
        with self._changed:
            self._closed = True
            left = len(self._waiting) + self._sending
            if left:
                self._waiting.clear()
                self._lose(left, self._last_error or "not delivered in time")
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(0 if left else 1)
        return Delivery(self._sent, self._lost, self._last_error)

    def _lose(self, count: int, why: str) -> None:
        if not self._lost:
            log.warning("Lineage events are being lost: %s.", why)
        self._lost += count
        self._last_error = why

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    break
                batch = [self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))]
                self._sending = len(batch)
            error = self._try(batch)
            with self._changed:
                if not self._closed:
                    if error is None:
                        self._sent += len(batch)
                    else:
                        self._lose(len(batch), error)
                self._sending = 0
                self._changed.notify_all()
        self.release()

    def _try(self, batch: Sequence[Event]) -> str | None:
        """Delivers, or says why it cannot be done."""
        for attempt in range(self._retries + 1):
            try:
                self.deliver(batch)
                return None
            except Refused as refused:
                return without_secrets(str(refused))
            except Exception as error:  # whatever a transport raises: the job must not feel it
                self._last_error = without_secrets(f"{type(error).__name__}: {error}")
                log.debug("Delivering %d events failed (attempt %d).", len(batch), attempt + 1, exc_info=True)
            if self._given_up.wait(self._pause * 2**attempt):
                break
        return self._last_error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Refused(Exception):
    """The other side will never take these events."""

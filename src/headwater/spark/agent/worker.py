"""The thread that does the agent's work, and what keeps it harmless.

It takes happenings from the bridge one by one. When many are waiting it leaves columns out until it has caught up;
when it fails many times in a row it rests; whatever it could not do is counted. Nothing here is ever raised to the
job.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from py4j.protocol import Py4JNetworkError

from headwater.events.event import Event, EventType, RunEvent
from headwater.events.sinks.sink import Delivery, Sink
from headwater.spark.agent.bridge import Bridge, Happening
from headwater.spark.agent.options import AgentOptions
from headwater.spark.agent.tracker import Tracker

log = logging.getLogger("headwater.spark")

_WAIT = 0.5
_MEMORY_SECONDS = 1.0  # until memory is looked at again


@dataclass
class AgentCounts:
    """The counters of an agent."""

    handled: int = 0  # happenings
    emitted: int = 0  # events
    failed: int = 0  # happenings that could not be understood
    skipped: int = 0  # happenings while it rested
    hurried: int = 0  # happenings without columns, because too many were waiting
    lost: int = 0  # happenings that did not fit the queue

    def __str__(self) -> str:
        others = {what: count for what, count in vars(self).items() if what not in ("handled", "emitted")}
        return ", ".join([f"{self.emitted} events", *(f"{count} {what}" for what, count in others.items() if count)])


class Worker:
    """One thread between a bridge and a sink."""

    def __init__(
        self,
        bridge: Bridge,
        sink: Sink,
        options: AgentOptions,
        tracker: Callable[..., Tracker],
        *,
        rewrite: Callable[[Event], Event | None] = lambda event: event,
        free_memory: Callable[[], float] = lambda: 100.0,
    ) -> None:
        self.counts = AgentCounts()
        self.error: str | None = None  # why the application failed, when the agent has been told
        self.stopped = threading.Event()
        self._bridge, self._sink, self._options = bridge, sink, options
        self._rewrite, self._free_memory = rewrite, free_memory
        self.tracker = tracker(self.emit)
        self._done = 0  # happenings, whatever became of them
        self._failures = 0  # in a row
        self._rests_until = 0.0
        self._ended = False
        self._ends_by: float | None = None
        self._thread = threading.Thread(target=self._run, name="headwater-agent", daemon=True)

    def start(self) -> None:
        """Say that the application runs, and begin to work."""
        self.emit(self.tracker.events.build_application(EventType.START))
        self._thread.start()

    def emit(self, event: RunEvent) -> None:
        """Give an event to the sink."""
        try:
            sent = self._rewrite(event)
            if sent is not None:
                self._sink.emit(sent)
                self.counts.emitted += 1
        except Exception:  # sinks promise not to raise; one of somebody else's may break the promise
            self.counts.failed += 1
            log.exception("An event is lost: it could not be rewritten, or a sink raised.")

    # ----------------------------------------------------------------------------------------------- work

    def _run(self) -> None:
        try:
            while not self.stopped.is_set():
                happening = self._bridge.poll(_WAIT)
                if happening is not None:
                    self._take(happening)
                    self._done += 1
        except (Py4JNetworkError, OSError, EOFError):  # the JVM is gone
            log.debug("Spark is gone; the agent ends.", exc_info=True)
        except Exception:
            log.exception("The agent ends; the job goes on without it.")
        finally:
            self.stopped.set()

    def _take(self, happening: Happening) -> None:
        if happening.kind == "stop":
            self._end_of_application(happening)
            return
        self.counts.handled += 1
        if time.monotonic() < self._rests_until or self._is_short_of_memory():
            self.counts.skipped += 1
            return
        if self.counts.handled % 16 == 0:
            self.tracker.columns = self._bridge.waiting() <= self._options.queue // 2
        self.counts.hurried += not self.tracker.columns
        unread = self.tracker.unread
        try:
            self.tracker.handle(happening, lambda: self._bridge.take(happening))
            self._failures = 0
            self.counts.failed += self.tracker.unread - unread
        except (Py4JNetworkError, OSError, EOFError):
            raise
        except Exception:
            self._failed()

    def _is_short_of_memory(self) -> bool:
        if not self._options.memory or self._free_memory() > self._options.memory:
            return False
        self._rests_until = time.monotonic() + _MEMORY_SECONDS
        return True

    def _failed(self) -> None:
        self.counts.failed += 1
        self._failures += 1
        log.debug("Something could not be understood.", exc_info=True)
        if self._failures >= self._options.failures:
            self._failures = 0
            self._rests_until = time.monotonic() + self._options.rest
            log.warning(
                "Lineage rests for %.0f s after %d failures in a row.", self._options.rest, self._options.failures
            )

    # ------------------------------------------------------------------------------------------------ end

    def left(self, most: float | None = None) -> float:
        """The seconds that the end may still take: `flush_seconds`, or `most`, counted from the first call on."""
        if self._ends_by is None:
            limit = self._options.flush_seconds
            self._ends_by = time.monotonic() + (limit if most is None else min(limit, most))
        return max(0.0, self._ends_by - time.monotonic())

    def _end_of_application(self, happening: Happening) -> None:
        """Spark stops: say so, deliver what there is, let Spark go on."""
        try:
            self.error = self.error or happening.error
            self.say_end(happening.time)
            self._sink.flush(self.left())
        finally:
            self._bridge.finish()
            self.stopped.set()

    def say_end(self, time: int = 0) -> None:
        """Say once how the application ended."""
        if self._ended:
            return
        self._ended = True
        self.counts.lost = self._lost()
        type = EventType.COMPLETE if self.error is None else EventType.FAIL
        self.emit(self.tracker.events.build_application(type, error=self.error, time=time))

    def _lost(self) -> int:
        try:
            return self._bridge.lost()
        except (Py4JNetworkError, OSError):
            return self.counts.lost

    def drain(self, timeout: float) -> bool:
        """Wait until everything that has happened so far is handled; False when the time does not suffice."""
        deadline = time.monotonic() + timeout
        try:
            wanted = self._bridge.accepted()
            while not self.stopped.is_set() and self._done < wanted:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.01)
        except (Py4JNetworkError, OSError):
            return False
        return True

    def close(self) -> Delivery:
        """Stop working; tell what became of the events."""
        self.stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(2 * _WAIT)
        try:
            self.counts.lost = self._lost()
            self._bridge.finish()
            self._bridge.detach()
        except Exception:  # Spark may be gone
            log.debug("The listener could not be taken off.", exc_info=True)
        return self._close_sink()

    def _close_sink(self) -> Delivery:
        """Close the sink; one that takes longer than it may is left to itself, and its events count as lost."""
        closed: list[Delivery] = []
        closing = threading.Thread(target=lambda: closed.append(self._sink.close()), daemon=True)
        closing.start()
        closing.join(max(self.left(), _WAIT))
        return (
            closed[0] if closed else Delivery(lost=self.counts.emitted, last_error="the sink did not close in time")
        )

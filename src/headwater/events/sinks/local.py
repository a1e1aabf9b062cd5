"""Sinks that need no network: the terminal, a file, several at once."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from headwater.errors import InputError
from headwater.events.event import Event, encode
from headwater.events.sinks.sink import Delivery, Sink, log


class ConsoleSink:
    """One line of JSON an event, to standard error unless told otherwise."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._sent = self._lost = 0

    def emit(self, event: Event) -> None:
        try:
            print(encode(event).decode(), file=self._stream or sys.stderr, flush=True)
            self._sent += 1
        except (OSError, ValueError):  # a closed terminal is no reason to stop a job
            self._lost += 1

    def flush(self, timeout: float) -> bool:
        return True

    def close(self) -> Delivery:
        return Delivery(self._sent, self._lost, "the terminal is closed" if self._lost else None)


class FileSink:
    """Appends each event as one line to a file; whole lines, also when several processes share it.
    With `durable`, a line is on disk before `emit` returns; otherwise the file is synced by `flush` and `close`."""

    def __init__(self, path: str | Path, *, durable: bool = False) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file: int | None = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"events cannot be written to {self.path}: {error.strerror}") from error
        self._durable = durable
        self._lock = threading.Lock()
        self._sent = self._lost = 0
        self._last_error: str | None = None

    def emit(self, event: Event) -> None:
        line = encode(event) + b"\n"
        with self._lock:
            try:
                if self._file is None:
                    raise OSError("the file is closed")
                if os.write(self._file, line) != len(line):
                    os.write(self._file, b"\n")  # a torn line ends here, so that the next one is whole
                    raise OSError("the disk is full")
                if self._durable:
                    os.fdatasync(self._file)
                self._sent += 1
            except OSError as error:
                if not self._lost:
                    log.warning("Lineage events are being lost: %s: %s.", self.path, error)
                self._lost += 1
                self._last_error = f"{self.path}: {error}"

    def flush(self, timeout: float) -> bool:
        with self._lock:
            try:
                if self._file is not None:
                    os.fsync(self._file)
            except OSError as error:
                self._last_error = self._last_error or f"{self.path}: {error}"
                return False
        return True

    def close(self) -> Delivery:
        self.flush(0)
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
        return Delivery(self._sent, self._lost, self._last_error)


class CompositeSink:
    """Gives each event to several sinks; one that fails does not keep it from the others."""

    def __init__(self, *sinks: Sink) -> None:
        self.sinks: Sequence[Sink] = sinks

    def emit(self, event: Event) -> None:
        for sink in self.sinks:
            try:
                sink.emit(event)
            except Exception:
                log.exception("A sink raised; the others go on.")

    def flush(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        done = [sink.flush(max(0.0, deadline - time.monotonic())) for sink in self.sinks]
        return all(done)

    def close(self) -> Delivery:
        """Of the deliveries, the one that lost the most stands for all."""
        return max((sink.close() for sink in self.sinks), key=lambda one: one.lost, default=Delivery())

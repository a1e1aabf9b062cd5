"""Events on their way from the journal into the graph."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from hashlib import sha256
from itertools import islice
from os import environ
from pathlib import Path

from headwater.errors import EventError
from headwater.events import Event, read_events
from headwater.files import LocalFiles
from headwater.graph import GraphStore
from headwater.graph.observed import ingest
from headwater.server.journal import Journal

_PAUSE = 1.0  # seconds in which events gather: one change of the graph takes many
_LONGEST = 15.0
_SHARE = 3.0  # the graph is written for a quarter of the time at most: receiving comes first
_RETRY = 10.0
_BATCH = 5_000
log = logging.getLogger("headwater.server")


def journal_folder(store: GraphStore) -> Path:
    """Return where events wait: beside the tables of a local warehouse, else in the user's state folder."""
    files = store.warehouse.files
    if isinstance(files, LocalFiles):
        return files.root / ".events"
    home = Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return home / "headwater" / "events" / sha256(store.warehouse.url.encode()).hexdigest()[:16]


class Intake:
    """Takes events in: kept before it returns, in the graph soon after, also those of a server that died."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._journal: Journal | None = None
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Open the journal and go on with what others left there. RAISES: NotWritableError."""
        self._journal = Journal(journal_folder(self._store))
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()
        self._wake.set()

    def stop(self) -> None:
        """Bring what waits into the graph, if that goes, and end."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        if self._journal is not None:
            self._journal.close()

    def keep(self, lines: bytes) -> "Future[None]":
        """Take events in, one a line; done when they can no longer be lost."""
        assert self._journal is not None, "the intake was not started"
        kept = self._journal.append(lines)
        self._wake.set()
        return kept

    def _run(self) -> None:
        pause = _PAUSE
        while not self._stop.is_set():
            self._wake.wait()
            self._stop.wait(pause)
            self._wake.clear()
            start = time.monotonic()
            try:
                self.drain()
                pause = min(_LONGEST, max(_PAUSE, _SHARE * (time.monotonic() - start)))
            except Exception:
                log.exception("Events wait in the journal: they could not be brought into the graph.")
                if not self._stop.wait(_RETRY):
                    self._wake.set()

    def drain(self) -> None:
        """Bring every sealed file into the graph; one that died halfway is done again, which changes nothing."""
        assert self._journal is not None
        for path in self._journal.sealed():
            with path.open("rb") as lines:
                events = _good(read_events(lines, path.name))
                while batch := list(islice(events, _BATCH)):
                    for error in ingest(self._store, batch, source="http")[1]:
                        log.warning("An event was left out of the graph: %s", error.message)
            path.unlink()


def _good(events: Iterable[Event | EventError]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, EventError):  # torn by a crash or a full disk, before it was acknowledged
            log.warning("A line of the journal is no event: %s", event.message)
        else:
            yield event

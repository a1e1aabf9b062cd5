"""A folder of SQL that is harvested again whenever something in it changes."""

import logging
import threading
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.graph import GraphStore
from headwater.jobs.harvest.harvest import harvest
from headwater.jobs.harvest.plan import HarvestOptions
from headwater.jobs.harvest.sources import read_estate

_EVERY = 1.0  # seconds between looks
log = logging.getLogger("headwater.server")


class Watch:
    """Keeps the graph in step with a folder, as `headwater harvest FOLDER` would, called again and again."""

    def __init__(
        self, store: GraphStore, folder: Path, *, dialect: str | None = None, schema: str | None = None
    ) -> None:
        self._store, self._folder, self._dialect = store, folder, dialect
        self._options = HarvestOptions(schema=schema)
        self._seen: dict[Path, tuple[int, int]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.look()
            except HeadwaterError as error:
                log.warning("%s was not harvested: %s", self._folder, error.message)
            except Exception:
                log.exception("%s was not harvested.", self._folder)
            self._stop.wait(_EVERY)

    def look(self) -> bool:
        """Harvest the folder if it is not as it was; returns whether it was harvested."""
        states = {path: path.stat() for path in self._folder.rglob("*") if path.is_file()}
        files = {path: (state.st_mtime_ns, state.st_size) for path, state in states.items()}
        if files == self._seen:
            return False
        self._seen = files
        harvest(self._store, read_estate([str(self._folder)], self._dialect), self._options)
        return True

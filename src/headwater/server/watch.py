"""A folder of SQL files that is read again whenever something in it changes."""

import logging
import threading
from pathlib import Path

from headwater.analysis.door import Request
from headwater.analysis.schemas import read_text
from headwater.errors import HeadwaterError
from headwater.graph import Change, GraphStore
from headwater.graph.collect import collect
from headwater.graph.facts import Facts, Key
from headwater.graph.tables import EDGES, ISSUES, STATEMENTS
from headwater.server.options import ServerOptions
from headwater.text import Source

_EVERY = 1.0  # seconds between looks
_OF_STATEMENTS = (STATEMENTS, EDGES, ISSUES)
log = logging.getLogger("headwater.server")
Seen = dict[Path, tuple[int, int]]


class Watch:
    """Keeps the graph in step with the SQL files of a folder."""

    def __init__(self, store: GraphStore, options: ServerOptions) -> None:
        assert options.watch is not None
        self._store, self._folder = store, options.watch
        self._request = Request(dialect=options.dialect, schema=options.schema)
        self._seen: Seen = {}
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
                log.warning("%s was not read: %s", self._folder, error.message)
            except Exception:
                log.exception("%s was not read.", self._folder)
            self._stop.wait(_EVERY)

    def look(self) -> bool:
        """Read the folder if it is not as it was; returns whether the graph has changed."""
        files = {path: _stamp(path) for path in sorted(self._folder.rglob("*.sql")) if path.is_file()}
        if files == self._seen:
            return False
        self._seen = files
        sources = [Source(read_text(path), str(path)) for path in files]
        facts = collect(sources, self._request)
        removed = self._outdated(facts)
        record = {"kind": "watch", "sources": [str(self._folder)], "statements": len(facts.rows[STATEMENTS.name])}
        self._store.apply(Change(facts, removed, record | {"edges": len(facts.rows[EDGES.name])}))
        return True

    def _outdated(self, facts: Facts) -> dict[str, list[Key]]:
        """What files of the folder said before and say no more."""
        if not self._store.exists:
            return {}
        state = self._store.state()
        inside = f"{self._folder}/"
        found: dict[str, list[Key]] = {}
        for spec in _OF_STATEMENTS:
            keys = zip(*(column.to_pylist() for column in state.read(spec, spec.key).columns))
            rows = facts.rows[spec.name]
            found[spec.name] = [key for key in keys if str(key[0]).startswith(inside) and key not in rows]
        return found


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size

"""The state that all endpoints share: the warehouse, its graph at any moment, and what comes in."""

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Collection
from functools import cached_property
from threading import Lock
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from headwater.errors import HeadwaterError, NotFoundError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.index import Neighbours
from headwater.graph.regions import families, is_own, regions
from headwater.graph.tables import COLUMNS, DATASETS, WHOLE, root_column
from headwater.lake.tables import Warehouse
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.schema import SchemaTable
from headwater.model.edges import InfluenceClass, Kind
from headwater.server.intake import Intake
from headwater.server.options import ServerOptions
from headwater.server.sql_pool import SqlPool
from headwater.view.layout import Layout

_EVERY = 1.0  # seconds between looks; other processes write too
_BEAT = 15.0  # seconds between signs of life, so that proxies keep the connection
log = logging.getLogger("headwater.server")


class Live:
    """Watches the number of the latest state while somebody listens; one look serves all."""

    def __init__(self, latest: Callable[[], int], *, most: int = 100) -> None:
        self._latest = latest
        self._most = most
        self._listeners = 0
        self._closed = False
        self._number, self._looked = -1, float("-inf")

    @property
    def is_full(self) -> bool:
        return self._listeners >= self._most

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self._closed = True

    async def stream(self) -> AsyncIterator[bytes]:
        """The states as they come, the present one first."""
        self._listeners += 1
        try:
            seen, quiet = -1, 0.0
            while not self._closed:
                number = await self._look()
                if number not in (seen, -1):
                    seen, quiet = number, 0.0
                    yield f"event: state\ndata: {number}\n\n".encode()
                elif quiet >= _BEAT:
                    quiet = 0.0
                    yield b": still here\n\n"
                await anyio.sleep(_EVERY)
                quiet += _EVERY
        finally:
            self._listeners -= 1

    async def _look(self) -> int:
        if time.monotonic() - self._looked >= _EVERY / 2:
            self._looked = time.monotonic()
            try:
                self._number = await run_sync(self._latest)
            except Exception:  # a store that is away for a moment is no reason to end the page's connection
                log.exception("The latest state could not be read.")
        return self._number


VALUES = frozenset(kind for kind in Kind if kind.influence is InfluenceClass.VALUE)
_KEPT = 8  # states of the graph in memory
_LAYOUTS = 50  # and of each, layouts
T = TypeVar("T")


class Recent(OrderedDict[object, T]):
    """A dictionary of what was added last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: object, value: T) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class KnownGraph:
    """A state of the graph with what pictures need of it, read once."""

    def __init__(self, graph: LineageGraph) -> None:
        self.graph = graph
        self.layouts: Recent[Layout] = Recent(_LAYOUTS)  # of pictures, for those that grow out of them
        self._neighbours: dict[frozenset[Kind], Neighbours] = {}

    @property
    def number(self) -> int:
        return self.graph.state.number

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each dataset: table, view, file, …; the graph's own tables are known, and stand last."""
        rows = self.graph.state.read(DATASETS, ["dataset", "kind"])
        known = dict.fromkeys(self.graph.index.datasets, "table")
        for name, kind in zip(rows.column(0).to_pylist(), rows.column(1).to_pylist()):
            known[self.graph.aliases.get(name, name)] = kind or "table"
        return dict(sorted(known.items(), key=lambda item: is_own(item[0])))

    @cached_property
    def regions(self) -> dict[str, str]:
        """The database or folder of each dataset; those of the graph itself have none."""
        return regions(name for name in self.kinds if not is_own(name))

    def members(self, dataset: str) -> list[str]:
        """The files that a pattern stands for; of any other dataset itself."""
        return [name for name, other in self.graph.aliases.items() if other == dataset] or [dataset]

    @cached_property
    def columns(self) -> dict[str, dict[str, str | None]]:
        """The columns of each dataset in order, with their types; those that only edges know come last."""
        found: dict[str, dict[str, str | None]] = {}
        rows = self.graph.state.read(COLUMNS, ["dataset", "position", "column", "type"])
        triples = (row for row in zip(*(rows.column(at).to_pylist() for at in range(4))) if row[2] != WHOLE)
        for dataset, _, column, type in sorted(
            triples, key=lambda row: (row[0], row[1] is None, row[1] or 0, row[2])
        ):
            found.setdefault(self.graph.aliases.get(dataset, dataset), {}).setdefault(column, type)
        for dataset, column in self.graph.index.nodes:
            if column != WHOLE:
                found.setdefault(dataset, {}).setdefault(column)
        return found

    @cached_property
    def sizes(self) -> Counter[str]:
        """The number of columns of each dataset; a path into a column is a part of it."""
        return Counter({name: len(set(map(root_column, columns))) for name, columns in self.columns.items()})

    def neighbours(self, kinds: Collection[Kind] = tuple(Kind)) -> Neighbours:
        """Return which datasets are joined by edges of some kinds."""
        wanted = frozenset(kinds)
        if wanted not in self._neighbours:
            self._neighbours[wanted] = Neighbours(self.graph.index, wanted)
        return self._neighbours[wanted]


class Service:
    """One warehouse, served. REQUIRES: `start` before the first request, `stop` after the last."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self.warehouse = Warehouse(options.warehouse)
        self.store = GraphStore(self.warehouse)
        self.live = Live(self.latest)
        self.intake = Intake(self.store)
        self.sql = SqlPool()
        self._graphs: Recent[KnownGraph] = Recent(_KEPT)
        self._lock = Lock()

    def latest(self) -> int:
        """The number of the latest state of the graph, 0 when there is none."""
        states = self.store.states()
        return states[-1].number if states else 0

    def warm(self) -> None:
        """Read the latest state, so that the first who asks does not wait for it."""
        try:
            if self.store.states():
                known = self.graph()
                known.graph.search("a", limit=1)
                known.neighbours(VALUES)
                log.debug("%d datasets, %d with columns", len(known.regions), len(known.columns))
        except HeadwaterError as err:  # who asks is told
            log.warning("the latest state cannot be read yet: %s", err)

    def graph(self, at: str | None = None) -> KnownGraph:
        """The graph now or as of a moment. RAISES: NotFoundError, UsageError."""
        if not self.store.states():
            raise NotFoundError(
                "there is no lineage in this warehouse yet",
                hint="`headwater harvest PATH` reads SQL files, and jobs may post OpenLineage events here",
            )
        state = self.store.state(at or None)
        with self._lock:
            known = self._graphs.get(state.number)
            if known is None or known.graph.state.pins != state.pins:
                names = state.read(DATASETS, ["dataset"]).column(0).to_pylist()
                known = KnownGraph(LineageGraph(state, families(names)))
            self._graphs[state.number] = known
        return known

    def tables_named(self, words: Collection[str], known: str, at: str | None) -> tuple[SchemaTable, ...]:
        """The tables whose names are among words in lower case: of the graph at a moment, or of the warehouse too."""
        found: dict[str, tuple[str, dict[str, str | None]]] = {}
        for database in self.warehouse.list_databases() if known == "lake" else ():
            for name in self.warehouse.list_tables(database):
                if name.lower() in words:
                    fields = self.warehouse.table(f"{database}.{name}").schema.fields
                    types: dict[str, str | None] = {each.name: str(each.type) for each in fields}
                    found[f"{database}.{name}".lower()] = f"{database}.{name}", types
        if known and self.store.states():
            for name, columns in self.graph(at).columns.items():
                if name.rpartition(".")[2].lower() in words and "/" not in name:
                    found.setdefault(name.lower(), (name, columns))
        return schema_of_mapping(dict(found.values())).tables

"""Events straight into the graph of a warehouse: the sink `lake:WAREHOUSE`."""

from collections.abc import Sequence

from headwater.errors import EventError
from headwater.events import Event
from headwater.events.sinks import Buffered, Refused
from headwater.graph.observed import ingest
from headwater.graph.store import GraphStore


class LakeSink(Buffered):
    """Brings events into `lineage.*` of a warehouse, a batch a change, from a thread of its own."""

    def __init__(self, warehouse: str, *, batch: int = 500, capacity: int = 10_000) -> None:
        super().__init__(capacity=capacity, batch=batch)
        self._store = GraphStore(warehouse)

    def deliver(self, batch: Sequence[Event]) -> None:
        bad: list[EventError] = ingest(self._store, batch, source="agent")[1]
        if bad and len(bad) == len(batch):
            raise Refused(bad[0].message)

"""OpenLineage in and out: events and their facets, dataset names, column lineage, sinks."""

from headwater.events.columns import column_lineage, edges_into
from headwater.events.event import (
    Dataset,
    DatasetEvent,
    Event,
    EventType,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    decode,
    encode,
    new_run_id,
    read_events,
    timestamp,
)
from headwater.events.facet import PRODUCER, Facet, Facets, by_key, find_facet
from headwater.events.naming import DatasetName

__all__ = [
    "PRODUCER",
    "Dataset",
    "DatasetEvent",
    "DatasetName",
    "Event",
    "EventType",
    "Facet",
    "Facets",
    "InputDataset",
    "Job",
    "JobEvent",
    "OutputDataset",
    "Run",
    "RunEvent",
    "by_key",
    "column_lineage",
    "decode",
    "edges_into",
    "encode",
    "find_facet",
    "new_run_id",
    "read_events",
    "timestamp",
]

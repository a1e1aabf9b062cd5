"""Rows of the graph that tasks write to files, for the driver to commit in one change."""

import uuid
from collections.abc import Mapping, Sequence

import pyarrow as pa

from headwater.graph.facts import Key
from headwater.graph.store import GraphStore, WrittenFiles
from headwater.graph.tables import TableSpec
from headwater.lake.engine.batch import RowKind
from headwater.lake.metadata.commit import PlacedFile
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables.shape import UNDECIDED
from headwater.lake.tables.writes import add_files, decide_buckets, key_tables
from headwater.spark.source.commits import WritePlan
from headwater.spark.source.options import TablePlace, stored_at, whole_url
from headwater.spark.source.writer import TaskWriter


def place_of(store: GraphStore, spec: TableSpec) -> TablePlace:
    """Return where a table of the graph is, for tasks."""
    return TablePlace(whole_url(store.warehouse.url), spec.full_name)


def plan_files(store: GraphStore, spec: TableSpec, rows: int) -> WritePlan:
    """Return how tasks write rows of a table of the graph: about so many in all."""
    table = store.table(spec)
    shape = table.store.shape()
    if shape.buckets == UNDECIDED:
        shape = decide_buckets(table.store, rows)
    at = stored_at(place_of(store, spec), table)
    return WritePlan(at, shape.schema.id, "headwater-graph", uuid.uuid4().hex, Operation.INSERT)


def write_files(
    plans: Mapping[str, WritePlan], tables: Mapping[str, pa.Table], gone: Mapping[str, Sequence[Key]] | None = None
) -> WrittenFiles:
    """Write rows, and before them deletes of keys, to files that belong to nothing yet; what a task does."""
    files, gone = WrittenFiles(), gone or {}
    for name, table in tables.items():
        placed: list[PlacedFile] = []
        if gone.get(name):
            store = plans[name].at.open()
            shape = store.shape(plans[name].schema_id)
            add_files(store, shape, key_tables(gone[name], shape), placed, kind=RowKind.DELETE)
        placed += TaskWriter(plans[name]).write(table.to_batches()).files.all()
        if placed:
            files.placed[name] = placed
            files.rows[name] = table.num_rows
    return files

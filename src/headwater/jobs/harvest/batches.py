"""Batches of analysed units: what the driver knows of them, and their rows for the graph, here or on executors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from headwater.graph.store import arrow_schema
from headwater.graph.tables import EDGES, STATEMENTS, TableSpec
from headwater.jobs.harvest.records import REPLACED
from headwater.lazy import arrow_compute as pc

if TYPE_CHECKING:
    from pyspark import RDD

NAMED = ("statement", "type", "target", "reads")
"""The columns of statements that say which datasets there are."""
Wanted: TypeAlias = tuple[list[int], list[str]]
"""The units of a batch whose rows count, and the statements of an earlier harvest that these take the place of."""


@dataclass(frozen=True)
class Batch:
    """Units that were analysed together, one a row as `OUTCOMES` has it.

    When their rows are `kept` on executors, `told` has none of them: `NAMED` of the statements, and of the edges how
    many there are.
    """

    told: pa.Table
    kept: "tuple[RDD[bytes], int] | None" = None  # the partition that has the rows

    @property
    def number(self) -> int:
        """Return a number that no other batch of the harvest has: that of its first task."""
        return int(self.told.column("index")[0].as_py())

    @property
    def edges(self) -> int:
        """Return how many edges there are. REQUIRES: the rows are kept on executors."""
        return int(pc.sum(self.told.column(EDGES.name)).as_py())

    def rows(self, spec: TableSpec, units: Sequence[int], names: Sequence[str] = ()) -> Iterator[pa.Table]:
        """The rows of some units for a table of the graph: all columns or some."""
        schema = arrow_schema(spec)
        wanted = pa.schema([schema.field(name) for name in names or schema.names])
        column = self.told.column(spec.name).take(pa.array(sorted(units), pa.int64()))
        for chunk in column.chunks:
            flat = chunk.flatten()
            # nulls of the structs themselves cannot be: a list holds rows only
            yield pa.table([flat.field(name) for name in wanted.names], names=wanted.names).cast(wanted)


def rows_of(parts: Iterable[pa.Table], spec: TableSpec, names: Sequence[str] = ()) -> pa.Table:
    """Parts of the rows of a table together."""
    found, schema = list(parts), arrow_schema(spec)
    empty = pa.schema([schema.field(name) for name in names or schema.names]).empty_table()
    return pa.concat_tables(found) if found else empty


def without_rows(data: bytes) -> bytes:
    """A batch as the driver needs it. Runs in a task."""
    table = read_table(data)
    dropped = table.drop_columns([spec.name for spec in REPLACED])
    fields = [arrow_schema(STATEMENTS).field(name) for name in NAMED]
    lists = []
    for chunk in table.column(STATEMENTS.name).chunks:
        flat = chunk.flatten()
        structs = pa.StructArray.from_arrays([flat.field(name) for name in NAMED], fields=fields)
        starts = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(chunk.value_lengths())])
        lists.append(pa.ListArray.from_arrays(starts, structs))
    dropped = dropped.append_column(EDGES.name, pc.list_value_length(table.column(EDGES.name)))
    return write_table(dropped.append_column(STATEMENTS.name, pa.chunked_array(lists)))


def write_table(table: pa.Table) -> bytes:
    """A table as Arrow's stream of bytes, compressed: the rows of edges repeat names, and go through Java twice."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def read_table(data: bytes) -> pa.Table:
    """The table that `write_table` was given."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()

"""Writing a table from Spark tasks: each writes sorted runs for its buckets, the driver commits all of them at once.

A task names in its message the files it has written; only messages of tasks that Spark let commit reach the driver,
so a retry or a speculative copy leaves files that belong to nothing, never rows that count twice. The commit is named
by (user, id): the same one lands once, however often it is tried.

A column `_kind` makes a row a change: `-D` deletes the key, everything else writes the row; `-U`, the row before an
update, is left out. With the option `kinds = edits` all deletes come before all rows, whichever task has them: a
statement that moves rows between keys sees the table as it was; `+I` is a row with a new key there, `+U` one that
keeps its key, and two rows with one key are refused. Otherwise the order is that of the rows.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.types import conform
from headwater.lake.metadata.commit import PlacedFile
from headwater.lake.metadata.snapshot import next_sequence
from headwater.lake.tables.changelog import KIND
from headwater.lake.tables.convert import conforming, gathered
from headwater.lake.tables.edits import EditFiles, write_edits
from headwater.lake.tables.routing import route
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import add_files, discard, write_routed
from headwater.lazy import arrow_compute as pc
from headwater.spark.source.arrow_compat import arrived
from headwater.spark.source.commits import WritePlan, Written, finish, undo
from headwater.spark.source.due import compact_after
from headwater.spark.source.python_sources import DataSourceArrowWriter, WriterCommitMessage
from headwater.spark.source.worker import settle

_GATHERED_BYTES = 256 << 20  # rows of a task are sorted and written in runs of about this size


class TaskWriter:
    """The writer that runs in a task, in a batch and in a stream alike."""

    def __init__(self, plan: WritePlan, *, edits: bool = False) -> None:
        self.plan = plan
        self.edits = edits

    def write(self, batches: Iterable[pa.RecordBatch]) -> Written:
        """Write the rows of one task to files that belong to nothing yet; on failure they are removed.

        RAISES: SchemaError naming table and column that do not fit.
        """
        settle()
        store = self.plan.at.open()
        shape = store.shape(self.plan.schema_id)
        parts: list[EditFiles] = []
        rows: list[PlacedFile] = []
        try:
            with store.naming():
                for table in gathered(map(arrived, batches), _GATHERED_BYTES):
                    if KIND not in table.schema.names:
                        add_files(store, shape, conforming(table, shape.schema), rows)
                    elif self.edits:
                        parts.append(_add_edits(store, shape, table))
                    else:
                        _add_changelog(store, shape, table, rows)
        except BaseException:
            discard(store, [*rows, *(placed for part in parts for placed in part.all())])
            raise
        return Written(_together([*parts, EditFiles(kept=tuple(rows))]))


class TableWriter(DataSourceArrowWriter):
    """A batch write."""

    def __init__(self, task: TaskWriter) -> None:
        self.task = task

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self.task.write(iterator)

    def commit(self, messages: list[Written | None]) -> None:  # type: ignore[override]
        """RAISES: CommitConflictError."""
        compact_after(self.task.plan.at, finish(self.task.plan, messages))

    def abort(self, messages: list[Written | None]) -> None:  # type: ignore[override]
        undo(self.task.plan, messages)


def _add_edits(store: TableStore, shape: Shape, table: pa.Table) -> EditFiles:
    kinds, rows = table.column(KIND), table.drop_columns([KIND])
    deletes, fresh = pc.equal(kinds, "-D"), pc.equal(kinds, "+I")
    kept = pc.invert(pc.or_(deletes, fresh))
    return write_edits(store, shape, deletes=rows.filter(deletes), kept=rows.filter(kept), fresh=rows.filter(fresh))


def _together(parts: list[EditFiles]) -> EditFiles:
    return EditFiles(
        deletes=tuple(placed for part in parts for placed in part.deletes),
        kept=tuple(placed for part in parts for placed in part.kept),
        fresh=tuple(placed for part in parts for placed in part.fresh),
    )


def _add_changelog(store: TableStore, shape: Shape, table: pa.Table, rows: list[PlacedFile]) -> None:
    if not shape.is_keyed:
        raise SchemaError(f"a table without a primary key takes no `{KIND}`")
    table = table.filter(pc.not_equal(table.column(KIND), "-U"))
    gone = pc.equal(table.column(KIND), "-D").combine_chunks()
    plain = table.drop_columns([KIND])
    keys = shape.schema.primary_keys
    loose = tuple(replace(field, nullable=field.name not in keys) for field in shape.schema.fields)
    whole = conform(plain, replace(shape.schema, fields=loose))
    conform(plain.filter(pc.invert(gone)), shape.schema)  # rows that stay are held to the schema
    kinds = np.where(gone.to_numpy(zero_copy_only=False), RowKind.DELETE, RowKind.PUT).astype(np.uint8)
    first = next_sequence(store.committer.log.latest())
    for routed in route(whole, shape, kinds):
        rows += write_routed(store, shape, routed, first + len(rows))

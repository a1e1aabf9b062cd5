"""Tables as streams: a source that reads what commits brought, and a sink that commits every batch once.

The offset of the source is a snapshot id: `{"snapshot": 7}` means that all up to snapshot 7 has been read. A stream
begins with the table as it is (`from = 0`, the default), after a snapshot, or with `from = latest`. Snapshots that a
stream has not read yet must not expire: keep them for longer than a stream may stand still.
"""

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from headwater.lake.metadata.snapshot import NO_SNAPSHOT
from headwater.lake.tables import Table
from headwater.spark.source.changes import EMPTY, Wanted, plan_changes
from headwater.spark.source.commits import Written, finish_batch, undo
from headwater.spark.source.options import Options, stored_at
from headwater.spark.source.python_sources import (
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from headwater.spark.source.reader import Parts, read_partition
from headwater.spark.source.types import arrow_of
from headwater.spark.source.writer import TaskWriter

_LIMITS = "pyspark.sql.streaming.datasource"
limits: Any = None  # stays None on a PySpark before 4.2, which knows no read limits
if importlib.util.find_spec(_LIMITS) is not None:
    limits = importlib.import_module(_LIMITS)
_Stoppable: Any = object if limits is None else limits.SupportsTriggerAvailableNow


class TableStream(DataSourceStreamReader, _Stoppable):  # type: ignore[misc]
    """The snapshots of a table as a stream. Lives on the driver; `read` runs in tasks."""

    def __init__(self, options: Options, schema: StructType) -> None:
        self._options = options
        self._schema = arrow_of(schema)
        self._most = options.number("max-snapshots-per-trigger", 0)
        self._stop_at: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        first = self._options.text("from") or str(EMPTY)
        if first == "latest":
            return {"snapshot": self._latest(self._table())}
        if first == str(EMPTY):
            return {"snapshot": EMPTY}
        snapshot = self._table().snapshot(int(first) if first.isdigit() else first)
        return {"snapshot": snapshot.snapshot_id if snapshot is not None else EMPTY}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """So many snapshots, if an option says so. Spark has no limit of that name: we count them as files."""
        return limits.ReadMaxFiles(self._most) if self._most else limits.ReadAllAvailable()

    def latestOffset(self, start: dict[str, int] | None = None, limit: Any = None) -> dict[str, int]:  # noqa: N802
        table = self._table()
        latest = self._latest(table)
        end = latest if self._stop_at is None else min(latest, self._stop_at)
        if start is None:
            return {"snapshot": end}
        if limits is not None and isinstance(limit, limits.ReadMaxFiles):
            read = start["snapshot"]
            if read == EMPTY:  # the first batch is a whole state, and there may be none before the earliest kept
                read = max(EMPTY, table.store.committer.log.earliest_id() - 1)
            end = min(end, read + limit.max_files)
        return {"snapshot": max(end, start["snapshot"])}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"snapshot": self._latest(self._table())}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._stop_at = self._latest(self._table())

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """RAISES: NotFoundError when a snapshot between has expired, UsageError when rows were removed."""
        options, place = self._options, self._options.place()
        table = place.open()
        wanted = Wanted(start["snapshot"], end["snapshot"], options.flag("changelog"), options.flag("ignore-deletes"))
        return [Parts(part) for part in plan_changes(table, stored_at(place, table), wanted)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(partition, self._schema)

    def _table(self) -> Table:
        return self._options.place().open()

    def _latest(self, table: Table) -> int:
        id = table.store.committer.log.latest_id()
        return EMPTY if id == NO_SNAPSHOT else id


class StreamWriter(DataSourceStreamArrowWriter):
    """A sink: each batch is one commit, named by the stream and the batch."""

    def __init__(self, task: TaskWriter) -> None:
        self.task = task

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        return self.task.write(iterator)

    def commit(self, messages: list[Written | None], batchId: int) -> None:  # type: ignore[override]  # noqa: N803
        """RAISES: CommitConflictError."""
        finish_batch(self.task.plan, messages, batchId)

    def abort(self, messages: list[Written | None], batchId: int) -> None:  # type: ignore[override]  # noqa: N803
        undo(self.task.plan, messages)

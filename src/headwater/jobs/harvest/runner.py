"""Who analyses the units of a wave: this process when they are few, Spark when they are many.

Starting Spark takes longer than analysing a few hundred statements. The answers are the same either way.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from headwater.graph.store import arrow_schema
from headwater.graph.tables import TableSpec
from headwater.jobs.harvest.analysis import FACTS, GOOGLE, OUTCOMES, Outcome, Setting, Task, analyse_tasks
from headwater.jobs.session import LOCAL, spark_session

SMALL = 200
"""A wave of fewer units stays in this process, unless a master was named."""
SMALLEST = 48
"""So few stay here even then, after the first wave: a Spark job would cost more than it saves."""
_BATCH = 64  # units analysed before their rows are handed on
_SETTINGS = {"spark.driver.memory": "1g", "spark.rpc.message.maxSize": "512"}
_TASKS_PER_CORE = 4  # so that cores that are done early find more to do


@dataclass
class Runner:
    """Analyses tasks and keeps their rows for the graph, as Arrow tables, until they are wanted."""

    setting: Setting
    master: str | None = None  # None: Spark, on all cores, only for large waves
    progress: Callable[[int], None] = lambda count: None
    tables: list[pa.Table] = field(default_factory=list)
    _spark: SparkSession | None = None
    _shared: Any = None
    _open: ExitStack = field(default_factory=ExitStack)

    def run(self, tasks: list[Task]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes of tasks, by index."""
        marks = {task.index: self.setting.mark(task.unit) for task in tasks}
        here = len(tasks) < (SMALL if self.master is None else SMALLEST if self._spark is not None else 1)
        for table in self._here(tasks) if here else self._on_spark(tasks):
            number = len(self.tables)
            self.tables.append(table.select([spec.name for spec in FACTS]))
            plain = table.select(["index", "sight", "effects", "count", "findings"]).to_pylist()
            for row, each in enumerate(plain):
                index = each.pop("index")
                yield index, Outcome(marks[index], **each, place=(number, row))
            self.progress(len(plain))

    def _here(self, tasks: list[Task]) -> Iterator[pa.Table]:
        for at in range(0, len(tasks), _BATCH):
            yield pa.Table.from_batches([analyse_tasks(tasks[at : at + _BATCH], self.setting)])

    def _on_spark(self, tasks: list[Task]) -> Iterator[pa.Table]:
        spark = self.spark
        if self._shared is None:
            self._shared = spark.sparkContext.broadcast(self.setting)
        shared = self._shared
        tasks = sorted(tasks, key=lambda task: (-_cost(task), task.index))  # those that take long begin first
        rows = pa.table({"task": pa.array([encode_task(task) for task in tasks], pa.binary())})
        cores = spark.sparkContext.defaultParallelism
        parts = max(cores, min(len(tasks) // _BATCH, cores * _TASKS_PER_CORE))

        def analyse(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            given = [decode_task(each) for batch in batches for each in batch.column(0).to_pylist()]
            for at in range(0, len(given), _BATCH):
                yield analyse_tasks(given[at : at + _BATCH], shared.value)

        frame = spark.createDataFrame(rows).repartition(parts)
        yield frame.mapInArrow(analyse, from_arrow_schema(OUTCOMES)).toArrow()

    @property
    def spark(self) -> SparkSession:
        """The session, started when it is first needed and stopped with this runner, if nobody else runs one."""
        if self._spark is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # the gateway's pipes
                opened = spark_session(self.master or LOCAL, name="headwater harvest", settings=_SETTINGS)
                self._spark = self._open.enter_context(opened)
        return self._spark

    def close(self) -> None:
        """Stop what was started."""
        self._open.close()

    def rows(self, spec: TableSpec, places: list[tuple[int, int]]) -> pa.Table:
        """The rows for a table of the graph that stand at some places."""
        schema = arrow_schema(spec)
        by_table: dict[int, list[int]] = {}
        for number, row in places:
            by_table.setdefault(number, []).append(row)
        parts = []
        for number, wanted in sorted(by_table.items()):
            column = self.tables[number].column(spec.name).take(pa.array(sorted(wanted), pa.int64()))
            for chunk in column.chunks:
                flat = chunk.flatten()
                arrays = [flat.field(name) for name in schema.names]
                # nulls of the structs themselves cannot be: a list holds rows only
                parts.append(pa.table(arrays, names=schema.names).cast(schema))
        return pa.concat_tables(parts) if parts else schema.empty_table()


def _cost(task: Task) -> int:
    """About how long a task takes, in characters of SQL: ZetaSQL takes ten times as long as the others."""
    size = len(task.unit.text)
    return size * 10 if task.unit.script.dialect in GOOGLE else size


def encode_task(task: Task) -> bytes:
    """A task as bytes."""
    return msgspec.msgpack.encode(task)


def decode_task(data: bytes) -> Task:
    """The task that `encode_task` was given."""
    return msgspec.msgpack.decode(data, type=Task)

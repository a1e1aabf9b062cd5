"""Batches of tasks on Spark: each a job of its own, several at a time, while whoever gave them goes on.

One job a wave would leave cores idle while the last batch of the wave ends and the next wave is planned. Spark comes
up in the background. Workers stay from batch to batch, and with them their analyzers. The rows for the graph stay on
the executors: in the end, tasks write those that count to files. The driver has what decides the next wave.
"""

import gc
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from heapq import heappop, heappush
from itertools import count

import msgspec
import pyarrow as pa
from pyspark import RDD, Broadcast, SparkContext, StorageLevel
from pyspark.sql import SparkSession

from headwater.analysis.engines import open_front_end
from headwater.graph.store import GraphStore, WrittenFiles
from headwater.graph.tables import STATEMENTS, TableSpec
from headwater.jobs.harvest.batch_analysis import analyse_tasks
from headwater.jobs.harvest.batches import (
    Batch,
    Wanted,
    read_table,
    rows_of,
    without_rows,
    write_table,
)
from headwater.jobs.harvest.records import REPLACED, gone
from headwater.jobs.harvest.unit_analysis import FACTS, HarvestSetting, Task
from headwater.jobs.session import DAEMON, LOCAL, spark_context, spark_failures
from headwater.jobs.upkeep import compact
from headwater.jobs.written import place_of, plan_files, write_files
from headwater.spark.source.commits import WritePlan

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.rpc.message.maxSize": "512",
    # Java hands batches on and does little else: the cores are for the analysis, not for optimising Java's code
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    DAEMON: "headwater.jobs.harvest.daemon",
}
_MOST_JOBS = 8  # that run at a time; where there are many cores, a job has more batches
_AHEAD = 2  # jobs more than can run, so that no core waits for the next
_WRITTEN_UNITS = 1_250  # whose rows one task writes: each writes files of its own, which readers have to merge
_TURN = 0.0005  # seconds
_COLLECTED = 64  # batches after which a worker collects all garbage
_batches = count()  # that this worker has done
_settings: dict[str, HarvestSetting] = {}  # of the run that this worker works for


class SparkCrew:
    """Analyses batches on the Spark that is running, or on one of its own, once it is told the setting."""

    def __init__(self, master: str | None = None) -> None:
        self._group = f"headwater-{uuid.uuid4().hex}"
        self._open = ExitStack()
        self._kept: list[RDD[bytes]] = []  # what tasks have found, one batch a partition
        self._threads = ThreadPoolExecutor(_MOST_JOBS + _AHEAD, "headwater-harvest")
        self._setting: Future[HarvestSetting] = Future()
        running = SparkSession.getActiveSession()  # of this thread
        self._is_ours = running is None
        self._started = self._threads.submit(self._start, master or LOCAL, running)

    def tell(self, setting: HarvestSetting) -> None:
        """Let the workers know the setting of the harvest. Only the first call counts."""
        if not self._setting.done():
            self._setting.set_result(setting)

    def _start(self, master: str, running: SparkSession | None) -> tuple[SparkContext, Broadcast[HarvestSetting]]:
        with spark_failures(), _in_turn():
            opened = spark_context(master, name="headwater harvest", settings=SETTINGS)
            context = running.sparkContext if running is not None else self._open.enter_context(opened)
            shared = context.broadcast(self._setting.result())
            cores = context.defaultParallelism
            context.parallelize(range(cores), cores).foreach(partial(make_ready, shared))
            return context, shared

    @property
    def is_up(self) -> bool:
        """Return whether Spark has been started, and its workers are ready."""
        return self._started.done()

    @property
    def cores(self) -> int:
        """Return how many batches run at a time. Waits for Spark."""
        context, _ = self._started.result()
        return int(context.defaultParallelism)

    @property
    def width(self) -> int:
        """Return how many batches make a job: one, if cores are few, so that no outcome waits for another batch."""
        return -(-self.cores // _MOST_JOBS)

    @property
    def running(self) -> int:
        """Return how many jobs run at a time, if there are enough."""
        return -(-self.cores // self.width)

    @property
    def jobs(self) -> int:
        """Return how many jobs there should be at a time."""
        return self.running + _AHEAD

    def submit(self, batches: Sequence[list[Task]]) -> Future[list[Batch]]:
        """Analyse some batches, each in a task of Spark's."""
        return self._threads.submit(self._run, batches)

    def _run(self, batches: Sequence[list[Task]]) -> list[Batch]:
        context, setting = self._started.result()
        with spark_failures():
            context.setJobGroup(self._group, "headwater harvest")
            parts = context.parallelize([encode_tasks(batch) for batch in batches], len(batches))
            kept = parts.map(partial(analyse_bytes, self._group, setting)).persist(StorageLevel.DISK_ONLY)
            self._kept.append(kept)
            told = [read_table(data) for data in kept.map(without_rows).collect()]
            return [Batch(table, (kept, number)) for number, table in enumerate(told)]

    def write(self, wanted: Sequence[tuple[Batch, Wanted]], store: GraphStore, expected: int) -> WrittenFiles:
        """Have tasks write the wanted rows of batches, about so many, to files of the graph's tables."""
        plans = {spec.name: plan_files(store, spec, expected) for spec in FACTS}
        context, _ = self._started.result()
        units = sum(len(rows[0]) for _, rows in wanted)
        tasks = -(-units // _WRITTEN_UNITS)
        with spark_failures():
            shared = context.broadcast({batch.number: rows for batch, rows in wanted})
            shares = [context.union(share).coalesce(1) for share in _shares((batch for batch, _ in wanted), tasks)]
            few = context.union(shares)
            return WrittenFiles.together(few.mapPartitions(partial(write_units, plans, shared)).collect())

    def compact(self, store: GraphStore, tables: Iterable[TableSpec]) -> None:
        """Have tasks compact the buckets of the graph's tables where it is due."""
        context, _ = self._started.result()
        with spark_failures():
            compact(context, [place_of(store, spec) for spec in tables], full=False)

    def close(self) -> None:
        """Leave what is under way, and stop what was started."""
        self._setting.cancel()  # if it never came, the start ends here
        self._threads.shutdown(wait=False, cancel_futures=True)
        if not self._started.cancelled() and self._started.exception() is None:
            context, setting = self._started.result()
            if not self._is_ours:
                context.cancelJobGroup(self._group)
                setting.unpersist()
                for kept in self._kept:
                    kept.unpersist()
        self._open.close()


def _shares(batches: Iterable[Batch], most: int) -> list[list[RDD[bytes]]]:
    """Share out what tasks have kept, by the edges in it: the most goes first, each to whoever has least."""
    weights: Counter[RDD[bytes]] = Counter()
    for batch in batches:
        assert batch.kept is not None
        weights[batch.kept[0]] += batch.edges
    shares: list[tuple[int, int, list[RDD[bytes]]]] = [(0, at, []) for at in range(min(most, len(weights)))]
    for kept, weight in weights.most_common():
        least, at, share = heappop(shares)
        heappush(shares, (least + weight, at, [*share, kept]))
    return [share for _, _, share in shares]


@contextmanager
def _in_turn() -> Iterator[None]:
    """Let threads take turns more often: this one asks Java hundreds of small things, beside one that computes.

    With Python's own 5 ms for a turn, each answer would wait that long: Spark came up in 13 s instead of 6.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def make_ready(setting: Broadcast[HarvestSetting], number: int) -> None:
    """Import and open what the analysis needs: in a worker, while whoever started Spark is at work itself."""
    for dialect in setting.value.schemas:
        open_front_end(dialect, setting.value.engine)


def analyse_bytes(run: str, setting: Broadcast[HarvestSetting], data: bytes) -> bytes:
    """Analyse a batch: what a task of Spark's does."""
    batch = analyse_tasks(decode_tasks(data), _kept_setting(run, setting))
    _hide_from_collector()
    return write_table(pa.Table.from_batches([batch]))


def _kept_setting(run: str, setting: Broadcast[HarvestSetting]) -> HarvestSetting:
    """The setting of a run, kept here: Spark drops it from a worker that does a task without it in between."""
    if run not in _settings:
        _settings.clear()
        _settings[run] = setting.value
    return _settings[run]


def _hide_from_collector() -> None:
    """Hide what is in memory from the collection of garbage that Spark's workers make after every task.

    That collection walks all that an analyzer keeps: on a large estate it took as long as the analysis. One batch in
    some collects everything, so that garbage in cycles does not pile up.
    """
    if next(_batches) % _COLLECTED == 0:
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def encode_tasks(tasks: Sequence[Task]) -> bytes:
    """Tasks as bytes. Scripts stay behind: a unit has all of the text that it needs."""
    return msgspec.msgpack.encode([task.alone() for task in tasks])


def decode_tasks(data: bytes) -> list[Task]:
    """The tasks that `encode_tasks` was given."""
    return msgspec.msgpack.decode(data, type=list[Task])


def write_units(
    plans: Mapping[str, WritePlan], wanted: Broadcast[dict[int, Wanted]], kept: Iterable[bytes]
) -> Iterator[WrittenFiles]:
    """Write the rows of units to files, and deletes of the rows that they take the place of. Runs in a task."""
    parts: dict[str, list[pa.Table]] = {spec.name: [] for spec in REPLACED}
    over: list[str] = []
    for data in kept:
        batch = Batch(read_table(data))
        units, statements = wanted.value.get(batch.number, ([], []))
        over += statements
        for spec in REPLACED:
            parts[spec.name] += batch.rows(spec, units)
    tables = {spec.name: rows_of(parts[spec.name], spec) for spec in REPLACED}
    store = GraphStore(plans[STATEMENTS.name].at.place.warehouse)
    removed = {spec.name: gone(store, spec, over, tables[spec.name]) for spec in REPLACED} if over else {}
    yield write_files(plans, tables, removed)

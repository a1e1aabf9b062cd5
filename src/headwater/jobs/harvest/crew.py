"""Batches of tasks on Spark: each a job of its own, several at a time, while whoever gave them goes on.

One job a wave would leave cores idle while the last batch of the wave ends and the next wave is planned. Spark comes
up in the background. Workers stay from batch to batch, and with them their analyzers.
"""

import gc
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache, partial

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import Broadcast, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headwater.analysis.engines import open_front_end
from headwater.errors import EngineError
from headwater.jobs.harvest.analysis import Setting, Task, analyse_tasks
from headwater.jobs.session import DAEMON, LOCAL, spark_context

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.rpc.message.maxSize": "512",
    # Java hands batches on and does little else: the cores are for the analysis, not for optimising Java's code
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    DAEMON: "headwater.jobs.harvest.daemon",
}
_MOST_JOBS = 8  # that run at a time; where there are many cores, a job has more batches
_LEAST_BATCHES = 2  # in a job: it takes Java 30 ms of CPU to begin one, whatever is in it
_AHEAD = 2  # jobs more than can run, so that no core waits for the next
_TURN = 0.0005  # seconds


class SparkCrew:
    """Analyses batches on the Spark that is running, or on one of its own."""

    def __init__(self, setting: Setting, master: str | None = None) -> None:
        self._group = f"headwater-{uuid.uuid4().hex}"
        self._open = ExitStack()
        self._threads = ThreadPoolExecutor(_MOST_JOBS + _AHEAD, "headwater-harvest")
        running = SparkSession.getActiveSession()  # of this thread
        self._started = self._threads.submit(self._start, setting, master or LOCAL, running)

    def _start(
        self, setting: Setting, master: str, running: SparkSession | None
    ) -> tuple[SparkContext, Broadcast[Setting]]:
        with _wrapped(), _in_turn():
            opened = spark_context(master, name="headwater harvest", settings=SETTINGS)
            context = running.sparkContext if running is not None else self._open.enter_context(opened)
            shared = context.broadcast(setting)
            cores = context.defaultParallelism
            context.parallelize(range(cores), cores).foreach(partial(make_ready, shared))
            return context, shared

    @property
    def is_up(self) -> bool:
        """Whether Spark has been started, and its workers are ready."""
        return self._started.done()

    @property
    def cores(self) -> int:
        """How many batches run at a time. Waits for Spark."""
        context, _ = self._started.result()
        return int(context.defaultParallelism)

    @property
    def width(self) -> int:
        """How many batches make a job."""
        return max(_LEAST_BATCHES, -(-self.cores // _MOST_JOBS))

    @property
    def running(self) -> int:
        """How many jobs run at a time, if there are enough."""
        return -(-self.cores // self.width)

    @property
    def jobs(self) -> int:
        """How many jobs there should be at a time."""
        return self.running + _AHEAD

    def submit(self, batches: Sequence[list[Task]]) -> Future[list[pa.Table]]:
        """Analyse some batches, each in a task of Spark's."""
        return self._threads.submit(self._run, batches)

    def _run(self, batches: Sequence[list[Task]]) -> list[pa.Table]:
        context, setting = self._started.result()
        with _wrapped():
            context.setJobGroup(self._group, "headwater harvest")
            parts = context.parallelize([encode_tasks(batch) for batch in batches], len(batches))
            return [_table(data) for data in parts.map(partial(analyse_bytes, setting)).collect()]

    def close(self) -> None:
        """Leave what is under way, and stop what was started."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if not self._started.cancelled() and self._started.exception() is None:
            context, setting = self._started.result()
            context.cancelJobGroup(self._group)
            setting.unpersist()
        self._open.close()


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


@contextmanager
def _wrapped() -> Iterator[None]:
    """What Spark says when it fails, as an error of ours: its last words, not its stack."""
    try:
        yield
    except (Py4JError, PySparkException) as err:
        lines = [line.strip() for line in str(err).splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if _ERROR.match(line)), lines[0] if lines else repr(err))
        raise EngineError(f"Spark failed: {reason}", hint="`--master 'local[*]'` runs on this machine") from err


_ERROR = re.compile(r"(?:Caused by: )?[\w.]+(?:Error|Exception)\b")


def make_ready(setting: Broadcast[Setting], number: int) -> None:
    """Import and open what the analysis needs: in a worker, while whoever started Spark is at work itself."""
    for dialect in setting.value.schemas:
        open_front_end(dialect, setting.value.engine)


def analyse_bytes(setting: Broadcast[Setting], data: bytes) -> bytes:
    """Analyse a batch: what a task of Spark's does."""
    batch = analyse_tasks(decode_tasks(data), setting.value)
    _settle_in()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


@cache
def _settle_in() -> None:
    """Spark's workers collect garbage after every task: let them not look through what is there to stay."""
    gc.freeze()


def _table(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()


def encode_tasks(tasks: Sequence[Task]) -> bytes:
    """Tasks as bytes. Scripts stay behind: a unit has all of the text that it needs."""
    return msgspec.msgpack.encode([task.alone() for task in tasks])


def decode_tasks(data: bytes) -> list[Task]:
    """The tasks that `encode_tasks` was given."""
    return msgspec.msgpack.decode(data, type=list[Task])

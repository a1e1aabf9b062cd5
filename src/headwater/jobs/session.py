"""Spark for a job: the one that is running, or one that is started for it and stopped after it."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryFile

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from headwater.errors import EngineError
from headwater.spark.cluster import is_here, ship_package
from headwater.spark.environment import spark_environment
from headwater.spark.source.due import start_compactor

LOCAL = "local[*]"
DAEMON = "spark.python.daemon.module"
_SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.python.unix.domain.socket.enabled": "true",  # over TCP a small answer waits 40 ms for the kernel
    DAEMON: "headwater.spark.daemon",
}


@contextmanager
def spark_session(
    master: str = LOCAL, *, name: str = "headwater", settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session on `master`, with Headwater on its executors.

    RAISES: JavaNotFoundError.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    conf = _conf(master, name, settings or {})
    _start_java(conf)
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    try:
        ship_package(spark)
        compactor = start_compactor(spark.sparkContext)
        yield spark
        compactor.wait()
        compactor.close()
    finally:
        spark.stop()


@contextmanager
def spark_context(
    master: str = LOCAL, *, name: str = "headwater", settings: Mapping[str, str] | None = None
) -> Iterator[SparkContext]:
    """A context on `master`, for work that needs no SQL: on this machine, Java starts with half the work.

    RAISES: JavaNotFoundError.
    """
    if SparkSession.getActiveSession() is not None or not is_here(master):
        with spark_session(master, name=name, settings=settings) as spark:
            yield spark.sparkContext
        return
    conf = _conf(master, name, settings or {})
    _start_java(conf)
    context = SparkContext.getOrCreate(conf)
    try:
        yield context
    finally:
        context.stop()


def _conf(master: str, name: str, given: Mapping[str, str]) -> SparkConf:
    settings = {**_SETTINGS, **given}
    if not is_here(master) and settings[DAEMON].startswith("headwater."):
        del settings[DAEMON]  # executors may start without Headwater
    return SparkConf().setMaster(master).setAppName(name).setAll(list(settings.items()))


def _start_java(conf: SparkConf) -> None:
    """Start the Java of this process, if it has none, and keep what it logs from the terminal.

    What fails later comes as an exception. RAISES: JavaNotFoundError, EngineError with what Java said last.
    """
    os.environ |= spark_environment()
    if SparkContext._gateway is not None:
        return
    with TemporaryFile() as said:
        try:
            gateway = launch_gateway(conf, {"stdout": said, "stderr": said})  # type: ignore[no-untyped-call]
            SparkContext._ensure_initialized(gateway=gateway)
        except PySparkRuntimeError as err:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise EngineError("Spark did not start", hint="Java said: " + " / ".join(lines[-3:])) from err


@contextmanager
def spark_failures() -> Iterator[None]:
    """Raise EngineError with the reason that Spark gives when it fails, without its stack."""
    try:
        yield
    except (Py4JError, PySparkException) as err:
        lines = [line.strip() for line in str(err).splitlines() if line.strip()]
        reason = next((line for line in reversed(lines) if _ERROR.match(line)), lines[0] if lines else repr(err))
        raise EngineError(f"Spark failed: {reason}", hint="`--master 'local[*]'` runs on this machine") from err


_ERROR = re.compile(r"(?:Caused by: )?[\w.]+(?:Error|Exception)\b")

"""Spark for a job: the one that is running, or one that is started for it and stopped after it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from headwater.spark.cluster import is_here, ship_package
from headwater.spark.environment import spark_environment

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
    os.environ |= spark_environment()
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in _settings(master, settings or {}).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        ship_package(spark)
        yield spark
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
    os.environ |= spark_environment()
    conf = SparkConf().setMaster(master).setAppName(name).setAll(list(_settings(master, settings or {}).items()))
    context = SparkContext.getOrCreate(conf)
    try:
        yield context
    finally:
        context.stop()


def _settings(master: str, given: Mapping[str, str]) -> dict[str, str]:
    settings = {**_SETTINGS, **given}
    if not is_here(master) and settings[DAEMON].startswith("headwater."):
        del settings[DAEMON]  # executors may start without Headwater
    return settings

"""The program that `headwater spark-run` starts: attaches the agent to the Spark that a job makes, and runs the job.
With `spark.headwater.lake` the tables of that warehouse are there by name, as `hw.db.table`.

Whatever goes wrong with the agent, the job runs. A warehouse that cannot be opened stops it: it was asked for.
"""

import functools
import logging
import runpy
import sys
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

import headwater.spark
from headwater.spark.agent.observe import note_failure, observe
from headwater.spark.agent.options import PREFIX

log = logging.getLogger("headwater.spark")

OPENLINEAGE_LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"
_LISTENERS = "spark.extraListeners"


class _StandardError(logging.Handler):
    """Writes to Spark's standard error: spark-submit mixes that of the job with the job's output."""

    def emit(self, record: logging.LogRecord) -> None:
        jvm: Any = SparkContext._jvm
        try:
            jvm.java.lang.System.err.println(self.format(record))
        except Exception:  # Java is not there yet, or gone
            sys.stderr.write(f"{self.format(record)}\n")


def attach_to_coming_spark() -> None:
    """Have every SparkContext that is made from now on observed."""
    made = SparkContext.__init__

    @functools.wraps(made)
    def observed(self: SparkContext, *args: Any, **kwargs: Any) -> None:
        if not args:
            kwargs["conf"] = _without_absent_listener(kwargs.get("conf"))
        made(self, *args, **kwargs)
        try:
            observe()
        except Exception:
            log.exception("The job is not observed; it runs all the same.")

    SparkContext.__init__ = observed  # type: ignore[method-assign]


def _without_absent_listener(conf: SparkConf | None) -> SparkConf:
    """The configuration without OpenLineage's listener where its jar is not there: with it, Spark would not start."""
    SparkContext._ensure_initialized(conf=conf)
    jvm: Any = SparkContext._jvm
    if conf is None or conf._jconf is None:  # made before Java was there: it lacks what spark-submit was given
        given, conf = conf.getAll() if conf is not None else (), SparkConf(_jvm=jvm)
        for name, value in given:
            conf.set(name, value)
    listeners = [each.strip() for each in (conf.get(_LISTENERS) or "").split(",") if each.strip()]
    if OPENLINEAGE_LISTENER in listeners:
        try:
            loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
            jvm.java.lang.Class.forName(OPENLINEAGE_LISTENER, False, loader)
        except Py4JError:
            listeners.remove(OPENLINEAGE_LISTENER)
            conf.set(_LISTENERS, ",".join(listeners))
            log.warning("OpenLineage's jar is not there; the agent of Headwater takes the place of its listener.")
    return conf


def open_lake_in_coming_sessions() -> None:
    """Have every session that is made from now on know the tables of the warehouse in its configuration."""
    made = SparkSession.__init__

    @functools.wraps(made)
    def opened(self: SparkSession, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        warehouse = self.sparkContext.getConf().get(PREFIX + "lake")
        if warehouse:
            headwater.spark.connect(self, warehouse)

    SparkSession.__init__ = opened  # type: ignore[method-assign]


def main() -> None:
    """Run the job named first, as if Python had been started with it."""
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    log.addHandler(_StandardError())
    log.propagate = False  # the job's own logging is about the job
    attach_to_coming_spark()
    open_lake_in_coming_sessions()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leave:
        if leave.code not in (None, 0):
            note_failure(f"the job ended with exit code {leave.code}")
        raise


if __name__ == "__main__":
    main()

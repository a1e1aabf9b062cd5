"""The listener for jobs without Python: a small jar, compiled from the agent's Java by Spark's own compiler."""

import shutil
from pathlib import Path

from pyspark import SparkContext

from headwater.errors import NotWritableError
from headwater.spark.janino import compile_jar, java_source
from headwater.spark.plan.dump import SOURCES

LISTENER = "headwater.agent.Listener"


def write_listener_jar(path: Path) -> Path:
    """Write the jar for the Spark that is installed here.

    RAISES: NotWritableError, EngineError, MissingDependencyError.
    """
    SparkContext._ensure_initialized()
    plan = java_source("headwater.spark.plan", *SOURCES)
    agent = java_source("headwater.spark.agent", "Bridge", "Measures", "Recorder", "Listener")
    made = compile_jar(SparkContext, plan, agent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(made, path))
    except OSError as err:
        raise NotWritableError(f"{path} cannot be written: {err.strerror}") from err
    finally:
        shutil.rmtree(made.parent, ignore_errors=True)

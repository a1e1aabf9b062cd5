"""The query of a command that writes, from the analyzed plan back to SQL."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from headwater.errors import EngineError, MissingDependencyError
from headwater.spark.janino import java_source, shared_object


def written_query(context: SparkContext, command: Any) -> tuple[str | None, str | None]:
    """The query whose rows a plan writes to a table, in Spark's SQL, or the reason why there is none."""
    try:
        writer = shared_object(
            context, java_source(__package__, "Writer", "PlanSql"), "headwater.plan.PlanSql"
        ).fresh()
        text = writer.written(command)
    except (MissingDependencyError, EngineError) as err:
        return None, f"its plan cannot be read: {err.message}"
    except PySparkException as err:  # how PySpark shows Java's IllegalArgumentException
        return None, str(err).splitlines()[0][:200]
    except Py4JJavaError as err:
        return None, f"its plan cannot be read: {err.java_exception.getClass().getSimpleName()}"
    return (None, "its command is not written back as SQL") if text is None else (str(text), None)

"""Spark's data sources in Python, as lake tables use them; an older Spark is refused here, in words."""

import pyspark

from headwater.errors import MissingDependencyError

try:
    from pyspark.sql.datasource import *  # noqa: F403
    from pyspark.sql.datasource import CaseInsensitiveDict as CaseInsensitiveDict
    from pyspark.sql.datasource import EqualTo as EqualTo  # since Spark 4.1
    from pyspark.sql.worker import plan_data_source_read as plan_data_source_read
except ImportError as err:
    raise MissingDependencyError(
        f"lake tables need Spark 4.1 or later, and this is Spark {pyspark.__version__}",
        hint="the agent (`headwater spark-run`, `headwater.spark.observe`) works from Spark 3.5 on",
    ) from err

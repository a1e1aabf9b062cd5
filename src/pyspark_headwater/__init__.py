"""Lets Spark find the data source `headwater` without being told: it looks into packages named `pyspark_*`."""

from headwater.spark.source import HeadwaterSource as DefaultSource

__all__ = ["DefaultSource"]

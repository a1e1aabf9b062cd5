"""Lake tables as a Spark data source."""

from headwater.spark.source.source import HeadwaterSource

__all__ = ["HeadwaterSource"]

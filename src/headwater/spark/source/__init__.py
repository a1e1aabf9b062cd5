"""Lake tables as a Spark data source.

The class is imported on first use: the agent reads the options of tables also where Spark is too old for them.
"""

from typing import TYPE_CHECKING

from headwater.lazy import on_first_use

if TYPE_CHECKING:
    from headwater.spark.source.source import HeadwaterSource

__all__ = ["HeadwaterSource"]

__getattr__ = on_first_use(__name__, {"HeadwaterSource": "headwater.spark.source.source"})

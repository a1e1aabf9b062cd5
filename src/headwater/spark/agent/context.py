"""What visitors and builders may know of the Spark they look into."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark import SparkContext

from headwater.spark.agent.options import AgentOptions


@dataclass(frozen=True)
class OpenLineageContext:
    """A Spark session (the JVM's object), its SparkContext, and the agent's options."""

    session: Any
    spark_context: SparkContext | None  # None: what it ran was written down
    options: AgentOptions = field(default_factory=AgentOptions)

    @cached_property
    def metastore(self) -> str | None:
        """The address of Hive's metastore, where there is one."""
        found = self.session.sparkContext().hadoopConfiguration().get("hive.metastore.uris")
        return str(found) if found else None

    def setting(self, name: str) -> str | None:
        """A setting of the session; None when it has none."""
        found = self.session.conf().get(name, None)
        return str(found) if found else None

    @cached_property
    def warehouse(self) -> str:
        """Where the session catalog puts tables."""
        return str(self.session.sessionState().conf().warehousePath())

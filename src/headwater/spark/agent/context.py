"""What visitors and builders may know of the Spark they look into."""

from dataclasses import dataclass, field
from typing import Any

from pyspark import SparkContext

from headwater.spark.agent.options import AgentOptions


@dataclass(frozen=True)
class OpenLineageContext:
    """A Spark session (the JVM's object), its SparkContext, and the agent's options."""

    session: Any
    spark_context: SparkContext
    options: AgentOptions = field(default_factory=AgentOptions)

    @property
    def jvm(self) -> Any:
        return self.spark_context._jvm

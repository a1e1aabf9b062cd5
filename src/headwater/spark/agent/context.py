"""The context that visitors and builders get."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark import SparkContext

from headwater.model.names import TableName
from headwater.spark.agent.datasets import Behind, PlanDataset
from headwater.spark.agent.options import AgentOptions

_MOST_KNOWN = 10_000


@dataclass(frozen=True)
class OpenLineageContext:
    """A Spark session (the JVM's object), its SparkContext, the agent's options, and what it has seen."""

    session: Any
    spark_context: SparkContext | None  # None: what it ran was written down
    options: AgentOptions = field(default_factory=AgentOptions)
    known: dict[TableName, PlanDataset] = field(default_factory=dict)  # the tables seen so far
    rows: dict[object, Behind] = field(default_factory=dict)  # of checkpoints, by their column ids or their RDD

    @cached_property
    def metastore(self) -> str | None:
        """The address of Hive's metastore, where there is one."""
        found = self.session.sparkContext().hadoopConfiguration().get("hive.metastore.uris")
        return str(found) if found else None

    def keep(self, datasets: Iterable[PlanDataset]) -> None:
        """Remember tables, without their versions: one that is gone has the name it had."""
        found = (each for each in datasets if each.layer is not None and each.query is None)
        self.known.update((each.table, dataclasses.replace(each, version=None, live=None)) for each in found)
        while len(self.known) > _MOST_KNOWN:
            del self.known[next(iter(self.known))]

    def setting(self, name: str) -> str | None:
        """A setting of the session; None when it has none."""
        found = self.session.conf().get(name, None)
        return str(found) if found else None

    @property
    def state(self) -> Any:
        """The SessionState of the session; of one that was written down, as it was at the last note of it."""
        return self.session.sessionState() if self.spark_context is None else self._live_state

    @cached_property
    def _live_state(self) -> Any:
        """The SessionState in the JVM: one for as long as the session lives."""
        return self.session.sessionState()

    @cached_property
    def has_hive(self) -> bool:
        """Return whether the session catalog is kept by Hive: it is set once for a Spark."""
        return self.setting("spark.sql.catalogImplementation") == "hive"

    @cached_property
    def warehouse(self) -> str:
        """Return where the session catalog puts tables."""
        return str(self.state.conf().warehousePath())

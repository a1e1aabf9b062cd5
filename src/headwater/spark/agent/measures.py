"""How much an execution read and wrote, from the metrics of its physical plan."""

from dataclasses import dataclass
from typing import Any

import msgspec
from pyspark import SparkContext

from headwater.events.naming import path_name
from headwater.spark.agent.datasets import PlanDataset
from headwater.spark.agent.recorded import RecordedExecution
from headwater.spark.janino import java_source, shared_object


@dataclass(frozen=True, slots=True)
class Measure:
    """One scan or one write."""

    kind: str
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    paths: tuple[str, ...] = ()
    table: str | None = None
    jdbc: bool = False
    hive: bool = False

    def concerns(self, dataset: PlanDataset) -> bool:
        """Whether a scan is one of a dataset."""
        if any("/_delta_log" in path for path in self.paths):  # a table's own book-keeping
            return False
        if self.paths:
            first, own = path_name(self.paths[0], whole_table=False), dataset.name
            return first.namespace == own.namespace and f"{first.name}/".startswith(f"{own.name}/")
        if self.jdbc or self.hive:
            return dataset.layer == ("jdbc" if self.jdbc else "hive")
        shown, table = f".{dataset.table}", f".{self.table}"
        return self.table is not None and (shown.endswith(table) or table.endswith(shown))


_DECODER = msgspec.json.Decoder(list[Measure])


def measure(context: SparkContext | None, execution: Any) -> list[Measure]:
    """The scans and writes of an execution that has ended."""
    if isinstance(execution, RecordedExecution):
        return _DECODER.decode(execution.measures())
    source = java_source(__package__, "Measures")
    assert context is not None
    return _DECODER.decode(shared_object(context, source, "headwater.agent.Measures").of(execution))


def total(measures: list[Measure]) -> Measure | None:
    """Several scans of one dataset, or writes of one execution, together."""
    if not measures:
        return None

    def added(name: str) -> int | None:
        values = [value for each in measures if (value := getattr(each, name)) is not None]
        return sum(values) if values else None

    return Measure(measures[0].kind, added("rows"), added("bytes"), added("files"))

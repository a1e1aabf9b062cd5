"""The amounts that an execution read and wrote, from the metrics of its physical plan."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from pyspark import SparkContext

from headwater.events.naming import path_name
from headwater.spark.agent.datasets import Amount, PlanDataset
from headwater.spark.agent.tables import jdbc_dataset
from headwater.spark.janino import java_source, shared_object


@dataclass(frozen=True, slots=True)
class Measure:
    """One scan or one write. `jdbc` is the address and the table or query that were read; it is not to be shown."""

    kind: str
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    paths: tuple[str, ...] = ()
    table: str | None = None
    jdbc: tuple[str, str] | None = None
    hive: bool = False
    report: dict[str, int] = field(default_factory=dict, hash=False)  # of a scan of Iceberg, by the names that it has

    def concerns(self, dataset: PlanDataset) -> bool:
        """Return whether a scan is one of a dataset, and of no other: rows of several are not told apart."""
        if any("/_delta_log" in path for path in self.paths):  # a table's own book-keeping
            return False
        if self.paths:
            place, own = dataset.name.namespace, dataset.name.name.rstrip("/")
            read = [path_name(path, whole_table=False) for path in self.paths]
            return all(each.namespace == place and f"{each.name}/".startswith(f"{own}/") for each in read)
        if self.jdbc is not None:
            asked = jdbc_dataset(*self.jdbc)
            return asked.query is None and asked.name == dataset.name
        if self.hive:
            return dataset.layer == "hive"
        shown, table = f".{dataset.table}", f".{self.table}"
        return self.table is not None and (shown.endswith(table) or table.endswith(shown))


_DECODER = msgspec.json.Decoder(list[Measure])


def measure(context: SparkContext, execution: Any) -> list[Measure]:
    """The scans and writes of an execution that has ended."""
    return _DECODER.decode(measures_of(context).of(execution))


def measures_of(context: SparkContext) -> Any:
    """The `Measures` of a Spark. RAISES: MissingDependencyError or EngineError where Spark cannot compile."""
    return shared_object(context, java_source(__package__, "Measures"), "headwater.agent.Measures")


def total(measures: list[Measure]) -> Amount | None:
    """Several scans of one dataset, or writes of one execution, together."""
    if not measures:
        return None

    def added(name: str) -> int | None:
        values = [value for each in measures if (value := getattr(each, name)) is not None]
        return sum(values) if values else None

    rows, bytes, files = map(added, ("rows", "bytes", "files"))
    if rows and not files:  # a plan that is run again has its files in the numbers of the first run only
        bytes = files = None
    return Amount(rows, bytes, files)

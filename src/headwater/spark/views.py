"""The fallback where Spark's internals are not those we know: every table as a temporary view of the data source."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headwater.lake.tables import Warehouse
from headwater.lake.tables.time_travel import At


class ViewLake:
    """The tables of a warehouse as temporary views `database_table`: SELECT, INSERT INTO and INSERT OVERWRITE."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse, options: Mapping[str, str]) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self._options = dict(options)

    def __repr__(self) -> str:
        return f"ViewLake({self.warehouse.url!r})"

    def sql(self, text: str, *args: Any, **kwargs: Any) -> DataFrame:
        """Run Spark SQL over the views; tables made meanwhile are seen."""
        self.refresh()
        return self.spark.sql(text, *args, **kwargs)

    def table(self, name: str, at: At | None = None) -> DataFrame:
        """A table, as it is or as it was."""
        moment = {} if at is None else {"at": str(at)}
        return self.spark.read.format("headwater").options(**self._options, table=name, **moment).load()

    def refresh(self) -> None:
        """Make a view for each table there is."""
        for database in self.warehouse.list_databases():
            for table in self.warehouse.list_tables(database):
                given = {**self._options, "table": f"{database}.{table}"}
                options = ", ".join(f"'{key}' '{_escaped(value)}'" for key, value in given.items())
                name = f"`{database}_{table}`"
                self.spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} USING headwater OPTIONS ({options})")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")

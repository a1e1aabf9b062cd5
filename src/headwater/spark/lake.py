"""A warehouse in Spark: its tables by name, in SQL and in DataFrames."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headwater.lake.tables import Warehouse
from headwater.lake.tables.at import At
from headwater.spark.catalog.install import install_catalog
from headwater.spark.source.options import STORAGE, whole_url

DEFAULT_CATALOG = "hw"


class Lake:
    """The tables of a warehouse in one Spark session."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse, catalog: str, options: Mapping[str, str]) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.catalog = catalog
        self._options = dict(options)
        self._database: str | None = None

    def __repr__(self) -> str:
        return f"Lake({self.warehouse.url!r}, catalog={self.catalog!r})"

    def sql(self, text: str, *args: Any, **kwargs: Any) -> DataFrame:
        """Run Spark SQL in which a name without a catalog is one of this lake. Arguments are those of `spark.sql`."""
        current = self.spark.catalog.currentCatalog(), self.spark.catalog.currentDatabase()
        self.spark.catalog.setCurrentCatalog(self.catalog)
        if self._database is not None:
            self.spark.catalog.setCurrentDatabase(self._database)
        try:
            frame = self.spark.sql(text, *args, **kwargs)
            if self.spark.catalog.currentCatalog() == self.catalog:
                self._database = self.spark.catalog.currentDatabase()
            return frame
        finally:
            self.spark.catalog.setCurrentCatalog(current[0])
            self.spark.catalog.setCurrentDatabase(current[1])

    def table(self, name: str, at: At | None = None) -> DataFrame:
        """A table, as it is or as it was: `at` is a snapshot id, a tag, a time, `"@-1"`."""
        reader = self.spark.read if at is None else self.spark.read.option("at", str(at))
        return reader.table(f"{self.catalog}.{name}")


def connect(
    spark: SparkSession,
    warehouse: str | Path,
    *,
    catalog: str = DEFAULT_CATALOG,
    storage: Mapping[str, str] | None = None,
) -> Lake:
    """Make the tables of a warehouse known to Spark as `hw.db.table`, in SQL and in DataFrames.

    `storage` are options of the object store; without them it is reached by what the environment says, which on a
    cluster must be said on the executors too.
    RAISES: MissingDependencyError, EngineError when this Spark's internals are not those we know.
    """
    url = whole_url(str(warehouse))
    options = {"warehouse": url} | {STORAGE + name: value for name, value in (storage or {}).items()}
    install_catalog(spark, catalog, options)
    return Lake(spark, Warehouse(url, dict(storage) if storage else None), catalog, options)

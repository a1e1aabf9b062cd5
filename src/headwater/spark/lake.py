"""A warehouse in Spark: its tables by name, in SQL and in DataFrames."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import CommitConflictError, EngineError, MissingDependencyError
from headwater.lake.tables import Warehouse
from headwater.lake.tables.time_travel import At
from headwater.spark.catalog.install import install_catalog
from headwater.spark.cluster import ship_package
from headwater.spark.source.due import start_compactor
from headwater.spark.source.options import STORAGE, whole_url
from headwater.spark.views import ViewLake

DEFAULT_CATALOG = "hw"
ATTEMPTS = 5
_CONFLICT = f"[{CommitConflictError.code}]"


class Lake:
    """The tables of a warehouse in one Spark session."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse, catalog: str) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.catalog = catalog
        self._database: str | None = None

    def __repr__(self) -> str:
        return f"Lake({self.warehouse.url!r}, catalog={self.catalog!r})"

    def sql(self, text: str, *args: Any, **kwargs: Any) -> DataFrame:
        """Run Spark SQL in which a name without a catalog is one of this lake. Arguments are those of `spark.sql`."""
        make_active(self.spark)
        current = self.spark.catalog.currentCatalog(), self.spark.catalog.currentDatabase()
        self.spark.catalog.setCurrentCatalog(self.catalog)
        if self._database is not None:
            self.spark.catalog.setCurrentDatabase(self._database)
        try:
            frame = self._carried_out(text, *args, **kwargs)
            if self.spark.catalog.currentCatalog() == self.catalog:
                self._database = self.spark.catalog.currentDatabase()
            return frame
        finally:
            self.spark.catalog.setCurrentCatalog(current[0])
            self.spark.catalog.setCurrentDatabase(current[1])

    def _carried_out(self, text: str, *args: Any, **kwargs: Any) -> DataFrame:
        """A statement that changes rows is carried out again when others have changed them since it read them."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self.spark.sql(text, *args, **kwargs)
            except PySparkException as err:
                if _CONFLICT not in str(err):
                    raise
        return self.spark.sql(text, *args, **kwargs)

    def table(self, name: str, at: At | None = None) -> DataFrame:
        """A table, as it is or as it was: `at` is a snapshot id, a tag, a time, `"@-1"`."""
        make_active(self.spark)
        reader = self.spark.read if at is None else self.spark.read.option("at", str(at))
        return reader.table(f"{self.catalog}.{name}")


def make_active(spark: SparkSession) -> None:
    """Make a session the one that Spark's Java reads settings of on this thread; a program may have several."""
    java = spark._jvm
    assert java is not None
    SparkSession._get_j_spark_session_class(java).setActiveSession(spark._jsparkSession)


def connect(
    spark: SparkSession,
    warehouse: str | Path,
    *,
    catalog: str = DEFAULT_CATALOG,
    storage: Mapping[str, str] | None = None,
) -> Lake | ViewLake:
    """Make the tables of a warehouse known to Spark as `hw.db.table`, in SQL and in DataFrames.

    `storage` are options of the object store; without them it is reached by what the environment says, which on a
    cluster must be said on the executors too. Tasks of this Spark compact the buckets that its writes fill. Where its
    internals are not those we know, there is a warning, and the tables are temporary views `db_table`.
    """
    url = whole_url(str(warehouse))
    options = {"warehouse": url} | {STORAGE + name: value for name, value in (storage or {}).items()}
    opened = Warehouse(url, dict(storage) if storage else None)
    ship_package(spark)
    start_compactor(spark.sparkContext)
    make_active(spark)
    try:
        install_catalog(spark, catalog, options)
    except (EngineError, MissingDependencyError) as err:
        warnings.warn(f"no catalog in this Spark, but views: {err.message}", stacklevel=2)
        return ViewLake(spark, opened, options)
    return Lake(spark, opened, catalog)

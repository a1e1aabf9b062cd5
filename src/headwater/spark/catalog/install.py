"""Putting the catalog into a running Spark: compiled by its compiler, shipped to its executors, connected to us."""

from collections.abc import Mapping
from typing import Any

from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from headwater.errors import EngineError, UsageError
from headwater.spark.catalog.callbacks import Door
from headwater.spark.janino import install, java_source

CLASS = "org.headwater.spark.Catalog"
_UNITS: tuple[str, ...] = (
    "Door",
    "Filters",
    "Aggregates",
    "Columns",
    "Scans",
    "HandOver",
    "Writers",
    "Writes",
    "Edits",
    "Tables",
    "Changes",
    "Catalog",
)
_DOOR = "org.headwater.spark.Door"


def install_catalog(spark: SparkSession, name: str, options: Mapping[str, str]) -> None:
    """Make `name` a catalog of lake tables in this session and those made from it.

    RAISES: UsageError when it is that of another warehouse: Spark keeps a catalog for as long as a session lives.
    MissingDependencyError, EngineError where this Spark's internals are not those we know.
    """
    known = spark.conf.get(f"spark.sql.catalog.{name}.warehouse", None)
    if known is not None and known != options["warehouse"]:
        raise UsageError(
            f"the catalog `{name}` of this session is the warehouse {known}",
            hint="give this one a name of its own: connect(spark, warehouse, catalog='other')",
        )
    context = spark.sparkContext
    install(context, java_source("headwater.spark.catalog", *_UNITS), executors=True)
    _open_door(context)
    spark.conf.set(f"spark.sql.catalog.{name}", CLASS)
    for option, value in options.items():
        spark.conf.set(f"spark.sql.catalog.{name}.{option}", value)


def _open_door(context: SparkContext) -> None:
    gateway: Any = context._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    loader = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    door = gateway.jvm.java.lang.Class.forName(_DOOR, True, loader)
    for method in door.getMethods():
        if method.getName() == "open":
            arguments = gateway.jvm.java.util.ArrayList()
            arguments.add(Door())
            method.invoke(None, arguments.toArray())
            return
    raise EngineError("Spark's compiler has lost a method of ours")

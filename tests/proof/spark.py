"""Worlds in a local Spark: temporary views, one session for each variant."""

import logging
from functools import cache
from typing import TYPE_CHECKING

from tests.proof.engine import Row, Variant, World, plain
from tests.proof.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def missing_spark() -> str | None:
    """Why there is no Spark here; None when there is."""
    try:
        _session()
    except Exception as error:  # whatever stops a JVM from starting
        return f"Spark does not start: {str(error).splitlines()[0]}"
    return None


@cache
def _session() -> "SparkSession":
    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True  # it tells of each query that is refused
    made = SparkSession.builder.master("local[1]").appName("proof")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.log.level": "OFF",
    }.items():
        made = made.config(key, value)
    return made.getOrCreate()


class SparkWorld(World):
    """Tables as temporary views; the sessions of named variants are kept."""

    __slots__ = ("kept",)

    def __init__(self, tables: dict[str, Table], seed: str) -> None:
        super().__init__(tables, seed)
        self.kept: dict[str, SparkSession] = {}

    def close(self) -> None:
        self.kept.clear()

    def interrupt(self) -> None:
        _session().sparkContext.cancelAllJobs()

    def run(self, sql: str, variant: Variant | None = None, *, then: str | None = None) -> list[Row] | None:
        name = "" if variant is None else ",".join(variant.names.get(table, "?") for table in variant.values)
        session = self.kept.get(name) or self._open(variant)
        if "?" not in name:
            self.kept[name] = session
        try:
            return [tuple(map(plain, row)) for row in session.sql(sql).collect()]
        except Exception:  # pyspark has no common class for what the JVM throws
            return None

    def _open(self, variant: Variant | None) -> "SparkSession":
        session = _session().newSession()
        for name, columns in self.tables.items():
            values = (variant.values.get(name) if variant else None) or self.base(name)
            lines = ", ".join(f"({', '.join(line)})" for line in zip(*values.values(), strict=True))
            typed = ", ".join(f"CAST({column} AS {held.type}) AS {column}" for column, held in columns.items())
            rows = f"VALUES {lines} AS rows({', '.join(columns)})"
            session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT {typed} FROM {rows}")
        return session

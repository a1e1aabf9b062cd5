"""Data in and out of lake tables by Spark's own formats: Parquet, CSV, JSON, ORC, text, JDBC, whatever it has.

An import is one commit. Named by an id, it lands once however often it is run; an export replaces its target.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from headwater.errors import UsageError
from headwater.lake.tables.at import At
from headwater.spark.source.options import STORAGE, Place
from headwater.text import nearest

FORMATS = ("parquet", "csv", "json", "orc", "avro", "text", "jdbc")
_ENDINGS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc", ".avro": "avro"}
_USUAL = {"csv": {"header": "true", "inferSchema": "true"}}


@dataclass(frozen=True, slots=True)
class Outside:
    """Data that Spark reads or writes by itself: where, in which format, with which of Spark's options."""

    path: str | None = None
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def chosen(self) -> str:
        """The format: as said, or by the ending of the path. RAISES: UsageError."""
        if self.format is not None:
            if self.format not in FORMATS:
                close = nearest(self.format, FORMATS)
                hint = f"did you mean `{close}`?" if close else f"formats: {', '.join(FORMATS)}"
                raise UsageError(f"`{self.format}` is not a format that is known here", hint=hint)
            return self.format
        for ending, format in _ENDINGS.items():
            if (self.path or "").rstrip("/").lower().endswith(ending):
                return format
        raise UsageError(f"{self.path} does not say its format", hint=f"--format with one of {', '.join(FORMATS)}")


def read_outside(spark: SparkSession, source: Outside) -> DataFrame:
    """The rows of a source, as Spark reads them."""
    format = source.chosen()
    reader = spark.read.format(format).options(**{**_USUAL.get(format, {}), **source.options})
    return reader.load(source.path) if source.path is not None else reader.load()


def import_rows(
    spark: SparkSession,
    place: Place,
    source: Outside,
    *,
    primary_key: str = "",
    id: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write the rows of a source to a table, which is made if there is none."""
    options = _options(place) | {"create": "true"}
    if primary_key:
        options["primary-key"] = primary_key
    if id is not None:
        options |= {"commit-user": "import", "commit-id": id}
    writer = read_outside(spark, source).write.format("headwater").options(**options)
    writer.mode("overwrite" if overwrite else "append").save()


def export_rows(spark: SparkSession, place: Place, target: Outside, *, at: At | None = None) -> None:
    """Write a table, as it is or as it was, in a format of Spark's; what was at the target is replaced."""
    options = _options(place) | ({"at": str(at)} if at is not None else {})
    frame = spark.read.format("headwater").options(**options).load()
    format = target.chosen()
    usual = {"header": "true"} if format == "csv" else {}
    frame.write.format(format).mode("overwrite").options(**{**usual, **target.options}).save(target.path)


def _options(place: Place) -> dict[str, str]:
    storage = {STORAGE + name: value for name, value in place.storage}
    return {"warehouse": place.warehouse, "table": place.table, **storage}

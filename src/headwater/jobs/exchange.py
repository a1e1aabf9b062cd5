"""Data in and out of lake tables by Spark's own formats: Parquet, CSV, JSON, ORC, text, JDBC, whatever it has.

A load is one commit. Named by an id, it lands once however often it is run; an export replaces its target.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructType

from headwater.errors import UsageError
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables.time_travel import At
from headwater.spark.source.options import STORAGE, TablePlace
from headwater.spark.source.types import spark_schema
from headwater.text import suggest

LOADS = "load"
"""The user of the commits of loads; one whose id is known lands once."""
FORMATS = ("parquet", "csv", "json", "orc", "avro", "text", "jdbc")
_ENDINGS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".orc": "orc", ".avro": "avro"}
_USUAL = {"csv": {"header": "true", "inferSchema": "true"}}


@dataclass(frozen=True, slots=True)
class Outside:
    """Data that Spark reads or writes by itself: where, in which format, with which of Spark's options."""

    paths: tuple[str, ...] = ()
    format: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def chosen(self) -> str:
        """The format: as said, or by the ending of the path. RAISES: UsageError."""
        if self.format is not None:
            if self.format not in FORMATS:
                hint = suggest(self.format, FORMATS, f"formats: {', '.join(FORMATS)}")
                raise UsageError(f"`{self.format}` is not a format that is known here", hint=hint)
            return self.format
        first = self.paths[0] if self.paths else ""
        for ending, format in _ENDINGS.items():
            if first.rstrip("/").lower().endswith(ending):
                return format
        what = first or "a load without a path"
        raise UsageError(f"{what} does not say its format", hint=f"--format with one of {', '.join(FORMATS)}")


def read_outside(spark: SparkSession, source: Outside, schema: StructType | None = None) -> DataFrame:
    """The rows of a source, as Spark reads them; text in the types of the columns of `schema`, where it has them."""
    format = source.chosen()
    usual = dict(_USUAL.get(format, {}))
    if format == "csv" and schema is not None:
        usual["inferSchema"] = "false"
    reader = spark.read.format(format).options(**{**usual, **source.options})
    frame = reader.load(list(source.paths)) if source.paths else reader.load()
    if format != "csv" or schema is None:
        return frame
    types = {field.name: field.dataType for field in schema}
    return frame.select(*(f.col(f"`{name}`").cast(types.get(name, StringType())) for name in frame.columns))


def import_rows(
    spark: SparkSession,
    place: TablePlace,
    source: Outside,
    *,
    create: bool = False,
    primary_key: Sequence[str] = (),
    id: str | None = None,
    overwrite: bool = False,
) -> Snapshot:
    """Write the rows of a source to a table in one commit, and return its snapshot.

    RAISES: NotFoundError when there is no table and `create` is not set.
    """
    warehouse = place.open_warehouse()
    there = warehouse.has_table(place.table)
    if not there and not create:
        place.open()
    id = id or uuid.uuid4().hex
    options = _options(place) | {"commit-user": LOADS, "commit-id": id}
    if not there:
        options |= {"create": "true", "primary-key": ",".join(primary_key)}
    frame = read_outside(spark, source, spark_schema(place.open().schema) if there else None)
    frame.write.format("headwater").options(**options).mode("overwrite" if overwrite else "append").save()
    landed = place.open().store.committer.find(LOADS, id)
    assert landed is not None
    return landed


def export_rows(spark: SparkSession, place: TablePlace, target: Outside, *, at: At | None = None) -> None:
    """Write a table, as it is or as it was, in a format of Spark's; what was at the target is replaced."""
    options = _options(place) | ({"at": str(at)} if at is not None else {})
    frame = spark.read.format("headwater").options(**options).load()
    format = target.chosen()
    usual = {"header": "true"} if format == "csv" else {}
    frame.write.format(format).mode("overwrite").options(**{**usual, **target.options}).save(target.paths[0])


def _options(place: TablePlace) -> dict[str, str]:
    storage = {STORAGE + name: value for name, value in place.storage}
    return {"warehouse": place.warehouse, "table": place.table, **storage}

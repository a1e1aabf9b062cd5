"""The data source `headwater`: lake tables in `spark.read.format("headwater")` and `df.write.format("headwater")`."""

from pyspark.sql.types import StringType, StructField, StructType

from headwater.lake.tables.changelog import KIND
from headwater.spark.source.changes import EMPTY
from headwater.spark.source.options import Options, hinted
from headwater.spark.source.planning import plan_stream_write, plan_write, wants_edits
from headwater.spark.source.python_sources import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from headwater.spark.source.reader import reader_for
from headwater.spark.source.streams import StreamWriter, TableStream
from headwater.spark.source.types import spark_schema
from headwater.spark.source.writer import TableWriter, TaskWriter


class HeadwaterSource(DataSource):
    """Lake tables in Spark. `docs/guides/spark-tables.md` lists the options."""

    @classmethod
    def name(cls) -> str:
        return "headwater"

    def schema(self) -> StructType:
        """The columns of the table, at the moment that the options name; those of `columns` only, if given."""
        with hinted():
            return _columns(self._known())

    def reader(self, schema: StructType) -> DataSourceReader:
        with hinted():
            return reader_for(self._known(), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        with hinted():
            options = self._known()
            plan = plan_write(options, schema, overwrite=overwrite)
            return TableWriter(TaskWriter(plan, edits=wants_edits(options)))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        with hinted():
            return TableStream(self._known(), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        with hinted():
            options = self._known()
            plan = plan_stream_write(options, schema, overwrite=overwrite)
            return StreamWriter(TaskWriter(plan, edits=wants_edits(options)))

    def _known(self) -> Options:
        return Options(self.options)


def _columns(options: Options) -> StructType:
    table, at = options.place().open(), options.at()
    if at is None and options.text("from") is not None:
        at = options.text("to")
    snapshot = table.snapshot(at) if at not in (None, EMPTY) else None
    schema = table.schema if snapshot is None else table.store.shape(snapshot.schema_id).schema
    whole = spark_schema(schema)
    wanted = options.names("columns")
    fields = [whole[schema.field(name).name] for name in wanted] if wanted else list(whole.fields)
    if options.flag("changelog"):
        fields.append(StructField(KIND, StringType(), nullable=False))
    return StructType(fields)

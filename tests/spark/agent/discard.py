"""A sink written in Python that keeps nothing; only newer releases of Spark can import it."""

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, WriterCommitMessage


class Discard(DataSourceStreamWriter):
    """A writer that keeps nothing."""

    def write(self, iterator):
        for _ in iterator:
            pass
        return WriterCommitMessage()


class DiscardSource(DataSource):
    """A sink written in Python."""

    @classmethod
    def name(cls):
        return "discard"

    def streamWriter(self, schema, overwrite):
        return Discard()

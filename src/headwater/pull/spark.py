"""Spark's session catalog: the one of a warehouse folder with its metastore, or of a Hive metastore service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headwater.errors import DatabaseError, InputError
from headwater.jobs.session import spark_session
from headwater.pull.address import Address
from headwater.pull.catalog import DatabaseCatalog, Definition, Say, Selection, schema_of, tables_of


def read_spark(address: Address, wanted: Selection, say: Say) -> DatabaseCatalog:
    """Read the tables and views of a Spark catalog.

    RAISES: InputError when there is no such warehouse, DatabaseError when the metastore does not answer.
    """
    say("starting Spark")
    try:
        with spark_session("local[1]", name="headwater pull", settings=_settings(address.path)) as spark:
            say("columns")
            names = [
                (database, table.name, bool(table.tableType == "VIEW"))
                for database in _words(spark, "SHOW DATABASES")
                for table in spark.catalog.listTables(database)
                if not table.isTemporary and wanted.takes(database, table.name)
            ]
            columns = [row for database, name, _ in names for row in _columns(spark, database, name)]
            say("definitions")
            definitions = tuple(
                Definition("view", database, name, _words(spark, f"SHOW CREATE TABLE {_quoted(database, name)}")[0])
                for database, name, is_view in names
                if is_view
            )
    except PySparkException as err:
        raise DatabaseError(f"the catalog of {address.text} cannot be read: {str(err).splitlines()[0]}") from err
    return DatabaseCatalog(
        "spark", schema_of(tables_of(columns, [], wanted), ["default"]), definitions, is_local=True
    )


def _settings(path: str) -> dict[str, str]:
    """The settings of a session on a metastore service (thrift://…), or on a folder with a `metastore_db` in it."""
    hive = {
        "spark.sql.catalogImplementation": "hive",
        "spark.driver.extraJavaOptions": "-Dderby.stream.error.file=/dev/null",  # else derby.log in this folder
    }
    if path.startswith("thrift:"):
        return hive | {"spark.hadoop.hive.metastore.uris": path}
    folder = Path(path or ".").absolute()
    found = next(
        (each / "metastore_db" for each in (folder, folder.parent) if (each / "metastore_db").is_dir()), None
    )
    if found is None:
        raise InputError(
            f"there is no metastore_db in {folder} or beside it",
            hint="name the folder in which Spark ran, or a Hive metastore: spark:thrift://HOST:9083",
        )
    database = f"jdbc:derby:;databaseName={found}"
    return hive | {
        "spark.hadoop.javax.jdo.option.ConnectionURL": database,
        "spark.sql.warehouse.dir": str(found.parent / "spark-warehouse"),
    }


def _columns(spark: SparkSession, database: str, table: str) -> Iterator[tuple[str | None, ...]]:
    yield database, table, None, None, None
    for column in spark.catalog.listColumns(_quoted(database, table)):
        yield database, table, column.name, column.dataType, column.description


def _words(spark: SparkSession, sql: str) -> list[Any]:
    return [row[0] for row in spark.sql(sql).collect()]


def _quoted(*names: str) -> str:
    return ".".join(f"`{name.replace('`', '``')}`" for name in names)

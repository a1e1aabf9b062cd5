"""One Spark for the whole suite: two cores, no UI, Hive on an embedded metastore, all in a temporary folder."""

import itertools
import os
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest

from headwater.spark.environment import JAVA_OPTIONS, spark_environment

ROOT = Path(__file__).parents[2]
RELEASE = tuple(int(part) for part in version("pyspark").split(".")[:2])


def pytest_configure(config):
    """Warnings of older releases of PySpark about themselves."""
    if RELEASE < (4, 3):  # sockets over which rows are collected
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket.* raddr=.'127.0.0.1':ResourceWarning")
    if RELEASE < (4, 0):
        config.addinivalue_line("filterwarnings", "ignore:The distutils package:DeprecationWarning")
        config.addinivalue_line("filterwarnings", "ignore:distutils Version classes:DeprecationWarning")
        config.addinivalue_line("filterwarnings", "ignore:is_categorical_dtype is deprecated:DeprecationWarning")


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory):
    """Where the shared Spark keeps its warehouse, its metastore and its temporary files."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_folder):
    """The shared Spark session. A test that changes its settings sets them back."""
    from pyspark.sql import SparkSession

    # Tests run each thing once: Java's optimising compiler costs more than it saves, here and in the jobs they start.
    # Without it Java has room for 48 MB of code. All tests need more: it would drop code and compile it again.
    os.environ[JAVA_OPTIONS] = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    os.environ |= spark_environment()
    metastore = f"jdbc:derby:;databaseName={spark_folder}/metastore;create=true"
    builder = SparkSession.builder.master("local[2]").appName("headwater tests").enableHiveSupport()
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={spark_folder}/derby -Duser.timezone=UTC",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.local.dir": str(spark_folder / "local"),
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "headwater.spark.daemon",  # as a guide says: PySpark is not compiled again
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(spark_folder / "warehouse"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", ResourceWarning)  # the gateway's pipes
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)  # its workers import classes of the tests
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def case_tables(spark):
    """A session of the shared Spark that has the tables of the cases."""
    from tests.spark.tables import create_tables

    session = spark.newSession()
    create_tables(session)
    return session


numbers = itertools.count()


@pytest.fixture
def lake(spark, tmp_path):
    """A lake of its own under a name of its own: Spark keeps a catalog for as long as the session lives."""
    if RELEASE < (4, 1):
        pytest.skip("lake tables need Spark 4.1")
    from headwater.spark import connect

    lake = connect(spark, tmp_path / "wh", catalog=f"hw{next(numbers)}")
    lake.sql("CREATE NAMESPACE db")
    return lake


@pytest.fixture
def keyed(lake):
    lake.sql("CREATE TABLE db.t (id BIGINT NOT NULL, s STRING, n INT) TBLPROPERTIES ('primary-key' = 'id')")
    lake.sql("INSERT INTO db.t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)")
    return lake


@pytest.fixture
def plain(lake):
    lake.sql("CREATE TABLE db.p (id BIGINT, r STRING) PARTITIONED BY (r)")
    lake.sql("INSERT INTO db.p VALUES (1, 'eu'), (2, 'eu'), (3, 'us')")
    return lake

"""Every operator between reading a lake table and writing one gives the rows that it gives over Spark's own files."""

import itertools

import pytest
from pyspark.sql import DataFrame
from tests.effort import first_then_slow, one_in
from tests.spark.conftest import RELEASE
from tests.spark.operators import OPERATORS, ROWS

from headwater.spark import connect

pytestmark = [pytest.mark.spark, pytest.mark.skipif(RELEASE < (4, 1), reason="lake tables need Spark 4.1")]
LAST = 2000
SETTINGS = ("spark.sql.codegen.wholeStage", "spark.sql.adaptive.enabled")
names = itertools.count()


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory):
    """A lake with a table of several files, so that a task reads several batches, and the same rows as Parquet."""
    folder = tmp_path_factory.mktemp("operators")
    spark.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
    lake = connect(spark, folder / "wh", catalog="operators")
    lake.sql("CREATE NAMESPACE db")
    lake.sql(f"CREATE TABLE db.o AS {ROWS.format(first=0, last=LAST // 4)}")
    for part in range(1, 4):
        lake.sql(f"INSERT INTO db.o {ROWS.format(first=part * LAST // 4, last=(part + 1) * LAST // 4)}")
    spark.sql(ROWS.format(first=0, last=LAST)).write.parquet(str(folder / "files"))
    spark.read.parquet(str(folder / "files")).createOrReplaceTempView("files_of_operators")
    return lake


def rows_of(df: DataFrame) -> list[str]:
    return sorted(map(repr, df.collect()))


@pytest.mark.parametrize("settings", first_then_slow(itertools.product(("true", "false"), repeat=2)), ids="-".join)
@pytest.mark.parametrize("build", one_in(2, OPERATORS), ids=lambda build: build.__name__)
def test_rows_are_those_of_spark(spark, lake, build, settings):
    before = {name: spark.conf.get(name) for name in SETTINGS}
    name = f"db.t{next(names)}"
    try:
        for setting, value in zip(SETTINGS, settings, strict=True):
            spark.conf.set(setting, value)
        expected = rows_of(build(spark.table("files_of_operators")))
        build(lake.table("db.o")).writeTo(f"{lake.catalog}.{name}").create()
        assert rows_of(spark.read.option("columnar", "false").table(f"{lake.catalog}.{name}")) == expected
        assert rows_of(build(lake.table("db.o"))) == expected
    finally:
        spark.catalog.clearCache()
        for setting, value in before.items():
            spark.conf.set(setting, value)


def test_a_task_reads_several_batches(lake):
    """Else the test above could not see that a batch is used after the next one came."""
    scan = lake.table("db.o")._jdf.queryExecution().executedPlan().collectLeaves().apply(0)
    assert scan.executeColumnar().count() > scan.executeColumnar().getNumPartitions() == 1

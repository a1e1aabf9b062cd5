"""A Spark that does a little of all that we do with it, so that Java can write down its classes as it ends.

python -m headwater.spark.class_archive_training ARCHIVE [THE ARCHIVE IT IS BASED ON]
"""

import os
import sys
import tempfile

from pyspark.sql import SparkSession

from headwater.spark.environment import JAVA_OPTIONS, spark_environment
from headwater.spark.lake import connect

_WAIT = 600  # seconds for Java to end


def train(archive: str, base: str | None = None) -> None:
    """Start Spark, use it, and wait until Java has written the archive."""
    os.environ.pop(JAVA_OPTIONS, None)  # they may name an archive
    os.environ |= spark_environment()
    options = f'-XX:TieredStopAtLevel=1 "-XX:ArchiveClassesAtExit={archive}"'
    if base is not None:
        options += f' "-XX:SharedArchiveFile={base}"'
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.extraJavaOptions", options).getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        spark.sparkContext.parallelize([b""], 1).map(bytes).collect()
        lake = connect(spark, folder)
        lake.sql("CREATE DATABASE db")
        lake.sql("CREATE TABLE db.t (id BIGINT NOT NULL, name STRING) TBLPROPERTIES ('primary-key' = 'id')")
        lake.sql("INSERT INTO db.t SELECT id, concat('n', id) FROM range(10)")
        lake.sql("SELECT name, count(*) FROM db.t GROUP BY name ORDER BY name").collect()
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # Java's sign to end
        gateway.proc.wait(_WAIT)


if __name__ == "__main__":
    train(*sys.argv[1:])

"""A job on Delta Lake or Iceberg, run by test_table_formats.py in a process of its own: FORMAT PACKAGE FOLDER.

Every step is a statement or a function. The number of events that there are after each of them is printed, as JSON.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.spark import observe

SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
    },
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.defaultCatalog": "ice",
    },
}
Step = str | Callable[[SparkSession, str], object]

BOTH: dict[str, Step] = {
    "database": "CREATE DATABASE IF NOT EXISTS shop",
    "create": "CREATE TABLE shop.orders (id INT, amount INT, city STRING) USING {format}",
    "insert": "INSERT INTO shop.orders VALUES (1, 10, 'Bonn'), (2, 20, 'Bern')",
    "ctas": "CREATE TABLE shop.sums USING {format} AS"
    " SELECT city, sum(amount) AS total FROM shop.orders GROUP BY city",
    "double": "INSERT INTO shop.orders SELECT id + 10, amount, upper(city) FROM shop.orders",
    "merge": "MERGE INTO shop.sums s USING (SELECT city, max(amount) AS m FROM shop.orders GROUP BY city) o"
    " ON s.city = o.city WHEN MATCHED THEN UPDATE SET total = o.m"
    " WHEN NOT MATCHED THEN INSERT (city, total) VALUES (o.city, o.m)",
    "delete": "DELETE FROM shop.orders WHERE id > 11",
    "rtas": "CREATE OR REPLACE TABLE shop.sums USING {format} AS SELECT city, amount AS total FROM shop.orders",
    "update": "UPDATE shop.orders SET amount = amount + 1 WHERE id = 1",
    "alter": "ALTER TABLE shop.orders ADD COLUMNS (note STRING)",
    "nothing": "DELETE FROM shop.orders WHERE id > 1000 AND amount > 7",
    "sums again": "INSERT INTO shop.sums VALUES ('Ulm', 1)",
}


def _saved(rows: DataFrame, folder: str) -> None:
    rows.write.mode("overwrite").parquet(f"{folder}/saved")


def _stream(rows: DataFrame, folder: str, name: str, format: str):  # type: ignore[no-untyped-def]
    writer = rows.writeStream.format(format).option("checkpointLocation", f"{folder}/checkpoints/{name}")
    return writer.trigger(availableNow=True)


def _first(spark: SparkSession) -> int:
    return int(spark.sql("SELECT snapshot_id FROM shop.orders.snapshots ORDER BY committed_at").first()[0])


DELTA: dict[str, Step] = {
    "path": lambda spark, at: spark.table("shop.orders").write.format("delta").save(f"{at}/path"),
    "path again": lambda spark, at: (
        spark.table("shop.orders").write.format("delta").mode("append").save(f"{at}/path")
    ),
    "path by SQL": "INSERT INTO delta.`{folder}/path` SELECT * FROM shop.orders",
    "by saveAsTable": lambda spark, at: (
        spark.table("shop.sums").write.format("delta").mode("append").saveAsTable("shop.sums")
    ),
    "by writeTo": lambda spark, at: spark.table("shop.sums").writeTo("shop.sums").append(),
    "as of": lambda spark, at: _saved(spark.sql("SELECT * FROM shop.orders VERSION AS OF 1"), at),
    "by path": lambda spark, at: _saved(spark.read.format("delta").load(f"{at}/warehouse/shop.db/orders"), at),
    "clone": "CREATE TABLE shop.cloned SHALLOW CLONE shop.orders VERSION AS OF 1",
    "clone of a path": "CREATE TABLE delta.`{folder}/cloned` SHALLOW CLONE delta.`{folder}/path`",
    "restore": "RESTORE TABLE shop.orders TO VERSION AS OF 1",
    "optimize": "OPTIMIZE shop.sums",
    "stream to a path": lambda spark, at: (
        _stream(spark.readStream.table("shop.sums"), at, "one", "delta").start(f"{at}/streamed").awaitTermination()
    ),
    "stream to a table": lambda spark, at: (
        _stream(spark.readStream.format("delta").load(f"{at}/streamed").selectExpr("total AS n"), at, "two", "delta")
        .toTable("shop.streamed")
        .awaitTermination()
    ),
    "drop": "DROP TABLE shop.sums",
}
ICEBERG: dict[str, Step] = {
    "as of": lambda spark, at: _saved(spark.sql(f"SELECT * FROM shop.orders VERSION AS OF {_first(spark)}"), at),
    "snapshots": lambda spark, at: _saved(spark.sql("SELECT operation FROM shop.orders.snapshots"), at),
    "branch": "ALTER TABLE shop.orders CREATE BRANCH audit",
    "write to a branch": "INSERT INTO shop.orders.branch_audit VALUES (9, 90, 'Ulm', 'new')",
    "main": lambda spark, at: _saved(spark.sql("SELECT * FROM shop.orders"), at),
    "read a branch": lambda spark, at: _saved(spark.sql("SELECT * FROM shop.orders VERSION AS OF 'audit'"), at),
    "delta files": "ALTER TABLE shop.orders SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read')",
    "update by delta": "UPDATE shop.orders SET note = city WHERE id = 1",
    "feed": "CREATE TABLE shop.feed (city STRING, total BIGINT)",
    "feed rows": "INSERT INTO shop.feed VALUES ('Ulm', 1)",
    "streamed": "CREATE TABLE shop.streamed (city STRING, total BIGINT)",
    "stream to a table": lambda spark, at: (
        _stream(spark.readStream.table("shop.feed"), at, "one", "iceberg").toTable("shop.streamed").awaitTermination()
    ),
    "drop": "DROP TABLE shop.sums",
}


def main() -> None:
    format, package, folder = sys.argv[1:]
    builder = SparkSession.builder.master("local[1]").appName(format).config("spark.ui.enabled", "false")
    settings = SETTINGS[format] | {
        "spark.jars.packages": package,
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.catalog.ice.warehouse": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": "1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    agent = observe(spark, f"file:{folder}/events.ndjson", job="job")
    counts = {}
    for name, step in (BOTH | (DELTA if format == "delta" else ICEBERG)).items():
        if isinstance(step, str):
            spark.sql(step.format(format=format, folder=folder))
        else:
            step(spark, folder)
        agent.flush(60)
        counts[name] = len(Path(f"{folder}/events.ndjson").read_text().splitlines())
    print(json.dumps(counts))
    spark.stop()


if __name__ == "__main__":
    main()

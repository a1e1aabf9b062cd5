"""A job on Delta Lake or Iceberg, run by test_table_formats.py in a process of its own: FORMAT PACKAGE FOLDER."""

import sys

from pyspark.sql import SparkSession

from headwater.spark import observe

SETTINGS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    "iceberg": {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.defaultCatalog": "ice",
    },
}
STATEMENTS = """
CREATE DATABASE IF NOT EXISTS shop;
CREATE TABLE shop.orders (id INT, amount INT, city STRING) USING {format};
INSERT INTO shop.orders VALUES (1, 10, 'Bonn'), (2, 20, 'Bern');
CREATE TABLE shop.sums USING {format} AS SELECT city, sum(amount) AS total FROM shop.orders GROUP BY city;
INSERT INTO shop.orders SELECT id + 10, amount, upper(city) FROM shop.orders;
MERGE INTO shop.sums s USING (SELECT city, max(amount) AS m FROM shop.orders GROUP BY city) o ON s.city = o.city
  WHEN MATCHED THEN UPDATE SET total = o.m WHEN NOT MATCHED THEN INSERT (city, total) VALUES (o.city, o.m);
DELETE FROM shop.orders WHERE id > 10
"""


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
    observe(spark, f"file:{folder}/events.ndjson")
    for statement in STATEMENTS.format(format=format).split(";"):
        spark.sql(statement)
    print(spark.sql("SELECT count(*) FROM shop.orders").collect()[0][0])
    spark.stop()


if __name__ == "__main__":
    main()

"""The shop's nightly job in PySpark: raw files → bronze → silver → gold, on lake tables, observed by the agent.
The two lines that make it a Headwater job are `connect`, which makes the warehouse a catalog of Spark, and `observe`,
which reports what the job does. The rest is Spark as it is everywhere."""

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from headwater.spark import connect, observe
from headwater.spark.lake import Lake

TABLES = """
CREATE TABLE IF NOT EXISTS bronze.customers (id BIGINT NOT NULL, email STRING, country STRING)
  TBLPROPERTIES ('primary-key' = 'id');
CREATE TABLE IF NOT EXISTS bronze.orders (id BIGINT NOT NULL, customer_id BIGINT, placed_at TIMESTAMP, status STRING)
  TBLPROPERTIES ('primary-key' = 'id');
CREATE TABLE IF NOT EXISTS bronze.items
  (order_id BIGINT NOT NULL, sku STRING NOT NULL, quantity INT, unit_price DOUBLE)
  TBLPROPERTIES ('primary-key' = 'order_id,sku');
CREATE TABLE IF NOT EXISTS silver.customers (customer_id BIGINT NOT NULL, email_hash STRING, country STRING)
  TBLPROPERTIES ('primary-key' = 'customer_id');
CREATE TABLE IF NOT EXISTS silver.lines
  (order_id BIGINT NOT NULL, sku STRING NOT NULL, customer_id BIGINT, day DATE, status STRING, amount DOUBLE)
  TBLPROPERTIES ('primary-key' = 'order_id,sku');
CREATE TABLE IF NOT EXISTS gold.revenue (day DATE NOT NULL, country STRING NOT NULL, revenue DOUBLE, buyers BIGINT)
  TBLPROPERTIES ('primary-key' = 'day,country')
"""


class Night:
    """One night of the pipeline."""

    def __init__(self, lake: Lake, raw: Path) -> None:
        self.lake = lake
        self.raw = raw

    def bronze(self) -> None:
        """The files as they are, with types. A row that is there already is replaced: files may come twice."""
        orders = self._read("orders").withColumn("placed_at", f.to_timestamp("placed_at"))
        if "channel" in orders.columns and "channel" not in self.lake.table("bronze.orders").columns:
            self.lake.sql("ALTER TABLE bronze.orders ADD COLUMN channel STRING")
        self._append("bronze.customers", self._read("customers"))
        self._append("bronze.orders", orders)
        items = self._read("items")
        self._append("bronze.items", items.withColumn("quantity", f.col("quantity").cast("int")))

    def corrections(self) -> None:
        """Lines of items that were wrong, as they should have been."""
        items = self._read("items")
        self._append("bronze.items", items.withColumn("quantity", f.col("quantity").cast("int")))

    def silver(self) -> None:
        """Customers without their addresses, and order lines with amounts."""
        customers = self.lake.table("bronze.customers")
        hashed = customers.select(
            f.col("id").alias("customer_id"), f.sha2(f.lower("email"), 256).alias("email_hash"), "country"
        )
        self._append("silver.customers", hashed)
        self.lake.sql("""
            MERGE INTO silver.lines t
            USING (SELECT i.order_id, i.sku, o.customer_id, to_date(o.placed_at) AS day, o.status,
                          i.quantity * i.unit_price AS amount
                   FROM bronze.items i JOIN bronze.orders o ON o.id = i.order_id) s
            ON t.order_id = s.order_id AND t.sku = s.sku
            WHEN MATCHED THEN UPDATE SET *
            WHEN NOT MATCHED THEN INSERT *""")

    def gold(self) -> None:
        """Revenue by day and country, all of it anew."""
        self.lake.sql("""
            INSERT OVERWRITE gold.revenue
            SELECT l.day, c.country, round(sum(l.amount), 2) AS revenue, count(DISTINCT c.email_hash) AS buyers
            FROM silver.lines l JOIN silver.customers c ON c.customer_id = l.customer_id
            WHERE l.status <> 'cancelled'
            GROUP BY l.day, c.country""")

    def _read(self, name: str) -> DataFrame:
        frame = self.lake.spark.read.csv(str(self.raw / f"{name}.csv"), header=True)
        ids = [column for column in frame.columns if column in ("id", "order_id", "customer_id")]
        for column in ids:
            frame = frame.withColumn(column, f.col(column).cast("bigint"))
        return frame.withColumn("unit_price", f.col("unit_price").cast("double")) if name == "items" else frame

    def _append(self, table: str, frame: DataFrame) -> None:
        frame.writeTo(f"{self.lake.catalog}.{table}").append()


def open_lake(spark: SparkSession, warehouse: str) -> Lake:
    """The shop's tables, made if they are not there."""
    lake = connect(spark, warehouse)
    assert isinstance(lake, Lake), "tables cannot be made on this Spark: its internals are not those we know"
    for name in ("bronze", "silver", "gold"):
        lake.sql(f"CREATE NAMESPACE IF NOT EXISTS {name}")
    for statement in TABLES.split(";"):
        lake.sql(statement)
    return lake


def main(warehouse: str, *nights: str) -> None:
    """Run whole nights: `pipeline.py WAREHOUSE RAW/2026-03-01 …`."""
    spark = SparkSession.builder.appName("shop").getOrCreate()
    observe(spark, f"lake:{warehouse}")
    lake = open_lake(spark, warehouse)
    for night in nights:
        run = Night(lake, Path(night))
        run.bronze()
        run.silver()
        run.gold()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

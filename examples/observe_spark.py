"""A Spark job that says what it does: three lines of work, one line of observing, the events in short.

python examples/observe_spark.py [FOLDER]
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from headwater.spark import observe
from headwater.spark.environment import spark_environment


def main(folder: str) -> None:
    place = Path(folder).resolve()
    os.environ |= spark_environment()
    builder = SparkSession.builder.master("local[2]").appName("daily sales").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()

    observe(spark, f"file:{place}/events.ndjson")

    orders = spark.createDataFrame(
        [(1, "Bonn", 10.0), (2, "Bern", 20.0), (3, "Bonn", 5.5)], "id int, city string, eur double"
    )
    orders.write.parquet(f"{place}/orders")
    paid = spark.read.parquet(f"{place}/orders").filter(F.col("eur") > 6)
    paid.groupBy("city").agg(F.sum(F.col("eur") * 100).alias("cents")).write.json(f"{place}/by_city")
    spark.stop()

    for line in (place / "events.ndjson").read_text().splitlines():
        show(json.loads(line))


def show(event: dict) -> None:
    """One event in a few words; of what was written, the columns and where they came from."""
    print(event["eventType"], event["job"]["name"])
    for output in event.get("outputs", ()):
        fields = output["facets"].get("columnLineage", {}).get("fields", {})
        for name, made in fields.items():
            for source in made["inputFields"]:
                way = source["transformations"][0]
                print(f"  {name} <- {source['field']}  {way['subtype']}  {way.get('description', '')}")


if __name__ == "__main__":
    main(*sys.argv[1:] or [tempfile.mkdtemp()])

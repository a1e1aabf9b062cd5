"""A job on Kafka, run by test_kafka.py in a process of its own: PACKAGE BROKER FOLDER."""

import sys

from pyspark.sql import SparkSession

from headwater.spark import observe


def main() -> None:
    package, broker, folder = sys.argv[1:]
    builder = SparkSession.builder.master("local[1]").appName("kafka").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars.packages", package).config("spark.log.level", "ERROR")
    spark = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse").getOrCreate()
    agent = observe(spark, f"file:{folder}/events.ndjson", job="job")
    place = {"kafka.bootstrap.servers": broker}
    rows = spark.range(5).selectExpr("CAST(id AS STRING) AS key", "CAST(id * 2 AS STRING) AS value")
    rows.write.format("kafka").options(**place, topic="numbers").save()
    topic = spark.read.format("kafka").options(**place, subscribe="numbers").load()
    topic.selectExpr("CAST(value AS STRING) AS n", "timestamp AS at").write.saveAsTable("out")
    stream = spark.readStream.format("kafka").options(**place, subscribe="numbers", startingOffsets="earliest").load()
    copied = stream.select("key", "value").writeStream.format("kafka").options(**place, topic="copied")
    copied = copied.option("checkpointLocation", f"{folder}/one").trigger(availableNow=True).start()
    copied.awaitTermination()
    files = stream.selectExpr("CAST(value AS STRING) AS n").writeStream.format("parquet")
    files = files.option("checkpointLocation", f"{folder}/two").trigger(availableNow=True).start(f"{folder}/files")
    files.awaitTermination()
    agent.stop()
    spark.stop()


if __name__ == "__main__":
    main()

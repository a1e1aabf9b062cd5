"""The tables that the cases read, in the shared Spark."""

from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE t (a INT, b INT, c STRING, d DATE) USING parquet;
CREATE TABLE u (x INT, y INT, z STRING) USING parquet;
CREATE TABLE ev (id BIGINT, arr ARRAY<STRUCT<k: STRING, n: INT>>, m MAP<STRING, STRING>,
                 s STRUCT<p: INT, q: STRUCT<r: STRING>>, j STRING, tags ARRAY<STRING>) USING parquet;
CREATE TABLE dst (p INT, q STRING) USING parquet;
CREATE TABLE part (p INT, ds STRING) USING parquet PARTITIONED BY (ds);
CREATE TABLE hive_dst (p INT, q STRING) STORED AS TEXTFILE;
CREATE VIEW view_of_t AS SELECT a + 1 AS n, b FROM t WHERE b > 0;
CREATE VIEW view_of_view AS SELECT n * 2 AS m FROM view_of_t;
CREATE TEMPORARY VIEW temp_view AS SELECT concat(c, z) AS k FROM t JOIN u ON a = x
"""
SINCE_4 = """
CREATE TEMPORARY FUNCTION plus_one(v INT) RETURNS INT RETURN v + 1;
CREATE TEMPORARY FUNCTION above(least INT) RETURNS TABLE (v INT) RETURN SELECT a FROM t WHERE b > least;
DECLARE VARIABLE limit_of_b INT DEFAULT 5
"""


def create_tables(spark: SparkSession) -> None:
    """Make the tables in a database of their own and use it."""
    spark.sql("CREATE DATABASE cases")
    spark.sql("USE cases")
    for statement in (TABLES if spark.version < "4" else f"{TABLES};{SINCE_4}").split(";"):
        spark.sql(statement)

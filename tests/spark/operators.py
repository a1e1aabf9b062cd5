"""Operators that people put between reading a table and writing one: each a function of a DataFrame of `ROWS`.

None depends on how rows are spread over tasks, so Spark gives the same rows for the same table in any format.
"""

from collections.abc import Callable, Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, IntegerType, LongType, StringType, StructType

ROWS = """
    SELECT id, CAST(id % 7 AS INT) AS g, if(id % 3 = 0, NULL, concat('s', id)) AS s, id * 0.5D AS x,
        CAST(id AS DECIMAL(30, 4)) AS d, DATE '2026-01-01' + CAST(id AS INT) AS day,
        TIMESTAMP '2026-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id) AS at, id % 2 = 0 AS even,
        CAST(concat('b', id) AS BINARY) AS b, if(id % 5 = 0, NULL, array(id, NULL, -id)) AS xs,
        named_struct('p', id, 'q', named_struct('r', concat('r', id))) AS st,
        map('k', id, concat('m', id), NULL) AS m,
        array(named_struct('k', concat('k', id), 'n', CAST(id AS INT))) AS deep
    FROM range({first}, {last}, 1, 2)
"""
"""The SQL that makes the rows: every kind of type, narrow, wide and nested, with NULLs."""
Operator = Callable[[DataFrame], DataFrame]
OPERATORS: list[Operator] = []


def operator(function: Operator) -> Operator:
    """Add a function to those that are tried."""
    OPERATORS.append(function)
    return function


pickled = F.udf(lambda value: None if value is None else f"{value}!", StringType(), useArrow=False)
arrow_based = F.udf(lambda value: None if value is None else f"{value}?", StringType(), useArrow=True)


@F.pandas_udf(LongType())
def tripled(values: pd.Series) -> pd.Series:
    return values * 3


@F.pandas_udf(LongType())
def batches_tripled(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for values in batches:
        yield values * 3


@F.pandas_udf(DoubleType())
def mean_of(values: pd.Series) -> float:
    return values.mean()


@F.udtf(returnType=StructType().add("w", StringType()).add("n", IntegerType()))
class Letters:
    def eval(self, text: str):
        for letter in text or "":
            yield letter, ord(letter)


# ------------------------------------------------------------------------------------------- code in Python


@operator
def none(df):
    return df


@operator
def udf_pickled(df):
    return df.select(pickled("s").alias("v"), "*")


@operator
def udf_by_arrow(df):
    return df.select(arrow_based("s").alias("v"), "*")


@operator
def udf_of_an_expression(df):
    return df.select(arrow_based(F.col("id") + 1).alias("v"), "*")


@operator
def udf_of_nested_columns(df):
    return df.select(
        arrow_based("st.q.r").alias("v"), arrow_based("st").alias("w"), arrow_based("xs").alias("y"), "id"
    )


@operator
def udf_in_a_filter(df):
    return df.where(arrow_based("s") != "s7?").where(tripled("id") > 9)


@operator
def udf_of_udf(df):
    return df.select(arrow_based(arrow_based("s")).alias("v"), pickled(arrow_based("s")).alias("w"), "*")


@operator
def pandas_udf(df):
    return df.select(tripled("id").alias("v"), "*")


@operator
def pandas_udf_of_batches(df):
    return df.select(batches_tripled("id").alias("v"), "*")


@operator
def pandas_udf_of_an_arrow_udf(df):
    lengths = F.udf(lambda value: len(value or ""), "long", useArrow=True)
    return df.select(tripled(lengths("s")).alias("v"), lengths("s").alias("w"), "*")


@operator
def udf_that_is_not_deterministic(df):
    return df.select(arrow_based.asNondeterministic()("s").alias("v"), "*")


@operator
def chance(df):
    return df.where(F.rand() < 2).select((F.rand(7) >= 0).alias("v"), (F.uuid().isNotNull()).alias("w"), "*")


@operator
def ids_of_rows(df):
    return df.select((F.monotonically_increasing_id() >= 0).alias("v"), (F.spark_partition_id() >= 0).alias("w"), "*")


@operator
def map_in_pandas(df):
    return df.select("id", "s", "x").mapInPandas(lambda parts: parts, "id long, s string, x double")


@operator
def map_in_arrow(df):
    def doubled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.set_column(0, "id", pc.multiply(batch.column("id"), 2))

    return df.mapInArrow(doubled, df.schema)


@operator
def apply_in_pandas(df):
    return df.select("g", "id").groupBy("g").applyInPandas(lambda part: part.head(1000), "g int, id long")


@operator
def apply_in_arrow(df):
    return df.select("g", "s", "xs").groupBy("g").applyInArrow(lambda part: part, "g int, s string, xs array<long>")


@operator
def cogrouped(df):
    left, right = df.select("g", "id").groupBy("g"), df.select("g", "x").where("g > 2").groupBy("g")
    return left.cogroup(right).applyInPandas(
        lambda one, other: one.head(len(other)).nlargest(1, "id"), "g int, id long"
    )


@operator
def pandas_aggregate(df):
    return df.groupBy("g").agg(mean_of("x").alias("v"))


@operator
def pandas_window(df):
    return df.select(mean_of("x").over(Window.partitionBy("g")).alias("v"), "*")


@operator
def udtf(df):
    df.sparkSession.udtf.register("letters", Letters)
    df.createOrReplaceTempView("with_letters")
    return df.sparkSession.sql("SELECT id, xs, w, n FROM with_letters, LATERAL letters(s)")


@operator
def rdd(df):
    rows = df.rdd.map(lambda row: (row.id * 2, row.s))
    return df.sparkSession.createDataFrame(rows, "id long, s string")  # `toDF` takes the session that is newest


# ------------------------------------------------------------------------------------------- order and number


@operator
def sort(df):
    return df.orderBy(F.desc("x"), "id")


@operator
def sort_within_partitions(df):
    return df.sortWithinPartitions("g", F.desc("id"))


@operator
def first_rows(df):
    return df.orderBy("id").limit(17)


@operator
def rows_after_others(df):
    return df.orderBy("id").offset(1990).select(arrow_based("s").alias("v"), "*")


@operator
def union(df):
    return df.where("g = 1").unionByName(df.where("g > 4")).union(df)


@operator
def coalesce(df):
    return df.coalesce(1).select(tripled("id").alias("v"), "*")


@operator
def repartition(df):
    return df.repartition(5, "g").select(tripled("id").alias("v"), "*")


@operator
def empty_tasks(df):
    return df.repartition(4).where("id % 2 = 0 AND g = 6").select(arrow_based("s").alias("v"), "*")


@operator
def no_rows(df):
    return df.where("id < -1").select(arrow_based("s").alias("v"), tripled("id").alias("w"), "*")


# --------------------------------------------------------------------------------------------------- what is kept


@operator
def cache(df):
    return df.select(arrow_based("s").alias("v"), "*").cache()


@operator
def cache_of_the_table(df):
    return df.cache().select(tripled("id").alias("v"), "*")


@operator
def persist_on_disk(df):
    return df.persist(StorageLevel.DISK_ONLY)


@operator
def local_checkpoint(df):
    return df.localCheckpoint().select(tripled("id").alias("v"), "*")


@operator
def checkpoint(df):
    return df.checkpoint()


# --------------------------------------------------------------------------------------------- joins and groups


@operator
def aggregate(df):
    return df.groupBy("g").agg(F.sum("d").alias("d"), F.max("st").alias("st"), F.min("day").alias("day"))


@operator
def aggregate_of_all(df):
    """Spark keeps the value of one row while it reads others."""
    nested = [F.max_by(name, "id").alias(name) for name in ("xs", "m", "st", "deep", "b", "s")]
    return df.agg(F.max("xs").alias("most"), *nested)


@operator
def distinct(df):
    return df.select("g", "even").distinct()


@operator
def set_operators(df):
    ids = df.select("id", "s")
    return ids.exceptAll(ids.where("id < 1900")).union(ids.intersect(ids.where("id < 20")))


@operator
def broadcast_join(df):
    other = df.where("id < 100").select(F.col("id").alias("k"), F.col("deep").alias("other"))
    return df.join(F.broadcast(other), F.col("id") == F.col("k"))


@operator
def sorted_join(df):
    other = df.select(F.col("id").alias("k"), tripled("id").alias("v"), F.col("m").alias("other"))
    return df.join(other.hint("merge"), F.col("id") == F.col("v"), "left")


@operator
def anti_join(df):
    return df.join(df.where(tripled("id") > 90).select("id"), "id", "left_anti")


@operator
def window(df):
    latest = Window.partitionBy("g").orderBy("id")
    return df.select(F.row_number().over(latest).alias("v"), F.lag("st").over(latest).alias("w"), "*")


@operator
def explode(df):
    return df.select("id", F.posexplode_outer("xs"), "m").select("*", F.explode("m"))


@operator
def pivot(df):
    return df.groupBy("g").pivot("even", [True, False]).agg(F.count("id"))


@operator
def unpivot(df):
    return df.select("id", "x", F.col("id").cast("double").alias("y")).unpivot("id", ["x", "y"], "name", "v")


@operator
def nothing_of_the_table(df):
    return df.select(F.lit(1).alias("v"))

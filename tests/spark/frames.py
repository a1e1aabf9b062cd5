"""DataFrames as people write them, each with the edges that it must have (in the format of the golden files)."""

from collections.abc import Callable

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import DoubleType, IntegerType, LongType, StringType, StructType

Build = Callable[[SparkSession], DataFrame]
FRAMES: list[tuple[Build, list[str]]] = []


def expects(*lines: str) -> Callable[[Build], Build]:
    """The edges of the DataFrame that a function builds."""

    def register(build: Build) -> Build:
        FRAMES.append((build, [line if line.startswith("--!") else f"--> {line}" for line in lines]))
        return build

    return register


@expects("a <- t.a IDENTITY", "n <- t.b TRANSFORMATION")
def select_and_alias(spark):
    return spark.table("t").select("a", (F.col("b") + 1).alias("n"))


@expects("a <- t.a IDENTITY", "b <- t.a TRANSFORMATION, t.b TRANSFORMATION", "c <- t.c IDENTITY", "d <- t.d IDENTITY")
def with_column_replaces(spark):
    return spark.table("t").withColumn("b", F.col("a") * F.col("b"))


@expects("x <- u.x IDENTITY", "k <- u.z TRANSFORMATION, u.x TRANSFORMATION", "w <- u.y IDENTITY")
def with_columns_and_renamed(spark):
    df = spark.table("u").withColumns({"k": F.concat("z", F.col("x").cast("string"))}).drop("z")
    return df.withColumnRenamed("y", "w").select("x", "k", "w")


@expects("a <- t.a IDENTITY", "* | t.b FILTER, t.c FILTER")
def filters_add_up(spark):
    return spark.table("t").filter(F.col("b") > 1).where("c = 'secret'").select("a")


@expects("v <- t.b TRANSFORMATION, t.a TRANSFORMATION | t.a CONDITIONAL, t.c CONDITIONAL")
def when_otherwise(spark):
    return spark.table("t").select(
        F.when(F.col("a") > 1, F.col("b")).when(F.col("c") == "x", 0).otherwise(F.col("a")).alias("v")
    )


@expects("a <- t.a IDENTITY", "y <- u.y IDENTITY", "* | t.a JOIN, u.x JOIN")
def join_on_condition(spark):
    t, u = spark.table("t"), spark.table("u")
    return t.join(u, t.a == u.x).select("a", "y")


@expects("k <- t.a IDENTITY", "b <- t.b IDENTITY", "y <- u.y IDENTITY", "* | t.a JOIN, u.x JOIN")
def join_on_name(spark):
    left = spark.table("t").selectExpr("a AS k", "b")
    return left.join(spark.table("u").selectExpr("x AS k", "y"), "k", "left")


@expects("a <- t.a IDENTITY", "* | t.a JOIN, u.x JOIN")
def semi_join(spark):
    return spark.table("t").join(spark.table("u"), F.col("a") == F.col("x"), "left_semi").select("a")


@expects("a <- t.a IDENTITY", "a2 <- t.b IDENTITY", "* | t.a JOIN, t.b JOIN")
def self_join_with_aliases(spark):
    t = spark.table("t")
    return t.alias("l").join(t.alias("r"), F.col("l.a") == F.col("r.b")).select("l.a", F.col("r.b").alias("a2"))


@expects("c <- t.c IDENTITY", "s <- t.a AGGREGATION", "n", "* | t.c GROUP_BY")
def group_and_aggregate(spark):
    return spark.table("t").groupBy("c").agg(F.sum("a").alias("s"), F.count("*").alias("n"))


@expects("count(DISTINCT a) <- t.a AGGREGATION masked", "count(DISTINCT b) <- t.b AGGREGATION masked")
def two_distinct_counts(spark):
    return spark.table("t").agg(F.count_distinct("a"), F.count_distinct("b"))


@expects("b <- t.b IDENTITY", "c <- t.c IDENTITY", "s <- t.a AGGREGATION", "* | t.b GROUP_BY, t.c GROUP_BY")
def cube(spark):
    return spark.table("t").cube("b", "c").agg(F.sum("a").alias("s"))


@expects(
    "c <- t.c IDENTITY",
    "1 <- t.b AGGREGATION | t.a CONDITIONAL",
    "2 <- t.b AGGREGATION | t.a CONDITIONAL",
    "* | t.c GROUP_BY, t.a GROUP_BY",
)
def pivot(spark):
    return spark.table("t").groupBy("c").pivot("a", [1, 2]).agg(F.max("b"))


@expects("c <- t.c IDENTITY", "n", "v <- t.a IDENTITY, t.b IDENTITY")
def unpivot_keeps_nulls(spark):
    return spark.table("t").unpivot(["c"], ["a", "b"], "n", "v")


@expects("a <- t.a IDENTITY", "b <- t.b IDENTITY", "* | t.a GROUP_BY, t.b GROUP_BY")
def distinct(spark):
    return spark.table("t").select("a", "b").distinct()


@expects("a <- t.a IDENTITY", "b <- t.b IDENTITY", "* | t.a GROUP_BY")
def drop_duplicates_by_a_key(spark):
    return spark.table("t").select("a", "b").dropDuplicates(["a"])


@expects("a <- t.a IDENTITY, u.x IDENTITY", "c <- t.c IDENTITY, u.z IDENTITY")
def union(spark):
    return spark.table("t").select("a", "c").union(spark.table("u").select("x", "z"))


@expects("a <- t.a IDENTITY, u.x IDENTITY", "c <- t.c IDENTITY, u.z IDENTITY", "y <- u.y IDENTITY")
def union_by_name(spark):
    right = spark.table("u").selectExpr("z AS c", "y", "x AS a")
    return spark.table("t").select("a", "c").unionByName(right, allowMissingColumns=True)


@expects("a <- t.a IDENTITY, t.b IDENTITY")
def union_of_one_frame_with_itself(spark):
    t = spark.table("t")
    return t.select("a").union(t.select("b"))


@expects("a <- t.a IDENTITY", "a2 <- t.a IDENTITY, u.x IDENTITY", "* | t.a JOIN, u.x JOIN")
def union_does_not_leak(spark):
    t = spark.table("t")
    both = t.select("a").union(spark.table("u").select("x")).withColumnRenamed("a", "a2")
    return t.join(both, t.a == both.a2).select(t.a, "a2")


@expects("a <- t.a IDENTITY", "* | t.a GROUP_BY, u.x GROUP_BY")
def except_all(spark):
    return spark.table("t").select("a").exceptAll(spark.table("u").select("x"))


@expects("a <- t.a IDENTITY", "* | t.b SORT")
def sort_and_limit(spark):
    return spark.table("t").orderBy(F.desc("b")).limit(5).select("a")


@expects(
    "rn | t.c WINDOW, t.b WINDOW",
    "s <- t.a AGGREGATION | t.c WINDOW",
    "p <- t.a TRANSFORMATION | t.c WINDOW, t.b WINDOW",
)
def windows(spark):
    by_c = Window.partitionBy("c")
    ordered = by_c.orderBy("b")
    return spark.table("t").select(
        F.row_number().over(ordered).alias("rn"),
        F.sum("a").over(by_c).alias("s"),
        F.lag("a").over(ordered).alias("p"),
    )


@expects("id <- ev.id IDENTITY", "tag <- ev.tags[] IDENTITY", "* | ev.tags JOIN")
def explode(spark):
    return spark.table("ev").select("id", F.explode("tags").alias("tag"))


@expects("k <- ev.arr[].k IDENTITY", "n <- ev.arr[].n IDENTITY", "* | ev.arr JOIN")
def inline(spark):
    return spark.table("ev").select(F.inline("arr"))


@expects("s.p <- ev.s.p IDENTITY", "r <- ev.s.q.r TRANSFORMATION", "l <- ev.m.lang IDENTITY")
def struct_and_map_access(spark):
    ev = spark.table("ev")
    return ev.select(ev.s.p, F.upper(F.col("s.q.r")).alias("r"), ev.m["lang"].alias("l"))


@expects("s.p <- ev.id IDENTITY", "s.q <- ev.s.q IDENTITY", "s.z <- ev.j IDENTITY")
def with_field(spark):
    ev = spark.table("ev")
    return ev.select(ev.s.withField("p", F.col("id")).withField("z", F.col("j")).alias("s"))


@expects("s.q <- ev.s.q IDENTITY")
def drop_fields(spark):
    ev = spark.table("ev")
    return ev.select(ev.s.dropFields("p").alias("s"))


@expects("n <- ev.arr[].n TRANSFORMATION, ev.id TRANSFORMATION")
def lambda_from_python(spark):
    return spark.table("ev").select(F.transform("arr", lambda e: e["n"] + F.col("id")).alias("n"))


# ------------------------------------------------------------------------------------------- code in Python


@F.udf(IntegerType())
def plus(a, b):
    return a + b


@F.pandas_udf(LongType())
def doubled(a: pd.Series) -> pd.Series:
    return a * 2


@F.pandas_udf(DoubleType())
def mean_of(a: pd.Series) -> float:
    return a.mean()


@expects("n <- t.a TRANSFORMATION ?, t.b TRANSFORMATION ?", "c <- t.c IDENTITY")
def python_udf(spark):
    return spark.table("t").select(plus("a", "b").alias("n"), "c")


@expects("n <- t.a TRANSFORMATION ?")
def arrow_udf(spark):
    halve = F.udf(lambda a: a // 2, "int", useArrow=True)
    return spark.table("t").select(halve("a").alias("n"))


@expects("n <- t.a TRANSFORMATION ?", "* | t.b FILTER ?")
def pandas_udf(spark):
    return spark.table("t").filter(doubled("b") > 2).select(doubled("a").alias("n"))


@expects("c <- t.c IDENTITY", "m <- t.a AGGREGATION ?", "* | t.c GROUP_BY")
def pandas_aggregate(spark):
    return spark.table("t").groupBy("c").agg(mean_of("a").alias("m"))


@expects("m <- t.a AGGREGATION ? | t.c WINDOW")
def pandas_window(spark):
    return spark.table("t").select(mean_of("a").over(Window.partitionBy("c")).alias("m"))


@expects("n <- t.a TRANSFORMATION ?, t.b TRANSFORMATION ?")
def udf_of_udf(spark):
    return spark.table("t").select(plus(plus("a", "b"), F.lit(1)).alias("n"))


ALL_OF_T = "t.a TRANSFORMATION ?, t.b TRANSFORMATION ?"


@expects(f"p <- {ALL_OF_T}", f"q <- {ALL_OF_T}", "--! APPROXIMATE_LINEAGE")
def map_in_pandas(spark):
    return spark.table("t").select("a", "b").mapInPandas(lambda parts: parts, "p int, q int")


@expects(f"p <- {ALL_OF_T}", "--! APPROXIMATE_LINEAGE")
def map_in_arrow(spark):
    return spark.table("t").select("a", "b").mapInArrow(lambda parts: parts, "p int")


@expects(f"p <- {ALL_OF_T}", "* | t.a GROUP_BY", "--! APPROXIMATE_LINEAGE")
def apply_in_pandas(spark):
    return spark.table("t").select("a", "b").groupBy("a").applyInPandas(lambda part: part, "p int")


@expects(
    "p <- t.a TRANSFORMATION ?, u.x TRANSFORMATION ?, u.y TRANSFORMATION ?",
    "* | t.a GROUP_BY, u.x GROUP_BY",
    "--! APPROXIMATE_LINEAGE",
)
def cogrouped(spark):
    left, right = spark.table("t").select("a").groupBy("a"), spark.table("u").select("x", "y").groupBy("x")
    return left.cogroup(right).applyInPandas(lambda one, other: one, "p int")


@F.udtf(returnType=StructType().add("w", StringType()).add("n", IntegerType()))
class Words:
    def eval(self, text: str):
        for word in text.split():
            yield word, len(word)


@expects("a <- t.a IDENTITY", "w <- t.c TRANSFORMATION ?", "n <- t.c TRANSFORMATION ?", "* | t.c JOIN")
def table_function_in_python(spark):
    spark.udtf.register("words", Words)
    return spark.sql("SELECT a, w, n FROM t, LATERAL words(c)")


# ----------------------------------------------------------------------------------- sources and what is kept


@expects("n <- t.a TRANSFORMATION", "* | t.b FILTER")
def cached_frame(spark):
    return spark.table("t").filter("b > 1").selectExpr("a + 1 AS n").cache()


@expects("n")
def rows_from_python(spark):
    return spark.createDataFrame([(1,), (2,)], "n int")


@expects("n", "a <- t.a IDENTITY", "* | t.a JOIN")
def rows_from_python_joined(spark):
    given = spark.createDataFrame(pd.DataFrame({"n": [1, 2]}))
    return given.join(spark.table("t"), F.col("n") == F.col("a")).select("n", "a")


@expects("a <- t.a IDENTITY", "* | t.b FILTER")
def sql_with_arguments(spark):
    return spark.sql("SELECT a FROM t WHERE b > :least", args={"least": 3})


@expects("n <- t.a TRANSFORMATION", "* | t.c FILTER")
def sql_over_a_frame(spark):
    return spark.sql("SELECT a + 1 AS n FROM {t} WHERE c = 'x'", t=spark.table("t"))


@expects("n <- t.a TRANSFORMATION", "* | t.b FILTER")
def hints_repartitions_and_observations(spark):
    df = spark.table("t").hint("broadcast").repartition(2, "c").filter("b > 1").coalesce(1)
    return df.observe("seen", F.count("*").alias("rows")).select((F.col("a") + 1).alias("n"))


@expects("a <- t.a IDENTITY", "* | t.b SORT")
def sort_within_partitions_and_sample(spark):
    return spark.table("t").sample(0.5).sortWithinPartitions("b").select("a")


@expects("a <- t.a IDENTITY", "m <- u.y AGGREGATION | u.x FILTER, t.a FILTER")
def subquery_from_python(spark):
    best = spark.table("u").where(F.col("x") == F.col("a").outer()).select(F.max("y")).scalar()
    return spark.table("t").select("a", best.alias("m"))


@expects("a <- t.a IDENTITY", "* | u.x FILTER, t.b FILTER")
def exists_from_python(spark):
    inner = spark.table("u").where(F.col("x") == F.col("b").outer())
    return spark.table("t").where(inner.exists()).select("a")


@expects(
    "a <- t.a IDENTITY",
    "b <- t.b TRANSFORMATION | t.b CONDITIONAL",
    "c <- t.c TRANSFORMATION | t.c CONDITIONAL",
    "d <- t.d IDENTITY",
)
def fill_and_replace(spark):
    return spark.table("t").na.fill(0, ["b"]).replace("x", "y", ["c"])


@expects("n <- t.a TRANSFORMATION")
def a_chain_of_columns(spark):
    df = spark.table("t").select(F.col("a").alias("n"))
    for _ in range(60):
        df = df.withColumn("n", F.col("n") + 1)
    return df


def a_sum(columns: list[Column]) -> Column:
    total = columns[0]
    for each in columns[1:]:
        total = total + each
    return total


@expects("n <- t.a TRANSFORMATION, t.b TRANSFORMATION")
def a_sum_of_many(spark):
    return spark.table("t").select(a_sum([F.col("a"), F.col("b")] * 50).alias("n"))

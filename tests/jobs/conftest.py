"""Spark as the tests of `headwater.spark` share it."""

from tests.spark.conftest import spark, spark_folder  # noqa: F401

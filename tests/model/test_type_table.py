"""The table of types: every type has a name in every engine, and that engine knows it."""

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import types as spark

import headwater
from headwater.lake.engine.row import python_type
from headwater.lake.engine.types import arrow_type, model_type
from headwater.lake.paimon.types import model_type_of, paimon_type
from headwater.lineage import Status
from headwater.model.types import PRIMITIVES, TYPES, google_type, parse_type
from headwater.query.types import duckdb_type
from headwater.spark.source.types import spark_type

EVERY = pytest.mark.parametrize("type", TYPES, ids=str)


@EVERY
def test_a_type_comes_back_from_every_name(type):
    facts = TYPES[type]
    assert model_type(arrow_type(type)) == type
    assert model_type_of(paimon_type(type, True, 1), "x") == (type, True)
    assert isinstance(spark_type(type), getattr(spark, facts.spark))
    assert {parse_type(alias) for alias in (type.name, *facts.aliases)} == {type}
    assert python_type(type) is not None


@EVERY
def test_duckdb_and_arrow_mean_the_same(type):
    column = duckdb.sql(f"SELECT CAST(NULL AS {duckdb_type(type)}) AS x").to_arrow_table().column("x")
    ours = arrow_type(type)
    assert column.type == ours or (pa.types.is_timestamp(ours) and ours.tz and column.type.tz)


@EVERY
def test_googlesql_knows_the_type(type):
    text = f"SELECT CAST(a AS {google_type(type)}) AS b FROM t"
    (statement,) = headwater.analyze(text, "bigquery", schema={"t": {"a": google_type(type)}}).statements
    assert statement.status is Status.RESOLVED


def test_all_primitives_are_in_the_table():
    assert set(TYPES) == set(PRIMITIVES.values())

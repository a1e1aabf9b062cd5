"""Data sources written in Python, which Spark knows by their names only."""

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter, WriterCommitMessage
from tests.spark.agent.conftest import columns, shown

from headwater.spark.lake import make_active

pytestmark = pytest.mark.spark


class Weather(DataSource):
    """Two rows, or a place that takes any."""

    @classmethod
    def name(cls) -> str:
        return "weather"

    def schema(self) -> str:
        return "city string, degrees int"

    def reader(self, schema):
        return WeatherReader()

    def writer(self, schema, overwrite):
        return WeatherWriter()


class WeatherReader(DataSourceReader):
    def read(self, partition):
        yield "Bonn", 21
        yield "Bern", 17


class WeatherWriter(DataSourceWriter):
    def write(self, iterator):
        for _ in iterator:
            pass
        return WriterCommitMessage()


@pytest.fixture(scope="module")
def knowing(watch):
    """The shared Spark, which knows the source."""
    watch.spark.dataSource.register(Weather)
    make_active(watch.spark)  # a writer looks for its source there
    return watch.spark


@pytest.mark.slow
def test_reading_from_a_source_in_python(watch, knowing, tmp_path):
    rows = knowing.read.format("weather").load().selectExpr("upper(city) AS place", "degrees")
    event = watch.run(lambda: rows.write.parquet(f"{tmp_path}/places"))
    assert shown(event) == "weather -> places"
    assert event["inputs"][0]["namespace"] == "python"
    assert columns(event) == {"place": {"weather.city"}, "degrees": {"weather.degrees"}}


def test_a_path_given_to_it_names_the_dataset(watch, knowing, tmp_path):
    rows = knowing.read.format("weather").load(f"{tmp_path}/stations")
    event = watch.run(lambda: rows.write.parquet(f"{tmp_path}/places"))
    assert shown(event) == "stations -> places"
    assert event["inputs"][0]["facets"]["storage"] | {"_producer": "", "_schemaURL": ""} == {
        "storageLayer": "python",
        "fileFormat": "weather",
        "_producer": "",
        "_schemaURL": "",
    }


@pytest.mark.slow
def test_writing_to_a_source_in_python(watch, knowing):
    rows = knowing.sql("SELECT c AS city, a AS degrees FROM t")
    event = watch.run(lambda: rows.write.format("weather").mode("append").save())
    assert shown(event) == "t -> weather"
    assert columns(event) == {"city": {"t.c"}, "degrees": {"t.a"}}

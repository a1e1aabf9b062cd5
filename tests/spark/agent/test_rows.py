"""Rows that a plan takes from an RDD: they are followed to their tables, or the event says where lineage ends."""

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.agent.conftest import KeptEvents, columns, shown

from headwater.spark import observe

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def people(watch, tmp_path_factory):
    """Rows of a table, one of its columns computed."""
    watch.spark.sparkContext.setCheckpointDir(str(tmp_path_factory.mktemp("checkpoints")))
    watch.spark.sql("CREATE TABLE people USING parquet AS SELECT 1 AS id, 'Ada' AS name")
    yield watch.spark.table("people").selectExpr("id + 1 AS n", "name").filter("id > 0")
    watch.spark.sql("DROP TABLE people")


def doubts(event: dict) -> list[str]:
    return [each["errorMessage"] for each in event["run"]["facets"].get("extractionError", {}).get("errors", ())]


def saved(watch, make, folder) -> dict:
    """The event of the write of what a function makes; what happens before is of no interest."""
    rows = make()
    return watch.run(lambda: rows.write.mode("overwrite").parquet(f"{folder}/saved"))


CHECKPOINTS = {
    "checkpoint": lambda rows: rows.checkpoint(),
    "lazy": lambda rows: rows.checkpoint(eager=False),
    "local": lambda rows: rows.localCheckpoint(),
    "of a checkpoint": lambda rows: rows.checkpoint().filter("n > 0").localCheckpoint(),
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_checkpoints_are_followed(watch, people, kind, tmp_path):
    kept = CHECKPOINTS[kind](people)
    event = saved(watch, lambda: kept.select("n", F.upper("name").alias("loud")), tmp_path)
    assert shown(event) == "people -> saved OVERWRITE"
    assert columns(event) == {"n": {"people.id"}, "loud": {"people.name"}}
    decides = event["outputs"][0]["facets"]["columnLineage"]["dataset"]
    assert [(each["field"], each["transformations"][0]["subtype"]) for each in decides] == [("id", "FILTER")]
    assert doubts(event) == []


def test_a_checkpoint_joined_with_itself(watch, people, tmp_path):
    def joined():
        kept = people.checkpoint()
        return kept.join(kept.selectExpr("n AS m", "name AS other"), F.col("n") == F.col("m"))

    event = saved(watch, joined, tmp_path)
    assert shown(event) == "people -> saved OVERWRITE"
    assert columns(event) == {
        "n": {"people.id"},
        "name": {"people.name"},
        "m": {"people.id"},
        "other": {"people.name"},
    }


def test_rows_that_the_program_makes_are_no_alarm(watch, tmp_path):
    context = watch.spark.sparkContext
    event = saved(watch, lambda: watch.spark.createDataFrame(context.parallelize([(1,)]), "a int"), tmp_path)
    assert (shown(event), doubts(event)) == ("-> saved OVERWRITE", [])


def test_rows_through_an_rdd_keep_their_table(watch, people, tmp_path):
    made = people.rdd.map(lambda row: (row.n, row.name))
    event = saved(watch, lambda: watch.spark.createDataFrame(made, "n int, name string"), tmp_path)
    assert shown(event) == "people -> saved OVERWRITE"


def test_rows_of_an_unknown_rdd_are_said(watch, tmp_path):
    url = "jdbc:derby:memory:rows;create=true"
    watch.spark.range(3).write.jdbc(url, "numbers")
    made = watch.spark.read.jdbc(url, "numbers").rdd.map(lambda row: (row.id,))
    event = saved(watch, lambda: watch.spark.createDataFrame(made, "id long"), tmp_path)
    assert shown(event) == "-> saved OVERWRITE"
    (doubt,) = doubts(event)
    assert doubt == "rows come from a `JDBCRDD`, and where it has them from is not known"


def test_inference_and_training_are_no_alarm(watch, people, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "a.json").write_text('{"a": 1}\n')
    watch.said()
    watch.spark.read.csv(f"{tmp_path}/a.csv", header=True, inferSchema=True).write.parquet(f"{tmp_path}/one")
    watch.spark.read.json(f"{tmp_path}/a.json").write.parquet(f"{tmp_path}/two")
    from pyspark.ml.feature import StringIndexer

    StringIndexer(inputCol="name", outputCol="at").fit(people)
    events = watch.said()
    assert {shown(event) for event in events if event.get("outputs")} == {"a.csv -> one", "a.json -> two"}
    assert [doubt for event in events for doubt in doubts(event)] == []
    assert watch.agent.counts.failed == 0


def test_a_function_over_rows_that_are_written_is_said(watch, people, tmp_path):
    event = saved(watch, lambda: people.mapInPandas(lambda parts: parts, "n int, name string"), tmp_path)
    assert shown(event) == "people -> saved OVERWRITE"
    ways = [
        each
        for made in event["outputs"][0]["facets"]["columnLineage"]["fields"].values()
        for each in made["inputFields"]
    ]
    assert ways or doubts(event)


def test_a_checkpoint_of_before_the_agent_is_said(people, case_tables, tmp_path):
    """The last test of the module: an agent of its own takes the place of the other."""
    case_tables.sparkContext.setCheckpointDir(f"{tmp_path}/checkpoints")
    observe(case_tables, KeptEvents()).stop()
    kept = people.checkpoint()
    sink = KeptEvents()
    with observe(case_tables, sink):
        kept.write.parquet(f"{tmp_path}/saved")
    event = next(event for event in sink.events if event["eventType"] == "COMPLETE" and event.get("outputs"))
    assert shown(event) == "-> saved"
    assert doubts(event) == ["rows come from a `ReliableCheckpointRDD`, and where it has them from is not known"]

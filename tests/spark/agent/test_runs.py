"""What a run says of itself: one per action, with its parent, its numbers, its failures."""

import sys
import threading

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.spark.agent.conftest import columns, shown
from tests.spark.conftest import RELEASE

from headwater.events import EventType
from headwater.spark.agent.application import Application
from headwater.spark.agent.bridge import Happening
from headwater.spark.agent.events import OpenLineageRunEventBuilder
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.options import AgentOptions

pytestmark = pytest.mark.spark


def test_nested_executions_are_one_run_with_columns_and_numbers(watch):
    df = watch.spark.range(100).selectExpr("CAST(id AS INT) AS a", "CAST(id % 7 AS INT) AS b")
    watch.run(lambda: df.write.saveAsTable("numbers"))
    event = watch.run(
        lambda: watch.spark.table("numbers").groupBy("b").agg(F.sum("a").alias("s")).write.saveAsTable("sums")
    )
    (read,), (written,) = event["inputs"], event["outputs"]
    assert shown(event) == "numbers -> sums CREATE"
    assert read["inputFacets"]["inputStatistics"]["rowCount"] == 100
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 7
    assert written["outputFacets"]["outputStatistics"]["fileCount"] >= 1
    assert columns(event) == {"b": {"numbers.b"}, "s": {"numbers.a"}}
    assert [each["field"] for each in written["facets"]["columnLineage"]["dataset"]] == ["b"]
    for name in ("numbers", "sums"):
        watch.spark.sql(f"DROP TABLE {name}")


def test_the_text_of_a_csv_file_is_none_of_its_columns(watch, tmp_path):
    (tmp_path / "orders.csv").write_text("id,amount\n1,2.5\n")
    watch.said()
    read = watch.spark.read.csv(str(tmp_path / "orders.csv"), header=True, inferSchema=True)
    read.write.parquet(str(tmp_path / "out"))
    inputs = [each for event in watch.said() for each in event.get("inputs", ())]
    schemas = [each["facets"]["schema"]["fields"] for each in inputs if "schema" in each["facets"]]
    assert {field["name"] for fields in schemas for field in fields} == {"id", "amount"}
    assert any("schema" not in each["facets"] for each in inputs)  # Spark has looked at the text


def test_the_facets_of_a_dataset(watch):
    event = watch.run("CREATE TABLE nested USING parquet AS SELECT id, arr, m, s FROM ev")
    (output,) = event["outputs"]
    facets = output["facets"]
    fields = {each["name"]: each for each in facets["schema"]["fields"]}
    assert fields["id"]["type"] == "bigint"
    assert [each["name"] for each in fields["s"]["fields"]] == ["p", "q"]
    assert [each["name"] for each in fields["arr"]["fields"][0]["fields"]] == ["k", "n"]
    assert [each["name"] for each in fields["m"]["fields"]] == ["key", "value"]
    assert facets["symlinks"]["identifiers"][0]["name"] == "cases.nested"
    assert facets["symlinks"]["identifiers"][0]["namespace"].startswith("file:/")
    assert facets["storage"] | {"storageLayer": "file", "fileFormat": "parquet"} == facets["storage"]
    assert (output["namespace"], facets["dataSource"]["name"]) == ("file", "file")
    watch.spark.sql("DROP TABLE nested")


def test_the_facets_of_job_and_run(watch):
    event = watch.run("INSERT INTO dst SELECT a, 'top secret' FROM t WHERE c = 'hush' -- quiet")
    job, run = event["job"], event["run"]["facets"]
    assert (job["namespace"], job["name"]) == ("tests", "suite.insert_into_hadoop_fs_relation_command.cases_dst")
    assert job["facets"]["sql"]["query"] == "INSERT INTO dst SELECT a, ? FROM t WHERE c = ?"
    assert job["facets"]["jobType"]["processingType"] == "BATCH"
    assert run["processing_engine"]["version"] == watch.spark.version
    assert run["parent"]["job"]["name"] == "suite"
    assert "hush" not in str(event)
    ways = event["outputs"][0]["facets"]["columnLineage"]["dataset"][0]["transformations"]
    assert ways == [
        {"type": "INDIRECT", "subtype": "FILTER", "description": "c = ? -- at sql:1:53", "masking": False}
    ]


USES = {
    "collect": lambda result: result.collect(),
    "toPandas": lambda result: result.toPandas(),
    "count": lambda result: result.count(),
    "all of them": lambda result: (result.collect(), result.count(), result.show()),
}


@pytest.mark.parametrize("use", USES)
def test_the_result_of_a_command_is_no_run_of_its_own(watch, use):
    made = watch.run(lambda: USES[use](watch.spark.sql("CREATE TABLE kept USING parquet AS SELECT a, c FROM t")))
    added = watch.run(lambda: USES[use](watch.spark.sql("INSERT INTO kept SELECT a, c FROM t")))
    assert [shown(event) for event in (made, added)] == ["t -> kept CREATE", "t -> kept"]
    watch.spark.sql("DROP TABLE kept")


def test_a_failed_analysis_is_printed_once(watch, capfd):
    """By Spark, for the program that asked; the agent asks nothing that fails again."""
    watch.said()
    with pytest.raises(Exception, match="no_such_column"):
        watch.spark.sql("SELECT no_such_column FROM t")
    once = capfd.readouterr().err
    assert watch.said() == []
    assert capfd.readouterr().err == ""
    assert once.count("no_such_column FROM") <= 1
    assert watch.agent.counts.failed == 0


def _read_rows(event: dict) -> list[int | None]:
    return [each.get("inputFacets", {}).get("inputStatistics", {}).get("rowCount") for each in event["inputs"]]


def test_rows_of_several_paths_are_not_those_of_the_first(watch, tmp_path):
    one, two = f"{tmp_path}/one", f"{tmp_path}/two"
    watch.spark.range(10).write.parquet(one)
    watch.spark.range(5).write.parquet(two)
    read = watch.spark.read
    together = watch.run(lambda: read.parquet(one, two).write.parquet(f"{tmp_path}/both"))
    apart = watch.run(lambda: read.parquet(one).union(read.parquet(two)).write.parquet(f"{tmp_path}/apart"))
    assert [shown(event) for event in (together, apart)] == ["one, two -> both", "one, two -> apart"]
    assert _read_rows(together) == [None, None]
    assert _read_rows(apart) == [10, 5]


def test_rows_that_are_taken_one_by_one_are_not_zero(watch, tmp_path):
    watch.spark.range(10).write.parquet(f"{tmp_path}/rows")
    rows = watch.spark.read.parquet(f"{tmp_path}/rows")
    event = watch.run(lambda: list(rows.toLocalIterator()))
    assert shown(event) == "rows ->"
    assert _read_rows(event) == [None]


@pytest.mark.skipif(RELEASE < (4, 0), reason="this Spark does not keep the lines of Python")
def test_python_lines_are_on_edges(watch):
    df = watch.spark.table("t").select((F.col("a") + F.col("b")).alias("p"), F.col("c").alias("q"))
    event = watch.run(lambda: df.write.insertInto("dst"))
    (way,) = event["outputs"][0]["facets"]["columnLineage"]["fields"]["p"]["inputFields"][0]["transformations"]
    assert way["description"].startswith("(a + b) -- at ")
    assert "test_runs.py:" in way["description"]


def test_the_program_is_told_only_where_literals_may_be(watch, tmp_path, monkeypatch):
    script = tmp_path / "nightly.py"
    script.write_text("spark.range(3).write.saveAsTable('numbers')\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    made = [Application.of(watch.spark.sparkContext, AgentOptions(literals=literals)) for literals in (False, True)]
    assert made[0].program is None
    assert made[1].program.source_code == script.read_text()
    context = SparkSQLExecutionContext(1)
    events = [OpenLineageRunEventBuilder(each).build(EventType.START, context, Happening("start")) for each in made]
    assert [each.job.facets.get("sourceCode") for each in events] == [None, made[1].program]


def test_a_failure_fails_the_run_once(watch, tmp_path):
    (tmp_path / "there").mkdir()
    watch.said()
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        watch.spark.table("t").write.parquet(str(tmp_path / "there"))
    events = watch.said()
    assert [event["eventType"] for event in events] == ["START", "FAIL"]
    error = events[-1]["run"]["facets"]["errorMessage"]
    assert "PATH_ALREADY_EXISTS" in error["message"]
    assert "at org.apache.spark" in error["stackTrace"]
    assert shown(events[-1]) == "t -> there"


def test_other_sessions_and_threads_are_seen(watch):
    watch.said()
    other = watch.spark.newSession()
    other.sql("USE cases")
    jobs = [threading.Thread(target=lambda: other.sql("SELECT count(*) FROM u").collect()) for _ in range(3)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    events = watch.said()
    assert len({event["run"]["runId"] for event in events}) == 3
    assert {shown(event) for event in events} == {"u ->"}


def test_rdds_are_seen_as_datasets(watch, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("one\ntwo\n")
    context = watch.spark.sparkContext
    event = watch.run(lambda: context.textFile(f"{tmp_path}/in").map(str.upper).saveAsTextFile(f"{tmp_path}/out"))
    assert shown(event) == "in -> out"
    assert event["job"]["facets"]["jobType"]["jobType"] == "RDD_JOB"


def test_a_frame_made_of_an_rdd_keeps_its_files(watch, tmp_path):
    watch.spark.range(5).write.parquet(str(tmp_path / "in"))
    rows = watch.spark.read.parquet(str(tmp_path / "in")).rdd.map(lambda row: (row.id, str(row.id)))
    watch.said()
    watch.spark.createDataFrame(rows, "n long, s string").write.parquet(str(tmp_path / "out"))
    event = next(event for event in watch.said() if event["eventType"] == "COMPLETE" and event.get("outputs"))
    assert shown(event) == "in -> out"
    (doubt, *_) = event["run"]["facets"]["extractionError"]["errors"]
    assert "behind an RDD" in doubt["errorMessage"]


def test_a_visitor_of_ones_own_comes_first(watch, monkeypatch):
    """Entry points of the group `headwater.spark.visitors` are asked before ours."""
    from headwater.spark.agent.visitors import visitor

    broken = type("Broken", (visitor.QueryPlanVisitor,), {"nodes": frozenset({"LogicalRelation"})})
    monkeypatch.setattr(
        visitor, "_from_entry_points", lambda kind: [broken] if kind is visitor.QueryPlanVisitor else []
    )
    monkeypatch.setattr(watch.agent._worker.tracker, "_readers", {})
    event = watch.run("INSERT INTO dst SELECT a, c FROM t")
    assert shown(event) == "-> dst"
    (error, *_) = event["run"]["facets"]["extractionError"]["errors"]
    assert "LogicalRelation" in error["errorMessage"]

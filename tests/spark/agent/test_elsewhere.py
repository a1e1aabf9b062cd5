"""Spark that is not in the process of the job: a Connect server, a Thrift server, a shell, a cluster, a pipeline."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.spark.agent.conftest import check, columns, shown
from tests.spark.agent.test_listener import BIN, PROGRAM, environment, jar, options
from tests.spark.conftest import RELEASE
from tests.spark.standalone import Cluster

from headwater.errors import InputError, UsageError
from headwater.events import encode
from headwater.spark.agent.replay import replay
from headwater.spark.agent.submit import parse_submission, submit_command

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
__all__ = ["jar"]

JOB = """
import sys
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.getOrCreate()
at = sys.argv[1]
spark.range(10).select("id", (F.col("id") % 3).alias("k")).write.parquet(f"{at}/in")
rows = spark.read.parquet(f"{at}/in").groupBy("k").agg(F.sum("id").alias("s"))
rows.withColumn("p", F.udf(lambda x: x + 1, "long")("s")).write.parquet(f"{at}/out")
spark.stop()
"""


def spooled(folder: Path) -> list[dict]:
    """The last events of the runs in a spool."""
    lines = [line for file in folder.glob("*.ndjson") for line in file.read_bytes().splitlines()]
    events = [json.loads(encode(event)) for line in lines for event in replay(line)]
    for event in events:
        check(event)
    return [event for event in events if event["eventType"] not in ("START", "RUNNING")]


@contextmanager
def server(command: list[str], folder: Path, ready: str):
    """A server that runs until the block ends; gives what it has said so far."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=out, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 120
        while not re.search(ready, log.read_text(errors="replace")):
            assert process.poll() is None, log.read_text(errors="replace")[-3000:]
            assert time.monotonic() < end, log.read_text(errors="replace")[-3000:]
            time.sleep(0.2)
        yield log
    finally:
        process.terminate()
        process.wait(60)


def called(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=folder, env=environment() | variables, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    return done


def is_job_seen(events: list[dict]) -> None:
    found = {shown(event): columns(event) for event in events if event.get("outputs")}
    assert found == {"-> in": {}, "in -> out": {"k": {"in.k"}, "s": {"in.id"}, "p": {"in.id"}}}


# ------------------------------------------------------------------------------------------------- Spark Connect


@pytest.mark.slow
@pytest.mark.skipif(RELEASE < (4, 0), reason="the PySpark on PyPI has no Connect server")
def test_a_connect_server_is_observed_where_it_runs(jar, tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    port = 15_000 + os.getpid() % 1000
    start = [str(BIN / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    start += [*options(jar, f"spool:{tmp_path}/spool", tmp_path), "--name", "server"]
    start += ["--conf", f"spark.connect.grpc.binding.port={port}", "spark-internal"]
    with server(start, tmp_path, "Connect server started"):
        called([sys.executable, "job.py", str(tmp_path)], tmp_path, SPARK_REMOTE=f"sc://localhost:{port}")
    is_job_seen(spooled(tmp_path / "spool"))


@pytest.mark.parametrize("words", [["--remote", "sc://h:15002", "job.py"], ["--remote=sc://h", "job.py"]])
def test_a_client_of_a_remote_spark_is_told_what_to_start(words):
    with pytest.raises(UsageError, match="where it runs") as refused:
        parse_submission(words)
    assert "start-connect-server.sh --jars" in refused.value.hint
    assert parse_submission(["--remote", "local[2]", "job.py"]).job == "job.py"


# ------------------------------------------------------------------------------------------------------ pipelines

PIPELINE = {
    "spark-pipeline.yml": """
name: shop daily
storage: file://{at}/storage
libraries:
  - glob: {{include: steps/**}}
""",
    "steps/tables.sql": """
CREATE MATERIALIZED VIEW orders AS SELECT id, id % 3 AS customer, id * 2 AS amount FROM range(9);
CREATE MATERIALIZED VIEW sums AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;
CREATE STREAMING TABLE copied AS SELECT id, amount + 1 AS more FROM STREAM orders;
""",
    "steps/tables.py": """
from pyspark import pipelines as dp

@dp.materialized_view
def best():
    return spark.read.table("sums").selectExpr("customer", "total + 1 AS best")
""",
}


@pytest.mark.slow
@pytest.mark.skipif(RELEASE < (4, 1), reason="there are no declared pipelines")
def test_every_flow_of_a_pipeline_is_a_run(tmp_path):
    for name, text in PIPELINE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.format(at=tmp_path))
    command = [sys.executable, "-m", "headwater", "spark-run", "--sink", f"file:{tmp_path}/events.ndjson"]
    called([*command, "--conf", "spark.ui.enabled=false", "spark-pipelines", "run"], tmp_path)
    events = [json.loads(line) for line in (tmp_path / "events.ndjson").read_text().splitlines()]
    for event in events:
        check(event)
    whole, *flows = [event for event in events if event["eventType"] == "COMPLETE"][::-1]
    assert whole["job"]["name"] == "shop_daily"
    assert {event["run"]["facets"]["parent"]["run"]["runId"] for event in flows} == {whole["run"]["runId"]}
    assert {shown(event).replace(" CREATE", ""): columns(event) for event in flows} == {
        "-> orders": {},
        "orders -> sums": {"customer": {"orders.customer"}, "total": {"orders.amount"}},
        "orders -> copied": {"id": {"orders.id"}, "more": {"orders.amount"}},
        "sums -> best": {"customer": {"sums.customer"}, "best": {"sums.total"}},
    }


def test_a_pipeline_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reason = "no specification" if RELEASE >= (4, 1) else "has no declared pipelines"
    with pytest.raises(InputError, match=reason):
        submit_command(parse_submission(["spark-pipelines", "run"]), {})


# --------------------------------------------------------------------------------------- clusters, servers, shells


@pytest.mark.slow
def test_a_job_on_a_cluster(tmp_path):
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-m", "headwater", "spark-run", "--sink", f"file:{tmp_path}/events.ndjson"]
    with Cluster(tmp_path / "cluster") as cluster:
        called([*command, "--master", cluster.url, "job.py", str(tmp_path)], tmp_path)
    events = [json.loads(line) for line in (tmp_path / "events.ndjson").read_text().splitlines()]
    is_job_seen([event for event in events if event["eventType"] == "COMPLETE"])


@pytest.mark.slow
def test_a_driver_that_runs_on_the_cluster(jar, tmp_path):
    (tmp_path / "Load.java").write_text(PROGRAM)
    subprocess.run(["javac", "-cp", str(BIN.parent / "jars" / "*"), "Load.java"], cwd=tmp_path, check=True)
    subprocess.run(["jar", "cf", "load.jar", "Load.class"], cwd=tmp_path, check=True)
    with Cluster(tmp_path / "cluster", cores=2) as cluster:
        given = options(jar, f"spool:{tmp_path}/spool", tmp_path)
        given[given.index("--master") + 1] = cluster.url
        given += [
            "--deploy-mode",
            "cluster",
            "--conf",
            "spark.driver.memory=512m",
            "--conf",
            "spark.executor.memory=512m",
        ]
        given += ["--conf", f"spark.driver.extraClassPath={jar}"]
        called(
            [str(BIN / "spark-submit"), *given, "--class", "Load", f"{tmp_path}/load.jar", str(tmp_path)], tmp_path
        )
        end = time.monotonic() + 180
        while not (tmp_path / "out" / "_SUCCESS").exists() or not any(
            not e.get("outputs") for e in spooled(tmp_path / "spool")
        ):
            assert time.monotonic() < end, "the driver did not come to its end"
            time.sleep(0.5)
        events = spooled(tmp_path / "spool")
    assert {shown(event) for event in events if event.get("outputs")} == {"-> in", "in -> out"}


SQL = "CREATE TABLE t USING parquet AS SELECT 1 AS a; CREATE TABLE d STORED AS ORC AS SELECT a + 1 AS b FROM t;"


@pytest.mark.slow
def test_a_thrift_server(jar, tmp_path):
    port = 16_000 + os.getpid() % 1000
    start = [str(BIN / "spark-submit"), "--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"]
    start += [
        *options(jar, f"spool:{tmp_path}/spool", tmp_path),
        "--conf",
        f"spark.hadoop.hive.server2.thrift.port={port}",
    ]
    with server(
        [*start, "spark-internal"], tmp_path, "Started ThriftBinaryCLIService|ThriftBinaryCLIService on port"
    ):
        called([str(BIN / "beeline"), "-u", f"jdbc:hive2://localhost:{port}", "-n", "ada", "-e", SQL], tmp_path)
    found = {shown(event): columns(event) for event in spooled(tmp_path / "spool") if event.get("outputs")}
    assert found == {"-> t CREATE": {}, "t -> d CREATE": {"b": {"t.a"}}}


@pytest.mark.slow
def test_a_scala_shell(jar, tmp_path):
    text = "".join(f'spark.sql("{statement.strip()}")\n' for statement in SQL.split(";")[:-1])
    command = [str(BIN / "spark-shell"), *options(jar, f"spool:{tmp_path}/spool", tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), input=text, capture_output=True, text=True, timeout=280
    )
    found = {shown(event): columns(event) for event in spooled(tmp_path / "spool") if event.get("outputs")}
    assert found == {"-> t CREATE": {}, "t -> d CREATE": {"b": {"t.a"}}}, done.stdout[-2000:]

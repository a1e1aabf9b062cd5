"""Drivers, executors and tasks that die: what was acknowledged is there once, and nothing else is."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from tests.pages import ROOT, agrees, read_blocks, read_commands
from tests.spark.queries import QUERIES, by_command, fill, plain
from tests.spark.standalone import Cluster

import headwater.spark
from headwater.lake.tables import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.fault]
DRIVER = Path(__file__).with_name("driver.py")
ROWS = 4000
BATCHES = int(os.environ.get("HEADWATER_TEST_BATCHES", "10"))  # of the stream; 1000 take some ten minutes
LEGS = max(2, BATCHES // 100)  # after each the stream ends and is started again


@pytest.fixture
def warehouse(tmp_path):
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    return warehouse


class Driver:
    """A driver in a process group of its own."""

    def __init__(self, mode, folder, master="local[2]"):
        command = [sys.executable, str(DRIVER), mode, str(folder), master]
        self.log = folder / f"{mode}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def wait_for(self, found, seconds=120):
        end = time.monotonic() + seconds
        while not found():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < end, self.log.read_text()[-3000:]
            time.sleep(0.1)

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)

    def finish(self, seconds=240):
        try:
            assert self.process.wait(seconds) == 0, self.log.read_text()[-3000:]
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def ids(table):
    return sorted(table.to_arrow(["id"]).column("id").to_pylist())


@pytest.mark.slow
def test_a_driver_that_dies_before_its_commit_leaves_nothing_to_see(spark, warehouse, tmp_path):
    table = warehouse.create_table("db.t", {"id": "BIGINT"})
    driver = Driver("write", tmp_path)
    driver.wait_for(lambda: any(tmp_path.glob("committing*")))
    driver.kill()
    assert table.snapshot() is None
    left = table.remove_orphans(older_than=0, dry_run=False).files
    assert len(left) == 4
    options = {"warehouse": str(tmp_path / "wh"), "table": "db.t"}
    spark.range(ROWS).write.format("headwater").options(**options).mode("append").save()
    assert ids(table) == list(range(ROWS))


@pytest.mark.slow
@pytest.mark.timeout(300 + 3 * BATCHES)
def test_a_stream_that_is_restarted_and_killed_writes_every_row_once(warehouse, tmp_path):
    """One kill -9 between write and commit of a batch, one between its commit and Spark's note of it."""
    columns = {"id": "BIGINT", "s": "STRING"}
    source = warehouse.create_table("db.source", columns, options={"write-only": "true"})
    sink = warehouse.create_table("db.sink", columns)
    each = BATCHES // LEGS
    moments = {"before": each // 2, "after": BATCHES // 2 + 1}
    (tmp_path / "moments.json").write_text(json.dumps(moments))
    for leg in range(LEGS):
        for batch in range(leg * each, (leg + 1) * each):
            rows = range(batch * 10, batch * 10 + 10)
            source.write(pa.table({"id": rows, "s": [f"{batch}-{row}" for row in rows]}))
        for moment, batch in moments.items():
            if batch // each == leg:
                driver = Driver("stream", tmp_path)
                driver.wait_for(lambda name=moment: any(tmp_path.glob(f"{name}-*")), seconds=600)
                driver.kill()
                assert len(ids(sink)) == 10 * (batch + (moment == "after"))
        Driver("stream", tmp_path).finish(600)
        assert ids(sink) == list(range((leg + 1) * each * 10))
    assert sink.to_arrow().sort_by("id").equals(source.to_arrow().sort_by("id"))
    streamed = [commit.commit_id for commit in sink.snapshots() if commit.commit_user.startswith("stream-")]
    assert streamed == [str(batch) for batch in range(LEGS * each)]


def run_guide(folder, master):
    """Run the pipeline of the guide on a cluster: what each command prints is what the page shows."""
    page = ROOT / "docs" / "guides" / "cluster.md"
    folder.mkdir()
    env = os.environ | {"MASTER": master, "NO_COLOR": "1", "HEADWATER_WAREHOUSE": str(folder / "warehouse")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    commands = []
    for block in read_blocks(page.read_text()):
        if block.title is not None:
            (folder / block.title).parent.mkdir(exist_ok=True)
            (folder / block.title).write_text(block.text)
        elif block.skipped and "$MASTER" in block.text:
            commands += read_commands(block)
    assert {"load", "compact", "harvest", "ingest", "trace"} <= {
        word for each in commands for word in each.command.split()
    }
    for shown in commands:
        done = subprocess.run(["bash", "-ec", shown.command], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert agrees(shown.output, done.stdout.splitlines()), f"{shown.command}\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_cluster_answers_alike_and_writes_exactly(warehouse, tmp_path, s3_options, bucket):
    """A master and two workers: twenty queries, speculation with injected failures, and an executor killed.

    Then the same queries, and changes, on tables in an object store, and the whole pipeline as the guide shows it.
    """
    fill(warehouse)
    place = {"url": f"s3://{bucket}/cluster", "storage": s3_options}
    remote = Warehouse(place["url"], s3_options)
    fill(remote)
    (tmp_path / "place.json").write_text(json.dumps(place))
    flaky = warehouse.create_table("db.flaky", {"id": "BIGINT"})
    killed = warehouse.create_table("db.killed", {"id": "BIGINT NOT NULL", "s": "STRING"}, primary_key="id")
    with Cluster(tmp_path / "cluster") as cluster:
        driver = Driver("cluster", tmp_path, cluster.url)
        driver.wait_for((tmp_path / "writing").exists, seconds=240)
        time.sleep(1.5)
        os.kill(cluster.executors()[0], signal.SIGKILL)
        driver.finish()
        Driver("bucket", tmp_path, cluster.url).finish()
        run_guide(tmp_path / "guide", cluster.url)
    wanted = by_command(tmp_path / "wh")
    assert json.loads((tmp_path / "answers.json").read_text()) == wanted
    assert json.loads((tmp_path / "bucket.json").read_text()) == wanted
    made = remote.table("db.made")
    assert [made.get(5)["n"], made.get(49)["n"], made.get(50)] == [1, 0, None]
    assert (ids(flaky), len(flaky.snapshots())) == (list(range(ROWS)), 1)
    assert len(flaky.remove_orphans(older_than=0).files) > 0  # attempts that failed have left files, and no rows
    assert ids(killed) == list(range(3990))
    assert killed.get(10)["s"] == "y"
    operations = [each.operation.value for each in killed.snapshots()]
    assert [each for each in operations if each != "COMPACT"] == [
        "INSERT",
        "UPDATE",
        "DELETE",
    ]  # tasks compact beside


@pytest.mark.slow
def test_sql_here_and_on_spark_answers_alike(spark, warehouse):
    fill(warehouse)
    lake = headwater.spark.connect(spark, warehouse.files.root, catalog="alike")
    for query, wanted in zip(QUERIES, by_command(warehouse.files.root), strict=True):
        assert plain(lake.sql(query).collect()) == wanted, query

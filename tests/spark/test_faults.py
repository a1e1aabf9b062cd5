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
from tests.spark.queries import QUERIES, fill, plain
from tests.spark.standalone import Cluster

import headwater
import headwater.spark
from headwater.lake.tables import Warehouse

pytestmark = [pytest.mark.spark, pytest.mark.fault]
DRIVER = Path(__file__).with_name("driver.py")
ROWS = 4000


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


def test_a_stream_killed_before_and_after_a_commit_writes_every_row_once(warehouse, tmp_path):
    source = warehouse.create_table("db.source", {"id": "BIGINT"})
    sink = warehouse.create_table("db.sink", {"id": "BIGINT"})
    for start in range(0, 500, 100):
        source.write(pa.table({"id": pa.array(range(start, start + 100), pa.int64())}))
    for moment in ("before", "after"):
        driver = Driver("stream", tmp_path)
        driver.wait_for(lambda name=moment: any(tmp_path.glob(f"{name}-*")))
        driver.kill()
        assert len(ids(sink)) == {"before": 100, "after": 300}[moment]
    Driver("stream", tmp_path).finish()
    assert ids(sink) == list(range(500))
    streamed = [each.commit_id for each in sink.snapshots() if each.commit_user.startswith("stream-")]
    assert streamed == ["0", "1", "2", "3", "4"]


@pytest.mark.slow
def test_a_cluster_answers_alike_and_writes_exactly(warehouse, tmp_path):
    """A master and two workers: twenty queries, speculation with injected failures, and an executor killed."""
    fill(warehouse)
    flaky = warehouse.create_table("db.flaky", {"id": "BIGINT"})
    killed = warehouse.create_table("db.killed", {"id": "BIGINT NOT NULL", "s": "STRING"}, primary_key="id")
    with Cluster(tmp_path / "cluster") as cluster:
        driver = Driver("cluster", tmp_path, cluster.url)
        driver.wait_for((tmp_path / "writing").exists, seconds=240)
        time.sleep(1.5)
        os.kill(cluster.executors()[0], signal.SIGKILL)
        driver.finish()
    with headwater.connect(tmp_path / "wh") as session:
        wanted = [plain(session.sql(query).fetchall()) for query in QUERIES]
    assert json.loads((tmp_path / "answers.json").read_text()) == json.loads(json.dumps(wanted, default=str))
    assert (ids(flaky), len(flaky.snapshots())) == (list(range(ROWS)), 1)
    assert len(flaky.remove_orphans(older_than=0).files) > 0  # attempts that failed have left files, and no rows
    assert ids(killed) == list(range(3990))
    assert killed.get(10)["s"] == "y"
    assert [each.operation.value for each in killed.snapshots()] == ["INSERT", "UPDATE", "DELETE"]


def test_sql_here_and_on_spark_answers_alike(spark, warehouse):
    fill(warehouse)
    lake = headwater.spark.connect(spark, warehouse.files.root, catalog="alike")
    with headwater.connect(warehouse) as session:
        for query in QUERIES:
            ours = plain(session.sql(query).fetchall())
            assert plain(map(tuple, lake.sql(query).collect())) == ours, query

"""Several processes commit to one table while others read it."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.effort import THOROUGH
from tests.lake.tables import writers

from headwater import Warehouse
from headwater.errors import AlreadyExistsError
from headwater.files import MemoryFiles
from headwater.lake.metadata.snapshot import Operation


def test_no_commit_of_four_processes_is_lost(tmp_path):
    each = 25 if THOROUGH else 5
    told = writers.run(writers.begin(tmp_path), tmp_path, 4, each)
    assert told["commits"] == 4 * each
    assert told["reads"] > (3 if THOROUGH else 0)


@pytest.mark.slow
def test_no_commit_on_an_object_store_is_lost(s3_options, bucket):
    location = f"s3://{bucket}/{uuid.uuid4().hex}"
    assert writers.run(writers.begin(location, s3_options), location, 2, 8, s3_options)["commits"] == 16


def test_threads_share_a_table():
    table = writers.begin(MemoryFiles())

    def work(me):
        for turn in range(20):
            table.write([(1 + me * 1000 + turn, turn, me)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert table.to_arrow().num_rows == 80
    assert sum(snapshot.operation is Operation.INSERT for snapshot in table.snapshots()) == 80
    assert table.stats().most_runs < 20


def test_of_many_who_make_a_table_one_does():
    files, gate = MemoryFiles(), threading.Barrier(8)
    Warehouse(files).create_database("w")

    def make(me):
        gate.wait()
        try:
            return Warehouse(files).create_table("w.t", {"k": "INT", f"c{me}": "INT"})
        except AlreadyExistsError:
            return None

    with ThreadPoolExecutor(8) as pool:
        made = [table for table in pool.map(make, range(8)) if table is not None]
    assert len(made) == 1
    assert Warehouse(files).table("w.t").schema.names == made[0].schema.names
    folders = {entry.path.split("/")[1] for entry in files.list("w", deep=True)}
    assert len(folders) == 3  # the database, the entry, one folder

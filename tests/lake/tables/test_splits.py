"""Splits travel: a scan is planned in one process and read in others."""

import pickle
import subprocess
import sys
import uuid

import pyarrow as pa
import pytest

from headwater import Warehouse
from headwater.errors import UsageError
from headwater.files import MemoryFiles
from headwater.lake.metadata.schema_change import RenameColumn
from headwater.lake.tables import Compare

ELSEWHERE = """
import pickle, sys
import pyarrow as pa
table, split = pickle.load(sys.stdin.buffer)
rows = pa.Table.from_batches(table.read_split(split))
with pa.ipc.new_stream(sys.stdout.buffer, rows.schema) as out:
    out.write_table(rows)
"""


def read_elsewhere(table, split):
    """The rows of a split as another process reads them that was given a pickle and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=pickle.dumps((table, split)), capture_output=True, check=True
    )
    return pa.ipc.open_stream(done.stdout).read_all()


def filled(location, options=None, *, key):
    warehouse = Warehouse(location, options)
    columns = {"id": "BIGINT", "name": "STRING", "price": "DECIMAL(9, 2)", "day": "DATE"}
    table = warehouse.create_table("t", columns, primary_key=key, options={"bucket": "2"} if key else {})
    for start in (0, 50):
        ids = list(range(start, start + 100))
        table.write(pa.table({"id": ids, "name": [f"{start}-{id}" for id in ids]}))
    return table


def check_travel(table):
    where = [Compare("id", ">=", 20), Compare("id", "<", 130)]
    plan = table.plan_scan(["name", "id"], where=where)
    parts = [read_elsewhere(table, split) for split in plan.splits]
    found = sorted(pa.concat_tables(parts).to_pylist(), key=lambda row: (row["id"], row["name"]))
    wanted = table.to_arrow(["name", "id"], where=where).to_pylist()
    assert found == sorted(wanted, key=lambda row: (row["id"], row["name"]))
    assert len(found) >= 110


@pytest.mark.parametrize("key", ["id", ()])
def test_a_split_is_read_by_another_process(tmp_path, key):
    check_travel(filled(tmp_path, key=key))


def test_a_split_is_read_by_another_process_from_an_object_store(s3_options, bucket):
    check_travel(filled(f"s3://{bucket}/{uuid.uuid4().hex}", s3_options, key="id"))


def test_a_split_of_many_files_of_many_columns_is_small(tmp_path):
    columns = {f"column_{number}": "STRING" for number in range(50)}
    table = Warehouse(tmp_path).create_table("t", columns, options={"write-only": "true"})
    for number in range(20):
        table.write(pa.table({name: [f"{name} {number}"] * 10 for name in columns}))
    (split,) = table.plan_scan(["column_7"]).splits
    assert len(split.files) == 20
    assert len(pickle.dumps((table, split))) < 200 * len(split.files)


def test_a_split_is_read_after_a_rename_and_a_change_of_the_schema(tmp_path):
    table = filled(tmp_path, key="id")
    plan = table.plan_scan(["id", "name"])
    sent = pickle.dumps((table, plan.splits))
    table.alter(RenameColumn("name", "title"))
    Warehouse(tmp_path).rename_table("t", "u")
    there, splits = pickle.loads(sent)  # noqa: S301 our own
    rows = [row for split in splits for batch in there.read_split(split) for row in batch.to_pylist()]
    assert {row["name"] for row in rows} == set(table.to_arrow()["title"].to_pylist())


def test_what_is_in_memory_stays_there():
    table = filled(MemoryFiles(), key="id")
    with pytest.raises(UsageError, match="memory of one process"):
        pickle.dumps(table)

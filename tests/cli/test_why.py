"""`headwater why`, `bisect` and `replay` say what people know: applications and statements, not nodes of a plan."""

import pyarrow as pa
import pytest

from headwater.cli.main import run
from headwater.lake.metadata.snapshot import InputVersion, Origin
from headwater.lake.tables import Warehouse
from headwater.lake.tables.writes import CommitFacts, write_rows

JOBS = ("shop.append_data.bronze_orders", "shop.execute_insert_into_hadoop_fs_relation_command.gold_total")


@pytest.fixture
def warehouse(tmp_path):
    """Two tables as Spark's agent leaves them: their jobs have the names of nodes."""
    found = Warehouse(tmp_path)
    for name, job, source in zip(("bronze.orders", "gold.total"), JOBS, ("raw/orders.csv", "bronze.orders")):
        found.create_database(name.partition(".")[0])
        table = found.create_table(name, {"id": "BIGINT", "amount": "DOUBLE"})
        read = InputVersion(dataset=source, snapshot_id=1 if source == "bronze.orders" else None, columns=("amount",))
        origin = Origin(run_id="r", job=job, inputs=(read,))
        write_rows(table.store, pa.table({"id": [1], "amount": [54.57000000000001]}), CommitFacts(origin=origin))
    return str(tmp_path)


@pytest.mark.parametrize("words", ["why gold.total", "why gold.total --where id=1", "replay gold.total"])
def test_a_job_is_named_by_its_application(warehouse, capsys, words):
    run([*words.split(), "--warehouse", warehouse])
    text = "".join(capsys.readouterr())
    assert "by shop" in text
    for node in ("append_data", "hadoop_fs", "execute_"):
        assert node not in text


def test_rows_have_the_digits_of_their_numbers(warehouse, capsys):
    run(["why", "gold.total", "--where", "id = 1", "--warehouse", warehouse])
    assert "id 1, amount 54.57\n" in capsys.readouterr().out
    run(["why", "gold.total", "--where", "id = 1", "--json", "--warehouse", warehouse])
    assert "54.57000000000001" in capsys.readouterr().out

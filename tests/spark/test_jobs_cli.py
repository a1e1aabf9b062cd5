"""`headwater jobs`: the commands, on the Spark that runs."""

import json

import pytest

from headwater.cli.main import run
from headwater.lake.tables import Warehouse

pytestmark = pytest.mark.spark


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWATER_WAREHOUSE", str(tmp_path / "wh"))
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    options = {"bucket": "2", "write-only": "true"}
    table = warehouse.create_table("db.t", {"id": "BIGINT NOT NULL"}, primary_key="id", options=options)
    for start in range(3):
        table.write([(each,) for each in range(start, 100)])
    return warehouse


def test_a_table_is_kept_in_shape(spark, warehouse, capsys):
    assert run(["jobs", "compact", "db.t"]) == 0
    assert capsys.readouterr().out == "2 buckets: 6 files became 2\n"
    assert run(["jobs", "expire", "db.t", "--keep", "1", "--older-than", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["snapshots"] == [1, 2, 3, 4]
    assert run(["jobs", "orphans", "db.t", "--older-than", "0"]) == 0
    assert capsys.readouterr().out == "0 files removed\n"
    assert run(["jobs", "rescale", "db.t", "--buckets", "3"]) == 0
    assert capsys.readouterr().out == "db.t has 3 buckets\n"
    assert warehouse.table("db.t").to_arrow().num_rows == 100


def test_data_goes_out_and_in(spark, warehouse, tmp_path, capsys):
    path = str(tmp_path / "out.parquet")
    assert run(["jobs", "export", "db.t", path]) == 0
    assert run(["jobs", "import", "db.copy", path, "--key", "id", "--id", "1"]) == 0
    assert capsys.readouterr().out.endswith("db.copy has 100 rows\n")
    assert run(["jobs", "import", "db.copy", path, "-o", "header"]) == 2
    assert "--option header has no value" in capsys.readouterr().err
    assert run(["jobs", "compact", "db.copy", "--conf", "oops"]) == 2
    assert "--conf oops has no value" in capsys.readouterr().err

"""Commands of tables on the Spark that runs: they do what they do without it."""

import json

import pytest

from headwater.cli.main import run
from headwater.lake.tables import Warehouse

pytestmark = pytest.mark.spark
MASTER = ("--master", "local[2]")


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWATER_WAREHOUSE", str(tmp_path / "wh"))
    warehouse = Warehouse(tmp_path / "wh")
    warehouse.create_database("db")
    for name in ("t", "u"):
        options = {"bucket": "2", "write-only": "true"}
        table = warehouse.create_table(f"db.{name}", {"id": "BIGINT NOT NULL"}, primary_key="id", options=options)
        for start in range(3):
            table.write([(each,) for each in range(start, 100)])
    return warehouse


def test_a_table_is_kept_in_shape(spark, warehouse, capsys):
    """Table t on Spark, table u here: the commands say the same."""
    orphan = warehouse.table("db.t").store
    orphan.files.put(orphan.paths.data_file("bucket-0/0-00000-dead.sst"), b"x")
    for words, said in (
        (("compact",), "2 buckets: 6 files became 2\n"),
        (("expire", "--keep", "1", "--older-than", "0", "--dry-run"), "files would go\n"),
        (("expire", "--keep", "1", "--older-than", "0"), "files went\n"),
    ):
        spoken = []
        for table, more in (("db.t", MASTER), ("db.u", ())):
            assert run(["lake", words[0], table, *words[1:], *more]) == 0
            spoken.append(capsys.readouterr().out)
        assert spoken[0].endswith(said)
        if words[0] == "compact":
            assert spoken[0] == spoken[1]
    assert run(["lake", "orphans", "db.t", "--older-than", "0", "--remove", *MASTER]) == 0
    assert "1 file removed" in capsys.readouterr().out
    assert run(["lake", "orphans", "--remove", *MASTER]) == 2
    assert "name a table" in capsys.readouterr().err
    assert run(["jobs", "rescale", "db.t", "--buckets", "3"]) == 0
    assert capsys.readouterr().out == "db.t has 3 buckets\n"
    assert warehouse.table("db.t").to_arrow().num_rows == 100


def test_data_goes_out_and_in(spark, warehouse, tmp_path, capsys):
    path = str(tmp_path / "out.parquet")
    assert run(["jobs", "export", "db.t", path]) == 0
    capsys.readouterr()
    load = ["lake", "load", "db.copy", path, "--id", "1", *MASTER]
    assert run(load) == 2
    assert "there is no table db.copy" in capsys.readouterr().err
    for _ in range(2):
        assert run([*load, "--create", "--key", "id", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["snapshot"], said["rows"]) == (1, 100)
    assert run([*load, "-o", "header"]) == 2
    assert "--option header has no value" in capsys.readouterr().err
    assert run(["lake", "compact", "db.copy", "--conf", "oops", *MASTER]) == 2
    assert "--conf oops has no value" in capsys.readouterr().err
    assert run(["lake", "load", "db.copy", path, "--format", "orc"]) == 2
    assert "without a --master" in capsys.readouterr().err


def test_files_are_loaded_alike_with_and_without_a_master(spark, warehouse, tmp_path):
    """Text is read in the types of the table; a column may stand at another place, and several files are one load."""
    (tmp_path / "a.csv").write_text("n,code,day\n7,007,2026-11-15\n8,,2026-11-16\n")
    (tmp_path / "b.csv").write_text("n,code,day\n9,1e3,\n")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for name, more in (("db.here", ()), ("db.there", MASTER)):
        warehouse.create_table(name, {"code": "STRING", "n": "BIGINT", "day": "DATE"})
        assert run(["lake", "load", name, *files, *more]) == 0
        assert run(["lake", "load", name, *files, "--overwrite", *more]) == 0
    here, there = (warehouse.table(name).to_arrow().sort_by("n").to_pylist() for name in ("db.here", "db.there"))
    assert here == there
    assert here[0]["code"] == "007"

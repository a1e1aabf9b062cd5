"""`headwater lake`, run as a person runs it."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.program import headwater

from headwater import Warehouse
from headwater.lake import LSMTree
from headwater.lake.tools.torture import SCHEMA


def lake(*args: object) -> subprocess.CompletedProcess[str]:
    return headwater("lake", *args)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    with LSMTree(tmp_path / "t", SCHEMA) as tree:
        tree.put_many((key, f"value {key}") for key in range(300))
        tree.flush()
        tree.delete(7)
    return tmp_path / "t"


def flip(file: Path, position: int) -> None:
    data = bytearray(file.read_bytes())
    data[position] ^= 0xFF
    file.write_bytes(bytes(data))


def test_levels(tree: Path) -> None:
    shown = lake("levels", tree)
    assert shown.returncode == 0, shown.stderr
    assert "amplification: write 1.00, read 2 runs" in shown.stdout
    stats = json.loads(lake("levels", tree, "--json").stdout)
    assert [(level["level"], level["rows"], level["deletes"]) for level in stats["levels"]] == [(0, 301, 1)]


def test_sst_dump(tree: Path) -> None:
    file = min((tree / "data").glob("*.sst"))
    facts = json.loads(lake("sst-dump", file, "--json").stdout)
    assert (facts["rows"], facts["first key"], facts["last key"]) == (300, [0], [299])
    rows = [json.loads(line) for line in lake("sst-dump", file, "--rows").stdout.splitlines()]
    assert rows[7] == {"_kind": "PUT", "id": 7, "value": "value 7"}
    assert lake("sst-dump", tree / "none.sst").returncode == 2


def test_verify_and_repair(tree: Path) -> None:
    assert lake("verify", tree).returncode == 0
    file = min((tree / "data").glob("*.sst"))
    flip(file, 100)
    found = lake("verify", tree)
    assert found.returncode == 1
    assert f"{file.name}: the block at byte 32 is damaged" in found.stdout
    assert lake("fsck", tree).returncode == 1
    assert f"{file.name}: kept 0 of 300 rows" in lake("repair", tree).stdout
    assert lake("fsck", tree).returncode == 0
    assert file.with_name(f"{file.name}.damaged").exists()


def test_fsck_removes_what_belongs_to_nothing(tree: Path) -> None:
    orphan = tree / "data" / "0-00099-00000000000000aa.sst"
    orphan.write_bytes(min((tree / "data").glob("*.sst")).read_bytes())
    assert json.loads(lake("fsck", tree, "--json").stdout)["orphans"] == [orphan.name]
    assert f"{orphan.name}: removed" in lake("fsck", tree, "--repair").stdout
    assert not orphan.exists()


def test_torture(tmp_path: Path) -> None:
    run = lake("torture", tmp_path / "t", "--rounds", 1, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["problems"] == []
    again = lake("torture", tmp_path / "t")
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_no_tree_here(tmp_path: Path) -> None:
    run = lake("levels", tmp_path)
    assert run.returncode == 2
    assert "error[bad-input]" in run.stderr


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A warehouse with a table `db.t`, one data file of which is damaged."""
    warehouse = Warehouse(tmp_path / "w")
    warehouse.create_database("db")
    table = warehouse.create_table("db.t", {"k": "BIGINT", "v": "STRING"}, primary_key="k")
    for start in (0, 100):
        table.write([(key, f"row {key}") for key in range(start, start + 100)])
    file = tmp_path / "w" / table.store.paths.data_file(table.store.latest().places[((), 0)][0].name)
    flip(file, 40)
    return tmp_path / "w"


@pytest.mark.parametrize("by", ["name", "folder"])
def test_tables_are_verified_and_repaired_by_name_and_by_folder(damaged: Path, by: str) -> None:
    target = ("db.t", "--warehouse", damaged) if by == "name" else (damaged / "db" / "t",)
    assert lake("levels", *target).returncode == 0
    found = lake("verify", *target, "--json")
    assert found.returncode == 1
    assert len(json.loads(found.stdout)["problems"]) == 1
    assert lake("fsck", *target).returncode == 1
    assert "kept 0 of 100 rows" in lake("repair", *target).stdout
    assert Warehouse(damaged).table("db.t").to_arrow().num_rows == 100


def test_a_folder_that_holds_neither_a_table_nor_a_tree(tmp_path: Path) -> None:
    refused = lake("verify", tmp_path)
    assert (refused.returncode, "neither the folder of a table nor of a tree" in refused.stderr) == (2, True)


def test_torture_of_a_table(tmp_path: Path) -> None:
    run = lake("torture", "scratch.rows", "--warehouse", tmp_path / "w", "--rounds", 1, "--json")
    assert run.returncode == 0
    assert json.loads(run.stdout)["problems"] == []
    again = lake("torture", "scratch.rows", "--warehouse", tmp_path / "w")
    assert (again.returncode, "there is a table scratch.rows already" in again.stderr) == (2, True)


def test_sst_dump_takes_a_table_and_a_tree(tree: Path, tmp_path: Path) -> None:
    table = Warehouse(tmp_path / "w").create_table("default.t", {"k": "INT", "v": "STRING"}, primary_key="k")
    table.write([(1, "one")])
    table.write([(2, "two")])
    place = ("--warehouse", tmp_path / "w")
    facts = json.loads(lake("sst-dump", "default.t", "--json", *place).stdout)
    assert [each["rows"] for each in facts] == [1, 1]
    rows = [json.loads(line) for line in lake("sst-dump", "default.t", "--rows", *place).stdout.splitlines()]
    assert rows == [{"_kind": "PUT", "k": 1, "v": "one"}, {"_kind": "PUT", "k": 2, "v": "two"}]
    assert lake("sst-dump", tmp_path / "w" / "default" / "t", "--rows").stdout.count("\n") == 2
    assert "first key" in lake("sst-dump", tree).stdout


def test_sst_dump_says_what_reads_other_files(tmp_path: Path) -> None:
    table = Warehouse(tmp_path / "w").create_table(
        "default.t", {"k": "INT"}, primary_key="k", options={"file.format": "orc"}
    )
    table.write([(1,)])
    said = lake("sst-dump", "default.t", "--warehouse", tmp_path / "w")
    assert said.returncode == 2
    assert "its data files are orc, not SSTables" in said.stderr

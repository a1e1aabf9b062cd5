"""Symbolic links in a warehouse: nothing outside of it is deleted."""

import os
import shutil

import pytest

from headwater import Warehouse


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    for name in ("precious", "deep/precious"):
        (folder / name).write_text("keep")
        os.utime(folder / name, (0, 0))
    return folder


def kept(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


PRECIOUS = ["deep/precious", "precious"]


@pytest.mark.parametrize("place", ["data/link", "manifest/link", "link", "data/loop"])
def test_a_link_inside_a_table_is_not_followed(tmp_path, outside, place):
    warehouse = Warehouse(tmp_path / "w")
    table = warehouse.create_table("t", {"k": "INT"}, primary_key="k")
    table.write([(1,)])
    link = tmp_path / "w" / table.store.paths.folder / place
    link.symlink_to(link.parent if place.endswith("loop") else outside)
    assert table.remove_orphans(older_than=0, dry_run=False).files == ()
    warehouse.remove_orphans(older_than=0, dry_run=False)
    assert table.get(1) is not None
    warehouse.drop_table("t")
    assert kept(outside) == PRECIOUS


def test_folders_that_are_links_are_no_leftovers(tmp_path, outside):
    warehouse = Warehouse(tmp_path / "w")
    warehouse.create_database("db")
    (tmp_path / "w" / "db" / "table").symlink_to(outside)
    (outside / "schema").mkdir()
    shutil.move(outside / "precious", outside / "schema" / "precious")
    shutil.rmtree(outside / "deep")
    warehouse.remove_orphans(older_than=0, dry_run=False)
    assert kept(outside) == ["schema/precious"]


def test_a_table_whose_folder_was_replaced_by_a_link_is_dropped_without_its_target(tmp_path, outside):
    warehouse = Warehouse(tmp_path / "w")
    table = warehouse.create_table("t", {"k": "INT"})
    folder = tmp_path / "w" / table.store.paths.folder
    shutil.move(folder / "schema", outside / "schema")
    shutil.rmtree(folder)
    folder.symlink_to(outside)
    warehouse.drop_table("t")
    assert set(kept(outside)) >= set(PRECIOUS)
    assert warehouse.list_tables() == []


def test_a_warehouse_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "w").symlink_to(tmp_path / "real")
    warehouse = Warehouse(tmp_path / "w")
    warehouse.create_table("t", {"k": "INT"}).write([(1,)])
    warehouse.drop_table("t")
    assert [name for name in kept(tmp_path / "real") if "/t" in name] == []

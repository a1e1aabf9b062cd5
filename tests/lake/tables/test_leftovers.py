"""Whoever dies making, replacing or dropping a table leaves a folder; the clean-up of the warehouse finds it."""

import pytest
from tests.faulty_files import Death, Fault, FaultyFiles

import headwater
from headwater import Warehouse
from headwater.errors import HeadwaterError
from headwater.files import MemoryFiles

pytestmark = pytest.mark.fault

REPLACE = "CREATE OR REPLACE TABLE t AS SELECT 9 AS other"


def sql(text):
    def run(warehouse):
        with headwater.connect(warehouse) as session:
            session.sql(text)

    return run


STEPS = {
    "create": lambda warehouse: warehouse.create_table("more", {"k": "INT"}),
    "create as": sql("CREATE TABLE more AS SELECT * FROM t"),
    "replace": sql(REPLACE),
    "drop": lambda warehouse: warehouse.drop_table("t"),
}


def disk():
    files = MemoryFiles()
    table = Warehouse(files).create_table("t", {"k": "INT", "v": "STRING"}, primary_key="k")
    table.write([(1, "a"), (2, "b")])
    Warehouse(files).create_table("u", {"k": "INT"}).write([(5,)])
    return files


def rows(warehouse):
    return {name: warehouse.table(name).to_arrow().to_pylist() for name in warehouse.list_tables()}


@pytest.mark.parametrize("step", STEPS)
def test_what_is_left_is_found_and_nothing_else(step):
    before = rows(Warehouse(disk()))
    whole = disk()
    STEPS[step](Warehouse(whole))
    after = rows(Warehouse(whole))
    died, left = 0, 0
    for at in range(1, 200):
        files = disk()
        try:
            STEPS[step](Warehouse(FaultyFiles(files, at=at, fault=Fault.DIE)))
        except (Death, HeadwaterError):
            died += 1
        else:
            break
        warehouse = Warehouse(files)
        seen = rows(warehouse)
        assert seen in (before, after)
        assert warehouse.remove_orphans(older_than=3600, dry_run=False).files == ()  # may be somebody at work
        found = warehouse.remove_orphans(older_than=-10)
        assert warehouse.remove_orphans(older_than=-10, dry_run=False) == found
        left += bool(found.files)
        assert rows(warehouse) == seen
        owned = {warehouse.table(name).store.paths.folder for name in warehouse.list_tables()}
        folders = {"/".join(entry.path.split("/")[:2]) for entry in files.list("", deep=True)}
        assert {folder for folder in folders if "." not in folder} == owned
    assert died > 2
    assert left > 0


def test_files_of_others_are_left_alone():
    files = disk()
    files.put("default/notes/README.md", b"not ours")
    files.put("default/gone/schema/schema-0", b"{}")
    found = Warehouse(files).remove_orphans(older_than=-10, dry_run=False)
    assert found.files == ("default/gone/schema/schema-0",)
    assert files.get("default/notes/README.md") == b"not ours"

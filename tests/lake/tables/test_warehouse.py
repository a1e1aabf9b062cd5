"""What a crash between the two steps of a rename leaves behind, and that it harms nobody."""

import pyarrow as pa
import pytest
from tests.faulty_files import Death, Fault, FaultyFiles

from headwater.errors import NotFoundError
from headwater.files import MemoryFiles
from headwater.lake.tables import Warehouse


@pytest.mark.fault
@pytest.mark.parametrize("dropped", ["old", "new"])
def test_a_rename_that_died_halfway_loses_nothing(dropped):
    disk = MemoryFiles()
    table = Warehouse(disk).create_table("old", {"id": "BIGINT"}, primary_key="id")
    table.write(pa.table({"id": [1, 2]}))
    calls, renamed = 0, False
    while not renamed:
        calls += 1
        faulty = FaultyFiles(disk, at=calls, fault=Fault.DIE)
        try:
            Warehouse(faulty).rename_table("old", "new")
            renamed = True
        except Death:
            pass
        if set(Warehouse(disk).list_tables()) == {"old", "new"}:
            break
    warehouse = Warehouse(disk)
    assert set(warehouse.list_tables()) == {"old", "new"}, "the rename did not die between its two steps"
    warehouse.drop_table(dropped)
    kept = "new" if dropped == "old" else "old"
    assert warehouse.table(kept).to_arrow().num_rows == 2
    with pytest.raises(NotFoundError):
        warehouse.table(dropped)
    warehouse.drop_table(kept)
    assert [entry.path for entry in disk.list("", deep=True) if "/data/" in entry.path] == []

"""Names of columns that SQL could not tell apart, or that are Headwater's own, are refused where they are new."""

from dataclasses import replace

import pyarrow as pa
import pytest

import headwater
from headwater import Warehouse
from headwater.errors import SchemaError
from headwater.files import MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.schema_change import AddColumn, RenameColumn
from headwater.lake.metadata.schemas import SchemaManager
from headwater.lake.tables import Compare
from headwater.model.schema import Field, Schema
from headwater.model.types import INT, parse_type


@pytest.fixture
def warehouse():
    return Warehouse(MemoryFiles())


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"a": "INT", "A": "INT"}, "column `A` differs from `a` by its case only"),
        (pa.schema([("Größe", pa.int32()), ("GRÖSSE", pa.int32())]), "by its case only"),
        ({"a": "INT", "": "INT"}, "is not a name"),
        ({"a": "INT", "b\0": "INT"}, "is not a name"),
        ({"a": "INT", "_KIND": "INT"}, "reserved"),
        ({"s": "STRUCT<x: INT, X: INT>"}, "member of column `s`: `X` differs from `x`"),
        ({"s": "ARRAY<MAP<STRING, STRUCT<x: INT, x: INT>>>"}, "`x` is there twice"),
        ({"s": "STRUCT<>"}, "without members"),
    ],
)
def test_a_new_table_is_refused(warehouse, columns, why):
    with pytest.raises(SchemaError, match=why):
        warehouse.create_table("t", columns)
    assert warehouse.list_tables("default") == []


@pytest.mark.parametrize(
    "changes",
    [
        [AddColumn("A", INT)],
        [AddColumn("b", INT), RenameColumn("b", "A")],
        [AddColumn("_row", INT)],
        [AddColumn("", INT)],
        [RenameColumn("a", "_Snapshot")],
        [AddColumn("s", parse_type("STRUCT<x: INT, X: INT>"))],
    ],
)
def test_an_alter_is_refused(warehouse, changes):
    table = warehouse.create_table("t", {"a": "INT", "z": "INT"})
    with pytest.raises(SchemaError):
        table.alter(*changes)
    assert table.schema.names == ("a", "z")


def test_a_column_may_change_its_own_case(warehouse):
    table = warehouse.create_table("t", {"a": "INT"})
    assert table.alter(RenameColumn("a", "A")).names == ("A",)
    with headwater.connect(warehouse) as session, pytest.raises(SchemaError, match="by its case only"):
        session.sql("ALTER TABLE t ADD COLUMN a INT")


def test_a_table_from_before_the_rule_is_read_and_altered(warehouse):
    table = warehouse.create_table("t", {"a": "INT"})
    old = Schema((Field(0, "a", INT), Field(1, "A", INT)), id=1)
    SchemaManager(warehouse.files, PathFactory(table.store.paths.folder))._write(replace(old, highest_field_id=1))
    table = Warehouse(warehouse.files).table("t")
    table.write([(1, 2)])
    assert table.to_arrow().to_pydict() == {"a": [1], "A": [2]}
    assert table.alter(AddColumn("b", INT)).names == ("a", "A", "b")


@pytest.mark.parametrize("value", ["ü" * 50, "x" * 300, "日本" * 2000])
def test_partition_values_of_any_length(tmp_path, value):
    table = Warehouse(tmp_path).create_table(
        "t", {"p": "STRING", "k": "INT", "v": "INT"}, primary_key=["p", "k"], partition_by="p"
    )
    for v in (1, 2):
        table.write([(value, 1, v), (value + "!", 1, -v)])
    table.compact()
    assert table.get((value, 1)).values == (value, 1, 2)
    assert table.get((value + "!", 1))["v"] == -2
    with table.writer() as writer:
        writer.put((value, 2, 5))
    assert sorted(row["v"] for row in table.to_arrow().to_pylist()) == [-2, 2, 5]
    table.overwrite([(value, 9, 9)], [{"p": value}])
    assert table.to_arrow(where=Compare("p", "=", value)).to_pylist() == [{"p": value, "k": 9, "v": 9}]

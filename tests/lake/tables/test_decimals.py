"""Decimals of all 38 digits as keys, through every way to name a key, against a dictionary."""

from decimal import Decimal

import pytest

import headwater
from headwater import Warehouse
from headwater.lake.engine.predicates import Compare, In

BASE = 10**28
KEYS = [Decimal(BASE + i) for i in range(20)] + [Decimal(-BASE - i) for i in range(20)] + [Decimal(10**38 - 1)]


@pytest.fixture(params=[1, 4], ids=["one bucket", "four buckets"])
def table(tmp_path, request):
    warehouse = Warehouse(tmp_path)
    made = warehouse.create_table(
        "t", {"k": "DECIMAL(38,0)", "v": "STRING"}, primary_key="k", options={"bucket": request.param}
    )
    made.write([(key, str(key)) for key in KEYS])
    return made


def test_every_key_gets_its_own_row(table):
    assert [table.get(key)["v"] for key in KEYS] == [str(key) for key in KEYS]
    assert [row["v"] for row in table.multi_get(KEYS)] == [str(key) for key in KEYS]
    assert table.get(Decimal(BASE + 99)) is None


def test_a_writer_puts_and_deletes_the_key_it_was_given(table):
    with table.writer() as writer:
        writer.delete(KEYS[3])
        writer.put((KEYS[5], "changed"))
        assert writer.get(KEYS[3]) is None
        assert [writer.get(key)["v"] for key in (KEYS[4], KEYS[5])] == [str(KEYS[4]), "changed"]
    expected = {key: str(key) for key in KEYS if key != KEYS[3]} | {KEYS[5]: "changed"}
    assert {row["k"]: row["v"] for row in table.to_arrow().to_pylist()} == expected


def test_predicates_find_each_key(table):
    for key in KEYS:
        assert table.to_arrow(where=Compare("k", "=", key)).column("v").to_pylist() == [str(key)]
        above = [str(each) for each in sorted(KEYS) if each > key]
        assert table.to_arrow(where=Compare("k", ">", key)).sort_by("k").column("v").to_pylist() == above
    assert table.to_arrow(where=In("k", tuple(KEYS[1:3]))).num_rows == 2


def test_sql_finds_and_deletes_each_key(table, tmp_path):
    with headwater.connect(tmp_path) as session:
        assert session.sql(f"SELECT v FROM t WHERE k = {KEYS[7]}").fetchall() == [(str(KEYS[7]),)]
        session.sql(f"DELETE FROM t WHERE k = {KEYS[7]}")
    assert table.to_arrow().num_rows == len(KEYS) - 1
    assert table.get(KEYS[7]) is None


def test_a_key_may_be_written_with_fewer_places_than_its_partition_has(tmp_path):
    table = Warehouse(tmp_path).create_table(
        "t", {"p": "DECIMAL(10,2)", "k": "INT", "v": "INT"}, primary_key=("p", "k"), partition_by=("p",)
    )
    table.write([(Decimal("1.50"), 1, 7)])
    assert table.get((Decimal("1.5"), 1))["v"] == 7
    assert [version.row["v"] for version in table.history((Decimal("1.5"), 1))] == [7]

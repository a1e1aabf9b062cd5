"""What every version so far has written is read by this one."""

import zipfile
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headwater
from headwater.errors import CorruptFileError
from headwater.graph import GraphChange, GraphStore, LineageGraph, why
from headwater.graph.tables import HARVESTS
from headwater.lake import LSMTree
from headwater.lake.engine.types import schema_of
from headwater.lake.metadata.snapshot import decode_snapshot, encode_snapshot
from headwater.lake.tables import Warehouse

from .make import numbers, row

VERSIONS = sorted(Path(__file__).parent.glob("v*.zip"))


def unpacked(version, folder):
    with zipfile.ZipFile(version) as archive:
        archive.extractall(folder)
    return Warehouse(folder)


@pytest.fixture(params=VERSIONS, ids=lambda path: path.stem)
def lake(request, tmp_path):
    return unpacked(request.param, tmp_path / "lake")


@pytest.fixture(params=VERSIONS[1:], ids=lambda path: path.stem)
def since_2(request, tmp_path):
    """The tables that `fill_more` wrote."""
    return unpacked(request.param, tmp_path / "lake")


def plain(rows):
    """Rows by id, with what Arrow gives for maps and times as plain values."""
    found = {}
    for each in rows.to_pylist():
        each["counts"] = dict(each["counts"])
        each["moment"] = each["moment"].astimezone(row(0)["moment"].tzinfo)
        found[each["id"]] = each
    return found


@pytest.mark.parametrize("name", ["shop.sst", "shop.parquet"])
def test_rows_of_every_age(lake, name):
    table = lake.table(name)
    first = plain(table.to_arrow(at="first"))
    assert first == {id: row(id) for id in range(120)}
    now = plain(table.to_arrow())
    assert now.keys() == set(range(125)) - {7}
    assert (now[10]["title"], now[10]["currency"]) == ("again", "EUR")
    assert (now[124]["title"], now[124]["currency"]) == ("name 124", "CHF")
    assert table.get((row(50)["day"], 50))["place"] == {"city": "city 50", "zip": 50}
    assert [each.kind for each in table.history((row(7)["day"], 7))] == ["+I", "-D"]
    assert table.schema.comment == name.removeprefix("shop.")


def test_tables_without_a_key(lake):
    rows = lake.table("shop.log").to_arrow().to_pylist()
    assert sorted(each["n"] for each in rows) == [0, 1, 1, 2, 2, 3]


def test_a_log_that_nobody_finished(lake):
    table = lake.table("shop.kept")
    assert table.to_arrow().to_pylist() == [{"k": 1, "v": "in a snapshot"}]
    with table.writer():
        pass
    assert table.get(2)["v"] == "in the log only"


def test_origins_views_and_lineage(lake):
    assert [str(made.version) for made in why(lake, "shop.gold")][:1] == ["shop.gold@1"]
    assert why(lake, "shop.gold")[0].inputs
    session = headwater.connect(lake.url)
    assert session.sql("SELECT count(*) AS n FROM shop.seen").to_arrow().to_pylist() == [{"n": 3}]
    answer = LineageGraph(GraphStore(lake).state()).trace("d.b")
    assert {str(node) for node in answer.nodes} == {"t.a", "t.c"}


def test_states_of_the_graph_are_numbered_on(lake):
    """Version 1 kept no number in its records."""
    store = GraphStore(lake)
    before = [record["number"] for record in store.harvests()]
    assert before == list(range(1, len(before) + 1))
    store.apply(GraphChange(record={"kind": "ingest"}))
    store.apply(GraphChange(record={"kind": "ingest"}))
    assert [record["number"] for record in store.harvests()] == [*before, len(before) + 1, len(before) + 2]
    stored = store.table(HARVESTS).to_arrow(["number"]).column(0).to_pylist()
    assert sorted(stored, key=lambda number: number or 0)[-2:] == [len(before) + 1, len(before) + 2]


@pytest.mark.parametrize("file_format", ["sst", "parquet", "orc", "json"])
def test_numbers_of_every_width(since_2, file_format):
    table = since_2.table(f"shop.numbers_{file_format}")
    rows = numbers(600).sort_by("id")
    expected = rows.filter(pc.not_equal(rows["id"], 3))
    assert table.to_arrow().equals(expected.cast(table.arrow_schema))
    assert {entry.file.format for entry in table.store.latest().entries} == {file_format}
    assert table.get(3) is None
    assert table.get(6)["text"] == expected.filter(pc.equal(expected["id"], 6))["text"][0].as_py()


def test_sums_go_on(since_2):
    table = since_2.table("shop.sums")
    assert table.get("a")["n"] == 321
    table.write([("a", 4000)])
    table.compact()
    assert table.get("a")["n"] == 4321


def test_a_tree_alone(since_2, tmp_path):
    files = tmp_path / "lake" / "tree"
    with LSMTree(files, schema_of(pa.schema([("id", pa.int64()), ("s", pa.string())]), ("id",))) as tree:
        assert (tree.get(7), tree.get(8)["s"], tree.to_arrow().num_rows) == (None, "row 8", 49)


def test_it_goes_on_from_there(lake):
    table = lake.table("shop.sst")
    before = table.to_arrow().num_rows
    table.write([{"day": row(1)["day"], "id": 999}])
    table.compact()
    table.expire_snapshots(keep_min=1, older_than=0)
    assert table.to_arrow().num_rows == before + 1
    assert table.to_arrow(at="first").num_rows == 120


def test_a_format_of_the_future_is_refused(lake, tmp_path):
    folder = tmp_path / "lake" / "shop" / "log" / "snapshot"
    latest = max(folder.glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    snapshot = msgspec.structs.replace(decode_snapshot(latest.read_bytes(), latest.name), version=99)
    latest.write_bytes(encode_snapshot(snapshot))
    with pytest.raises(CorruptFileError, match="99"):
        lake.table("shop.log").to_arrow()

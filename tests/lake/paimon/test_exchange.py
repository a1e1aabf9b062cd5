"""Tables published as Paimon are read by Paimon's own libraries, and theirs are imported."""

import datetime
import decimal

import pyarrow as pa
import pytest

from headwater.errors import (
    CommitConflictError,
    CorruptFileError,
    InputError,
    NotFoundError,
    SchemaError,
    UsageError,
)
from headwater.lake.metadata.schema_change import AddColumn, RenameColumn, WidenColumn
from headwater.lake.paimon import import_paimon, publish
from headwater.lake.tables import Warehouse
from headwater.model.types import BOOLEAN, STRING, TIMESTAMP, parse_type

TYPES = pa.schema(
    [
        pa.field("day", pa.date32(), nullable=False),
        pa.field("id", pa.int64(), nullable=False),
        pa.field("code", pa.string(), nullable=False),
        ("flag", pa.bool_()),
        ("tiny", pa.int8()),
        ("small", pa.int16()),
        ("whole", pa.int32()),
        ("real", pa.float32()),
        ("double", pa.float64()),
        ("price", pa.decimal128(12, 2)),
        ("huge", pa.decimal128(38, 4)),
        ("raw", pa.binary()),
        ("at", pa.timestamp("us")),
        ("tags", pa.list_(pa.string())),
        ("place", pa.struct([("city", pa.string()), ("zip", pa.int32())])),
    ]
)
DAY = datetime.date(2026, 11, 15)


def row(id: int, code: str = "x", **changed):
    return {
        "day": DAY + datetime.timedelta(days=id % 3),
        "id": id,
        "code": code,
        "flag": id % 2 == 0,
        "tiny": id % 100,
        "small": id,
        "whole": -id,
        "real": id / 2,
        "double": id / 3,
        "price": decimal.Decimal(id) / 4,
        "huge": decimal.Decimal(10**30 + id),
        "raw": bytes([id % 256]) * (id % 12),
        "at": datetime.datetime(2026, 1, 1, 12, 0, 0, id),
        "tags": ["a", None] if id % 3 else None,
        "place": {"city": "Ulm" * (id % 5), "zip": id},
        **changed,
    }


def rows(*ids, **changed) -> pa.Table:
    return pa.Table.from_pylist([row(id, **changed) for id in ids], TYPES)


def ordered(found):
    return sorted(found, key=lambda each: (each["id"], each.get("code") or ""))


@pytest.fixture
def warehouse(tmp_path):
    lake = Warehouse(tmp_path / "lake")
    lake.create_database("shop")
    return lake


@pytest.fixture
def keyed(warehouse):
    table = warehouse.create_table(
        "shop.orders", TYPES, primary_key=["day", "id", "code"], partition_by=["day"], options={"bucket": "3"}
    )
    table.write(rows(*range(200)))
    return table


@pytest.fixture
def seen_by_both(pypaimon, rust_read):
    """The rows of a table on which both libraries agree."""

    def read(location, name="shop.orders"):
        python = ordered(pypaimon.read(location, name))
        assert ordered(rust_read(location, name)) == python
        return python

    return read


def test_every_type_is_read_by_both(seen_by_both, keyed, tmp_path):
    done = publish(keyed, str(tmp_path / "paimon"))
    assert (done.snapshot_id, done.rows, done.whole) == (1, 200, True)
    assert seen_by_both(tmp_path / "paimon") == ordered(keyed.to_arrow().to_pylist())


def test_changes_and_deletes_follow(seen_by_both, keyed, tmp_path):
    location = str(tmp_path / "paimon")
    publish(keyed, location)
    keyed.write(rows(3, 7, 500, whole=42))
    keyed.delete([(row(id)["day"], id, "x") for id in (4, 5)])
    done = publish(keyed, location)
    assert (done.rows, done.whole) == (5, False)
    found = seen_by_both(location)
    assert found == ordered(keyed.to_arrow().to_pylist())
    assert len(found) == 199
    keyed.compact()
    assert publish(keyed, location).rows == 0
    again = publish(keyed, location, whole=True)
    assert (again.whole, again.rows) == (True, 199)
    assert seen_by_both(location) == found
    assert publish(keyed, location).snapshot_id == again.snapshot_id


def test_time_travel_works_over_there(pypaimon, keyed, tmp_path):
    location = str(tmp_path / "paimon")
    publish(keyed, location)
    before = ordered(keyed.to_arrow().to_pylist())
    keyed.overwrite(rows(1))
    publish(keyed, location)
    assert ordered(pypaimon.read(location, "shop.orders", **{"scan.snapshot-id": "1"})) == before
    assert len(pypaimon.read(location, "shop.orders")) == 1


def test_schemas_evolve_by_id(seen_by_both, keyed, tmp_path):
    location = str(tmp_path / "paimon")
    publish(keyed, location)
    keyed.alter(RenameColumn("whole", "number"), AddColumn("note", STRING))
    keyed.write(pa.Table.from_pylist([row(1) | {"number": 7, "note": "new"}], keyed.arrow_schema))
    publish(keyed, location)
    assert seen_by_both(location) == ordered(keyed.to_arrow().to_pylist())


@pytest.mark.parametrize("key", ["id", None])
def test_rows_from_before_a_column_have_its_default(seen_by_both, warehouse, tmp_path, key):
    location = str(tmp_path / "paimon")
    table = warehouse.create_table("shop.orders", {"id": "BIGINT", "n": "INT", "d": "DATE"}, primary_key=key)
    table.write([(1, 1, DAY), (2, 2, None)])
    publish(table, location)
    table.alter(
        AddColumn("word", STRING, default="none"),
        AddColumn("flag", BOOLEAN, nullable=False, default=True),
        AddColumn("price", parse_type("DECIMAL(10,2)"), default=decimal.Decimal("1.50")),
        AddColumn("tags", parse_type("ARRAY<STRING>"), default=["a", "b"]),
        AddColumn("empty", STRING),
    )
    table.write([(3, 3, DAY, "some", False, None, None, "x")])
    publish(table, location)
    assert seen_by_both(location) == ordered(table.to_arrow().to_pylist())
    assert {each["word"] for each in seen_by_both(location)} == {"none", "some"}
    table.write([(4, 4, DAY, None, False, None, None, None)])
    assert publish(table, location).rows == 1  # after that, what changed is enough
    table.alter(WidenColumn("n", parse_type("DECIMAL(20,2)")), WidenColumn("d", TIMESTAMP))
    table.write([(5, 5, None, None, False, None, None, None)])
    publish(table, location)
    assert seen_by_both(location) == ordered(table.to_arrow().to_pylist())


def test_append_tables(seen_by_both, warehouse, tmp_path):
    location = str(tmp_path / "paimon")
    table = warehouse.create_table("shop.log", TYPES, partition_by=["day"])
    table.write(rows(1, 2, 2))
    publish(table, location)
    table.write(rows(9))
    assert publish(table, location).rows == 1
    assert seen_by_both(location, "shop.log") == ordered(table.to_arrow().to_pylist())
    table.overwrite(rows(5))
    assert publish(table, location).whole
    assert [each["id"] for each in seen_by_both(location, "shop.log")] == [5]


def test_paimon_puts_rows_where_we_put_them(seen_by_both, pypaimon, warehouse, tmp_path):
    """Upserts by Paimon's writer must meet our rows in the same bucket, or a key would be there twice."""
    location = str(tmp_path / "paimon")
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("code", pa.string(), nullable=False),
            pa.field("day", pa.date32(), nullable=False),
            pa.field("price", pa.decimal128(10, 2), nullable=False),
            pa.field("flag", pa.bool_(), nullable=False),
            ("n", pa.int32()),
        ]
    )
    data = pa.Table.from_pylist(
        [
            {
                "id": i * 7919,
                "code": "ä" * (i % 14),
                "day": DAY,
                "price": decimal.Decimal(i),
                "flag": i % 2 == 0,
                "n": i,
            }
            for i in range(300)
        ],
        schema,
    )
    keys = ["id", "code", "day", "price", "flag"]
    table = warehouse.create_table("shop.k", schema, primary_key=keys, options={"bucket": "7"})
    table.write(data)
    publish(table, location)
    pypaimon.write(location, "shop.k", data.set_column(5, schema.field("n"), pa.array([-1] * 300, pa.int32())))
    found = seen_by_both(location, "shop.k")
    assert [each["n"] for each in found] == [-1] * 300
    with pytest.raises(CommitConflictError, match="another writer"):
        publish(table, location)


def test_their_tables_are_imported(pypaimon, warehouse, tmp_path):
    theirs = tmp_path / "theirs"
    pypaimon.create(theirs, "db.t", rows(*range(60)), ["day", "id"], ["day"], bucket="2")
    pypaimon.write(theirs, "db.t", rows(3, 4, whole=99))
    pypaimon.add_column(theirs, "db.t", "note", "STRING")
    pypaimon.rename_column(theirs, "db.t", "small", "little")
    folder = str(theirs / "db.db" / "t")
    snapshot = import_paimon(warehouse, folder, "shop.t")
    table = warehouse.table("shop.t")
    assert ordered(table.to_arrow().to_pylist()) == ordered(pypaimon.read(theirs, "db.t"))
    assert table.schema.primary_keys == ("day", "id")
    assert table.schema.partition_keys == ("day",)
    [source] = snapshot.origin.inputs
    assert (source.dataset.endswith("db.db/t"), source.snapshot_id) == (True, 2)
    with pytest.raises(UsageError, match="already"):
        import_paimon(warehouse, folder, "shop.t")
    import_paimon(warehouse, folder, "shop.old", snapshot=1)
    assert warehouse.table("shop.old").get((row(3)["day"], 3))["whole"] == -3


def test_ours_comes_back(keyed, warehouse, tmp_path):
    location = str(tmp_path / "paimon")
    publish(keyed, location)
    keyed.delete([(row(9)["day"], 9, "x")])
    publish(keyed, location)
    import_paimon(warehouse, f"{location}/shop.db/orders", "shop.copy")
    assert ordered(warehouse.table("shop.copy").to_arrow().to_pylist()) == ordered(keyed.to_arrow().to_pylist())


def test_append_tables_are_imported(pypaimon, warehouse, tmp_path):
    theirs = tmp_path / "theirs"
    pypaimon.create(theirs, "db.log", rows(1, 1, 2))
    import_paimon(warehouse, str(theirs / "db.db" / "log"), "shop.log")
    assert [each["id"] for each in ordered(warehouse.table("shop.log").to_arrow().to_pylist())] == [1, 1, 2]


def test_engines_that_compute_rows_need_compacting_first(pypaimon, warehouse, tmp_path):
    theirs = tmp_path / "theirs"
    options = {"merge-engine": "partial-update"}
    pypaimon.create(theirs, "db.p", rows(1), ["day", "id"], [], bucket="1", **options)
    import_paimon(warehouse, str(theirs / "db.db" / "p"), "shop.p")
    pypaimon.write(theirs, "db.p", rows(1, whole=3))
    with pytest.raises(InputError, match="partial-update"):
        import_paimon(warehouse, str(theirs / "db.db" / "p"), "shop.p", overwrite=True)
    assert len(warehouse.table("shop.p").to_arrow()) == 1


def test_publishing_to_object_storage(warehouse, bucket, s3_options):
    from headwater.files import open_files

    table = warehouse.create_table("shop.s3", {"id": "BIGINT NOT NULL", "v": "STRING"}, primary_key="id")
    table.write(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    files = open_files(f"s3://{bucket}/paimon", s3_options)
    publish(table, files)
    import_paimon(warehouse, open_files(f"s3://{bucket}/paimon/shop.db/s3", s3_options), "shop.back")
    assert warehouse.table("shop.back").to_arrow().to_pylist() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]


def test_many_publications_put_manifests_together(rust_read, warehouse, tmp_path):
    location = tmp_path / "paimon"
    table = warehouse.create_table("shop.many", {"id": "BIGINT NOT NULL"}, primary_key="id")
    for id in range(40):
        table.write(pa.table({"id": [id]}))
        publish(table, str(location))
    assert len(rust_read(location, "shop.many")) == 40


class TestRefusals:
    def test_nothing_to_publish(self, warehouse, tmp_path):
        table = warehouse.create_table("shop.empty", {"id": "BIGINT"})
        with pytest.raises(UsageError, match="no snapshot"):
            publish(table, str(tmp_path / "p"))

    def test_another_table_has_the_name(self, keyed, warehouse, tmp_path):
        publish(keyed, str(tmp_path / "p"))
        other = warehouse.create_table("shop.other", {"id": "BIGINT"})
        other.write(pa.table({"id": [1]}))
        with pytest.raises(CommitConflictError, match="another table"):
            publish(other, str(tmp_path / "p"), name="shop.orders")

    def test_buckets_stay(self, keyed, tmp_path):
        publish(keyed, str(tmp_path / "p"), buckets=2)
        keyed.write(rows(900))
        with pytest.raises(UsageError, match="2 buckets"):
            publish(keyed, str(tmp_path / "p"), buckets=5)

    def test_the_key_is_more_than_the_partition(self, warehouse, tmp_path):
        table = warehouse.create_table(
            "shop.d", {"day": "DATE NOT NULL", "n": "INT"}, primary_key="day", partition_by="day"
        )
        table.write(pa.table({"day": [DAY], "n": pa.array([1], pa.int32())}))
        with pytest.raises(SchemaError, match="its primary key is its partition"):
            publish(table, str(tmp_path / "p"))

    def test_no_paimon_table(self, warehouse, tmp_path):
        with pytest.raises(NotFoundError, match="no Paimon table"):
            import_paimon(warehouse, str(tmp_path), "shop.x")

    def test_damage_is_named(self, keyed, warehouse, tmp_path):
        publish(keyed, str(tmp_path / "p"))
        folder = tmp_path / "p" / "shop.db" / "orders"
        [manifest] = [each for each in (folder / "manifest").iterdir() if "list" not in each.name]
        manifest.write_bytes(manifest.read_bytes()[:200])
        with pytest.raises(CorruptFileError, match="not a Paimon manifest"):
            import_paimon(warehouse, str(folder), "shop.x")
        (folder / "snapshot" / "snapshot-1").write_text("{}")
        with pytest.raises(CorruptFileError, match="snapshot-1"):
            import_paimon(warehouse, str(folder), "shop.x")

"""Tables as people use them."""

from datetime import date, timedelta
from importlib.util import find_spec

import pyarrow as pa
import pytest

from headwater import Warehouse
from headwater.errors import (
    AlreadyExistsError,
    MissingDependencyError,
    NotFoundError,
    NotWritableError,
    SchemaChangeError,
    SchemaError,
    StorageError,
    UsageError,
)
from headwater.files import MemoryFiles
from headwater.lake.metadata.schema_change import AddColumn, DropColumn, RenameColumn, WidenColumn
from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin
from headwater.lake.tables import Compare, In, IsNull, StartsWith
from headwater.model.types import BIGINT, INT, STRING

DAY = date(2026, 11, 1)


@pytest.fixture
def warehouse():
    warehouse = Warehouse(MemoryFiles())
    warehouse.create_database("db")
    return warehouse


@pytest.fixture
def people(warehouse):
    return warehouse.create_table(
        "db.people", {"id": "BIGINT", "name": "STRING NOT NULL", "age": "INT"}, primary_key="id"
    )


@pytest.fixture
def sales(warehouse):
    """Sixty rows in three days and two buckets."""
    table = warehouse.create_table(
        "db.sales",
        pa.schema([("day", pa.date32()), ("id", pa.int64()), ("shop", pa.string()), ("amount", pa.float64())]),
        primary_key=["day", "id"],
        partition_by="day",
        options={"bucket": "2"},
    )
    table.write([(DAY + timedelta(i % 3), i, f"shop-{i % 4}", i / 2) for i in range(60)])
    return table


@pytest.fixture
def events(warehouse):
    table = warehouse.create_table("db.events", {"at": "BIGINT", "what": "STRING"})
    for start in (0, 10, 20):
        table.write({"at": list(range(start, start + 10)), "what": ["x"] * 10})
    return table


def rows(table, **how):
    return {row[0]: row for row in (tuple(row.values()) for row in table.to_arrow(**how).to_pylist())}


# ------------------------------------------------------------------------------------------------------ warehouse


def test_what_exists_is_made_again_without_writing(warehouse, people, monkeypatch):
    def full(*_):
        raise NotWritableError("no space left")

    monkeypatch.setattr(type(warehouse.files), "put_if_absent", full)
    warehouse.create_database("db", if_not_exists=True)
    warehouse.create_table("db.people", {"x": "INT"}, if_not_exists=True)
    with pytest.raises(NotWritableError):
        warehouse.create_database("other", if_not_exists=True)


def test_a_table_that_somebody_else_makes_meanwhile_is_that_table(warehouse, people, monkeypatch):
    looks = iter([False, True])
    monkeypatch.setattr(Warehouse, "has_table", lambda self, name: next(looks))
    assert warehouse.create_table("db.people", {"x": "INT"}, if_not_exists=True).schema.names[0] == "id"


def test_databases_and_tables_come_and_go(warehouse, people):
    assert warehouse.list_databases() == ["db"]
    assert warehouse.list_tables("db") == ["people"]
    with pytest.raises(AlreadyExistsError, match="database `db`"):
        warehouse.create_database("db")
    warehouse.create_database("db", if_not_exists=True)
    with pytest.raises(AlreadyExistsError, match=r"table db\.people already"):
        warehouse.create_table("db.people", {"x": "INT"})
    assert warehouse.create_table("db.people", {"x": "INT"}, if_not_exists=True).schema.names[0] == "id"
    with pytest.raises(StorageError, match="has 1 tables"):
        warehouse.drop_database("db")
    people.write([(1, "Ada", 36)])
    renamed = warehouse.rename_table("db.people", "db.persons")
    assert renamed.get(1)["name"] == "Ada"
    assert warehouse.list_tables("db") == ["persons"]
    again = warehouse.create_table("db.people", {"x": "INT"})
    again.write({"x": [1]})
    assert (again.to_arrow().num_rows, renamed.to_arrow().num_rows) == (1, 1)
    warehouse.drop_table("db.people")
    assert renamed.get(1)["name"] == "Ada"
    warehouse.drop_database("db", cascade=True)
    assert warehouse.files.list(deep=True) == []
    warehouse.drop_table("db.people", if_exists=True)


def test_names_that_are_not_there_are_met_with_near_ones(warehouse, people):
    for name, hint in (("db.poeple", "did you mean `db.people`?"), ("dbx.people", "did you mean `db`?")):
        with pytest.raises(NotFoundError) as caught:
            warehouse.table(name)
        assert caught.value.hint == hint
    for name in ("db.a/b", "db.", "a.b.c", "db.x$y"):
        with pytest.raises(UsageError):
            warehouse.table(name)


@pytest.mark.parametrize(
    ("schema", "more", "problem"),
    [
        ({"_kind": "INT"}, {}, "reserved"),
        ({"a": "INT", "b": "DOUBLE"}, {"partition_by": "b"}, "cannot be partitioned by `b`"),
        ({"a": "INT", "b": "INT"}, {"primary_key": "a", "partition_by": "b"}, "not part of the primary key"),
        ({"a": "ARRAY<INT>"}, {"primary_key": "a"}, "no order"),
        ({"a": "INT"}, {"primary_key": "b"}, "no column `b`"),
        ({"a": "INT"}, {"options": {"bucket": "0"}}, "option `bucket` cannot be `0`"),
        ({"a": "INTT"}, {}, "no such type"),
    ],
)
def test_tables_that_cannot_be(warehouse, schema, more, problem):
    with pytest.raises(SchemaError, match=problem) as caught:
        warehouse.create_table("db.t", schema, **more)
    assert str(caught.value).startswith("table db.t: ")
    assert warehouse.list_tables("db") == []


def test_metadata_follows_the_table(people):
    born = people.metadata
    assert (born.current_schema_id, born.snapshot_id) == (0, -1)
    people.write([(1, "Ada", 36)])
    people.alter(AddColumn("x", INT))
    now = people.metadata
    assert (now.current_schema_id, now.snapshot_id, now.table_uuid) == (1, 1, born.table_uuid)
    assert now.created_millis == born.created_millis <= now.modified_millis


# --------------------------------------------------------------------------------------------------------- writes


def test_the_last_write_of_a_key_wins(people):
    people.write([(1, "Ada", 36), (2, "Bob", 5), (1, "Ada", 37)])
    people.write({"id": [2], "name": ["Bob"], "age": [6]})
    assert rows(people) == {1: (1, "Ada", 37), 2: (2, "Bob", 6)}
    people.delete([1])
    assert people.get(1) is None
    snapshot = people.write([(3, "Eve", None)], deletes=[2], operation=Operation.MERGE)
    assert rows(people) == {3: (3, "Eve", None)}
    assert snapshot.operation is Operation.MERGE


def test_a_snapshot_knows_its_origin(people):
    origin = Origin(run_id="r1", inputs=(InputVersion(dataset="db.raw", snapshot_id=7, columns=("a",)),))
    people.write([(1, "Ada", 36)], origin=origin)
    assert people.snapshot().origin == origin


def test_a_replayed_commit_lands_once(people):
    first = people.write([(1, "Ada", 36)], commit_user="stream", commit_id="batch-7")
    people.write([(1, "Ada", 37)])
    again = people.write([(1, "Ada", 36)], commit_user="stream", commit_id="batch-7")
    assert again == first
    assert people.get(1)["age"] == 37
    assert people.remove_orphans(older_than=-10).files == ()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"id": [1], "nmae": ["x"]}, "there is no column `nmae`"),
        ({"id": [1], "name": [None]}, "column `name` may not be null"),
        ({"id": [1]}, "column `name` is missing"),
        ({"id": [None], "name": ["x"]}, "column `id` may not be null"),
        ({"id": ["one"], "name": ["x"]}, "column `id` cannot be stored as BIGINT"),
        ([(1, "x")], "a row has 3 columns, 2 were given"),
        ([(1, "x", 1 << 40)], "column `age` is INT"),
        ([{"id": 1, "name": "x", "agee": 2}], "there is no column `agee`"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(people, data, problem):
    before = people.store.files.list(deep=True)
    with pytest.raises(SchemaError, match=problem) as caught:
        people.write(data)
    assert str(caught.value).startswith("table db.people: ")
    assert people.store.files.list(deep=True) == before


def test_a_failed_part_of_a_stream_leaves_no_file(events):
    def batches():
        yield pa.RecordBatch.from_pydict({"at": [1] * 3_000_000, "what": ["y" * 100] * 3_000_000})
        raise ValueError("the source broke")

    before = events.store.files.list(deep=True)
    with pytest.raises(ValueError, match="the source broke"):
        events.write(batches())
    assert events.store.files.list(deep=True) == before


def test_what_can_be_written(events):
    schema = events.arrow_schema
    table = pa.table({"at": [100], "what": ["t"]}, schema=schema)
    for data in (table, table.to_batches()[0], table.to_reader(), iter(table.to_batches())):
        events.write(data)
    assert events.to_arrow(where=Compare("at", "=", 100)).num_rows == 4
    events.write(events)  # a table is an Arrow stream itself
    assert events.to_arrow().num_rows == 68
    events.write([])
    with pytest.raises(UsageError, match="cannot write int"):
        events.write(5)


def test_what_can_be_had(sales):
    assert pa.table(sales).num_rows == 60
    assert sales.reader(["id"]).read_all().column_names == ["id"]
    relation = sales.to_duckdb(where=Compare("id", "<", 5))
    assert relation.aggregate("sum(amount)").fetchall() == [(5.0,)]
    for name, convert in (("pandas", sales.to_pandas), ("polars", sales.to_polars)):
        if find_spec(name) is not None:
            assert len(convert(["id"], at=1)) == 60
            continue
        with pytest.raises(MissingDependencyError, match=f"{name} is not installed"):
            convert()


def test_rows_without_a_key_are_appended_changed_and_removed(events):
    events.delete(where=[Compare("at", ">=", 5), Compare("at", "<", 25)])
    assert events.to_arrow()["at"].to_pylist() == [0, 1, 2, 3, 4, 25, 26, 27, 28, 29]
    events.rewrite(Compare("at", "=", 3), lambda some: some.set_column(1, "what", pa.array(["y"] * len(some))))
    assert events.to_arrow(where=Compare("what", "=", "y"))["at"].to_pylist() == [3]
    before = events.to_arrow().sort_by("at")
    assert events.compact()[0].files_after == 1
    assert events.to_arrow().sort_by("at") == before
    for wish in (lambda: events.get(1), lambda: events.delete([1]), lambda: events.history(1), events.writer):
        with pytest.raises(UsageError, match="no primary key"):
            wish()


def test_overwrite_of_table_and_partitions(sales):
    rows_of = lambda day: sales.to_arrow(where=Compare("day", "=", day)).num_rows  # noqa: E731
    sales.overwrite([(DAY, 1, "new", 1.0)], "dynamic")
    assert [rows_of(DAY + timedelta(i)) for i in range(3)] == [1, 20, 20]
    sales.overwrite([], [{"day": DAY + timedelta(1)}])
    assert [rows_of(DAY + timedelta(i)) for i in range(3)] == [1, 0, 20]
    with pytest.raises(SchemaError, match="day=2026-11-01 are not in the partitions"):
        sales.overwrite([(DAY, 1, "x", 1.0)], [{"day": DAY + timedelta(1)}])
    sales.overwrite([(DAY, 5, "x", 1.0)])
    assert sales.to_arrow()["id"].to_pylist() == [5]


def test_buckets_decided_by_the_first_write(warehouse):
    table = warehouse.create_table("db.t", {"k": "INT", "v": "INT"}, primary_key="k", options={"bucket": "-1"})
    assert table.get(1) is None
    table.write(pa.table({"k": range(2_000_001), "v": range(2_000_001)}))
    assert table.schema.options["bucket.count"] == "2"
    assert {bucket for _, bucket in table.store.latest().places} == {0, 1}
    assert table.get(77)["v"] == 77
    table.write([(77, 0)])
    assert table.get(77)["v"] == 0


# ---------------------------------------------------------------------------------------------------------- reads


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        (Compare("id", "=", 7), lambda r: r["id"] == 7),
        (Compare("id", "!=", 7), lambda r: r["id"] != 7),
        (Compare("day", ">", "2026-11-02"), lambda r: r["day"] > date(2026, 11, 2)),
        ([Compare("day", "=", DAY), Compare("id", "<", 9)], lambda r: r["day"] == DAY and r["id"] < 9),
        ([Compare("day", "=", DAY), Compare("id", ">=", 9.5)], lambda r: r["day"] == DAY and r["id"] >= 9.5),
        (In("id", (3, 4, 99)), lambda r: r["id"] in (3, 4)),
        ([In("day", (DAY,)), In("id", (3, 6))], lambda r: r["day"] == DAY and r["id"] in (3, 6)),
        (StartsWith("shop", "shop-1"), lambda r: r["shop"] == "shop-1"),
        (IsNull("shop"), lambda r: False),
        (IsNull("shop", negated=True), lambda r: True),
        (Compare("amount", "<", 3), lambda r: r["amount"] < 3),
        (Compare("id", "<", 1 << 70), lambda r: True),
        (Compare("amount", "=", None), lambda r: False),
    ],
)
def test_filters_are_exact(sales, where, holds):
    wanted = sorted(row["id"] for row in sales.to_arrow().to_pylist() if holds(row))
    assert sorted(sales.to_arrow(["id"], where=where)["id"].to_pylist()) == wanted


def test_scans_read_only_what_they_need(sales):
    assert sales.plan_scan().files == 6
    plan = sales.plan_scan(["shop"], where=[Compare("day", "=", DAY), Compare("id", "=", 3)])
    assert (plan.files, plan.pruned_by_partition, plan.pruned_by_bucket) == (1, 4, 1)
    assert sales.plan_scan(where=Compare("amount", ">", 1e6)).pruned_by_stats == 6
    assert sales.plan_scan(where=[Compare("day", "=", DAY), Compare("id", ">", 1000)]).pruned_by_key == 2
    assert [batch.num_rows for split in plan.splits for batch in sales.read_split(split)] == [1]
    assert sum(batch.num_rows for batch in sales.scan(limit=7)) == 7
    with pytest.raises(SchemaError, match=r"table db\.sales: there is no column `shpo`"):
        sales.to_arrow(["shpo"])
    with pytest.raises(SchemaError, match="cannot be compared with"):
        sales.to_arrow(where=Compare("id", "=", "seven"))


def test_statistics_never_bring_back_an_older_row(people):
    """The newest row of a key does not match, an older one would: the file of the newest must be read."""
    people.write([(1, "old", 10)])
    people.write([(1, "new", 90)])
    assert people.to_arrow(where=Compare("age", "<", 50)).num_rows == 0
    people.delete([1])
    assert people.to_arrow(where=Compare("age", ">", 50)).num_rows == 0


def test_rows_put_one_by_one(people):
    people.write([(1, "Ada", 36)])
    with people.writer() as writer:
        writer.put((2, "Bob", 5))
        writer.put_many([{"id": 3, "name": "Eve"}, (1, "Ada", 37)])
        writer.delete(2)
        assert (writer.get(1)["age"], writer.get(2), writer.get(3)["name"]) == (37, None, "Eve")
        assert people.get(1)["age"] == 36
        writer.flush()
        assert people.get(1)["age"] == 37
        assert writer.flush() is None
        with pytest.raises(SchemaError, match=r"table db\.people: column `name`"):
            writer.put((9, None, 1))
    assert rows(people) == {1: (1, "Ada", 37), 3: (3, "Eve", None)}


# ----------------------------------------------------------------------------------------------------- evolution


def test_old_rows_under_new_schemas(people):
    people.write([(1, "Ada", 36)])
    people.alter(
        RenameColumn("name", "full_name"),
        WidenColumn("age", BIGINT),
        AddColumn("since", date_type(), default=DAY),
        AddColumn("note", STRING, after="id"),
    )
    people.write([(2, "x", "Bob", 1 << 40, None)])
    assert rows(people) == {1: (1, None, "Ada", 36, DAY), 2: (2, "x", "Bob", 1 << 40, None)}
    assert people.get(1)["since"] == DAY
    assert rows(people, at=1) == {1: (1, "Ada", 36)}
    people.alter(DropColumn("age"))
    people.compact()
    assert rows(people)[1] == (1, None, "Ada", DAY)
    assert people.to_arrow(where=Compare("full_name", "=", "Ada")).num_rows == 1


def date_type():
    from headwater.model.types import DATE

    return DATE


def test_a_lossy_change_is_counted_and_refused(people):
    people.write([(1, "1", 200), (2, "two", 3), (3, "three", None)])
    report = people.try_cast("name", INT)
    assert (report.rows, report.broken, report.examples) == (3, 2, ("two", "three"))
    with pytest.raises(SchemaChangeError, match=r"`name` cannot become INT: .* 2 of 3 rows would break"):
        people.alter(WidenColumn("name", INT))
    assert people.schema.id == 0

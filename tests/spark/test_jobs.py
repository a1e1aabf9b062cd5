"""Upkeep and exchange on Spark: every bucket in a task, and nothing lost."""

import pyarrow as pa
import pytest

from headwater.errors import CommitConflictError, UsageError
from headwater.jobs import exchange, rescale, upkeep
from headwater.jobs.exchange import Outside, export_rows, import_rows
from headwater.spark.source.options import Options

pytestmark = pytest.mark.spark


@pytest.fixture
def place(tmp_path):
    place = Options({"warehouse": str(tmp_path / "wh"), "table": "db.t"}).place()
    warehouse = place.open_warehouse()
    warehouse.create_database("db")
    options = {"bucket": "3", "write-only": "true"}
    warehouse.create_table("db.t", {"id": "BIGINT NOT NULL", "s": "STRING"}, primary_key="id", options=options)
    for step in range(4):
        place.open().write(pa.table({"id": pa.array(range(step, 200), pa.int64()), "s": [f"v{step}"] * (200 - step)}))
    return place


def contents(place):
    return place.open().to_arrow().sort_by("id")


def test_every_bucket_is_compacted_in_its_own_commit(spark, place):
    before, seen = contents(place), []
    done = upkeep.compact(spark.sparkContext, [place], progress=lambda *each: seen.append(each))
    assert [(each.bucket, each.files_before, each.files_after) for each in done] == [(0, 4, 1), (1, 4, 1), (2, 4, 1)]
    assert contents(place).equals(before)
    assert seen[-1] == (3, 3)
    assert upkeep.compact(spark.sparkContext, [place]) == []  # what is done is not done again


def test_snapshots_and_orphans_go_in_tasks(spark, place):
    before, table = contents(place), place.open()
    upkeep.compact(spark.sparkContext, [place])
    delete = upkeep.delete_in_tasks(spark.sparkContext, place)
    gone = table.expire_snapshots(keep_min=1, keep_max=1, older_than=0, delete=delete)
    assert (len(gone.snapshots), contents(place).equals(before)) == (6, True)
    store = table.store
    store.files.put(store.paths.data_file("bucket-0/0-00000-dead.sst"), b"x")
    removed = table.remove_orphans(older_than=0, dry_run=False, delete=delete)
    assert [path.rsplit("/", 1)[1] for path in removed.files] == ["0-00000-dead.sst"]
    assert table.remove_orphans(older_than=0).files == ()
    assert contents(place).equals(before)


def test_a_table_gets_another_number_of_buckets(spark, place):
    before = contents(place)
    rescale.rescale(spark, place, 5)
    table = place.open()
    assert table.schema.options["bucket"] == "5"
    assert {bucket for _, bucket in table.store.latest().places} == set(range(5))
    assert contents(place).equals(before)
    assert table.get(7)["s"] == "v3"


def test_a_commit_while_a_table_is_rescaled_is_noticed(spark, place, monkeypatch):
    copy = rescale._copy

    def copy_and_write(*arguments):
        copy(*arguments)
        place.open().write([(9000, "late")])

    monkeypatch.setattr(rescale, "_copy", copy_and_write)
    with pytest.raises(CommitConflictError, match="written to while"):
        rescale.rescale(spark, place, 5)
    assert place.open().get(9000)["s"] == "late"
    assert place.open_warehouse().remove_orphans(older_than=0).files == ()


@pytest.mark.parametrize("format", ["parquet", "csv", "json", "orc"])
def test_rows_go_out_and_come_back(spark, place, tmp_path, format):
    path = str(tmp_path / f"out.{format}")
    export_rows(spark, place, Outside((path,)))
    back = Options({"warehouse": place.warehouse, "table": f"db.{format}"}).place()
    for _ in range(2):
        import_rows(spark, back, Outside((path,)), create=True, id="first")
    assert back.open().to_arrow().sort_by("id").to_pylist() == contents(place).to_pylist()


def test_rows_come_from_jdbc(spark, tmp_path):
    url = f"jdbc:derby:{tmp_path}/derby;create=true"
    options = {"url": url, "dbtable": "people", "driver": "org.apache.derby.jdbc.EmbeddedDriver"}
    frame = spark.createDataFrame([(1, "ann"), (2, "bob")], "id long, name string")
    frame.write.format("jdbc").options(**options).mode("overwrite").save()
    place = Options({"warehouse": str(tmp_path / "wh"), "table": "db.people"}).place()
    import_rows(spark, place, Outside(format="jdbc", options=options), create=True, primary_key=["id"])
    assert place.open().get(2)["name"] == "bob"


def test_a_format_is_known_or_asked_for():
    assert Outside(("a.parquet",)).chosen() == "parquet"
    with pytest.raises(UsageError, match="does not say its format"):
        Outside(("a.bin",)).chosen()
    with pytest.raises(UsageError, match="not a format"):
        Outside(("a",), "parket").chosen()
    assert set(exchange._ENDINGS.values()) <= set(exchange.FORMATS)

"""A failed check marks exactly the columns that descend from the version that it looked at."""

from datetime import UTC, datetime, timedelta

import pytest

import headwater
from headwater.analysis.analyze import Request
from headwater.events import EventType, InputDataset, Job, Run, RunEvent, by_key, new_run_id, timestamp
from headwater.events import facets as f
from headwater.graph import GraphChange, GraphStore, LineageGraph, why
from headwater.graph.check_data import ColumnChecks, RowCounts, TableChecks, check_tables
from headwater.graph.collect import collect
from headwater.graph.marks import Marks
from headwater.graph.observed import ingest
from headwater.graph.origins import ingest_origins
from headwater.lake.metadata.schema_change import RenameColumn
from headwater.lake.metadata.snapshot import Operation
from headwater.text import Source


class Shop:
    """Three layers in a warehouse, and checks of them."""

    def __init__(self, folder):
        self.session = headwater.connect(str(folder / "lake"))
        self.lake = self.session.warehouse
        self.store = GraphStore(self.lake)
        for statement in (
            "CREATE DATABASE shop",
            "CREATE TABLE shop.bronze (id BIGINT NOT NULL, amount BIGINT, note STRING, PRIMARY KEY (id))",
            "INSERT INTO shop.bronze VALUES (1, 10, 'a'), (2, NULL, 'b')",
        ):
            self.sql(statement)

    def sql(self, text):
        return self.session.sql(text)

    def silver(self, how="CREATE OR REPLACE TABLE shop.silver AS"):
        self.sql(f"{how} SELECT id, amount * 2 AS cents, note FROM shop.bronze")

    def gold(self, how="CREATE OR REPLACE TABLE shop.gold AS"):
        self.sql(f"{how} SELECT sum(cents) AS total, max(id) AS last FROM shop.silver")

    def not_null(self, table, column, at=None):
        """Check that a column has no nulls."""
        self.check(table, at, columns={column: ColumnChecks(not_null=True)})

    def check(self, table, at=None, **declared):
        event = check_tables(self.lake, {table: TableChecks(**declared)}, at)
        assert ingest(self.store, [event])[1] == []

    @property
    def marks(self):
        """The marked columns, each with the checks that it is marked by."""
        found = LineageGraph(self.store.state()).all_marks()
        return {str(node): sorted(str(mark) for mark in marks) for node, marks in found.items()}

    def of(self, table, at=None):
        """The marked columns of a version of a table."""
        version = why(self.lake, table, at)[0].version
        return set(Marks(self.store.state()).of_version(version))


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


BAD = ["not_null failed on shop.bronze.amount@1"]


def test_a_failure_marks_what_its_values_reach(shop):
    shop.silver()
    shop.gold()
    shop.not_null("shop.bronze", "amount")
    shop.not_null("shop.bronze", "note")
    assert shop.marks == {"shop.bronze.amount": BAD, "shop.silver.cents": BAD, "shop.gold.total": BAD}


def test_a_good_version_clears_what_is_rebuilt_from_it(shop):
    shop.silver()
    shop.gold()
    shop.not_null("shop.bronze", "amount")
    ingest_origins(shop.store)
    shop.sql("UPDATE shop.bronze SET amount = 5 WHERE id = 2")
    assert shop.marks.keys() == {"shop.bronze.amount", "shop.silver.cents", "shop.gold.total"}  # nobody has looked
    shop.not_null("shop.bronze", "amount")
    assert shop.marks.keys() == {"shop.silver.cents", "shop.gold.total"}  # made of the bad version
    shop.silver()
    assert shop.marks == {"shop.gold.total": BAD}  # silver is good, gold was not rebuilt
    shop.gold()
    assert shop.marks == {}


def test_rows_that_are_added_to_marked_ones_do_not_clear_them(shop):
    shop.silver("CREATE TABLE shop.silver AS")
    shop.not_null("shop.bronze", "amount")
    shop.sql("UPDATE shop.bronze SET amount = 5 WHERE id = 2")
    shop.not_null("shop.bronze", "amount")
    shop.silver("INSERT INTO shop.silver")
    assert "shop.silver.cents" in shop.marks  # it holds the rows of both versions
    shop.lake.table("shop.silver").compact()
    assert "shop.silver.cents" in shop.marks
    shop.silver("INSERT OVERWRITE shop.silver")
    assert shop.marks == {}
    assert shop.of("shop.silver", 1) == {"cents"}  # the past is what it was


def test_a_check_that_passes_clears_its_own_table_only(shop):
    shop.silver()
    shop.not_null("shop.bronze", "amount")
    shop.sql("UPDATE shop.silver SET cents = 0 WHERE cents IS NULL")
    shop.not_null("shop.silver", "cents")
    assert shop.marks["shop.silver.cents"] == BAD  # it is still made of a version that failed
    shop.not_null("shop.bronze", "amount", at=1)
    assert shop.marks["shop.silver.cents"] == BAD  # the same check of the same version says the same
    shop.sql("INSERT INTO shop.bronze VALUES (3, NULL, 'c')")
    shop.not_null("shop.bronze", "amount")
    assert shop.marks["shop.bronze.amount"] == ["not_null failed on shop.bronze.amount@2"]
    assert shop.marks["shop.silver.cents"] == BAD


def test_a_later_look_at_the_same_version_counts(shop):
    shop.silver()
    shop.not_null("shop.bronze", "amount")
    passed = f.DataQualityAssertionsFacet(
        assertions=(f.Assertion(assertion="not_null", success=True, column="amount"),)
    )
    ingest(shop.store, [checked("shop.bronze", passed, version="1")])
    assert shop.marks == {}


def test_each_snapshot_by_itself(shop):
    """Five versions of bronze, of which the odd ones fail; gold is rebuilt of each."""
    shop.sql("INSERT OVERWRITE shop.bronze VALUES (1, 1, 'a')")  # snapshot 2
    shop.sql("CREATE TABLE shop.silver AS SELECT id, amount AS cents, note FROM shop.bronze")
    for number in range(3, 7):
        shop.sql(f"INSERT OVERWRITE shop.bronze VALUES (1, {'NULL' if number % 2 else number}, 'a')")
        shop.not_null("shop.bronze", "amount")
        shop.sql("INSERT OVERWRITE shop.silver SELECT id, amount, note FROM shop.bronze")
    assert [shop.of("shop.silver", at) for at in range(1, 6)] == [set(), {"cents"}, set(), {"cents"}, set()]
    assert [shop.of("shop.bronze", at) for at in (3, 4, 5, 6)] == [{"amount"}, set(), {"amount"}, set()]


def test_a_renamed_column_keeps_its_marks(shop):
    shop.silver("CREATE TABLE shop.silver AS")
    shop.not_null("shop.silver", "cents")
    failed = ["not_null failed on shop.silver.cents@1"]
    shop.lake.table("shop.silver").alter(RenameColumn("cents", "pennies"))
    assert shop.marks == {"shop.silver.pennies": failed}  # no snapshot since
    shop.sql("CREATE TABLE shop.gold AS SELECT sum(pennies) AS total FROM shop.silver")
    assert shop.marks == {"shop.silver.pennies": failed, "shop.gold.total": failed}
    shop.sql("INSERT INTO shop.silver VALUES (9, 9, 'z')")
    shop.lake.table("shop.gold").alter(RenameColumn("total", "sum"))
    assert shop.marks == {"shop.silver.pennies": failed, "shop.gold.sum": failed}
    shop.sql("UPDATE shop.silver SET pennies = 0 WHERE pennies IS NULL")
    shop.not_null("shop.silver", "pennies")
    assert shop.marks == {"shop.gold.sum": failed}


def test_a_column_of_the_same_name_is_another_one(shop):
    shop.silver("CREATE TABLE shop.silver AS")
    shop.not_null("shop.silver", "cents")
    shop.sql("ALTER TABLE shop.silver DROP COLUMN cents")
    shop.sql("ALTER TABLE shop.silver ADD COLUMN cents BIGINT")
    assert shop.marks == {}


def test_a_failure_of_the_table_marks_all_columns(shop):
    shop.silver()
    shop.gold()
    shop.check("shop.bronze", row_count=RowCounts(min=3))
    failed = ["row_count failed on shop.bronze@1"]
    bronze = {"shop.bronze.*": failed} | {f"shop.bronze.{name}": failed for name in ("id", "amount", "note")}
    silver = {f"shop.silver.{name}": failed for name in ("id", "cents", "note")}
    assert shop.marks == bronze | silver | {"shop.gold.total": failed, "shop.gold.last": failed}


def test_a_version_that_has_expired_still_marks_what_was_made_of_it(shop):
    shop.silver()
    shop.not_null("shop.bronze", "amount")
    shop.sql("UPDATE shop.bronze SET amount = 5 WHERE id = 2")
    shop.not_null("shop.bronze", "amount")
    expire(shop, "shop.bronze")
    assert shop.marks == {"shop.silver.cents": BAD}


def test_what_came_between_expired_snapshots_is_in_doubt(shop):
    shop.not_null("shop.bronze", "amount")
    shop.sql("INSERT INTO shop.bronze VALUES (3, 3, 'c')")
    shop.silver()
    shop.sql("INSERT OVERWRITE shop.bronze VALUES (1, 1, 'a')")
    expire(shop, "shop.bronze")
    [mark] = LineageGraph(shop.store.state()).all_marks().popitem()[1]
    assert (mark.version, str(mark.doubt)[:22]) == ("1", "the snapshots since ha")
    assert shop.marks.keys() == {"shop.silver.cents"}


def test_what_the_graph_was_told_outlives_the_snapshots(shop):
    shop.silver("CREATE TABLE shop.silver AS")
    shop.gold()
    shop.not_null("shop.bronze", "amount")
    ingest_origins(shop.store)
    shop.sql("INSERT OVERWRITE shop.silver VALUES (1, 1, 'a')")
    expire(shop, "shop.silver")
    assert shop.marks.keys() == {"shop.bronze.amount", "shop.gold.total"}


def test_a_rollback_brings_the_marks_of_what_it_restores(shop):
    shop.silver("CREATE TABLE shop.silver AS")
    shop.sql("INSERT OVERWRITE shop.bronze VALUES (1, 1, 'a')")
    shop.silver("INSERT OVERWRITE shop.silver")
    shop.not_null("shop.bronze", "amount", at=1)
    assert shop.of("shop.silver") == set()
    shop.lake.table("shop.silver").rollback(1)
    assert shop.of("shop.silver") == {"cents"}
    shop.lake.table("shop.silver").rollback(2)
    assert shop.of("shop.silver") == set()


def test_an_overwrite_of_one_partition_keeps_the_rows_of_the_others(shop):
    shop.sql("CREATE TABLE shop.days (day STRING, cents BIGINT) PARTITIONED BY (day)")
    shop.sql("INSERT INTO shop.days SELECT note, amount FROM shop.bronze")
    shop.not_null("shop.bronze", "amount")
    shop.sql("INSERT OVERWRITE shop.days VALUES ('a', 1)")
    assert shop.of("shop.days") == {"cents"}
    shop.sql("INSERT OVERWRITE shop.days VALUES ('a', 1), ('b', 1)")
    latest = shop.lake.table("shop.days").snapshot()
    assert latest.operation is Operation.OVERWRITE
    assert shop.of("shop.days") == set()


def test_a_table_with_another_name_keeps_its_marks(shop):
    shop.silver()
    shop.not_null("shop.bronze", "amount")
    shop.lake.rename_table("shop.bronze", "shop.iron")
    assert shop.marks.keys() == {"shop.iron.amount", "shop.silver.cents"}


def test_a_table_that_is_dropped_and_made_again_is_another_one(shop):
    shop.not_null("shop.bronze", "amount")
    shop.sql("DROP TABLE shop.bronze; CREATE TABLE shop.bronze (id BIGINT, amount BIGINT)")
    shop.sql("INSERT INTO shop.bronze VALUES (1, 1)")
    assert shop.marks == {}


def test_the_graph_as_of_an_earlier_state(shop):
    shop.silver()
    shop.not_null("shop.bronze", "amount")
    before = shop.store.state().number
    shop.sql("UPDATE shop.bronze SET amount = 5 WHERE id = 2")
    shop.not_null("shop.bronze", "amount")
    shop.silver()
    assert shop.marks == {}
    then = LineageGraph(shop.store.state(before)).all_marks()
    assert "shop.bronze.amount" in {str(node) for node in then}


# ------------------------------------------------------------------------------------------- without versions

STATEMENTS = "CREATE VIEW pg.clean AS SELECT id, total * 2 AS total FROM pg.raw;"


def checked(table, facet, *, version=None, at=None):
    named = f.VersionFacet(dataset_version=version) if version is not None else None
    return RunEvent(
        event_type=EventType.COMPLETE,
        event_time=timestamp(at),
        run=Run(run_id=new_run_id()),
        job=Job(namespace="n", name="checks"),
        inputs=(InputDataset(namespace="", name=table, facets=by_key(named), input_facets=by_key(facet)),),
    )


def outcome(shop, table, column, success, *, ago, **more):
    facet = f.DataQualityAssertionsFacet(
        assertions=(f.Assertion(assertion="positive", success=success, column=column, **more),)
    )
    at = datetime.now(UTC) - timedelta(seconds=ago)
    ingest(shop.store, [checked(table, facet, at=at)])


@pytest.fixture
def views(shop):
    request = Request(dialect="postgres", schema={"pg.raw": ["id", "total"]})
    shop.store.apply(GraphChange(collect([Source(STATEMENTS, "views.sql")], request), record={"kind": "harvest"}))
    return shop


def test_without_versions_the_newest_outcome_counts(views):
    outcome(views, "pg.raw", "total", False, ago=100)
    assert views.marks.keys() == {"pg.raw.total", "pg.clean.total"}
    outcome(views, "pg.raw", "total", True, ago=200)  # it comes late, and is older
    assert views.marks.keys() == {"pg.raw.total", "pg.clean.total"}
    outcome(views, "pg.raw", "total", True, ago=50)
    assert views.marks == {}
    outcome(views, "pg.raw", "total", False, ago=40, severity="warn")
    assert views.marks == {}


def test_a_lake_table_keeps_what_it_has_read_of_others(views):
    """A commit that read a table without versions read what the newest check before it has looked at."""
    outcome(views, "pg.raw", "total", False, ago=100)
    views.sql("CREATE TABLE shop.copy (id BIGINT, total BIGINT)")
    table = views.lake.table("shop.copy")
    table.overwrite([(1, 1)], origin=origin("pg.clean"))
    assert "shop.copy.total" in views.marks
    outcome(views, "pg.raw", "total", True, ago=0)
    assert views.marks.keys() == {"shop.copy.total"}
    table.overwrite([(1, 1)], origin=origin("pg.clean"))
    assert views.marks == {}


def origin(dataset):
    from headwater.lake.metadata.snapshot import ColumnOrigin, InputVersion, Origin

    edge = ColumnOrigin(column="total", dataset=dataset, source="total", kind="IDENTITY")
    return Origin(inputs=(InputVersion(dataset=dataset, columns=("total",)),), columns=(edge,))


def expire(shop, table):
    shop.lake.table(table).expire_snapshots(keep_min=1, keep_max=1, older_than=0)
    assert len(shop.lake.table(table).snapshots()) == 1

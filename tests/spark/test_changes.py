"""UPDATE, DELETE and MERGE on lake tables, and who else writes meanwhile."""

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from headwater.lake.metadata.snapshot import Operation
from headwater.spark.source import commits

pytestmark = pytest.mark.spark


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_changes_of_a_keyed_table_write_only_what_changed(keyed):
    table = keyed.warehouse.table("db.t")
    keyed.sql("UPDATE db.t SET s = upper(s) WHERE id = 2")
    assert (table.snapshot().operation, table.snapshot().summary.added_records) == (Operation.UPDATE, 1)
    keyed.sql("DELETE FROM db.t WHERE n = 3")
    assert (table.snapshot().operation, table.snapshot().summary.added_records) == (Operation.DELETE, 1)
    keyed.sql(
        "MERGE INTO db.t USING (SELECT * FROM VALUES (1L, 'one'), (2L, 'gone'), (9L, 'new') AS v(id, s)) u "
        "ON t.id = u.id WHEN MATCHED AND u.s = 'gone' THEN DELETE WHEN MATCHED THEN UPDATE SET s = u.s "
        "WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, u.s)"
    )
    assert table.snapshot().operation is Operation.MERGE
    assert rows(keyed.table("db.t")) == [(1, "one", 1), (9, "new", None)]


def test_an_update_may_move_keys_onto_each_other(keyed):
    keyed.sql("UPDATE db.t SET id = id + 1")
    assert rows(keyed.table("db.t")) == [(2, "a", 1), (3, "b", 2), (4, "c", 3)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE db.t SET id = 9 WHERE id < 3",
        "UPDATE db.t SET id = 3 WHERE id = 1",
        "UPDATE db.t SET id = CASE id WHEN 1 THEN 2 ELSE id END, n = 0 WHERE id <= 2",
        "MERGE INTO db.t USING (SELECT 1L AS id) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET id = 2",
        "MERGE INTO db.t USING (SELECT * FROM VALUES (8L), (8L) AS v(id)) u ON t.id = u.id "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)",
    ],
)
def test_two_rows_with_one_key_are_refused(keyed, statement):
    before = rows(keyed.table("db.t"))
    with pytest.raises(PySparkException, match="two rows would have the key id = "):
        keyed.sql(statement)
    assert rows(keyed.table("db.t")) == before
    assert keyed.warehouse.table("db.t").remove_orphans(older_than=0).files == ()


def test_an_update_of_a_summing_table_replaces_the_sum(lake):
    lake.sql(
        "CREATE TABLE db.sums (id BIGINT NOT NULL, n BIGINT) TBLPROPERTIES ('primary-key' = 'id', "
        "'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum')"
    )
    lake.sql("INSERT INTO db.sums VALUES (1, 10), (2, 20)")
    lake.sql("INSERT INTO db.sums VALUES (1, 5)")
    lake.sql("UPDATE db.sums SET n = 1 WHERE id = 1")
    assert rows(lake.table("db.sums")) == [(1, 1), (2, 20)]


def test_changes_of_a_table_without_a_key_rewrite_its_files(plain):
    plain.sql("DELETE FROM db.p WHERE id = 2")
    assert rows(plain.table("db.p")) == [(1, "eu"), (3, "us")]
    plain.sql("UPDATE db.p SET id = id + 10 WHERE r = 'us'")
    plain.sql(
        "MERGE INTO db.p USING (SELECT 1L AS id) u ON p.id = u.id WHEN MATCHED THEN UPDATE SET r = 'moved' "
        "WHEN NOT MATCHED THEN INSERT (id, r) VALUES (0, 'x')"
    )
    assert rows(plain.table("db.p")) == [(1, "moved"), (13, "us")]
    assert plain.warehouse.table("db.p").snapshot().operation is Operation.MERGE


@pytest.fixture
def interfering(monkeypatch):
    """A function that makes something happen right before the next commit of Spark's, once."""

    def before_commit(happen):
        original, left = commits.finish, [happen]

        def finish(plan, messages):
            if left:
                left.pop()()
            return original(plan, messages)

        monkeypatch.setattr(commits, "finish", finish)

    return before_commit


def test_a_rewrite_of_what_has_changed_since_is_refused(plain, interfering):
    table = plain.warehouse.table("db.p")
    interfering(lambda: table.overwrite(pa.table({"id": pa.array([8], pa.int64()), "r": ["eu"]})))
    with pytest.raises(PySparkException, match="was rewritten by snapshot"):
        plain.spark.sql(f"UPDATE {plain.catalog}.db.p SET id = 0 WHERE r = 'eu'")
    assert rows(plain.table("db.p")) == [(8, "eu")]


def test_no_update_is_lost(keyed, interfering):
    """Another writer changes a row between the read and the commit of an UPDATE: it is carried out again."""
    table = keyed.warehouse.table("db.t")
    interfering(lambda: table.write([(2, "b", 40)]))
    keyed.sql("UPDATE db.t SET n = n + 1 WHERE id = 2")
    assert rows(keyed.table("db.t").where("id = 2")) == [(2, "b", 41)]
    interfering(lambda: table.write([(3, "c", 40)]))
    with pytest.raises(PySparkException, match="changed rows that were read"):
        keyed.spark.sql(f"UPDATE {keyed.catalog}.db.t SET n = n + 1 WHERE id = 3")
    assert rows(keyed.table("db.t").where("id = 3")) == [(3, "c", 40)]

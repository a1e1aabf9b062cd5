"""Statements that change rows others change too: none is lost, none is overwritten unseen."""

import threading

import pytest

import headwater
from headwater.errors import CommitConflictError
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Compare


def in_threads(count, work):
    failures = []

    def run(me):
        try:
            work(me)
        except BaseException as err:
            failures.append(err)

    threads = [threading.Thread(target=run, args=(me,)) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("key", [" PRIMARY KEY", ""])
def test_no_update_is_lost(tmp_path, key):
    with headwater.connect(tmp_path) as session:
        session.sql(f"CREATE TABLE t (id BIGINT{key}, n BIGINT); INSERT INTO t VALUES (1, 0), (2, 0)")

    def count_up(me):
        with headwater.connect(tmp_path) as session:
            for _ in range(6):
                session.sql("UPDATE t SET n = n + 1 WHERE id = 1")

    in_threads(3, count_up)
    with headwater.connect(tmp_path) as session:
        assert session.sql("SELECT id, n FROM t ORDER BY id").fetchall() == [(1, 18), (2, 0)]
        assert session.table("t").remove_orphans(older_than=-10).files == ()


def test_of_two_merges_that_insert_a_key_the_second_updates_it(tmp_path):
    with headwater.connect(tmp_path) as session:
        session.sql("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
    merge = """
        MERGE INTO t USING (SELECT 7 AS id) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1)
    """

    def work(me):
        with headwater.connect(tmp_path) as session:
            for _ in range(5):
                session.sql(merge)

    in_threads(3, work)
    with headwater.connect(tmp_path) as session:
        assert session.sql("SELECT * FROM t").fetchall() == [(7, 15)]


@pytest.fixture
def table(session):
    session.sql("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT) WITH ('write-only' = 'true')")
    table = session.table("t")
    table.write([(id, 0) for id in range(100)])
    return table


def test_only_the_same_keys_conflict(table):
    table.write([(id, 1) for id in range(0, 100, 2)])
    table.write([(id, 2) for id in range(1, 100, 2)], read_at=1)
    with pytest.raises(CommitConflictError, match="snapshot 2 changed rows"):
        table.write([(4, 3), (5, 3)], read_at=1)
    assert table.get(4)["n"] == 1
    assert table.remove_orphans(older_than=-10).files == ()


def test_a_compaction_in_between_is_no_conflict(table):
    table.write([(200, 1)])
    table.compact()
    assert table.write([(4, 3)], read_at=1).operation is Operation.INSERT


@pytest.mark.parametrize("what", ["overwrite", "delete", "rollback"])
def test_rows_that_are_gone_do_not_come_back(table, what):
    table.write([(500, 1)])
    {
        "overwrite": lambda: table.overwrite([(300, 1)]),
        "delete": lambda: table.delete([4]),
        "rollback": lambda: (table.delete([4]), table.rollback(2)),
    }[what]()
    with pytest.raises(CommitConflictError):
        table.write([(4, 3)], read_at=2)


def test_a_row_that_no_longer_fits_is_not_deleted(table, monkeypatch):
    """Between reading which rows to delete and deleting them, another writer makes one of them good."""
    from headwater.lake.tables import writes

    original, crossed = writes.delete_keys, []

    def late(store, keys, facts):
        keys = list(keys)
        if not crossed:
            crossed.append(table.write([(4, 100)]))
        return original(store, keys, facts)

    monkeypatch.setattr(writes, "delete_keys", late)
    table.delete(where=Compare("n", "<", 50))
    assert table.to_arrow().to_pylist() == [{"id": 4, "n": 100}]

"""UPDATE and MERGE that assign keys: no row is lost, and two rows never share a key."""

import pytest

from headwater.errors import SchemaError


@pytest.fixture(params=["PRIMARY KEY (id)", "PRIMARY KEY (id)) WITH ('bucket' = '4'"], ids=["one", "four buckets"])
def table(session, request):
    session.sql(f"CREATE TABLE t (id INT, v STRING, {request.param})")
    session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    return session


def rows(session):
    return session.sql("SELECT id, v FROM t ORDER BY id").fetchall()


BEFORE = [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        ("UPDATE t SET id = 9 WHERE id < 3", "id = 9"),
        ("UPDATE t SET id = 4 WHERE id = 1", "id = 4"),
        ("UPDATE t SET id = CASE id WHEN 1 THEN 2 ELSE id END WHERE id <= 2", "id = 2"),
        (
            "MERGE INTO t USING (SELECT 1 AS id) s ON t.id >= s.id AND t.id < 3 WHEN MATCHED THEN UPDATE SET id = 9",
            "9",
        ),
        ("MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 3", "id = 3"),
        (
            "MERGE INTO t USING (VALUES (8, 'x'), (8, 'y')) s(id, v) ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
            "id = 8",
        ),
        (
            "MERGE INTO t USING (SELECT 'a' AS v) s ON t.v = 'z' WHEN NOT MATCHED THEN INSERT VALUES (1, s.v)",
            "id = 1",
        ),
    ],
)
def test_two_rows_with_one_key_are_refused(table, statement, key):
    with pytest.raises(SchemaError, match=f"two rows would have the key .*{key}"):
        table.sql(statement)
    assert rows(table) == BEFORE
    table.sql("UPDATE t SET v = 'z' WHERE id = 4")  # nothing is left that would stop the next statement
    assert rows(table)[3] == (4, "z")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE t SET id = id + 1", [(2, "a"), (3, "b"), (4, "c"), (5, "d")]),
        ("UPDATE t SET id = 5 - id", [(1, "d"), (2, "c"), (3, "b"), (4, "a")]),
        ("UPDATE t SET id = 9 WHERE id = 1", [(2, "b"), (3, "c"), (4, "d"), (9, "a")]),
        ("UPDATE t SET id = id, v = v || '!'", [(1, "a!"), (2, "b!"), (3, "c!"), (4, "d!")]),
        (
            "MERGE INTO t USING (SELECT 1 AS id) s ON t.id >= s.id WHEN MATCHED AND t.id = 4 THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET id = t.id + 1",
            [(2, "a"), (3, "b"), (4, "c")],
        ),
    ],
)
def test_rows_may_take_keys_that_the_same_statement_frees(table, statement, expected):
    table.sql(statement)
    assert rows(table) == expected


def test_a_merge_into_a_table_whose_buckets_are_not_decided(session):
    session.sql("CREATE TABLE t (id INT PRIMARY KEY, v STRING) WITH ('bucket' = '-1')")
    session.sql(
        "MERGE INTO t USING (VALUES (1, 'x'), (2, 'y')) s(id, v) ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows(session) == [(1, "x"), (2, "y")]

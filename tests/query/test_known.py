"""A session keeps what it knows of tables, and never longer than it is true."""

import headwater


def rows(session):
    return session.sql("SELECT * FROM t ORDER BY ALL").fetchall()


def test_tables_that_others_change(tmp_path):
    with headwater.connect(tmp_path) as session, headwater.connect(tmp_path) as other:
        session.sql("CREATE TABLE t (a INT PRIMARY KEY)")
        assert rows(session) == []
        other.sql("INSERT INTO t VALUES (1)")
        assert rows(session) == [(1,)]
        other.sql("ALTER TABLE t ADD COLUMN b INT DEFAULT 7")
        assert rows(session) == [(1, 7)]
        other.sql("INSERT INTO t VALUES (2, 8)")
        other.table("t").rollback(1)
        assert rows(session) == [(1, 7)]
        other.sql("INSERT INTO t VALUES (3, 9)")
        assert rows(session) == [(1, 7), (3, 9)]


def test_a_name_that_comes_to_stand_for_another_table(tmp_path):
    with headwater.connect(tmp_path) as session, headwater.connect(tmp_path) as other:
        session.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
        assert rows(session) == [(1,)]
        other.sql("DROP TABLE t; CREATE TABLE t (a INT); INSERT INTO t VALUES (2)")
        assert rows(session) == [(2,)]
        other.sql("CREATE OR REPLACE TABLE t AS SELECT 3 AS a")
        assert rows(session) == [(3,)]
        other.sql("CREATE TABLE u (a INT); INSERT INTO u VALUES (4); ALTER TABLE t RENAME TO old")
        other.sql("ALTER TABLE u RENAME TO t")
        assert rows(session) == [(4,)]
        assert session.sql("SELECT * FROM old").fetchall() == [(3,)]

import pytest

from headwater.errors import NotFoundError, SqlError


@pytest.fixture
def versions(session):
    session.sql("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
    for number in (1, 2, 3):
        session.sql(f"INSERT INTO t VALUES ({number}, 'v{number}')")
    session.table("t").create_tag("release-1", 2)
    return session


@pytest.mark.parametrize(
    ("clause", "rows"),
    [
        *(("VERSION AS OF 1", 1), ("FOR VERSION AS OF 2", 2), ("VERSION AS OF 'release-1'", 2)),
        *(("version as of '@-1'", 2), ("VERSION AS OF '@0'", 3), ("", 3)),
    ],
)
def test_versions(versions, clause, rows):
    assert versions.sql(f"SELECT count(*) FROM t {clause}").scalar() == rows
    assert versions.sql(f"SELECT count(x.v) FROM t {clause} AS x WHERE x.id >= 1").scalar() == rows
    assert versions.sql(f"SELECT max(n) FROM (SELECT count(*) AS n FROM t {clause}) q").scalar() == rows


def test_timestamps(versions):
    second = versions.table("t").snapshot(2).timestamp
    count = "SELECT count(*) FROM t TIMESTAMP AS OF"
    expected = sum(each.timestamp <= second for each in versions.table("t").snapshots())
    assert versions.sql(f"{count} {second}").scalar() == expected
    assert versions.sql(f"{count} '2999-01-01 00:00'").scalar() == 3
    assert versions.sql(f"{count} TIMESTAMP '2999-01-01'").scalar() == 3
    assert versions.sql("SELECT count(*) FROM t FOR SYSTEM_TIME AS OF '2999-01-01'").scalar() == 3
    with pytest.raises(NotFoundError, match="as old as"):
        versions.sql(f"{count} '2001-01-01'")


def test_two_versions_in_one_query(versions):
    rows = versions.sql("""
        SELECT new.id FROM t AS new LEFT JOIN t VERSION AS OF 1 AS old USING (id) WHERE old.id IS NULL ORDER BY 1
    """)
    assert rows.fetchall() == [(2,), (3,)]


def test_a_state_of_the_past_is_read_by_its_schema(versions):
    versions.sql("ALTER TABLE t ADD COLUMN w INT DEFAULT 5; INSERT INTO t VALUES (4, 'v4', 6)")
    assert versions.sql("SELECT * FROM t VERSION AS OF 2").columns == ["id", "v"]
    assert versions.sql("SELECT w FROM t ORDER BY id").fetchall() == [(5,), (5,), (5,), (6,)]


def test_a_column_may_be_called_version(session):
    session.sql("CREATE TABLE t (version INT, timestamp TIMESTAMP); INSERT INTO t VALUES (3, NULL)")
    assert session.sql("SELECT version AS of_it, timestamp FROM t WHERE version = 3").rows == 1


@pytest.mark.parametrize(
    ("clause", "place"), [("VERSION AS OF 77", "1:17"), ("VERSION AS OF 'nope'", "1:17"), ("VERSION AS OF x", "1:31")]
)
def test_what_is_not_there_is_said_at_its_place(versions, clause, place):
    with pytest.raises((NotFoundError, SqlError)) as err:
        versions.sql(f"SELECT * FROM t {clause}")
    assert err.value.place == f"<input>:{place}"

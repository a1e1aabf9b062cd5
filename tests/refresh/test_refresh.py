"""Each way of a refresh is taken where it is known to give the rows of a full run, and only there."""

import threading
from unittest.mock import patch

import pytest

import headwater
from headwater.errors import CannotTellError, SchemaError, SqlError
from headwater.query.dataset import LakeTable
from headwater.query.materialized import refresh_table
from headwater.query.refresh.definition import find_definition, state_name
from headwater.query.refresh.refresh import Way
from tests.effort import LONG, THOROUGH
from tests.refresh.trials import run_trials

GROUPS = (
    "SELECT customer, sum(amount) AS total, count(*) AS n, avg(amount) AS mean, max(amount) AS most "
    "FROM orders GROUP BY 1"
)
NESTED = "FROM (SELECT b.kind, l.amount FROM lines l JOIN big b ON l.big = b.id) AS pairs"
JOINED = "SELECT o.id, c.name, o.amount * 2 AS twice FROM orders o JOIN customers c ON o.customer = c.id"


def refresh(session, name, **options):
    run = session.execution(find_definition(session.warehouse, name).statement)
    return refresh_table(run, name, **options)


def noting(reads):
    """Count the rows of each scan."""
    pass_on = LakeTable._noted

    def noted(table, batches):
        for batch in pass_on(table, batches):
            reads.append((str(table.pinned.name), batch.num_rows))
            yield batch

    return noted


def rows(session, text):
    return sorted(session.sql(text).fetchall(), key=repr)


def check(session, query, change, *, view="default.v", way):
    """Make a view, change its inputs, refresh it in the expected way, and compare it with its query."""
    session.sql(f"CREATE MATERIALIZED VIEW v AS {query}")
    session.sql(change)
    plan = refresh(session, view)
    assert plan.way is way, plan.reasons
    assert rows(session, "FROM v") == rows(session, query)
    return plan


def test_only_the_rows_of_changed_rows_are_written(session):
    change = "INSERT INTO orders VALUES (5, 3, 4, ''); DELETE FROM orders WHERE id = 1; "
    change += "UPDATE customers SET name = 'rob' WHERE id = 2"
    plan = check(session, JOINED, change, way=Way.ROWS)
    assert (plan.gone, plan.came) == (3, 3)  # the order that is gone, and two of the renamed customer


def test_groups_are_added_to_and_taken_from(session):
    plan = check(session, GROUPS, "INSERT INTO orders VALUES (5, 1, 4, ''), (6, 9, 1, '')", way=Way.GROUPS)
    assert (plan.gone, plan.came) == (1, 2)
    session.sql("DELETE FROM orders WHERE id IN (3, 4)")  # a group that is gone
    assert refresh(session, "default.v").way is Way.GROUPS
    assert rows(session, "FROM v") == rows(session, GROUPS)


@pytest.mark.parametrize("shape", ["FROM lines l JOIN big b ON l.big = b.id", NESTED])
def test_of_joined_tables_only_the_keys_of_changed_rows_are_read(session, shape):
    session.sql("""
        CREATE TABLE big (id BIGINT PRIMARY KEY, kind INT);
        CREATE TABLE lines (id BIGINT PRIMARY KEY, big BIGINT, amount INT);
        INSERT INTO big SELECT i, i % 3 FROM range(100000) AS t(i);
        INSERT INTO lines SELECT i, i, i % 7 FROM range(100000) AS t(i)
    """)
    session.table("big").compact()
    change = "INSERT INTO lines SELECT 200000 + i, 50000 + i, 1 FROM range(500) AS t(i)"
    reads = []
    with patch.object(LakeTable, "_noted", noting(reads)):
        query = f"SELECT kind, sum(amount) AS total, count(*) AS n {shape} GROUP BY kind"
        session.sql(f"CREATE MATERIALIZED VIEW v AS {query}")
        session.sql(change)
        reads.clear()
        assert refresh(session, "default.v").way is Way.GROUPS
        assert 500 <= sum(rows for name, rows in reads if "big" in name) < 20_000
    assert rows(session, "FROM v") == rows(session, query)


def test_a_highest_value_that_is_gone_is_found_again(session):
    check(session, GROUPS, "DELETE FROM orders WHERE id = 1", way=Way.GROUPS)
    assert rows(session, "SELECT most FROM v WHERE customer = 1") == rows(
        session, "SELECT CAST(2.5 AS DECIMAL(10,2))"
    )


def test_one_row_over_all_rows_stays_when_there_are_none(session):
    check(session, "SELECT count(*) AS n, sum(amount) AS s FROM orders", "DELETE FROM orders", way=Way.GROUPS)
    assert rows(session, "FROM v") == [(0, None)]


def test_what_follows_groups_is_computed_from_them(session):
    query = "WITH g AS (SELECT customer, sum(amount) AS s FROM orders GROUP BY ALL) "
    query += "SELECT c.name, g.s FROM customers c JOIN g ON g.customer = c.id ORDER BY g.s DESC LIMIT 1"
    check(session, query, "INSERT INTO orders VALUES (5, 2, 100, '')", way=Way.GROUPS)


def test_the_rows_of_touched_keys_are_computed_again(session):
    query = "SELECT c.id, count(DISTINCT o.amount) AS n FROM customers c "
    query += "LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id"
    plan = check(session, query, "INSERT INTO orders VALUES (5, 3, 4, '')", way=Way.KEYS)
    assert (plan.gone, plan.came) == (1, 1)


@pytest.mark.parametrize("kind", ["SEMI", "ANTI"])
@pytest.mark.parametrize("table", ["found", "found AS found (id)"])
def test_a_column_has_the_name_of_a_table_of_a_semi_join(session, kind, table):
    """`found.id` is a column of the table, not a field of the column."""
    session.sql("""
        CREATE TABLE lost (id INT PRIMARY KEY, found STRUCT(id INT));
        CREATE TABLE found (id INT PRIMARY KEY);
        INSERT INTO lost VALUES (1, {'id': 1}), (2, {'id': 2});
        INSERT INTO found VALUES (1)
    """)
    query = f"SELECT id FROM lost {kind} JOIN {table} ON lost.id = found.id"
    check(session, query, "INSERT INTO lost VALUES (3, {'id': 3}), (4, {'id': 9})", way=Way.ROWS)


def test_a_query_in_the_condition_of_a_semi_join_is_run_whole(session):
    query = "SELECT id FROM orders SEMI JOIN customers ON orders.customer = (SELECT customers.id)"
    plan = check(session, query, "INSERT INTO orders VALUES (5, 3, 4, '')", way=Way.FULL)
    assert any("a query in the condition of a SEMI JOIN" in reason for reason in plan.reasons)


def test_the_first_match_of_an_outer_join_takes_the_place_of_nulls(session):
    query = "SELECT c.id, o.amount FROM customers c LEFT JOIN orders o ON o.customer = c.id"
    check(session, query, "INSERT INTO orders VALUES (5, 3, 4, '')", way=Way.ROWS)
    session.sql("DELETE FROM orders WHERE customer = 1")  # and back
    refresh(session, "default.v")
    assert rows(session, "FROM v") == rows(session, query)


def test_windows_by_a_key(session):
    query = "SELECT customer, id, sum(amount) OVER (PARTITION BY customer ORDER BY id) AS so_far FROM orders"
    check(session, query, "INSERT INTO orders VALUES (0, 2, 4, '')", way=Way.KEYS)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, amount, current_date AS today FROM orders",
        "SELECT sum(amount) OVER (ORDER BY id) AS so_far, id FROM orders",
        "SELECT o.id AS a, c.id AS b FROM orders o FULL JOIN customers c ON o.customer = c.id",
        "SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)",
        "SELECT id FROM orders WHERE customer NOT IN (SELECT customer FROM orders WHERE amount > 5)",
        "SELECT id, amount FROM orders ORDER BY amount, id LIMIT 2",
        "SELECT sum(CAST(amount AS DOUBLE)) AS s FROM orders",
        "PIVOT (SELECT customer, id, amount FROM orders) ON id IN (1, 2) USING max(amount) GROUP BY customer",
    ],
)
def test_what_is_not_understood_is_a_full_run_with_a_reason(session, query):
    plan = check(session, query, "INSERT INTO orders VALUES (5, 1, 9, '')", way=Way.FULL)
    assert plan.reasons


def test_columns_that_are_not_read_do_not_matter(session):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}; UPDATE orders SET note = 'x'")
    before = session.table("v").snapshot().snapshot_id
    plan = refresh(session, "default.v")
    assert (plan.way, plan.changed_rows) == (Way.NOTHING, 0)
    assert session.table("v").snapshot().snapshot_id == before


def test_moved_files_do_not_matter(session):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}")
    session.sql("INSERT INTO orders VALUES (5, 1, 4, '')")
    refresh(session, "default.v")
    for name in ("orders", "v"):
        session.table(name).compact()
    assert refresh(session, "default.v").way is Way.NOTHING


def test_the_key_of_a_view_is_kept(session):
    session.sql(f"CREATE MATERIALIZED VIEW v PRIMARY KEY (id) AS {JOINED}")
    session.sql("UPDATE orders SET id = 40 WHERE id = 4; INSERT INTO orders VALUES (5, 3, 4, '')")
    assert refresh(session, "default.v").way is Way.ROWS
    assert rows(session, "FROM v") == rows(session, JOINED)
    with pytest.raises(SchemaError, match="two rows with the key name = ann"):
        session.sql(f"CREATE MATERIALIZED VIEW w PRIMARY KEY (name) AS {JOINED}")
    assert not session.warehouse.has_table("default.w")


def test_equal_rows_are_told_apart_by_number(session):
    session.sql("CREATE TABLE log (word STRING); INSERT INTO log VALUES ('a'), ('a'), ('a'), ('b')")
    check(session, "SELECT word FROM log", "INSERT INTO log VALUES ('b')", way=Way.ROWS)
    session.sql("DELETE FROM log; INSERT INTO log VALUES ('a'), ('a'), ('b'), ('b')")
    refresh(session, "default.v")
    assert rows(session, "FROM v") == [("a",), ("a",), ("b",), ("b",)]


def test_inputs_that_are_gone_or_changed_need_a_full_run(session):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}")
    session.sql("ALTER TABLE orders ADD COLUMN more INT; INSERT INTO orders VALUES (5, 1, 4, '', 1)")
    assert "columns of default.orders have changed" in refresh(session, "default.v").reasons[0]
    session.sql("INSERT INTO orders VALUES (6, 1, 4, '', 1)")
    session.table("orders").expire_snapshots(keep_min=1, older_than=0)
    with headwater.connect(session.warehouse) as other:  # which has not seen the state before
        assert "has expired" in refresh(other, "default.v").reasons[0]
    session.sql("DROP TABLE orders; CREATE TABLE orders (id INT PRIMARY KEY, customer INT, amount DECIMAL(10,2))")
    assert "replaced by another table" in refresh(session, "default.v").reasons[0]
    assert rows(session, "FROM v") == rows(session, GROUPS)


def test_files_are_read_again_each_time(session, tmp_path):
    path = tmp_path / "more.csv"
    path.write_text("a\n1\n")
    session.sql(f"CREATE MATERIALIZED VIEW v AS SELECT a FROM read_csv('{path}')")
    path.write_text("a\n1\n2\n")
    plan = refresh(session, "default.v")
    assert (plan.way, len(rows(session, "FROM v"))) == (Way.FULL, 2)
    assert "changes of files are not kept" in plan.reasons[0]


def test_a_star_over_a_table_that_got_a_column_is_told(session):
    session.sql("CREATE MATERIALIZED VIEW v AS FROM customers; ALTER TABLE customers ADD COLUMN more INT")
    session.sql("INSERT INTO customers VALUES (9, 'zoe', 1)")
    with pytest.raises(SchemaError, match="gives 3 columns, the table has 2"):
        refresh(session, "default.v")
    assert len(rows(session, "FROM v")) == 3


def test_a_table_written_by_hand_is_made_anew(session):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}; DELETE FROM v WHERE customer = 1")
    plan = refresh(session, "default.v")
    assert plan.way is Way.FULL
    assert "was not made by its definition" in plan.reasons[0]
    assert rows(session, "FROM v") == rows(session, GROUPS)


def test_a_refresh_that_died_between_its_commits_starts_anew(session):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}; INSERT INTO orders VALUES (5, 1, 4, '')")
    state = session.warehouse.table(state_name(session.table("v").name))
    behind = state.snapshot().snapshot_id
    refresh(session, "default.v")
    state.rollback(behind)  # as if the second commit had not been made
    session.sql("INSERT INTO orders VALUES (6, 1, 4, '')")
    plan = refresh(session, "default.v")
    assert plan.way is not Way.GROUPS
    assert rows(session, "FROM v") == rows(session, GROUPS)


def test_two_refreshes_at_once_do_the_work_once(session, tmp_path):
    session.sql(f"CREATE MATERIALIZED VIEW v AS {JOINED}; INSERT INTO orders VALUES (5, 1, 4, '')")
    start = threading.Barrier(4)

    def work():
        with headwater.connect(tmp_path / "warehouse") as mine:
            start.wait()
            refresh(mine, "default.v")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(session, "FROM v") == rows(session, JOINED)


def test_tables_that_a_query_made_are_refreshed_undeclared(session):
    session.sql(f"CREATE TABLE made AS {GROUPS}; INSERT INTO orders VALUES (5, 1, 4, '')")
    refresh(session, "default.made")
    assert rows(session, "FROM made") == rows(session, GROUPS)
    session.sql("INSERT INTO made VALUES (99, 1, 1, 1, 1)")
    with pytest.raises(CannotTellError, match="did not make all of its rows"):
        find_definition(session.warehouse, "default.made")


def test_statements(session):
    assert "created with 2 rows" in session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}").message
    assert "is there already" in session.sql(f"CREATE MATERIALIZED VIEW IF NOT EXISTS v AS {GROUPS}").message
    with pytest.raises(SqlError, match="already"):
        session.sql(f"CREATE MATERIALIZED VIEW v AS {GROUPS}")
    assert session.sql("REFRESH MATERIALIZED VIEW v").message == "default.v is up to date"
    assert "refreshed by full" in session.sql("REFRESH MATERIALIZED VIEW v FULL").message
    session.sql("ALTER MATERIALIZED VIEW v AS " + GROUPS.replace("FROM orders", "FROM orders WHERE id > 2"))
    assert rows(session, "SELECT customer FROM v") == [(2,)]
    with pytest.raises(SqlError, match="other columns"):
        session.sql("ALTER MATERIALIZED VIEW v AS SELECT 1 AS one")
    assert rows(session, "SHOW MATERIALIZED VIEWS") == [("v",)]
    assert "id > 2" in rows(session, "SELECT query FROM v$definition")[0][0]
    with pytest.raises(SqlError, match="is a table, not a materialized view"):
        session.sql("DROP MATERIALIZED VIEW orders")
    session.sql("DROP MATERIALIZED VIEW v; DROP MATERIALIZED VIEW IF EXISTS v")
    assert session.warehouse.list_tables("_state") == []


def test_views_inside_of_a_definition_are_followed(session):
    session.sql("CREATE VIEW paid AS SELECT id, customer, amount FROM orders WHERE amount > 2")
    check(
        session,
        "SELECT customer, count(*) AS n FROM paid GROUP BY 1",
        "INSERT INTO orders VALUES (5, 3, 9, '')",
        way=Way.GROUPS,
    )


@pytest.mark.parametrize("proof", [False, True])
def test_random_queries_and_changes(proof):
    most, least = (150, 5) if proof else (300, 10)  # the first ten take every way
    count = 2_000 if LONG else most if THOROUGH else least
    account = run_trials(7, range(count), proof=proof)
    assert account.trials == count
    assert account.findings == []
    assert account.not_run == []
    if not proof:
        assert all(account.ways[way] for way in Way)

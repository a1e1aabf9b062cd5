"""A clause that would not be kept is refused, and an error names the nearest spelling."""

import pytest

from headwater.errors import SqlError


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TEMP TABLE x (a INT)",
        "CREATE TEMPORARY TABLE x AS SELECT 1 AS a",
        "CREATE TEMP VIEW x AS SELECT 1 AS a",
        "CREATE EXTERNAL TABLE x (a INT)",
        "CREATE TABLE x (a INT) STORED AS PARQUET",
        "CREATE TABLE x (a INT) LOCATION 's3://there'",
        "CREATE TABLE x (a INT, UNIQUE (a))",
        "CREATE TABLE x (a INT, CHECK (a > 0))",
        "CREATE TABLE x (a INT, FOREIGN KEY (a) REFERENCES orders (id))",
    ],
)
def test_a_clause_that_would_be_ignored_is_refused(shop, text):
    before = shop.sql("SHOW TABLES").fetchall()
    with pytest.raises(SqlError) as err:
        shop.sql(text)
    assert ("WITH … AS" in (err.value.hint or "")) == ("TEMP" in text)
    assert shop.sql("SHOW TABLES").fetchall() == before


def test_a_named_primary_key_is_a_primary_key(session):
    session.sql("CREATE TABLE t (a INT, b INT, CONSTRAINT pk PRIMARY KEY (a))")
    assert session.table("t").schema.primary_keys == ("a",)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("CREATE TABEL x (a INT)", "CREATE TABEL is not a statement", "did you mean `CREATE TABLE`?"),
        ("CREATE OR REPLACE TABEL x (a INT)", "CREATE TABEL is not a statement", "did you mean `CREATE TABLE`?"),
        ("CREATE", "CREATE alone is not a statement", "CREATE TABLE, VIEW, MATERIALIZED, DATABASE, SCHEMA"),
        (
            "CREATE TYPE t AS INT",
            "CREATE TYPE is not a statement",
            "CREATE TABLE, VIEW, MATERIALIZED, DATABASE, SCHEMA",
        ),
        ("SELCT 1", "SELCT is not a statement", "did you mean `SELECT`?"),
        ("INSRT INTO orders VALUES (1)", "INSRT is not a statement", "did you mean `INSERT`?"),
        ("DROP TABEL orders", "DROP TABEL is not a statement", "did you mean `DROP TABLE`?"),
        ("ALTER TABEL orders ADD COLUMN x INT", "ALTER TABEL is not a statement", "did you mean `ALTER TABLE`?"),
        ("SHOW TABELS", "SHOW TABELS is not a statement", "did you mean `SHOW TABLES`?"),
        ("DESCRIB orders", "DESCRIB is not a statement", "did you mean `DESCRIBE`?"),
        ("EXPLAIN SELCT 1", "SELCT is not a statement", "did you mean `SELECT`?"),
        ("DELETE orders", "DELETE ORDERS is not a statement", "DELETE FROM"),
        ("GRANT ALL ON orders", "GRANT is not a statement", "statements begin with"),
    ],
)
def test_a_misspelt_statement_is_told(shop, text, message, hint):
    with pytest.raises(SqlError, match=message) as err:
        shop.sql(text)
    assert err.value.hint.startswith(hint)
    assert err.value.span is not None


@pytest.mark.parametrize("key", ["PRIMARY KEY", ""])
def test_columns_with_the_names_of_our_own(session, key):
    session.sql(
        f'CREATE TABLE t (id INT {key}, "#action" INT, "#source" INT, "#old id" INT, "##row" INT, "#ROW" INT)'
    )
    session.sql("INSERT INTO t VALUES (1, 1, 1, 1, 1, 1), (2, 2, 2, 2, 2, 2)")
    ours = '9 AS "#action", 8 AS "#source", 7 AS "###source", 6 AS "#old id", 5 AS "##row", 4 AS "#row"'
    session.sql(f"MERGE INTO t USING (SELECT 1 AS id, {ours}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
    session.sql('UPDATE t SET "#old id" = "#old id" + 1; DELETE FROM t WHERE "##row" = 2')
    assert session.sql("SELECT * FROM t").fetchall() == [(1, 9, 8, 7, 5, 4)]

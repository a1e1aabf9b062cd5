import pytest

from headwater.errors import AlreadyExistsError, NotFoundError, SchemaChangeError, SqlError
from headwater.model.types import BIGINT, INT, STRING


def test_a_table_keeps_all_that_was_said_of_it(session):
    session.sql("""
        CREATE TABLE IF NOT EXISTS t (
          region STRING NOT NULL COMMENT 'where', id INT, n INT NOT NULL DEFAULT 7, tags ARRAY<STRING>,
          place STRUCT(lat DOUBLE, lon DOUBLE), m MAP(VARCHAR, INT), PRIMARY KEY (region, id)
        ) COMMENT 'things' PARTITIONED BY (region) WITH ('bucket' = '2')
    """)
    schema = session.table("t").schema
    assert schema.primary_keys == ("region", "id")
    assert schema.partition_keys == ("region",)
    assert schema.options == {"bucket": "2"}
    assert schema.comment == "things"
    assert schema.field("region").description == "where"
    assert (schema.field("n").default, schema.field("n").nullable) == (7, False)
    assert str(schema.field("tags").type) == "ARRAY<STRING>"
    assert str(schema.field("place").type) == "STRUCT<lat: DOUBLE, lon: DOUBLE>"
    assert str(schema.field("m").type) == "MAP<STRING, INT>"


def test_what_show_create_prints_makes_the_same_table(session):
    session.sql(
        "CREATE TABLE t (a INT NOT NULL, b STRING DEFAULT 'x''y' COMMENT 'c', PRIMARY KEY (a)) WITH (bucket='3')"
    )
    text = session.sql("SHOW CREATE TABLE t").scalar()
    before = session.table("t").schema
    session.sql("DROP TABLE t")
    session.sql(text)
    after = session.table("t").schema
    assert (after.fields, after.primary_keys, after.options) == (before.fields, before.primary_keys, before.options)


def test_databases(session):
    session.sql("CREATE DATABASE shop; CREATE DATABASE IF NOT EXISTS shop; USE shop; CREATE TABLE t (a INT)")
    assert session.sql("SHOW DATABASES").fetchall() == [("default",), ("shop",)]
    assert session.sql("SHOW TABLES").fetchall() == [("t",)]
    assert session.sql("DESCRIBE DATABASE shop").fetchall()[1] == ("tables", "t")
    with pytest.raises(AlreadyExistsError):
        session.sql("CREATE DATABASE shop")
    session.sql("DROP DATABASE shop CASCADE; DROP DATABASE IF EXISTS shop")
    assert session.sql("SHOW DATABASES").fetchall() == [("default",)]


def test_describe_and_like(shop):
    assert [row[:2] for row in shop.sql("DESCRIBE orders")][:2] == [("id", "BIGINT"), ("customer", "STRING")]
    assert ("# primary key", "id") in [row[:2] for row in shop.sql("DESCRIBE EXTENDED orders")]
    assert shop.sql("DESCRIBE SELECT id, day FROM orders").fetchall() == [("id", "BIGINT"), ("day", "DATE")]
    assert shop.sql("SHOW TABLES LIKE 'o%'").fetchall() == [("orders",)]
    assert shop.sql("SHOW COLUMNS FROM events").rows == 3


def test_alter_table(shop):
    shop.sql("""
        ALTER TABLE events ADD COLUMN note STRING DEFAULT 'n' AFTER kind;
        ALTER TABLE events ALTER COLUMN size TYPE BIGINT;
        ALTER TABLE events RENAME COLUMN kind TO what;
        ALTER TABLE events ALTER COLUMN size FIRST;
        ALTER TABLE events SET ('user.x' = 'y');
        COMMENT ON TABLE events IS 'things that happen';
        COMMENT ON COLUMN events.what IS 'which'
    """)
    schema = shop.table("events").schema
    assert schema.names == ("size", "happened", "what", "note")
    assert (schema.field("size").type, schema.field("note").type) == (BIGINT, STRING)
    assert (schema.comment, schema.field("what").description) == ("things that happen", "which")
    assert shop.sql("SELECT what, note FROM events ORDER BY happened").fetchall() == [("open", "n"), ("close", "n")]
    shop.sql("ALTER TABLE events DROP COLUMN note; ALTER TABLE events UNSET TBLPROPERTIES ('user.x')")
    assert shop.table("events").schema.names == ("size", "happened", "what")
    assert shop.table("events").schema.options == {}
    shop.sql("ALTER TABLE events RENAME TO occurred")
    assert shop.sql("SELECT count(*) FROM occurred").scalar() == 2


def test_a_change_that_would_lose_rows_is_refused(shop):
    with pytest.raises(SchemaChangeError) as err:
        shop.sql("ALTER TABLE orders ALTER COLUMN customer TYPE INT")
    assert err.value.span is not None
    assert "2 of 3" in err.value.message or "3 of 3" in err.value.message


def test_create_or_replace(session):
    session.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
    with pytest.raises(SqlError, match=r"there is a table default\.t already"):
        session.sql("CREATE TABLE t (b STRING)")
    session.sql("CREATE OR REPLACE TABLE t (b STRING)")
    assert session.table("t").schema.names == ("b",)
    session.sql("CREATE OR REPLACE TABLE t AS SELECT 5 AS c")
    assert session.sql("SELECT * FROM t").dicts() == [{"c": 5}]
    with pytest.raises(SqlError):
        session.sql("CREATE OR REPLACE TABLE t AS SELECT nothing FROM t")
    assert session.sql("SELECT * FROM t").dicts() == [{"c": 5}]


def test_create_table_as_with_keys(shop):
    shop.sql(
        "CREATE TABLE best (PRIMARY KEY (id)) WITH ('bucket' = '2') AS SELECT id, amount FROM orders WHERE id < 3"
    )
    table = shop.table("best")
    assert (table.schema.primary_keys, table.schema.options["bucket"]) == (("id",), "2")
    assert table.get(1)["amount"] is not None
    assert (
        shop.sql("CREATE TABLE IF NOT EXISTS best AS SELECT 1 AS x").message == "table default.best is there already"
    )


def test_drop(shop):
    shop.sql("DROP TABLE orders, events; DROP TABLE IF EXISTS orders")
    assert shop.sql("SHOW TABLES").rows == 0
    with pytest.raises(NotFoundError):
        shop.sql("DROP TABLE orders")


def test_types_of_columns(session):
    session.sql(
        "CREATE TABLE t (a INTEGER, b TEXT, c TIMESTAMPTZ, d BLOB, e DECIMAL(5), f INT[], g DOUBLE PRECISION)"
    )
    schema = session.table("t").schema
    assert [str(field.type) for field in schema.fields] == [
        *("INT", "STRING", "TIMESTAMP_LTZ", "BINARY", "DECIMAL(5, 0)", "ARRAY<INT>", "DOUBLE"),
    ]
    assert schema.field("a").type == INT


def test_columns_and_tables_with_spaces_in_their_names_are_moved_and_tagged(session):
    session.sql("""
        CREATE TABLE "odd name" (a INT, "b ""c" INT, "d e" INT);
        ALTER TABLE "odd name" ALTER COLUMN "d e" FIRST;
        ALTER TABLE "default"."odd name" ALTER COLUMN a AFTER "b ""c";
        INSERT INTO "odd name" VALUES (1, 2, 3);
        ALTER TABLE "odd name" CREATE TAG "a-tag"
    """)
    assert session.table("odd name").schema.names == ("d e", 'b "c', "a")
    assert list(session.table("odd name").tags()) == ["a-tag"]
    session.sql("""ALTER TABLE "odd name" SET ('file.compression' = 'lz4')""")
    session.sql("""ALTER TABLE "odd name" UNSET ('file.compression')""")
    assert "file.compression" not in session.table("odd name").schema.options

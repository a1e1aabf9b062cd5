"""`headwater pull` of databases in files, and what it refuses."""

import json
import sqlite3
import sys
from pathlib import Path

import duckdb
import pytest

from headwater.cli.main import run
from headwater.errors import InputError, UsageError
from headwater.graph import GraphStore, LineageGraph
from headwater.graph.tables import COLUMNS, STATEMENTS
from headwater.pull.address import SCHEMES, parse_address
from headwater.pull.catalog import Selection, moves_data

SECRET = "hunter2-xyzzy"
SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE "Order Lines" (
    id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), amount NUMERIC, twice AS (amount * 2)
);
CREATE TABLE log (what TEXT, amount NUMERIC);
CREATE VIEW totals AS SELECT c.name, sum(l.amount) AS "Größe"
    FROM customers c JOIN "Order Lines" l ON l.customer = c.id GROUP BY c.name;
CREATE VIEW best AS SELECT name, "Größe" AS total FROM totals WHERE "Größe" > 10;
CREATE TRIGGER noted AFTER INSERT ON "Order Lines" BEGIN INSERT INTO log SELECT 'order', NEW.amount; END;
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shop():
    with sqlite3.connect("shop.db") as connection:
        connection.executescript(SHOP)
    connection.close()
    return "shop.db"


def pulled(capsys, *words):
    """What a pull says, as JSON."""
    assert run(["pull", *words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def traced(target):
    answer = LineageGraph(GraphStore("warehouse").state()).trace(target)
    return {str(node) for node in answer.nodes}


def test_sqlite(shop, capsys):
    said = pulled(capsys, shop)
    assert (said["tables"], said["definitions"]) == (3, {"trigger": 1, "view": 2})
    assert said["harvest"]["report"]["statements"]["resolved"] == 3
    assert {"totals.Größe", "Order Lines.amount"} <= traced("best.total")
    assert "Order Lines.amount" in traced("log.amount")
    tables = {table["name"]: table for table in json.loads(Path("pulled/shop/schema.json").read_text())["tables"]}
    columns = tables["Order Lines"]["columns"]
    assert [column["name"] for column in columns] == ["id", "customer", "amount", "twice"]
    assert (columns[0]["isPrimaryKey"], columns[1]["foreignKey"]) == (True, {"table": "customers", "column": "id"})
    before = {file: file.stat().st_mtime_ns for file in Path("pulled/shop/sql").rglob("*.sql")}
    assert len(before) == 3
    said = pulled(capsys, shop)
    assert (said["new"], said["changed"], said["gone"], said["harvest"]["analysed"]) == ([], [], [], 0)
    assert {file: file.stat().st_mtime_ns for file in before} == before, "what has not changed is not written"


def test_what_is_gone_loses_its_lineage(shop, capsys):
    pulled(capsys, shop)
    with sqlite3.connect(shop) as connection:
        connection.executescript("DROP VIEW best; DROP TRIGGER noted; DROP TABLE log; CREATE TABLE more (a INT)")
    connection.close()
    Path("pulled/shop/sql/mine.sql").write_text("CREATE VIEW mine AS SELECT name FROM customers")
    said = pulled(capsys, shop)
    assert (said["new"], sorted(said["gone"])) == (["table more"], ["table log", "trigger noted", "view best"])
    assert sorted(file.name for file in Path("pulled/shop/sql").rglob("*.sql")) == ["mine.sql", "totals.sql"]
    columns = GraphStore("warehouse").state().read(COLUMNS).to_pylist()
    assert {row["dataset"] for row in columns} == {"customers", "Order Lines", "totals", "more", "mine"}
    run(["pull", shop])
    assert "0 new, 0 changed, 0 gone" in capsys.readouterr().out


def test_a_pull_that_died_is_completed_by_the_next(shop, capsys, monkeypatch):
    """What is gone is gone from the graph, though the files were written before the harvest died."""
    pulled(capsys, shop)
    with sqlite3.connect(shop) as connection:
        connection.executescript("DROP VIEW best; DROP TABLE log")
    connection.close()
    with monkeypatch.context() as patch:
        patch.setattr("headwater.graph.store.GraphStore.apply", lambda *_: sys.exit(9))
        with pytest.raises(SystemExit):
            run(["pull", shop, "-q"])
    assert not Path("pulled/shop/sql/view/best.sql").exists()
    assert sorted(pulled(capsys, shop)["gone"]) == ["table log", "view best"]
    columns = GraphStore("warehouse").state().read(COLUMNS).to_pylist()
    assert "best" not in {row["dataset"] for row in columns}
    assert pulled(capsys, shop)["gone"] == []


def test_a_database_with_tables_only(capsys):
    """Nothing is to be analysed, and the tables are in the graph all the same."""
    with sqlite3.connect("x.db") as connection:
        connection.execute("CREATE TABLE a (b INT)")
    connection.close()
    assert pulled(capsys, "sqlite:x.db")["new"] == ["table a"]
    assert [row["column"] for row in GraphStore("warehouse").state().read(COLUMNS).to_pylist()] == ["b"]


def test_duckdb(capsys):
    with duckdb.connect("shop.duckdb") as connection:
        for statement in (
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR)",
            "CREATE TABLE orders (id INTEGER, customer INTEGER REFERENCES customers (id), amount DECIMAL(10, 2))",
            "COMMENT ON COLUMN orders.amount IS 'in euros'",
            "CREATE SCHEMA mart",
            "CREATE TABLE mart.orders (other INTEGER)",
            "CREATE VIEW mart.totals AS SELECT c.name, sum(o.amount) AS total "
            "FROM customers c JOIN main.orders o ON o.customer = c.id GROUP BY c.name",
            'CREATE VIEW mart."Best / Of" AS SELECT name, total FROM mart.totals WHERE total > 10',
            'CREATE VIEW mart."best / of it" AS SELECT name FROM mart."Best / Of"',
            "CREATE MACRO tax(x) AS x * 0.2",
            "CREATE MACRO of_customer(c) AS TABLE SELECT * FROM orders WHERE customer = c",
        ):
            connection.execute(statement)
    said = pulled(capsys, "duckdb:shop.duckdb")
    assert (said["tables"], said["definitions"]) == (3, {"macro": 2, "view": 3})
    assert {row["status"] for row in GraphStore("warehouse").state().read(STATEMENTS).to_pylist()} == {"resolved"}
    assert {"mart.totals.total", "main.orders.amount"} <= traced("mart.Best / Of.total")
    columns = GraphStore("warehouse").state().read(COLUMNS).to_pylist()
    assert [row["column"] for row in columns if row["description"] == "in euros"] == ["amount"]
    assert sorted(file.name for file in Path("pulled/shop/sql/mart/view").iterdir()) == [
        "Best %2F Of.sql",
        "best %2F of it.sql",
        "totals.sql",
    ]


def test_the_files_can_be_harvested_by_hand(shop, capsys):
    pulled(capsys, shop, "--into", "here", "--no-harvest")
    assert not Path("warehouse").exists()
    assert run(["harvest", "sqlite=here/sql", "--schema", "here/schema.json"]) == 0
    assert "Order Lines.amount" in traced("best.total")


def test_a_dry_run_writes_nothing(shop, capsys):
    assert run(["pull", shop, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "3 tables, 1 trigger, 2 views" in said
    assert "  new      view best" in said
    assert sorted(path.name for path in Path().iterdir()) == ["shop.db"]


def test_a_folder_is_for_one_database(shop, capsys):
    pulled(capsys, shop, "--no-harvest")
    Path("shop.db").rename("other.db")
    assert run(["pull", "other.db", "--into", "pulled/shop"]) == 2
    assert "pulled/shop holds shop.db" in capsys.readouterr().err
    Path("pulled/shop/pull.json").write_text("{")
    assert run(["pull", "other.db", "--into", "pulled/shop"]) == 2
    assert "remove it to pull everything anew" in capsys.readouterr().err


def test_files_that_are_no_databases(capsys):
    Path("a.sql").write_text("SELECT 1")
    with pytest.raises(InputError, match="neither SQLite nor DuckDB"):
        parse_address("a.sql")
    assert run(["pull", "sqlite:a.sql"]) == 2
    assert "error[database-failed]: sqlite:a.sql cannot be read" in capsys.readouterr().err
    assert run(["pull", "duckdb:a.sql"]) == 2
    assert "error[database-failed]: duckdb:a.sql cannot be read" in capsys.readouterr().err
    assert run(["pull", "sqlite:nowhere.db"]) == 2
    assert "there is no file nowhere.db" in capsys.readouterr().err
    assert run(["pull", "spark:nowhere"]) == 2
    assert "there is no metastore_db" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@db/shop",
        f"postgresql://:{SECRET}@db/shop",
        f"postgresql://me@db/shop?password={SECRET}",
        f"postgresql:///shop?user=me&PassWord={SECRET}",
        f"mysql://me:{SECRET}@db/shop",
        f"mysql://me@db/shop?passwd={SECRET}",
        f"mariadb://me@db/shop?ssl_key_password={SECRET}",
    ],
)
def test_a_password_in_an_address_is_refused(address, capsys):
    assert run(["pull", address, "--verbose"]) == 2
    said = capsys.readouterr()
    assert SECRET not in said.err + said.out
    assert "there is a password in the address" in said.err
    assert "PGPASSWORD" in said.err or "MYSQL_PWD" in said.err
    assert list(Path().iterdir()) == []


def test_addresses():
    assert {parse_address(f"{scheme}://me@db:1/shop").kind for scheme in SCHEMES} == set(SCHEMES.values())
    address = parse_address("postgresql://me@db/My%20Shop?sslkey=a.pem")
    assert (address.name, address.database) == ("My Shop", "My Shop")
    assert parse_address("duckdb:data/shop.duckdb").name == "shop"
    assert parse_address("mysql://me@db").name == "db"
    with pytest.raises(UsageError, match="`postgre` is no database") as caught:
        parse_address("postgre://db/shop")
    assert caught.value.hint == "did you mean `postgres:`?"
    with pytest.raises(UsageError, match="`oracle` is no database") as caught:
        parse_address("oracle://db/shop")
    assert all(
        scheme in str(caught.value.hint) for scheme in ("postgresql://", "mysql://", "duckdb:", "sqlite:", "spark:")
    )
    with pytest.raises(UsageError) as caught:
        parse_address("snowflake://account/db")
    assert "query-logs.md" in str(caught.value.hint)
    with pytest.raises(UsageError, match="cannot be read"):
        parse_address("postgresql://[db/shop")


def test_the_password_of_the_environment_is_for_the_driver_only(monkeypatch):
    monkeypatch.setenv("HEADWATER_PULL_PASSWORD", "a/b@c")
    address = parse_address("postgresql://me@db:5432/shop?sslmode=require")
    assert address.with_options(sslmode="x", password=address.password) == (
        "postgresql://me@db:5432/shop?sslmode=require&password=a%2Fb%40c"
    )
    assert parse_address("postgresql:///shop").with_options(password=None) == "postgresql:///shop?"
    monkeypatch.setenv("PGPASSWORD", "own")
    assert address.password == "own"
    assert "own" not in repr(address)
    assert "a/b" not in repr(address)


DRIVERS = [("postgresql", "adbc_driver_postgresql", "postgres"), ("mysql", "pymysql", "mysql")]


@pytest.mark.parametrize(("scheme", "module", "extra"), DRIVERS)
def test_a_driver_that_is_not_installed(monkeypatch, capsys, scheme, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    assert run(["pull", f"{scheme}://me@db/shop"]) == 2
    said = capsys.readouterr().err
    assert "error[missing-dependency]" in said
    assert "`pip install " in said
    assert f"headwater[{extra}]" in said


def test_patterns_select_schemas_and_tables():
    wanted = Selection(only=("sales", "raw.o*"), exclude=("*.tmp_*",))
    assert wanted.takes("sales", "Orders")
    assert wanted.takes("RAW", "Orders")
    assert not wanted.takes("raw", "customers")
    assert not wanted.takes("sales", "TMP_x")
    assert Selection(only=("orders",)).takes(None, "orders")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("/* app */ SELECT a FROM t", True),
        ("WITH x AS (SELECT 1) SELECT * FROM x", True),
        ("CREATE TABLE t AS SELECT 1", True),
        ("SELECT 1", False),
        ("SELECT version()", False),
        ("CREATE TABLE t (a INT)", False),
        ("CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (a / ?) STORED)", False),
        ("CREATE TABLE t SELECT a FROM u", True),
        ("CREATE VIEW v AS SELECT a FROM t", False),
        ("CALL f()", False),
        ("SELECT relname FROM pg_class", False),
        ("SELECT * FROM information_schema.tables", False),
        ("/* headwater pull */ SELECT a FROM t", False),
        ("COMMIT", False),
    ],
)
def test_statements_of_a_history_that_count(text, counts):
    assert moves_data(text) is counts


def test_a_view_of_a_table_that_is_gone(shop, capsys):
    with sqlite3.connect(shop) as connection:
        connection.execute("CREATE VIEW broken AS SELECT a FROM nowhere")
    connection.close()
    said = pulled(capsys, shop)
    assert (said["tables"], said["definitions"]["view"]) == (3, 3)
    assert "the columns of views are not known" in said["notes"][0]
    assert {"totals.Größe", "Order Lines.amount"} <= traced("best.total")

"""A small world in which every command that `--help` or a hint shows can be run as it stands."""

import contextlib
import json
import subprocess

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from headwater import Warehouse, connect
from headwater.cli.main import run

TEXTS = {
    "models/orders.sql": "CREATE TABLE mart.revenue AS SELECT id, amount AS total FROM raw.orders",
    "models/customers.sql": "CREATE TABLE stg.customers AS SELECT email, phone FROM raw.customers",
    "sql/bq/a.sql": "CREATE TABLE d.a AS SELECT 1 AS x",
    "sql/sf/b.sql": "CREATE TABLE b AS SELECT a.x FROM a",
    "main/sql/a.sql": "CREATE TABLE a AS SELECT x FROM t",
    "branch/sql/a.sql": "CREATE TABLE a AS SELECT x, y FROM t",
    "schema.sql": "CREATE TABLE raw.orders (id INT, amount INT); CREATE TABLE raw.customers (email TEXT, phone INT);",
    "etl.sql": "INSERT INTO d SELECT a + b AS c FROM t",
    "load.sql": "SELECT count(*) FROM sales.orders",
    "checks.toml": '[tables."sales.orders".columns]\nid = { not_null = true, unique = true }\n',
    "orders.csv": "id,amount\n1,2.50\n2,3.00\n",
}
SCHEMA = {"raw.orders": {"id": "INT64", "amount": "INT64"}, "raw.customers": {"email": "STRING", "phone": "INT64"}}
MANIFEST = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "adapter_type": "duckdb"},
    "nodes": {},
    "sources": {},
}


def make_world(folder):
    """Fill a folder with the files and tables that examples name."""
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "target").mkdir()
    (folder / "target" / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    (folder / "headwater.toml").write_text('warehouse = "lake"\n')
    _commit(folder)
    (folder / "new").mkdir()
    pq.write_table(pa.table({"id": [7], "amount": pa.array(["1.00"])}), folder / "new" / "one.parquet")
    pq.write_table(pa.table({"query": ["CREATE TABLE x AS SELECT 1 AS y"]}), folder / "query_log.parquet")
    duckdb.connect(folder / "shop.duckdb").close()
    _make_tables(folder)
    assert run(["harvest", "models/", "--dialect", "snowflake", "--schema", "schema.sql"]) == 0
    assert run(["harvest", "models/", "--dialect", "snowflake"]) == 0
    assert run(["tag", "raw.customers.email", "--tag", "email"]) == 0
    assert run(["tag", "stg.*.phone", "--tag", "pii"]) == 0
    with open("events.ndjson", "w") as file, contextlib.redirect_stdout(file):
        assert run(["lineage", "etl.sql", "--format", "openlineage"]) == 0


def _commit(folder):
    """Make the folder a git repository, with the names that examples compare with."""
    who = ("-c", "user.name=said", "-c", "user.email=said@example.com")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        (*who, "commit", "-qm", "first"),
        ("tag", "v1.2"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _make_tables(folder):
    warehouse = Warehouse(folder / "lake")
    for database in ("sales", "shop", "db", "scratch", "gold"):
        warehouse.create_database(database)
    orders = warehouse.create_table("sales.orders", {"id": "BIGINT", "amount": "DECIMAL(10, 2)"}, primary_key="id")
    for number in range(1, 5):
        orders.write([(42, f"{number}.00"), (number, "200.00")])
        orders.create_tag(f"v{number}")
    warehouse.create_table("db.t", {"day": "DATE", "k": "INT"}, primary_key=["day", "k"])
    with connect(folder / "lake") as session:
        session.sql("INSERT INTO db.t VALUES (DATE '2026-11-01', 7)")
        session.sql("CREATE TABLE shop.orders AS SELECT id, amount FROM sales.orders")
        session.sql("CREATE TABLE shop.gold AS SELECT sum(amount) AS total FROM shop.orders")
        session.sql(
            "CREATE TABLE gold.revenue (day DATE, country STRING, revenue DOUBLE, PRIMARY KEY (day, country))"
        )
        for _ in range(7):
            session.sql("INSERT INTO shop.orders SELECT id, amount FROM sales.orders")
            session.sql("INSERT INTO shop.gold SELECT sum(amount) FROM shop.orders")
            revenue = (
                "SELECT DATE '2026-03-01', country, sum(amount) FROM shop.orders, (VALUES ('NL'), ('DE')) c(country)"
            )
            session.sql(f"INSERT OVERWRITE gold.revenue {revenue} GROUP BY country")

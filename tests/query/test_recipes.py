"""Every commit of a statement keeps what running it again takes."""

import json

import pytest


def recipe(session, table):
    return session.table(table).snapshot().origin.recipe


def test_the_text_the_database_and_the_states(shop):
    shop.sql("CREATE DATABASE mart; USE mart")
    shop.sql("CREATE TABLE big AS SELECT id FROM default.orders WHERE amount > ?", [1.0])
    made = recipe(shop, "big")
    assert (made.engine, made.database, made.parameters, made.reason) == ("duckdb", "mart", (1.0,), None)
    (row,) = shop.sql("SELECT engine, sql, parameters, inputs, reason, base FROM big$recipes").fetchall()
    assert row == (
        "duckdb",
        made.sql or shop.table("big").snapshot().origin.sql,
        "[1.0]",
        ["default.orders@1"],
        None,
        None,
    )


def test_states_of_one_table_are_told_apart_by_their_clauses(shop):
    shop.sql("DELETE FROM orders WHERE id = 1")
    shop.sql("CREATE TABLE gone AS SELECT a.id FROM orders VERSION AS OF 1 a ANTI JOIN orders b USING (id)")
    inputs = shop.table("gone").snapshot().origin.inputs
    assert {(each.moment, each.snapshot_id) for each in inputs} == {("VERSION AS OF 1", 1), (None, 2)}


def test_every_statement_that_writes(shop):
    shop.sql("UPDATE orders SET amount = 1 WHERE id = 1; DELETE FROM orders WHERE id = 2; TRUNCATE TABLE orders")
    shop.sql(
        "MERGE INTO orders o USING (SELECT 9 AS id) s ON o.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (9)"
    )
    shop.sql("INSERT OVERWRITE orders SELECT * FROM orders VERSION AS OF 1")
    rows = shop.sql("SELECT operation, engine, base, reason FROM orders$recipes ORDER BY snapshot_id").fetchall()
    assert [row[0] for row in rows] == ["INSERT", "UPDATE", "DELETE", "OVERWRITE", "MERGE", "OVERWRITE"]
    assert {row[1] for row in rows} == {"duckdb"}
    assert [row[2] for row in rows] == [None, 1, 2, 3, 4, 5]


def test_files_are_pinned_by_size_and_time(shop, tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("a,b\n1,2\n")
    shop.sql(f"CREATE TABLE one AS SELECT * FROM read_csv('{file}')")
    shop.sql(f"CREATE TABLE two AS SELECT * FROM '{file}'")
    for name in ("one", "two"):
        (kept,) = recipe(shop, name).files
        assert (kept.path, kept.size, kept.modified) == (str(file), 8, file.stat().st_mtime_ns)


def test_credentials_are_masked_and_said(shop):
    shop.sql("CREATE TABLE t AS SELECT 'jdbc:postgresql://me:hunter2@db/x' AS url")
    origin = shop.table("t").snapshot().origin
    assert "hunter2" not in json.dumps(str(origin))
    assert "credential" in origin.recipe.reason


SECRETS = [
    "SELECT 'AKIAIOSFODNN7EXAMPLE' AS k",
    "SELECT 1 AS k WHERE 'AKIAIOSFODNN7EXAMPLE' <> ''",
    "SELECT 'ghp_AKIAIOSFODNN7EXAMPLE42F292c6912' AS k",
    "SELECT 'eyJAKIAIOSFODNN7EXAMPLE.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N' AS k",
    "SELECT 'Bearer AKIAIOSFODNN7EXAMPLE' AS k",
    "SELECT customer AS password FROM orders WHERE 'AKIAIOSFODNN7EXAMPLE' = customer",
    "SELECT id AS k FROM (SELECT 1 AS id, 'x' AS token) WHERE token = 'my AKIAIOSFODNN7EXAMPLE'",
    "SELECT 'q AKIAIOSFODNN7EXAMPLE' AS api_key",
    "SELECT '-----BEGIN RSA PRIVATE KEY-----AKIAIOSFODNN7EXAMPLE' AS k",
]


@pytest.mark.parametrize("query", SECRETS)
def test_literals_that_look_like_credentials(shop, query):
    shop.sql(f"CREATE TABLE t AS {query} -- token: AKIAIOSFODNN7EXAMPLE")
    origin = shop.table("t").snapshot().origin
    assert "AKIAIOSFODNN7EXAMPLE" not in str(origin)
    assert "credential" in origin.recipe.reason


def test_columns_that_are_called_like_credentials_are_no_literals(shop):
    shop.sql(
        "CREATE TABLE t AS SELECT a.token FROM (SELECT 'x' AS token) AS a JOIN (SELECT 'x' AS t) b ON a.token = b.t"
    )
    assert "'x' AS t)" in shop.table("t").snapshot().origin.sql
    shop.sql("CREATE TABLE u AS SELECT id AS token_count FROM orders a WHERE id = 1 -- the password=hunter2 is gone")
    origin = shop.table("u").snapshot().origin
    assert "hunter2" not in origin.sql
    assert origin.recipe.reason is None


@pytest.mark.parametrize("parameters", [["AKIAIOSFODNN7EXAMPLE"], {"token": "s3"}])
def test_parameters_that_look_like_credentials(shop, parameters):
    place = "$token" if isinstance(parameters, dict) else "?"
    shop.sql(f"CREATE TABLE t AS SELECT {place} AS v", parameters)
    origin = shop.table("t").snapshot().origin
    assert origin.recipe.parameters is None
    assert "credential" in origin.recipe.reason


def test_parameters_that_are_no_plain_values(shop):
    shop.sql("CREATE TABLE t AS SELECT ? AS v", [[1, 2]])
    assert "parameters" in recipe(shop, "t").reason


def test_what_others_write_has_no_recipe(shop):
    shop.table("orders").write([{"id": 77}])
    assert shop.table("orders").snapshot().origin is None

"""Functions that give rows and are given in a schema: sources with columns of their own."""

import pytest

import headwater
from headwater.lineage.imports import schema_of_json, schema_of_mapping
from headwater.lineage.statement import Status

SCHEMA = {"o": {"i": "INT"}, "shop.orders_of(customer INT)": {"id": "INT", "total": "INT"}, "clock()": ["now"]}


def edges(sql, dialect="postgres", schema=SCHEMA):
    (statement,) = headwater.analyze(sql, dialect=dialect, schema=schema).statements
    return statement, {f"{edge.target} <- {edge.source} {edge.kind.value}" for edge in statement.edges}


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("postgres", "shop.orders_of(o.i) q"),
        ("snowflake", "TABLE(shop.orders_of(o.i)) q"),
        ("databricks", "LATERAL shop.orders_of(o.i) q"),
    ],
)
def test_a_given_function_is_a_source_whose_rows_its_arguments_decide(dialect, call):
    statement, found = edges(f"CREATE TABLE d AS SELECT q.id FROM o, {call}", dialect)
    assert found == {"d.id <- shop.orders_of.id IDENTITY", "d.* <- o.i FILTER"}
    assert statement.status is Status.RESOLVED


def test_a_given_function_has_its_columns_in_order():
    _, found = edges("SELECT * FROM shop.orders_of(3) AS z(k)")
    assert found == {"<result>.k <- shop.orders_of.id IDENTITY", "<result>.total <- shop.orders_of.total IDENTITY"}
    assert edges("SELECT now FROM clock()")[1] == {"<result>.now <- clock.now IDENTITY"}


def test_a_function_of_the_script_wins():
    sql = "CREATE FUNCTION clock() RETURNS TABLE (now INT) RETURN SELECT i FROM o; SELECT now FROM clock()"
    last = headwater.analyze(sql, dialect="databricks", schema=SCHEMA).statements[-1]
    assert [str(edge.source) for edge in last.edges] == ["o.i"]


def test_a_table_of_the_same_name_is_another_thing():
    statement, _ = edges("SELECT id FROM shop.orders_of")
    assert [str(table.resolution.value) for table in statement.sources] == ["unknown"]


def test_functions_in_the_wire_format_and_in_a_mapping_are_the_same():
    columns = '[{"name": "id", "dataType": "INT"}, {"name": "total", "dataType": "INT"}]'
    arguments = '[{"name": "customer", "dataType": "INT"}]'
    wire = f"""{{"functions": [
        {{"schema": "shop", "name": "orders_of", "arguments": {arguments}, "columns": {columns}}}]}}"""
    mapping = {key: value for key, value in SCHEMA.items() if key.startswith("shop")}
    assert schema_of_json(wire).functions == schema_of_mapping(mapping).functions

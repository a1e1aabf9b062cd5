"""Schemas as the request form in Python, and keys told of the column and of the table."""

import json

import pytest

import headwater
from headwater.errors import IssueCode, SchemaError
from headwater.lineage.imports import schema_of_json
from headwater.lineage.schema import ConstraintType, ForeignKey
from headwater.model.relation import Resolution

ORDERS = {"schema": "shop", "name": "orders", "columns": [{"name": "id", "dataType": "INT"}, {"name": "amount"}]}


def test_the_request_form_as_a_dictionary():
    request = {
        "defaultCatalog": "lake",
        "defaultSchema": "shop",
        "searchPath": [{"schema": "shop"}, {"catalog": "lake", "schema": "crm"}],
        "caseSensitivity": "lower",
        "tables": [ORDERS],
        "allowImplied": False,
    }
    found = headwater.import_schema(request)
    assert found == schema_of_json(json.dumps(request))
    assert (found.default_schema, found.allow_implied, found.tables[0].parts) == ("shop", False, ("shop", "orders"))
    result = headwater.analyze("INSERT INTO d SELECT * FROM orders", schema=request)
    assert [str(edge.source) for edge in result.edges] == ["lake.shop.orders.id", "lake.shop.orders.amount"]


def test_the_short_form_as_before():
    short = {"shop.orders": ["id", "amount"], "tables": {"id": "INT"}}
    assert [table.parts for table in headwater.import_schema(short).tables] == [("shop", "orders"), ("tables",)]
    nested = {"tables": {"orders": ["id"]}}
    assert headwater.import_schema(nested).tables[0].parts == ("tables", "orders")
    beside = {"functions": ["name"], "orders": ["id"]}
    assert [table.name for table in headwater.import_schema(beside).tables] == ["functions", "orders"]


@pytest.mark.parametrize("empty", [{}, {"tables": []}, {"tables": [], "functions": []}, {"allowImplied": True}])
def test_no_table_is_no_table(empty):
    assert headwater.import_schema(empty).tables == ()
    assert schema_of_json(json.dumps(empty)).tables == ()


@pytest.mark.parametrize(
    "ambiguous", [{"tables": ["a", "b"]}, {"functions": ["x"]}, {"tables": [ORDERS], "orders": ["id"]}]
)
def test_a_form_that_may_be_either_is_refused_and_both_are_shown(ambiguous):
    for read in (headwater.import_schema, lambda value: schema_of_json(json.dumps(value))):
        with pytest.raises(SchemaError, match="a table of this schema or a part of the request form") as caught:
            read(ambiguous)
        assert '"tables": [{"schema"' in caught.value.hint
        assert '"shop.orders": {"id"' in caught.value.hint


def test_a_wrong_request_form_says_what_is_wrong():
    with pytest.raises(SchemaError, match="allowImplied"):
        headwater.import_schema({"tables": [ORDERS], "allowImplied": "yes"})


DDL = """
CREATE TABLE people (id INT PRIMARY KEY, email TEXT UNIQUE, boss INT REFERENCES people (id));
CREATE TABLE orders (
  id INT, person INT, line INT, PRIMARY KEY (ID, line), FOREIGN KEY (person) REFERENCES people (id), UNIQUE (line))
"""


def test_keys_are_told_of_the_column_and_of_the_table():
    orders, people = headwater.analyze(DDL, "postgres").resolved_schema.tables
    assert {each.constraint_type: each.columns for each in people.constraints} == {
        ConstraintType.PRIMARY_KEY: ("id",),
        ConstraintType.UNIQUE: ("email",),
        ConstraintType.FOREIGN_KEY: ("boss",),
    }
    assert people.constraints[-1].referenced_table == "people"
    assert people.constraints[-1].referenced_columns == ("id",)
    assert [column.is_primary_key for column in people.columns] == [True, None, None]
    assert [column.is_primary_key for column in orders.columns] == [True, None, True]
    assert orders.columns[1].foreign_key == ForeignKey(table="people", column="id")
    assert len(orders.constraints) == 3


def test_keys_of_googlesql():
    ddl = """
    CREATE TABLE ds.people (id INT64, PRIMARY KEY (id) NOT ENFORCED);
    CREATE TABLE ds.orders (
      id INT64 PRIMARY KEY NOT ENFORCED, person INT64, FOREIGN KEY (person) REFERENCES ds.people (id) NOT ENFORCED)
    """
    orders, people = headwater.analyze(ddl, "bigquery").resolved_schema.tables
    assert people.columns[0].is_primary_key
    assert orders.columns[0].is_primary_key
    assert orders.columns[1].foreign_key == ForeignKey(table="ds.people", column="id")
    assert [each.constraint_type for each in orders.constraints] == [
        ConstraintType.PRIMARY_KEY,
        ConstraintType.FOREIGN_KEY,
    ]


def test_keys_of_an_imported_table():
    columns = [
        {"name": "id", "isPrimaryKey": True},
        {"name": "boss", "foreignKey": {"table": "people", "column": "id"}},
    ]
    result = headwater.analyze("SELECT id FROM people", schema={"tables": [{"name": "people", "columns": columns}]})
    (people,) = result.resolved_schema.tables
    assert [each.columns for each in people.constraints] == [("id",), ("boss",)]


@pytest.mark.parametrize("engine", ["auto", "zetasql"])
def test_a_table_known_in_part_is_imported_in_googlesql(engine):
    schema = {
        "tables": [{"schema": "ds", "name": "t", "columns": [{"name": "a", "dataType": "INT64"}], "complete": False}]
    }
    result = headwater.analyze("CREATE TABLE ds.o AS SELECT * FROM ds.t", "bigquery", schema=schema, engine=engine)
    (statement,) = result.statements
    assert [issue.code for issue in statement.issues] == [IssueCode.APPROXIMATE_LINEAGE]
    assert not any("not found" in issue.message for issue in statement.issues)
    if engine == "auto":
        assert statement.sources[0].resolution is Resolution.IMPORTED
        assert all(edge.approximate for edge in statement.edges)

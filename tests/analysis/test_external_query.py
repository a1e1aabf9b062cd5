"""Rows of other databases: EXTERNAL_QUERY and table functions without arguments have sources, in both engines."""

import pytest

import headwater
from headwater.errors import IssueCode

SQL = """
CREATE TABLE ds.people AS
SELECT e.name, e.total * 2 AS twice
FROM EXTERNAL_QUERY('us.crm', '''
  SELECT c.name, SUM(o.amount)::numeric AS total FROM public.customers c JOIN orders o ON o.cid = c.id GROUP BY c.name
''') AS e
"""
CONNECTIONS = {"connections": [{"name": "us.crm", "dialect": "postgres"}]}


def values(result):
    return {f"{edge.target} <- {edge.source}" for edge in result.edges if edge.kind.is_direct}


@pytest.mark.parametrize("engine", ["auto", "sqlglot"])
def test_the_query_is_followed_into_the_dialect_of_its_connection(engine):
    result = headwater.analyze(SQL, "bigquery", schema=CONNECTIONS, engine=engine)
    assert values(result) == {
        "ds.people.name <- us.crm.public.customers.name",
        "ds.people.twice <- us.crm.orders.amount",
    }
    tables = {str(table.name) for statement in result.statements for table in statement.sources}
    assert tables == {"us.crm.public.customers", "us.crm.orders"}


@pytest.mark.parametrize("engine", ["auto", "sqlglot"])
def test_a_query_that_means_the_same_in_all_languages_is_followed_without_one(engine):
    sql = "SELECT x FROM EXTERNAL_QUERY('us.crm', 'SELECT a AS x FROM s.t')"
    (statement,) = headwater.analyze(sql, "bigquery", engine=engine).statements
    assert [str(edge.source) for edge in statement.edges] == ["us.crm.s.t.a"]
    assert statement.status.value == "resolved"


@pytest.mark.parametrize("engine", ["auto", "sqlglot"])
@pytest.mark.parametrize(
    "schema", [None, {"connections": [{"name": "us.crm", "dialect": "klingon"}]}], ids=["unknown", "wrong"]
)
def test_without_a_dialect_lineage_ends_at_the_connection(engine, schema):
    quoted = SQL.replace("c.name,", 'c."name" AS name,')  # a column, or a string: that depends on the language
    result = headwater.analyze(quoted, "bigquery", schema=schema, engine=engine)
    (statement,) = result.statements
    assert [str(table.name) for table in statement.sources] == ["us.crm"]
    assert all(edge.approximate for edge in statement.edges)
    assert IssueCode.APPROXIMATE_LINEAGE in [issue.code for issue in statement.issues]


def test_what_cannot_be_parsed_ends_at_the_connection():
    sql = "SELECT * FROM EXTERNAL_QUERY('us.crm', 'this is no SQL at all (')"
    (statement,) = headwater.analyze(sql, "bigquery", schema=CONNECTIONS).statements
    assert [str(table.name) for table in statement.sources] == ["us.crm"]


@pytest.mark.parametrize("dialect", ["bigquery", "postgres", "snowflake"])
def test_a_table_function_without_arguments_is_a_source(dialect):
    result = headwater.analyze("CREATE TABLE d AS SELECT f.a FROM ops.rates() AS f", dialect)
    (statement,) = result.statements
    assert [str(table.name) for table in statement.sources] == ["ops.rates"]
    assert all(edge.approximate for edge in statement.edges)
    assert statement.edges


def test_one_with_arguments_is_made_of_them():
    sql = "CREATE TABLE d AS SELECT f.a FROM t, ops.rates(t.b) AS f"
    (statement,) = headwater.analyze(sql, "postgres", schema={"t": ["b"]}).statements
    assert [str(table.name) for table in statement.sources] == ["t"]

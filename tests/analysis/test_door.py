import json
from pathlib import Path

import pytest

import headwater
from headwater.analysis.analyze import Request, analyze_sources
from headwater.errors import DialectError, InputError, IssueCode, SchemaError
from headwater.lineage.schema import ColumnSchema, SchemaTable
from headwater.lineage.statement import Status
from headwater.text import Source

SHOP = {"orders": {"id": "INT", "cid": "INT", "amount": "DECIMAL(10,2)"}, "customers": ["id", "name"]}
WIRE = Path(__file__).parent / "data" / "wire.json"


def pairs(result):
    return [(str(edge.source), str(edge.target), edge.kind.value) for edge in result.edges]


def test_value_and_full_reading():
    sql = "INSERT INTO d SELECT CASE WHEN id > 1 THEN amount END AS x FROM orders WHERE cid = 2"
    value = headwater.analyze(sql, schema=SHOP, reading="value")
    assert pairs(value) == [("orders.amount", "d.x", "TRANSFORMATION")]
    full = headwater.analyze(sql, schema=SHOP)
    assert ("orders.id", "d.x", "CONDITIONAL") in pairs(full)
    assert ("orders.cid", "d.*", "FILTER") in pairs(full)


def test_tables_chain_across_sources():
    sources = [
        Source("CREATE TABLE a AS SELECT id AS k FROM orders;", "1.sql"),
        Source("CREATE TABLE b AS SELECT * FROM a;", "2.sql"),
    ]
    result = analyze_sources(sources, Request(schema=SHOP))
    assert [(each.index, each.source_name) for each in result.statements] == [(0, "1.sql"), (1, "2.sql")]
    assert pairs(result)[-1] == ("a.k", "b.k", "IDENTITY")
    upstream = result.graph.upstream(result.edges[-1].target)
    assert [str(ref) for ref in upstream] == ["a.k", "orders.id"]


def test_places_in_a_template_point_at_the_template():
    text = "{% set t = 'orders' %}\nSELECT {{ 'am' ~ 'ount' }} AS x, nope FROM {{ t }} o"
    result = headwater.analyze(text, schema=SHOP, name="m.sql")
    source = result.sources["m.sql"]
    (statement,) = result.statements
    assert source.excerpt(statement.sources[0].spans[0]).startswith("{{ t }}")
    assert source.excerpt(result.edges[0].source_span) == "{{ 'am' ~ 'ount' }}"
    unknown = next(issue for issue in result.issues if issue.code is IssueCode.UNKNOWN_COLUMN)
    assert source.excerpt(unknown.span) == "nope"


def test_braces_in_plain_sql_are_no_template():
    result = headwater.analyze("SELECT id, '{{' AS open FROM orders", schema=SHOP)
    assert ("orders.id", "<result>.id", "IDENTITY") in pairs(result)


def test_one_bad_statement_does_not_lose_the_rest():
    result = headwater.analyze("SELECT id FROM orders; SELECT FROM WHERE; SELECT name FROM customers", schema=SHOP)
    assert [each.status for each in result.statements] == [Status.RESOLVED, Status.ERROR, Status.RESOLVED]
    assert result.has_errors
    assert {issue.statement_index for issue in result.issues} == {1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.json", '{"tables": [{"name": "orders", "columns": [{"name": "id", "dataType": "INT"}]}]}'),
        ("s.json", '{"orders": ["id"]}'),
        ("s.csv", "table_name,column_name,data_type\norders,id,INT\n"),
        ("s.sql", "CREATE TABLE orders (ix INT); ALTER TABLE orders RENAME COLUMN ix TO id;"),
    ],
)
def test_schema_files(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    result = headwater.analyze("SELECT * FROM orders", schema=tmp_path / name)
    assert pairs(result) == [("orders.id", "<result>.id", "IDENTITY")]


@pytest.mark.parametrize(("dialect", "home"), [("postgres", "public"), ("snowflake", "PUBLIC"), ("tsql", "dbo")])
def test_an_unqualified_table_is_looked_for_where_the_engine_looks(dialect, home):
    result = headwater.analyze("SELECT * FROM orders", dialect, schema={f"{home}.orders": ["id"]})
    assert pairs(result) == [(f"{home}.orders.id", "<result>.id", "IDENTITY")]


def test_bad_schema_files_say_where(tmp_path):
    (tmp_path / "s.sql").write_text("CREATE TABLE ok (a INT);\nCREATE TABLE (;")
    with pytest.raises(SchemaError) as caught:
        headwater.analyze("SELECT 1", schema=tmp_path / "s.sql")
    assert caught.value.place.endswith("s.sql:2:15") or ":2:" in caught.value.place
    (tmp_path / "s.json").write_text('{"tables": [{"nam": 1}]}')
    with pytest.raises(SchemaError):
        headwater.analyze("SELECT 1", schema=tmp_path / "s.json")
    with pytest.raises(InputError, match="No such file"):
        headwater.analyze("SELECT 1", schema=tmp_path / "none.json")
    (tmp_path / "s.xml").write_text("")
    with pytest.raises(SchemaError, match="not known"):
        headwater.analyze("SELECT 1", schema=tmp_path / "s.xml")


def test_unknown_dialect_suggests():
    with pytest.raises(DialectError) as caught:
        headwater.analyze("SELECT 1", "snowflak")
    assert caught.value.hint == "did you mean `snowflake`?"


def test_the_resolved_schema_tells_imported_from_implied():
    result = headwater.analyze("CREATE TABLE d AS SELECT id FROM orders", schema=SHOP)
    origins = {table.name: table.origin.value for table in result.resolved_schema.tables}
    assert origins == {"orders": "imported", "customers": "imported", "d": "implied"}


def test_tables_are_asked_for_when_the_schema_lacks_them():
    asked = []

    class Provider:
        def table(self, name):
            asked.append(str(name))
            columns = tuple(ColumnSchema(name=each, data_type="INT64") for each in ("a", "b"))
            return SchemaTable(name=name.name, schema=name.schema, columns=columns)

    for _ in range(2):  # what was analysed before is not asked for again
        headwater.analyze("SELECT x FROM t", "bigquery", schema={"t": {"x": "INT64"}})
        result = headwater.analyze("SELECT * FROM ds.t", "bigquery", tables=Provider())
        assert pairs(result) == [("ds.t.a", "<result>.a", "IDENTITY"), ("ds.t.b", "<result>.b", "IDENTITY")]
    assert asked == ["ds.t"] * 2


@pytest.mark.golden
def test_the_wire_format_is_what_it_was(request):
    """A change of this file is a change of the format: readers of the old one must be thought of."""
    sql = (
        "CREATE TABLE daily AS\n"
        "SELECT c.name, sum(o.amount) AS total, o.addr.city\n"
        "FROM orders o JOIN customers c ON o.cid = c.id JOIN nowhere n ON n.id = o.id\n"
        "GROUP BY 1, 3;\n"
        "SELEC;\n"
    )
    wire = json.loads(headwater.analyze(sql, "bigquery", schema=SHOP, engine="sqlglot", name="etl.sql").to_json())
    for table in wire["resolvedSchema"]["tables"]:
        table["updatedAt"] = "…"
    if request.config.getoption("--golden"):
        WIRE.write_text(json.dumps(wire, indent=1) + "\n")
    assert wire == json.loads(WIRE.read_text())


@pytest.mark.parametrize("dialect", ["bigquery", "postgres"])
def test_a_table_that_is_not_known_leaves_in_doubt_only_what_is(dialect):
    """The name of its table tells where a column comes from; `*` tells no names."""
    schema = {"t": {"x": "INT64"}}
    certain = headwater.analyze("SELECT s.a, t.x FROM nobody AS s JOIN t ON s.k = t.x", dialect, schema=schema)
    assert certain.statements[0].status is Status.RESOLVED
    assert [issue.code.name for issue in certain.issues] == ["UNKNOWN_TABLE"]
    doubtful = headwater.analyze("SELECT * FROM nobody", dialect, schema=schema)
    assert doubtful.statements[0].status is Status.APPROXIMATE


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a, @d AS day FROM p.d.t WHERE day = @d",
        "SELECT DATE_TRUNC(@d, MONTH) AS m, DATE_DIFF(@d, day, DAY) AS n, @d AS d FROM p.d.t",
        "SELECT @n AS n FROM p.d.t",
    ],
)
def test_a_parameter_has_the_type_of_what_it_is_compared_with(text):
    schema = {"p.d.t": {"a": "STRING", "day": "DATE"}}
    result = headwater.analyze(text, "bigquery", schema=schema)
    assert (result.statements[0].status, result.issues) == (Status.RESOLVED, ())

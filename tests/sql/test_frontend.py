"""The front end as a whole: scripts, recovery, spans, bad input."""

import itertools

import pytest

from headwater.errors import DialectError, IssueCode
from headwater.lineage import SchemaResolver, StatementLineage, Status
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.sql.dialects import dialect_names
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source


def analyze(sql: str, dialect: str = "spark", schema: dict | None = None, **options) -> list[StatementLineage]:
    resolver = SchemaResolver(schema_of_mapping(schema or {}), dialect=dialect)
    return list(analyze_script(Source(sql), SqlFrontEnd(dialect), resolver, **options))


def codes(lineage: StatementLineage) -> list[str]:
    return [issue.code.name for issue in lineage.issues]


def test_one_bad_statement_does_not_lose_the_others():
    first, bad, last = analyze("SELECT a FROM t;\nSELECT FROM WHERE;\nSELECT b FROM t", schema={"t": ["a", "b"]})
    assert [str(each.edges[0].source) for each in (first, last)] == ["t.a", "t.b"]
    assert bad.status is Status.ERROR
    (issue,) = bad.issues
    assert issue.code is IssueCode.PARSE_ERROR
    assert issue.span.line == 2
    assert (issue.statement_index, last.index) == (1, 2)


def test_an_unclosed_quote_is_one_issue_and_the_rest_is_read():
    results = analyze("SELECT a FROM t; SELECT b FROM t WHERE x = 'oops", schema={"t": ["a", "b", "x"]})
    assert [each.status for each in results] == [Status.RESOLVED, Status.ERROR]
    assert results[1].issues[0].span.column == 18


def test_spans_of_both_ends():
    sql = "INSERT INTO d (p)\nSELECT a + b AS x FROM t"
    (lineage,) = analyze(sql, schema={"t": ["a", "b"]})
    source = Source(sql)
    edge = lineage.edges[1]
    assert source.excerpt(edge.source_span) == "b"
    assert source.excerpt(edge.target_span) == "p"
    assert (edge.source_span.line, edge.source_span.column) == (2, 12)
    assert edge.expression == "a + b"
    assert source.excerpt(lineage.target_span) == "d"
    assert source.excerpt(lineage.sources[0].spans[0]) == "t"


def test_spans_in_text_that_is_not_ascii():
    sql = "SELECT 'é', größe AS ß FROM tä"
    (lineage,) = analyze(sql, schema={"tä": ["größe"]})
    assert Source(sql).excerpt(lineage.edges[0].source_span) == "größe"
    assert Source(sql).excerpt(lineage.edges[0].target_span) == "ß"


def test_expressions_are_found_inside_nested_queries():
    sql = "SELECT (SELECT max(x + 1) FROM u) AS m, upper( a ) FROM (SELECT lower(b) AS a FROM t) s WHERE s.a > 1"
    (lineage,) = analyze(sql, schema={"t": ["b"], "u": ["x"]})
    texts = {(edge.target.name, edge.kind.value): edge.expression for edge in lineage.edges}
    assert texts == {
        ("m", "AGGREGATION"): "(SELECT max(x + 1) FROM u)",
        ("_col_1", "TRANSFORMATION"): "upper( a )",
        ("*", "FILTER"): "s.a > 1",
    }


def test_temporary_tables_chain_and_position_matters():
    script = """
    CREATE TEMP TABLE s AS SELECT a AS x FROM t;
    INSERT INTO d SELECT * FROM s;
    CREATE OR REPLACE TEMP TABLE s AS SELECT b AS y FROM t;
    INSERT INTO d SELECT * FROM s;
    DROP TABLE s;
    SELECT * FROM s;
    """
    results = analyze(script, "snowflake", {"t": ["a", "b"]})
    assert [str(edge) for edge in [results[1].edges[0].source, results[3].edges[0].source]] == ["s.x", "s.y"]
    assert codes(results[5]) == ["UNKNOWN_TABLE", "APPROXIMATE_LINEAGE"]


def test_star_in_its_three_cases():
    known, partial, unknown = analyze(
        "SELECT * FROM k; SELECT x FROM p; SELECT * FROM p; SELECT * FROM n".replace("SELECT x FROM p; ", ""),
        schema={"k": ["a", "b"]},
    )
    assert [edge.approximate for edge in known.edges] == [None, None]
    assert [str(edge.source) for edge in unknown.edges] == ["n.*"]
    assert "APPROXIMATE_LINEAGE" in codes(unknown)
    learnt = analyze("SELECT x FROM p; SELECT * FROM p")[1]
    assert [(str(edge.source), bool(edge.approximate)) for edge in learnt.edges] == [("p.x", True), ("p.*", True)]
    assert partial.status is Status.APPROXIMATE


def test_columns_are_asked_of_unknown_tables_through_stars():
    results = analyze("WITH c AS (SELECT * FROM x) SELECT a, b FROM c")
    assert [str(edge.source) for edge in results[0].edges] == ["x.a", "x.b"]


def test_unknown_and_ambiguous_columns():
    unknown, ambiguous = analyze(
        "SELECT amonut FROM t; SELECT id FROM t, u", schema={"t": ["id", "amount"], "u": ["id"]}
    )
    assert unknown.issues[0].hint == "did you mean `amount`?"
    assert [(str(edge.source), edge.approximate) for edge in unknown.edges] == [
        ("t.amonut", "`amonut` is not in the schema of `t`")
    ]
    assert codes(ambiguous) == ["AMBIGUOUS_COLUMN"]
    assert [str(edge.source) for edge in ambiguous.edges] == ["t.id", "u.id"]
    assert all("ambiguous" in edge.approximate for edge in ambiguous.edges)


def test_a_conflict_marks_the_edges_it_concerns():
    script = "CREATE TABLE t (id INT, amount STRING); SELECT id, amount FROM t"
    create, select = analyze(script, schema={"t": {"id": "INT", "amount": "DECIMAL(10,2)"}})
    assert codes(create) == ["SCHEMA_CONFLICT"]
    assert [edge.approximate for edge in select.edges] == [None, "the DDL has type STRING"]


@pytest.mark.parametrize("text", ["", "   \n\t", "-- only a comment", ";;;", "/* a */;"])
def test_nothing_is_nothing(text):
    assert analyze(text) == []


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "tsql", "duckdb"])
def test_binary_garbage_is_issues(dialect):
    text = "".join(chr(each % 256) for each in range(7, 7 + 251 * 40, 251))
    results = analyze(text, dialect)
    assert all(each.status in (Status.ERROR, Status.TABLE_ONLY) for each in results)
    assert all(each.issues for each in results)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 5000 + "a" + ")" * 5000 + " FROM t",
        "SELECT " + "f(" * 5000 + "a" + ")" * 5000 + " FROM t",
        "SELECT a FROM " + "(SELECT a FROM " * 5000 + "t" + ")" * 5000,
        "SELECT " + "CASE WHEN a THEN " * 5000 + "a" + " END" * 5000 + " FROM t",
    ],
)
def test_nesting_without_end_is_an_issue(sql):
    (lineage,) = analyze(sql, schema={"t": ["a"]})
    assert lineage.status is not Status.RESOLVED
    assert lineage.issues


def test_long_chains_are_no_nesting():
    terms = " + ".join(f"c{at}" for at in range(5000))
    unions = " UNION ALL ".join(["SELECT a FROM t"] * 5000)
    (sum_of_all,) = analyze(f"SELECT {terms} AS x FROM t", schema={"t": [f"c{at}" for at in range(5000)]})
    (union,) = analyze(unions, schema={"t": ["a"]})
    assert (len(sum_of_all.edges), len(union.edges)) == (5000, 1)


@pytest.mark.slow
def test_ten_megabytes():
    numbers = ", ".join(str(each) for each in range(10_000, 11_500))
    statement = f"INSERT INTO d (a, b) SELECT x, y + 1 AS z FROM u WHERE x IN ({numbers}) AND name = 'abc';\n"
    count = 10_000_000 // len(statement)
    resolver = SchemaResolver(schema_of_mapping({"u": ["x", "y", "name"], "d": ["a", "b"]}), dialect="snowflake")
    results = analyze_script(Source(statement * count), SqlFrontEnd("snowflake"), resolver)
    assert sum(1 for each in results if each.status is Status.RESOLVED) == count


@pytest.mark.slow
def test_a_long_script_is_read_in_parts_without_losing_its_place():
    filler = "SELECT a FROM t; -- it's only a remark; nothing more\n" * 45_000
    body = "CREATE PROCEDURE p() AS $$ BEGIN INSERT INTO d (p) SELECT a FROM t; DELETE FROM d WHERE q = 1; END $$;\n"
    sql = filler + body + filler + "SELECT b AS last FROM t"
    resolver = SchemaResolver(schema_of_mapping({"t": ["a", "b"], "d": ["p", "q"]}), dialect="snowflake")
    pieces = list(SqlFrontEnd("snowflake").split(Source(sql)))
    assert len(pieces) == 90_003
    *_, last = pieces
    assert last.span.line == 90_002
    front_end = SqlFrontEnd("snowflake")
    lowered = front_end.lower(last, source=Source(sql), resolver=resolver, deadline=float("inf"))
    assert lowered.writes[0].assignments[0].target_span.column == 13


def test_a_statement_that_takes_too_long_is_cut():
    (lineage,) = analyze("SELECT a FROM (SELECT a FROM t)", schema={"t": ["a"]}, time_limit=0)
    assert "takes too long" in lineage.issues[0].message
    assert lineage.status is Status.TABLE_ONLY


@pytest.mark.parametrize("name", ["`p.d.INFORMATION_SCHEMA.TABLES`", "`p-1.d.t`"])
def test_quoted_names_of_several_parts(name):
    (lineage,) = analyze(f"SELECT x FROM {name}", "bigquery")
    (edge,) = lineage.edges
    assert str(edge.source.table) == name.replace("`", "")
    assert Source(f"SELECT x FROM {name}").excerpt(lineage.sources[0].spans[0]) == name


VARIABLES = "p := TRIM(p); p := COALESCE(p, (SELECT max(x) FROM t)); INSERT INTO d (c) SELECT p FROM u;"


@pytest.mark.parametrize("dialect", ["postgres", "oracle", "snowflake"])
def test_a_variable_that_is_made_of_itself(dialect):
    results = analyze(VARIABLES, dialect, {"t": ["x"], "u": ["k"]})
    last = results[-1]
    assert {(edge.source.name.lower(), edge.target.name.lower()) for edge in last.edges} == {("x", "c")}
    assert not any(issue.code is IssueCode.INTERNAL_ERROR for each in results for issue in each.issues)


def test_a_variable_keeps_the_value_that_it_was_given():
    script = "b := 1; a := b; b := (SELECT max(x) FROM t); INSERT INTO d (c) SELECT a FROM u"
    assert analyze(script, "postgres", {"t": ["x"], "u": ["k"]})[-1].edges == ()


def test_variables_that_name_later_ones_are_not_followed_without_end():
    names = [f"v{number}" for number in range(40)]
    doubled = "; ".join(f"{one} := {other} || {other}" for one, other in itertools.pairwise(names))
    results = analyze(f"{doubled}; INSERT INTO d (c) SELECT v0 FROM u", "postgres", {"u": ["k"]})
    assert results[-1].status is Status.RESOLVED


def test_an_assignment_that_is_nested_too_deeply_is_an_issue():
    nested, after = analyze("x := " + "(" * 5000 + "1" + ")" * 5000 + "; SELECT a FROM t", "postgres", {"t": ["a"]})
    assert nested.issues
    assert len(after.edges) == 1


def test_functions_that_double_each_other_are_cut():
    doubled = ";".join(f"CREATE FUNCTION f{at}(x INT) AS (f{at - 1}(x) + f{at - 1}(x))" for at in range(1, 60))
    script = f"CREATE FUNCTION f0(x INT) AS (x); {doubled}; SELECT f59(a) AS z FROM t"
    lineage = analyze(script, "duckdb", {"t": ["a"]}, time_limit=0.5)[-1]
    assert "takes too long" in lineage.issues[0].message


@pytest.mark.parametrize("dialect", [name for name in dialect_names() if name not in ("prql", "dax")])
def test_every_dialect_is_read(dialect):
    (lineage,) = analyze("INSERT INTO d SELECT a, b + 1 AS c FROM t WHERE a > 1", dialect, {"t": ["a", "b"]})
    shown = {f"{edge.target.name} <- {edge.source.name} {edge.kind.value}".lower() for edge in lineage.edges}
    assert shown == {"a <- a identity", "c <- b transformation", "* <- a filter"}


@pytest.mark.parametrize("name", ["PostgreSQL", "mssql", "sparksql", None, "ansi"])
def test_dialects_have_other_names(name):
    assert SqlFrontEnd(name).dialect in (*dialect_names(), "")


def test_a_wrong_dialect_is_a_clear_error():
    with pytest.raises(DialectError) as caught:
        SqlFrontEnd("snowflak")
    assert caught.value.hint == "did you mean `snowflake`?"


def test_the_message_for_a_missing_operand_is_the_same_in_every_process():
    ((issue,),) = [statement.issues for statement in analyze("/")]
    assert issue.message == "syntax error near `/`: a part of `Div` is missing"

"""The front end on statements that are large, odd, or beside the golden cases."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from headwater.errors import Issue
from headwater.lineage import SchemaResolver, StatementLineage, Status
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.model.edges import InfluenceClass
from headwater.text import Source
from headwater.zetasql.frontend import GoogleSqlFrontEnd

TABLES: Mapping[str, Mapping[str, str]] = {
    "t": {"a": "INT64", "b": "INT64", "n": "STRING"},
    "u": {"a": "INT64", "z": "INT64"},
}


def run(
    sql: str, tables: Mapping[str, Mapping[str, str]] = TABLES, dialect: str = "bigquery"
) -> list[StatementLineage]:
    resolver = SchemaResolver(schema_of_mapping(tables), dialect=dialect)
    return list(analyze_script(Source(sql), GoogleSqlFrontEnd(dialect=dialect), resolver))


def values(lineage: StatementLineage) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {column.name: set() for column in lineage.columns}
    for edge in lineage.edges:
        if edge.kind.influence is InfluenceClass.VALUE:
            found.setdefault(edge.target.name, set()).add(str(edge.source))
    return found


@pytest.mark.parametrize("operator", ["+", "*", "||"])
def test_long_chains(operator: str) -> None:
    column = "n" if operator == "||" else "a"
    (found,) = run(f"SELECT {f' {operator} '.join([column] * 150)} AS x FROM t")
    assert found.status is Status.RESOLVED
    assert values(found) == {"x": {f"t.{column}"}}


def test_deeply_nested_calls_and_conditions() -> None:
    nested = "a"
    for _ in range(60):
        nested = f"IF(b > 1, ABS({nested}), b)"
    (found,) = run(f"SELECT {nested} AS x FROM t")
    assert values(found) == {"x": {"t.a", "t.b"}}


def test_sixty_joins() -> None:
    joins = " ".join(f"JOIN u AS u{number} ON u{number}.a = t.a" for number in range(60))
    (found,) = run(f"SELECT t.a, u0.z AS first, u59.z AS last FROM t {joins}")
    assert values(found) == {"a": {"t.a"}, "first": {"u.z"}, "last": {"u.z"}}


def test_a_hundred_ctes() -> None:
    ctes = ["c0 AS (SELECT a, b FROM t)"] + [f"c{n} AS (SELECT a + b AS a, b FROM c{n - 1})" for n in range(1, 100)]
    (found,) = run(f"WITH {', '.join(ctes)} SELECT a, b FROM c99")
    assert values(found) == {"a": {"t.a", "t.b"}, "b": {"t.b"}}


def test_ctes_that_double_do_not_explode() -> None:
    ctes = ["c0 AS (SELECT a FROM t)"]
    ctes += [f"c{n} AS (SELECT x.a + y.a AS a FROM c{n - 1} AS x, c{n - 1} AS y)" for n in range(1, 25)]
    (found,) = run(f"WITH {', '.join(ctes)} SELECT a FROM c24")
    assert values(found) == {"a": {"t.a"}}


def test_spans_count_characters_not_bytes() -> None:
    sql = "SELECT '값', a + b AS s FROM t"
    (found,) = run(sql)
    edge = next(edge for edge in found.edges if str(edge.source) == "t.b")
    assert edge.expression == "a + b"
    assert edge.source_span is not None
    assert sql[edge.source_span.start : edge.source_span.end] == "b"
    assert (edge.source_span.line, edge.source_span.column) == (1, sql.index("b") + 1)


def test_spans_in_a_script_with_text_before() -> None:
    sql = "SELECT '한글' AS k; /* 주석 */\nINSERT INTO u (a) SELECT b FROM t WHERE n = '값';"
    first, second = run(sql)
    assert sql[second.span.start : second.span.end].startswith("INSERT INTO u")
    (edge,) = [edge for edge in second.edges if edge.kind.influence is InfluenceClass.VALUE]
    assert sql[edge.source_span.start : edge.source_span.end] == "b"
    assert sql[second.target_span.start : second.target_span.end] == "u"
    assert [sql[span.start : span.end] for table in second.sources for span in table.spans] == ["t"]
    assert first.status is Status.RESOLVED


def test_errors_point_at_the_place_in_the_script() -> None:
    sql = "SELECT '한글';\n  SELECT a,\n    nope FROM t;"
    issue = _only_issue(run(sql)[1])
    assert (issue.span.line, issue.span.column) == (3, 5)
    assert sql[issue.span.start : issue.span.end] == "nope"


def _only_issue(lineage: StatementLineage) -> Issue:
    (issue,) = lineage.issues
    assert issue.span is not None
    return issue


def test_without_a_fallback_unresolved_statements_keep_their_tables() -> None:
    (found,) = run("INSERT INTO u (a) SELECT k FROM missing")
    assert found.status is Status.TABLE_ONLY
    assert str(found.target) == "u"
    assert [str(table.name) for table in found.sources] == ["missing"]


@pytest.mark.slow
def test_a_script_with_more_tables_than_one_catalog_holds() -> None:
    tables = {f"t{number}": {"a": "INT64"} for number in range(60)}
    sql = "\n".join(f"SELECT a FROM t{number};" for number in range(60))
    found = run(sql, tables)
    assert [str(lineage.sources[0].name) for lineage in found] == [f"t{number}" for number in range(60)]


def test_names_of_tables_are_told_apart_by_their_path() -> None:
    tables = {"p.one.t": {"a": "INT64"}, "p.two.t": {"b": "INT64"}, "t": {"c": "INT64"}}
    (found,) = run("SELECT a, b, c FROM p.one.t AS x, `p.two.t` AS y, t", tables)
    assert values(found) == {"a": {"p.one.t.a"}, "b": {"p.two.t.b"}, "c": {"t.c"}}


def test_doubtful_columns_make_doubtful_edges() -> None:
    sql = "CREATE TABLE t (a INT64, extra STRING);\nSELECT a, b FROM t;"
    create, select = run(sql)
    assert [issue.code.name for issue in create.issues] == ["SCHEMA_CONFLICT"]
    doubts = {str(edge.source): edge.approximate for edge in select.edges}
    assert doubts["t.a"] is None
    assert doubts["t.b"] is not None


def test_spanner() -> None:
    tables = {"Singers": {"SingerId": "INT64", "FirstName": "STRING"}}
    sql = """
        INSERT INTO Singers (SingerId, FirstName) SELECT SingerId + 1, UPPER(FirstName) FROM Singers;
        UPDATE Singers SET FirstName = CONCAT(FirstName, 'x') WHERE SingerId = 1 THEN RETURN FirstName;
    """
    insert, update = run(sql, tables, "spanner")
    assert values(insert) == {"SingerId": {"Singers.SingerId"}, "FirstName": {"Singers.FirstName"}}
    assert values(update) == {"FirstName": {"Singers.FirstName"}}


def test_a_function_of_one_script_is_known_to_the_next() -> None:
    front_end = GoogleSqlFrontEnd()
    resolver = SchemaResolver(schema_of_mapping(TABLES), dialect="bigquery")
    list(analyze_script(Source("CREATE FUNCTION ds.plus(p INT64, q INT64) AS (p + q);"), front_end, resolver))
    (found,) = analyze_script(Source("SELECT ds.plus(a, b) AS s FROM t"), front_end, resolver)
    assert values(found) == {"s": {"t.a", "t.b"}}


def test_a_procedure_that_calls_itself_ends() -> None:
    sql = """
        CREATE PROCEDURE ds.again(n INT64) BEGIN INSERT INTO u (a) SELECT a FROM t; CALL ds.again(n); END;
        CALL ds.again(3);
    """
    found = run(sql)
    assert all(values(lineage) == {"a": {"t.a"}} for lineage in found if lineage.statement_type == "INSERT")
    assert any("nested too deeply" in issue.message for lineage in found for issue in lineage.issues)


def test_an_empty_script() -> None:
    assert run("") == []
    assert run("-- nothing\n;;\n") == []


def test_what_an_earlier_script_knew_of_a_table_is_not_trusted() -> None:
    first, second = {"t": {"a": "INT64", "b": "INT64"}}, {"t": {"c": "STRING", "d": "STRUCT<e INT64>"}}
    for _ in range(2):
        assert values(run("SELECT * FROM t", first)[0]) == {"a": {"t.a"}, "b": {"t.b"}}
        assert values(run("SELECT c, d.e FROM t", second)[0]) == {"c": {"t.c"}, "e": {"t.d.e"}}
        assert run("SELECT a FROM t", {"u": {"a": "INT64"}})[0].status is Status.TABLE_ONLY
    _, select = run("CREATE TEMP TABLE t AS SELECT 1 AS x, 'y' AS y; SELECT * FROM t", {"u": {"a": "INT64"}})
    assert values(select) == {"x": {"t.x"}, "y": {"t.y"}}


def test_scripts_in_threads_do_not_mix() -> None:
    def work(number: int) -> dict[str, set[str]]:
        tables = {"t": {f"c{number}": "INT64", "k": "INT64"}}
        (found,) = run(f"SELECT * EXCEPT (k), k + c{number} AS s FROM t", tables)
        return values(found)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(40)))
    assert found == [{f"c{n}": {f"t.c{n}"}, "s": {"t.k", f"t.c{n}"}} for n in range(40)]


def test_a_declaration_of_a_type_that_is_none_says_so_and_the_script_goes_on() -> None:
    declared, asked = run("DECLARE p, q NT64; SELECT a FROM t")
    assert declared.status is Status.TABLE_ONLY
    assert ["NT64" in issue.message for issue in declared.issues] == [True]
    assert asked.status is Status.RESOLVED


@pytest.mark.parametrize("sql", ["SELECT * FROM orderz", "CREATE TABLE x AS SELECT * FROM x", "SELECT * FROM p.v, v"])
def test_what_is_said_of_an_unknown_table_does_not_depend_on_what_was_read_before(sql: str) -> None:
    GoogleSqlFrontEnd(dialect="bigquery").foresee([])  # nothing of earlier tests
    (alone,) = run(sql, {})
    orders = {"orders": {"a": "INT64"}}
    *_, after = run(f"SELECT a FROM orders;\n{sql}", orders)
    assert alone.issues
    assert [(each.code, each.message) for each in alone.issues] == [
        (each.code, each.message) for each in after.issues
    ]
    assert [each.span.column for each in alone.issues] == [each.span.column for each in after.issues]


def test_a_statement_that_the_parser_crashes_on_does_not_take_the_script_with_it() -> None:
    declared, crashed, asked = run(f"DECLARE x INT64; SELECT {'NOT ' * 6000} a AS s FROM t; SELECT b FROM t")
    assert ["ZetaSQL stopped" in issue.message for issue in crashed.issues] == [True]
    assert (declared.status, asked.status) == (Status.RESOLVED, Status.RESOLVED)
    assert values(asked) == {"b": {"t.b"}}

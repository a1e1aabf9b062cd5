"""Variables of clients: `${x}`, `$(x)`, `:x`, `&x`."""

from pathlib import Path

import pytest

from headwater import analyze
from headwater.jobs.harvest.sources import Rules, read_estate
from headwater.lineage.statement import Status


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "INSERT INTO ${made} SELECT a FROM ${read} WHERE day = ${day}"),
        ("hive", "INSERT INTO ${hivevar:made} SELECT a FROM ${hiveconf:read}"),
        ("trino", "INSERT INTO ${made} SELECT a FROM ${read}"),
        ("tsql", "INSERT INTO $(made) SELECT a FROM $(read)"),
        ("postgres", "INSERT INTO :made SELECT a FROM :read WHERE day = :'day' AND b::int = 1"),
        ("oracle", "INSERT INTO &made SELECT a FROM &&read"),
        ("snowflake", "INSERT INTO &made SELECT a FROM &{read}"),
    ],
)
def test_given_values_stand_in_the_text(dialect: str, sql: str) -> None:
    result = analyze(sql, dialect, variables={"made": "shop.d", "read": "shop.t", "day": "2026-01-01"})
    (statement,) = result.statements
    assert statement.status is Status.RESOLVED
    assert str(statement.target).lower() == "shop.d"
    assert {str(edge.source).lower() for edge in statement.edges if edge.kind.is_direct} == {"shop.t.a"}


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "SET day = date_sub(\n  current_date(), 1);\nSET read=shop.t;\nSELECT a, ${day} AS d FROM ${read}"),
        ("tsql", ':setvar read "shop.t"\nSELECT a FROM $(read)'),
        ("postgres", "\\set read shop.t\nSELECT a FROM :read"),
        ("oracle", "DEFINE read = shop.t\nSELECT a FROM &read"),
        ("snowflake", "!define read=shop.t\nSELECT a FROM &read"),
    ],
)
def test_the_script_defines_values(dialect: str, sql: str) -> None:
    edges = analyze(sql, dialect).edges
    assert {str(edge.source).lower() for edge in edges} == {"shop.t.a"}


def test_an_example_in_a_comment_is_used_and_said_to_be_one() -> None:
    sql = "-- spark-sql -f x.hql \\\n--   -d read=shop.t \\\n--   -d day=3\nSELECT a FROM ${read} WHERE day = ${day}"
    result = analyze(sql, "spark")
    said = [issue.message for issue in result.issues if "variable" in issue.message]
    assert said == ["the variable `read` is taken to be `shop.t`, as in an example in a comment"]
    assert result.statements[0].status is Status.APPROXIMATE
    assert analyze(sql, "spark", variables={"read": "other.t"}).statements[0].status is Status.RESOLVED


def test_places_are_those_of_the_file() -> None:
    sql = "SELECT ${prefix} AS x, second FROM ${read}"
    result = analyze(sql, "spark", variables={"prefix": "'a long value'", "read": "t"})
    (edge,) = result.edges
    assert edge.source_span is not None
    assert sql[edge.source_span.start : edge.source_span.end] == "second"


def test_a_table_of_an_unknown_variable_belongs_to_its_file() -> None:
    one = analyze("INSERT INTO d SELECT a FROM ${read}", "spark", name="one.hql")
    two = analyze("INSERT INTO d SELECT a FROM ${read}", "spark", name="two.hql")
    assert [str(edge.source.table) for edge in one.edges] == ["one.hql:${read}"]
    assert [str(edge.source.table) for edge in two.edges] == ["two.hql:${read}"]
    assert any("--var" in (issue.hint or "") for issue in one.issues)


def test_a_variable_of_psql_without_a_value_is_no_table_called_null() -> None:
    result = analyze("INSERT INTO :d SELECT a FROM :s.t", "postgres")
    assert [str(edge.source.table) for edge in result.edges if edge.kind.is_direct] != ["NULL.t"]
    assert str(result.statements[0].target) == "${d}"
    assert any("has no value" in issue.message for issue in result.issues)


def test_a_harvest_substitutes_in_files_of_any_ending(tmp_path: Path) -> None:
    (tmp_path / "load.HQL").write_text("-- -d read=shop.t\nINSERT INTO d SELECT a FROM ${read}")
    estate = read_estate([str(tmp_path)], "spark", Rules(variables={"read": "shop.t2"}))
    (script,) = estate.scripts
    assert script.text.endswith("FROM shop.t2")


def test_a_folder_without_sql_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert "there are no files of SQL" in read_estate([str(tmp_path)]).warnings[0]

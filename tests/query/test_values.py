"""Every value that DuckDB has can be shown, in every format, with its extremes."""

import csv
import io
import json

import duckdb
import pytest
from tests.cli.test_main import headwater as command

import headwater
from headwater.cli.rows import FORMATS, write_result
from headwater.query.cells import interval_text

NAMES = [name for name, *_ in duckdb.sql("DESCRIBE SELECT * FROM test_all_types()").fetchall()]
FAR = {
    "DATE '10000-01-01'": "10000-01-01",
    "DATE 'infinity'": "infinity",
    "DATE '0044-03-15 (BC)'": "0044-03-15 (BC)",
    "TIMESTAMP '-infinity'": "-infinity",
    "TIMESTAMP '290309-12-22 (BC) 00:00:00'": "290309-12-22 (BC) 00:00:00",
    "TIMESTAMPTZ '20000-01-01 01:02:03.25+00'": "20000-01-01 01:02:03.25+00",
    "TIMESTAMP_NS '2026-01-01 00:00:00.123456789'": "2026-01-01 00:00:00.123456789",
    "TIME '24:00:00'": "24:00:00",
    "TIMETZ '24:00:00-15:59:59'": "24:00:00-15:59:59",
    "INTERVAL '-1 month 1 day'": "-1 month 1 day",
    "'10101'::BIT": "10101",
    "340282366920938463463374607431768211455::UHUGEINT": "340282366920938463463374607431768211455",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with headwater.connect(str(tmp_path_factory.mktemp("values"))) as session:
        yield session


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_every_type_in_every_format(session, capsys, name, format):
    result = session.sql(f'SELECT "{name}" AS v FROM test_all_types()')
    write_result(result, format)
    shown = capsys.readouterr().out
    assert len(result.fetchall()) == 3
    if format == "json":
        assert [each["v"] is None for each in json.loads(shown)][-1]
    elif format == "jsonl":
        assert len([json.loads(line) for line in shown.splitlines()]) == 3
    elif format == "csv":
        assert len(list(csv.reader(io.StringIO(shown)))) == 4
    assert str(result)
    assert "<table>" in result._repr_html_()
    assert len(result.dicts()) == 3


@pytest.mark.parametrize("value", FAR)
def test_values_beyond_pythons_are_text(session, capsys, value):
    result = session.sql(f"SELECT {value} AS v, {value}::VARCHAR AS shown")
    write_result(result, "jsonl")
    assert json.loads(capsys.readouterr().out) == {"v": FAR[value], "shown": FAR[value]}
    write_result(result, "csv")
    assert capsys.readouterr().out.splitlines()[1].split(",")[0] == FAR[value]
    write_result(result, "table")
    assert FAR[value] in capsys.readouterr().out
    assert FAR[value] in result._repr_html_()


def test_days_and_times_as_duckdb_writes_them(session):
    """From the first day that there is to the last, in steps of primes, and around the ends of Python's years."""
    far = session.sql(
        "SELECT d, d::VARCHAR AS shown FROM (SELECT DATE '1970-01-01' + i::INT AS d"
        " FROM range(-2147483646, 2147483646, 1999993) t(i) UNION ALL"
        " SELECT DATE '0001-01-01' + i::INT FROM range(-800, 800) t(i) UNION ALL"
        " SELECT DATE '9999-12-31' + i::INT FROM range(-800, 800) t(i))"
    )
    rows = far.fetchall()
    assert len(rows) > 5_000
    assert [str(value) for value, _ in rows] == [shown for _, shown in rows]
    times = session.sql(
        "SELECT t, t::VARCHAR AS shown FROM (SELECT make_timestamp(i) AS t"
        " FROM range(-9223372022400000000, 9223372036854775806, 3999999999999973) r(i)) ORDER BY t"
    ).fetchall()
    # Python ends a fraction with zeros
    assert [str(value).rstrip("0") for value, _ in times] == [shown.rstrip("0") for _, shown in times]


def test_intervals_as_duckdb_writes_them(session):
    rows = session.sql(
        "SELECT v, v::VARCHAR AS shown FROM (SELECT to_months((i * 7 - 90)::INT) + to_days((i * 13 % 40 - 20)::INT)"
        " + to_microseconds(i * 123456789 - 600000000) AS v FROM range(60) t(i))"
    ).fetchall()
    assert [interval_text(*value) for value, _ in rows] == [shown for _, shown in rows]


def test_columns_of_one_name_stay_apart(session):
    assert session.sql("SELECT '1'::BIT AS a, '10'::BIT AS a, 3 AS a ORDER BY 3").fetchall() == [("1", "10", 3)]


def test_the_command_shows_all_types(tmp_path):
    for format in FORMATS:
        done = command(
            "sql", "-e", "SELECT * FROM test_all_types()", "-f", format, "--warehouse", str(tmp_path / "w")
        )
        assert done.returncode == 0, done.stderr
        assert "290309-12-22 (BC)" in done.stdout

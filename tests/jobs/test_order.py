"""The order of scripts whose tables get their names by RENAME, SWAP and EXCHANGE."""

import pytest

from headwater.jobs.harvest.order import in_order
from headwater.jobs.harvest.units import Script


@pytest.mark.parametrize(
    "maker",
    [
        "ALTER TABLE t_new RENAME TO t",
        "RENAME TABLE t_new TO t",
        "RENAME t_new TO t",
        "ALTER TABLE t_new SWAP WITH s.t",
        "EXCHANGE TABLES t AND t_new",
        "CREATE OR REPLACE STREAM t ON TABLE u",
        "CREATE OR REFRESH STREAMING TABLE t AS SELECT 1",
    ],
)
def test_who_reads_a_table_comes_after_who_gives_it_its_name(maker):
    reader = Script("a.sql", "SELECT x FROM t", None, ".")
    assert in_order([reader, Script("b.sql", maker, None, ".")])[-1] is reader


def test_a_renamed_column_is_no_table():
    reader = Script("a.sql", "SELECT x FROM t", None, ".")
    other = Script("b.sql", "ALTER TABLE u RENAME COLUMN a TO t", None, ".")
    assert in_order([reader, other]) == [reader, other]


def test_names_in_the_text_count_beside_the_tables_that_are_known_to_be_read():
    """A macro that looks a model up in dbt's graph puts its name into the text without `ref`."""
    text = "WITH late AS (SELECT 1) SELECT n FROM mart.days JOIN late ON true"
    reader = Script("a.sql", text, None, ".", makes="mart.report", reads=("mart.rates",))
    late = Script("b.sql", "SELECT n FROM raw.days", None, ".", makes="late", reads=("raw.days",))
    days = Script("c.sql", "SELECT n FROM late", None, ".", makes="mart.days", reads=("late",))
    assert [script.name for script in in_order([reader, late, days])] == ["b.sql", "c.sql", "a.sql"]
    alone = Script("a.sql", text.replace("mart.days", "mart.weeks"), None, ".", makes="mart.report", reads=())
    assert in_order([alone, late]) == [alone, late]


def test_names_in_strings_and_comments_are_not_calls():
    """The function writes the name of its wrapper into a message, and its file tells where the function came from."""
    wrapper = Script("a.sql", "CREATE FUNCTION app.wrap(x INT64) AS (lib.f(x))", None, ".")
    text = (
        "/* was app.wrap(x) */ CREATE FUNCTION lib.f(x INT64) AS (IF(x < 0, ERROR('wrap(x): it''s'), x)) -- wrap(x)"
    )
    function = Script("b.sql", text, None, ".")
    assert in_order([wrapper, function]) == [function, wrapper]


def test_a_string_that_is_executed_names_what_it_calls():
    caller = Script("a.sql", "EXECUTE IMMEDIATE 'CREATE TABLE d.t AS SELECT lib.f(x) FROM d.s'", None, ".")
    function = Script("b.sql", "CREATE FUNCTION lib.f(x INT64) AS (x)", None, ".")
    assert in_order([caller, function]) == [function, caller]

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

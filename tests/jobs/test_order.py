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

"""Tables of TPC-H made by Spark: the rows that `why` reports are sufficient."""

import itertools
import random

import pytest
from tests.effort import LONG
from tests.provenance.oracle import Peer, Verdicts, check_commit
from tests.provenance.test_oracle import SCALES, check_verdicts, tpch

from headwater.provenance.commits import find_commit
from headwater.provenance.replay import replay
from headwater.spark import connect

pytestmark = [pytest.mark.spark, pytest.mark.slow]
_numbers = itertools.count()


@pytest.fixture(scope="module", params=SCALES)
def filled(request, watch, tmp_path_factory):
    """All tables of TPC-H in a lake that Spark knows, and the same rows in DuckDB."""
    lake = connect(watch.spark, str(tmp_path_factory.mktemp("tpch")), catalog=f"tpch{next(_numbers)}")
    lake.sql("CREATE NAMESPACE IF NOT EXISTS default")
    found = {}
    for name, table in tpch.tables(request.param).items():
        made = lake.warehouse.create_table(f"default.{name}", table.schema, primary_key=tpch.KEYS[name])
        made.write(table)
        found[name] = made.to_arrow()
    return lake, Peer(found)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", list(tpch.queries()) if LONG else ["tpch-01", "tpch-03", "tpch-21"])
def test_tpch_by_spark(filled, name):
    lake, peer = filled
    query, table = tpch.queries()[name], f"default.{name.replace('-', '')}"
    lake.sql(f"CREATE TABLE {table} USING headwater AS {query}")
    commit, verdicts = find_commit(lake.warehouse, table), Verdicts()
    chance = random.Random(name)
    check_commit(lake.warehouse, commit, query, peer, chance, verdicts, rows=50 if LONG else 5)
    print(name, peer.tables["lineitem"].num_rows, verdicts)
    check_verdicts(verdicts, name)
    (found,) = replay(lake.warehouse, table)
    assert found.comparison is not None, found.reasons
    print(name, "replayed by DuckDB:", found.comparison.different, found.reasons)

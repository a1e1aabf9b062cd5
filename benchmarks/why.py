"""How long one hop of `why` takes on tables in the shape of TPC-H with primary keys, in CPU seconds, beside the query
that made the table.

    python benchmarks/why.py [--quick]

A hop rewrites the query of a commit, runs it for one row, fetches the rows behind it and runs the query over these
alone. Rows are chosen from a seed; the slowest of five counts, for wall-clock time their mean. Scale factor 1, with
`--quick` 0.1.
"""

import random
import tempfile
import time
from functools import partial

import _tpch as tpch
from _report import Report, arguments, cpu_seconds

import headwater
from headwater.provenance.commits import find_commit
from headwater.provenance.why import first_hop

TABLES = {
    "an order of its lines": "SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, count(*) AS n "
    "FROM lineitem GROUP BY l_orderkey",
    "an order and its lines": "SELECT o_orderkey, o_orderdate, max(l_shipdate) AS last FROM orders "
    "JOIN lineitem ON l_orderkey = o_orderkey GROUP BY o_orderkey, o_orderdate",
    "a line as it is": "SELECT l_orderkey, l_linenumber, l_quantity * 2 AS twice FROM lineitem WHERE l_quantity > 10",
    "a part and its suppliers": "SELECT p_partkey, p_name, s_name, ps_supplycost FROM part "
    "JOIN partsupp ON ps_partkey = p_partkey JOIN supplier ON s_suppkey = ps_suppkey",
}
KEYS = ("l_orderkey", "o_orderkey", "l_orderkey, l_linenumber", "p_partkey, s_name")
_ROWS = 5


def main() -> None:
    scale = 0.1 if arguments(__doc__ or "").quick else 1.0
    report, rows, chance = Report("why"), [], random.Random(7)
    with tempfile.TemporaryDirectory() as folder, headwater.connect(folder) as session:
        for name, table in tpch.tables(scale).items():
            session.warehouse.create_table(name, table.schema, primary_key=tpch.KEYS[name]).write(table)
            session.table(name).compact()
        for number, ((name, query), key) in enumerate(zip(TABLES.items(), KEYS)):
            made = cpu_seconds(partial(session.sql, query), passes=1)
            session.sql(f"CREATE TABLE r{number} (PRIMARY KEY ({key})) AS {query}")
            commit = find_commit(session.warehouse, f"default.r{number}")
            table = commit.table.to_arrow()
            places = [chance.randrange(table.num_rows) for _ in range(_ROWS)]
            one = [table.slice(place, 1) for place in places]
            ask = partial(first_hop, session.warehouse, commit)
            ask(one[0])
            start = time.perf_counter()
            hop = max(cpu_seconds(partial(ask, row), passes=1) for row in one)
            wall = (time.perf_counter() - start) / len(one)
            rows.append((name, f"{table.num_rows:,}", f"{hop:.3f}", f"{wall:.3f}", f"{made:.3f}"))
            report.ratios[f"{name}, hop / query"] = hop / made
            report.less.add(f"{name}, hop / query")
            report.floor(f"{name}, CPU seconds", hop, 1.0, most=True)
    report.finish(("table", "rows", "hop, CPU s", "hop, wall s", "its query, CPU s"), rows)


if __name__ == "__main__":
    main()

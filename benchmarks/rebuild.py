"""What it costs to bring materialized views up to date after one night's changes, in CPU seconds, beside full runs.

    python benchmarks/rebuild.py [--quick]

The 22 queries of TPC-H are materialized views over keyed tables. Then the refresh functions of the standard change
0.1 % of the orders and their lines: new ones come, old ones go. All views are refreshed in one session, then made
anew in full in another; both must give the same rows. Beside them, DuckDB runs the query over Parquet files, as a
tool would that rebuilds every table downstream of a change. Then a fact table with a join and groups: 1 % of its
rows changed, one row changed, a column changed that is not read. Scale factor 1, with `--quick` 0.1.
"""

import tempfile
import time
from functools import partial
from pathlib import Path

import _tpch as tpch
import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from _report import Report, arguments

import headwater
from headwater.query import Session
from headwater.query.materialized import refresh_table
from headwater.query.refresh.definition import find_definition
from headwater.query.refresh.refresh import Refresh, Way

SHARE = 1000  # one order in so many comes, and one goes


def main() -> None:
    scale = 0.1 if arguments(__doc__ or "").quick else 1.0
    report, rows = Report("rebuild"), []
    for spread in (False, True):
        rows += one_night(report, scale, spread=spread)
    with tempfile.TemporaryDirectory() as folder:
        rows += facts(folder, report, int(10_000_000 * scale))
    report.finish(("view", "way", "refresh, CPU s", "full, CPU s", "DuckDB over Parquet, CPU s", "why full"), rows)


def one_night(report: Report, scale: float, *, spread: bool) -> list[tuple[str, ...]]:
    """Refresh the views of the 22 queries after a night's changes. Keys that are spread have no floor: every block of
    the tables holds some of them."""
    rows = []
    spent = {"refresh": 0.0, "full": 0.0, "peer": 0.0}
    ways: dict[Way, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        warehouse = headwater.Warehouse(f"{folder}/lake")
        data = tpch.tables(scale)
        load(warehouse, data)
        with Session(warehouse) as session:
            for name, query in views().items():
                session.sql(f"CREATE MATERIALIZED VIEW {name} AS {query}")
        change_orders(warehouse, scale, data, spread=spread)
        peer = parquet_peer(warehouse, Path(folder))
        first = rebuilt(warehouse, full=False)
        kept = {name: content(warehouse, name) for name in views()}
        second = rebuilt(warehouse, full=True)
        for name, query in views().items():
            (plan, refresh), (_, full) = first[name], second[name]
            assert kept[name] == content(warehouse, name), f"{name} differs from a full run"
            theirs = cpu(partial(_answer, peer, query))
            ways[plan.way] = ways.get(plan.way, 0) + 1
            for what, seconds in (("refresh", refresh), ("full", full), ("peer", theirs)):
                spent[what] += seconds
            why = plan.reasons[-1] if plan.way is Way.FULL else ""
            rows.append((name, plan.way.value, f"{refresh:.3f}", f"{full:.3f}", f"{theirs:.3f}", why[:60]))
    label = "all, keys spread" if spread else "all"
    rows.append((label, "", *(f"{spent[what]:.2f}" for what in ("refresh", "full", "peer")), ""))
    report.ratios[f"full / refresh{', keys spread' * spread}"] = spent["full"] / spent["refresh"]
    report.ratios[f"DuckDB over Parquet / refresh{', keys spread' * spread}"] = spent["peer"] / spent["refresh"]
    if not spread:
        report.floor("views that are not made anew", 22 - ways.get(Way.FULL, 0), 15)
        report.floor("all refreshes / all full runs", spent["refresh"] / spent["full"], 0.2, most=True)
    return rows


def views() -> dict[str, str]:
    """The 22 queries by the names of their views."""
    return {name.replace("tpch-", "q"): query for name, query in tpch.queries().items()}


def cpu(work: "partial[object]") -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _answer(peer: duckdb.DuckDBPyConnection, query: str) -> None:
    peer.execute(query).fetchall()


def load(warehouse: headwater.Warehouse, data: dict[str, pa.Table]) -> None:
    for name, table in data.items():
        made = warehouse.create_table(name, table.schema, primary_key=tpch.KEYS[name])
        made.write(table)
        made.compact()


def change_orders(warehouse: headwater.Warehouse, scale: float, data: dict[str, pa.Table], *, spread: bool) -> None:
    """New orders with their lines, and orders that are gone. As the standard's own generator makes them, the keys of
    one night lie together; or they are spread over all keys."""
    new = tpch.tables(scale / SHARE, seed=8)
    count = data["orders"].num_rows
    room = count // max(1, new["orders"].num_rows) if spread else 1
    for name, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        table = new[name]
        number = pc.divide(pc.add(table.column(key), 3), 4)
        free = pc.subtract(pc.multiply(pc.multiply(number, room), 4), 3)  # no order of the base has such a key
        table = table.set_column(table.column_names.index(key), key, free.cast(pa.int64()))
        chosen = range(5, count, SHARE) if spread else range(5, 5 + count // SHARE)
        gone = pc.unique(data["orders"].column("o_orderkey")).take(pa.array(chosen))
        mine = data[name].filter(pc.is_in(data[name].column(key), value_set=gone)).select(tpch.KEYS[name])
        warehouse.table(name).write(table)
        warehouse.table(name).delete(mine)


def rebuilt(warehouse: headwater.Warehouse, *, full: bool) -> dict[str, tuple[Refresh, float]]:
    """Refresh all views in one session that has read nothing, as `headwater rebuild` does."""
    with Session(warehouse) as session:
        return {name: refreshed(session, name, full=full) for name in views()}


def refreshed(session: Session, name: str, *, full: bool = False) -> tuple[Refresh, float]:
    """Refresh a view, and the CPU time of it."""
    start = time.process_time()
    run = session.execution(find_definition(session.warehouse, f"default.{name}").statement)
    plan = refresh_table(run, f"default.{name}", full=full)
    return plan, time.process_time() - start


def content(warehouse: headwater.Warehouse, name: str) -> list[str]:
    return sorted(map(repr, warehouse.table(name).to_arrow().to_pylist()))


def parquet_peer(warehouse: headwater.Warehouse, folder: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB over Parquet files with the rows that the tables have now."""
    peer = duckdb.connect()
    for name in tpch.KEYS:
        path = folder / f"{name}.parquet"
        pq.write_table(warehouse.table(name).to_arrow(), path)
        peer.execute(f"CREATE VIEW {name} AS FROM '{path}'")
    return peer


QUERY = "SELECT d.region, f.day, sum(f.amount) AS total, count(*) AS n FROM f JOIN d ON f.shop = d.id GROUP BY ALL"


def facts(folder: str, report: Report, count: int) -> list[tuple[str, ...]]:
    """A fact table with a join and groups."""
    warehouse = headwater.Warehouse(folder)
    with Session(warehouse) as session:
        rows = session.sql(
            f"SELECT i AS id, i % 1000 AS shop, i % 365 AS day, CAST(i % 977 AS DECIMAL(12,2)) AS amount, '' AS note "
            f"FROM range({count}) AS t(i)"
        ).table
        warehouse.create_table("f", rows.schema, primary_key=["id"]).write(rows)
        warehouse.table("f").compact()
        session.sql("CREATE TABLE d (id BIGINT PRIMARY KEY, region BIGINT)")
        session.sql("INSERT INTO d SELECT i, i % 20 FROM range(1000) AS t(i)")
        session.sql(f"CREATE MATERIALIZED VIEW v AS {QUERY}")
    changes = {
        "1 % of the rows": "UPDATE f SET amount = amount + 1 WHERE id % 100 = 7",
        "one row": "UPDATE f SET amount = 5 WHERE id = 77",
        "a column that is not read": "UPDATE f SET note = 'x' WHERE id < 1000",
    }
    found = []
    for what, change in changes.items():
        with Session(warehouse) as session:
            session.sql(change)
        with Session(warehouse) as session:
            plan, seconds = refreshed(session, "v")
        kept = content(warehouse, "v")
        with Session(warehouse) as session:
            _, full = refreshed(session, "v", full=True)
        assert kept == content(warehouse, "v"), what
        found.append((f"{count:,} facts: {what}", plan.way.value, f"{seconds:.3f}", f"{full:.3f}", "", ""))
        if what == "1 % of the rows":
            report.floor("1 % of the facts / full", seconds / full, 0.05, most=True)
        elif what == "one row":
            report.floor("one fact, CPU seconds", seconds, 0.3, most=True)
        else:
            report.floor("rows read for a column that is not read", plan.changed_rows, 0, most=True)
    return found


if __name__ == "__main__":
    main()

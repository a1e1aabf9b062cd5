"""SQL through a session, against DuckDB on Parquet files of the same rows.

First single queries on one table of four columns (a bigint, a text of 20 characters, a double, an int), each in a
fresh session; then the 22 queries of TPC-H. A *fresh* session has read nothing yet; *again* is the second time in one
session, which keeps columns it has read. All is timed by the CPU, TPC-H by the clock as well, the best of a few
passes of each; answers are compared before anything is timed. The files are in the page cache for both.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import _tpch
import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from _report import Report, arguments, cpu_seconds

import headwater
from headwater.query import Session

KINDS = ("appended", "keyed")
SINGLE = 1.5  # times DuckDB on Parquet, each query
TPCH = {"appended": 1.2, "keyed": 1.5}  # at scale 1
SMALL = 2.0  # at scale 0.02, where DuckDB takes 10 ms for a query, and reading our metadata a few
COUNT_MILLIS = 10.0  # more than SELECT 1
QUERIES = {
    "filter": "SELECT id, name FROM rows WHERE amount > 0.999",
    "like": "SELECT count(*) FROM rows WHERE name LIKE '%1234%'",
    "top": "SELECT * FROM rows ORDER BY amount DESC, id LIMIT 10",
    "group": "SELECT kind, count(*), max(amount) FROM rows GROUP BY kind ORDER BY kind",
    "join": "SELECT count(*), max(a.name) FROM rows a JOIN rows b ON a.id = b.id + 1 WHERE b.kind = 5",
    "point": "SELECT * FROM rows WHERE id = 77777",
}
Times = tuple[float, float]  # by the CPU and by the clock


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("query")
    with tempfile.TemporaryDirectory() as folder:
        rows = _single(Path(folder), 1_000_000 if quick else 10_000_000, report)
        rows += _tpch_rows(Path(folder), 0.02 if quick else 1.0, report)
    rows = [(*row, *[""] * (6 - len(row))) for row in rows]
    report.finish(("", "load s", "fresh cpu s", "wall s", "again cpu s", "wall s"), rows)


def _single(folder: Path, count: int, report: Report) -> list[tuple[object, ...]]:
    """Each query by itself, and counting."""
    pq.write_table(_rows(count), folder / "rows.parquet", compression="zstd")
    shown: list[tuple[object, ...]] = []
    peer = {name: cpu_seconds(partial(_ask, query, folder)) for name, query in QUERIES.items()}
    shown += [(f"DuckDB on Parquet, {count:,} rows: {name}", "", round(cpu, 4)) for name, cpu in peer.items()]
    for kind in KINDS:
        warehouse = f"{folder}/rows-{kind}"
        loaded = _load(warehouse, {"rows": _rows(count)}, {"rows": ("id",)} if kind == "keyed" else {})
        for name, query in QUERIES.items():
            if _answer(query, warehouse) != _ask(query, folder):
                raise SystemExit(f"{name} differs")
            ours = cpu_seconds(partial(_answer, query, warehouse))
            report.ratios[f"{kind}_{name}"] = ours / peer[name]
            report.floor(f"{kind}_{name}", ours / peer[name], SINGLE, most=True)
            shown.append((f"headwater sql, {kind}: {name}", round(loaded, 2), round(ours, 4)))
        more = _cpu(warehouse, "SELECT count(*) FROM rows") - _cpu(warehouse, "SELECT 1")
        report.floor(f"{kind}_count_millis", more * 1000, COUNT_MILLIS, most=True)
        shown.append((f"headwater sql, {kind}: count(*), more than SELECT 1", "", round(more, 5)))
    return shown


def _rows(count: int) -> pa.Table:
    """Rows in the order of their key."""
    chance = np.random.default_rng(20)
    names = pa.array(chance.integers(0, 10**18, count)).cast(pa.string())
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "name": pc.utf8_lpad(names, 20, "0"),
            "amount": chance.random(count),
            "kind": pa.array(chance.integers(0, 100, count), pa.int32()),
        }
    )


def _ask(query: str, folder: Path) -> list[tuple[object, ...]]:
    with duckdb.connect() as fresh:
        fresh.execute(f"CREATE VIEW rows AS SELECT * FROM '{folder}/rows.parquet'").fetchall()
        found: list[tuple[object, ...]] = fresh.sql(query).fetchall()
    return found


def _answer(query: str, warehouse: str) -> list[tuple[object, ...]]:
    with headwater.connect(warehouse) as session:
        return session.sql(query).fetchall()


def _cpu(warehouse: str, query: str) -> float:
    """The CPU time of a query in a session that is open and has read nothing."""
    best = float("inf")
    for _ in range(5):
        with headwater.connect(warehouse) as session:
            best = min(best, cpu_seconds(lambda: session.sql(query).fetchall(), passes=1))
    return best


def _tpch_rows(folder: Path, scale: float, report: Report) -> list[tuple[object, ...]]:
    """The 22 queries of TPC-H."""
    rows: list[tuple[object, ...]] = []
    data, queries = _tpch.tables(scale), _tpch.queries()
    peer = _peer(folder, data)
    passes = 5 if scale < 1 else 3
    for kind in KINDS:
        warehouses = [f"{folder}/{kind}-{at}" for at in range(passes)]  # files that no cache has seen
        keys = _tpch.KEYS if kind == "keyed" else {}
        loaded = min(_load(each, data, keys) for each in warehouses)
        _compare(warehouses[0], queries, peer)
        theirs, fresh, again = _time(warehouses[1:], queries, peer)
        rows.append((f"DuckDB on Parquet, TPC-H sf {scale:g}", "", *_shown(theirs), *_shown(theirs)))
        rows.append((f"headwater sql, TPC-H, {kind}", round(loaded, 2), *_shown(fresh), *_shown(again)))
        for when, ours in (("fresh", fresh), ("again", again)):
            for clock, mine, other in zip(("cpu", "wall"), ours, theirs):
                report.ratios[f"{kind}_{when}_{clock}"] = mine / other
                report.less.add(f"{kind}_{when}_{clock}")
                if clock == "cpu":
                    most = TPCH[kind] if scale >= 1 else SMALL
                    report.floor(f"{kind}_{when}_{clock}", mine / other, most, most=True)
    peer.close()
    return rows


def _peer(folder: Path, data: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    peer = duckdb.connect()
    for name, table in data.items():
        pq.write_table(table, folder / f"{name}.parquet")
        peer.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}.parquet'").fetchall()
    return peer


def _load(warehouse: str, data: dict[str, pa.Table], keys: dict[str, tuple[str, ...]]) -> float:
    start = time.perf_counter()
    lake = headwater.Warehouse(warehouse)
    for name, table in data.items():
        lake.create_table(name, table.schema, primary_key=keys.get(name, ())).write(table)
    return time.perf_counter() - start


def _compare(warehouse: str, queries: dict[str, str], peer: duckdb.DuckDBPyConnection) -> None:
    with headwater.connect(warehouse) as session:
        for name, query in queries.items():
            wanted = peer.sql(query).to_arrow_table()
            if session.sql(query).fetchall() != list(zip(*(column.to_pylist() for column in wanted.columns))):
                raise SystemExit(f"{name} differs")


def _ask_peer(peer: duckdb.DuckDBPyConnection, queries: dict[str, str]) -> None:
    for query in queries.values():
        peer.sql(query).to_arrow_table()


def _clocked(work: Callable[[], None]) -> Times:
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _best(passes: Iterable[Times]) -> Times:
    """The best of each clock: other programs on the machine can only make a pass slower."""
    cpu, wall = zip(*passes)
    return min(cpu), min(wall)


def _shown(times: Times) -> tuple[float, float]:
    return round(times[0], 3), round(times[1], 3)


def _time(
    warehouses: list[str], queries: dict[str, str], peer: duckdb.DuckDBPyConnection
) -> tuple[Times, Times, Times]:
    """The peer, a fresh session, and the same again, in turns."""

    def run(session: Session) -> None:
        for query in queries.values():
            session.sql(query)

    theirs, fresh, again = [], [], []
    for warehouse in warehouses:
        theirs.append(_clocked(lambda: _ask_peer(peer, queries)))
        with headwater.connect(warehouse) as session:
            fresh.append(_clocked(lambda: run(session)))
            again.append(_clocked(lambda: run(session)))
    return _best(theirs), _best(fresh), _best(again)


if __name__ == "__main__":
    main()

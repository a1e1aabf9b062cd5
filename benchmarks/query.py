"""The 22 queries of TPC-H through a session, against DuckDB on Parquet files of the same rows.

A *fresh* session has read nothing yet; *again* is the second time in one session, which keeps columns it has read.
All 22 queries are timed by the CPU and by the clock, the best of a few passes of each; answers are compared before
anything is timed. The files are in the page cache for both.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import _tpch
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from _report import Report, arguments

import headwater
from headwater.query import Session

MOST = 2.0  # times DuckDB on Parquet
Times = tuple[float, float]  # by the CPU and by the clock


def main() -> None:
    scale = 0.02 if arguments(__doc__ or "").quick else 0.1
    report = Report("query")
    rows: list[tuple[object, ...]] = []
    data, queries = _tpch.tables(scale), _tpch.queries()
    with tempfile.TemporaryDirectory() as folder:
        peer = _peer(Path(folder), data)
        theirs = _best(_clocked(lambda: _ask_peer(peer, queries)) for _ in range(5))
        rows.append((f"DuckDB on Parquet, sf {scale}", "", *_shown(theirs), *_shown(theirs)))
        for kind in ("appended", "keyed"):
            warehouses = [f"{folder}/{kind}-{at}" for at in range(6)]  # files that no cache has seen
            loaded = min(_load(each, data, keyed=kind == "keyed") for each in warehouses)
            _compare(warehouses[0], queries, peer)
            fresh, again = _time(warehouses[1:], queries)
            rows.append((f"headwater sql, {kind}", round(loaded, 2), *_shown(fresh), *_shown(again)))
            for when, ours in (("fresh", fresh), ("again", again)):
                for clock, mine, other in zip(("cpu", "wall"), ours, theirs):
                    report.ratios[f"{kind}_{when}_{clock}"] = mine / other
                    report.floor(f"{kind}_{when}_{clock}", mine / other, MOST, most=True)
        peer.close()
    report.finish(("", "load s", "fresh cpu s", "wall s", "again cpu s", "wall s"), rows)


def _peer(folder: Path, data: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    peer = duckdb.connect()
    for name, table in data.items():
        pq.write_table(table, folder / f"{name}.parquet")
        peer.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder}/{name}.parquet'").fetchall()
    return peer


def _load(warehouse: str, data: dict[str, pa.Table], *, keyed: bool) -> float:
    start = time.perf_counter()
    lake = headwater.Warehouse(warehouse)
    for name, table in data.items():
        lake.create_table(name, table.schema, primary_key=_tpch.KEYS[name] if keyed else ()).write(table)
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


def _time(warehouses: list[str], queries: dict[str, str]) -> tuple[Times, Times]:
    def run(session: Session) -> None:
        for query in queries.values():
            session.sql(query)

    fresh, again = [], []
    for warehouse in warehouses:
        with headwater.connect(warehouse) as session:
            fresh.append(_clocked(lambda: run(session)))
            again.append(_clocked(lambda: run(session)))
    return _best(fresh), _best(again)


if __name__ == "__main__":
    main()

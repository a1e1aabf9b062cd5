"""Tables and their engine against peers: the same rows (bigint key, 20-character string, double, int), random order.

First ten million rows in a table, each kind of work beside the peer that is best at it (`_lake_large.py`). Then every
store through its own Python API, in one process, one after the other: write one million rows, upsert a tenth of the
keys, read, then put rows one by one. `headwater` is a table of a warehouse, `headwater's engine` the `LSMTree` below,
without snapshots and commits. Times are CPU seconds of the best pass, point reads the median of wall time after a
warm-up. Ours are durable when they return (fsync); of the others, SQLite and DuckDB by their defaults, and key-value
stores where rows are put one by one.
"""

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _lake_large import measure_large
from _lake_ours import Headwater, HeadwaterEngine
from _lake_peers import (
    Delta,
    DuckDB,
    LevelDB,
    Paimon,
    PaimonRust,
    Parquet,
    RocksDict,
    SQLite,
)
from _report import Report, arguments, cpu_seconds

from headwater.fit import align

KEY_VALUE = ("rocksdict", "plyvel", "sqlite")
OURS = {"table": Headwater.name, "engine": HeadwaterEngine.name}  # by the word for it in the names of ratios
STORES = (Headwater, HeadwaterEngine, Parquet, RocksDict, LevelDB, SQLite, DuckDB, Delta, PaimonRust, Paimon)
VERBS = ("write", "upsert", "scan", "range", "get", "put")
PUTS = 1_000  # each waits for the disk


def make_rows(count: int) -> pa.Table:
    chance = np.random.default_rng(7)
    noise = chance.bytes(10 * count).hex()
    return pa.table(
        {
            "id": chance.permutation(count).astype(np.int64),
            "s": pa.array([noise[20 * i : 20 * i + 20] for i in range(count)]),
            "d": chance.random(count),
            "n": chance.integers(0, 1000, count).astype(np.int32),
        }
    )


def make_update(rows: pa.Table) -> pa.Table:
    """A tenth of the rows, with another number in the last column."""
    tenth = rows.slice(0, rows.num_rows // 10)
    return tenth.set_column(3, "n", pa.array(np.full(tenth.num_rows, -1, np.int32)))


def median_get(store: Any, keys: list[int], *, warm: int) -> float:
    for key in keys[:warm]:
        store.get(key)
    times = []
    for key in keys:
        start = time.perf_counter()
        store.get(key)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(make: Any, rows: pa.Table, update: pa.Table, *, passes: int) -> dict[str, float]:
    """Every number of one store; write and upsert on a fresh store each pass, the reads on the last."""
    results: dict[str, float] = {}
    slow = make is Paimon
    for turn in range(1 if slow else passes):
        folder = Path(tempfile.mkdtemp(prefix="lake-bench-"))
        store = make(folder / "store")
        for verb, table in (("write", rows), ("upsert", update)):
            spent = cpu_seconds(lambda: getattr(store, verb)(table), passes=1)  # noqa: B023
            results[verb] = min(spent, results.get(verb, spent))
            if verb == "write":
                results.setdefault("size", store.size())
        if turn < (1 if slow else passes) - 1:
            store.close()
            shutil.rmtree(folder)
    _measure_reads(store, results, rows.num_rows, update, slow=slow, passes=passes)
    if hasattr(store, "put"):
        single = list(zip(*(column.to_pylist() for column in update.slice(0, PUTS).columns)))
        results["put"] = cpu_seconds(lambda: store.put(single), passes=1) / len(single)
    store.close()
    shutil.rmtree(folder)
    return results


def _measure_reads(
    store: Any, results: dict[str, float], count: int, update: pa.Table, *, slow: bool, passes: int
) -> None:
    scanned = store.scan()
    assert scanned.num_rows == count
    assert scanned.column("n").to_pylist().count(-1) == update.num_rows
    del scanned
    low, high = count // 2, count // 2 + count // 100 - 1
    assert store.range(low, high).num_rows == count // 100
    results["scan"] = cpu_seconds(store.scan, passes=1 if slow else passes)
    results["range"] = cpu_seconds(lambda: store.range(low, high), passes=1 if slow else passes)
    fast = store.name in (*KEY_VALUE, *OURS.values())
    keys = [int(key) for key in np.random.default_rng(3).integers(0, count, 20_000 if fast else 3 if slow else 10)]
    results["get"] = median_get(store, keys, warm=20_000 if fast else 1)


def main() -> None:
    quick = arguments(__doc__ or "").quick
    report = Report("lake")
    large = 1_000_000 if quick else 10_000_000
    lines = measure_large(make_rows(large), report, passes=2 if quick else 3)
    print(align((f"{large:,} rows", "ours", "peer", "ratio", "floor"), lines), end="\n\n")
    count = 100_000 if quick else 1_000_000
    rows = make_rows(count)
    update = make_update(rows)
    passes = 3
    found: dict[str, dict[str, float]] = {}
    for store in STORES:
        found[store.name] = measure(store, rows, update, passes=passes)

    def zstd(folder: Path) -> Headwater:
        return Headwater(folder, {"file.compression": "zstd"})

    ours_zstd = measure(zstd, rows, update, passes=1)
    _report(report, found, ours_zstd, rows=count)


def _report(report: Report, found: dict[str, dict[str, float]], ours_zstd: dict[str, float], *, rows: int) -> None:
    report.ratios = ratios(found)
    for ours in OURS:
        _common_floors(report, found, ours)
    table, engine, rocks = found[Headwater.name], found[HeadwaterEngine.name], found["rocksdict"]
    report.floor("upsert, deltalake / engine", found["deltalake"]["upsert"] / engine["upsert"], 8.0)
    report.floor("upsert, deltalake / table", found["deltalake"]["upsert"] / table["upsert"], 4.0)
    report.floor("get, engine / rocksdict", engine["get"] / rocks["get"], 2.5, most=True)
    report.floor("get, table / rocksdict", table["get"] / rocks["get"], 4.5, most=True)
    for ours, least in (("engine", 500.0), ("table", 50.0)):
        paimon = min(found["pypaimon-rust"]["get"], found["pypaimon"]["get"])
        report.floor(f"get, fastest Paimon / {ours}", paimon / found[OURS[ours]]["get"], least)
    report.floor("size, ours zstd / parquet zstd", ours_zstd["size"] / found["parquet"]["size"], 1.5, most=True)
    lines = [_line(name, numbers) for name, numbers in [*found.items(), ("headwater zstd", ours_zstd)]]
    headers = (f"{rows:,} rows", "write s", "upsert s", "scan s", "1 % range ms", "get µs", "put µs", "size MB")
    report.finish(headers, lines)


def ratios(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """Every peer against the table, then against the engine, by every verb that both have."""
    peers = {name: numbers for name, numbers in found.items() if name not in OURS.values()}
    return {
        f"{verb}: {name} / {ours}": numbers[verb] / found[OURS[ours]][verb]
        for ours in OURS
        for name, numbers in peers.items()
        for verb in VERBS
        if verb in numbers
    }


def _common_floors(report: Report, found: dict[str, dict[str, float]], ours: str) -> None:
    """What tables and engine are both held to."""
    mine, parquet, rust = found[OURS[ours]], found["parquet"], found["pypaimon-rust"]
    report.floor(f"write, {ours} / parquet", mine["write"] / parquet["write"], 1.3, most=True)
    report.floor(f"write, pypaimon-rust / {ours}", rust["write"] / mine["write"], 1.0)
    for name in KEY_VALUE:
        report.floor(f"write, {name} / {ours}", found[name]["write"] / mine["write"], 5.0)
    report.floor(f"upsert, pypaimon-rust / {ours}", rust["upsert"] / mine["upsert"], 1.0)
    report.floor(f"scan, {ours} / parquet", mine["scan"] / parquet["scan"], 3.0, most=True)
    report.floor(f"scan, pypaimon-rust / {ours}", rust["scan"] / mine["scan"], 1.0)
    report.floor(f"scan, rocksdict / {ours}", found["rocksdict"]["scan"] / mine["scan"], 4.0)
    for name in ("pypaimon-rust", "deltalake"):
        report.floor(f"range, {name} / {ours}", found[name]["range"] / mine["range"], 3.0)


def _line(name: str, numbers: dict[str, float]) -> tuple[object, ...]:
    seconds = (f"{numbers[verb]:.3f}" for verb in ("write", "upsert", "scan"))
    return (
        name,
        *seconds,
        f"{numbers['range'] * 1e3:.2f}",
        f"{numbers['get'] * 1e6:.1f}",
        f"{numbers['put'] * 1e6:.1f}" if "put" in numbers else "",
        f"{numbers['size'] / 1e6:.1f}",
    )


if __name__ == "__main__":
    main()

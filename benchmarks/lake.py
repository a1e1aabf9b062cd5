"""The storage engine against its peers: the same rows (bigint key, 20-character string, double, int), random order.

Write one million rows, upsert a tenth of the keys, then read: every key-value store and lake format through its own
Python API, in one process, one after the other. Times are CPU seconds of the best pass, point reads the median of
wall time after a warm-up. Ours are durable when they return (fsync); of the others, SQLite and DuckDB by their
defaults.
"""

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _lake_peers import (
    Delta,
    DuckDB,
    Headwater,
    LevelDB,
    Paimon,
    PaimonRust,
    Parquet,
    RocksDict,
    SQLite,
)
from _report import Report, arguments, cpu_seconds

KEY_VALUE = ("rocksdict", "plyvel", "sqlite")
PEERS = (Headwater, Parquet, RocksDict, LevelDB, SQLite, DuckDB, Delta, PaimonRust, Paimon)


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
    fast = store.name in (*KEY_VALUE, "headwater")
    keys = [int(key) for key in np.random.default_rng(3).integers(0, count, 20_000 if fast else 3 if slow else 10)]
    results["get"] = median_get(store, keys, warm=20_000 if fast else 1)


def main() -> None:
    quick = arguments(__doc__ or "").quick
    count = 100_000 if quick else 1_000_000
    rows = make_rows(count)
    update = rows.slice(0, count // 10).set_column(3, "n", pa.array(np.full(count // 10, -1, np.int32)))
    passes = 3
    found: dict[str, dict[str, float]] = {}
    for peer in PEERS:
        found[peer.name] = measure(peer, rows, update, passes=passes)

    def zstd(folder: Path) -> Headwater:
        return Headwater(folder, {"file.compression": "zstd"})

    ours_zstd = measure(zstd, rows, update, passes=1)
    _report(found, ours_zstd, rows=count)


def _report(found: dict[str, dict[str, float]], ours_zstd: dict[str, float], *, rows: int) -> None:
    report = Report("lake")
    ours, parquet, rust = found["headwater"], found["parquet"], found["pypaimon-rust"]
    for name, peer in found.items():
        if name != "headwater":
            for verb in ("write", "upsert", "scan", "range", "get"):
                report.ratios[f"{verb}: {name} / ours"] = peer[verb] / ours[verb]
    report.floor("write, ours / parquet", ours["write"] / parquet["write"], 1.3, most=True)
    report.floor("write, pypaimon-rust / ours", rust["write"] / ours["write"], 1.0)
    for name in KEY_VALUE:
        report.floor(f"write, {name} / ours", found[name]["write"] / ours["write"], 5.0)
    report.floor("upsert, deltalake / ours", found["deltalake"]["upsert"] / ours["upsert"], 8.0)
    report.floor("upsert, pypaimon-rust / ours", rust["upsert"] / ours["upsert"], 1.0)
    report.floor("get, ours / rocksdict", ours["get"] / found["rocksdict"]["get"], 2.5, most=True)
    fastest_paimon = min(rust["get"], found["pypaimon"]["get"])
    report.floor("get, fastest Paimon / ours", fastest_paimon / ours["get"], 500.0)
    report.floor("scan, ours / parquet", ours["scan"] / parquet["scan"], 3.0, most=True)
    report.floor("scan, pypaimon-rust / ours", rust["scan"] / ours["scan"], 1.0)
    report.floor("scan, rocksdict / ours", found["rocksdict"]["scan"] / ours["scan"], 4.0)
    for name in ("pypaimon-rust", "deltalake"):
        report.floor(f"range, {name} / ours", found[name]["range"] / ours["range"], 3.0)
    report.floor("size, ours zstd / parquet zstd", ours_zstd["size"] / parquet["size"], 1.5, most=True)
    table = [_line(name, numbers) for name, numbers in [*found.items(), ("headwater zstd", ours_zstd)]]
    headers = (f"{rows:,} rows", "write s", "upsert s", "scan s", "1 % range ms", "get µs", "size MB")
    report.finish(headers, table)


def _line(name: str, numbers: dict[str, float]) -> tuple[object, ...]:
    seconds = (f"{numbers[verb]:.3f}" for verb in ("write", "upsert", "scan"))
    return (
        name,
        *seconds,
        f"{numbers['range'] * 1e3:.2f}",
        f"{numbers['get'] * 1e6:.1f}",
        f"{numbers['size'] / 1e6:.1f}",
    )


if __name__ == "__main__":
    main()

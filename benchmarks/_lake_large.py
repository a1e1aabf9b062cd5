"""Ten million rows in a table with a key: each kind of work beside the peer that is best at it, with floors.

Parquet is one file written by PyArrow, sorted, with zstd. Seconds are CPU seconds of the best pass unless a name says
"clock". A get is the median of wall time after a warm-up, `at` a snapshot by its number.
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _lake_peers import Delta, Parquet, RocksDict, size_of
from _report import Report, cpu_seconds

from headwater import Table, Warehouse

Line = tuple[object, ...]
GETS = 20_000
UPSERTS = 20


def measure_large(rows: pa.Table, report: Report, *, passes: int) -> list[Line]:
    """Measure, put the floors into the report, and return the lines of a table: work, ours, peer, ratio, floor."""
    folder = Path(tempfile.mkdtemp(prefix="lake-large-"))
    try:
        return _Large(rows, report, folder, passes).measure()
    finally:
        shutil.rmtree(folder)


class _Large:
    def __init__(self, rows: pa.Table, report: Report, folder: Path, passes: int) -> None:
        self._rows = rows
        self._report = report
        self._folder = folder
        self._passes = passes
        self._lines: list[Line] = []
        self._parquet = Parquet(folder / "sorted")

    def measure(self) -> list[Line]:
        table = self._write()
        self._scan(table, "as written", 1.1)
        ours, theirs = (self._best(lambda: table.to_arrow(["n"])), self._best(lambda: self._read(["n"])))
        self._add("one column", ours, theirs, 1.5)
        self._get(table)
        self._upsert(table)
        self._scan(table, f"after {UPSERTS} upserts of 1 %", 1.5)
        table.compact()
        self._scan(table, "compacted", 0.8)
        return self._lines

    def _write(self) -> Table:
        sorted_rows = self._rows.sort_by("id")
        theirs = self._best(lambda: self._parquet.write(self._rows))
        for order, rows in (("sorted", sorted_rows), ("unsorted", self._rows)):
            ours = self._best(lambda: self._new().write(rows))  # noqa: B023
            self._add(f"write, {order}", ours, theirs, 0.9)
        data = size_of(self._folder / "w")
        self._add("size", data / 1e6, self._parquet.size() / 1e6, 1.3, unit="MB")
        return self._warehouse().table("t")

    def _warehouse(self) -> Warehouse:
        return Warehouse(self._folder / "w")

    def _new(self) -> Table:
        shutil.rmtree(self._folder / "w", ignore_errors=True)
        return self._warehouse().create_table("t", self._rows.schema, primary_key="id")

    def _read(self, columns: list[str] | None = None) -> pa.Table:
        return pq.read_table(self._parquet.path, columns=columns)

    def _scan(self, table: Table, when: str, floor: float) -> None:
        assert table.to_arrow(["n"]).num_rows == self._rows.num_rows
        self._add(f"scan, {when}", self._best(table.to_arrow), self._best(self._read), floor)

    def _get(self, table: Table) -> None:
        rocks = RocksDict(self._folder / "rocks")
        rocks.write(self._rows)
        theirs = _median(rocks.get, self._rows.num_rows)
        rocks.close()
        newest = table.snapshots()[-1].snapshot_id
        for when, get in (("latest", table.get), ("at a snapshot", partial(table.get, at=newest))):
            ours = _median(get, self._rows.num_rows)
            self._add(f"get, {when}", ours * 1e6, theirs * 1e6, 4.5, unit="µs")
            self._report.floor(f"get, {when}, µs", ours * 1e6, 12.0, most=True)

    def _upsert(self, table: Table) -> None:
        delta = Delta(self._folder / "delta")
        delta.write(self._rows)
        changes = [self._change(seed) for seed in range(UPSERTS)]
        theirs = [_timed(lambda: delta.upsert(change)) for change in changes[:3]]  # noqa: B023
        ours = [_timed(lambda: table.write(change)) for change in changes]  # noqa: B023
        for at, (clock, floor) in enumerate((("CPU", 10.0), ("clock", 3.0))):
            mine = statistics.mean(each[at] for each in ours)  # compactions that fall due are among them
            ratio = min(each[at] for each in theirs) / mine
            name = f"upsert of 1 %, {clock}, deltalake / table"
            self._report.floor(name, ratio, floor)
            self._lines.append((name, f"{mine:.3f} s", f"{mine * ratio:.3f} s", f"{ratio:.1f}", f"≥ {floor}"))

    def _change(self, seed: int) -> pa.Table:
        count = self._rows.num_rows
        keys = np.random.default_rng(seed).choice(count, count // 100, replace=False)
        return self._rows.take(pa.array(keys)).set_column(3, "n", pa.array(np.full(len(keys), -1, np.int32)))

    def _best(self, work: Callable[[], object]) -> float:
        return cpu_seconds(work, passes=self._passes)

    def _add(self, name: str, ours: float, theirs: float, floor: float, unit: str = "s") -> None:
        peer = "rocksdict" if name.startswith("get") else "parquet"
        full = f"{name}, table / {peer}"
        self._report.floor(full, ours / theirs, floor, most=True)
        figures = f"{ours:.3g} {unit}", f"{theirs:.3g} {unit}"
        self._lines.append((full, *figures, f"{ours / theirs:.2f}", f"≤ {floor}"))


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - clock


def _median(get: Callable[[int], Any], count: int) -> float:
    keys = [int(key) for key in np.random.default_rng(3).integers(0, count, GETS)]
    for key in keys:
        get(key)
    times = []
    for key in keys:
        start = time.perf_counter()
        get(key)
        times.append(time.perf_counter() - start)
    return statistics.median(times)

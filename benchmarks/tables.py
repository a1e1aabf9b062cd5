"""Tables at size: planning a scan over 100,000 data files, committing to such a table, and small commits by a peer.

The files are described in manifests and exist nowhere else: planning reads no data. Each measurement that concerns
memory runs in a process of its own. Then tables of unusual shape: many columns, many partitions. Peers: deltalake for
commits of a thousand rows, one after the other; Parquet, for many columns.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
from _report import Report, arguments
from _tables_shapes import measure_shapes

from headwater import Warehouse
from headwater.lake.engine.stats import ColumnStats
from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Compare

COMMITS = 20
DAYS, BUCKETS = 500, 8


def synthetic(folder: Path, files: int) -> None:
    """A table of so many files, in 500 days of 8 buckets, with statistics of four columns."""
    table = Warehouse(folder).create_table(
        "t",
        {"day": "DATE", "id": "BIGINT", "shop": "STRING", "amount": "DOUBLE"},
        primary_key=["day", "id"],
        partition_by="day",
        options={"bucket": str(BUCKETS)},
    )
    codec = table.store.shape().codec
    for commit in range(COMMITS):
        placed = []
        for number in range(commit * files // COMMITS, (commit + 1) * files // COMMITS):
            day, bucket = date(2025, 1, 1) + timedelta(number % DAYS), number // DAYS % BUCKETS
            low = number // (DAYS * BUCKETS) * 1000
            stats = {
                "day": ColumnStats(str(day), str(day)),
                "id": ColumnStats(low, low + 999),
                "shop": ColumnStats("shop-1", "shop-99"),
                "amount": ColumnStats(0.5, 99.5, 3),
            }
            file = DataFile(
                *(f"day={day}/bucket-{bucket}/0-00000-{uuid.uuid4().hex[:16]}.sst", 0, 0, 1000, 0, 40_000),
                min_key=codec.native((day, low)),
                max_key=codec.native((day, low + 999)),
                stats=stats,
            )
            placed.append(PlacedFile(file, bucket, (str(day),)))
        table.store.committer.commit(TableChange(Operation.INSERT, "bench", str(commit), 0, added=tuple(placed)))


def plan(folder: str, what: str) -> dict[str, float]:
    """Open the table and plan, or commit; what it took and the peak of memory."""
    table = Warehouse(folder).table("t")
    day = date(2025, 3, 1)
    wheres = {"all": None, "day": Compare("day", "=", day), "stats": Compare("amount", ">", 1e6)}
    pa.array([0])  # Arrow imports pandas at its first list, if there is one: not ours to measure
    begun, cpu = time.perf_counter(), time.process_time()
    if what == "commit":
        table.write([(day, 1, "shop-1", 1.0)])
        files = 1
    else:
        files = table.plan_scan(where=wheres[what]).files
    seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    return {"seconds": seconds, "cpu": cpu, "peak": peak, "files": files}


def in_process(folder: Path, what: str, passes: int) -> dict[str, float]:
    """The best of some fresh processes."""
    runs = []
    for _ in range(passes):
        command = [sys.executable, __file__, "--plan", str(folder), what]
        runs.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return min(runs, key=lambda run: run["cpu"])


def commit_millis(write: object, commits: int) -> tuple[float, float]:
    """CPU and wall time of one commit, in milliseconds."""
    begun, cpu = time.perf_counter(), time.process_time()
    for turn in range(commits):
        rows = pa.table({"id": pa.array(range(turn * 1000, turn * 1000 + 1000)), "v": pa.array([turn] * 1000)})
        write(rows)  # type: ignore[operator]
    seconds = time.process_time() - cpu, time.perf_counter() - begun
    return seconds[0] * 1000 / commits, seconds[1] * 1000 / commits


def main() -> None:
    quick = arguments(__doc__ or "").quick
    files, passes = (100_000, 2) if quick else (100_000, 5)
    report, rows = Report("tables"), []
    scratch = Path(tempfile.mkdtemp())
    try:
        synthetic(scratch / "big", files)
        for what in ("all", "day", "stats", "commit"):
            run = in_process(scratch / "big", what, passes)
            times = f"{run['cpu']:.2f} s CPU, {run['seconds']:.2f} s"
            rows.append((what, times, f"{run['peak']:,.0f} MB", f"{run['files']:,}"))
            report.floor(f"{what} CPU seconds", run["cpu"], 0.5 if what == "commit" else 1.5, most=True)
            report.floor(f"{what} MB", run["peak"], 500, most=True)
        commits = 50 if quick else 200
        table = Warehouse(scratch / "w").create_table("t", {"id": "BIGINT", "v": "BIGINT"})
        pa.array([0])  # as above
        ours = commit_millis(table.write, commits)
        rows.append(("a small commit, headwater", f"{ours[0]:.1f} ms CPU, {ours[1]:.1f} ms, synced", "", commits))
        if find_spec("deltalake") is None:
            rows.append(("a small commit, deltalake", "not installed", "", ""))
        else:
            from deltalake import write_deltalake

            theirs = commit_millis(lambda rows: write_deltalake(scratch / "d", rows, mode="append"), commits)
            rows.append(("a small commit, deltalake", f"{theirs[0]:.1f} ms CPU, {theirs[1]:.1f} ms", "", commits))
            report.ratios["CPU of a small commit: deltalake / headwater"] = theirs[0] / ours[0]
        rows += measure_shapes(scratch, report, passes)
    finally:
        shutil.rmtree(scratch)
    report.finish(("100,000 files", "time", "peak", "files"), rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plan"]:
        print(json.dumps(plan(*sys.argv[2:4])))
    else:
        main()

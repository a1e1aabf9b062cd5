"""Tables of unusual shape: five hundred and ten thousand columns, a thousand small partitions; CPU seconds."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _lake_peers import size_of
from _report import Report, cpu_seconds

from headwater import Table, Warehouse

Line = tuple[object, ...]
WIDE, WIDE_ROWS, WIDEST = 500, 20_000, 10_000
PARTITIONS, PARTITIONED_ROWS = 1_000, 1_000_000


def measure_shapes(folder: Path, report: Report, passes: int) -> list[Line]:
    """Measure, put the floors into the report, and return lines: what, time, peak, count."""
    return [*_wide(folder, report, passes), _widest(folder, report, passes), _partitions(folder, report, passes)]


def _wide(folder: Path, report: Report, passes: int) -> list[Line]:
    chance = np.random.default_rng(1)
    columns: dict[str, object] = {"id": np.arange(WIDE_ROWS)}
    for number in range(1, WIDE):
        columns[f"c{number}"] = (
            chance.random(WIDE_ROWS),
            chance.integers(0, 1000, WIDE_ROWS).astype(np.int32),
            pa.array([f"v{each}" for each in chance.integers(0, 5000, WIDE_ROWS)]),
        )[number % 3]
    rows, path = pa.table(columns), folder / "wide.parquet"
    pq.write_table(rows, path, compression="zstd")
    table = Warehouse(folder / "wide").create_table("t", rows.schema, primary_key="id")
    table.write(rows)
    ours, theirs = cpu_seconds(table.to_arrow, passes=passes), cpu_seconds(lambda: pq.read_table(path), passes=passes)
    sizes = size_of(folder / "wide") / 1e6, size_of(path) / 1e6
    report.floor(f"scan of {WIDE} columns, table / parquet", ours / theirs, 2.0, most=True)
    report.floor(f"size of {WIDE} columns, table / parquet", sizes[0] / sizes[1], 1.3, most=True)
    return [
        (f"{WIDE} columns, headwater", f"{ours:.3f} s CPU", f"{sizes[0]:.1f} MB on disk", f"{WIDE_ROWS:,}"),
        (f"{WIDE} columns, parquet", f"{theirs:.3f} s CPU", f"{sizes[1]:.1f} MB on disk", f"{WIDE_ROWS:,}"),
    ]


def _widest(folder: Path, report: Report, passes: int) -> Line:
    schema = pa.schema([("id", pa.int64()), *((f"c{number}", pa.int64()) for number in range(1, WIDEST))])
    table = Warehouse(folder / "widest").create_table("t", schema, primary_key="id")
    row = pa.table([pa.array([1])] * WIDEST, schema=schema)
    spent = cpu_seconds(lambda: table.write(row), passes=min(passes, 4))  # a fifth commit would make a compaction due
    report.floor(f"commit of a row of {WIDEST:,} columns, CPU seconds", spent, 0.5, most=True)
    return (f"{WIDEST:,} columns, a commit of one row", f"{spent:.3f} s CPU", "", 1)


def _partitions(folder: Path, report: Report, passes: int) -> Line:
    best = min(_compacted(folder, turn) for turn in range(min(passes, 3)))
    report.floor(f"compaction of {PARTITIONS:,} partitions, CPU seconds", best, 3.0, most=True)
    return (f"compaction of {PARTITIONS:,} partitions", f"{best:.2f} s CPU", "", PARTITIONS)


def _compacted(folder: Path, turn: int) -> float:
    """The CPU time of one compaction, which must be one snapshot."""
    place = folder / f"parts{turn}"
    table: Table = Warehouse(place).create_table(
        "t",
        {"p": "INT", "id": "BIGINT", "v": "DOUBLE"},
        primary_key=["p", "id"],
        partition_by="p",
        options={"write-only": "true"},
    )
    for half in range(2):
        ids = np.arange(half, PARTITIONED_ROWS, 2)
        parts = (ids // 2 % PARTITIONS).astype(np.int32)
        table.write(pa.table({"p": parts, "id": ids, "v": np.random.default_rng(half).random(len(ids))}))
    before = len(table.snapshots())
    spent = cpu_seconds(table.compact, passes=1)
    assert len(table.snapshots()) == before + 1
    shutil.rmtree(place)
    return spent

"""The page of measurements, and the few of them that the README shows: both from `benchmarks/results/`."""

import ast
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))
from _kept import lines_of, read_results  # noqa: E402

IN_SHORT = (  # benchmark, ratio, the work, the peer
    ("lineage", "headwater/sqlglot", "lineage of the TPC queries", "sqlglot"),
    ("lineage", "headwater/datahub", "", "DataHub"),
    ("lineage", "headwater/sqllineage", "", "sqllineage"),
    ("lineage", "headwater/openlineage_sql", "", "openlineage_sql, which takes no schema"),
    ("lake", "write: parquet / table", "write a table, sorted by key", "Parquet"),
    ("lake", "upsert: deltalake / table", "upsert a tenth of it", "Delta Lake"),
    ("lake", "upsert: pypaimon-rust / table", "", "Paimon (Rust)"),
    ("lake", "scan: parquet / table", "read it whole", "Parquet"),
    ("lake", "get: pypaimon-rust / table", "one row by key", "Paimon (Rust)"),
    ("lake", "get: rocksdict / table", "", "RocksDB, which has no snapshots"),
    ("lake", "get: rocksdict / engine", "one row by key, the engine alone (`LSMTree`)", "RocksDB"),
    ("query", "keyed_fresh_wall", "the queries of TPC-H", "DuckDB on Parquet"),
    ("spark_lake", "full_read", "read it on Spark", "Spark on Parquet"),
    ("spark_lake", "upsert", "upsert 1 % on Spark", "Spark rewriting Parquet"),
    ("agent", "headwater", "a Spark job with the agent", "without it"),
)

INTRO = """\
Every number here was measured in one run with the peers it is compared with, on the machine named, and is kept in
`benchmarks/results/`. Ratios travel between machines better than seconds do. To measure on yours:

<!-- not run: it takes ten minutes, with peers that are not dependencies of the tests -->
```console
$ make bench            # the quick ones, about ten minutes
$ make bench FULL=1     # the whole workloads, more than an hour
```

It compares with what was kept and prints in red what is more than 20 % worse or misses its floor. A *floor* is what
we hold ourselves to; one that is missed says so. `benchmarks/run.py` ends with 1 when a floor is missed and for
nothing else, with 2 when a benchmark could not run; `make` prints that number and ends with 2 itself.
"""


def performance_page(note: str) -> str:
    release, results = read_results()
    lines = ["# Performance", note, INTRO]
    if not results:
        return "\n".join([*lines, "Nothing has been kept yet."]) + "\n"
    lines.append(f"Kept for version {release}.\n")
    for name, outcome in _newest(results).items():
        lines += _section(name, outcome)
    return "\n".join(lines)


def _newest(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each benchmark with its whole workload where that was kept, else with the quick one."""
    quick = {name: outcome | {"mode": "quick"} for name, outcome in results.get("quick", {}).items()}
    full = {name: outcome | {"mode": "full"} for name, outcome in results.get("full", {}).items()}
    return dict(sorted((quick | full).items()))


def _section(name: str, outcome: dict[str, Any]) -> list[str]:
    about = ast.get_docstring(ast.parse((BENCHMARKS / f"{name}.py").read_text())) or name
    machine = outcome["machine"]
    headers, *rows = outcome["table"]
    lines = [f"## {about.splitlines()[0].rstrip('.:')}\n"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {machine['memory']}, Python {machine['python']}"
    lines += [f"`benchmarks/{name}.py`, {outcome['mode']}, on {outcome['date']}: {where}.\n"]
    lines += [_row(headers), "|" + "---|" * len(headers), *map(_row, rows), ""]
    floors = [line for line in lines_of(outcome, {}) if line.floor is not None]
    if floors:
        lines += ["| floor | measured | asked | |", "|---|---|---|---|"]
        for line in floors:
            asked = f"{'≤' if line.less else '≥'} {line.floor:g}"
            lines.append(f"| {line.what} | {line.measured:g} | {asked} | {'**missed**' if line.missed else 'met'} |")
        lines.append("")
    return lines


def _row(cells: list[object]) -> str:
    return "| " + " | ".join("" if cell is None else str(cell).replace("|", "\\|") for cell in cells) + " |"


def measured_in_short() -> str:
    """The table of the README: what we are faster and slower at, and than whom."""
    release, results = read_results()
    found = _newest(results)
    rows = []
    for name, ratio, work, peer in IN_SHORT:
        outcome = found.get(name, {"ratios": {}})
        if ratio in outcome["ratios"]:
            rows.append(
                f"| {work} | {peer} | {_times(outcome['ratios'][ratio], ratio in outcome['less_is_better'])} |"
            )
    dates = {outcome["date"] for outcome in found.values()}
    lines = ["| work | against | Headwater is |", "|---|---|---|", *rows, ""]
    if dates:
        machine = next(iter(found.values()))["machine"]
        where = f"{machine['cores']} cores of {machine['cpu']}"
        lines.append(f"Version {release}, {max(dates)}, {where}; each against its peer in one run.")
        lines.append("[All of it](docs/performance.md); `make bench` repeats it.")
    return "\n".join(lines) + "\n"


def _times(ratio: float, less: bool) -> str:
    better = 1 / ratio if less else ratio
    if 0.95 < better < 1.05:
        return "as fast"
    times = max(better, 1 / better)
    shown = f"{times:,.0f}" if times >= 10 else f"{times:.1f}"
    return f"**{shown} × faster**" if better > 1 else f"{shown} × slower"

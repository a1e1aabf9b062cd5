"""How long a command takes to start and answer something small, in CPU seconds, beside what it must import.

    python benchmarks/start.py [--quick]

Each command is a process of its own; the best of several runs counts. `bare imports` is Python with the libraries
that the command cannot do without, and nothing of ours.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from _report import Report, arguments

COMMANDS = {
    "trace": (("trace", "b.y"), "numpy, pyarrow.compute", 0.4),
    "search": (("search", "y"), "numpy, pyarrow.compute", 0.4),
    "sql": (("sql", "-e", "select 1"), "numpy, pyarrow.compute, duckdb, sqlglot", 0.5),
    "lineage": (("lineage", "-e", "SELECT a FROM t"), "sqlglot", 0.25),
    "lineage, bigquery": (("lineage", "-d", "bigquery", "-e", "SELECT a FROM t"), "sqlglot, wasmtime", 0.5),
}


def main() -> None:
    runs = 5 if arguments(__doc__ or "").quick else 15
    report = Report("start")
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.sql").write_text("CREATE TABLE b AS SELECT x AS y FROM a;")
        _run(folder, "-m", "headwater", "harvest", "a.sql", "--dialect", "duckdb", "--quiet")
        for name, (words, needed, floor) in COMMANDS.items():
            ours = min(_run(folder, "-m", "headwater", *words) for _ in range(runs))
            bare = min(_run(folder, "-c", f"import {needed}") for _ in range(runs))
            rows.append((name, f"{ours:.3f}", f"{bare:.3f}"))
            report.ratios[f"{name} / bare imports"] = ours / bare
            report.less.add(f"{name} / bare imports")
            report.floor(f"{name}, CPU seconds", ours, floor, most=True)
    report.finish(("command", "CPU s", "bare imports, CPU s"), rows)


def _run(folder: str, *words: str) -> float:
    """The CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *words], cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()

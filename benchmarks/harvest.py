"""The harvest of a generated estate: one process, Spark on two cores, a re-harvest, and how the cost grows.

Each run is a process of its own, timed from the first text to the last commit, Spark's start included.
"""

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

from _estate import generate
from _report import Report, arguments

HERE = "one process"


def main() -> None:
    if "--run" in sys.argv:
        _run(*sys.argv[sys.argv.index("--run") + 1 :])
        return
    quick = arguments(__doc__ or "").quick
    size = 1_000 if quick else 10_000
    report = Report("harvest")
    rows: list[tuple[object, ...]] = []

    def measure(name: str, count: int, master: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, __file__, "--run", str(count), master], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(done.stderr[-3000:])
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        each = found["seconds"] / found["statements"] * 1000
        again = f"{found['again']:.1f} s" if "again" in found else ""
        rows.append(
            (name, f"{count:,}", f"{found['seconds']:.1f} s", f"{each:.2f} ms", again, f"{found['memory']} MB")
        )
        return found

    one = measure(HERE, size, HERE)
    two = measure("local[2]", size, "local[2]")
    report.ratios["local[2] against one process"] = one["seconds"] / two["seconds"]
    report.ratios["re-harvest, 1 % changed"] = one["again"] / one["seconds"]
    same = one["rows"] == two["rows"]
    if not quick:
        report.floor("local[2] against one process", one["seconds"] / two["seconds"], 1.6)
        report.floor("re-harvest, 1 % changed", one["again"] / one["seconds"], 0.08, most=True)
        small, large = measure(HERE, 1_000, HERE), measure(HERE, 30_000, HERE)
        growth = (large["seconds"] / large["statements"]) / (small["seconds"] / small["statements"])
        report.floor("cost of a statement, 30,000 against 1,000", growth, 1.25, most=True)
        report.floor("driver memory at 30,000, MB", large["memory"], 2_000, most=True)
        for master in ("local[1]", "local-cluster[2,1,1024]"):
            same &= measure(master, 1_000, master)["rows"] == small["rows"]
    report.floor("same rows wherever it runs", float(same), 1.0)
    report.finish(("who", "statements", "time", "a statement", "1 % changed", "driver"), rows)


def _run(count: str, master: str) -> None:
    """One harvest, and one more after 1 % of the statements have changed."""
    from headwater.graph import GraphStore
    from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, STATEMENTS
    from headwater.jobs.harvest import runner
    from headwater.jobs.harvest.harvest import HarvestOptions, harvest

    with tempfile.TemporaryDirectory() as folder:
        store = GraphStore(folder)
        estate, changed = generate(int(count)), generate(int(count), changed=0.01)
        if master == HERE:
            runner.SMALL = sys.maxsize
        options = HarvestOptions(master=None if master == HERE else master)
        begun = time.monotonic()
        summary = harvest(store, estate, options)
        found: dict[str, Any] = {"statements": summary.statements, "seconds": time.monotonic() - begun}
        digest = hashlib.sha256()
        for spec in (DATASETS, COLUMNS, STATEMENTS, EDGES, ISSUES):
            digest.update(repr(store.state().read(spec).to_pydict()).encode())
        found["rows"] = digest.hexdigest()
        begun = time.monotonic()
        harvest(store, changed, HarvestOptions())
        found["again"] = time.monotonic() - begun
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main()

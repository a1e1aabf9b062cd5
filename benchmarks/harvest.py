"""The harvest of a generated estate: one process, Spark on two cores, a re-harvest, and how the cost grows.

Each run is a process of its own, timed from the first text to the last commit, Spark's start included; "warm" is a
run in a Spark that has been started before. The two that are compared run twice, in turn, and the better run of each
counts: the machine's pace changes within minutes. One process is the same code without Spark: it is on one core, as
its CPU time shows. How the cost grows is judged by CPU time, against the best of three small estates. What is done
once per machine has been done (`headwater warmup`); ZetaSQL, which starts once however many statements follow, has
been started before. What is judged at 10,000 statements is not judged by the quick run.
"""

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from typing import Any

from _estate import generate
from _report import Report, arguments

HERE = "one process"
WARM = " warm"
HEADERS = ("who", "statements", "time", "CPU, driver", "a statement", "waves", "1 % changed", "memory, driver")


def main() -> None:
    if "--run" in sys.argv:
        _run(*sys.argv[sys.argv.index("--run") + 1 :])
        return
    quick = arguments(__doc__ or "").quick
    size = 1_000 if quick else 10_000
    report = Report("harvest")
    subprocess.run([sys.executable, "-m", "headwater", "warmup", "--quiet"], check=True)
    rows: list[tuple[object, ...]] = []

    def measure(who: str, count: int) -> dict[str, Any]:
        words = [sys.executable, __file__, "--run", str(count), who]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr[-3000:])
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        found["each"] = found["seconds"] / found["statements"] * 1000
        rows.append(_row(who, count, found))
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
        return found

    turns = [(measure(HERE, size), measure("local[2]", size)) for _ in range(1 if quick else 2)]
    one, two = (min(those, key=_seconds) for those in zip(*turns, strict=True))
    same = one["rows"] == two["rows"]
    report.ratios["local[2] against one process"] = one["seconds"] / two["seconds"]
    report.ratios["re-harvest, 1 % changed"] = one["again"] / one["seconds"]
    report.less.add("re-harvest, 1 % changed")
    if not quick:
        warm = measure(f"local[2]{WARM}", size)
        report.ratios["local[2] warm against one process"] = one["seconds"] / warm["seconds"]
        report.floor("local[2] against one process", one["seconds"] / two["seconds"], 1.6)
        report.floor("re-harvest, 1 % changed", one["again"] / one["seconds"], 0.08, most=True)
        small, large = min((measure(HERE, 1_000) for _ in range(3)), key=_cpu_each), measure(HERE, 30_000)
        growth = _cpu_each(large) / _cpu_each(small)
        report.floor("cost of a statement, 30,000 against 1,000", growth, 1.25, most=True)
        report.floor("driver memory at 30,000, MB", large["memory"], 2_000, most=True)
        for master in ("local[1]", "local-cluster[2,1,1024]"):
            same &= measure(master, 1_000)["rows"] == small["rows"]
    report.floor("same rows wherever it runs", float(same), 1.0)
    report.finish(HEADERS, rows)


def _seconds(found: dict[str, Any]) -> float:
    return float(found["seconds"])


def _cpu_each(found: dict[str, Any]) -> float:
    """The CPU time of a statement, in seconds."""
    return float(found["cpu"] / found["statements"])


def _row(who: str, count: int, found: dict[str, Any]) -> tuple[object, ...]:
    seconds, again = f"{found['seconds']:.1f} s", f"{found['again']:.1f} s"
    cpu, each = f"{found['cpu']:.1f} s", f"{found['each']:.2f} ms"
    return who, f"{count:,}", seconds, cpu, each, found["waves"], again, f"{found['memory']} MB"


def _run(count: str, who: str) -> None:
    """One harvest, and one more after 1 % of the statements have changed."""
    from headwater import analyze
    from headwater.graph import GraphStore
    from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, STATEMENTS
    from headwater.jobs.harvest import runner
    from headwater.jobs.harvest.harvest import HarvestOptions, harvest
    from headwater.jobs.harvest.spark_executor import SETTINGS
    from headwater.jobs.session import spark_session

    master = None if who == HERE else who.removesuffix(WARM)
    if master is None:
        runner.SMALL = sys.maxsize
    estate, changed = generate(int(count)), generate(int(count), changed=0.01)
    analyze("SELECT 1 AS one", dialect="bigquery")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        store = GraphStore(folder)
        if who.endswith(WARM):
            stack.enter_context(spark_session(master or "", settings=SETTINGS))
        begun, used = time.monotonic(), time.process_time()
        summary = harvest(store, estate, HarvestOptions(master=master))
        found: dict[str, Any] = {"statements": summary.statements, "waves": summary.waves}
        found |= {"seconds": time.monotonic() - begun, "cpu": time.process_time() - used}
        found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        digest = hashlib.sha256()
        for spec in (DATASETS, COLUMNS, STATEMENTS, EDGES, ISSUES):
            digest.update(repr(store.state().read(spec).to_pydict()).encode())
        found["rows"] = digest.hexdigest()
        begun = time.monotonic()
        harvest(store, changed)
        found["again"] = time.monotonic() - begun
    print(json.dumps(found))


if __name__ == "__main__":
    main()

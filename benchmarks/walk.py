"""Questions to a graph that Spark reads and the driver never holds: time, and the most memory of the driver.

    python benchmarks/walk.py [--quick] [--edges 100000000] [--master URL] [--folder FOLDER]

Memory is the most that the driver's Python and its Java have had; on `local[2]` that Java runs the tasks as well. The
edges are those of `graph.py`, written piece by piece. With --folder, the graph is there, or is written there.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _graph import make_edges
from _report import Report

PIECE = 2_000_000
SIZES = {"quick": 200_000, "full": 10_000_000}
MOST_MB = 2_000


def main() -> None:
    if "--ask" in sys.argv:
        _ask(*sys.argv[-2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller graph, under a minute")
    parser.add_argument("--edges", type=int, help="how many edges")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--folder", help="where the graph is, or is to be")
    given = parser.parse_args()
    count = given.edges or SIZES["quick" if given.quick else "full"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        if not Path(folder, "lineage").exists():
            _write(folder, count)
        command = [sys.executable, __file__, "--ask", folder, given.master]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    report = Report("walk")
    report.floor("driver memory, MB", found["python"] + found["java"], MOST_MB, most=True)
    rows = [*found["rows"], ["most memory, Python", "", "", "", f"{found['python']} MB"]]
    rows += [["most memory, Java", "", "", "", f"{found['java']} MB"]]
    report.finish((f"{count:,} edges", "steps", "nodes", "edges", "time"), [tuple(row) for row in rows])


def _write(folder: str, count: int) -> None:
    """The graph of `graph.py`, in pieces, as tasks write it: to files that one change makes a state."""
    from headwater.graph.store import GraphChange, GraphStore, WrittenFiles
    from headwater.graph.tables import EDGES
    from headwater.jobs.written import plan_files, write_files

    store = GraphStore(folder)
    store.create()
    plans = {EDGES.name: plan_files(store, EDGES, count)}
    written: list[WrittenFiles] = []
    begun = time.monotonic()
    for start in range(0, count, PIECE):
        size = min(PIECE, count - start)
        edges = make_edges(size, 0, prefix=f"p{start // PIECE}_")
        written.append(write_files(plans, {EDGES.name: edges}))
        print(f"{start + size:,} edges written, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    store.apply(GraphChange(written=WrittenFiles.together(written).placed, record={"kind": "harvest"}))


def _ask(folder: str, master: str) -> None:
    from headwater.graph.store import GraphStore
    from headwater.jobs.session import spark_session
    from headwater.jobs.walk import SparkGraph

    rows: list[tuple[object, ...]] = []
    local = {"spark.local.dir": os.environ.get("TMPDIR", folder)}
    with spark_session(master, settings=local) as spark, SparkGraph(spark, GraphStore(folder).state()) as graph:
        questions = [
            ("trace, first", lambda: graph.trace("p0_l5.t7.c3")),
            ("trace", lambda: graph.trace("p0_l10.t9.c4")),
            ("impact", lambda: graph.impact("p0_l6.t3.c2")),
            ("path", lambda: graph.path("p0_l3.t5", "p0_l5.t4")),
        ]
        for name, ask in questions:
            begun = time.monotonic()
            answer = ask()
            taken = f"{time.monotonic() - begun:.1f} s"
            assert answer.steps
            rows.append((name, max(answer.distance.values()), len(answer.distance), len(answer.steps), taken))
            print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
        pid = spark._jvm.ProcessHandle.current().pid()  # type: ignore[union-attr]
        status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"rows": rows, "python": python, "java": int(found[1]) // 1024}))


if __name__ == "__main__":
    main()

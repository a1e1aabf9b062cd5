"""Questions to a graph of a million edges: the first answer of a process, the next ones, and a diff of two states.

Times are CPU times, the best of three processes. The edges are those of a generated estate of layers: each column is
made of two or three of the layer before it.
"""

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

from _graph import make_edges
from _report import Report, arguments


def main() -> None:
    if "--ask" in sys.argv:
        _ask(sys.argv[-1])
        return
    quick = arguments(__doc__ or "").quick
    count = 100_000 if quick else 1_000_000
    report = Report("graph")
    with tempfile.TemporaryDirectory() as folder:
        _write(folder, count)
        best: dict[str, float] = {}
        for _ in range(3):
            done = subprocess.run(
                [sys.executable, __file__, "--ask", folder], capture_output=True, text=True, check=False
            )
            if done.returncode:
                sys.exit(done.stderr[-3000:])
            found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            best = {name: min(value, best.get(name, value)) for name, value in found.items()}
    report.floor("first answer, cold", best["cold trace"], 3.0, most=True)
    report.floor("next answers, warm", max(best["warm trace"], best["warm impact"]), 0.1, most=True)
    report.floor("diff of two states", best["diff"], 5.0, most=True)
    report.finish(
        ("question", f"seconds on {count:,} edges"), [(name, f"{value:.3f}") for name, value in best.items()]
    )


def _write(folder: str, count: int) -> None:
    """Two states: the second has one statement in a hundred computed in another way."""
    from headwater.graph.store import GraphChange, GraphStore

    store = GraphStore(folder)
    store.apply(GraphChange(tables={"edges": make_edges(count, 0)}, record={"kind": "harvest"}))
    store.apply(GraphChange(tables={"edges": make_edges(count, count // 100)}, record={"kind": "harvest"}))


def _ask(folder: str) -> None:
    from headwater.graph import GraphStore, LineageGraph, diff_states

    times: dict[str, float] = {}

    def timed(name: str, work: Any) -> Any:
        begun = time.process_time()
        answer = work()
        times[name] = time.process_time() - begun
        return answer

    store = GraphStore(folder)
    graph = LineageGraph(store.state())
    assert timed("cold trace", lambda: graph.trace("l5.t7.c3")).steps
    assert timed("warm trace", lambda: graph.trace("l5.t9.c4")).steps
    assert timed("warm impact", lambda: graph.impact("l6.t3.c2")).steps
    timed("diff", lambda: diff_states(store.state("@-1"), store.state()))
    print(json.dumps(times))


if __name__ == "__main__":
    main()

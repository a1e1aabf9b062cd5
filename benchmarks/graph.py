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

import numpy as np
import pyarrow as pa
from _report import Report, arguments

COLUMNS = 20
LAYERS = 10


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
    from headwater.graph.store import Change, GraphStore

    store = GraphStore(folder)
    store.apply(Change(tables={"edges": _edges(count, 0)}, record={"kind": "harvest"}))
    store.apply(Change(tables={"edges": _edges(count, count // 100)}, record={"kind": "harvest"}))


def _edges(count: int, changed: int) -> pa.Table:
    """Rows of the edge table; of those, the first so many in another way, or all when it is 0."""
    from headwater.graph.store import arrow_schema
    from headwater.graph.tables import EDGES

    chance = np.random.default_rng(1)
    per_layer = count // LAYERS
    tables = max(1, per_layer // (COLUMNS * 3))
    layer = np.repeat(np.arange(1, LAYERS + 1), per_layer)
    table = np.tile(np.repeat(np.arange(tables), -(-per_layer // tables))[:per_layer], LAYERS)
    column = np.tile(np.arange(per_layer) % COLUMNS, LAYERS)
    source_table = (table + chance.integers(0, 3, len(table))) % tables
    source_column = chance.integers(0, COLUMNS, len(table))
    if changed:
        layer, table, column = layer[:changed], table[:changed], column[:changed]
        source_table, source_column = source_table[:changed], source_column[:changed]
    made = [f"l{a}.t{b}" for a, b in zip(layer, table)]
    rows = {
        "statement": [f"sql/{name}.sql#0" for name in made],
        "target": made,
        "target_column": [f"c{each}" for each in column],
        "source": [f"l{a - 1}.t{b}" for a, b in zip(layer, source_table)],
        "source_column": [f"c{each}" for each in source_column],
        "kind": ["TRANSFORMATION"] * len(made),
        "expression": [f"c{each} * {2 if changed else 1}" for each in source_column],
        "file": [f"sql/{name}.sql" for name in made],
        "masking": [False] * len(made),
        "line": [3] * len(made),
        "observed": [False] * len(made),
    }
    schema = arrow_schema(EDGES)
    return pa.table(
        [
            pa.array(rows[each.name], each.type) if each.name in rows else pa.nulls(len(made), each.type)
            for each in schema
        ],
        schema=schema,
    )


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

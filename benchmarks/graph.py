"""Questions to a graph of a million column edges: the first answer of a process, answers after that, a comparison.

The estate is made up: layers of tables, each column made of a few columns of the layer before, and one filter for
every table. Peer: DuckDB, with a recursive query over the same edges in its own table.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow as pa
from _report import Report, arguments, cpu_seconds

from headwater.graph import Change, GraphStore, LineageGraph, diff_states
from headwater.graph.store import arrow_schema
from headwater.graph.tables import EDGES
from headwater.model.edges import InfluenceClass

LAYERS, COLUMNS = 10, 20
COLD = """
import sys, time
start = time.perf_counter()
from headwater.graph import LineageGraph
answer = LineageGraph.open(sys.argv[1]).trace(sys.argv[2])
print(time.process_time(), time.perf_counter() - start)
"""


def estate(edges: int, seed: int = 7) -> pa.Table:
    """So many edges, the same for the same seed."""
    rng = random.Random(seed)
    tables = max(2, edges // (LAYERS * COLUMNS * 5))
    rows: dict[str, list[object]] = {name: [] for name in ("statement", *EDGES.key[1:], "expression")}
    while len(rows["kind"]) < edges:
        layer = 1 + len(rows["kind"]) * (LAYERS - 1) // edges
        number = rng.randrange(tables)
        target = f"layer{layer}.table{number}"
        sources = [f"layer{layer - 1}.table{(number + rng.randrange(3)) % tables}" for _ in range(2)]
        statement = f"models/{target}.sql#{len(rows['kind'])}"
        for column in range(COLUMNS):
            for _ in range(5):
                source = rng.choice(sources), f"c{rng.randrange(COLUMNS)}"
                _add(rows, statement, (target, f"c{column}"), source, "TRANSFORMATION")
        _add(rows, statement, (target, "*"), (sources[0], "c0"), "FILTER")
    table = pa.table({name: pa.array(values[:edges], pa.string()) for name, values in rows.items()})
    return (
        table.group_by(list(EDGES.key)).aggregate([("expression", "min")]).rename_columns([*EDGES.key, "expression"])
    )


def _add(rows: dict[str, list[object]], statement: str, target: tuple[str, str], source: tuple[str, str], kind: str):
    values = (statement, *target, *source, kind, f"f({source[1]})")
    for name, value in zip(rows, values, strict=True):
        rows[name].append(value)


def write(store: GraphStore, edges: pa.Table, change: Change) -> None:
    """Edges alone, as one change."""
    schema = arrow_schema(EDGES)
    nulls = {field.name: pa.nulls(len(edges), field.type) for field in schema if field.name not in edges.column_names}
    whole = {**{name: edges.column(name) for name in edges.column_names}, **nulls}
    store.create()
    table = store.table(EDGES)
    snapshot = table.write(pa.table([whole[field.name] for field in schema], schema=schema))
    store.record(change, {EDGES.name: snapshot.snapshot_id})


def duckdb_impact(connection: duckdb.DuckDBPyConnection, dataset: str, column: str) -> int:
    """How many columns a recursive query reaches by values alone."""
    query = """
    WITH RECURSIVE reached(dataset, "column") AS (
      SELECT ?, ? UNION
      SELECT e.target, e.target_column FROM edges e JOIN reached r
        ON e.source = r.dataset AND e.source_column = r."column" WHERE e.kind = 'TRANSFORMATION')
    SELECT count(*) FROM reached"""
    found = connection.execute(query, [dataset, column]).fetchone()
    return found[0] if found else 0


def main() -> None:
    options = arguments(__doc__ or "")
    size = 200_000 if options.quick else 1_000_000
    report = Report("graph")
    with tempfile.TemporaryDirectory() as folder:
        store = GraphStore(str(Path(folder) / "w"))
        edges = estate(size)
        write(store, edges, Change(record={"kind": "harvest"}))
        before = store.state()
        deep, first = f"layer{LAYERS - 1}.table0.c3", "layer0.table0.c3"
        process = [sys.executable, "-c", COLD, str(Path(folder) / "w"), deep]
        cold = min([float(part) for part in subprocess.check_output(process).split()] for _ in range(3))

        graph = LineageGraph(before)
        trace, impact = graph.trace(deep), graph.impact(first)
        warm_trace = _clock(lambda: graph.trace(deep))
        warm_impact = _clock(lambda: graph.impact(first))

        connection = duckdb.connect()
        connection.execute("CREATE TABLE edges AS SELECT * FROM edges")
        values = (InfluenceClass.VALUE,)
        ours = cpu_seconds(lambda: graph.impact(first, influences=values))
        theirs = cpu_seconds(lambda: duckdb_impact(connection, *first.rsplit(".", 1)))
        reached = len(graph.impact(first, influences=values).distance)
        assert reached == duckdb_impact(connection, *first.rsplit(".", 1))

        changed = edges.slice(0, len(edges) // 100)
        changed = changed.set_column(6, "expression", pa.array(["g()"] * len(changed)))
        write(store, changed, Change(record={"kind": "harvest"}))
        after = store.state()
        start = time.perf_counter()
        difference = diff_states(before, after)
        waited = time.perf_counter() - start
        diff_seconds = cpu_seconds(lambda: diff_states(before, after), passes=2)
    rows = [
        ("edges", f"{len(edges):,}", ""),
        ("first answer of a process", f"{cold[0]:.2f} s CPU", f"{cold[1]:.2f} s by the clock, imports included"),
        ("trace again", f"{warm_trace * 1000:.0f} ms", f"{len(trace.steps):,} edges shown"),
        ("impact again", f"{warm_impact * 1000:.0f} ms", f"{len(impact.steps):,} edges shown"),
        ("impact by values, CPU", f"{ours * 1000:.0f} ms", f"{reached:,} columns reached"),
        ("the same in DuckDB, CPU", f"{theirs * 1000:.0f} ms", ""),
        (
            "diff, 1 % changed",
            f"{diff_seconds:.2f} s CPU",
            f"{waited:.2f} s by the clock; {len(difference.edges):,} edges differ",
        ),
    ]
    report.ratios = {"impact_vs_duckdb": theirs / ours}
    report.floor("cold_seconds", cold[0], 3.0, most=True)
    report.floor("warm_trace_seconds", warm_trace, 0.1, most=True)
    report.floor("warm_impact_seconds", warm_impact, 0.1, most=True)
    report.floor("diff_seconds", diff_seconds, 5.0, most=True)
    report.finish(("what", "time", ""), rows)


def _clock(work: object, passes: int = 5) -> float:
    """The best of a few passes by the clock: what a person waits for."""
    assert callable(work)
    times = []
    for _ in range(passes):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()

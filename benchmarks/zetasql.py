"""ZetaSQL through our engine: what it costs to start, and to have lineage on top of the analysis.

The workload is the TPC queries as BigQuery text. Peers: the bare analyzer calls of the same engine, and the `zetasql`
package's own object API, which does no lineage at all. The package is given our engine beneath it (compiled module
from the cache, memory copied in one move), so what is compared is its API, not its start.
"""

from _report import Report, arguments, cpu_seconds  # first: it keeps this file from hiding the package of its name

# isort: split
import json
import logging
import multiprocessing
import re
import subprocess
import sys
import time
from pathlib import Path

import sqlglot
from zetasql.api import Analyzer, CatalogBuilder, TableBuilder
from zetasql.types import AnalyzerOptions, TypeKind

from headwater.lineage import SchemaResolver
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.text import Source
from headwater.zetasql import get_bigquery_language_options, get_builtin_function_options, share_engine
from headwater.zetasql.catalog import ScriptCatalog
from headwater.zetasql.engine import default_engine
from headwater.zetasql.frontend import GoogleSqlFrontEnd
from headwater.zetasql.options import analyzer_bytes
from headwater.zetasql.types import parse_type

DATA = Path(__file__).parent / "data"
logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of NULLS LAST, which changes no lineage
SCHEMA = json.loads((DATA / "tpc_schema.json").read_text())
START = """
import resource, time
from headwater.zetasql.frontend import GoogleSqlFrontEnd
from headwater.lineage import SchemaResolver
from headwater.lineage.imports import schema_of_mapping
from headwater.lineage.script import analyze_script
from headwater.text import Source
resolver = SchemaResolver(schema_of_mapping({"t": {"a": "INT64", "b": "INT64"}}), dialect="bigquery")
text = Source("INSERT INTO t (a) SELECT a + b FROM t WHERE b > 1")
found = list(analyze_script(text, GoogleSqlFrontEnd(), resolver))
assert len(found[0].edges) == 3, found
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""


def queries(quick: bool) -> list[str]:
    found = []
    for name in ("tpch", "tpcds"):
        for part in re.split(r"(?m)^-- (?=tpc)", (DATA / f"{name}.sql").read_text()):
            title, _, sql = part.partition("\n")
            if sql.strip() and title.strip() != "tpch-13":  # GoogleSQL has no column list behind an alias
                found.append(sqlglot.transpile(sql.strip().rstrip(";"), read="duckdb", write="bigquery")[0])
    return found[::6] if quick else found


def run_ours(texts: list[str]) -> None:
    front_end = GoogleSqlFrontEnd()
    resolver = SchemaResolver(schema_of_mapping(SCHEMA), dialect="bigquery")
    for text in texts:
        for lineage in analyze_script(Source(text), front_end, resolver):
            assert not lineage.issues, (text, lineage.issues)


def bare_calls(texts: list[str]):
    """The analyzer calls alone, over a catalog of all tables that is registered once."""
    catalog = ScriptCatalog()
    catalog.add_tables([(name,) for name in SCHEMA], SchemaResolver(schema_of_mapping(SCHEMA), dialect="bigquery"))
    registered, engine = catalog.catalog(), default_engine()
    return lambda: [engine.analyze(text, analyzer_bytes(), registered) for text in texts]


def package_calls(texts: list[str]):
    """The package's Analyzer with its objects; no lineage."""
    share_engine()
    catalog = CatalogBuilder("tpc").with_builtin_functions(get_builtin_function_options())
    for name, columns in SCHEMA.items():
        table = TableBuilder(name)
        for column, kind in columns.items():
            table.add_column(column, TypeKind(parse_type(kind).type_kind))
        catalog.add_table(table.build())
    options = AnalyzerOptions(language_options=get_bigquery_language_options(), prune_unused_columns=True)
    analyzer = Analyzer(options, catalog.build())
    return lambda: [analyzer.analyze_statement(text) for text in texts]


def _work(texts: list[str], ready, go, spent) -> None:
    run_ours(texts[:1])
    ready.release()
    go.wait()
    start = time.process_time()
    run_ours(texts)
    spent.put(time.process_time() - start)


def together(texts: list[str], processes: int) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of the slowest, when so many warm workers do the workload at the same time.

    On a machine with other work the wall clock tells of that work; CPU time tells whether the workers hinder each
    other.
    """
    context = multiprocessing.get_context("spawn")
    ready, go, spent = context.Semaphore(0), context.Event(), context.Queue()
    workers = [context.Process(target=_work, args=(texts, ready, go, spent)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    start = time.perf_counter()
    go.set()
    cpu = max(spent.get() for _ in workers)
    wall = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return wall, cpu


def start_cost(passes: int) -> tuple[float, float]:
    """CPU seconds and megabytes of a process that analyses one statement from the cache; the best of a few."""
    costs = []
    for _ in range(passes):
        run = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
        costs.append(tuple(map(float, run.stdout.split())))
    return min(cpu for cpu, _ in costs), min(memory for _, memory in costs)


def main() -> None:
    quick = arguments(__doc__).quick
    texts = queries(quick)
    passes = 2 if quick else 3
    cpu, memory = start_cost(passes + 1)
    run_ours(texts[:3])
    ours = cpu_seconds(lambda: run_ours(texts), passes=passes)
    bare = cpu_seconds(bare_calls(texts), passes=passes)
    package = cpu_seconds(package_calls(texts), passes=1 if quick else 2)
    pairs = [(together(texts, 1), together(texts, 2)) for _ in range(passes)]
    two = max(2 * one[1] / both[1] for one, both in pairs)
    two_wall = max(2 * one[0] / both[0] for one, both in pairs)
    rates = [
        ("headwater: analysis and lineage", ours),
        ("the same engine: bare analyzer calls", bare),
        ("the zetasql package: objects, no lineage", package),
    ]
    rows: list[tuple[object, ...]] = [(name, f"{len(texts) / spent:.1f}") for name, spent in rates]
    rows.append(("start from the cache", f"{cpu:.2f} s CPU, {memory:.0f} MB"))
    rows.append(("two processes against one", f"{two:.2f} by CPU time, {two_wall:.2f} by the clock"))
    report = Report("zetasql", {"against bare calls": bare / ours, "against the package": package / ours})
    report.floor("start CPU s", cpu, 0.6, most=True)
    report.floor("start MB", memory, 130, most=True)
    report.floor("against bare calls", bare / ours, 0.9)
    report.floor("against the package", package / ours, 1.5)
    report.floor("two processes", two, 1.7)
    report.finish(("what", f"statements/s of {len(texts)} TPC queries, one core"), rows)


if __name__ == "__main__":
    main()

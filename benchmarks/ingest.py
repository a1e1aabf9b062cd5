"""Ingest of OpenLineage events: one process against Spark on two cores.

    python benchmarks/ingest.py [--quick] [--events N]

Each run is a process of its own, timed from the first line to the last commit, Spark's start included; they run in
turn, and the better run of each counts. An event in two begins a run, the other completes it with schema, statistics
and column lineage. How much faster Spark is, is not judged by the quick run.
"""

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from _report import Report

HERE = "one process"
SPARK = "local[2]"
COLUMNS = 10
JOBS = 2_000


def main() -> None:
    if "--run" in sys.argv:
        _run(*sys.argv[-2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer events, under a minute")
    parser.add_argument("--events", type=int, help="how many events")
    given = parser.parse_args()
    count = given.events or (20_000 if given.quick else 1_000_000)
    rows: list[tuple[object, ...]] = []
    found: dict[str, list[dict[str, Any]]] = {HERE: [], SPARK: []}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "events.ndjson")
        _write(file, count)
        for _ in range(1 if given.quick else 2):
            for who, runs in found.items():
                command = [sys.executable, __file__, "--run", str(file), who]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
                if done.returncode:
                    sys.exit(done.returncode)
                runs.append(json.loads(done.stdout.splitlines()[-1]))
                seconds, memory = runs[-1]["seconds"], runs[-1]["memory"]
                rows.append((who, f"{count:,}", f"{seconds:.1f} s", f"{count / seconds:,.0f}", f"{memory} MB"))
                print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    report = Report("ingest")
    one, two = (min(each["seconds"] for each in found[who]) for who in (HERE, SPARK))
    report.ratios["local[2] against one process"] = one / two
    if not given.quick:
        report.floor("local[2] against one process", one / two, 1.5)
    report.floor("same rows", float(len({each["rows"] for runs in found.values() for each in runs}) == 1), 1.0)
    report.finish(("who", "events", "time", "events a second", "memory, driver"), rows)


def _write(file: Path, count: int) -> None:
    """Events of runs one after the other; a job reads one table and writes another."""
    fields = [{"name": f"c{each}", "type": "bigint"} for each in range(COLUMNS)]
    with file.open("w") as target:
        for number in range(0, count, 2):
            job = number // 2 % JOBS
            run = {"runId": str(uuid.UUID(int=number + (7 << 76) + (2 << 62)))}
            named = {"run": run, "job": {"namespace": "etl", "name": f"job{job}"}, "producer": "https://bench"}
            source = {"namespace": "headwater:/lake", "name": f"raw.t{job}"}
            made = {
                f"c{each}": {"inputFields": [{**source, "field": f"c{(each + job) % COLUMNS}"}]}
                for each in range(COLUMNS)
            }
            facets = {"schema": {"fields": fields}, "columnLineage": {"fields": made}}
            output = {"namespace": "headwater:/lake", "name": f"mart.t{job}", "facets": facets}
            output["outputFacets"] = {"outputStatistics": {"rowCount": number, "size": number * 10}}
            for type, second, ends in (("START", 1, {}), ("COMPLETE", 9, {"inputs": [source], "outputs": [output]})):
                moment = f"2026-11-{1 + number * 28 // count:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}"
                event = {"eventType": type, "eventTime": f"{moment}:{second:02}Z", **named, **ends}
                target.write(json.dumps(event) + "\n")


def _run(file: str, who: str) -> None:
    from headwater.graph import GraphStore
    from headwater.graph.observed import ingest_file
    from headwater.graph.tables import FACT_TABLES
    from headwater.jobs.ingest import ingest_on_spark
    from headwater.jobs.session import spark_session

    with tempfile.TemporaryDirectory() as folder:
        store = GraphStore(folder)
        begun = time.monotonic()
        if who == HERE:
            ingest_file(store, Path(file))
        else:
            with spark_session(who) as spark:
                ingest_on_spark(spark, store, Path(file))
        seconds = time.monotonic() - begun
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        digest = hashlib.sha256()
        for spec in FACT_TABLES:
            for batch in store.table(spec).scan():
                for row in zip(*(column.to_pylist() for column in batch.columns)):
                    digest.update(repr(row).encode())
        print(json.dumps({"seconds": seconds, "memory": memory, "rows": digest.hexdigest()}))


if __name__ == "__main__":
    main()

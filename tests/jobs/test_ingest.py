"""Ingest on Spark gives the rows of one process, once, whatever happens to the driver."""

import json
import multiprocessing
import random
import time
import uuid
from pathlib import Path

import pytest

from headwater.cli.main import run
from headwater.errors import InputError
from headwater.graph import GraphStore
from headwater.graph.observed import ingest_file
from headwater.graph.origins import ingest_origins
from headwater.graph.tables import FACT_TABLES
from headwater.jobs import ingest as jobs
from headwater.jobs.ingest import FilePiece, ingest_on_spark, origins_on_spark
from headwater.jobs.session import spark_session
from headwater.lake.tables import Warehouse
from headwater.query import Session
from tests.effort import THOROUGH

pytestmark = pytest.mark.spark
BAD = ("no event", "{}", '{"job": 3}', "")


def write_events(file, seed, count=300):
    """Events of few jobs, runs and tables: most rows are told several times, in any order, some without a run."""
    chance = random.Random(seed)
    runs = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(20)]
    lines = []
    for _ in range(count):
        if not chance.randrange(15):
            lines.append(chance.choice(BAD))
            continue
        table, column = f"t{chance.randrange(5)}", f"c{chance.randrange(4)}"
        source = {"namespace": "headwater:/lake", "name": f"raw.{table}"}
        made = {column: {"inputFields": [{**source, "field": "x"}]}} if chance.randrange(20) else {column: 7}
        fields = [{"name": column, "type": chance.choice(["int", None]), "description": chance.choice(["d", None])}]
        output = {"namespace": "headwater:/lake", "name": f"mart.{table}"}
        output["facets"] = {"columnLineage": {"fields": made}, "schema": {"fields": fields}}
        if not chance.randrange(3):
            passed = {"assertion": "not_null", "success": bool(chance.randrange(2)), "column": column}
            output["facets"]["dataQualityAssertions"] = {"assertions": [passed]}
            output["outputFacets"] = {"dataQualityMetrics": {"rowCount": 3, "columnMetrics": {column: {"sum": 1.5}}}}
        event = {"eventTime": f"2026-11-{chance.randrange(1, 28):02}T10:00:00Z", "producer": "https://p"}
        event |= {"job": {"namespace": "etl", "name": f"job{chance.randrange(3)}"}, "outputs": [output]}
        if chance.randrange(4):
            event |= {"run": {"runId": chance.choice(runs)}, "inputs": [source]}
            event["eventType"] = chance.choice(["START", "RUNNING", "COMPLETE", "FAIL", "OTHER"])
        lines.append(json.dumps(event))
    file.write_text("\n".join(lines) + chance.choice(["", "\n"]))
    return file


def rows_of(store):
    state = store.state()
    return {spec.name: state.read(spec).to_pylist() for spec in FACT_TABLES}


def records_of(store):
    return [(each["kind"], each["sources"], each["statements"], each["edges"]) for each in store.harvests()]


def test_the_rows_of_one_process(spark, tmp_path, monkeypatch):
    """File after file into one graph: rows are merged with those there; what says nothing new leaves no record."""
    monkeypatch.setattr(jobs, "_PIECE", 20_000)
    monkeypatch.setattr(jobs, "_MERGED", 10_000)
    here, there = GraphStore(str(tmp_path / "here")), GraphStore(str(tmp_path / "there"))
    files = [write_events(tmp_path / f"{seed}.ndjson", seed) for seed in range(3 if THOROUGH else 2)]
    for file in [*files, files[0]]:
        count, bad = ingest_file(here, file)
        counted, refused = ingest_on_spark(spark, there, file)
        assert counted == count
        said = [{(error.place, error.message) for error in errors} for errors in (bad, refused)]
        assert said[0] == said[1]
        assert len(refused) == len(bad) > 5
    assert rows_of(here) == rows_of(there)
    assert records_of(here) == records_of(there)


def test_a_job_event_never_hides_a_run(tmp_path):
    """What is said in any grouping comes to the same: of one edge, the newest run that showed it stays."""
    job = {"job": {"namespace": "etl", "name": "j"}, "producer": "https://p"}
    lineage = {"columnLineage": {"fields": {"a": {"inputFields": [{"namespace": "n", "name": "s", "field": "x"}]}}}}
    job |= {"outputs": [{"namespace": "n", "name": "d", "facets": lineage}]}
    late = {**job, "eventTime": "2026-11-15T12:00:00Z", "run": {"runId": str(uuid.uuid4())}}
    early = {**job, "eventTime": "2026-11-15T10:00:00Z", "run": {"runId": str(uuid.uuid4())}}
    design = {**job, "eventTime": "2026-11-15T11:00:00Z"}
    for number, order in enumerate([(late, design, early), (design, early, late), (early, late, design)]):
        for together in (True, False):
            store = GraphStore(str(tmp_path / f"{number}{together}"))
            texts = [list(map(json.dumps, order))] if together else [[json.dumps(each)] for each in order]
            for text in texts:
                (tmp_path / "e.ndjson").write_text("\n".join(text))
                ingest_file(store, tmp_path / "e.ndjson")
            [edge] = rows_of(store)["edges"]
            assert (edge["run"], edge["observed"]) == (late["run"]["runId"], True)


def test_origins_as_one_process_brings_them(spark, tmp_path):
    with Session(Warehouse(tmp_path / "wh")) as session:
        session.sql("CREATE DATABASE shop")
        session.sql("CREATE TABLE shop.raw (id BIGINT NOT NULL, amount BIGINT, PRIMARY KEY (id))")
        session.sql("INSERT INTO shop.raw VALUES (1, 2), (3, 4)")
        session.sql("CREATE TABLE shop.gold AS SELECT id, amount * 2 AS twice FROM shop.raw")
        session.sql("INSERT INTO shop.gold SELECT id + 10, amount FROM shop.raw")
    store = GraphStore(str(tmp_path / "wh"))
    assert origins_on_spark(spark, store) == 3
    on_spark = rows_of(store)
    runs = {row["run"]: row["ended"] for row in on_spark["runs"]}
    assert max(runs.values()) in {row["seen"] for row in on_spark["edges"]}
    assert ingest_origins(store)[1] == 3  # it changes nothing: the rows are those of one process
    assert (len(store.states()), rows_of(store)) == (1, on_spark)


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_pieces_have_every_line_once(tmp_path, size):
    data = b"one\n\ntwo two\n" + b"x" * 100 + b"\nlast"
    (tmp_path / "f").write_bytes(data)
    pieces = [FilePiece(str(tmp_path / "f"), at, min(at + size, len(data))) for at in range(0, len(data), size)]
    assert [line for piece in pieces for line in piece.lines()] == data.splitlines(keepends=True)


def test_a_file_that_is_not_there(spark, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        ingest_on_spark(spark, GraphStore(str(tmp_path)), tmp_path / "no.ndjson")


def test_the_command_says_the_same(spark, tmp_path, capsys):
    file = write_events(tmp_path / "e.ndjson", 9)
    said = []
    for number, more in enumerate((["--no-spark"], ["--master", "local[2]"])):
        words = ["ingest", str(file), "--origins", "--strict", "--warehouse", str(tmp_path / str(number))]
        said.append((run([*words, *more]), capsys.readouterr().out))
    assert said[0] == said[1]
    assert said[0][0] == 1
    assert run(["ingest", str(file), "--no-spark", "--master", "local[2]"]) == 2


def bring_in(folder, file, begun):
    begun.send(None)
    with spark_session("local[2]") as spark:
        ingest_on_spark(spark, GraphStore(folder), Path(file))


@pytest.mark.fault
@pytest.mark.slow
def test_a_killed_driver_leaves_nothing_half_done(tmp_path):
    """Killed three times at random points and started again each time; in the end, each row is there once."""
    chance = random.Random(4)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, store = GraphStore(str(tmp_path / "here")), GraphStore(str(tmp_path / "wh"))
    files = [write_events(tmp_path / f"{seed}.ndjson", seed, 3_000) for seed in range(2)]
    ingest_file(here, files[0])
    ingest_file(store, files[0])
    before = rows_of(here)
    ingest_file(here, files[1])

    def run_until(seconds, folder="wh"):
        """Ingest in a process that is killed after so many seconds: how long it took, and whether it was killed."""
        parent, child = context.Pipe()
        process = context.Process(target=bring_in, args=(str(tmp_path / folder), str(files[1]), child))
        process.start()
        parent.recv()
        started = time.monotonic()
        process.join(seconds)
        taken = time.monotonic() - started
        process.kill()
        process.join()
        assert process.exitcode in (0, -9)
        return taken, process.exitcode == -9

    takes, killed = run_until(None, "timed")[0], 0
    while killed < 3:
        killed += run_until(chance.uniform(0.3, 1) * takes)[1]
        assert rows_of(store) in (before, rows_of(here))
    run_until(None)
    assert rows_of(store) == rows_of(here)
    assert store.harvests()[-1]["statements"] == here.harvests()[-1]["statements"]

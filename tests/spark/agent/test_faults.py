"""Whatever happens to the agent, the job ends as it would have ended, and what is lost is counted and said."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.spark.agent.conftest import KeptEvents, shown
from tests.spark.conftest import RELEASE

import headwater.spark
from headwater.errors import MissingDependencyError
from headwater.lake.tables import Warehouse
from headwater.spark import observe
from headwater.spark.agent import bridge
from headwater.spark.agent.bootstrap import OPENLINEAGE_LISTENER
from headwater.spark.environment import spark_environment
from headwater.spark.plan import dump

pytestmark = [pytest.mark.spark, pytest.mark.fault]

HEAD = """
import os, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").appName("faulty").config("spark.ui.enabled", "false")
spark = builder.config("spark.log.level", "OFF").config("spark.headwater.flush_seconds", "3").getOrCreate()
import headwater.spark
agent = headwater.spark.observe(spark, sys.argv[1])
spark.range(10).write.parquet("one")
spark.read.parquet("one").selectExpr("id + 1 AS n").write.parquet("two")
"""


def run_job(folder: Path, code: str, sink: str, head: str = HEAD) -> subprocess.CompletedProcess:
    (folder / "job.py").write_text(head + code)
    env = dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "job.py", sink]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=240)


def events(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "events.ndjson").read_text().splitlines()
    return [(event["eventType"], shown(event)) for event in map(json.loads, lines)]


class Troubled(BaseHTTPRequestHandler):
    """A consumer that is slow, or refuses."""

    def do_POST(self):
        if "slow" in self.path:
            time.sleep(30)
        self.send_response(400)
        self.end_headers()

    def log_message(self, *args):
        return


@pytest.fixture
def troubled():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Troubled)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


WHOLE = [
    ("START", "->"),
    ("START", "-> one"),
    ("COMPLETE", "-> one"),
    ("START", "one -> two"),
    ("COMPLETE", "one -> two"),
]


@pytest.mark.slow
def test_sinks_that_are_down_slow_or_refuse_and_a_job_that_fails(tmp_path, troubled):
    """The job ends by its own exception, without stopping Spark; the one sink that works has everything."""
    sinks = f"http://127.0.0.1:9,{troubled}/slow,{troubled}/refusing,file:{tmp_path}/events.ndjson"
    run = run_job(tmp_path, "print(agent.options.flush_seconds)\nraise ValueError('of the job')\n", sinks)
    assert (run.returncode, run.stdout.strip()) == (1, "3.0"), run.stderr
    assert "ValueError: of the job" in run.stderr
    assert events(tmp_path) == [*WHOLE, ("FAIL", "->")]
    assert "Lineage events are being lost" in run.stderr
    assert "Lineage is not complete" in run.stderr


@pytest.mark.slow
def test_the_jvm_dies(tmp_path):
    code = """
agent.flush()
os.kill(spark.sparkContext._gateway.proc.pid, 9)
try:
    spark.range(3).count()
except Exception as error:
    print(type(error).__name__)
sys.exit(5)
"""
    run = run_job(tmp_path, code, f"file:{tmp_path}/events.ndjson")
    assert run.returncode == 5, run.stderr
    assert events(tmp_path)[:5] == WHOLE


@pytest.mark.slow
def test_killed_in_the_middle(tmp_path):
    run = run_job(tmp_path, "agent.flush()\nos.kill(os.getpid(), 9)\n", f"file:{tmp_path}/events.ndjson")
    assert run.returncode == -signal.SIGKILL
    assert events(tmp_path) == WHOLE


ENDS = {
    "SIGTERM": ("os.kill(os.getpid(), 15)\nimport time\ntime.sleep(100)", -signal.SIGTERM, "FAIL", "SIGTERM"),
    "SIGTERM in a job": (
        "import threading\nthreading.Timer(1, os.kill, (os.getpid(), 15)).start()\n"
        "spark.sparkContext.parallelize([1], 1).map(lambda _: __import__('time').sleep(100)).collect()",
        -signal.SIGTERM,
        "FAIL",
        "SIGTERM",
    ),
    "os._exit": ("os._exit(0)", 0, "COMPLETE", None),
    "os._exit with a code": ("os._exit(4)", 4, "FAIL", "exit code 4"),
    "os._exit of a child": ("os.fork() or os._exit(4)\nos.wait()", 0, "COMPLETE", None),
}


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_what_had_ended_is_told_when_the_process_ends_at_once(tmp_path, end):
    code, status, type, why = ENDS[end]
    run = run_job(tmp_path, code, f"file:{tmp_path}/events.ndjson")
    assert run.returncode == status, run.stderr
    assert [event for event in events(tmp_path) if event not in [("START", "->")]] == [*WHOLE[1:], (type, "->")]
    last = json.loads((tmp_path / "events.ndjson").read_text().splitlines()[-1])
    message = last["run"]["facets"].get("errorMessage", {}).get("message")
    assert why is None or why in message


@pytest.mark.slow
def test_nobody_waits_for_a_python_that_is_dead(tmp_path, monkeypatch):
    """The JVM holds the output of the job open until it ends: with ten minutes of patience, nobody would see that."""
    waits = "<property><name>hadoop.service.shutdown.timeout</name><value>600s</value></property>"
    (tmp_path / "core-site.xml").write_text(f"<configuration>{waits}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    patient = HEAD.replace('"spark.headwater.flush_seconds", "3"', '"spark.headwater.flush_seconds", "600"')
    run = run_job(tmp_path, "os.kill(os.getpid(), 9)\n", f"file:{tmp_path}/events.ndjson", head=patient)
    assert run.returncode == -signal.SIGKILL


class Silent(BaseHTTPRequestHandler):
    """A consumer that takes what it gets, and answers when the test has ended."""

    def do_POST(self):
        self.server.asked.set()
        self.server.ended.wait(300)

    def log_message(self, *args):
        return


@pytest.mark.slow
def test_nobody_waits_for_a_consumer_that_does_not_answer(tmp_path):
    """Neither the job nor Spark waits for the answer, which comes when the job has ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads, server.asked, server.ended = True, threading.Event(), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        sinks = f"http://127.0.0.1:{server.server_port},http://127.0.0.1:9"
        run = run_job(tmp_path, "delivery = agent.stop()\nprint(delivery.lost)\nspark.stop()\n", sinks)
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
    assert run.returncode == 0, run.stderr
    assert server.asked.is_set()
    assert int(run.stdout) >= len(WHOLE)
    assert "Lineage is not complete" in run.stderr


class Unready(KeptEvents):
    """A sink that uses all the time it is given, and notes it."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[float] = []

    def flush(self, timeout) -> bool:
        self.given.append(timeout)
        time.sleep(timeout)
        return False


def test_the_end_takes_no_longer_than_it_may(case_tables):
    sink = Unready()
    agent = observe(case_tables, sink, flush_seconds=0.5)
    agent.stop()
    agent._worker._end_of_application(bridge.Happening("stop"))
    assert sum(sink.given) <= 0.6


@pytest.mark.slow
def test_spark_run_needs_no_line_of_code(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.json").write_text('{"n": 1}\n')
    (tmp_path / "plain.py").write_text(
        "import sys\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        "spark.read.json('one').write.json('two')\n"
        "spark.sql('CREATE NAMESPACE hw.shop')\n"
        "spark.range(3).writeTo('hw.shop.t').create()\n"
        "print(sys.argv, __name__)\n"
        "sys.exit(7)\n"
    )
    conf = ["--conf", "spark.ui.enabled=false", "--conf", "spark.log.level=OFF"]
    conf += ["--conf", f"spark.extraListeners={OPENLINEAGE_LISTENER}"]  # whose jar is not there any more
    command = [sys.executable, "-m", "headwater", "spark-run", "--sink", "file:events.ndjson", "--namespace", "ns"]
    command += ["--lake", str(tmp_path / "lake")]
    run = subprocess.run(
        [*command, "--master", "local[1]", *conf, "plain.py", "--day", "1"],
        cwd=tmp_path,
        env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 7, run.stderr
    assert run.stdout.strip() == "['plain.py', '--day', '1'] __main__"
    assert [event for event in events(tmp_path) if event[1] == "one -> two"] == [
        ("START", "one -> two"),
        ("COMPLETE", "one -> two"),
    ]
    last = json.loads((tmp_path / "events.ndjson").read_text().splitlines()[-1])
    assert (last["eventType"], last["job"]["namespace"], last["job"]["name"]) == ("FAIL", "ns", "plain_py")
    assert Warehouse(tmp_path / "lake").table("shop.t").to_arrow().num_rows == 3


@pytest.mark.slow
@pytest.mark.skipif(find_spec("grpc_status") is None, reason="Spark Connect needs grpcio-status")
def test_spark_connect_on_this_machine(tmp_path):
    code = HEAD.replace('.master("local[1]")', '.remote("local[1]")').replace(
        '.config("spark.headwater.flush_seconds", "3")', ""
    )
    (tmp_path / "job.py").write_text(code)
    env = dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "job.py", f"file:{tmp_path}/events.ndjson"]
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    assert [event for event in events(tmp_path) if event[0] == "COMPLETE"][:2] == [WHOLE[2], WHOLE[4]]


class Stuck(KeptEvents):
    """A sink that holds the agent's thread up until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def emit(self, event) -> None:
        if self.events:  # the first one says that the application runs, from the thread of the test
            self.go.wait(60)
        super().emit(event)


def test_a_full_queue_loses_events_and_counts_them(case_tables):
    sink = Stuck()
    agent = observe(case_tables, sink, queue=2)
    for _ in range(6):
        assert case_tables.sql("SELECT count(*) FROM t").collect() is not None
    sink.go.set()
    agent.stop()
    assert agent.counts.lost > 0
    assert "lost" in str(agent.counts)
    assert sink.events[-1]["eventType"] == "COMPLETE"


class Raising(KeptEvents):
    def emit(self, event) -> None:
        raise RuntimeError("a sink of somebody else's")


def test_a_sink_that_raises_harms_nobody(case_tables, caplog):
    agent = observe(case_tables, Raising())
    assert case_tables.sql("SELECT count(*) FROM t").collect()[0][0] == 0
    agent.stop()
    assert agent.counts.emitted == 0
    assert agent.counts.failed >= 3


def test_after_many_failures_the_agent_rests(case_tables, monkeypatch):
    from headwater.spark.agent.tracker import Tracker

    agent = observe(case_tables, KeptEvents(), failures=2, rest=100.0)
    monkeypatch.setattr(Tracker, "handle", lambda *happening: 1 / 0)
    for _ in range(3):
        case_tables.sql("SELECT count(*) FROM t").collect()
    agent.stop()
    assert agent.counts.failed == 2
    assert agent.counts.skipped >= 4


def test_an_agent_can_be_taken_off_and_replaced(case_tables):
    first = KeptEvents()
    with observe(case_tables, first) as agent:
        case_tables.sql("SELECT count(*) FROM t").collect()
    case_tables.sql("SELECT count(*) FROM u").collect()
    assert {shown(event) for event in first.events} == {"->", "t ->"}
    assert agent.stop().sent == len(first.events)
    second, third = KeptEvents(), KeptEvents()
    replaced = observe(case_tables, second)
    last = observe(case_tables, third)
    case_tables.sql("SELECT count(*) FROM u").collect()
    last.stop()
    assert replaced.stop().sent == len(second.events) == 2
    assert "u ->" in {shown(event) for event in third.events}


def test_columns_are_left_out_when_there_is_no_time_for_them(case_tables):
    sink = KeptEvents()
    with observe(case_tables, sink, characters=200):
        case_tables.sql("INSERT INTO dst SELECT a, c FROM t WHERE b > 1")
    event = next(event for event in sink.events if event["eventType"] == "COMPLETE" and event.get("outputs"))
    assert shown(event) == "t -> dst"
    assert "columnLineage" not in event["outputs"][0]["facets"]
    assert "too large" in event["run"]["facets"]["extractionError"]["errors"][0]["errorMessage"]


def test_a_spark_that_cannot_compile_is_listened_to_from_python(case_tables, monkeypatch):
    def refuse(*given):
        raise MissingDependencyError("no compiler")

    monkeypatch.setattr(bridge, "JvmBridge", refuse)
    monkeypatch.setattr(dump, "shared_object", refuse)
    sink = KeptEvents()
    bus = bridge.listener_bus(case_tables.sparkContext)
    before = bus.listeners().size()
    with observe(case_tables, sink) as agent:
        assert isinstance(agent._worker._bridge, bridge.PythonBridge)
        assert bus.listeners().size() == before + 1
        case_tables.sql("INSERT INTO dst SELECT a, c FROM t")
        case_tables.sql("CREATE TABLE made_slowly USING parquet AS SELECT a, z FROM t JOIN u ON a = x")
    seen = [(event["eventType"], shown(event)) for event in sink.events]
    assert seen == [
        ("START", "->"),
        ("START", "t -> dst"),
        ("COMPLETE", "t -> dst"),
        ("START", "t, u -> made_slowly CREATE"),
        ("COMPLETE", "t, u -> made_slowly CREATE"),
        ("COMPLETE", "->"),
    ]
    errors = sink.events[2]["run"]["facets"]["extractionError"]["errors"]
    assert any("cannot compile" in each["errorMessage"] for each in errors)
    assert bus.listeners().size() == before
    case_tables.sql("DROP TABLE made_slowly")


@pytest.mark.skipif(RELEASE >= (4, 1), reason="this Spark has lake tables")
def test_lake_tables_say_which_spark_they_need():
    with pytest.raises(MissingDependencyError, match="lake tables need Spark"):
        _ = headwater.spark.connect

"""The listener for jobs without Python writes runs down, and Python makes the same events of them."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest
from tests.events.test_sinks import receiver
from tests.spark.agent.conftest import KeptEvents, check, columns, shown
from tests.spark.agent.test_commands import SQL

from headwater.errors import EventError
from headwater.events import encode
from headwater.graph.observed import expanded
from headwater.spark import observe
from headwater.spark.agent.replay import replay
from headwater.spark.environment import spark_environment
from headwater.spark.listener import LISTENER, write_listener_jar

pytestmark = pytest.mark.spark
BIN = Path(pyspark.__file__).parent / "bin"


@pytest.fixture(scope="module")
def jar(spark, tmp_path_factory):
    return write_listener_jar(tmp_path_factory.mktemp("jar") / "headwater-listener.jar")


class Both:
    """One Spark with the agent in Python and the listener in Java."""

    def __init__(self, spark, jar: Path, spool: Path, **settings: str) -> None:
        self.spark, self.spool = spark, spool
        jvm, context = spark._jvm, spark.sparkContext
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
        conf = jvm.org.apache.spark.SparkConf(False)
        given = {"sink": f"spool:{spool}", "job": "suite", "namespace": "tests"} | settings
        for name, value in given.items():
            conf.set(f"spark.headwater.{name}", value)
        conf.set("spark.app.id", "app").set("spark.master", context.master).set("spark.app.name", "tests")
        self.listener = jvm.headwater.agent.Listener(conf)
        self.bus = context._jsc.sc().listenerBus()
        self.sink = KeptEvents()
        self.agent = observe(spark, self.sink, job="suite", namespace="tests", start_events=False)
        self.bus.addToQueue(self.listener, "listener")

    def wait(self) -> None:
        """Wait until both have described what has run: they look at tables that a later statement may drop."""
        self.bus.waitUntilEmpty(30_000)
        deadline = time.monotonic() + 60
        while self.listener.handled() < self.listener.accepted():
            assert time.monotonic() < deadline, "the listener did not finish"
            time.sleep(0.01)
        assert self.agent.flush(60)

    def written(self) -> list[dict]:
        """The last events of runs that were written down since the last call."""
        self.wait()
        lines = [line for file in self.spool.glob("*") for line in file.read_bytes().splitlines()]
        shutil.rmtree(self.spool, ignore_errors=True)
        events = [json.loads(encode(event)) for line in lines for event in replay(line)]
        for event in events:
            check(event)
        return [event for event in events if event["eventType"] not in ("START",)]

    def seen(self) -> list[dict]:
        """The same of the agent in Python."""
        assert self.agent.flush(60)
        events, self.sink.events = self.sink.events, []
        return [event for event in events if event["eventType"] != "START"]

    def close(self) -> None:
        self.bus.removeListener(self.listener)
        self.agent.stop()


@pytest.fixture
def both(case_tables, jar, tmp_path):
    made = Both(case_tables, jar, tmp_path / "spool")
    made.seen()
    yield made
    made.close()


def alike(event: dict) -> dict:
    """An event without what is of the one or the other: ids of runs, and the application's own facets."""
    facets = {
        name: facet
        for name, facet in event["run"]["facets"].items()
        if name not in ("parent", "spark_applicationDetails", "spark_properties")
    }
    plain = {**event, "run": facets, "eventTime": None}
    if any(change in shown(event) for change in ("RENAME", "DROP", "ALTER", "TRUNCATE")):
        # the agent in Python may come too late to see a table as it was
        plain |= {kind: [each["name"] for each in event.get(kind, [])] for kind in ("inputs", "outputs")}
    return plain


@pytest.mark.slow
def test_events_are_those_of_the_agent(both, tmp_path):
    for statement in SQL:
        both.spark.sql(statement)
        both.wait()
    both.spark.sql("SELECT a, (SELECT max(x) FROM u) AS m FROM t WHERE b > 1").collect()
    both.spark.table("t").write.parquet(f"{tmp_path}/files/day=1")
    both.spark.read.parquet(f"{tmp_path}/files").groupBy("c").count().write.csv(f"{tmp_path}/counts")
    both.spark.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/dir' USING csv SELECT a FROM t")
    url = "jdbc:derby:memory:listener;create=true;user=app;password=hush"
    both.spark.table("t").select("a", "c").write.jdbc(url, "rows_of_t")
    both.spark.read.jdbc(url, "rows_of_t").write.parquet(f"{tmp_path}/back")
    both.spark.read.format("jdbc").options(url=url, query='SELECT "a" AS n FROM rows_of_t').load().count()
    both.wait()
    text = "".join(file.read_text() for file in both.spool.glob("*"))
    written, seen = both.written(), both.seen()
    assert len(seen) > len(SQL)
    assert [shown(event) for event in written] == [shown(event) for event in seen]
    for one, other in zip(written, seen, strict=True):
        assert alike(one) == alike(other)
    assert "hush" not in text
    assert "hush" not in json.dumps(written)


def test_tables_of_other_catalogs(both, lake, tmp_path):
    lake.sql("CREATE TABLE db.orders (id BIGINT, amount DOUBLE)")
    lake.sql("INSERT INTO db.orders VALUES (1, 2.5)")
    lake.sql("CREATE TABLE db.sums AS SELECT sum(amount) AS total FROM db.orders")
    written, seen = both.written(), both.seen()
    assert [shown(event) for event in written] == [shown(event) for event in seen]
    for one, other in zip(written, seen, strict=True):
        assert alike(one) == alike(other)
    assert written[-1]["outputs"][0]["facets"]["version"] == seen[-1]["outputs"][0]["facets"]["version"]


@pytest.mark.parametrize("name", [None, "copied"])
def test_streams_have_one_name_from_start_to_end(both, tmp_path, name):
    both.spark.range(3).write.parquet(f"{tmp_path}/raw")
    rows = both.spark.readStream.schema("id long").parquet(f"{tmp_path}/raw").selectExpr("id + 1 AS n")
    writer = rows.writeStream.format("parquet").option("checkpointLocation", f"{tmp_path}/checkpoint")
    writer = writer if name is None else writer.queryName(name)
    writer.trigger(availableNow=True).start(f"{tmp_path}/clean").awaitTermination()
    written, seen = (
        [event for event in events if ".stream." in event["job"]["name"]] for events in (both.written(), both.seen())
    )
    assert {event["job"]["name"] for event in written} == {f"suite.stream.{name or 'raw_to_clean'}"}
    assert [event["eventType"] for event in (written[0], written[-1])] == ["RUNNING", "COMPLETE"]
    for event in (written[-1], seen[-1]):
        assert (event["eventType"], shown(event)) == ("COMPLETE", "raw -> clean")
        assert columns(event) == {"n": {"raw.id"}}
    assert {event["run"]["runId"] for event in written} == {event["run"]["runId"] for event in seen}


def test_a_table_is_described_as_it_is_at_the_end_of_what_makes_it(both):
    """The listener looks at a table twice; how fast it is decides whether the first look finds it."""
    both.spark.sql("CREATE TABLE copied LIKE t")
    both.wait()
    (line,) = [line for file in both.spool.glob("*") for line in file.read_bytes().splitlines() if b"copied" in line]
    both.spark.sql("DROP TABLE copied")
    said = json.loads(line)
    session = said["happenings"][0]["session"]["sessionState"]["catalog"]["getTableMetadata"]["by"]
    session.pop("`cases`.`copied`", None)
    *_, event = (json.loads(encode(event)) for event in replay(json.dumps(said).encode()))
    (output,) = event["outputs"]
    assert [field["name"] for field in output["facets"]["schema"]["fields"]] == list("abcd")


def test_what_was_not_written_down_is_said(both):
    rows = both.spark.sparkContext.parallelize([(1,)])
    both.spark.createDataFrame(rows, "n int").collect()
    found = [event for event in both.written() if "extractionError" in event["run"]["facets"]]
    assert all("was not written down" in str(event["run"]["facets"]["extractionError"]) for event in found)


def test_a_failing_run_fails_once(both, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(Exception, match="PATH_ALREADY_EXISTS"):
        both.spark.table("t").write.parquet(str(tmp_path / "there"))
    (written,), (seen,) = both.written(), both.seen()
    assert (written["eventType"], seen["eventType"]) == ("FAIL", "FAIL")
    assert "PATH_ALREADY_EXISTS" in written["run"]["facets"]["errorMessage"]["message"]


def test_a_spool_that_is_full_loses_the_rest(case_tables, jar, tmp_path):
    both = Both(case_tables, jar, tmp_path / "spool", spool_bytes="2000")
    try:
        case_tables.sql("INSERT INTO dst SELECT a, c FROM t")
        both.written()
    finally:
        both.close()
    assert sum(file.stat().st_size for file in tmp_path.glob("spool/*")) <= 2000


def test_a_place_that_is_not_there_costs_the_job_nothing(case_tables, jar):
    both = Both(case_tables, jar, Path("unused"), sink="http://127.0.0.1:9")
    try:
        case_tables.sql("INSERT INTO dst SELECT a, c FROM t")
        both.bus.waitUntilEmpty(30_000)
    finally:
        both.close()


def test_lines_that_are_neither_runs_nor_events():
    assert list(expanded(b'{"run": {}}')) == [b'{"run": {}}']
    for line in (b'{"run":"', b'{"run":"1"}', b'{"run":"1","application":3,"happenings":[]}'):
        with pytest.raises(EventError):
            list(expanded(line))


# ------------------------------------------------------------------------------------ programs that are not Python's

PROGRAM = """
import org.apache.spark.sql.SparkSession;
public class Load {
    public static void main(String[] args) {
        SparkSession spark = SparkSession.builder().appName("load in java").getOrCreate();
        spark.range(10).selectExpr("id", "id % 3 AS k").write().parquet(args[0] + "/in");
        spark.read().parquet(args[0] + "/in").groupBy("k").count().write().parquet(args[0] + "/out");
        spark.stop();
    }
}
"""


def environment() -> dict[str, str]:
    return dict(os.environ) | spark_environment() | {"PYTHONPATH": os.pathsep.join(sys.path)}


def options(jar: Path, sink: str, folder: Path) -> list[str]:
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    settings = {
        "spark.extraListeners": LISTENER,
        "spark.headwater.sink": sink,
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
    }
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return ["--master", "local[1]", "--jars", str(jar), *given]


@pytest.mark.slow
def test_spark_sql_posts_its_runs(jar, tmp_path):
    sql = "CREATE TABLE t USING parquet AS SELECT 1 AS a; CREATE TABLE d USING parquet AS SELECT a + 1 AS b FROM t"
    with receiver() as (server, url):
        command = [str(BIN / "spark-sql"), *options(jar, url, tmp_path), "-e", sql]
        run = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=280)
        assert run.returncode == 0, run.stderr[-2000:]
        events = [json.loads(encode(event)) for _, _, body in server.taken for event in replay(body)]
    done = [event for event in events if event["eventType"] == "COMPLETE"]
    assert [shown(event) for event in done] == ["-> t CREATE", "t -> d CREATE", "->"]
    assert columns(done[1]) == {"b": {"t.a"}}
    assert {event["run"]["runId"] for event in events if "outputs" not in event} == {done[-1]["run"]["runId"]}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java compiler")
def test_a_program_in_java_is_ingested(jar, tmp_path):
    (tmp_path / "Load.java").write_text(PROGRAM)
    jars = BIN.parent / "jars" / "*"
    subprocess.run(["javac", "-cp", str(jars), "Load.java"], cwd=tmp_path, check=True, timeout=120)
    subprocess.run(["jar", "cf", "load.jar", "Load.class"], cwd=tmp_path, check=True, timeout=60)
    command = [str(BIN / "spark-submit"), *options(jar, "spool:spool", tmp_path), "--class", "Load", "load.jar"]
    run = subprocess.run(
        [*command, str(tmp_path)], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=280
    )
    assert run.returncode == 0, run.stderr[-2000:]
    (spooled,) = (tmp_path / "spool").glob("*.ndjson")
    headwater = [sys.executable, "-m", "headwater", "--warehouse", "wh"]
    told = subprocess.run(
        [*headwater, "ingest", str(spooled)], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert told.returncode == 0, told.stderr
    found = subprocess.run(
        [*headwater, "trace", f"{tmp_path}/out.k"], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert f"{tmp_path}/in.k" in found.stdout, found.stdout + found.stderr

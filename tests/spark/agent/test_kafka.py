"""Kafka with a real broker: one process, whose jars Maven Central has, as the connector of this Spark."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest
from tests.spark.agent.conftest import check, columns, shown
from tests.spark.conftest import RELEASE

from headwater.spark.environment import spark_environment

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

JARS = Path(pyspark.__file__).parent / "jars"
CONNECTORS = {  # the newest that can be had with all that it needs
    (3, 5): "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7",
    (4, 0): "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
}
BROKER = f"org.apache.kafka:kafka_{'2.12' if RELEASE < (4, 0) else '2.13'}:3.9.1"
JOB = Path(__file__).parent / "jobs" / "kafka.py"


def fetched(packages: str, folder: Path) -> list[Path]:
    """The jars of packages; the test is skipped where they cannot be had."""
    code = "import sys; from pyspark.sql import SparkSession; b = SparkSession.builder.master('local[1]')\n"
    code += "b.config('spark.jars.packages', sys.argv[1]).config('spark.jars.ivy', sys.argv[2]).getOrCreate().stop()"
    command = [sys.executable, "-c", code, packages, str(folder)]
    done = subprocess.run(command, env=dict(os.environ) | spark_environment(), capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{packages} cannot be fetched from here")
    return list((folder / "jars").glob("*.jar"))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """The address of a broker that is its own controller."""
    folder = tmp_path_factory.mktemp("broker")
    jars = [*fetched(BROKER, folder / "ivy"), *JARS.glob("scala-library-*.jar")]
    port, controller = free_port(), free_port()
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "log.dirs": f"{folder}/data",
        "offsets.topic.replication.factor": "1",
    }
    (folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    java = [f"{spark_environment()['JAVA_HOME']}/bin/java", "-Xmx400m", "-cp", ":".join(map(str, jars))]
    format = [*java, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", "server.properties"]
    subprocess.run(format, cwd=folder, check=True, capture_output=True)
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", "server.properties"], cwd=folder, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 120
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, (folder / "broker.log").read_text()[-2000:]
            time.sleep(0.5)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_topics_are_read_and_written(broker, tmp_path):
    if RELEASE not in CONNECTORS:
        pytest.skip("there is no connector for this Spark, or none whose parts can all be had")
    command = [sys.executable, str(JOB), CONNECTORS[RELEASE], broker, str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env=dict(os.environ) | spark_environment(), capture_output=True, text=True, timeout=800
    )
    assert done.returncode == 0, done.stderr[-3000:]
    events = [json.loads(line) for line in (tmp_path / "events.ndjson").read_text().splitlines()]
    for event in events:
        check(event)
    done_events = [event for event in events if event["eventType"] == "COMPLETE" and event.get("outputs")]
    found = {shown(event): event for event in done_events}
    assert set(found) == {"-> numbers", "numbers -> out CREATE", "numbers -> copied", "numbers -> files"}, list(found)
    for event in done_events:
        topics = [
            each for each in (*event.get("inputs", ()), *event["outputs"]) if each["name"] in ("numbers", "copied")
        ]
        assert {each["namespace"] for each in topics} == {f"kafka://{broker}"}
    assert columns(found["numbers -> out CREATE"]) == {"n": {"numbers.value"}, "at": {"numbers.timestamp"}}
    assert columns(found["numbers -> copied"]) == {"key": {"numbers.key"}, "value": {"numbers.value"}}
    assert columns(found["numbers -> files"]) == {"n": {"numbers.value"}}

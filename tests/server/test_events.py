"""Events: acknowledged is kept, and what is kept comes into the graph."""

import gzip
import json
import os
import resource
import signal
import uuid

import pytest
from tests.server.conftest import client_of, serving, wait_for

from headwater.errors import NotFoundError, StorageError
from headwater.graph import GraphStore
from headwater.graph.tables import RUNS
from headwater.server.intake import Intake, journal_folder
from headwater.server.journal import Journal


def event(number=0, **more):
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-01T10:00:00Z",
        "producer": "https://example.com/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.UUID(int=number + 1))},
        "job": {"namespace": "test", "name": f"job_{number}"},
        "inputs": [{"namespace": "headwater:/lake", "name": "raw.orders"}],
        "outputs": [{"namespace": "headwater:/lake", "name": "stg.orders"}],
    } | more


def runs_of(folder):
    try:
        return set(GraphStore(str(folder)).state().read(RUNS, ["job"]).column(0).to_pylist())
    except NotFoundError:  # not yet
        return set()


def test_one_event_and_many(tmp_path):
    with client_of(tmp_path / "lake") as client:
        assert client.post("/api/v1/lineage", json=event(1)).status_code == 201
        packed = gzip.compress(json.dumps(event(2)).encode())
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        assert client.post("/api/v1/lineage", content=packed, headers=headers).status_code == 201
        many = client.post("/api/v1/lineage/batch", json=[event(3), {"job": 5}, event(4)]).json()
        assert many["summary"] == {
            "received": 3,
            "successful": 2,
            "failed": 1,
            "retriable": 0,
            "non_retriable": 1,
        }
        assert many["failed_events"][0]["index"] == 1
    assert runs_of(tmp_path / "lake") == {f"test/job_{number}" for number in (1, 2, 3, 4)}
    assert list(journal_folder(GraphStore(str(tmp_path / "lake"))).iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1", b"5", b'"x"', b"{}", b"\xff\xfe", b"[" * 100_000, b'{"job": {"name": "x"}}', b"null"],
)
def test_what_is_no_event_is_refused(tmp_path, body):
    with client_of(tmp_path / "lake") as client:
        answer = client.post("/api/v1/lineage", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["message"]


def test_a_bomb_is_refused(tmp_path):
    with client_of(tmp_path / "lake") as client:
        bomb = gzip.compress(b" " * (64 << 20))
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        assert client.post("/api/v1/lineage", content=bomb, headers=headers).status_code == 400


def test_events_of_a_server_that_died_are_found(tmp_path):
    store = GraphStore(str(tmp_path / "lake"))
    dead = Journal(journal_folder(store))
    dead.append(json.dumps(event(7)).encode() + b"\n").result()
    os.close(dead._file)  # what the end of a process does: the lock is free, the file stays
    torn = journal_folder(store) / "events-torn.ndjson"
    torn.write_bytes(json.dumps(event(8)).encode() + b'\n{"torn')
    intake = Intake(store)
    intake.start()
    assert wait_for(lambda: runs_of(tmp_path / "lake") == {"test/job_7", "test/job_8"})
    intake.stop()


def test_a_file_that_is_written_is_nobody_elses(tmp_path):
    one, other = Journal(tmp_path), Journal(tmp_path)
    one.append(b"x\n").result()
    assert list(other.sealed()) == []
    assert [path.read_bytes() for path in one.sealed()] == [b"x\n"]
    one.close()
    other.close()


@pytest.mark.fault
def test_a_full_disk_refuses_and_spoils_nothing(tmp_path):
    """The limit on the size of files stands for the disk: the write stops in the middle of a line."""
    journal = Journal(tmp_path)
    journal.append(b'{"kept": 1}\n').result(10)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        refused = journal.append(b'{"lost": "0123456789"}\n').exception(10)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(refused, StorageError)
    journal.append(b'{"kept": 2}\n').result(10)
    (path,) = journal.sealed()
    assert path.read_bytes() == b'{"kept": 1}\n{"kept": 2}\n'
    journal.close()


def test_what_was_acknowledged_survives_the_death_of_the_server(tmp_path):
    """Post events, kill the server in the middle of it, start another: every acknowledged event is in the graph."""
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import Dataset, Job, Run, RunEvent, RunState
    from openlineage.client.transport.http import HttpConfig, HttpTransport

    lake = tmp_path / "lake"
    acknowledged = []
    with serving(lake) as (server, url):
        client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=url, retry={"total": 0})))
        for number in range(60):
            if number == 40:
                server.send_signal(signal.SIGKILL)
                server.wait()
            run = Run(runId=str(uuid.UUID(int=number + 1)))
            job = Job(namespace="killed", name=f"job_{number}")
            output = Dataset(namespace="headwater:/lake", name="a.b")
            event = RunEvent(
                eventType=RunState.COMPLETE,
                eventTime="2026-11-01T10:00:00Z",
                run=run,
                job=job,
                producer="https://example.com/test",
                outputs=[output],
            )
            try:
                client.emit(event)
            except Exception:
                break
            acknowledged.append(f"killed/job_{number}")
        client.close()
    assert len(acknowledged) == 40
    with serving(lake):
        assert wait_for(lambda: runs_of(lake) >= set(acknowledged))


def test_runs_of_spark_are_told_in_words(tmp_path):
    """`overwrite_by_expression`, `read_deserialize_to_object` are names of nodes of a plan."""
    source = {"namespace": "headwater:/lake", "name": "a.t"}
    fields = {"k": {"inputFields": [source | {"field": "k"}]}}
    lineage = {"_producer": "x:y", "_schemaURL": "x:z", "fields": fields}
    made = {"namespace": "headwater:/lake", "name": "b.my_t", "facets": {"columnLineage": lineage}}
    jobs = {
        "shop.overwrite_by_expression.b_my_t": [made],
        "shop.read_deserialize_to_object.a_t": [],
        "shop.add_columns.b_my_t": [{"namespace": "headwater:/lake", "name": "b.my_t"}],
    }
    with client_of(tmp_path) as client:

        def asked(path, **query):
            return client.get(f"/api/v1/{path}", params=query).json()

        for number, (name, outputs) in enumerate(jobs.items()):
            job = {"namespace": "night", "name": name}
            client.post("/api/v1/lineage", json=event(number, job=job, inputs=[source], outputs=outputs))
        assert wait_for(lambda: asked("runs")["total"] == 3)
        runs = {run["job"]: run for run in asked("runs")["runs"]}
        edges = asked("edge", source="a.t", target="b.my_t")["edges"]
        one = asked("run", run=runs["night/shop.read_deserialize_to_object.a_t"]["run"])
    titles = ["shop: overwrite b.my_t", "shop: read a.t", "shop: alter b.my_t"]
    assert [runs[f"night/{name}"]["title"] for name in jobs] == titles
    assert one["title"] == titles[1]
    assert "datasets" not in next(iter(runs.values()))
    assert edges[0]["run"]["title"] == "shop: overwrite b.my_t"

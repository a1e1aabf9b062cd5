"""Planted secrets: whatever goes wrong, they stand in no log, error, event, answer or file that is not theirs."""

import json
import logging
import subprocess
import sys

import pytest

from headwater import Warehouse
from headwater.errors import ConfigError, HeadwaterError, UsageError
from headwater.events import encode
from headwater.events.event import Job, Run, RunEvent
from headwater.events.sinks import open_sink
from headwater.events.sinks.http import HttpSink
from headwater.events.sinks.sink import Buffered
from headwater.events.sinks.transport import TransportSink
from headwater.files import ObjectFiles
from headwater.files.open import open_files
from headwater.text import without_secrets

SECRET = "hunter2-xyzzy"
KEY = "AKIAPLANTED/wJalrXUtnFEMI"


def everything(err):
    """An error with all that it says, down to its causes."""
    said = []
    while err is not None:
        said += [str(err), repr(err), str(getattr(err, "hint", ""))]
        err = err.__cause__ or (None if err.__suppress_context__ else err.__context__)
    return " ".join(said)


@pytest.mark.parametrize(
    "text",
    [
        f"jdbc:postgresql://me:{SECRET}@db.example/shop",
        f"connect to https://user:{SECRET}@host/path failed",
        f"jdbc:sqlserver://db;databaseName=shop;password={SECRET};x=1",
        f"AWS_SECRET_ACCESS_KEY={SECRET} is wrong",
        f'{{"secret_access_key": "{SECRET}", "region": "x"}}',
        f"fs.s3a.secret.key: {SECRET}",
        f"Authorization: Bearer {SECRET}",
        f"https://x.blob.core.windows.net/c?sv=1&sas={SECRET}",
        f"https://b.s3.amazonaws.com/k?X-Amz-Signature={SECRET}&y=1",
        f"api_key='{SECRET}'",
        f"PWD={SECRET}",
        f"jdbc:oracle:thin:me/{SECRET}@db.example:1521:sid",
        f"jdbc:db2://db:50000/shop:user=me;password={SECRET};",
        f"jdbc:teradata://db/DATABASE=shop,USER=me,PASSWORD={SECRET}",
        f"jdbc:mysql://(host=db,user=me,password={SECRET})/shop",
        f"jdbc:mysql://address=(host=db)(user=me)(password={SECRET})/shop",
        f"jdbc:mysql://me:{SECRET}@h1,you:{SECRET}@h2/shop",
        f"jdbc:sqlserver://db;password={{a;{SECRET}}};x=1",
        f"password='two words {SECRET}'",
        f"s3n://KEY:a/{SECRET}@bucket/x",
    ],
)
def test_what_looks_like_a_secret_is_masked(text):
    assert SECRET not in without_secrets(text)
    assert without_secrets(without_secrets(text)) == without_secrets(text)


def test_texts_without_secrets_stay_as_they_are():
    for text in ("cannot read s3://bucket/a: 404", "column `token_count` is BIGINT", "SELECT a FROM t WHERE b = 1"):
        assert without_secrets(text) == text


def test_keys_of_an_object_store_are_in_no_error_and_no_name():
    options = {"endpoint": "http://127.0.0.1:9", "access_key_id": KEY, "secret_access_key": SECRET, "region": "r"}
    files = ObjectFiles("s3://bucket/lake", options | {"virtual_hosted_style_request": "false"})
    lake = Warehouse(files)
    for shown in (repr(files), files.url, repr(lake), lake.url):
        assert SECRET not in shown
        assert KEY not in shown
    wrong = {"endpoint": "not an address", "secret_access_key": SECRET, "nonsense": SECRET}
    with pytest.raises(HeadwaterError) as caught:
        ObjectFiles("s3://bucket/lake", wrong)
    assert SECRET not in str(caught.value.message)


def test_an_address_with_a_password_is_refused_without_repeating_it():
    for scheme in ("s3", "gs", "az"):
        with pytest.raises(UsageError) as caught:
            open_files(f"{scheme}://me:{SECRET}@bucket/lake")
        assert SECRET not in everything(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"htp://me:{SECRET}@host",
        f"kafka:{SECRET}",
        f'openlineage:{{"type": "nonsense", "apiKey": "{SECRET}"}}',
        f'openlineage:{{"type": "http", "url": 5, "auth": {{"type": "api_key", "apiKey": "{SECRET}"}}}}',
        f'openlineage:{{"type": "kafka", "config": {{"sasl.password": "{SECRET}"}}}}',
    ],
)
def test_places_for_events_that_cannot_be_opened(text):
    with pytest.raises(HeadwaterError) as caught:
        open_sink(text)
    assert SECRET not in everything(caught.value)


def event():
    job = Job(namespace="n", name="j")
    return RunEvent(run=Run(run_id="01932f8a-0000-7000-8000-000000000000"), job=job)


def test_a_token_that_is_sent_is_told_to_nobody(caplog, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    sink = HttpSink(f"http://me:{SECRET}@127.0.0.1:9/x?token={SECRET}", retries=0, pause=0.0)
    sink.emit(event())
    delivery = sink.close(5)
    assert delivery.lost == 1
    assert SECRET not in caplog.text + repr(delivery) + repr(sink)


def test_errors_of_transports_are_told_without_what_they_let_slip(caplog):
    class Talkative(Buffered):
        def deliver(self, batch):
            raise OSError(f"no route to https://me:{SECRET}@host, password={SECRET}")

    caplog.set_level(logging.WARNING)
    sink = Talkative(retries=0, pause=0.0)
    sink.emit(event())
    delivery = sink.close(5)
    assert "password=***" in caplog.text + repr(delivery)
    assert SECRET not in caplog.text + repr(delivery)


def test_a_transport_of_the_client_keeps_its_configuration_to_itself():
    with pytest.raises(ConfigError) as caught:
        TransportSink({"type": "http", "url": "http://h", "timeout": "x", "auth": {"type": SECRET, "apiKey": SECRET}})
    assert SECRET not in everything(caught.value)


def test_a_failed_job_reports_its_error_without_the_password_in_it():
    from headwater.spark.agent.events import _error
    from headwater.spark.agent.tracker import Happening

    said = f"Connection to jdbc:postgresql://me:{SECRET}@db refused; password={SECRET}"
    happening = Happening("end", 1, error=said, trace=f"at x\nCaused by: {said}")
    facet = _error(happening, "PYTHON")
    assert SECRET not in repr(facet)
    assert "refused" in facet.message


def test_the_token_of_the_server_is_in_no_answer_and_no_line(tmp_path):
    from tests.server.conftest import client_of

    with client_of(tmp_path / "lake", host="0.0.0.0", token=SECRET) as client:
        for path in ("/", "/api/v1/about", "/api/v1/openapi.json", "/healthz", "/api/v1/tables", "/login"):
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {SECRET}"}):
                answer = client.get(path, headers=headers, follow_redirects=False)
                assert SECRET not in answer.text + str(dict(answer.headers))


def test_commands_do_not_repeat_what_they_were_told_in_confidence(tmp_path):
    lake = f"s3://me:{SECRET}@bucket/lake"
    env = {"HEADWATER_TOKEN": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "PATH": "/usr/bin", "HOME": str(tmp_path)}
    for command in (["doctor"], ["--warehouse", lake, "lake", "ls"], ["--warehouse", lake, "sql", "-e", "SELECT 1"]):
        run = subprocess.run(
            [sys.executable, "-m", "headwater", *command], capture_output=True, text=True, env=env, cwd=tmp_path
        )
        assert SECRET not in run.stdout + run.stderr, command


def test_an_origin_names_a_warehouse_without_its_keys(tmp_path):
    from headwater.events.naming import lake_name

    name = lake_name(f"https://me:{SECRET}@host/lake", "d.t")
    assert SECRET not in json.dumps([name.namespace, name.name])
    assert SECRET not in encode(event()).decode()

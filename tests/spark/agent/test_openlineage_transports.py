"""Where OpenLineage's settings send events, each tried on a real Spark."""

import json
import urllib.parse

import pytest
from tests.events.test_sinks import Receiver, event, receiver
from tests.spark.agent.openlineage import PARENT, WRITE

from headwater.errors import ConfigError, MissingDependencyError
from headwater.events.sinks import TransportSink
from headwater.events.sinks.open import _kafka, open_transport

pytestmark = pytest.mark.spark
JWT = {"tokenFields": ["key_of_entry"], "expiresInField": "lives", "grantType": "g", "responseType": "r"}


def test_http(settings):
    """transport.type http, transport.url, transport.endpoint, transport.urlParams.NAME, transport.headers.NAME,
    transport.timeoutInMillis, transport.compression, transport.auth.type, transport.auth.apiKey"""
    with receiver() as (server, url):
        settings.sent(
            "SELECT 1",
            {
                "transport.type": "http",
                "transport.url": url,
                "transport.endpoint": "/in/lineage",
                "transport.urlParams.who.is": "me",
                "transport.headers.X.Extra": "abc",
                "transport.timeoutInMillis": "9000",
                "transport.compression": "gzip",
                "transport.auth.type": "api_key",
                "transport.auth.apiKey": "k3y",
            },
        )
        (path, headers, _), *_ = server.taken
        assert (path, headers["X.Extra"], headers["Content-Encoding"]) == ("/in/lineage?who.is=me", "abc", "gzip")
        assert headers["Authorization"] == "Bearer k3y"
        server.taken.clear()
        long = f"{url}/api/v2/namespaces/ns/jobs/dag/runs/{PARENT}?api_key=other&app_name=App&x=1"
        settings.sent("SELECT 1", {"transport.type": "http", "transport.url": long, "appName": ""})
        (path, headers, body), *_ = server.taken
        event = json.loads(body)
        assert (path, headers["Authorization"]) == ("/api/v2/lineage?x=1", "Bearer other")
        assert event["job"]["namespace"] == "ns"
        assert event["run"]["facets"]["parent"]["run"]["runId"] == PARENT


def test_a_token_is_fetched_and_kept(monkeypatch):
    """transport.auth.tokenEndpoint, transport.auth.tokenFields, transport.auth.expiresInField,
    transport.auth.grantType, transport.auth.responseType, transport.auth.tokenRefreshBuffer"""
    asked = []

    class Tokens(Receiver):
        def do_POST(self):
            asked.append(urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            body = json.dumps({"keyOfEntry": f"t{len(asked)}", "lives": 100}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with receiver() as (server, url), receiver() as (tokens, where):
        tokens.RequestHandlerClass = Tokens
        for buffer, expected in ((10, ["t1", "t1"]), (200, ["t2", "t3"])):
            auth = JWT | {"type": "jwt", "apiKey": "k", "tokenEndpoint": where, "tokenRefreshBuffer": buffer}
            sink = open_transport({"type": "http", "url": url, "auth": auth})
            for name in "ab":
                sink.emit(event(name))
            assert sink.close().sent == 2
            assert [headers["Authorization"] for _, headers, _ in server.taken[-2:]] == [
                f"Bearer {e}" for e in expected
            ]
    assert asked[0] == {"apikey": ["k"], "grant_type": ["g"], "response_type": ["r"]}


def test_several_transports(settings, capfd):
    """transport.type composite, transport.transports.NAME, transport.continueOnFailure, transport.type console"""
    with receiver(*[400] * 9) as (_, url):
        settings.sent(
            "SELECT 1",
            {
                "transport.type": "composite",
                "transport.continueOnFailure": "true",
                "transport.transports.refuses.type": "http",
                "transport.transports.refuses.url": url,
                "transport.transports.kept.type": "file",
                "transport.transports.kept.location": str(settings.file),
                "transport.transports.shown.type": "console",
            },
        )
    assert len(settings.file.read_text().splitlines()) == 2
    assert '"producer":"urn:headwater"' in capfd.readouterr().err


def test_nothing_is_sent(settings, capfd):
    """transport.type noop, disabled, OPENLINEAGE_DISABLED"""
    assert settings.sent(WRITE, {"transport.type": "noop"}) == []
    assert settings.events(disabled="true") == []
    settings.monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert settings.events() == []
    assert "urn:headwater" not in capfd.readouterr().err


def test_transports_of_the_client():
    """transport.type kafka, transport.topicName, transport.messageKey, transport.properties.NAME,
    transport.type gcplineage, transport.type amazon_datazone_api"""
    given = {"bootstrap.servers": "h:1", "key.serializer": "org.apache.kafka…"}
    config = {"type": "kafka", "topicName": "t", "messageKey": "k", "properties": given}
    assert _kafka(config) == {
        "type": "kafka",
        "topic": "t",
        "messageKey": "k",
        "config": {"bootstrap.servers": "h:1"},
    }
    for kind in ("kafka", "gcplineage", "amazon_datazone_api"):  # known to the client, which asks for what they need
        with pytest.raises((ConfigError, MissingDependencyError), match="transport"):
            TransportSink({"type": kind})
    for kind in ("s3", "gcs", "kinesis"):
        with pytest.raises(ConfigError, match="Java alone"):
            open_transport({"type": kind})

"""Schemas asked of BigQuery: its own client against a local server that speaks the API's JSON.

The server knows three paths of the API and is no BigQuery: that real BigQuery answers alike is taken from its
documentation.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from headwater.errors import EngineError
from headwater.lineage import SchemaResolver, Status
from headwater.lineage.script import analyze_script
from headwater.model.names import TableName
from headwater.text import Source
from headwater.zetasql import BigQueryTables
from headwater.zetasql.frontend import GoogleSqlFrontEnd

bigquery = pytest.importorskip("google.cloud.bigquery")
client_options = pytest.importorskip("google.api_core.client_options")
credentials = pytest.importorskip("google.auth.credentials")

FIELDS = [
    {"name": "id", "type": "INTEGER", "mode": "REQUIRED"},
    {"name": "addr", "type": "RECORD", "fields": [{"name": "city", "type": "STRING"}]},
    {
        "name": "items",
        "type": "RECORD",
        "mode": "REPEATED",
        "fields": [{"name": "sku", "type": "STRING"}, {"name": "price", "type": "NUMERIC"}],
    },
]


class Api(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        Api.asked.append(path)
        if path.endswith("/projects/p/datasets/d/tables/orders"):
            reference = {"projectId": "p", "datasetId": "d", "tableId": "orders"}
            self.answer(200, {"kind": "bigquery#table", "tableReference": reference, "schema": {"fields": FIELDS}})
        elif "/tables/secret" in path:
            self.answer(
                403, {"error": {"code": 403, "message": "Access Denied", "errors": [{"reason": "accessDenied"}]}}
            )
        elif "/tables/broken" in path:
            self.answer(400, {"error": {"code": 400, "message": "Bad Request", "errors": [{"reason": "invalid"}]}})
        else:
            self.answer(404, {"error": {"code": 404, "message": "Not found", "errors": [{"reason": "notFound"}]}})

    def answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def tables() -> Iterator[BigQueryTables]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Api.asked = []
    options = client_options.ClientOptions(api_endpoint=f"http://127.0.0.1:{server.server_address[1]}")
    client = bigquery.Client(project="p", credentials=credentials.AnonymousCredentials(), client_options=options)
    yield BigQueryTables(client, dataset="d")
    client.close()
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_statement_asks_for_the_tables_it_names(tables: BigQueryTables) -> None:
    sql = "INSERT INTO d.out SELECT 1 AS x; SELECT o.id, o.addr.city, i.sku FROM `p.d.orders` AS o, o.items AS i;"
    front_end = GoogleSqlFrontEnd(provider=tables)
    unknown, found = analyze_script(Source(sql), front_end, SchemaResolver(dialect="bigquery"))
    assert unknown.status is Status.TABLE_ONLY
    assert found.status is Status.RESOLVED, found.issues
    assert {str(edge.source) for edge in found.edges} == {
        "p.d.orders.id",
        "p.d.orders.addr.city",
        "p.d.orders.items[].sku",
        "p.d.orders.items",
    }


def test_a_table_is_asked_for_once(tables: BigQueryTables) -> None:
    assert tables.table(TableName.of("d", "orders")) == tables.table(TableName.of("d", "orders"))
    assert tables.table(TableName.of("orders")) is not None
    assert len(Api.asked) == 2


def test_a_table_that_is_not_there_or_not_to_be_seen_is_unknown(tables: BigQueryTables) -> None:
    assert tables.table(TableName.of("p", "d", "nope")) is None
    assert tables.table(TableName.of("p", "d", "secret")) is None


def test_a_failure_is_said(tables: BigQueryTables) -> None:
    with pytest.raises(EngineError, match="could not be asked"):
        tables.table(TableName.of("p", "d", "broken"))


def test_without_credentials_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(EngineError, match="does not know who asks") as caught:
        BigQueryTables()
    assert "GOOGLE_APPLICATION_CREDENTIALS" in (caught.value.hint or "")

"""A served warehouse: a small estate in the graph, in two states, and a lake table with a history."""

import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from headwater.analysis.door import Request
from headwater.graph import Change, GraphStore
from headwater.graph.collect import collect
from headwater.query import connect
from headwater.server.app import create_app
from headwater.server.options import ServerOptions
from headwater.text import Source

SCHEMA = {
    "raw.orders": ["id", "customer_id", "amount", "status", "note"],
    "raw.customers": ["id", "email", "name"],
}
STAGING = """\
CREATE TABLE stg.orders AS
SELECT id, customer_id, amount * 100 AS cents FROM raw.orders WHERE status = 'paid';
CREATE VIEW stg.customers AS
SELECT id, lower(email) AS email, md5(name) AS name_hash FROM raw.customers;
"""
MARTS = """\
INSERT INTO mart.revenue (customer_id, email, total)
SELECT c.id, c.email, sum(o.cents) FROM stg.orders o JOIN stg.customers c ON c.id = o.customer_id GROUP BY 1, 2;
CREATE TABLE mart.counts AS SELECT count(*) AS n FROM stg.orders;
"""
TABLES = """\
CREATE DATABASE raw;
CREATE TABLE raw.orders (id BIGINT, amount DOUBLE, note VARCHAR, PRIMARY KEY (id));
INSERT INTO raw.orders VALUES (1, 10, 'a'), (2, 20, 'b');
INSERT INTO raw.orders VALUES (2, 25, 'b'), (3, 30, NULL);
ALTER TABLE raw.orders ADD COLUMN status VARCHAR;
"""


def harvest(store, *texts, schema=SCHEMA):
    sources = [Source(text, name) for name, text in texts]
    facts = collect(sources, Request(dialect="postgres", schema=schema))
    return store.apply(Change(facts, record={"kind": "harvest", "sources": ["models"]}))


def make_estate(folder):
    store = GraphStore(str(folder))
    harvest(store, ("staging.sql", STAGING))
    harvest(store, ("staging.sql", STAGING), ("marts.sql", MARTS))
    with connect(str(folder)) as session:
        session.sql(TABLES)
    return folder


@pytest.fixture(scope="session")
def estate(tmp_path_factory):
    return make_estate(tmp_path_factory.mktemp("estate") / "lake")


def client_of(folder, **options):
    app = create_app(ServerOptions(str(folder), **options))
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=True)


@pytest.fixture(scope="session")
def client(estate):
    with client_of(estate) as client:
        yield client


@pytest.fixture
def ask(client):
    """The answer to a GET, which must be there."""

    def asked(path, status=200, **query):
        response = client.get(f"/api/v1{path}", params=query)
        assert response.status_code == status, response.text
        return response.json()

    return asked


def wait_for(done, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.1)
    return False


@contextmanager
def serving(lake, *more):
    """A server in a process of its own, and where it is."""
    arguments = [sys.executable, "-m", "headwater", "serve", "--port", "0", "--warehouse", str(lake), *more]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = server.stderr.readline()
            url = next(word for word in line.split() if word.startswith("http"))
            assert wait_for(lambda: _is_healthy(url))
            yield server, url
        finally:
            server.terminate()
            server.wait()


def _is_healthy(url):
    try:
        with urllib.request.urlopen(f"{url}healthz") as answer:
            return answer.status == 200
    except OSError:
        return False

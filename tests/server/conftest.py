"""A served warehouse: a small estate in the graph, in two states, and a lake table with a history."""

import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.graph.conftest import MARTS, STAGING, harvested
from tests.server.shop_warehouse import fill_shop

from headwater.graph import GraphStore
from headwater.query import connect
from headwater.server.app import create_app
from headwater.server.options import Limits, ServerOptions

TABLES = """\
CREATE DATABASE raw;
CREATE TABLE raw.orders (id BIGINT, amount DOUBLE, note VARCHAR, PRIMARY KEY (id));
INSERT INTO raw.orders VALUES (1, 10, 'a'), (2, 20, 'b');
INSERT INTO raw.orders VALUES (2, 25, 'b'), (3, 30, NULL);
ALTER TABLE raw.orders ADD COLUMN status VARCHAR;
"""


def make_estate(folder):
    store = GraphStore(str(folder))
    harvested(store, ("staging.sql", STAGING))
    harvested(store, ("staging.sql", STAGING), ("marts.sql", MARTS))
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
    with client_of(estate, limits=Limits(reads=1e6, queries=1e6)) as client:
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
def serving(lake, *more, command="serve"):
    """A server in a process of its own, and where it is."""
    arguments = [sys.executable, "-m", "headwater", command, "--port", "0", "--warehouse", str(lake), *more]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = server.stderr.readline()
            url = next(word for word in line.split() if word.startswith("http"))
            assert wait_for(lambda: _is_healthy(url.rpartition("/")[0]))
            yield server, url
        finally:
            server.terminate()
            server.wait()


def _is_healthy(url):
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/healthz") as answer:
            return answer.status == 200
    except OSError:
        return False


def find_browser():
    """A Chromium or Chrome of this machine, None if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    return next(filter(None, map(shutil.which, names)), mac if Path(mac).exists() else None)


@pytest.fixture(scope="session")
def browser():
    """A real browser."""
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium or Chrome on this machine: the page was not tested")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """The shop's warehouse in a server of its own; where it is."""
    lake = tmp_path_factory.mktemp("shop") / "lake"
    fill_shop(lake)
    with serving(lake) as (_, url):
        yield url


@pytest.fixture
def page(browser, shop):
    """A page that must not complain."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page = context.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    page.base = shop
    yield page
    context.close()
    assert problems == []

"""The same tools over streamable HTTP, behind the server's guard; and what is said where the package is missing."""

import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from tests.mcp.assistant import Assistant, connected
from tests.server.conftest import serving

TOKEN = "a-long-enough-token"
CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def local(shop_lake):
    with serving(shop_lake, "--http", command="mcp") as (_, url):
        yield url


def status(url, **headers):
    """The status of a request that is no more than one."""
    request = urllib.request.Request(url, CALL, {**HEADERS, **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as err:
        with err:
            return err.code


def test_tools_answer_over_http(local, shop):
    with connected(local) as assistant:
        assert assistant.tools().keys() == shop.tools().keys()
        for tool, arguments in (
            ("trace", {"name": "mart.revenue"}),
            ("run_sql", {"sql": "SELECT count(*) FROM raw.orders"}),
        ):
            assert assistant.ask(tool, **arguments) == shop.ask(tool, **arguments)
        assert assistant.refused("run_sql", sql="DROP TABLE raw.orders")["code"] == "bad-sql"


def test_other_sites_and_other_names_are_refused(local):
    assert status(local, Origin="https://evil.example") == 403
    assert status(local, Host="evil.example") == 421
    assert status(local, **{"Content-Type": "text/plain"}) == 415


def test_with_a_token_only_those_who_show_it_are_answered(shop_lake):
    with serving(shop_lake, "--http", "--token", TOKEN, command="mcp") as (_, url):
        assert status(url) == 401
        assert status(url, Authorization="Bearer wrong-token") == 401
        with connected_with_token(url) as assistant:
            assert "trace" in assistant.tools()


def connected_with_token(url):
    """An assistant that shows the token, as the guide has it."""
    from contextlib import asynccontextmanager, contextmanager

    import httpx2
    from anyio.from_thread import start_blocking_portal
    from mcp.client.streamable_http import streamable_http_client

    from mcp import Client

    @asynccontextmanager
    async def client():
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as found,
        ):
            yield found

    @contextmanager
    def opened():
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client()) as found:
            yield Assistant(portal, found)

    return opened()


def test_without_a_token_other_machines_are_not_served(shop_lake):
    command = [sys.executable, "-m", "headwater", "mcp", "--http", "--host", "0.0.0.0", "--warehouse", str(shop_lake)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert "name a token" in run.stderr


def test_without_the_package_one_line_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['mcp_types'] = None; from headwater.__main__ import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "mcp", "--warehouse", str(tmp_path)], capture_output=True, text=True
    )
    assert run.returncode == 2
    assert "error[missing-dependency]" in run.stderr
    assert "headwater[mcp]" in run.stderr
    assert "Traceback" not in run.stderr

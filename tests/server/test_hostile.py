"""Bad neighbours: slow ones, huge ones, rude ones. The server stays well."""

import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from tests.server.conftest import _is_healthy, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("hostile") / "lake") as (process, url):
        yield process, url


def talk(url, data, *, seconds=15):
    """Send bytes as they are; what comes back until the server hangs up."""
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=seconds) as line:
        line.sendall(data)
        with suppress(OSError):  # the server may have hung up already
            line.shutdown(socket.SHUT_WR)
        answer = b""
        while part := line.recv(65536):
            answer += part
        return answer


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 1000 + b"\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
        b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Length: nonsense\r\n\r\n",
        b"GET /../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /assets/..%2f..%2f..%2fapp.py HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 99999999999\r\nConnection: close\r\n\r\n",
    ],
)
def test_nonsense_is_answered_with_a_refusal(server, data):
    _, url = server
    try:
        answer = talk(url, data)
    except ConnectionError:  # hung up in the middle of it, which is an answer too
        answer = b""
    assert answer == b"" or answer.split(b" ", 2)[1][:1] == b"4", answer[:200]
    assert b"root:" not in answer
    assert _is_healthy(url)


def test_huge_json_is_refused_or_read(server):
    _, url = server
    deep = b"[" * 5_000_000
    head = (
        b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    )
    answer = talk(url, head + f"Content-Length: {len(deep)}\r\n\r\n".encode() + deep, seconds=60)
    assert b" 400 " in answer.split(b"\r\n")[0]
    assert _is_healthy(url)


@pytest.mark.slow
def test_slow_connections_are_hung_up_on_and_do_not_keep_others_out(server):
    """Many connections that never finish their request: others are served meanwhile, and the slow ones are closed."""
    _, url = server
    address = (urlsplit(url).hostname, urlsplit(url).port)
    slow = [socket.create_connection(address, timeout=30) for _ in range(150)]
    try:
        for line in slow:
            line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert _is_healthy(url)
        start = time.monotonic()
        assert slow[0].recv(1000) == b"", "the server hangs up"
        assert time.monotonic() - start < 25
    finally:
        for line in slow:
            line.close()
    assert _is_healthy(url)


REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
UNREAD = b"POST /api/v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 99999\r\n\r\n"
DRIBBLES = {
    "a second head": (REQUEST, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
    "a second head, begun with the first": (REQUEST + b"GET / HTTP/1.1\r\nX-", b"Slow: "),
    "empty lines between requests": (REQUEST, b"\r\n"),
    "the body of a refused request": (UNREAD, b"x"),
}
"""What is sent at once, and what then begins to come one byte after the other."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", DRIBBLES)
def test_kept_connections_that_dribble_do_not_keep_others_out(server, kind):
    """One below the server's limit of connections, each of which was answered once: all are hung up on."""
    process, url = server
    address = (urlsplit(url).hostname, urlsplit(url).port)
    first, then = DRIBBLES[kind]
    lines = [socket.create_connection(address, timeout=30) for _ in range(499)]
    try:
        for line in lines:
            line.sendall(first)
        for line in lines:
            assert line.recv(65536)
        end = time.monotonic() + 40
        while lines and time.monotonic() < end:
            lines = [line for line in lines if _still_takes(line, then[:1])]
            then = then[1:] or b"y"
            time.sleep(0.5)
        assert not lines, f"{len(lines)} connections are still open"
    finally:
        for line in lines:
            line.close()
    assert process.poll() is None
    assert _is_healthy(url)


def _still_takes(line, data):
    """Whether a connection is open; one that is not is closed here too."""
    try:
        line.sendall(data)
        line.setblocking(False)
        is_open = bool(line.recv(65536))
    except BlockingIOError:
        is_open = True
    except OSError:
        is_open = False
    if not is_open:
        line.close()
    else:
        line.settimeout(30)
    return is_open

"""Sinks deliver what they are given, count what they cannot, and never harm who emits."""

import io
import json
import multiprocessing
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headwater.errors import ConfigError, InputError
from headwater.events import Job, JobEvent, decode
from headwater.events.sinks import CompositeSink, ConsoleSink, Delivery, FileSink, HttpSink, TransportSink, open_sink


def event(name: str) -> JobEvent:
    return JobEvent(job=Job(namespace="n", name=name))


def names(path) -> list[str]:
    return [decode(line).job.name for line in path.read_bytes().splitlines()]


class Receiver(BaseHTTPRequestHandler):
    """Answers with the statuses it is told to, then 201, and keeps what it took."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        with server.lock:
            server.connections.add(self.client_address)
            status = server.statuses.pop(0) if server.statuses else 201
            if status < 300:
                server.taken.append((self.path, self.headers, body))
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"sorry")

    def log_message(self, *_):
        pass


@contextmanager
def receiver(*statuses: int):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.daemon_threads = True
    server.lock, server.taken, server.statuses, server.connections = threading.Lock(), [], list(statuses), set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_console():
    stream = io.StringIO()
    sink = ConsoleSink(stream)
    sink.emit(event("a"))
    assert decode(stream.getvalue()).job.name == "a"
    stream.close()
    sink.emit(event("b"))
    assert sink.close() == Delivery(1, 1, "the terminal is closed")


def test_file(tmp_path):
    path = tmp_path / "new" / "events.ndjson"
    for round in ("a", "b"):
        sink = FileSink(path, durable=True)
        sink.emit(event(round))
        assert sink.flush(1)
        assert sink.close().sent == 1
    sink.emit(event("late"))
    assert sink.close().lost == 1
    assert names(path) == ["a", "b"]


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        FileSink(tmp_path)


def test_a_full_disk_is_counted():
    sink = FileSink("/dev/full")
    sink.emit(event("a"))
    delivery = sink.close()
    assert (delivery.sent, delivery.lost) == (0, 1)
    assert "No space left" in str(delivery)


def _write_many(path, who):
    sink = FileSink(path)
    for number in range(200):
        sink.emit(event(f"{who}-{number}-" + "x" * 5000))
    os._exit(0 if sink.close().sent == 200 else 1)


def test_processes_share_a_file(tmp_path):
    path = tmp_path / "events.ndjson"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(path, who)) for who in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert len(set(names(path))) == 600


def test_http_keeps_one_connection_and_order():
    with receiver() as (server, url):
        sink = HttpSink(url, api_key="k3y")
        for number in range(50):
            sink.emit(event(str(number)))
        assert sink.flush(10)
        assert sink.close() == Delivery(50, 0, None)
        assert [decode(body).job.name for _, _, body in server.taken] == [str(number) for number in range(50)]
        path, headers, _ = server.taken[0]
        assert (path, headers["Authorization"]) == ("/api/v1/lineage", "Bearer k3y")
        assert len(server.connections) == 1


def test_http_tries_again_after_an_outage():
    with receiver(503, 0, 429) as (server, url):
        sink = HttpSink(url + "/my/path?x=1", pause=0.01, compress=True)
        sink.emit(event("a"))
        assert sink.flush(10)
        assert sink.close().sent == 1
        assert server.taken[0][0] == "/my/path?x=1"
        assert server.taken[0][1]["Content-Encoding"] == "gzip"


def test_http_does_not_insist_on_a_refusal():
    with receiver(400, 201) as (_, url):
        sink = HttpSink(url)
        sink.emit(event("bad"))
        sink.emit(event("good"))
        sink.flush(10)
        delivery = sink.close()
        assert (delivery.sent, delivery.lost) == (1, 1)
        assert "400" in str(delivery)
        assert "sorry" in str(delivery)


def test_nobody_listening_is_counted_and_does_not_block():
    with receiver() as (_, url):
        pass
    sink = HttpSink(url, retries=1, pause=0.01, capacity=5)
    for number in range(100):
        sink.emit(event(str(number)))
    sink.flush(10)
    delivery = sink.close()
    assert (delivery.sent, delivery.lost) == (0, 100)


def test_close_gives_up_on_a_server_that_hangs():
    silent = threading.Event()

    class Silent(Receiver):
        def do_POST(self):
            silent.wait(20)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sink = HttpSink(f"http://127.0.0.1:{server.server_port}", timeout=30)
    sink.emit(event("a"))
    sink.emit(event("b"))
    assert sink.flush(0.05) is False
    delivery = sink.close(timeout=10**6)  # nobody waits a second time
    assert (delivery.sent, delivery.lost) == (0, 2)
    silent.set()
    server.shutdown()
    server.server_close()


def test_composite_survives_a_bad_sink(tmp_path):
    class Bad:
        def emit(self, event):
            raise OSError("no")

        def flush(self, timeout):
            return False

        def close(self):
            return Delivery(0, 1, "no")

    path = tmp_path / "e"
    sink = CompositeSink(Bad(), FileSink(path))
    sink.emit(event("a"))
    assert sink.flush(1) is False
    assert sink.close().lost == 1
    assert names(path) == ["a"]


def test_several_sinks_share_the_time():
    given = []

    class Slow:
        def flush(self, timeout):
            given.append(timeout)
            threading.Event().wait(timeout)
            return False

    assert CompositeSink(Slow(), Slow(), Slow()).flush(0.2) is False
    assert sum(given) <= 0.3


def test_transports_of_the_client(tmp_path):
    path = tmp_path / "e.json"
    sink = TransportSink({"type": "file", "log_file_path": str(path), "append": True})
    sink.emit(event("a"))
    assert sink.flush(10)
    assert sink.close().sent == 1
    assert json.loads(path.read_text())["job"]["name"] == "a"
    with pytest.raises(ConfigError, match="does not take"):
        TransportSink({"type": "pigeon"})


def test_sinks_from_text(tmp_path):
    assert isinstance(open_sink("console"), ConsoleSink)
    both = open_sink(f"console, file:{tmp_path / 'e'}")
    assert isinstance(both, CompositeSink)
    assert isinstance(open_sink("http://localhost:1"), HttpSink)
    both.close()
    with pytest.raises(ConfigError, match="consol") as caught:
        open_sink("consol")
    assert "Did you mean console" in caught.value.hint
    refused = {
        "": "no place for events",
        "file:": "`file` needs a path",
        "console:x": "nothing can follow `console`",
        "openlineage:{": "a JSON object",
        "http://": "http",
    }
    for bad, message in refused.items():
        with pytest.raises(ConfigError, match=message):
            open_sink(bad)

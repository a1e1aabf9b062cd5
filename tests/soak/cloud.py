"""An S3 server, and in front of it a proxy that fails: `python -m tests.soak.cloud FOLDER SEED`.

Faults are dealt while `FOLDER/calm` is not there: answers of 500 and 503, connections that break before or after the
request took effect, answers that are slow or cut off. Prints the two addresses as JSON and serves until it is ended.
"""

import http.client
import json
import random
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.s3_server import S3Server
from tests.soak.stage import BUCKET

_FAULTS = ("error", "busy", "refused", "lost", "slow", "cut")
_CHANCE = 0.06
_KEPT = ("content-type", "etag", "last-modified", "content-range", "accept-ranges", "x-amz-request-id")


class Proxy(BaseHTTPRequestHandler):
    """Hands requests on, or does not."""

    protocol_version = "HTTP/1.1"
    moto: str
    calm: Path
    chance: random.Random
    dealt: dict[str, int]
    lock = threading.Lock()

    def do_GET(self) -> None:
        with self.lock:
            fault = self.chance.choice(_FAULTS) if self.chance.random() < _CHANCE else None
            fault = None if self.calm.exists() else fault
            if fault is not None:
                self.dealt[fault] = self.dealt.get(fault, 0) + 1
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault in ("error", "busy"):
            self._answer(500 if fault == "error" else 503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        if fault == "refused":
            self._break()
            return
        if fault == "slow":
            time.sleep(self.chance.uniform(0.1, 1.5))
        status, headers, content = self._forward(body)
        if fault == "lost":
            self._break()
        elif fault == "cut" and len(content) > 1 and self.command == "GET":
            self._answer(status, headers, content, short=len(content) // 2)
        else:
            self._answer(status, headers, content)

    do_PUT = do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(urlsplit(self.moto).netloc, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection",)}
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        content = answer.read()
        found = {name: value for name, value in answer.getheaders() if name.lower() in _KEPT}
        if self.command == "HEAD":
            found["Content-Length"] = answer.getheader("Content-Length") or "0"
        connection.close()
        return answer.status, found, content

    def _answer(self, status: int, headers: dict[str, str], content: bytes, *, short: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:short])
        if short is not None:
            self._break()

    def _break(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def handle(self) -> None:
        with suppress(OSError, ValueError):  # clients are killed, and we break connections ourselves
            super().handle()

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


def main(folder: str, seed: int) -> None:
    Proxy.moto = S3Server().url
    Proxy.calm = Path(folder) / "calm"
    Proxy.chance = random.Random(seed)
    Proxy.dealt = {}
    urllib.request.urlopen(urllib.request.Request(f"{Proxy.moto}/{BUCKET}", method="PUT")).close()
    server = _Server(("127.0.0.1", 0), Proxy)
    print(json.dumps({"moto": Proxy.moto, "proxy": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        time.sleep(1)
        (Path(folder) / "faults.json").write_text(json.dumps(Proxy.dealt))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""An S3 server on the loopback interface: moto, one request at a time.

Moto serves each request in a thread of its own, and looks for an object before it writes it: two conditional writes
that run side by side can both win, which S3 promises never happens.
"""

from collections.abc import Iterable
from threading import Lock, Thread
from typing import Any


class S3Server:
    """A server that runs in a thread of this process."""

    def __init__(self) -> None:
        from moto.moto_server.threaded_moto_server import MotoRequestHandler
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self._application = DomainDispatcherApplication(create_backend_app)
        self._turn = Lock()
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=MotoRequestHandler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._turn:
            return list(self._application(environ, start_response))

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()

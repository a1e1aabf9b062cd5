"""Events over HTTP, to anything that speaks OpenLineage's `POST /api/v1/lineage`."""

import gzip
import http.client
import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from headwater.errors import ConfigError
from headwater.events.event import Event, encode
from headwater.events.sinks.sink import Buffered, Refused

ENDPOINT = "/api/v1/lineage"
_WORTH_ANOTHER_TRY = (408, 425, 429)


class HttpSink(Buffered):
    """Posts each event over one kept-alive connection, from a thread of its own.
    `url` is the server's address; without a path the standard one is added. `api_key` (or the variable
    OPENLINEAGE_API_KEY) is sent as a bearer token and appears in no log and no error; `token` gives one for each
    event instead. A refusal (4xx) is final, an outage (5xx, no connection) is tried again with growing pauses."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 5.0,
        compress: bool = False,
        headers: Mapping[str, str] | None = None,
        token: Callable[[], str | None] | None = None,
        capacity: int = 10_000,
        retries: int = 5,
        pause: float = 0.2,
    ) -> None:
        super().__init__(capacity=capacity, batch=1, retries=retries, pause=pause)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"not an http(s) address for events: {parts.scheme}://{parts.hostname or ''}")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        path = parts.path if parts.path.strip("/") else ENDPOINT
        self._path = f"{path}?{parts.query}" if parts.query else path
        key = api_key or os.environ.get("OPENLINEAGE_API_KEY")
        self._token = token or (lambda: key)
        self._headers = {"Content-Type": "application/json"} | dict(headers or {})
        self._timeout, self._compress = timeout, compress
        self._connection: http.client.HTTPConnection | None = None

    def deliver(self, batch: Sequence[Event]) -> None:
        for event in batch:
            body = encode(event)
            if self._compress:
                body = gzip.compress(body, 1)
            self._post(body)

    def _post(self, body: bytes) -> None:
        try:
            if self._connection is None:
                if self._secure:
                    context = ssl.create_default_context()
                    self._connection = http.client.HTTPSConnection(
                        self._host, self._port, timeout=self._timeout, context=context
                    )
                else:
                    self._connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
            connection = self._connection
            headers = dict(self._headers)
            if self._compress:
                headers["Content-Encoding"] = "gzip"
            if token := self._token():
                headers["Authorization"] = f"Bearer {token}"
            connection.request("POST", self._path, body, headers)
            answer = connection.getresponse()
            text = answer.read(2000)
        except (OSError, http.client.HTTPException):
            self.release()
            raise
        if answer.will_close:
            self.release()
        if answer.status >= 500 or answer.status in _WORTH_ANOTHER_TRY:
            raise ConnectionError(f"{self._host} answered {answer.status} {answer.reason}")
        if answer.status >= 300:
            said = text.decode("utf-8", "replace").strip()[:200]
            raise Refused(f"{self._host} answered {answer.status} {answer.reason}: {said}")

    def release(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

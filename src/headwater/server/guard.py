"""Access control and limits: it stands before everything else the server does.
A server without a token answers this machine only, and only when it is called by a local name, so that no page of the
internet can reach it under a name of its own. With a token, programs send it as a bearer, and browsers get a cookie
for it that scripts cannot read and that other sites' requests do not carry. Requests that come from other sites are
refused in any case."""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.options import ServerOptions
from headwater.server.route import problem

_CLIENTS = 10_000  # remembered; the ones that were quiet longest are forgotten first
_BURST = 4.0  # seconds' worth of requests that may come at once
_QUERIES = ("/api/v1/sql", "/api/v1/why-row")


class Bucket:
    """A bucket for each client that fills at some rate, and from which every request takes one drop."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate * _BURST)
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level, when

    def take(self, client: str, now: float | None = None) -> float:
        """Take a drop: 0 when there was one, else the seconds until there is."""
        now = time.monotonic() if now is None else now
        level, since = self._levels.get(client, (self._most, now))
        level = min(self._most, level + (now - since) * self._rate)
        wait = 0.0 if level >= 1 else (1 - level) / self._rate
        self._levels[client] = (level - 1 if not wait else level, now)
        self._levels.move_to_end(client)
        if len(self._levels) > _CLIENTS:
            self._levels.popitem(last=False)
        return wait


COOKIE = "headwater"
LOGIN = "/login"
_OPEN = ("/healthz", LOGIN, "/assets/login.css")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """The middleware around the application."""

    def __init__(self, app: ASGIApp, options: ServerOptions) -> None:
        self._app = app
        self._options = options
        self._token = options.token.encode() if options.token is not None else None
        # a browser keeps this instead of the token itself
        self._cookie = hmac.new(self._token, b"headwater page", sha256).hexdigest() if self._token is not None else ""
        self.ending: Callable[[], None] = lambda: None  # called when the server is told to stop
        limits = options.limits
        self._buckets = {"events": Bucket(limits.events), "sql": Bucket(limits.queries), "": Bucket(limits.reads)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        response = self._refusal(scope, headers) or self._letting_in(scope, headers)
        if response is None:
            read = await self._read(scope, headers, receive)
            if isinstance(read, Response):
                response = read
            else:
                receive = read
        if response is not None:
            await response(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Why a request is not answered, whoever sent it."""
        host = headers.get("host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if self._token is None and name not in (*_LOCAL_NAMES, self._options.host):
            return problem(421, "usage", "this server answers this machine only, by the name localhost")
        path = scope["path"]
        if path.startswith("/api/") or scope["method"] not in ("GET", "HEAD"):
            origin = headers.get("origin")
            foreign = origin is not None and urlsplit(origin).netloc != host
            if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                return problem(403, "usage", "requests from other sites are not answered")
        kind = "events" if path.startswith("/api/v1/lineage") else "sql" if path in _QUERIES else ""
        wait = self._buckets[kind].take((scope.get("client") or ("", 0))[0])
        if wait:
            response = problem(429, "usage", "too many requests; slow down")
            response.headers["Retry-After"] = str(int(wait) + 1)
            return response
        return None

    def _letting_in(self, scope: Scope, headers: Headers) -> Response | None:
        """Return what somebody is told who has not shown the token."""
        if self._token is None or scope["path"] in _OPEN:
            return None
        given = headers.get("authorization", "")
        if given[:7].lower() == "bearer ":
            if hmac.compare_digest(given[7:].strip().encode(), self._token):
                return None
            return problem(401, "usage", "this is not the token")
        session = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if hmac.compare_digest(session.encode(), self._cookie.encode()):
            return None
        return self._by_address(scope) or self._asking(scope, headers)

    def _by_address(self, scope: Scope) -> Response | None:
        """An address with the token in it is exchanged for the cookie, and does not stay in the history."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = query.pop("token", [""])[0]
        if scope["method"] != "GET" or not self.is_token(given):
            return None
        rest = urlencode(query, doseq=True)
        return self.welcome(scope, scope["path"] + (f"?{rest}" if rest else ""))

    def _asking(self, scope: Scope, headers: Headers) -> Response:
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse(LOGIN, 303)
        response = problem(401, "usage", "a token is needed", hint="send it as `Authorization: Bearer …`")
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token)

    def welcome(self, scope: Scope, address: str) -> Response:
        """Send a browser on with its cookie."""
        safe = "/" + address.lstrip("/\\")  # never to another site
        response = RedirectResponse(safe, 303)
        secure = scope.get("scheme") == "https"
        response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="strict", secure=secure, path="/")
        return response

    async def _read(self, scope: Scope, headers: Headers, receive: Receive) -> Receive | Response:
        """The body of a request, whole, if it is not too large and comes in time."""
        if scope["method"] != "POST":
            return receive
        most = self._options.limits.body
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["path"] != LOGIN and kind != "application/json":
            return problem(415, "usage", "a body is sent as application/json")
        if headers.get("content-length", "0").isdecimal() and int(headers.get("content-length", "0")) > most:
            return _too_large(most)
        body = bytearray()
        try:
            with anyio.fail_after(self._options.limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return problem(400, "usage", "the request was given up")
                    body += message.get("body", b"")
                    if len(body) > most:
                        return _too_large(most)
                    if not message.get("more_body"):
                        return _replayed(bytes(body), receive)
        except TimeoutError:
            return problem(408, "time-limit", "the request came too slowly")


def _too_large(most: int) -> Response:
    return problem(413, "usage", f"a request may have {most:,} bytes")


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay

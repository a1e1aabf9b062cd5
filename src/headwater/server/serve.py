"""Running the server until it is told to stop."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from headwater.errors import UsageError
from headwater.server.guard import Guard
from headwater.server.options import ServerOptions

_HEADERS = 10.0  # seconds in which the head of a request must have come
_READING = 30.0  # seconds in which a client must read some of what it is sent
_CONNECTIONS = 500


class TimedProtocol(H11Protocol):
    """HTTP that hangs up on clients which take too long: to send a head, the first or a later one, or to read.
    uvicorn's own limit is for connections that are quiet between two requests; a single byte ends it."""

    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(_HEADERS)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the next head began to come during the response
            self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect(_READING)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._relax()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Give the head that has begun to come its time, once; a request that is read ends it."""
        cycle: Any = self.cycle  # None until a head was read
        if cycle is not None and not cycle.response_complete:
            if self.flow.write_paused:
                return
            self._relax()
        elif self._alarm is None:
            self._expect(_HEADERS)

    def _expect(self, seconds: float) -> None:
        self._relax()
        self._alarm = self.loop.call_later(seconds, self._hang_up)

    def _relax(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


class _Server(uvicorn.Server):
    """A server that ends the streams of open pages first, so that it does not wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        if isinstance(app, Guard):
            app.ending()
        super().handle_exit(sig, frame)


def serve_app(
    make: Callable[[], Guard], options: ServerOptions, started: Callable[[ServerOptions], None] = lambda options: None
) -> None:
    """Serve a guarded application, which is made when the address is taken, until interrupted.
    RAISES: UsageError when the address is not to be had."""
    taken = _bind(options)
    port = taken.getsockname()[1]
    config = uvicorn.Config(
        make(),
        http=TimedProtocol,
        loop="asyncio",
        ws="none",
        access_log=False,
        use_colors=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 << 10,
    )
    started(replace(options, port=port))
    with taken, suppress(KeyboardInterrupt):
        _Server(config).run(sockets=[taken])


def _bind(options: ServerOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((options.host, options.port))
        taken.listen(128)
    except OSError as err:
        taken.close()
        reason = err.strerror or str(err)
        hint = "another program has it; --port names another, --port 0 takes any"
        raise UsageError(f"cannot listen on {options.host} port {options.port}: {reason}", hint=hint) from err
    return taken

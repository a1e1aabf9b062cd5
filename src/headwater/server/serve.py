"""Running the server until it is told to stop."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from headwater.errors import UsageError
from headwater.server.app import Beside, create_app
from headwater.server.guard import Guard
from headwater.server.options import ServerOptions

_HEADERS = 10.0  # seconds in which the head of a request must have come
_CONNECTIONS = 500


class TimedProtocol(H11Protocol):
    """HTTP that hangs up on who opens a connection and sends nothing, or a head that never ends."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._alarm = self.loop.call_later(_HEADERS, self._too_late)

    def _too_late(self) -> None:
        waiting: object = self.cycle  # None until a head was read
        if waiting is None and not self.transport.is_closing():
            self.transport.close()


class _Server(uvicorn.Server):
    """A server that ends the streams of open pages first, so that it does not wait for them."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app = self.config.app
        if isinstance(app, Guard):
            app.ending()
        super().handle_exit(sig, frame)


def serve(
    options: ServerOptions, *beside: Beside, started: Callable[[ServerOptions], None] = lambda options: None
) -> None:
    """Serve until interrupted; `started` is told where, once the address is taken.

    RAISES: UsageError when the address is not to be had, NotWritableError.
    """
    taken = _bind(options)
    port = taken.getsockname()[1]
    config = uvicorn.Config(
        create_app(options, *beside),
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

"""News: who has the page open is told when the graph has a new state (server-sent events)."""

import logging
import time
from collections.abc import AsyncIterator, Callable

import anyio
from anyio.to_thread import run_sync

_EVERY = 1.0  # seconds between looks; other processes write too
_BEAT = 15.0  # seconds between signs of life, so that proxies keep the connection
log = logging.getLogger("headwater.server")


class Live:
    """Watches the number of the latest state while somebody listens; one look serves all."""

    def __init__(self, latest: Callable[[], int], *, most: int = 100) -> None:
        self._latest = latest
        self._most = most
        self._listeners = 0
        self._closed = False
        self._number, self._looked = -1, float("-inf")

    @property
    def is_full(self) -> bool:
        return self._listeners >= self._most

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self._closed = True

    async def stream(self) -> AsyncIterator[bytes]:
        """The states as they come, the present one first."""
        self._listeners += 1
        try:
            seen, quiet = -1, 0.0
            while not self._closed:
                number = await self._look()
                if number not in (seen, -1):
                    seen, quiet = number, 0.0
                    yield f"event: state\ndata: {number}\n\n".encode()
                elif quiet >= _BEAT:
                    quiet = 0.0
                    yield b": still here\n\n"
                await anyio.sleep(_EVERY)
                quiet += _EVERY
        finally:
            self._listeners -= 1

    async def _look(self) -> int:
        if time.monotonic() - self._looked >= _EVERY / 2:
            self._looked = time.monotonic()
            try:
                self._number = await run_sync(self._latest)
            except Exception:  # a store that is away for a moment is no reason to end the page's connection
                log.exception("The latest state could not be read.")
        return self._number

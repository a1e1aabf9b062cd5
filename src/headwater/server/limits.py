"""How often one client may ask."""

import time
from collections import OrderedDict

_CLIENTS = 10_000  # remembered; the ones that were quiet longest are forgotten first
_BURST = 4.0  # seconds' worth of requests that may come at once


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

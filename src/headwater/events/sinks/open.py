"""A sink from one line of text, for command lines and configuration."""

from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from headwater.errors import ConfigError
from headwater.events.sinks.http import HttpSink
from headwater.events.sinks.local import CompositeSink, ConsoleSink, FileSink
from headwater.events.sinks.sink import Sink
from headwater.events.sinks.transport import TransportSink
from headwater.text import nearest

GROUP = "headwater.sinks"
"""Entry points of this group add sinks: `name` there is what stands before the colon, its value a function of the
rest. The lake's own sink comes this way too."""

_KNOWN = ("console", "file", "http", "https", "openlineage")


def open_sink(text: str) -> Sink:
    """The sink that a text names; several, separated by commas, get every event.
    `console` · `file:events.ndjson` · `http://host:5000` · `lake:warehouse` · `openlineage:{"type": "kafka", …}`
    RAISES: ConfigError for one that does not exist or cannot be opened."""
    if text.startswith("openlineage:"):
        try:
            config = msgspec.json.decode(text.removeprefix("openlineage:"), type=dict)
        except msgspec.DecodeError as error:
            raise ConfigError(f"After `openlineage:` comes a JSON object: {error}.") from error
        return TransportSink(config)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ConfigError("No place for events is given.", hint="For example: file:events.ndjson")
    sinks = [_one(part) for part in parts]
    return sinks[0] if len(sinks) == 1 else CompositeSink(*sinks)


def _one(text: str) -> Sink:
    kind, _, rest = text.partition(":")
    if kind == "console" and not rest:
        return ConsoleSink()
    if kind == "file" and rest:
        return FileSink(Path(rest.removeprefix("//")))
    if kind in ("http", "https"):
        return HttpSink(text)
    for point in entry_points(group=GROUP, name=kind):
        sink: Sink = point.load()(rest)
        return sink
    known = [*_KNOWN, *entry_points(group=GROUP).names]
    close = nearest(kind, known)
    raise ConfigError(
        f"There is no place for events called {kind!r}.",  # what follows may hold a password
        hint=f"Did you mean {close}?" if close else f"One of: {', '.join(known)}; a file is file:PATH.",
    )

"""A sink from one line of text, for command lines and configuration."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

from headwater.errors import ConfigError
from headwater.events.sinks.http import ENDPOINT, HttpSink
from headwater.events.sinks.jwt import JwtToken
from headwater.events.sinks.local import CompositeSink, ConsoleSink, FileSink
from headwater.events.sinks.sink import Sink
from headwater.events.sinks.transport import TransportSink
from headwater.text import nearest

GROUP = "headwater.sinks"
"""Entry points of this group add sinks: `name` there is what stands before the colon, its value a function of the
rest. The lake's own sink comes this way too."""


def open_sink(text: str) -> Sink:
    """The sink that a text names; several, separated by commas, get every event.
    `console` · `file:events.ndjson` · `http://host:5000` · `lake:warehouse` · `openlineage:{"type": "kafka", …}`
    RAISES: ConfigError for one that does not exist or cannot be opened."""
    if text.startswith("openlineage:"):  # JSON has commas of its own
        return _one(text)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ConfigError("no place for events is given", hint="for example: file:events.ndjson")
    sinks = [_one(part) for part in parts]
    return sinks[0] if len(sinks) == 1 else CompositeSink(*sinks)


def open_transport(config: Mapping[str, Any]) -> Sink:
    """The sink that a transport of OpenLineage's settings is: `{"type": "http", "url": …}`.

    What is not among ours goes to the OpenLineage client for Python, if that is installed.
    RAISES: ConfigError, MissingDependencyError."""
    kind = str(config.get("type", "console"))
    known = TRANSPORTS.get(kind)
    return known(config) if known is not None else TransportSink({**config, "type": kind})


def _one(text: str) -> Sink:
    kind, _, rest = text.partition(":")
    if kind in SINKS:
        return SINKS[kind](rest)
    for point in entry_points(group=GROUP, name=kind):
        sink: Sink = point.load()(rest)
        return sink
    known = [*SINKS, *entry_points(group=GROUP).names]
    close = nearest(kind, known)
    raise ConfigError(
        f"there is no place for events called {kind!r}",  # what follows may hold a password
        hint=f"Did you mean {close}?" if close else f"One of: {', '.join(known)}; a file is file:PATH.",
    )


def _console(rest: str) -> ConsoleSink:
    if rest:
        raise ConfigError("nothing can follow `console`", hint="a file is file:PATH")
    return ConsoleSink()


def _file(rest: str) -> FileSink:
    if not rest:
        raise ConfigError("`file` needs a path", hint="for example: file:events.ndjson")
    return FileSink(Path(rest.removeprefix("//")))


def _openlineage(rest: str) -> TransportSink:
    try:
        return TransportSink(msgspec.json.decode(rest, type=dict))
    except msgspec.DecodeError as error:
        raise ConfigError(f"after `openlineage:` comes a JSON object: {error}") from error


def _file_transport(config: Mapping[str, Any]) -> FileSink:
    location = config.get("location") or config.get("log_file_path") or config.get("logFilePath")
    if not location:
        raise ConfigError("OpenLineage's transport `file` needs a location")
    return FileSink(Path(str(location)))


def _composite(config: Mapping[str, Any]) -> CompositeSink:
    given = config.get("transports") or []
    return CompositeSink(*map(open_transport, given.values() if isinstance(given, dict) else given))


def _transform(config: Mapping[str, Any]) -> Sink:
    if "." in str(config.get("transformerClass", config.get("transformClass", ""))):
        raise ConfigError(
            "OpenLineage's transport `transform` names a Java class, which does not run in Python",
            hint="name its inner transport outright; datasets are renamed by `dataset.namespaceResolvers`",
        )
    return TransportSink(dict(config))


def _only_java(config: Mapping[str, Any]) -> Sink:
    raise ConfigError(
        f"OpenLineage's transport `{config['type']}` is in Java alone", hint="one of: console, file, http, kafka"
    )


def _http(config: Mapping[str, Any]) -> HttpSink:
    url, auth = str(config.get("url", "")), config.get("auth") or {}
    endpoint, parameters = config.get("endpoint"), config.get("urlParams") or {}
    if endpoint:
        url = f"{url.rstrip('/')}/{str(endpoint).lstrip('/')}"
    elif parameters and not urlsplit(url).path.strip("/"):
        url = url.rstrip("/") + ENDPOINT
    if parameters:
        url += f"?{urlencode(parameters)}"
    key = auth.get("apiKey") or auth.get("api_key") or auth.get("apikey")
    milliseconds = config.get("timeoutInMillis")
    return HttpSink(
        url,
        api_key=None if key is None or auth.get("type") == "jwt" else str(key),
        timeout=float(milliseconds) / 1000 if milliseconds is not None else float(config.get("timeout", 5.0)),
        compress=config.get("compression") == "gzip",
        headers=config.get("headers") or config.get("custom_headers") or config.get("customHeaders"),
        token=JwtToken(auth) if auth.get("type") == "jwt" else None,
    )


def _kafka(config: Mapping[str, Any]) -> dict[str, Any]:
    """The transport in the words of the Python client; what only Java's producer knows is left out."""
    given = config.get("properties") or config.get("config") or {}
    found = {
        "type": "kafka",
        "topic": config.get("topicName") or config.get("topic"),
        "config": {name: value for name, value in given.items() if not name.endswith(".serializer")},
        "messageKey": config.get("messageKey") or config.get("localServerId"),
    }
    return {name: value for name, value in found.items() if value is not None}


SINKS: dict[str, Callable[[str], Sink]] = {
    "console": _console,
    "file": _file,
    "http": lambda rest: HttpSink(f"http:{rest}"),
    "https": lambda rest: HttpSink(f"https:{rest}"),
    "openlineage": _openlineage,
}
"""Sinks by what stands before the colon; each takes the rest."""

TRANSPORTS: dict[str, Callable[[Mapping[str, Any]], Sink]] = {
    "console": lambda config: ConsoleSink(),
    "noop": lambda config: CompositeSink(),
    "file": _file_transport,
    "http": _http,
    "async_http": _http,
    "composite": _composite,
    "kafka": lambda config: TransportSink(_kafka(config)),
    "transform": _transform,
    **dict.fromkeys(("s3", "gcs", "kinesis", "dataplex"), _only_java),
}
"""Sinks by the type of a transport in OpenLineage's settings; each takes its configuration."""

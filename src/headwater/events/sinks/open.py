"""A sink from one line of text, for command lines and configuration."""

from collections.abc import Mapping
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

_KNOWN = ("console", "file", "http", "https", "openlineage")


def open_sink(text: str) -> Sink:
    """The sink that a text names; several, separated by commas, get every event.
    `console` · `file:events.ndjson` · `http://host:5000` · `lake:warehouse` · `openlineage:{"type": "kafka", …}`
    RAISES: ConfigError for one that does not exist or cannot be opened."""
    if text.startswith("openlineage:"):
        try:
            config = msgspec.json.decode(text.removeprefix("openlineage:"), type=dict)
        except msgspec.DecodeError as error:
            raise ConfigError(f"after `openlineage:` comes a JSON object: {error}") from error
        return TransportSink(config)
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise ConfigError("no place for events is given", hint="for example: file:events.ndjson")
    sinks = [_one(part) for part in parts]
    return sinks[0] if len(sinks) == 1 else CompositeSink(*sinks)


def open_transport(config: Mapping[str, Any]) -> Sink:
    """The sink that a transport of OpenLineage's settings is: `{"type": "http", "url": …}`.

    What is not among ours goes to the OpenLineage client for Python, if that is installed.
    RAISES: ConfigError, MissingDependencyError."""
    kind = config.get("type", "console")
    match kind:
        case "console":
            return ConsoleSink()
        case "noop":
            return CompositeSink()
        case "file":
            location = config.get("location") or config.get("log_file_path") or config.get("logFilePath")
            if not location:
                raise ConfigError("OpenLineage's transport `file` needs a location")
            return FileSink(Path(str(location)))
        case "http" | "async_http":
            return _http(config)
        case "composite":
            given = config.get("transports") or []
            return CompositeSink(*map(open_transport, given.values() if isinstance(given, dict) else given))
        case "kafka":
            return TransportSink(_kafka(config))
        case "transform" if "." in str(config.get("transformerClass", config.get("transformClass", ""))):
            raise ConfigError(
                "OpenLineage's transport `transform` names a Java class, which does not run in Python",
                hint="name its inner transport outright; datasets are renamed by `dataset.namespaceResolvers`",
            )
        case "s3" | "gcs" | "kinesis" | "dataplex":
            raise ConfigError(
                f"OpenLineage's transport `{kind}` is in Java alone", hint="one of: console, file, http, kafka"
            )
    return TransportSink({**config, "type": str(kind)})


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
        f"there is no place for events called {kind!r}",  # what follows may hold a password
        hint=f"Did you mean {close}?" if close else f"One of: {', '.join(known)}; a file is file:PATH.",
    )

"""The sinks of events: terminal, file, HTTP, a transport of the OpenLineage client, several of them."""

from headwater.events.sinks.http import HttpSink
from headwater.events.sinks.local import CompositeSink, ConsoleSink, FileSink
from headwater.events.sinks.open import open_sink, open_transport
from headwater.events.sinks.sink import Buffered, Delivery, Refused, Sink
from headwater.events.sinks.transport import TransportSink

__all__ = [
    "Buffered",
    "CompositeSink",
    "ConsoleSink",
    "Delivery",
    "FileSink",
    "HttpSink",
    "Refused",
    "Sink",
    "TransportSink",
    "open_sink",
    "open_transport",
]

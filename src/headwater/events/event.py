"""OpenLineage events, written and read.
`RunEvent` says what a run does (it starts, completes, fails); `JobEvent` and `DatasetEvent` say what is known without
a run. `encode` gives the JSON of one event, `decode` reads any event of any producer, `read_events` a file with one
event a line."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeAlias

import msgspec

from headwater.errors import EventError
from headwater.events.facet import PRODUCER, SPEC, Facets
from headwater.text import Source

_EVENTS = f"{SPEC}/2-0-2/OpenLineage.json#/$defs"
MOST_BYTES = 64 << 20
"""An event longer than this is refused before it is read."""


class EventType(Enum):
    """The state of a run: it begins, goes on, or has ended."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    ABORT = "ABORT"
    FAIL = "FAIL"
    OTHER = "OTHER"

    @property
    def is_final(self) -> bool:
        return self in (EventType.COMPLETE, EventType.ABORT, EventType.FAIL)


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class Dataset(_Struct, frozen=True, kw_only=True):
    """A dataset by its namespace (where it lives) and its name there."""

    namespace: str
    name: str
    facets: Facets = {}


class InputDataset(Dataset, frozen=True, kw_only=True):
    input_facets: Facets = {}


class OutputDataset(Dataset, frozen=True, kw_only=True):
    output_facets: Facets = {}


class Job(_Struct, frozen=True, kw_only=True):
    """A program that runs again and again under one name."""

    namespace: str
    name: str
    facets: Facets = {}


class Run(_Struct, frozen=True, kw_only=True):
    """One execution of a job."""

    run_id: str
    facets: Facets = {}


def _url(kind: str) -> Any:
    return msgspec.field(name="schemaURL", default_factory=lambda: f"{_EVENTS}/{kind}")


class _Event(_Struct, frozen=True, kw_only=True):
    event_time: str = msgspec.field(default_factory=lambda: timestamp())
    producer: str = msgspec.field(default_factory=lambda: PRODUCER)


class RunEvent(_Event, frozen=True, kw_only=True):
    """Something happened to a run."""

    schema_url: str = _url("RunEvent")
    event_type: EventType | None = None
    run: Run
    job: Job
    inputs: tuple[InputDataset, ...] = ()
    outputs: tuple[OutputDataset, ...] = ()


class JobEvent(_Event, frozen=True, kw_only=True):
    """The inputs and outputs of a job by design, whether or not it ever ran."""

    schema_url: str = _url("JobEvent")
    job: Job
    inputs: tuple[InputDataset, ...] = ()
    outputs: tuple[OutputDataset, ...] = ()


class DatasetEvent(_Event, frozen=True, kw_only=True):
    """The facts about a dataset by itself."""

    schema_url: str = _url("DatasetEvent")
    dataset: Dataset


Event: TypeAlias = RunEvent | JobEvent | DatasetEvent

_ENCODER = msgspec.json.Encoder()
_READERS: dict[str, msgspec.json.Decoder[Any]] = {
    kind.__name__: msgspec.json.Decoder(kind) for kind in (RunEvent, JobEvent, DatasetEvent)
}


class _Shape(msgspec.Struct, frozen=True):
    """Just enough of an event to know which kind it is."""

    run: msgspec.Raw = msgspec.Raw()
    job: msgspec.Raw = msgspec.Raw()
    dataset: msgspec.Raw = msgspec.Raw()


_SHAPE = msgspec.json.Decoder(_Shape)


def timestamp(at: datetime | None = None) -> str:
    """A moment (default: now) as OpenLineage writes it, in UTC."""
    moment = (at or datetime.now(UTC)).astimezone(UTC)
    return moment.isoformat().replace("+00:00", "Z")


def new_run_id() -> str:
    """A fresh run id, ordered by time (UUID version 7, as OpenLineage asks for)."""
    milliseconds = int(datetime.now(UTC).timestamp() * 1000)
    random = uuid.uuid4().int
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 7 << 76 | (random >> 64 & 0xFFF) << 64
    return str(uuid.UUID(int=value | 2 << 62 | random & ((1 << 62) - 1)))


def encode(event: Event) -> bytes:
    """The event as one line of JSON."""
    return _ENCODER.encode(event)


def decode(data: bytes | str) -> Event:
    """An event from its JSON; facets stay as they came and are typed by `find_facet`.
    RAISES: EventError when it is not JSON, not an event, or a required field is missing or of the wrong type."""
    if len(data) > MOST_BYTES:
        raise EventError(f"the event is {len(data):,} bytes long; the most that is read is {MOST_BYTES:,}")
    try:
        shape = _SHAPE.decode(data)
        if bytes(shape.dataset):
            kind = "DatasetEvent"
        elif not bytes(shape.job):
            raise EventError(
                "this JSON is not an OpenLineage event: it has neither `job` nor `dataset`",
                hint="an event has `run` and `job`, or `job`, or `dataset`",
            )
        else:
            kind = "RunEvent" if bytes(shape.run) else "JobEvent"
        event: Event = _READERS[kind].decode(data)
    except msgspec.ValidationError as error:
        raise EventError(f"this is not a well-formed OpenLineage event: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EventError(f"this is not JSON: {error}") from error
    except RecursionError as error:
        raise EventError("the event is nested too deeply to be read") from error
    return _checked(event)


def _checked(event: Event) -> Event:
    try:
        datetime.fromisoformat(event.event_time)
    except ValueError as error:
        raise EventError(f"`eventTime` is not a date and time: {event.event_time!r}") from error
    if isinstance(event, RunEvent):
        try:
            uuid.UUID(event.run.run_id)
        except ValueError as error:
            raise EventError(f"`run.runId` is not a UUID: {event.run.run_id!r}") from error
    return event


def read_events(
    lines: Iterable[bytes],
    name: str,
    *,
    first: int = 1,
    expand: Callable[[bytes], Iterable[bytes]] = lambda line: (line,),
) -> Iterator[Event | EventError]:
    """The events of an ndjson file, in order. A line that is no event comes as the error that says where and why, so
    that one bad line does not lose the others. `first` is the number of the first line, `expand` gives the lines that
    one stands for."""
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            yield from [decode(each) for each in expand(line)]
        except EventError as error:
            yield EventError(error.message, hint=error.hint, source=Source("", f"{name}:{number}"))

"""Events from what a listener in Java has written down of a run: the same visitors and rules as beside a live Spark.

A run is one JSON object, posted or in a line of a spool file:

    {"application": {"name", "id", "user", "version", "run", "time", "conf": {…}}, "run": uuid,
     "happenings": [{"kind": "start", "id", "root", …, "plan": {…}, "live": {node: object}, "session": object},
                    {"kind": "end", …, "measures": […], "live": {…}, "session": object}]}

`happenings` are as in bridge.py. The same object gives the same run ids again.
"""

import dataclasses
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import EventError, HeadwaterError
from headwater.events.event import EventType, RunEvent, encode
from headwater.events.settings import gather
from headwater.spark.agent.application import Application
from headwater.spark.agent.bridge import Happening
from headwater.spark.agent.options import read_options
from headwater.spark.agent.recorded import RecordedExecution
from headwater.spark.agent.settings import agent_settings
from headwater.spark.agent.tracker import Tracker

_HAPPENING = frozenset(Happening.__dataclass_fields__)
_WHOLE = {"begin": EventType.START, "stop": EventType.COMPLETE}


def replayed_lines(line: bytes) -> list[bytes]:
    """The events of a run that was written down, one a line. RAISES: EventError when it has another form."""
    return [encode(event) for event in replay(line)]


def replay(line: bytes) -> list[RunEvent]:
    """The events of a run that was written down. RAISES: EventError when it has another form."""
    try:
        said = msgspec.json.decode(line)
        return list(_replayed(said))
    except msgspec.DecodeError as err:
        raise EventError(f"this is not JSON: {err}") from err
    except (HeadwaterError, KeyError, TypeError, AttributeError, ValueError) as err:
        raise EventError(f"this is not a run that a listener wrote down: {type(err).__name__}: {err}") from err


def _replayed(said: dict[str, Any]) -> Iterator[RunEvent]:
    about = said["application"]
    conf = {str(name): str(value) for name, value in about.get("conf", {}).items()}
    settings = agent_settings(gather(conf, {}, Path("/")))
    options = read_options(conf.get, settings.options | {"application_run": about["run"]})
    application = Application.made(about, conf, options)
    events: list[RunEvent] = []
    tracker = Tracker(None, application, events.append)
    executions: dict[int, RecordedExecution] = {}
    session: dict[str, Any] = {}
    for note in said["happenings"]:
        happening = msgspec.convert({name: note[name] for name in note if name in _HAPPENING}, Happening)
        if happening.kind == "start" and happening.id == happening.root:
            tracker.context_of(happening.id, happening.root).run_id = said["run"]
        if happening.kind in _WHOLE:
            events.append(tracker.events.build_application(_WHOLE[happening.kind], time=happening.time))
        else:
            execution = executions.setdefault(happening.id, RecordedExecution(session)).take(note)
            known = execution if execution.is_known else None
            tracker.handle(happening, partial(_itself, known))
    rewrite = dataclasses.replace(settings.rewrite, trimmers=options.trimmed)
    yield from (sent for event in events if isinstance(sent := rewrite.apply(event), RunEvent))


def _itself(execution: RecordedExecution | None) -> RecordedExecution | None:
    return execution

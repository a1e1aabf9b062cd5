"""The bridge that brings the events of Spark to Python.

The agent's listener runs on a queue of Spark's own (`Bridge.java`, compiled by Spark's compiler) and only notes what
happened; Python asks for it when it has time. No Python runs on Spark's threads, so nothing the agent does can hold a
job up, and no callback server is needed. A happening is a JSON object:

    {"kind": "start", "id": 7, "root": 5, "time": ms, "key": 12, "run": of a stream}     an execution began
    {"kind": "end", "id": 7, "time": ms, "error": text, "trace": text, "key": 13,        it ended
     "name": "collect", "jobs": 2, "rows": 7, "bytes": 750, "job": {…}, "measures": […]} … its action and tasks
    {"kind": "job", "id": 3, "name": "saveAsTextFile at …", "key": 14} · "job end"       work on RDDs, outside of SQL
    {"kind": "stream", "run": uuid, "time": ms, "name": text} · "stream end"             a streaming query
    {"kind": "stop"}                                                                     the application ends

`key` fetches the object that came with it: the QueryExecution, the job. An execution has none when there is no plan
to read: its analysis failed, or it hands out the result of a command that has run before. `rows` and `bytes` are what
its tasks say they have written.

Where Spark cannot compile (`PythonBridge`), a Python object listens over Py4J: every event of Spark then costs a call
into Python, so jobs of very many tasks feel it.
"""

import dataclasses
import os
import queue
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started

from headwater.errors import EngineError, MissingDependencyError
from headwater.spark.agent.measures import Measure, measures_of
from headwater.spark.agent.scala import class_name, option
from headwater.spark.janino import java_source, load_class, new_instance

QUEUE = "headwater"


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened."""

    kind: str
    id: int = 0
    root: int = 0
    time: int = 0
    key: int = 0
    run: str | None = None
    name: str | None = None
    error: str | None = None
    trace: str | None = None
    job: dict[str, str | int] | None = None  # the first job of an execution
    jobs: int | None = None
    rows: int = 0
    bytes: int = 0
    measures: list[Measure] | None = None  # None: nobody has measured yet
    unmeasured: str | None = None  # why they are not known
    session_id: str | None = None


_DECODER = msgspec.json.Decoder(Happening)


def attach(context: SparkContext, *, capacity: int, patience: float) -> "Bridge":
    """Begin to listen to everything that a Spark runs."""
    try:
        return JvmBridge(context, capacity, patience)
    except (MissingDependencyError, EngineError):
        return PythonBridge(context, capacity)


def listener_bus(context: SparkContext) -> Any:
    """Spark's own bus of events."""
    return context._jsc.sc().listenerBus()


class JvmBridge:
    """The listener that Spark compiles."""

    def __init__(self, context: SparkContext, capacity: int, patience: float) -> None:
        source = java_source(__package__, "Bridge")
        self._listener = new_instance(load_class(context, source, "headwater.agent.Bridge"), context)
        self._listener.open(context._jsc.sc(), capacity, int(patience * 1000), os.getpid(), measures_of(context))
        self._bus = listener_bus(context)
        self._bus.addToQueue(self._listener, QUEUE)

    def poll(self, seconds: float) -> Happening | None:
        """The next happening, waiting for it; None when there is none in that time."""
        text = self._listener.poll(int(seconds * 1000))
        return None if text is None else _DECODER.decode(text)

    def take(self, happening: Happening) -> Any:
        """The object in the JVM that came with the last happening; given once."""
        return self._listener.take(happening.key) if happening.key else None

    def waiting(self) -> int:
        """Return how many happenings have not been asked for yet."""
        return int(self._listener.size())

    def accepted(self) -> int:
        """Return how many there have been so far, those that were forgotten not counted."""
        return int(self._listener.accepted())

    def lost(self) -> int:
        """Return how many were forgotten because too many were waiting."""
        return int(self._listener.lost())

    def finish(self) -> None:
        """Let the end of the application go on."""
        self._listener.finish()

    def detach(self) -> None:
        """Stop listening."""
        self._bus.removeListener(self._listener)


class PythonBridge:
    """The listener in Python, for a Spark that cannot compile."""

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)

    def __init__(self, context: SparkContext, capacity: int) -> None:
        ensure_callback_server_started(context._gateway)  # type: ignore[no-untyped-call]
        jvm: Any = context._jvm
        self._executions = jvm.org.apache.spark.sql.execution.SQLExecution
        self._queue: queue.Queue[tuple[Happening, Any]] = queue.Queue(capacity)
        self._held: dict[int, Any] = {}
        self._lost = self._accepted = self._next = 0
        self._bus = listener_bus(context)
        # Py4J gives this object a new proxy in every call, and the bus takes off only the proxy that it was given
        arguments = context._gateway.new_array(jvm.Object, 2)  # type: ignore[union-attr]
        jvm.java.lang.reflect.Array.set(arguments, 0, self)
        arguments[1] = QUEUE
        self._call_bus("addToQueue", arguments)
        self._listener = jvm.java.util.Arrays.copyOf(arguments, 1)

    def _call_bus(self, name: str, arguments: Any) -> None:
        method = next(each for each in self._bus.getClass().getMethods() if each.getName() == name)
        method.invoke(self._bus, arguments)

    def __getattr__(self, name: str) -> Any:
        """Every other callback of the interface: nothing to do."""
        if not name.startswith("on"):
            raise AttributeError(name)
        return lambda *event: None

    def onOtherEvent(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        match class_name(event):
            case "SparkListenerSQLExecutionStart":
                root = option(event.rootExecutionId())
                id = int(event.executionId())
                started = Happening("start", id, id if root is None else int(root), int(event.time()))
                self._offer(started, _readable(self._executions.getQueryExecution(id)))
            case "SparkListenerSQLExecutionEnd":
                error = option(event.errorMessage()) or None
                ended = Happening("end", int(event.executionId()), time=int(event.time()), error=error)
                self._offer(ended, _readable(event.qe()))

    def onApplicationEnd(self, event: Any) -> None:  # noqa: N802
        self._offer(Happening("stop", time=int(event.time())), None)

    def _offer(self, happening: Happening, object: Any) -> None:
        try:
            self._queue.put_nowait((happening, object))
            self._accepted += 1
        except queue.Full:
            self._lost += 1

    def poll(self, seconds: float) -> Happening | None:
        try:
            happening, object = self._queue.get(timeout=seconds)
        except queue.Empty:
            return None
        self._next += 1
        if object is not None:
            self._held[self._next] = object
        return dataclasses.replace(happening, key=self._next if object is not None else 0)

    def take(self, happening: Happening) -> Any:
        return self._held.pop(happening.key, None)

    def waiting(self) -> int:
        return self._queue.qsize()

    def accepted(self) -> int:
        return self._accepted

    def lost(self) -> int:
        return self._lost

    def finish(self) -> None:
        return

    def detach(self) -> None:
        self._call_bus("removeListener", self._listener)


def _readable(execution: Any) -> Any:
    """An execution that has a plan to read, else None."""
    try:
        return None if class_name(execution.commandExecuted()) == "CommandResult" else execution
    except Exception:  # there is none, or its analysis failed
        return None


Bridge: TypeAlias = JvmBridge | PythonBridge
"""Where happenings come from."""

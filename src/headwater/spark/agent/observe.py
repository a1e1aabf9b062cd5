"""`observe`: the one line that makes a Spark report what it does."""

import atexit
import dataclasses
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn

from pyspark import SparkContext

from headwater.errors import UsageError
from headwater.events.settings import gather
from headwater.events.sinks.local import CompositeSink
from headwater.events.sinks.open import open_sink, open_transport
from headwater.events.sinks.sink import Delivery, Sink
from headwater.spark.agent.application import Application
from headwater.spark.agent.bridge import attach, listener_bus
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.options import PREFIX, AgentOptions, read_options
from headwater.spark.agent.origins import hook_origins
from headwater.spark.agent.settings import AgentSettings, agent_settings
from headwater.spark.agent.tracker import Tracker
from headwater.spark.agent.worker import AgentCounts, Worker
from headwater.spark.source.origin import set_origin_of

log = logging.getLogger("headwater.spark")

_LEAVING_SECONDS = 3.0  # what a process that is told to end at once may still take

_agents: dict[int, "Agent"] = {}
_lock = threading.Lock()


class Agent(AbstractContextManager["Agent"]):
    """Watches one Spark application until it ends or `stop` is called. Can be used in a `with` statement."""

    def __init__(
        self, context: SparkContext, sink: Sink, options: AgentOptions, settings: AgentSettings | None = None
    ) -> None:
        rewrite = dataclasses.replace((settings or AgentSettings()).rewrite, trimmers=options.trimmed)
        self.options = options
        self._context, self._sink = context, sink
        self._bus: Any = listener_bus(context)
        application = Application.of(context, options)
        bridge = attach(context, capacity=options.queue, patience=options.flush_seconds)
        self._worker = Worker(
            bridge,
            sink,
            options,
            lambda emit: Tracker(context, application, emit),
            rewrite=rewrite.apply,
            free_memory=lambda: _free_memory(context),
        )
        self._delivery: Delivery | None = None
        self._worker.start()
        hook_origins(context, self._worker.tracker)
        atexit.register(self._at_exit)

    @property
    def counts(self) -> AgentCounts:
        """Return what the agent has done so far."""
        return self._worker.counts

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything that has happened so far is reported and delivered."""
        limit = self.options.flush_seconds if timeout is None else timeout
        deadline = time.monotonic() + limit
        try:
            self._bus.waitUntilEmpty(max(1, int(limit * 1000)))
        except Exception:  # Spark has stopped, or is still busy: what is here already can be delivered
            log.debug("Spark's events did not come to rest.", exc_info=True)
        drained = self._worker.drain(max(0.0, deadline - time.monotonic()))
        return self._sink.flush(max(0.1, deadline - time.monotonic())) and drained

    def stop(self) -> Delivery:
        """Report what has happened so far, then take the listener off; the Spark goes on. Doing it twice is fine."""
        if self._delivery is None:
            self.flush(self._worker.left())
            self._worker.say_end()
            set_origin_of(None)
            self._delivery = self._worker.close()
            atexit.unregister(self._at_exit)
            _agents.pop(id(self._context), None)
            lost = self.counts.lost + self.counts.failed + self.counts.skipped
            if lost or self._delivery.lost:
                log.warning("Lineage is not complete: %s; %s.", self.counts, self._delivery)
        return self._delivery

    def on_run(self, call: Callable[[SparkSQLExecutionContext], None]) -> None:
        """Call a function with every run that has ended, on the agent's thread."""
        self._worker.tracker.on_run = call

    def fail(self, error: str) -> None:
        """Note why the application fails, for the event of its end."""
        self._worker.error = error

    def leave(self, error: str | None) -> None:
        """Report in a few seconds what has ended, because the process ends without its exit handlers."""
        self._worker.left(most=_LEAVING_SECONDS)
        if error is not None:
            self.fail(error)
        self._at_exit()

    def _at_exit(self) -> None:
        try:
            self.stop()
        except Exception:  # nothing of ours may change how a job ends
            log.debug("The agent did not end in order.", exc_info=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(f"{type(error).__name__}: {error}")
        self.stop()


def observe(spark: Any = None, sink: Sink | str | None = None, **options: Any) -> Agent:
    """Report everything that a Spark application reads and writes, from now on.

    `spark` is a session (default: the active one); other sessions of the same application are seen too. `sink` is
    where events go, as an object or as text (`file:events.ndjson`, `http://host:5000`, `console`; default: Spark's
    setting `spark.headwater.sink`, else OpenLineage's transport, else the console). Other arguments are those of
    `AgentOptions`; those that are not given are looked for among OpenLineage's settings.

    Observing a second time replaces the first agent.

    RAISES: UsageError when there is no Spark in this process, ConfigError for options that do not exist.
    """
    context = _context_of(spark)

    conf = {str(name): str(value) for name, value in context.getConf().getAll()}
    settings = agent_settings(gather(conf, os.environ, Path.cwd()))
    for one in settings.unheard:
        log.warning("OpenLineage's setting has no effect: %s.", one)
    chosen = read_options(conf.get, settings.options, **options)
    target = _target(sink or conf.get(f"{PREFIX}sink"), settings)
    with _lock:
        before = _agents.get(id(context))
        if before is not None:
            before.stop()
        agent = _agents[id(context)] = Agent(context, target, chosen, settings)
    _watch_the_end()
    return agent


def _target(sink: Sink | str | None, settings: AgentSettings) -> Sink:
    """Return where events go; nowhere when OpenLineage is disabled."""
    if settings.disabled:
        return CompositeSink()
    if isinstance(sink, Sink):
        return sink
    if sink is None and settings.transport is not None:
        return open_transport(settings.transport)
    return open_sink(sink or "console")


def _free_memory(context: SparkContext) -> float:
    """Return how much of the JVM's memory is free, in percent."""
    jvm: Any = context._jvm
    runtime = jvm.java.lang.Runtime.getRuntime()
    most = runtime.maxMemory()
    return 100.0 * float(most - runtime.totalMemory() + runtime.freeMemory()) / float(most)


def _context_of(spark: Any) -> SparkContext:
    """The SparkContext behind a session; that of a local Spark Connect server lives in this process, too."""
    context = getattr(spark, "_sc", None) or SparkContext._active_spark_context
    if isinstance(context, SparkContext) and context._jsc is not None:
        return context
    raise UsageError(
        "there is no Spark in this process to observe",
        hint="with Spark Connect, observe the server; for a classic session, create it first",
    )


def note_failure(error: str) -> None:
    """Tell every agent why the program fails."""
    for agent in list(_agents.values()):
        agent.fail(error)


_watching = False


def _watch_the_end() -> None:
    """Report how this process ends, if by an exception, SIGTERM or `os._exit`; it ends as it would have ended."""
    global _watching
    if _watching:
        return
    _watching = True
    failed, leave, process = sys.excepthook, os._exit, os.getpid()

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        note_failure(f"{kind.__name__}: {error}")
        failed(kind, error, trace)

    def leave_at_once(status: int) -> NoReturn:
        if os.getpid() == process:  # and not in a child that was forked
            _leave(f"the job ended with exit code {status}" if status else None)
        leave(status)

    def terminated(number: int, frame: FrameType | None) -> None:
        _leave("the job was ended by SIGTERM")
        signal.signal(number, signal.SIG_DFL)
        os.kill(process, number)

    sys.excepthook, os._exit = hook, leave_at_once
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)


def _leave(error: str | None) -> None:
    """Let every agent end, on threads of their own: this one may be in the middle of a call to Spark."""
    leaving = [threading.Thread(target=agent.leave, args=(error,), daemon=True) for agent in _agents.values()]
    for each in leaving:
        each.start()
    for each in leaving:
        each.join(_LEAVING_SECONDS + 1)

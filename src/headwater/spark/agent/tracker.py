"""From what happens in Spark to events: which executions belong together, and when there is something to say."""

import dataclasses
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pyspark import SparkContext

from headwater.events.event import EventType, RunEvent, new_run_id
from headwater.events.settings import several
from headwater.spark.agent.application import Application, snake_case
from headwater.spark.agent.bridge import Happening
from headwater.spark.agent.commits import committed
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import Amount, PlanDataset, PlanOutput
from headwater.spark.agent.events import OpenLineageRunEventBuilder, joined_names
from headwater.spark.agent.execution import SparkExecution, SparkSQLExecutionContext
from headwater.spark.agent.measures import measure
from headwater.spark.agent.plan_reader import PlanLineage, PlanReader, first_line
from headwater.spark.agent.scala import class_name
from headwater.spark.agent.tables import file_dataset, scanned_files
from headwater.spark.agent.visitors.rdds import rdd_origins, rdd_output
from headwater.spark.plan.node import PlanNode

_MOST_OPEN = 2000
_MOST_KEPT = 500
_STREAM_SECONDS = 60.0
_MOVES = frozenset({"AlterTableSetLocationCommand", "SetTableLocation"})
_VERSIONED = frozenset({"headwater", "iceberg", "delta", None})  # None: one that was not there yet


@dataclass
class _Stream:
    """A streaming query: one run, from its start to its end."""

    name: str | None  # None until it is known what an unnamed one reads and writes
    begun: Happening
    last: SparkSQLExecutionContext | None = None  # its last batch that had anything to say
    said: frozenset[object] = frozenset()
    at: float = 0.0


@dataclass
class _Job:
    """A job on RDDs."""

    name: str
    run_id: str = field(default_factory=new_run_id)
    inputs: list[PlanDataset] = field(default_factory=list)
    outputs: list[PlanOutput] = field(default_factory=list)


class Tracker:
    """Keeps what is going on, and hands events to `emit` as they become known. One thread at a time."""

    def __init__(
        self, context: SparkContext | None, application: Application, emit: Callable[[RunEvent], None]
    ) -> None:
        self.application = application
        self.options = application.options
        self.events = OpenLineageRunEventBuilder(application)
        self.columns = True  # switched off while the agent is behind
        self.unread = 0  # executions of which nothing could be found out
        self.lock = threading.RLock()  # the commit of a lake table asks from a thread of its own
        self._spark = context
        self._emit = emit
        self._readers: dict[str, PlanReader] = {}
        self._seen = OpenLineageContext(None, context, self.options)  # its sessions share what was seen
        self._open: OrderedDict[int, SparkSQLExecutionContext] = OrderedDict()
        self._roots: dict[int, int] = {}
        self._streams: dict[str, _Stream] = {}
        self.on_run: Callable[[SparkSQLExecutionContext], None] | None = None  # told of every run that has ended
        denied, allowed = several(self.options.denied), several(self.options.allowed)
        self._denied, self._allowed = ({each.rpartition(".")[2] for each in text} for text in (denied, allowed))
        self._jobs: dict[int, _Job] = {}

    def handle(self, happening: Happening, take: Callable[[], Any]) -> None:
        """Take in one thing that happened; `take` gives the object of Spark that came with it, None without one."""
        of_objects = {"start": self._start, "end": self._end, "job": self._job_start}
        others = {"stream": self._stream_start, "stream end": self._stream_end, "job end": self._job_end}
        with self.lock:
            if happening.kind in of_objects:
                of_objects[happening.kind](happening, cache(take))
            elif happening.kind in others:
                others[happening.kind](happening)

    # ------------------------------------------------------------------------------------------- executions

    def context_of(self, id: int, root: int | None = None) -> SparkSQLExecutionContext:
        """The run that an execution belongs to; `root` is the outermost execution around it, if it is known."""
        root = self._roots.get(id, id) if root is None else root
        self._roots[id] = root
        if root not in self._open:
            self._open[root] = SparkSQLExecutionContext(root)
            while len(self._open) > _MOST_OPEN:  # ends that never came
                forgotten, _ = self._open.popitem(last=False)
                self._roots = {id: root for id, root in self._roots.items() if root != forgotten}
        return self._open[root]

    def read(
        self, context: SparkSQLExecutionContext, id: int, take: Callable[[], Any], session: str | None = None
    ) -> SparkExecution:
        """Return what the plan of an execution says; read once, and not at all when the one around it says it all."""
        one = context.execution(id)
        is_wanted = one.lineage is None and not (id != context.root and context.is_told)
        execution = take() if is_wanted else None
        if execution is not None:
            try:
                reader = self._reader(execution, session)
                plan = reader.dump(execution)
                earlier = context.plans if id != context.root else ()
                one.lineage = reader.read(plan, execution, earlier=earlier, queries=self.on_run is not None)
            except Exception as err:  # whatever it is, the job goes on, and the event says that it is not complete
                context.note(f"the plan could not be read: {type(err).__name__}: {first_line(err)}")
        return one

    def _reader(self, execution: Any, session_id: str | None) -> PlanReader:
        key = f"{session_id or execution.sparkSession().sessionUUID()} {self.columns}"
        if key not in self._readers:
            session = execution.sparkSession()
            options = dataclasses.replace(self.options, columns=self.options.columns and self.columns)
            self._readers[key] = PlanReader(dataclasses.replace(self._seen, session=session, options=options))
        return self._readers[key]

    def _start(self, happening: Happening, take: Callable[[], Any]) -> None:
        context = self.context_of(happening.id, happening.root)
        context.started = context.started or happening.time
        context.stream = context.stream or happening.run
        self.read(context, happening.id, take, happening.session_id)
        is_root = happening.id == happening.root
        if is_root and context.stream is None and self.options.start_events and self._is_worth(context):
            context.announced = True
            self._emit(self.events.build(EventType.START, context, happening))

    def _end(self, happening: Happening, take: Callable[[], Any]) -> None:
        root = self._roots.pop(happening.id, happening.id)
        context = self._open.get(root) or SparkSQLExecutionContext(root)
        context.stream = context.stream or happening.run
        one = self.read(context, happening.id, take, happening.session_id)
        one.tasks = Amount(happening.rows, happening.bytes or None) if happening.rows else None
        if happening.error is None:
            self._measure(context, one, take, happening)
            if happening.name in ("checkpoint", "localCheckpoint") and one.lineage is not None:
                self._keep_rows(context, one.lineage, take(), happening.session_id)
        if happening.id != root:
            return
        self._open.pop(root, None)
        if self.on_run is not None:
            self.on_run(context)
        if context.stream is not None:
            self._batch_end(context, happening)
        elif context.announced or self._is_worth(context):
            self._announce_late(context, happening)
            type = EventType.COMPLETE if happening.error is None else EventType.FAIL
            self._emit(self.events.build(type, context, happening))
        elif context.failures or context.issues:  # nothing is known of it, not even that it is of no interest
            self.unread += 1

    def _announce_late(self, context: SparkSQLExecutionContext, end: Happening) -> None:
        """Say that a run has begun, if it was over before its plan could be had: an end never comes without."""
        if not context.announced and self.options.start_events:
            time = context.started or end.time
            begun = dataclasses.replace(end, kind="start", time=time, error=None, trace=None)
            self._emit(self.events.build(EventType.START, context, begun))

    def _measure(
        self, context: SparkSQLExecutionContext, one: SparkExecution, take: Callable[[], Any], end: Happening
    ) -> None:
        if end.unmeasured is not None:
            context.note(f"statistics are not known: {end.unmeasured}")
        try:
            measures = end.measures
            if measures is None and end.unmeasured is None and self._spark is not None and take() is not None:
                measures = measure(self._spark, take())
            # rows that nobody has asked for yet, or that were never scanned, are not zero rows
            counts = end.jobs != 0 and end.name != "toLocalIterator"
            one.measures = [each for each in measures or () if counts or each.kind == "write"]
            lineage = one.lineage
            changed = [each for each in lineage.outputs if each.change != "DROP"] if lineage is not None else []
            if lineage and any(each.dataset.layer in _VERSIONED or each.node.name in _MOVES for each in changed):
                execution = take()
                reader = self._reader(execution, end.session_id)  # now they have the new version, or place
                outputs = reader.outputs(lineage.plan, execution)
                if len(outputs) == len(lineage.outputs):  # fewer: the query has ended and cannot be asked again
                    made = [committed(reader.context, each, context.started, end.time) for each in outputs]
                    one.lineage = dataclasses.replace(lineage, outputs=tuple(made))
        except Exception as err:
            context.note(f"statistics are not known: {type(err).__name__}: {first_line(err)}")

    def _keep_rows(
        self, context: SparkSQLExecutionContext, lineage: PlanLineage, execution: Any, session: str | None
    ) -> None:
        """Remember what is behind the rows of a checkpoint, by the ids of its columns."""
        try:
            ids = tuple(column.id for column in lineage.plan.root.output)
            self._seen.rows[ids] = self._reader(execution, session).rows_of(lineage)
            while len(self._seen.rows) > _MOST_KEPT:
                del self._seen.rows[next(iter(self._seen.rows))]
        except Exception as err:  # the plan that takes them up says that it does not know where they come from
            context.note(f"a checkpoint cannot be followed: {type(err).__name__}: {first_line(err)}")

    def _is_worth(self, context: SparkSQLExecutionContext) -> bool:
        """Return whether there is anything to say of a run that the options ask for."""
        root = context.lineages[0].plan.root.name if context.lineages else ""
        if root in self._denied:
            return False
        if root in self._allowed:
            return bool(context.outputs or context.inputs)
        outputs = [each for each in context.outputs if self.options.temporary or each.dataset.layer != "memory"]
        if outputs:
            return self.options.commands or any(each.query is not None for each in outputs)
        if context.outputs:  # temporary ones only
            return False
        return bool(context.inputs) and self.options.reads

    # --------------------------------------------------------------------------------------------- streams

    def _stream_start(self, happening: Happening) -> None:
        stream = self._streams[happening.run or ""] = _Stream(None, happening)
        if happening.name is not None:
            self._begin(stream, snake_case(happening.name))

    def _begin(self, stream: _Stream, name: str) -> None:
        """Give a stream its name, and say that it has begun; the moment is that of its start."""
        stream.name = f"stream.{name}"
        if self.options.start_events:
            self._say(EventType.START, stream, stream.begun)

    def _say(self, type: EventType, stream: _Stream, happening: Happening) -> None:
        """An event of a stream: with what its last batch touched, but for its start."""
        name, run = stream.name or "stream.unnamed", happening.run or new_run_id()
        if stream.last is None or type is EventType.START:
            event = self.events.build_plain(type, happening, run_id=run, name=name, kind="SQL_JOB")
        else:
            event = self.events.build(type, stream.last, happening, stream=name)
        self._emit(event)

    def _batch_end(self, context: SparkSQLExecutionContext, happening: Happening) -> None:
        """A batch of a stream. It is reported when it touches anything new, and at most once a minute otherwise."""
        begun = dataclasses.replace(happening, run=context.stream)
        stream = self._streams.setdefault(context.stream or "", _Stream(None, begun))
        if not context.inputs and not context.outputs:
            return
        if stream.name is None:
            ends = (context.inputs, [output.dataset for output in context.outputs])
            self._begin(stream, "_to_".join(joined_names(each, self.options.trimmed) for each in ends if each))
        read, written = [each.name for each in context.inputs], [each.dataset.name for each in context.outputs]
        touched: frozenset[object] = frozenset([*read, *((name, "out") for name in written)])
        stream.last = context
        if touched <= stream.said and time.monotonic() - stream.at < _STREAM_SECONDS:
            return
        stream.said, stream.at = stream.said | touched, time.monotonic()
        self._say(EventType.RUNNING, stream, happening)

    def _stream_end(self, happening: Happening) -> None:
        stream = self._streams.pop(happening.run or "", None)
        if stream is None:
            return
        if stream.name is None:
            self._begin(stream, "unnamed")
        self._say(EventType.COMPLETE if happening.error is None else EventType.FAIL, stream, happening)

    # ------------------------------------------------------------------------------------------------ RDDs

    def _job_start(self, happening: Happening, take: Callable[[], Any]) -> None:
        job = take()
        name = (happening.name or "job").split(" at ")[0]
        found = _Job(snake_case(name))
        rdd = job.finalStage().rdd()
        found.inputs = scanned_files(self._seen.known, rdd_origins(rdd)[0])
        path = rdd_output(job)
        if path is not None:
            (dataset,) = file_dataset([path])
            found.outputs = [PlanOutput(dataset, PlanNode(class_name(rdd)))]
        self._jobs[happening.id] = found
        while len(self._jobs) > _MOST_OPEN:
            del self._jobs[next(iter(self._jobs))]
        if self._is_job_worth(found) and self.options.start_events:
            self._emit_job(EventType.START, happening, found)

    def _job_end(self, happening: Happening) -> None:
        found = self._jobs.pop(happening.id, None)
        if found is not None and self._is_job_worth(found):
            self._emit_job(EventType.COMPLETE if happening.error is None else EventType.FAIL, happening, found)

    def _is_job_worth(self, job: _Job) -> bool:
        return self.options.rdds and (bool(job.outputs) or (bool(job.inputs) and self.options.reads))

    def _emit_job(self, type: EventType, happening: Happening, job: _Job) -> None:
        target = job.outputs[0].dataset if job.outputs else job.inputs[0]
        name, touched = f"rdd_{job.name}.{joined_names([target], self.options.trimmed)}", (job.inputs, job.outputs)
        self._emit(self.events.build_plain(type, happening, run_id=job.run_id, name=name, touched=touched))

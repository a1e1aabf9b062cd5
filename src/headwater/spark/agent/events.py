"""OpenLineage events of what was found."""

import dataclasses
from datetime import UTC, datetime

from headwater.events import facets as openlineage
from headwater.events.event import EventType, Run, RunEvent, timestamp
from headwater.events.facet import by_key, plain_facet
from headwater.events.rewrite import trimmed
from headwater.spark.agent.application import Application, snake_case
from headwater.spark.agent.bridge import Happening
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.debug import debug_facet
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.facets import input_dataset, output_dataset
from headwater.spark.agent.options import AgentOptions
from headwater.spark.plan.places import redact
from headwater.text import without_secrets

_LONGEST_SQL = 100_000
_LONGEST_MESSAGE = 10_000


class OpenLineageRunEventBuilder:
    """Makes the events of one application."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def build(
        self, type: EventType, context: SparkSQLExecutionContext, happening: Happening, *, stream: str | None = None
    ) -> RunEvent:
        """The event of a run; `stream` is the name of the streaming query that it belongs to."""
        read = ((_shaped(each, context.outputs), context.read(each), context.report(each)) for each in context.inputs)
        inputs = tuple(input_dataset(*each) for each in read)
        made = type in (EventType.COMPLETE, EventType.RUNNING)  # else the version is that of before
        found = [each if made and each.change != "DROP" else _unversioned(each) for each in context.outputs]
        known = context.datasets
        written = context.written if len([each for each in found if each.query is not None]) == 1 else None
        outputs = tuple(output_dataset(each, context.edges_into(each), known, written) for each in found)
        context.job = context.job or job_suffix(context, self.application.options)
        job = self.application.job(
            stream if stream is not None else context.job,
            kind="SQL_JOB",
            streaming=context.stream is not None,
            facets=by_key(self._sql(context) or self.application.program),
        )
        more = debug_facet(self.application.around, self.application.options, type, context)
        if happening.job is not None:
            more["spark_jobDetails"] = plain_facet(self._job(happening.job))
        own = more | by_key(self.application.parent(), _error(happening, "JAVA"), _doubts(context))
        run = Run(run_id=context.stream or context.run_id, facets=self.application.facets | own)
        return RunEvent(
            event_time=_moment(happening), event_type=type, run=run, job=job, inputs=inputs, outputs=outputs
        )

    def build_application(self, type: EventType, *, error: str | None = None, time: int = 0) -> RunEvent:
        """The event of the application as a whole."""
        happening = Happening("stop", time=time, error=error)
        facets = self.application.facets | by_key(self.application.grandparent(), _error(happening, "PYTHON"))
        run = Run(run_id=self.application.run_id, facets=facets)
        return RunEvent(event_time=_moment(happening), event_type=type, run=run, job=self.application.whole)

    def build_plain(
        self,
        type: EventType,
        happening: Happening,
        *,
        run_id: str,
        name: str,
        kind: str = "RDD_JOB",
        touched: tuple[list[PlanDataset], list[PlanOutput]] = ([], []),
    ) -> RunEvent:
        """The event of a run without a plan: a job on RDDs, a stream that begins or ends."""
        facets = self.application.facets | by_key(self.application.parent(), _error(happening, "JAVA"))
        streaming = kind == "SQL_JOB"
        return RunEvent(
            event_time=_moment(happening),
            event_type=type,
            run=Run(run_id=run_id, facets=facets),
            job=self.application.job(name, kind=kind, streaming=streaming),
            inputs=tuple(input_dataset(_shaped(each, touched[1]), None) for each in touched[0]),
            outputs=tuple(output_dataset(each, (), {}, None) for each in touched[1]),
        )

    def _job(self, job: dict[str, str | int]) -> dict[str, str | int]:
        """The first job of a run; its description may be SQL."""
        text = job.get("jobDescription")
        if text is None or self.application.options.literals:
            return job
        return {**job, "jobDescription": redact(str(text))}

    def _sql(self, context: SparkSQLExecutionContext) -> openlineage.SqlFacet | None:
        options = self.application.options
        text = context.sql if options.sql else None
        if text is None:
            return None
        text = text if options.literals else redact(text)
        return openlineage.SqlFacet(query=text.strip()[:_LONGEST_SQL], dialect="spark")


# MERGE, UPDATE and DELETE are three jobs, though Spark rewrites them to one operator
_REWRITTEN = {"MERGE": "merge_into_table", "UPDATE": "update_table", "DELETE": "delete_from_table"}


def job_suffix(context: SparkSQLExecutionContext, options: AgentOptions) -> str:
    """Return what a run is called within its application: what it does, and to which table."""
    outputs, lineages = context.outputs, context.lineages
    operation = snake_case(outputs[0].node.name if outputs else lineages[0].plan.root.name if lineages else "query")
    if outputs and outputs[0].node.name in ("ReplaceData", "WriteDelta"):
        operation = _REWRITTEN.get(outputs[0].statement, operation)
    operation = operation if outputs else f"read_{operation}"
    datasets = [output.dataset for output in outputs] or context.inputs
    return f"{operation}.{joined_names(datasets, options.trimmed)}" if options.dataset_in_job else operation


def _shaped(dataset: PlanDataset, outputs: list[PlanOutput]) -> PlanDataset:
    """A dataset that is read, without the column `value` of a text that is only looked at: to find the columns of CSV
    and JSON files, Spark reads their text."""
    sampled = dataset.format == "text" and not outputs
    return dataclasses.replace(dataset, schema=()) if sampled else dataset


def _unversioned(output: PlanOutput) -> PlanOutput:
    return dataclasses.replace(output, dataset=dataclasses.replace(output.dataset, version=None))


def joined_names(datasets: list[PlanDataset], trimmers: frozenset[str]) -> str:
    """The names of a few datasets, short enough for a name."""
    found = dict.fromkeys(trimmed("_".join(dataset.table.parts[-2:]), trimmers) for dataset in datasets)
    names = [snake_case(path.rsplit("/", 1)[-1]) for path in list(found)[:3]]
    more = f"_and_{len(found) - 3}_more" if len(found) > 3 else ""
    return "_".join(names)[:150] + more


def _moment(happening: Happening) -> str:
    return timestamp(datetime.fromtimestamp(happening.time / 1000, UTC) if happening.time else None)


def _error(happening: Happening, language: str) -> openlineage.ErrorMessageFacet | None:
    if happening.error is None:
        return None
    trace = happening.trace
    return openlineage.ErrorMessageFacet(
        message=without_secrets(happening.error[:_LONGEST_MESSAGE]),
        programming_language=language,
        stack_trace=None if trace is None else without_secrets(trace),
    )


def _doubts(context: SparkSQLExecutionContext) -> openlineage.ExtractionErrorFacet | None:
    """Return what the agent could not find out, said rather than left out."""
    messages = [issue.message for issue in context.issues] + context.failures
    if context.degraded is not None:
        messages.append(f"columns are not known: {context.degraded}")
    if not messages:
        return None
    errors = tuple(openlineage.ExtractionError(error_message=message) for message in messages[:50])
    return openlineage.ExtractionErrorFacet(
        total_tasks=len(context.executions), failed_tasks=len(messages), errors=errors
    )

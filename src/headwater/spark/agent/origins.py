"""Commits of lake tables made through Spark carry the lineage of the query that made them."""

from typing import Any

from pyspark import SparkContext

from headwater.events.naming import DatasetName
from headwater.lake.metadata.snapshot import ColumnOrigin, InputVersion, Origin
from headwater.query.recipes import masked_sql
from headwater.spark.agent.events import job_suffix
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.recipes import recipe_of
from headwater.spark.agent.tracker import Tracker
from headwater.spark.plan.places import redact
from headwater.spark.source.origin import set_origin_of

WHOLE = "*"


def hook_origins(context: SparkContext, tracker: Tracker) -> None:
    """Give every commit of a lake table its origin, from now on.

    A commit is made while its query runs, so Spark still knows the plan; if the agent has not got to it yet, it is
    read here and now.
    """
    executions: Any = context._jvm
    executions = executions.org.apache.spark.sql.execution.SQLExecution

    def origin_of(execution_id: int) -> Origin | None:
        try:
            with tracker.lock:
                execution = executions.getQueryExecution(execution_id)
                run = tracker.context_of(execution_id)
                tracker.read(run, execution_id, lambda: execution)
                return _origin(run, tracker, context, execution)
        except Exception:  # a commit never fails for want of its lineage
            return None

    set_origin_of(origin_of)


def _origin(run: SparkSQLExecutionContext, tracker: Tracker, context: SparkContext, execution: Any) -> Origin:
    options = tracker.options
    written = (output.dataset.name.namespace for output in run.outputs)
    home = {each for each in written if each.startswith("headwater:")}

    def called(name: DatasetName) -> str:
        """Tables of the warehouse that is written to go by their own names, as they do in its SQL; files by paths."""
        return name.name if name.namespace in home or name.namespace == "file" else str(name)

    names = {table: called(dataset.name) for table, dataset in run.datasets.items()}
    edges = [edge for output in run.outputs for edge in run.edges_into(output)]
    columns = dict.fromkeys(
        ColumnOrigin(
            column=edge.target.column or WHOLE,
            dataset=names.get(edge.source.table, str(edge.source.table)),
            source=edge.source.column or WHOLE,
            kind=edge.kind.value,
            expression=edge.expression and masked_sql(edge.expression, double=True)[0],
        )
        for edge in edges
    )
    inputs = []
    for dataset in run.inputs:
        read = dict.fromkeys(edge.source.column for edge in edges if edge.source.table == dataset.table)
        version = dataset.version if dataset.version is not None and dataset.version.isdigit() else None
        inputs.append(
            InputVersion(
                dataset=called(dataset.name),
                snapshot_id=None if version is None else int(version),
                table_uuid=dataset.table_uuid,
                columns=tuple(column for column in read if column is not None),
            )
        )
    text = run.sql
    return Origin(
        run_id=run.stream or run.run_id,
        job=f"{tracker.application.whole.name}.{job_suffix(run, options)}",
        sql=None if text is None else masked_sql(text, double=True)[0] if options.literals else redact(text),
        inputs=tuple(inputs),
        columns=tuple(columns),
        recipe=recipe_of(context, run, execution, next((called(each.dataset.name) for each in run.outputs), None)),
    )

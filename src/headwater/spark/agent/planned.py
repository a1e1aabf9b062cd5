"""The program that `headwater spark-plan` starts: follows a job without its reads and writes, and says what they
would have been.

Spark analyses everything as ever, but plans queries without rows and commands that do nothing (`PlanOnly.java`). So
the agent sees what the job asks for, and nothing is touched.
"""

import dataclasses
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headwater.errors import Issue, IssueCode, Severity
from headwater.events.sinks.local import CompositeSink
from headwater.lineage.result import AnalyzeResult
from headwater.lineage.statement import SourceTable, StatementLineage
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.agent.observe import Agent, observe
from headwater.spark.agent.plan_reader import PlanLineage, first_line
from headwater.spark.agent.tables import file_dataset
from headwater.spark.explain import lineage
from headwater.spark.janino import java_source, shared_object

_HINT = "results are empty, and what the job would have written is not there: `headwater spark-plan --help`"


class PlannedJob:
    """A job that is followed."""

    def __init__(self) -> None:
        self.agent: Agent | None = None
        self.statements: list[StatementLineage] = []
        self.issues: list[Issue] = []

    def follow_sessions(self) -> None:
        """Have every session that is made from now on plan without rows, and be observed; streams do not start."""
        made: Any = SparkSession.__init__

        def planned(session: SparkSession, *args: Any, **kwargs: Any) -> None:
            made(session, *args, **kwargs)
            source = java_source("headwater.spark.agent", "PlanOnly")
            only = shared_object(session.sparkContext, source, "headwater.agent.PlanOnly")
            only.install(session._jsparkSession)
            if self.agent is None:
                self.agent = observe(session, CompositeSink())
                self.agent.on_run(self.take)

        def start(writer: Any, path: str | None = None, *_: Any, **__: Any) -> Any:
            return self.stream(writer, str(file_dataset([path])[0].table) if path else "stream")

        patched: Any = SparkSession
        patched.__init__ = planned
        patched = DataStreamWriter
        patched.start, patched.toTable = start, lambda writer, name, *_, **__: self.stream(writer, name)

    def take(self, run: SparkSQLExecutionContext) -> None:
        """Keep what a run would have done."""
        self.issues += run.issues + [_issue(each) for each in run.failures]
        self.statements += [each for found in run.lineages for each in _statements(found)]

    def stream(self, writer: Any, target: str) -> "_Stopped":
        """Keep what a stream would write."""
        found = lineage(writer._df, output=target)
        self.statements += found.statements
        self.issues += found.issues
        return _Stopped()

    def run(self, script: str) -> AnalyzeResult:
        """Return what the job would have done, until it ended or failed."""
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as leave:
            if leave.code not in (None, 0):
                self.issues.append(_issue(f"the job ends with exit code {leave.code}"))
        except Exception as err:
            self.issues.append(_issue(f"the job fails: {type(err).__name__}: {first_line(err)}", _HINT))
        if self.agent is not None:
            self.agent.stop()
        numbered = tuple(dataclasses.replace(each, index=at) for at, each in enumerate(self.statements))
        return AnalyzeResult(numbered, tuple(dict.fromkeys(self.issues)))


class _Stopped:
    """A stream that has ended before it began: what it is asked has no answer, and nothing waits for it."""

    def __getattr__(self, name: str) -> Any:
        return None if name.startswith(("is", "last", "id", "run")) else lambda *_, **__: True


def _issue(message: str, hint: str | None = None) -> Issue:
    return Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.ERROR, message, hint=hint)


def _statements(found: PlanLineage) -> list[StatementLineage]:
    """The statements of a plan; a command without columns is its tables."""
    if found.statements:
        return list(found.statements)
    sources = tuple(SourceTable(each.table) for each in found.inputs)
    return [StatementLineage(each.statement, each.dataset.table, sources) for each in found.outputs]


def main() -> None:
    """Follow the job named third; the first words say how and where to write what it does."""
    form, place, script = sys.argv[1:4]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    job = PlannedJob()
    job.follow_sessions()
    result = job.run(script)
    Path(place).write_text(f"{result.to_json() if form == 'json' else result.to_text()}\n", encoding="utf-8")
    for issue in result.issues:
        sys.stdout.write(f"{issue.severity.name.lower()}: {issue.message}\n")
    sys.stdout.flush()
    os._exit(2 if result.has_errors and not result.edges and not result.tables else 0)  # whatever the job has started


if __name__ == "__main__":
    main()

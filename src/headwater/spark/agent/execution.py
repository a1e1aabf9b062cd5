"""One thing that a user asked of Spark, and what was found out about it.

Spark runs one action as up to three executions, one inside the other: `saveAsTable` is a command that runs a command
that runs an insert. They share a root, and they are one run: the outermost says what was meant, the inner ones how
many rows were written and where.
"""

from dataclasses import dataclass, field

from headwater.errors import Issue
from headwater.events.event import new_run_id
from headwater.events.naming import DatasetName
from headwater.model.edges import Edge
from headwater.model.names import TableName
from headwater.spark.agent.datasets import Amount, PlanDataset, PlanOutput
from headwater.spark.agent.measures import Measure, total
from headwater.spark.agent.plan_reader import PlanLineage
from headwater.spark.plan.node import Plan


@dataclass
class SparkExecution:
    """One QueryExecution: what its plan says, and what it has measured since."""

    id: int
    lineage: PlanLineage | None = None
    measures: list[Measure] = field(default_factory=list)
    tasks: Amount | None = None  # what its tasks say they have written


@dataclass
class SparkSQLExecutionContext:
    """A root execution and all that are nested in it: one run."""

    root: int
    started: int = 0
    stream: str | None = None  # the run of the stream that this is a batch of
    run_id: str = field(default_factory=new_run_id)
    executions: dict[int, SparkExecution] = field(default_factory=dict)
    announced: bool = False  # a START was sent
    job: str | None = None  # the name of its job, from its first event on
    failures: list[str] = field(default_factory=list)  # of the agent, not of the job

    def execution(self, id: int) -> SparkExecution:
        """The execution of that id, which belongs to this run."""
        return self.executions.setdefault(id, SparkExecution(id))

    def note(self, failure: str) -> None:
        """Remember, once, what could not be found out."""
        if failure not in self.failures:
            self.failures.append(failure)

    @property
    def lineages(self) -> list[PlanLineage]:
        """Return what is known of the plans, the outermost first.

        One that writes says it all: what runs inside it is how the engine does it (a table format reads its log). One
        that only calls (`foreachBatch`) means what runs inside it.
        """
        known = self._known()
        return known[:1] if known and known[0].outputs and self.executions.get(self.root) else known

    @property
    def is_told(self) -> bool:
        """Return whether the outermost execution has been read, and writes."""
        root = self.executions.get(self.root)
        return root is not None and root.lineage is not None and bool(root.lineage.outputs)

    def _known(self) -> list[PlanLineage]:
        in_order = sorted(self.executions.values(), key=lambda each: (each.id != self.root, each.id))
        return [each.lineage for each in in_order if each.lineage is not None]

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans seen so far, outermost first; what is nested may take up their rows."""
        return tuple(lineage.plan for lineage in self._known())

    @property
    def inputs(self) -> list[PlanDataset]:
        """Return what was read, once each."""
        found: dict[DatasetName, PlanDataset] = {}
        for lineage in self.lineages:
            for dataset in lineage.inputs:
                found.setdefault(dataset.name, dataset)
        return list(found.values())

    @property
    def outputs(self) -> list[PlanOutput]:
        """Return what was written, once each; what the outermost execution says comes first."""
        found: dict[DatasetName, PlanOutput] = {}
        for lineage in self.lineages:
            for output in lineage.outputs:
                found.setdefault(output.dataset.name, output)
        return list(found.values())

    @property
    def datasets(self) -> dict[TableName, PlanDataset]:
        """Every dataset by the name that lineage gives it."""
        found: dict[TableName, PlanDataset] = {}
        for lineage in self.lineages:
            found = lineage.datasets | found
        return found

    def edges_into(self, output: PlanOutput) -> tuple[Edge, ...]:
        """The edges into an output, as the first execution has them that knows any."""
        for lineage in self.lineages:
            names = {table for table, dataset in lineage.datasets.items() if dataset.name == output.dataset.name}
            edges = tuple(
                edge for statement in lineage.statements for edge in statement.edges if edge.target.table in names
            )
            if edges:
                return edges
        return ()

    def _scans(self, dataset: PlanDataset) -> list[Measure]:
        scans = (each for one in self.executions.values() for each in one.measures if each.kind == "scan")
        return [each for each in scans if each.concerns(dataset)]

    def read(self, dataset: PlanDataset) -> Amount | None:
        """Return how much was read of a dataset."""
        return total(self._scans(dataset))

    def report(self, dataset: PlanDataset) -> dict[str, int]:
        """Return what a scan of a dataset says of its planning; the first, where there are several."""
        return next((each.report for each in self._scans(dataset) if each.report), {})

    @property
    def written(self) -> Amount | None:
        """Return how much was written: by the innermost execution that did, the others only asked it to.

        Where no plan says it, as with JDBC, the tasks do.
        """
        innermost_first = sorted(self.executions.values(), key=lambda each: -each.id)
        for one in innermost_first:
            writes = [each for each in one.measures if each.kind == "write" and each.rows is not None]
            if writes:
                return total(writes)
        return next((one.tasks for one in innermost_first if one.tasks is not None), None)

    @property
    def issues(self) -> list[Issue]:
        """Return what could not be told; of columns, only where any are written."""
        found = [(*lineage.issues, *(lineage.notes if self.outputs else ())) for lineage in self.lineages]
        return list(dict.fromkeys(issue for each in found for issue in each))

    @property
    def degraded(self) -> str | None:
        """Why columns are missing, when they are."""
        return next((lineage.degraded for lineage in self.lineages if lineage.degraded), None)

    @property
    def sql(self) -> str | None:
        """The statement that the user wrote, when it was SQL."""
        for lineage in self.lineages[:1]:
            plan = lineage.plan
            places = [plan.root.origin, *(child.origin for child in plan.root.children)]
            places += [inner.origin for inner in plan.root.inner]
            for place in places:
                if place is not None and "text" in place:
                    return plan.texts[place["text"]]
        return None

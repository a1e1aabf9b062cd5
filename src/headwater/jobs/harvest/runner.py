"""Who analyses units: this process when they are few, Spark when they are many, and both while Spark starts.

Starting Spark takes longer than analysing some hundred statements. The answers are the same wherever they are made.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

import pyarrow as pa

from headwater.graph.store import arrow_schema
from headwater.graph.tables import TableSpec
from headwater.jobs.harvest.analysis import FACTS, GOOGLE, Outcome, Setting, Task, analyse_tasks
from headwater.jobs.harvest.crew import SparkCrew

WORTH_SPARK = 2_500_000
"""Less work, in characters of SQL, stays in this process, unless a master was named: it takes about 17 s."""
SMALLEST = 48
"""So few stay here even then, once Spark has had others: a job would cost more than it saves."""
_LEAST, _MOST = 50_000, 250_000  # the cost of a batch on Spark: from about 0.3 s to 1.7 s
_HELP, _ALONE = 45_000, 300_000  # of one analysed here: while Spark starts, and without it


@dataclass
class Runner:
    """Analyses tasks and keeps their rows for the graph, as Arrow tables, until they are wanted."""

    setting: Setting
    master: str | None = None  # None: Spark, on all cores, only where it is worth it
    spark: bool = True
    progress: Callable[[list[Outcome]], None] = lambda outcomes: None  # called with what has come in
    tables: list[pa.Table] = field(default_factory=list)
    used_spark: bool = False
    _waiting: list[Task] = field(default_factory=list)  # what is to be done first last
    _jobs: set[Future[list[pa.Table]]] = field(default_factory=set)
    _marks: dict[int, str] = field(default_factory=dict)
    _crew: SparkCrew | None = None
    _helps: bool = False  # whether this process works while Spark starts

    def expect(self, work: int) -> None:
        """Say how much there is to analyse, at the least, so that Spark is started in time, if it is to be.

        Work is counted as `work_of` counts it.
        """
        self._helps = work >= WORTH_SPARK
        if self._crew is None and self.spark and work > 0 and (self.master is not None or self._helps):
            self._crew = SparkCrew(self.setting, self.master)
            self.used_spark = True

    def give(self, tasks: list[Task]) -> None:
        """Add tasks to those that are to be done.

        ZetaSQL's come first: they take longest, and the rest fills the gaps while the next of them are found.
        Otherwise the earliest do, since others wait for what they make.
        """
        self._marks |= {task.index: self.setting.mark(task.unit) for task in tasks}
        self._waiting += tasks
        self._waiting.sort(key=lambda task: (task.unit.script.dialect in GOOGLE, -task.index))

    @property
    def is_hungry(self) -> bool:
        """Return whether a core is about to have nothing to do."""
        crew = self._crew
        return not self._waiting and (crew is None or not crew.is_up or len(self._jobs) <= crew.running)

    def take(self) -> list[tuple[int, Outcome]]:
        """The outcomes of some tasks, as soon as there are any."""
        outcomes = [found for table in self._next_tables() for found in self._keep(table)]
        self.progress([outcome for _, outcome in outcomes])
        return outcomes

    def _next_tables(self) -> list[pa.Table]:
        crew = self._crew
        if crew is None:
            return self._here(_ALONE)
        if self._waiting and self._helps and not crew.is_up:
            return self._here(_HELP)
        if not self._jobs and len(self._waiting) < SMALLEST and self.tables:
            return self._here(_MOST)
        while self._waiting and len(self._jobs) < crew.jobs:
            self._jobs.add(crew.submit([self._batch(crew.cores) for _ in range(crew.width) if self._waiting]))
        done, self._jobs = wait(self._jobs, return_when=FIRST_COMPLETED)
        return [table for job in done for table in job.result()]

    def _here(self, cost: int) -> list[pa.Table]:
        return [pa.Table.from_batches([analyse_tasks(self._next_tasks(cost), self.setting)])]

    def _batch(self, cores: int) -> list[Task]:
        """The next batch for Spark: small ones in the end, so that no core is left with a large one."""
        return self._next_tasks(max(_LEAST, min(_MOST, sum(map(_cost, self._waiting)) // (2 * cores))))

    def _next_tasks(self, cost: int) -> list[Task]:
        tasks: list[Task] = []
        while self._waiting and cost > 0:
            tasks.append(self._waiting.pop())
            cost -= _cost(tasks[-1])
        return tasks

    def _keep(self, table: pa.Table) -> Iterator[tuple[int, Outcome]]:
        number = len(self.tables)
        self.tables.append(table.select([spec.name for spec in FACTS]))
        plain = table.select(["index", "sight", "effects", "count", "findings"]).to_pylist()
        for row, each in enumerate(plain):
            index = each.pop("index")
            yield index, Outcome(self._marks.pop(index), **each, place=(number, row))

    def close(self) -> None:
        """Stop what was started. Rows are there as before; doing it again does nothing."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()

    def rows(self, spec: TableSpec, places: list[tuple[int, int]]) -> pa.Table:
        """The rows for a table of the graph that stand at some places."""
        schema = arrow_schema(spec)
        by_table: dict[int, list[int]] = {}
        for number, row in places:
            by_table.setdefault(number, []).append(row)
        parts = []
        for number, wanted in sorted(by_table.items()):
            column = self.tables[number].column(spec.name).take(pa.array(sorted(wanted), pa.int64()))
            for chunk in column.chunks:
                flat = chunk.flatten()
                arrays = [flat.field(name) for name in schema.names]
                # nulls of the structs themselves cannot be: a list holds rows only
                parts.append(pa.table(arrays, names=schema.names).cast(schema))
        return pa.concat_tables(parts) if parts else schema.empty_table()


def work_of(text: str, dialect: str | None) -> int:
    """About how long a text takes, in characters of SQL: ZetaSQL takes fifteen times as long as the others."""
    return len(text) * (15 if dialect in GOOGLE else 1)


def _cost(task: Task) -> int:
    return work_of(task.unit.text, task.unit.script.dialect)

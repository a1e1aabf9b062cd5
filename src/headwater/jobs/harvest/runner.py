"""The choice of the process that analyses units: this one when they are few, Spark when they are many, and both while
Spark starts.

Starting Spark takes longer than analysing some hundred statements. The answers are the same wherever they are made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, cast

import pyarrow as pa

from headwater.graph.store import GraphStore, WrittenFiles
from headwater.graph.tables import STATEMENTS, TableSpec
from headwater.jobs.harvest.batch_analysis import analyse_tasks
from headwater.jobs.harvest.batches import NAMED, Batch, rows_of
from headwater.jobs.harvest.unit_analysis import FACTS, HarvestSetting, Outcome, Task, work_of

if TYPE_CHECKING:
    from headwater.jobs.harvest.spark_executor import SparkCrew

WORTH_SPARK = 2_500_000
"""Less work, in characters of SQL, stays in this process, unless a master was named: it takes about 17 s."""
SMALLEST = 45_000
"""So little stays here even then, once Spark has had others: a job would cost more than it saves."""
Place: TypeAlias = tuple[int, int]
"""A batch by its number, and a unit in it."""
_EXPECTED = 20  # rows of a unit, for the number of buckets
_LEAST, _MOST = 150_000, 1_000_000  # the cost of a batch on Spark: from about 1 s to 7 s
_HELP, _ALONE = 45_000, 1_500_000  # of one analysed here: while Spark starts, and without it


@dataclass
class Runner:
    """Analyses tasks. Their rows for the graph are kept until they are wanted: here, or on the executors."""

    setting: HarvestSetting
    master: str | None = None  # None: Spark, on all cores, only where it is worth it
    spark: bool = True
    crew: "SparkCrew | None" = None  # a Spark that was started before
    progress: Callable[[list[Outcome]], None] = lambda outcomes: None  # called with what has come in
    batches: list[Batch] = field(default_factory=list)
    used_spark: bool = False
    _waiting: list[Task] = field(default_factory=list)  # what is to be done first last
    _jobs: set[Future[list[Batch]]] = field(default_factory=set)
    _marks: dict[int, str] = field(default_factory=dict)
    _helps: bool = False  # whether this process works while Spark starts

    def expect(self, work: int) -> None:
        """Say how much there is to analyse, so that Spark is started, if it is to be and was not yet.

        Work is counted as `work_of` counts it.
        """
        self._helps = work >= WORTH_SPARK
        if self.crew is None and self.spark:
            self.crew = start_spark(work, self.master)
        if self.crew is not None:
            self.crew.tell(self.setting)
            self.used_spark = True

    def give(self, tasks: list[Task]) -> None:
        """Add tasks to those that are to be done. Those come first that most work may wait for, then the earliest."""
        self._marks |= {task.index: self.setting.mark(task.unit) for task in tasks}
        self._waiting += tasks
        self._waiting.sort(key=lambda task: (task.chain, -task.index))

    @property
    def is_hungry(self) -> bool:
        """Return whether a core is about to have nothing to do."""
        crew = self.crew
        return not self._waiting and (crew is None or not crew.is_up or len(self._jobs) <= crew.running)

    def take(self) -> list[tuple[int, Outcome]]:
        """The outcomes of some tasks, as soon as there are any."""
        outcomes = [found for batch in self._next_batches() for found in self._keep(batch)]
        self.progress([outcome for _, outcome in outcomes])
        return outcomes

    def _next_batches(self) -> list[Batch]:
        crew = self.crew
        if crew is None:
            return self._here(_ALONE)
        if self._waiting and self._helps and not crew.is_up:
            return self._here(_HELP)
        if not self._jobs and self.batches and sum(map(_cost, self._waiting)) < SMALLEST:
            return self._here(SMALLEST)
        while self._waiting and len(self._jobs) < crew.jobs:
            idle = max(1, crew.cores - len(self._jobs) * crew.width)
            self._jobs.add(crew.submit([self._batch(crew.cores, idle) for _ in range(crew.width) if self._waiting]))
        done, self._jobs = wait(self._jobs, return_when=FIRST_COMPLETED)
        return [batch for job in done for batch in job.result()]

    def _here(self, cost: int) -> list[Batch]:
        return [Batch(pa.Table.from_batches([analyse_tasks(self._next_tasks(cost), self.setting)]))]

    def _batch(self, cores: int, idle: int) -> list[Task]:
        """The next batch for Spark: small ones in the end, so that no core is left with a large one, or with none."""
        waiting = sum(map(_cost, self._waiting))
        least = min(_LEAST, -(-waiting // idle))
        return self._next_tasks(max(least, min(_MOST, waiting // (2 * cores))))

    def _next_tasks(self, cost: int) -> list[Task]:
        tasks: list[Task] = []
        while self._waiting and cost > 0:
            tasks.append(self._waiting.pop())
            cost -= _cost(tasks[-1])
        return tasks

    def _keep(self, batch: Batch) -> Iterator[tuple[int, Outcome]]:
        number = len(self.batches)
        self.batches.append(batch)
        plain = batch.told.select(["index", "sight", "effects", "count", "findings"]).to_pylist()
        for row, each in enumerate(plain):
            index = each.pop("index")
            yield index, Outcome(self._marks.pop(index), **each, place=(number, row))

    def close(self) -> None:
        """Stop what was started. Rows are there as before; doing it again does nothing."""
        crew, self.crew = self.crew, None
        if crew is not None:
            crew.close()

    def rows(self, spec: TableSpec, places: Iterable[Place]) -> pa.Table:
        """The rows for a table of the graph that stand at some places in this process."""
        here = _by_batch(place for place in places if not self.is_kept(place))
        return rows_of((part for at, units in here.items() for part in self.batches[at].rows(spec, units)), spec)

    def names(self, places: Iterable[Place]) -> pa.Table:
        """The datasets that statements at some places name, wherever their rows are."""
        found = _by_batch(places).items()
        parts = (part for at, units in found for part in self.batches[at].rows(STATEMENTS, units, NAMED))
        return rows_of(parts, STATEMENTS, NAMED)

    def is_kept(self, place: Place) -> bool:
        """Return whether the rows at a place are on executors, where tasks write them."""
        return self.batches[place[0]].kept is not None

    def write(self, over: Mapping[Place, list[str]], store: GraphStore) -> WrittenFiles:
        """Have tasks write the rows that they kept at some places.

        Each place comes with the statements of an earlier harvest that its rows take the place of.
        REQUIRES: the tables of the graph are there.
        """
        if self.crew is None or not over:
            return WrittenFiles()
        wanted = [
            (self.batches[number], (units, [id for unit in units for id in over[number, unit]]))
            for number, units in _by_batch(over).items()
        ]
        return self.crew.write(wanted, store, _EXPECTED * len(over))

    def compact(self, store: GraphStore, names: Iterable[str]) -> None:
        """Have tasks compact the tables of the graph that they have written, where it is due."""
        tables = [spec for spec in FACTS if spec.name in set(names)]
        if self.crew is not None and tables:
            self.crew.compact(store, tables)


def start_spark(work: int, master: str | None) -> "SparkCrew | None":
    """Start Spark in the background, if a master was named or there is so much work that it is worth it."""
    if work <= 0 or (master is None and work < WORTH_SPARK):
        return None
    module = import_module("headwater.jobs.harvest.spark_executor")  # PySpark takes a third of a second to import
    return cast("SparkCrew", module.SparkCrew(master))


def _by_batch(places: Iterable[Place]) -> dict[int, list[int]]:
    units: dict[int, list[int]] = {}
    for number, unit in sorted(places):
        units.setdefault(number, []).append(unit)
    return units


def _cost(task: Task) -> int:
    return work_of(task.unit.text, task.unit.script.dialect)

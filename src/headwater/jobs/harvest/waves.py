"""Units resolved in waves, with the answer that reading the scripts in order would give.

Each round replays what is known of all units, in order, on an empty schema. A unit whose analysis saw the schema that
is there at its place is settled for now. One that did not, or was not analysed yet, is analysed in this round with
the schema at its place, unless it seems to wait for a table that a unit before it is yet to define. What a unit not
yet analysed will do is guessed from its text, or from its last analysis; a wrong guess costs another round for whom
it misled, and nothing else. When a round has nothing to analyse, every unit has seen what it must see.

In each round the first unit that is not settled has only settled ones before it, so it is settled after that: there
are never more rounds than units, and usually as many as the longest chain of tables.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from headwater.jobs.harvest.analysis import Outcome, Task
from headwater.jobs.harvest.units import Unit, last_part, may_mean, whole_unit
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import SchemaMetadata
from headwater.lineage.slices import Hashes, ReplayedResolver, Trace

_TRIES = 3  # of a unit with nothing unsettled before it, after which its last answer stands

RunTasks = Callable[[list[Task]], Iterable[tuple[int, Outcome]]]
"""Analyses tasks and returns an outcome for each, by index, in any order."""


@dataclass
class Waves:
    """The units of one dialect, in order, on their way to being settled."""

    units: list[Unit]
    schema: SchemaMetadata
    dialect: str
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # of earlier harvests, and as they are found
    rounds: int = 0
    analysed: int = 0
    recut: set[str] = field(default_factory=set)  # scripts that became one unit
    schema_now: SchemaResolver | None = None
    _traces: dict[int, tuple[Outcome, Trace]] = field(default_factory=dict)
    _tries: dict[int, int] = field(default_factory=dict)
    _hashes: Hashes = field(default_factory=Hashes)

    def ready(self) -> list[Task]:
        """The units to analyse now; none when all are settled, and `schema` is what they leave."""
        self._recut()
        self.schema_now, tasks = self._replay()
        if tasks:
            self.rounds += 1
            self.analysed += len(tasks)
            first = tasks[0].index  # everything before it is settled
            self._tries[first] = self._tries.get(first, 0) + 1
        return tasks

    def take(self, index: int, outcome: Outcome) -> None:
        """What the analysis of a unit came to."""
        self.outcomes[index] = outcome

    def _replay(self) -> tuple[ReplayedResolver, list[Task]]:
        """The schema after all units as far as they are known, and the units to analyse now."""
        schema = ReplayedResolver(self.schema, self.dialect, self._hashes)
        unsettled = _Names()
        ready: list[Task] = []
        name: str | None = None
        for index, unit in enumerate(self.units):
            if unit.script.name != name:
                schema.begin_script()
                name = unit.script.name
            trace = self._trace(index)
            first = not unsettled and not ready
            if trace is not None and (schema.fits(trace.sight) or (first and self._tries.get(index, 0) >= _TRIES)):
                unsettled.remove(unit.creates)
            else:
                if not unsettled.may_have(unit.reads):
                    ready.append(self._task(index, unit, schema, trace))
                unsettled.add(unit.creates)
            if trace is not None:
                schema.replay(trace)
        return schema, ready

    def _task(self, index: int, unit: Unit, schema: ReplayedResolver, trace: Trace | None) -> Task:
        before = (trace.sight,) if trace is not None else ()
        return Task(index, unit, schema.cut(unit.words, before))

    def _trace(self, index: int) -> Trace | None:
        outcome = self.outcomes.get(index)
        if outcome is None:
            return None
        kept = self._traces.get(index)
        if kept is None or kept[0] is not outcome:
            kept = self._traces[index] = outcome, outcome.trace()
        return kept[1]

    def _recut(self) -> None:
        """Make one unit of each script whose units are not one statement each: it was cut at the wrong places."""
        wrong = {
            self.units[index].script.name
            for index, outcome in self.outcomes.items()
            if outcome.count != 1 and not self.units[index].whole
        }
        if not wrong:
            return
        self.recut |= wrong
        units: list[Unit] = []
        outcomes: dict[int, Outcome] = {}
        for index, unit in enumerate(self.units):
            if unit.script.name not in wrong:
                if index in self.outcomes:
                    outcomes[len(units)] = self.outcomes[index]
                units.append(unit)
            elif unit.number == 0:
                units.append(whole_unit(unit.script))
        self.units, self.outcomes = units, outcomes
        self._traces.clear()
        self._tries.clear()


def settle(estates: Sequence[Waves], run: RunTasks) -> None:
    """Analyse what must be, a wave of all estates at a time."""
    while True:
        tasks = [(waves, task) for waves in estates for task in waves.ready()]
        if not tasks:
            return
        numbered = [replace(task, index=number) for number, (_, task) in enumerate(tasks)]
        for number, outcome in run(numbered):
            waves, task = tasks[number]
            waves.take(task.index, outcome)


class _Names:
    """A set of names of tables, which can be asked for names with more parts or fewer."""

    def __init__(self) -> None:
        self._by_last: dict[str, set[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_last)

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self._by_last.setdefault(last_part(name), set()).add(name)

    def remove(self, names: Iterable[str]) -> None:
        for name in names:
            same = self._by_last.get(last_part(name))
            if same is not None:
                same.discard(name)
                if not same:
                    del self._by_last[last_part(name)]

    def may_have(self, names: Iterable[str]) -> bool:
        """Whether one of some names can mean one of these."""
        if not self._by_last:
            return False
        return any(may_mean(name, each) for name in names for each in self._by_last.get(last_part(name), ()))

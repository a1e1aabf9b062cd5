"""Units resolved in waves, with the answer that reading the scripts in order would give.

Each round replays what is known of all units, in order, on an empty schema. A unit whose analysis saw the schema that
is there at its place is settled for now. One that did not, or was not analysed yet, is analysed in this round with
the schema at its place, unless it seems to wait for a table that a unit before it is yet to define. What a unit not
yet analysed will do is guessed from its text, or from its last analysis; units that a wrong guess misled are analysed
again in the next round. When a round has nothing to analyse, every unit has seen what it must see.

In each round the first unit that is not settled has only settled ones before it, so it is settled after that: there
are never more rounds than units, and usually as many as the longest chain of tables. A round need not wait for all of
the one before: units that are under way count as not settled. Nor need it begin at the beginning: units with none but
settled ones before them are settled for good.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from headwater.jobs.harvest.unit_analysis import Outcome, Task, work_of
from headwater.jobs.harvest.units import Unit, last_part, may_mean, whole_unit
from headwater.lineage.effects import UseNamespace
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import SchemaMetadata
from headwater.lineage.slices import Hashes, ReplayedResolver, Trace

_TRIES = 3  # of a unit with nothing unsettled before it, after which its last answer stands


class Crew(Protocol):
    """A pool that analyses tasks."""

    @property
    def is_hungry(self) -> bool:
        """Return whether it could do with more to do."""

    def give(self, tasks: list[Task]) -> None:
        """Add tasks to those that are to be done."""

    def take(self) -> Iterable[tuple[int, Outcome]]:
        """Wait for outcomes, one or more, in any order, each with the index of its task.

        REQUIRES: there are tasks whose outcomes were not taken yet.
        """


@dataclass
class Waves:
    """The units of one dialect, in order, on their way to being settled."""

    units: list[Unit]
    schema: SchemaMetadata
    dialect: str
    outcomes: dict[int, Outcome] = field(default_factory=dict)  # of earlier harvests, and as they are found
    rounds: int = 0
    schema_now: SchemaResolver | None = None
    _traces: dict[int, tuple[Outcome, Trace]] = field(default_factory=dict)
    _tries: dict[int, int] = field(default_factory=dict)
    _hashes: Hashes = field(default_factory=Hashes)
    _chains: list[int] = field(default_factory=list)  # by unit, as `longest_chains` has them
    _away: set[int] = field(default_factory=set)  # units whose analysis is under way
    _news: bool = True  # whether anything has come in since it was last said what is ready
    _settled: int = 0  # so many units, from the first, are settled for good
    _schema_there: ReplayedResolver | None = None  # after those

    def ready(self) -> list[Task]:
        """The units to analyse now. With none under way either, all are settled; `schema_now` is what they leave."""
        if not self._news:
            return []
        self._news = False
        self._recut()
        tasks = self._replay()
        if tasks:
            self.rounds += 1
            self._away.update(task.index for task in tasks)
        return tasks

    @property
    def is_under_way(self) -> bool:
        """Return whether units are being analysed."""
        return bool(self._away)

    def take(self, task: Task, outcome: Outcome) -> None:
        """Take in the result of a unit's analysis."""
        self._news = True
        self._away.discard(task.index)
        self.outcomes[task.index] = outcome

    def _replay(self) -> list[Task]:
        """The units to analyse now, from the schema after all units as far as they are known."""
        schema = self._advance()
        unsettled = _Names()
        ready: list[Task] = []
        for index in range(self._settled, len(self.units)):
            unit = self.units[index]
            self._enter(schema, index)
            trace = self._trace(index)
            if trace is not None and index not in self._away and schema.fits(trace.sight):
                unsettled.remove(unit.creates)  # it makes them anew: what an unsettled unit did to them is gone
            else:
                if index not in self._away and not unsettled.may_have(unit.reads):
                    ready.append(self._task(index, unit, schema, trace))
                    if index == self._settled:  # none but settled units before it: what it sees is true
                        self._tries[index] = self._tries.get(index, 0) + 1
                unsettled.add(unit.creates)
            if trace is not None:  # the last known effects are the guess, whether they hold or not
                schema.replay(trace)
        self.schema_now = schema
        return ready

    def _advance(self) -> ReplayedResolver:
        """Go on to the first unit that is not settled, and the schema there: what is before it is not seen again."""
        schema = self._schema_there or ReplayedResolver(self.schema, self.dialect, self._hashes)
        while self._settled < len(self.units):
            index = self._settled
            trace = self._trace(index) if index not in self._away else None
            if trace is None:
                break
            self._enter(schema, index)
            if not schema.fits(trace.sight) and self._tries.get(index, 0) < _TRIES:
                break
            schema.replay(trace)
            self._traces.pop(index, None)  # settled: nobody asks for it again
            self._settled += 1
        self._schema_there = schema
        return schema.fork()

    def _enter(self, schema: ReplayedResolver, index: int) -> None:
        """Begin a script with its first unit."""
        script = self.units[index].script
        if index == 0 or script.name != self.units[index - 1].script.name:
            schema.begin_script()
            catalog, default = script.namespace
            schema.apply(UseNamespace(default, catalog))

    def _task(self, index: int, unit: Unit, schema: ReplayedResolver, trace: Trace | None) -> Task:
        before = (trace.sight,) if trace is not None else ()
        self._chains = self._chains or longest_chains(self.units)
        return Task(index, unit, schema.cut(unit.words, before), self._chains[index])

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
        if not wrong or self._away:  # those under way are known by their places
            return
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
        self._chains.clear()
        self._traces.clear()
        self._tries.clear()
        self._settled, self._schema_there = 0, None


def longest_chains(units: Sequence[Unit]) -> list[int]:
    """For each unit, the work of the longest chain of units that may wait for it, itself included.

    Names are compared by their last parts only: no answer depends on it, only what is done first.
    """
    waiting: dict[str, int] = {}  # by name of a table: the longest chain of those that read it
    chains: list[int] = []
    for unit in reversed(units):
        after = max((waiting.get(last_part(name), 0) for name in unit.creates), default=0)
        chains.append(after + work_of(unit.text, unit.script.dialect))
        for name in unit.reads:
            word = last_part(name)
            waiting[word] = max(chains[-1], waiting.get(word, 0))
    return chains[::-1]


def settle(estates: Sequence[Waves], crew: Crew) -> None:
    """Analyse what must be. An estate is looked at when all that was under way is in, or when there is time."""
    numbers = count()
    away: dict[int, tuple[Waves, Task]] = {}
    while True:
        looked_at = [waves for waves in estates if crew.is_hungry or not waves.is_under_way]
        given = {next(numbers): (waves, task) for waves in looked_at for task in waves.ready()}
        away |= given
        if not away:
            return
        crew.give([dataclasses.replace(task, index=number) for number, (_, task) in given.items()])
        for number, outcome in crew.take():
            waves, task = away.pop(number)
            waves.take(task, outcome)


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
        """Return whether one of some names can mean one of these."""
        if not self._by_last:
            return False
        return any(may_mean(name, each) for name in names for each in self._by_last.get(last_part(name), ()))

"""The harvest: scripts in, one change of the graph out."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from headwater.graph.facts import Facts, Key, add_schema, add_words
from headwater.graph.report import HarvestReport, report_on
from headwater.graph.store import GraphChange, GraphStore, arrow_schema
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, UNITS
from headwater.jobs.harvest import records
from headwater.jobs.harvest.origins import origin_of
from headwater.jobs.harvest.plan import HarvestOptions, Progress, setting_of, waves_of
from headwater.jobs.harvest.runner import Place, Runner, start_spark
from headwater.jobs.harvest.sources import Estate
from headwater.jobs.harvest.unit_analysis import Outcome, work_of
from headwater.jobs.harvest.units import Script, Unit
from headwater.jobs.harvest.waves import Waves
from headwater.jobs.harvest.waves import settle as settle_waves


@dataclass(frozen=True, slots=True)
class HarvestSummary:
    """The result of a harvest."""

    harvest: str
    scripts: int
    statements: int
    analysed: int  # statements
    removed: int  # statements
    edges: int  # written
    issues: int  # written
    findings: int  # errors and warnings in all that was harvested, now or earlier
    waves: int
    seconds: float
    used_spark: bool
    report: HarvestReport  # on all that was harvested, now or earlier


def harvest(store: GraphStore, estate: Estate, options: HarvestOptions | None = None) -> HarvestSummary:
    """Bring the lineage of an estate into the graph, in one change; of what is there already, only what has changed.

    Statements that were there under the same roots and are no more lose their lineage.
    RAISES: DialectError, SchemaError, InputError.
    """
    options = options or HarvestOptions()
    started = datetime.now(UTC)
    memory = records.recall(store, estate.roots)
    with ThreadPoolExecutor(1) as beside, closing(_runner(estate, options, memory)) as runner:
        settled = settle(estate.scripts, runner, memory, options.progress)
        add_words(settled.schema, estate.words)
        change = _change(store, settled, memory, beside, options.gone)
        change.origin = origin_of(change.id, estate.roots)
        change.record |= _record(estate, settled, memory) | {"started": started}
        runner.batches.clear()  # the change has their rows
        store.apply(change)
        runner.compact(store, change.written)
        ending = beside.submit(runner.close)  # Spark takes its time to stop, and what follows does without it
        report = report_on(store.state(), estate.roots)
        ending.result()
    return HarvestSummary(
        harvest=change.id,
        scripts=len(estate.scripts),
        findings=sum(outcome.findings for _, outcome in settled.outcomes),
        report=report,
        used_spark=runner.used_spark,
        seconds=(datetime.now(UTC) - started).total_seconds(),
        **{name: change.record[name] for name in _COUNTED},
    )


def _record(estate: Estate, settled: "Settled", memory: records.Memory) -> dict[str, Any]:
    """Return what is kept of a harvest, besides the rows that it writes."""
    now = {unit.id for unit, _ in settled.outcomes}
    outcomes = [outcome for _, outcome in settled.outcomes]
    return {
        "kind": "harvest",
        "sources": list(estate.roots),
        "dialects": sorted({script.dialect or "generic" for script in estate.scripts}),
        "statements": sum(outcome.count for outcome in outcomes),
        "analysed": sum(outcome.count for outcome in outcomes if outcome.place is not None),
        "removed": sum(record.outcome.count for id, record in memory.there.items() if id not in now),
        "waves": settled.waves,
    }


_COUNTED = ("statements", "analysed", "removed", "edges", "issues", "waves")


@dataclass
class Settled:
    """Scripts after analysis: what each unit came to, the rows of those analysed now, and the schema in the end."""

    runner: Runner
    outcomes: list[tuple[Unit, Outcome]] = field(default_factory=list)
    schema: Facts = field(default_factory=Facts)
    waves: int = 0

    @property
    def places(self) -> list[Place]:
        """Return where the rows of units are that were analysed now."""
        return [each.place for _, each in self.outcomes if each.place is not None]


def _runner(estate: Estate, options: HarvestOptions, memory: records.Memory) -> Runner:
    crew = None
    if options.spark and not memory.known:  # Spark starts while the schema is read
        work = sum(work_of(script.text, script.dialect) for script in estate.scripts)
        crew = start_spark(work, options.master)
    try:
        return Runner(setting_of(estate, options), options.master, options.spark, crew)
    except BaseException:
        if crew is not None:
            crew.close()
        raise


def settle(
    scripts: Sequence[Script],
    runner: Runner,
    memory: records.Memory,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Settled:
    """Analyse scripts as far as they are not known. Each dialect is an estate of its own."""
    settled = Settled(runner)
    if runner.crew is not None:
        runner.crew.tell(runner.setting)
    estates = [waves_of(scripts, dialect, runner.setting, memory.known) for dialect in runner.setting.schemas]
    expected = sum(len(waves.units) - len(waves.outcomes) for waves in estates)
    seen: Counter[str] = Counter()

    def report(outcomes: list[Outcome]) -> None:
        seen["done"] += len(outcomes)
        seen["statements"] += sum(each.count for each in outcomes)
        seen["findings"] += sum(each.findings for each in outcomes)
        rounds = max(waves.rounds for waves in estates)
        progress(Progress(len(scripts), max(seen["done"], expected), wave=rounds, **seen))

    runner.progress = report
    runner.expect(sum(_work(waves) for waves in estates))
    settle_waves(estates, runner)
    for waves in estates:
        assert waves.schema_now is not None
        add_schema(settled.schema, waves.schema_now.resolved(), waves.schema)
        settled.outcomes += [(unit, waves.outcomes[index]) for index, unit in enumerate(waves.units)]
        settled.waves = max(settled.waves, waves.rounds)
    return settled


def _work(waves: Waves) -> int:
    """The amount of SQL to analyse, as far as is known now."""
    left = (unit for index, unit in enumerate(waves.units) if index not in waves.outcomes)
    return sum(work_of(unit.text, unit.script.dialect) for unit in left)


def _change(
    store: GraphStore, settled: Settled, memory: records.Memory, beside: Executor, forgotten: tuple[str, ...] = ()
) -> GraphChange:
    """Return what is to be written and removed so that the graph is what the scripts say.

    Tasks write their rows while this process works out the rest.
    """
    change = GraphChange()
    fresh = [(unit, outcome) for unit, outcome in settled.outcomes if outcome.place is not None]
    now = {unit.id for unit, _ in settled.outcomes}
    touched = {unit.id for unit, _ in fresh}
    over = [record for id, record in memory.there.items() if id in touched or id not in now]
    stays = [
        id
        for record in memory.there.values()
        if record.unit in now and record.unit not in touched
        for id in record.statements
    ]
    kept, statements = _shared_out(settled, over)
    if kept:
        store.create()
    writing = beside.submit(settled.runner.write, kept, store)
    tables = {spec.name: settled.runner.rows(spec, settled.places) for spec in records.REPLACED}
    removed: dict[str, list[Key]] = {UNITS.name: [(record.unit,) for record in over if record.unit not in now]}
    for spec in records.REPLACED:
        removed[spec.name] = records.gone(store, spec, statements, tables[spec.name])
    names = records.names_of(store, memory, settled.runner.names(settled.places), stays, forgotten)
    columns, removed[COLUMNS.name] = records.changed_columns(store, settled.schema.of(COLUMNS), names)
    known = [key[0] for key in settled.schema.rows[DATASETS.name]]
    datasets, removed[DATASETS.name] = records.changed_datasets(store, names, known)
    tables[DATASETS.name] = pa.Table.from_pylist(datasets, arrow_schema(DATASETS))
    tables[COLUMNS.name] = pa.Table.from_pylist(columns, arrow_schema(COLUMNS))
    units = list(records.unit_rows(fresh, change.id))
    tables[UNITS.name] = pa.Table.from_pylist(units, arrow_schema(UNITS))
    files = writing.result()
    change.record = {name: len(tables[name]) + files.rows.get(name, 0) for name in (EDGES.name, ISSUES.name)}
    change.tables, change.removed, change.written = tables, removed, files.placed
    return change


def _shared_out(settled: Settled, over: Sequence[records.UnitRecord]) -> tuple[dict[Place, list[str]], list[str]]:
    """The statements of earlier harvests whose rows may have to go: for each place on executors those it has rows
    of, and apart from them the others."""
    kept: dict[Place, list[str]] = {place: [] for place in settled.places if settled.runner.is_kept(place)}
    owner = {
        id: outcome.place
        for unit, outcome in settled.outcomes
        if outcome.place in kept
        for id in records.statement_ids(unit.script.name, unit.number, outcome.count)
    }
    others: list[str] = []
    for id in dict.fromkeys(id for record in over for id in record.statements):
        place = owner.get(id)
        (others if place is None else kept[place]).append(id)
    return kept, others

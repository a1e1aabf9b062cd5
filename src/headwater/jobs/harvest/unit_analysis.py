"""One unit analysed: what runs in a Spark task, or in this process. The same unit and slice give the same answer."""

from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from headwater.analysis.analyze import moved_to_template, rendered
from headwater.analysis.engines import Engine, open_front_end
from headwater.analysis.template import Rendered, TemplateOptions
from headwater.errors import FINDINGS, CorruptFileError, Severity
from headwater.graph.facts import Facts, Row, StatementPlace, add_issues, add_statement, with_results
from headwater.graph.tables import EDGES, ISSUES, STATEMENTS
from headwater.jobs.harvest.units import Shift, Unit
from headwater.lineage.effects import SchemaEffect
from headwater.lineage.effects_wire import decode_effects, encode_effects
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import SchemaMetadata
from headwater.lineage.script import analyze_script, failure_of
from headwater.lineage.slices import Hashes, Sight, Slice, Trace, WatchedResolver, digest
from headwater.lineage.statement import StatementLineage, Status
from headwater.text import Source

if TYPE_CHECKING:
    from headwater.jobs.harvest.preludes import SharedFunctions

FACTS = (STATEMENTS, EDGES, ISSUES)
_VERSION = version("headwater")
_FORM = 2  # of what is kept of a unit; one of another form is analysed anew
GOOGLE = ("bigquery", "spanner")


def work_of(text: str, dialect: str | None) -> int:
    """About how long a text takes, in characters of SQL: ZetaSQL takes fifteen times as long as the others."""
    return len(text) * (15 if dialect in GOOGLE else 1)


@dataclass(frozen=True)
class HarvestSetting:
    """The settings that all units of a harvest share. Picklable."""

    schemas: dict[str | None, SchemaMetadata]  # by dialect
    engine: Engine = "auto"
    template: TemplateOptions = field(default_factory=TemplateOptions)

    def mark(self, unit: Unit) -> str:
        """A hash of a unit and of how it is read: an analysis with the same mark and sight is the same."""
        template = self.template
        reading = f"{_VERSION} {_FORM} {self.engine} {template.schema} {template.incremental}"
        variables = repr(sorted(template.variables.items())) if unit.whole else ""
        return digest(unit.fingerprint.encode(), reading.encode(), variables.encode())


@dataclass(frozen=True, slots=True)
class Task:
    """A unit to be analysed with what it can see."""

    index: int
    unit: Unit
    part: Slice
    chain: int = 0  # the work that may wait for it, itself included

    def alone(self) -> "Task":
        """The same without the script around the unit, which may be long; the unit has its own text."""
        return replace(self, unit=replace(self.unit, script=replace(self.unit.script, text="")))


def analyse_rows(tasks: list[Task], setting: HarvestSetting) -> list[Row]:
    """Analyse units, each on its own: one that makes Headwater fail is one issue, and the others are as without it.

    RAISES: EngineError or MissingDependencyError when an engine cannot be used at all.
    """
    shared = _foresee(tasks, setting)
    hashes = Hashes()
    return [_analyse_or_fail(task, setting, hashes, shared) for task in tasks]


Shared: TypeAlias = dict[str | None, "SharedFunctions | None"]  # by dialect


def _foresee(tasks: list[Task], setting: HarvestSetting) -> Shared:
    """Let each front end know what it is going to read, and take in the functions that several units call."""
    shared: Shared = {}
    for dialect in dict.fromkeys(task.unit.script.dialect for task in tasks):
        front_end, name = open_front_end(dialect, setting.engine)
        schema = setting.schemas[dialect]
        same = [task for task in tasks if task.unit.script.dialect == dialect]
        try:
            if name in GOOGLE:
                apart = SchemaResolver(schema, dialect=name)
                shared[dialect] = _preludes().share_functions((task.unit for task in same), front_end, apart)
            front_end.foresee((task.unit.text, WatchedResolver(schema, name, task.part)) for task in same)
        except Exception as err:
            failure_of(err)  # no answer depends on it: the unit that it fails on says so itself
    return shared


def _preludes() -> Any:
    """The module for functions of GoogleSQL. It imports ZetaSQL, which an unchanged estate does not need."""
    return import_module("headwater.jobs.harvest.preludes")


def _analyse_or_fail(task: Task, setting: HarvestSetting, hashes: Hashes, shared: Shared) -> Row:
    try:
        return _analyse(task, setting, hashes, shared)
    except Exception as err:
        return failed_row(task, setting, err)


def _analyse(task: Task, setting: HarvestSetting, hashes: Hashes, shared: Shared) -> Row:
    unit = task.unit
    front_end, dialect = open_front_end(unit.script.dialect, setting.engine)  # new, so that it knows no script
    resolver = WatchedResolver(setting.schemas[unit.script.dialect], dialect, task.part)
    known = shared.get(unit.script.dialect)
    if unit.prelude or known is not None:
        _preludes().tell_functions(unit, front_end, resolver, known)
    text = unit.script.rendered
    source = Source(unit.text if text is None else text.template.text, unit.script.name)
    text = text or rendered(source, setting.template if unit.whole else None, dialect)
    lineages: list[StatementLineage] = []
    for lineage in analyze_script(Source(text.text, source.name), front_end, resolver):
        lineages.append(_doubted(moved_to_template(lineage, text, 0, source.name), unit, text))
    sight = resolver.sight(hashes)
    used = {table.name for lineage in lineages for table in lineage.sources}
    used |= {lineage.target for lineage in lineages if lineage.target is not None}
    schema = resolver.hashes_of(used, hashes)
    lineages = with_results(lineages, unit.script.name, unit.number, is_only=unit.is_only)
    facts = _facts(unit, source, lineages, digest(setting.mark(unit).encode(), *map(str.encode, schema)))
    add_issues(facts, unit.script.name, text.issues)
    issues = [*text.issues, *(issue for lineage in lineages for issue in lineage.issues)]
    return _row(task, facts, sight, [] if unit.script.is_rough else resolver.told) | {
        "count": len({lineage.index for lineage in lineages}),
        "findings": sum(issue.severity in FINDINGS for issue in issues),
    }


def _doubted(lineage: StatementLineage, unit: Unit, text: Rendered) -> StatementLineage:
    """The lineage of a statement as far as its template is known: what that is in doubt of, the statement is."""
    if unit.script.is_rough:
        failed = not lineage.sources and any(issue.severity is Severity.ERROR for issue in text.issues)
        status = Status.ERROR if failed else Status.TABLE_ONLY
        return replace(lineage, status=status, edges=(), columns=(), issues=())
    return lineage


def failed_row(task: Task, setting: HarvestSetting, err: Exception) -> Row:
    """A unit that made Headwater fail, as one statement with one issue at its place. It saw and did nothing."""
    unit = task.unit
    source = Source(unit.text, unit.script.name)
    lineage = failure_of(err, source.span(0, len(unit.text)))
    facts = _facts(unit, source, [lineage], setting.mark(unit))
    return _row(task, facts, Sight(namespace=task.part.namespace), []) | {"count": 1, "findings": 1}


def _row(task: Task, facts: Facts, sight: Sight, told: list[SchemaEffect]) -> Row:
    return {
        "index": task.index,
        "sight": msgspec.msgpack.encode(sight),
        "effects": encode_effects(told),
        **{spec.name: [_shifted(row, task.unit.shift) for row in facts.of(spec)] for spec in FACTS},
    }


def _facts(unit: Unit, source: Source, lineages: list[StatementLineage], fingerprint: str) -> Facts:
    facts = Facts()
    script = unit.script
    for index, same in groupby(lineages, key=lambda each: each.index):
        number = unit.number + index
        observed = (script.observed_reads, script.observed_writes) if number == 0 else ((), ())
        place = StatementPlace(number, source, script.dialect, fingerprint, script.user, script.time, *observed)
        add_statement(facts, same, place)
    return facts


def _shifted(row: Row, shift: Shift) -> Row:
    """A row whose places are those of the script."""
    if row.get("line") is None:
        return row
    moved = {name: shift.place(row[name]) for name in ("start", "end") if row.get(name) is not None}
    line = row["line"]
    moved["line"] = line + shift.line
    if row.get("column") is not None and "severity" in row:
        column = row["column"] + (shift.column if line == 1 else 0)
        moved["column"] = max(1, column - shift.size) if line == shift.at_line else column
    return row | moved


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a unit's analysis, as far as it concerns the schema; its rows for the graph are kept
    elsewhere."""

    fingerprint: str
    sight: bytes
    effects: bytes
    count: int
    findings: int
    place: tuple[int, int] | None = None  # of its rows for the graph; None when those are in the graph already

    def trace(self) -> Trace:
        effects: tuple[SchemaEffect, ...] = decode_effects(self.effects)
        try:
            return Trace(msgspec.msgpack.decode(self.sight, type=Sight), effects)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise CorruptFileError(f"what a script saw of the schema cannot be read: {err}") from err

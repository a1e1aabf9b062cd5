"""One side of a change, analysed: its units with their rows, its tables with their columns, kept by content.

    {cache}/review/{repository}/{key}.side    zlib over MessagePack of `_Kept`

The key is a hash of the tree and of everything else that the analysis depends on. A side that is not kept begins with
the units of one that is: those with the same text that saw the same schema are not analysed again.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from headwater import cache
from headwater.graph.collect import facts_of
from headwater.graph.facts import Row
from headwater.graph.tables import EDGES, ISSUES, STATEMENTS
from headwater.jobs.harvest.plan import HarvestOptions, setting_of, waves_of
from headwater.jobs.harvest.sources import Estate
from headwater.jobs.harvest.unit_analysis import HarvestSetting, Outcome, Task, analyse_rows, work_of
from headwater.jobs.harvest.waves import Waves, settle
from headwater.lineage.result import AnalyzeResult
from headwater.lineage.schema import ResolvedSchemaTable
from headwater.lineage.slices import digest
from headwater.model.edges import InfluenceClass, Kind

FORM = 2  # of what is kept; another form has another key
_AT_ONCE = 1_500_000  # work that is analysed together
ENDING = ".side"
_OF_SESSION = re.compile(r"[#@]|:(?![/\d])")


def is_of_session(name: str) -> bool:
    """Return whether a name is that of a variable or of a table that ends with its session."""
    return _OF_SESSION.search(name) is not None


class Flow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One edge, as `lineage.edges` has it."""

    target: str
    target_column: str
    source: str
    source_column: str
    kind: str
    expression: str | None
    masking: bool
    approximate: str | None
    file: str | None
    line: int | None

    @property
    def influence(self) -> InfluenceClass:
        """The way in which the source matters to the target."""
        return Kind(self.kind).influence


class StatementRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One statement, as `lineage.statements` has it."""

    statement: str
    type: str
    target: str | None
    reads: list[str]
    status: str
    line: int | None

    @property
    def makes_view(self) -> bool:
        """Return whether nothing has to be rebuilt for what it makes."""
        return "VIEW" in self.type.upper()


class IssueRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One issue, as `lineage.issues` has it."""

    code: str
    severity: str
    message: str
    hint: str | None
    file: str | None
    line: int | None
    column: int | None


class AnalysedUnit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A unit as it was analysed; its edges and findings are packed, for most are never looked at."""

    id: str
    file: str
    dialect: str | None
    outcome: tuple[str, bytes, bytes, int, int]  # as `Outcome` has it
    statements: list[StatementRecord]
    packed: bytes

    @property
    def form(self) -> tuple[str, bytes]:
        """A value that two units share whose analyses say the same."""
        return self.outcome[0], self.outcome[1]


class _Packed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    text: str
    statements: list[str]
    flows: list[Flow]
    findings: list[IssueRecord]


class TableRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A table at the end of the scripts: its columns with their types, and whether there may be others."""

    columns: dict[str, str | None]
    complete: bool


class DatasetNotes(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The description and owner of a table by its project, and the descriptions of columns."""

    table: str
    description: str | None
    owner: str | None
    columns: dict[str, str]


class _Kept(msgspec.Struct, frozen=True, array_like=True, gc=False):
    units: list[AnalysedUnit]
    tables: dict[str, TableRecord]
    declared: list[str]
    words: list[DatasetNotes]
    warnings: list[str]


@dataclass(frozen=True)
class Side:
    """One side of a change."""

    kept: _Kept
    analysed: int = 0  # units, this time
    _opened: dict[str, _Packed] = field(default_factory=dict)

    @cached_property
    def units(self) -> dict[str, AnalysedUnit]:
        """The units by id."""
        return {unit.id: unit for unit in self.kept.units}

    @cached_property
    def writers(self) -> dict[str, list[AnalysedUnit]]:
        """The units that write each dataset."""
        return _by(self.kept.units, lambda statement: [statement.target] if statement.target else [])

    @cached_property
    def readers(self) -> dict[str, list[AnalysedUnit]]:
        """The units that read each dataset."""
        return _by(self.kept.units, lambda statement: statement.reads)

    @cached_property
    def made(self) -> frozenset[str]:
        """The datasets that are there by what the repository holds: those written, and those declared in full."""
        return frozenset(self.writers) | frozenset(self.kept.declared)

    @property
    def tables(self) -> dict[str, TableRecord]:
        """The tables by name."""
        return self.kept.tables

    def flows(self, unit: AnalysedUnit) -> list[Flow]:
        """The edges of a unit."""
        return self._open(unit).flows

    def findings(self, unit: AnalysedUnit) -> list[IssueRecord]:
        """The findings in a unit."""
        return self._open(unit).findings

    def text(self, unit: AnalysedUnit) -> str:
        """The SQL of a unit, rendered."""
        return self._open(unit).text

    def text_for(self, unit: AnalysedUnit, target: str) -> str:
        """The SQL of a unit without its statements that write other datasets: variables and conditions stay."""
        packed = self._open(unit)
        text, at = packed.text, 0
        for own, each in zip(packed.statements, unit.statements):
            found = text.find(own, at) if own else -1
            if found < 0:  # a template made it: which part of the text it is cannot be told
                return packed.text
            is_other = each.target not in (None, target) and "@" not in str(each.target)
            text, at = (text[:found] + text[found + len(own) :], found) if is_other else (text, found + len(own))
        return text

    def statements_for(self, unit: AnalysedUnit, target: str) -> list[str]:
        """The SQL of the statements of a unit that write a dataset."""
        return [
            text for text, each in zip(self._open(unit).statements, unit.statements) if each.target == target and text
        ]

    def _open(self, unit: AnalysedUnit) -> _Packed:
        found = self._opened.get(unit.id)
        if found is None:
            found = self._opened[unit.id] = msgspec.msgpack.decode(zlib.decompress(unit.packed), type=_Packed)
        return found


def _by(
    units: Iterable[AnalysedUnit], names: Callable[[StatementRecord], Iterable[str]]
) -> dict[str, list[AnalysedUnit]]:
    found: dict[str, list[AnalysedUnit]] = {}
    for unit in units:
        for name in dict.fromkeys(name for statement in unit.statements for name in names(statement)):
            found.setdefault(name, []).append(unit)
    return found


def kept_side(folder: str, key: str, make: Callable[[], Side], told: Callable[[float], None]) -> Side:
    """The side of a key: from the cache of a repository, or made and put there, by one process while others wait."""
    fresh: list[Side] = []

    def write(path: Path) -> None:
        fresh.append(make())
        path.write_bytes(zlib.compress(msgspec.msgpack.encode(fresh[0].kept), 1))

    def read(path: Path) -> Side | None:
        return fresh[0] if fresh else _read(path)

    found = cache.find_or_make(f"review/{folder}", f"{key}{ENDING}", read, write, told)
    return found or (fresh[0] if fresh else make())


def _read(path: Path) -> Side | None:
    try:
        return Side(msgspec.msgpack.decode(zlib.decompress(path.read_bytes()), type=_Kept))
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None


def nearest_side(folder: str) -> Side | None:
    """The side of a repository that was kept last: most of its units are those of any other."""
    files = [each for place in cache.folders(f"review/{folder}") for each in place.glob(f"*{ENDING}")]
    ages = sorted(((each.stat().st_mtime, each) for each in files), reverse=True)
    return next((side for _, each in ages if (side := cache.find(f"review/{folder}", each.name, _read))), None)


def analyse_side(estate: Estate, options: HarvestOptions, before: Side | None) -> Side:
    """Analyse an estate in this process, beginning with what a side that is kept already knows."""
    setting = setting_of(estate, options)
    known = before.units if before is not None else {}
    outcomes = {id: Outcome(*unit.outcome) for id, unit in known.items()}
    crew = _Crew(setting)
    every = [waves_of(estate.scripts, dialect, setting, outcomes) for dialect in setting.schemas]
    settle(every, crew)
    units = [_unit(waves, index, crew, known) for waves in every for index in range(len(waves.units))]
    tables = {name: table for waves in every for name, table in _tables(waves)}
    declared = [".".join(each.parts) for each in estate.tables if each.complete]
    words = [
        DatasetNotes(".".join(each.table), each.description, each.owner, dict(each.columns)) for each in estate.words
    ]
    return Side(_Kept(units, tables, declared, words, list(estate.warnings)), crew.done)


@dataclass
class _Crew:
    """Analyses units here, and keeps their rows by mark and sight."""

    setting: HarvestSetting
    rows: dict[tuple[str, str, bytes], Row] = field(default_factory=dict)
    done: int = 0
    _waiting: list[Task] = field(default_factory=list)

    @property
    def is_hungry(self) -> bool:
        """Return whether there is nothing to do."""
        return not self._waiting

    def give(self, tasks: list[Task]) -> None:
        """Add tasks. Those come first that most work may wait for, then the earliest."""
        self._waiting += tasks
        self._waiting.sort(key=lambda task: (task.chain, -task.index))

    def take(self) -> Iterable[tuple[int, Outcome]]:
        """Analyse some of the tasks."""
        tasks: list[Task] = []
        work = _AT_ONCE
        while self._waiting and work > 0:
            tasks.append(self._waiting.pop())
            work -= work_of(tasks[-1].unit.text, tasks[-1].unit.script.dialect)
        self.done += len(tasks)
        for task, row in zip(tasks, analyse_rows(tasks, self.setting)):
            mark = self.setting.mark(task.unit)
            self.rows[task.unit.id, mark, row["sight"]] = row
            yield task.index, Outcome(mark, row["sight"], row["effects"], row["count"], row["findings"], (0, 0))


def _unit(waves: Waves, index: int, crew: _Crew, known: Mapping[str, AnalysedUnit]) -> AnalysedUnit:
    """A settled unit with its rows: those analysed now, or those that are kept."""
    unit, outcome = waves.units[index], waves.outcomes[index]
    if outcome.place is None:
        return known[unit.id]
    row = crew.rows[unit.id, outcome.fingerprint, outcome.sight]
    form = outcome.fingerprint, outcome.sight, outcome.effects, outcome.count, outcome.findings
    return packed_unit(unit.id, unit.script.name, unit.script.dialect, form, (unit.text, row))


def packed_unit(
    id: str, file: str, dialect: str | None, form: tuple[str, bytes, bytes, int, int], content: tuple[str, Row]
) -> AnalysedUnit:
    """A unit of its text and its rows for the graph, by table."""
    text, rows = content
    statements = [
        StatementRecord(
            each["statement"], each["type"] or "", each["target"], each["reads"], each["status"], each["line"]
        )
        for each in rows["statements"]
    ]
    flows = [Flow(*(each[name] for name in Flow.__struct_fields__)) for each in rows["edges"]]
    findings = [IssueRecord(*(each[name] for name in IssueRecord.__struct_fields__)) for each in rows["issues"]]
    texts = [each["text"] or "" for each in rows["statements"]]
    packed = zlib.compress(msgspec.msgpack.encode(_Packed(text, texts, flows, findings)), 1)
    return AnalysedUnit(id, file, dialect, form, statements, packed)


def side_of_texts(result: AnalyzeResult, dialect: str | None) -> Side:
    """The side that texts are which were analysed together, without a repository."""
    facts = facts_of(result, dialect)
    units = []
    for row in facts.of(STATEMENTS):
        own = {
            spec.name: [each for each in facts.of(spec) if each["statement"] == row["statement"]]
            for spec in (STATEMENTS, EDGES, ISSUES)
        }
        units.append(packed_unit(row["statement"], row["source"], dialect, _NO_FORM, (row["text"] or "", own)))
    schema = result.resolved_schema
    tables = dict(_known_tables(schema.tables)) if schema is not None else {}
    return Side(_Kept(units, tables, [], [], []))


_NO_FORM = ("", b"", b"", 0, 0)


def _tables(waves: Waves) -> Iterable[tuple[str, TableRecord]]:
    assert waves.schema_now is not None
    return _known_tables(waves.schema_now.resolved().tables)


def _known_tables(tables: Iterable[ResolvedSchemaTable]) -> Iterable[tuple[str, TableRecord]]:
    for table in tables:
        name = ".".join(part for part in (table.catalog, table.schema, table.name) if part)
        yield name, TableRecord({column.name: column.data_type for column in table.columns}, table.complete)


def side_key(*parts: object) -> str:
    """The key of a side: a hash of everything it depends on."""
    return digest(*(str(part).encode("utf-8", "replace") for part in (FORM, *parts)))

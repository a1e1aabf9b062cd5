"""The changes between two sides, each with its risk and its readers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import Enum

from headwater.analysis.engines import Engine
from headwater.graph.tables import WHOLE
from headwater.review.expressions import Words, plain_words
from headwater.review.reach import EXPOSURE, ColumnReader, Reach
from headwater.review.shape import DatasetShape, Derivation, same, same_words, shape_of
from headwater.review.side import AnalysedUnit, IssueRecord, Side, is_of_session
from headwater.review.statement_diff import PlacedChanges, compare_statements

_RESULT = re.compile(r"#\d+$")  # a query of a script whose rows go to the client


class Risk(Enum):
    """The effect that a change can have on those who read what it changes."""

    BREAKING = "breaking"  # a statement of the head reads what is no longer there
    POSSIBLY = "possibly"  # something that was there is gone or different
    ADDITIVE = "additive"  # nothing that was there is different


class ChangeKind(Enum):
    """The kinds of changes, by what they are called in every format."""

    TABLE_REMOVED = "table removed"
    TABLE_RENAMED = "table renamed"
    COLUMN_REMOVED = "column removed"
    COLUMN_RENAMED = "column renamed"
    TYPE_CHANGED = "type changed"
    COMPUTED = "computed differently"
    ROWS = "other rows"
    REWRITTEN = "rewritten"
    AROUND = "variables or conditions"
    UNCLEAR = "no longer understood"
    COLUMN_ADDED = "column added"
    TABLE_ADDED = "table added"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two sides. `follows` says that the text that makes the dataset is the same."""

    kind: ChangeKind
    risk: Risk
    dataset: str
    column: str | None = None
    before: str | None = None
    after: str | None = None
    file: str | None = None
    line: int | None = None
    follows: bool = False
    readers: tuple[ColumnReader, ...] = ()
    reaches: tuple[str, ...] = ()  # datasets, nearest first

    @property
    def name(self) -> str:
        """The column or dataset."""
        return self.dataset if self.column is None else f"{self.dataset}.{self.column}"


@dataclass
class Sides:
    """Two sides, with the files that git takes for renamed."""

    base: Side
    head: Side
    renamed_files: dict[str, str]
    engine: Engine = "auto"

    def __post_init__(self) -> None:
        self._old, self._new = self._differing(self.base, self.head), self._differing(self.head, self.base)
        self._results_gone: set[str] = set()
        self._results_come: set[str] = set()
        self._respelt = self._spelt_otherwise() | self._renumbered()
        self.tables = self._respelt | self._renamed_tables()
        self._around: dict[str, dict[str, None]] = {}  # file → tables
        self.reach = Reach(self.head)
        self.before = Reach(self.base)

    @staticmethod
    def _differing(side: Side, other: Side) -> list[AnalysedUnit]:
        """The units of a side that the other has not, or that said otherwise there."""
        there = other.units
        return [unit for id, unit in sorted(side.units.items()) if id not in there or there[id].form != unit.form]

    def _spelt_otherwise(self) -> dict[str, str]:
        """The tables whose names differ in their case alone: old → new."""
        folded = {name.casefold(): name for name in self.head.made - self.base.made}
        gone = self.base.made - self.head.made
        return {name: folded[name.casefold()] for name in gone if name.casefold() in folded}

    def _renumbered(self) -> dict[str, str]:
        """The results of scripts that have another number, since a query before them came or went: old → new."""
        sides = self._results(self.base, self._old), self._results(self.head, self._new)
        found: dict[str, str] = {}
        for file in sorted(sides[0].keys() & sides[1].keys()):
            old, new = (side[file] for side in sides)
            matcher = SequenceMatcher[tuple[Words, ...]](None, list(old.values()), list(new.values()), autojunk=False)
            for _, start, end, begin, stop in matcher.get_opcodes():
                gone, come = list(old)[start:end], list(new)[begin:stop]
                if len(gone) == len(come):
                    found |= dict(zip(gone, come))
                else:
                    self._results_gone.update(gone)
                    self._results_come.update(come)
        return {name: after for name, after in found.items() if name != after}

    def _results(self, side: Side, units: list[AnalysedUnit]) -> dict[str, dict[str, tuple[Words, ...]]]:
        """The numbered results of units with their queries, by file."""
        found: dict[str, dict[str, tuple[Words, ...]]] = {}
        for unit in units:
            for name in (each.target for each in unit.statements if each.target and _RESULT.search(each.target)):
                found.setdefault(unit.file, {})[name] = tuple(self._own_words(side, name))
        return found

    def _renamed_tables(self) -> dict[str, str]:
        """The tables that a file makes under another name, which may have been renamed itself: old → new."""
        sides = self._targets(self._old), self._targets(self._new)
        found = {}
        for file, before in sides[0].items():
            gone = before - self.head.made - self._respelt.keys()
            come = sides[1].get(self.renamed_files.get(file, file), set()) - self.base.made
            if len(gone) == len(come) == 1:
                found[gone.pop()] = come.pop()
        return found

    @staticmethod
    def _targets(units: list[AnalysedUnit]) -> dict[str, set[str]]:
        """The tables that units make, by file."""
        found: dict[str, set[str]] = {}
        for unit in units:
            found.setdefault(unit.file, set()).update(each.target for each in unit.statements if each.target)
        return found

    def changes(self) -> list[Change]:
        """All changes, those first that break something."""
        found: list[Change] = []
        for name in sorted(self._touched()):
            if not name.startswith(EXPOSURE):  # it reads tables, and is told as their reader
                found += self._of(name)
        found += [self._told(ChangeKind.TABLE_ADDED, shape_of(self.head, name, str)) for name in self._results_come]
        found += self._told_around()
        order = {risk: at for at, risk in enumerate(Risk)}
        return sorted(found, key=lambda each: (order[each.risk], each.follows, each.dataset))

    def _touched(self) -> set[str]:
        """The datasets of the base, by the names they have there, and those that only the head has."""
        names = {each.target for unit in self._old for each in unit.statements if each.target}
        back = {new: old for old, new in self.tables.items()}
        names |= {back.get(each.target, each.target) for unit in self._new for each in unit.statements if each.target}
        made = (self.base.made | self.head.made) - back.keys()
        tables = self.base.tables, self.head.tables
        names -= self._results_come - self.base.made
        return (
            names
            | {name for name in made if tables[0].get(name) != tables[1].get(self.tables.get(name, name))}
            | self.tables.keys()
        )

    def _of(self, name: str) -> Iterator[Change]:
        new = self.tables.get(name, name)
        if name not in self.base.made and new in self.head.made:
            shape = shape_of(self.head, new, str)
            yield self._told(ChangeKind.TABLE_ADDED, shape)
            return
        if new not in self.head.made or name in self._results_gone:
            if name in self.base.made:
                old = shape_of(self.base, name, str)
                readers = self.reach.readers(name, None)
                yield replace(self._told(ChangeKind.TABLE_REMOVED, old, broken=bool(readers)), readers=readers)
            return
        sides = shape_of(self.base, name, lambda each: self.tables.get(each, each)), shape_of(self.head, new, str)
        if new != name and name not in self._respelt:
            readers = self.reach.readers(name, None)
            made = self._told(ChangeKind.TABLE_RENAMED, sides[1], broken=bool(readers))
            yield replace(made, before=name, after=new, readers=readers)
        yield from self._between(*sides)

    def _between(self, old: DatasetShape, new: DatasetShape) -> Iterator[Change]:
        """The changes of a dataset that both sides have."""
        if new.unclear and not old.unclear:
            yield self._told(ChangeKind.UNCLEAR, new, follows=same_words(old, new, self.tables))
            return
        follows = same_words(old, new, self.tables)
        placed = None if follows or old.unclear else self._placed(old, new)
        found = [] if old.unclear else [*self._columns(old, new), *self._made(old, new, placed or {})]
        if not found and not follows and placed is None:
            own = self._own_words(self.head, new.name)
            if own and new.file is not None and own == self._own_words(self.base, old.name):
                self._around.setdefault(new.file, {})[new.name] = None
            else:
                found = [self._told(ChangeKind.REWRITTEN, new)]
        yield from (replace(each, follows=follows) for each in found)

    @staticmethod
    def _own_words(side: Side, name: str) -> list[Words]:
        """The statements that write a dataset, without what stands around them in procedures."""
        units = side.writers.get(name, [])
        return [plain_words(text, unit.dialect) for unit in units for text in side.statements_for(unit, name)]

    def _told_around(self) -> Iterator[Change]:
        """One change for each file whose statements differ only in the variables and conditions around them."""
        for file, names in self._around.items():
            reaches = dict.fromkeys(each for name in names for each in (name, *self.reach.beyond(name, None)))
            kept = tuple(name for name in reaches if not is_of_session(name))
            yield Change(ChangeKind.AROUND, Risk.POSSIBLY, file, file=file, reaches=kept)

    def _placed(self, old: DatasetShape, new: DatasetShape) -> PlacedChanges | None:
        """The columns that the difference of two texts concerns; None when that is not known."""
        units = self.base.writers.get(old.name, []), self.head.writers.get(new.name, [])
        if len(units[0]) != 1 or len(units[1]) != 1:
            return None
        return compare_statements((self.base, units[0][0]), (self.head, units[1][0]), self.engine)

    def _columns(self, old: DatasetShape, new: DatasetShape) -> Iterator[Change]:
        gone = [name for name in old.columns if name not in new.columns]
        come = [name for name in new.columns if name not in old.columns]
        renamed = _renamed_columns(old, new, gone, come)
        for name in gone:
            readers = self.reach.readers(new.name, name)
            kind = ChangeKind.COLUMN_RENAMED if name in renamed else ChangeKind.COLUMN_REMOVED
            change = self._told(kind, new, name, broken=bool(readers))
            if not readers:  # who read it on the base, and goes without it now
                readers = self.before.readers(old.name, name)
            yield replace(change, readers=readers, after=renamed.get(name), before=name if name in renamed else None)
        for name in come:
            if name not in renamed.values():
                yield self._told(ChangeKind.COLUMN_ADDED, new, name)
        for name in old.columns.keys() & new.columns.keys():
            types = old.columns[name], new.columns[name]
            if None not in types and str(types[0]).upper() != str(types[1]).upper():
                yield replace(self._told(ChangeKind.TYPE_CHANGED, new, name), before=types[0], after=types[1])

    def _made(self, old: DatasetShape, new: DatasetShape, placed: PlacedChanges) -> Iterator[Change]:
        differing = (old.made.keys() | new.made.keys()) - same(old, new)
        for name in sorted(differing | placed.keys()):
            one, other = old.made.get(name), new.made.get(name)
            before, after = placed.get(name) or (_own(one, other), _own(other, one))
            if name == WHOLE:
                change = self._told(ChangeKind.ROWS, new, WHOLE)
                if before is after is None:
                    before, after = _said(one), _said(other)
                yield replace(change, column=None, before=before, after=after)
            elif name in new.columns and name in old.columns:
                change = self._told(ChangeKind.COMPUTED, new, name)
                yield replace(change, before=before or _said(one), after=after or _said(other))

    def _told(
        self,
        kind: ChangeKind,
        shape: DatasetShape,
        column: str | None = None,
        *,
        broken: bool = False,
        follows: bool = False,
    ) -> Change:
        risk = Risk.BREAKING if broken else Risk.POSSIBLY
        if kind in (ChangeKind.COLUMN_ADDED, ChangeKind.TABLE_ADDED):
            risk = Risk.ADDITIVE
        made = shape.made.get(column or "")
        place = (made.file, made.line) if made is not None and made.file else (shape.file, shape.line)
        readers: tuple[ColumnReader, ...] = ()
        reaches: tuple[str, ...] = ()
        if risk is not Risk.ADDITIVE:
            readers = self.reach.readers(shape.name, column)
            reaches = self.reach.beyond(shape.name, column)
        return Change(kind, risk, shape.name, column, None, None, *place, follows, readers, reaches)

    def new_findings(self) -> list[IssueRecord]:
        """The errors and warnings of the head that the base does not have, wherever they stand in a file."""
        there = Counter(self._named(each) for unit in self._old for each in self.base.findings(unit))
        found = []
        for each in (each for unit in self._new for each in self.head.findings(unit)):
            key = each.file, each.code, each.message.casefold()
            if each.severity != "info" and not there[key]:
                found.append(each)
            there[key] -= 1
        return found

    def _named(self, each: IssueRecord) -> tuple[str | None, str, str]:
        return self.renamed_files.get(each.file or "", each.file), each.code, each.message.casefold()

    def to_rebuild(self, changes: list[Change]) -> list[str]:
        """The tables of the head that hold rows made otherwise than it now says, nearest to the changes first."""
        kinds = (ChangeKind.TABLE_REMOVED, ChangeKind.TABLE_ADDED)
        changed = [each for each in changes if each.kind not in kinds]
        names = dict.fromkeys(each.dataset for each in changed)
        names |= dict.fromkeys(name for each in changed for name in each.reaches)
        return [name for name in names if not is_of_session(name) and self._is_table(name)]

    def _is_table(self, name: str) -> bool:
        made = [each for unit in self.head.writers.get(name, ()) for each in unit.statements if each.target == name]
        return any(each.type != "SELECT" for each in made) and not any(each.makes_view for each in made)


def _renamed_columns(old: DatasetShape, new: DatasetShape, gone: list[str], come: list[str]) -> dict[str, str]:
    """The columns that went and came back under another name, made in the same way: old → new."""
    made = [
        {name: shape.made[name].keys for name in names if name in shape.made}
        for shape, names in ((old, gone), (new, come))
    ]
    counts = [Counter(side.values()) for side in made]
    by_keys = {keys: name for name, keys in made[1].items()}
    return {name: by_keys[keys] for name, keys in made[0].items() if counts[0][keys] == counts[1][keys] == 1}


def _said(made: Derivation | None) -> str | None:
    """Say how something is made."""
    return None if made is None else _joined(made.said or made.sources)


def _own(made: Derivation | None, other: Derivation | None) -> str | None:
    """Say how something is made, in words that the other side does not have."""
    if made is None or other is None:
        return _said(made)
    own = [text for text in made.said if text not in other.said]
    return _joined(own or [name for name in made.sources if name not in other.sources])


def _joined(texts: Sequence[str]) -> str | None:
    return "; ".join(" ".join(text.split()) for text in texts) or None

"""One dataset on one side of a change: its columns, what each is made of, and what decides its rows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from headwater.graph.tables import WHOLE, root_column
from headwater.jobs.harvest.unit_analysis import GOOGLE
from headwater.model.edges import InfluenceClass, Kind
from headwater.review.expressions import Words, are_renamed, plain_words, unqualified
from headwater.review.side import Flow, Side

FlowKey: TypeAlias = tuple[str, str, str, Words]
"""Source, its column, kind and the expression without qualifiers."""
_UNKNOWN = ("error", "table-only")


@dataclass(frozen=True, slots=True)
class Derivation:
    """The sources of a column, or of the rows of a dataset."""

    keys: frozenset[FlowKey]
    qualifiers: dict[FlowKey, Words]
    said: tuple[str, ...]  # expressions, as they are written
    sources: tuple[str, ...]
    file: str | None
    line: int | None
    is_column: bool  # whether anything flows into the value; else it only decides


@dataclass(frozen=True, slots=True)
class DatasetShape:
    """A dataset as one side makes it."""

    name: str
    columns: dict[str, str | None]
    made: dict[str, Derivation]  # by column; `*` is what decides the rows
    words: tuple[Words, ...]  # of the statements that write it
    unclear: bool  # what it is made of is not known
    file: str | None
    line: int | None
    is_view: bool


def shape_of(side: Side, name: str, named: Callable[[str], str]) -> DatasetShape:
    """The shape of a dataset. `named` gives the name that a source has on the other side."""
    units = side.writers.get(name, [])
    flows: dict[str, list[tuple[Flow, str | None]]] = {}
    for unit in units:
        for flow in side.flows(unit):
            if flow.target == name:
                column = flow.target_column
                flows.setdefault(column if column == WHOLE else root_column(column), []).append((flow, unit.dialect))
    statements = [each for unit in units for each in unit.statements if each.target == name]
    table = side.tables.get(name)
    columns = dict(table.columns) if table is not None else {}
    if table is None or not table.complete:  # what readers take for its columns is no fact about it
        columns = {column: columns.get(column) for column in flows if column != WHOLE}
    first = next(iter(units), None)
    return DatasetShape(
        name,
        columns,
        {column: _made(those, named) for column, those in flows.items()},
        tuple(plain_words(side.text_for(unit, name), unit.dialect) for unit in units),
        any(each.status in _UNKNOWN for each in statements),
        first.file if first is not None else None,
        statements[0].line if statements else None,
        bool(statements) and any(each.makes_view for each in statements),
    )


def _made(flows: Iterable[tuple[Flow, str | None]], named: Callable[[str], str]) -> Derivation:
    keys: dict[FlowKey, Words] = {}
    said: dict[str, None] = {}
    sources: dict[str, None] = {}
    place: tuple[str | None, int | None] = None, None
    is_column = False
    for flow, dialect in flows:
        text = flow.expression or ""
        kept, before = unqualified(plain_words(text, dialect))
        if flow.kind == Kind.IDENTITY.value:  # `*` and the column's name say the same
            kept, before = (), () if text.endswith("*") else before
        source, column = named(flow.source), flow.source_column
        if dialect not in GOOGLE:  # of two spellings of a table, the first in the scripts names it
            source, column = source.casefold(), column.casefold()
        keys[source, column, flow.kind, kept] = before
        said |= dict.fromkeys(each for each in [text] if each)
        sources[f"{flow.source}.{flow.source_column}"] = None
        place = place if place[0] is not None else (flow.file, flow.line)
        is_column = is_column or flow.influence is not InfluenceClass.ROW
    return Derivation(frozenset(keys), keys, tuple(said), tuple(sources), *place, is_column)


def same_words(old: DatasetShape, new: DatasetShape, renamed: Mapping[str, str]) -> bool:
    """Return whether the statements of two shapes say the same, but for the names of tables that have others now."""
    if len(old.words) != len(new.words):
        return False
    last = {each.rpartition(".")[2].lower(): name.rpartition(".")[2].lower() for each, name in renamed.items()}
    for one, other in zip(sorted(old.words), sorted(new.words)):
        (kept, before), (there, behind) = unqualified(one), unqualified(other)
        if one != other and not (renamed and are_renamed([(before, behind)])):
            return False
        if one != other and tuple(last.get(word, word) for word in kept) != there:
            return False
    return True


def same(old: DatasetShape, new: DatasetShape) -> set[str]:
    """The columns, and `*`, that both shapes make in the same way, whatever their tables are called there."""
    alike = {name for name in old.made.keys() & new.made.keys() if old.made[name].keys == new.made[name].keys}
    pairs = [
        (old.made[name].qualifiers[key], new.made[name].qualifiers[key])
        for name in alike
        for key in old.made[name].keys
    ]
    if are_renamed(pairs):
        return alike
    return {name for name in alike if old.made[name].qualifiers == new.made[name].qualifiers}

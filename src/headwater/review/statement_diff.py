"""The columns that a change of a statement concerns, found through its subqueries and common table expressions.

Two texts of one statement differ in some words. Each difference is placed in what the statement computes or asks: in
the expression of a column, in a condition, or in a column that is only on one side. The output columns are those that
are made of such a column, however many names lie between. A difference that has no such place (another kind of join,
a LIMIT) leaves it unknown which columns it concerns.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from time import monotonic
from typing import Any, TypeAlias

import msgspec

from headwater.analysis.engines import Engine, open_front_end
from headwater.lineage.bindings import Bindings, Stored
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import ColumnSchema, SchemaMetadata, SchemaTable
from headwater.model.relation import Attribute, Computed, Let, Ref, Subquery, Write
from headwater.review.expressions import Token, tokens_of
from headwater.review.side import AnalysedUnit, Side
from headwater.text import Source, Span

_SECONDS = 10.0
_MOST_TOKENS = 20_000
_MOST_TOGETHER = 12  # differences that are placed together
ROWS = "*"

PlacedChanges: TypeAlias = dict[str, tuple[str | None, str | None]]
"""What is said before and after a change, by output column; `*` stands for the rows."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of a statement's text: the expression of a column, or a condition. Then `id` is None."""

    start: int  # tokens
    end: int
    id: int | None


class LoweredStatement:
    """One statement with its words, the parts of its text, and what its columns are made of."""

    def __init__(self, write: Write, text: str, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self._text = text
        self._bindings = Bindings()
        self._starts = [token.start for token in tokens]
        self._outputs: dict[int, str] = {}  # numbers of expressions that go into columns of the target
        self._made: list[tuple[str, Any]] = [(ROWS, each.expression) for each in write.influences]
        self._shapes: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self.parts: list[TextPart] = []
        for relation in write.relations:
            self._bind(relation)
        for node in _nodes((write.relations, write.assignments, write.influences)):
            self._take(node)
        for at, assignment in enumerate(write.assignments):
            self._made.append((assignment.column, assignment.expression))
            self._outputs[-1 - at] = assignment.column
            self.names[-1 - at] = assignment.column.casefold()
            self._add(assignment.span, -1 - at)
        for influence in write.influences:
            self._add(influence.span, None)

    def _take(self, node: Any) -> None:
        if isinstance(node, Computed):
            self.names[node.attribute.id] = node.attribute.name.casefold()
            self._add(node.span, node.attribute.id)
        elif isinstance(node, Let):
            self._bindings.bind_computed(node.bindings)
        elif isinstance(node, Subquery):
            self._bind(node.relation)

    def _bind(self, relation: Any) -> None:
        """Take in the columns and conditions of a query. Those of a subquery in an expression count for its column by
        their place."""
        for _, expression, span in self._bindings.conditions(self._bindings.bind(relation)):
            self._made.append((ROWS, expression))
            self._add(span, None)

    def _add(self, span: Span | None, id: int | None) -> None:
        if span is not None:
            start, end = bisect_left(self._starts, span.start), bisect_left(self._starts, span.end)
            if start < end and self.tokens[end - 1].end <= span.end:
                self.parts.append(TextPart(start, end, id))

    def concerned(self, parts: Iterable[TextPart]) -> set[str]:
        """The output columns that some parts make; a condition decides the rows, and the column that it stands in."""
        changed: set[int] = set()
        found: set[str] = set()
        for part in parts:
            if part.id is None:
                found.add(ROWS)
                around = (each for each in self.parts if each.start <= part.start and part.end <= each.end)
                changed |= {each.id for each in around if each.id is not None}
            else:
                changed.add(part.id)
        found |= {name for number, name in self._outputs.items() if number in changed}
        return found | {name for name, expression in self._made if changed & self._closure(expression)}

    def _closure(self, expression: Any) -> set[int]:
        """All columns that an expression is made of."""
        found: set[int] = set()
        stack = [expression]
        while stack:
            for node in _nodes(stack.pop()):
                id = (
                    node.column
                    if isinstance(node, Ref)
                    else node.attribute.id
                    if isinstance(node, Computed)
                    else None
                )
                if id is not None and id not in found:
                    found.add(id)
                    below = self._bindings.definitions.get(id)
                    if below is not None and not isinstance(below, Stored):
                        stack.append(below)
        return found

    def structure(self) -> dict[str, list[Any]]:
        """The calls and stored columns that each output column is made of, without constants."""
        found: dict[str, list[Any]] = {}
        for name, expression in self._made:
            found.setdefault(name, []).append(self._shape(expression))
        return found

    def _shape(self, node: Any, open: frozenset[int] = frozenset()) -> Any:
        if isinstance(node, tuple):
            return tuple(self._shape(each, open) for each in node)
        if isinstance(node, Ref):
            return self._shape_of_column(node.column, open)
        if not isinstance(node, msgspec.Struct) or isinstance(node, Span):
            return None if isinstance(node, int | Span) else node
        if isinstance(node, Attribute):
            return node.name.casefold()
        fields = [self._shape(getattr(node, name), open) for name in node.__struct_fields__]
        more = self._shape_of_column(node.column, open) if isinstance(node, Subquery) and node.column else None
        return (type(node).__name__, *fields, more)

    def _shape_of_column(self, id: int, open: frozenset[int]) -> int | None:
        if id not in self._shapes and id not in open:
            below = self._bindings.definitions.get(id)
            if isinstance(below, Stored):
                self._shapes[id] = hash((str(below.scan.table).casefold(), (below.name or "").casefold()))
            else:
                self._shapes[id] = hash(self._shape(below, open | {id}))
        return self._shapes.get(id)

    def said(self, part: TextPart) -> str:
        """The text of a part, on one line."""
        return " ".join(self._text[self.tokens[part.start].start : self.tokens[part.end - 1].end].split())


def _nodes(root: Any) -> Iterator[Any]:
    """A node of a relation tree and all below it, relations and expressions alike."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif isinstance(node, msgspec.Struct) and not isinstance(node, Span):
            yield node
            stack.extend(getattr(node, name) for name in node.__struct_fields__)


def compare_statements(
    old: tuple[Side, AnalysedUnit], new: tuple[Side, AnalysedUnit], engine: Engine = "auto"
) -> PlacedChanges | None:
    """Place the differences of two units of one statement each; None when one of them has no place."""
    sides = [_lowered(side, unit, engine) for side, unit in (old, new)]
    if sides[0] is None or sides[1] is None:
        return None
    return _Comparison(sides[0], sides[1]).result()


def _lowered(side: Side, unit: AnalysedUnit, engine: Engine) -> LoweredStatement | None:
    """The one statement of a unit; None when it has several, or is not understood in full."""
    if len(unit.statements) != 1:
        return None
    text = side.text(unit)
    front_end, name = open_front_end(unit.dialect, engine)
    source = Source(text)
    statements, tokens = list(front_end.split(source)), tokens_of(text, unit.dialect)
    if len(statements) != 1 or tokens is None or len(tokens) > _MOST_TOKENS:
        return None
    resolver = SchemaResolver(_schema(side, unit), dialect=name)
    found = front_end.lower(statements[0], source=source, resolver=resolver, deadline=monotonic() + _SECONDS)
    if found.table_only or len(found.writes) != 1:
        return None
    return LoweredStatement(found.writes[0], text, tokens)


def _schema(side: Side, unit: AnalysedUnit) -> SchemaMetadata:
    """The tables that a unit reads, as the side knows them in the end."""
    tables = []
    for name in dict.fromkeys(name for statement in unit.statements for name in statement.reads):
        parts, table = name.split("."), side.tables.get(name)
        if table is not None and len(parts) <= 3:
            columns = tuple(ColumnSchema(name=each, data_type=type) for each, type in table.columns.items())
            catalog, schema = [None, None, *parts[:-1]][-2:]
            tables.append(
                SchemaTable(name=parts[-1], schema=schema, catalog=catalog, columns=columns, complete=table.complete)
            )
    return SchemaMetadata(tables=tuple(tables))


Region: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""A difference: from which word to which in the old text, and in the new one."""


class _Comparison:
    """The differences of two statements, each placed in parts of both."""

    def __init__(self, old: LoweredStatement, new: LoweredStatement) -> None:
        self._sides = old, new
        words = [[token.word for token in side.tokens] for side in self._sides]
        matcher = SequenceMatcher[str](None, words[0], words[1], autojunk=False)
        self._regions: list[Region] = [
            ((start, end), (begin, stop))
            for kind, start, end, begin, stop in matcher.get_opcodes()
            if kind != "equal"
        ]
        # The places between words, in the other text: the first and the last, for words may be on one side only.
        self._first: tuple[dict[int, int], ...] = {0: 0}, {0: 0}
        self._last: tuple[dict[int, int], ...] = {}, {}
        for at, other, size in matcher.get_matching_blocks():
            for each in range(size + 1):
                for side, (here, there) in enumerate(((at + each, other + each), (other + each, at + each))):
                    self._first[side].setdefault(here, there)
                    self._last[side][here] = there

    def result(self) -> PlacedChanges | None:
        """All output columns that the differences concern; None when a difference has no place."""
        found: dict[str, list[tuple[str | None, str | None]]] = {}
        at = 0
        while at < len(self._regions):
            for last in range(at, min(at + _MOST_TOGETHER, len(self._regions))):
                region = self._grown(at, last)
                placed = None if region is None else self._in_parts(region) or self._in_items(region)
                if placed is not None:
                    break
            else:
                return None
            for name, said in placed.items():
                found.setdefault(name, []).append(said)
            at = last + 1
        changed = {name: said[0] for name, said in found.items() if not _is_move(said)}
        return changed | {name: (None, None) for name in self._made_otherwise() if name not in changed}

    def _made_otherwise(self) -> Iterator[str]:
        """The output columns that are made of other stored columns, or of the same in other places."""
        old, new = (side.structure() for side in self._sides)
        yield from (name for name in old.keys() & new.keys() if old[name] != new[name])

    def _grown(self, first: int, last: int) -> Region | None:
        """Differences as one region that ends where parts do; None when that takes in another difference."""
        (start, _), (begin, _) = self._regions[first]
        (_, end), (_, stop) = self._regions[last]
        ranges = [(start, end), (begin, stop)]
        for _ in range(_MOST_TOGETHER):
            before = list(ranges)
            for side in (0, 1):
                low, high = _to_edges(ranges[side], self._sides[side].parts)
                if (low, high) != ranges[side]:
                    there = self._first[side].get(low), self._last[side].get(high)
                    if there[0] is None or there[1] is None:
                        return None
                    other = ranges[1 - side]
                    ranges[side], ranges[1 - side] = (low, high), (min(other[0], there[0]), max(other[1], there[1]))
            if ranges == before:
                return ranges[0], ranges[1]
        return None

    def _in_parts(self, region: Region) -> PlacedChanges | None:
        """The columns that are made of the smallest parts which hold a region, and stand in one place of both."""
        old, new = self._sides
        (start, end), (begin, stop) = region
        by_place: dict[tuple[int, int], list[TextPart]] = {}
        for part in old.parts:
            by_place.setdefault((part.start, part.end), []).append(part)
        holding = [part for part in new.parts if part.start <= begin and stop <= part.end]
        for part in sorted(holding, key=lambda each: each.end - each.start):
            low, high = self._first[1].get(part.start, end), self._last[1].get(part.end, start)
            there = by_place.get((low, high), [])
            if there and low <= start and end <= high:
                if old.names.get(there[0].id or 0) != new.names.get(part.id or 0):
                    return None  # two columns that stand in one place
                here = [each for each in new.parts if (each.start, each.end) == (part.start, part.end)]
                return dict.fromkeys(old.concerned(there) | new.concerned(here), (old.said(there[0]), new.said(part)))
        return None

    def _in_items(self, region: Region) -> PlacedChanges | None:
        """The columns that are made of the items which differ, in a region of nothing but items of lists."""
        old, new = (_items(side, *place) for side, place in zip(self._sides, region))
        if old is None or new is None:
            return None
        found: PlacedChanges = {}
        for key in old.keys() | new.keys():
            parts = old.get(key), new.get(key)
            said = [side.said(part) if part is not None else None for side, part in zip(self._sides, parts)]
            if said[0] != said[1]:
                for side, part in zip(self._sides, parts):
                    for name in side.concerned([part]) if part is not None else ():
                        found.setdefault(name, (said[0], said[1]))
        return found


def _is_move(said: Sequence[tuple[str | None, str | None]]) -> bool:
    """Return whether all that is said of a column is that items went at one place and came at another."""
    gone, come = (sorted(each for each in side if each is not None) for side in zip(*said))
    return gone == come and all(None in each for each in said)


def _to_edges(place: tuple[int, int], parts: list[TextPart]) -> tuple[int, int]:
    """A range of words that cuts through no part: it holds each that it meets, or lies in it."""
    low, high = place
    for part in parts:
        meets = part.start < high and low < part.end
        if meets and not (part.start <= low and high <= part.end):
            low, high = min(low, part.start), max(high, part.end)
    return low, high


def _items(side: LoweredStatement, low: int, high: int) -> dict[tuple[str, int], TextPart] | None:
    """The computed items of lists in a range of words, by name; None when there is more than items. Items that only
    name a column have no part: which column it is shows in what the output columns are made of."""
    inside = [part for part in side.parts if low <= part.start and part.end <= high]
    largest = [part for part in inside if not any(_holds(other, part) for other in inside)]
    if any(part.id is None for part in largest):
        return None
    covered = {at for part in largest for at in range(part.start, part.end)}
    rest = [at for at in range(low, high) if at not in covered and side.tokens[at].word != ","]
    ends = {part.end for part in largest}
    if not all(_is_alias(side, at, ends) or _is_name(side, at) for at in rest):
        return None
    found: dict[tuple[str, int], TextPart] = {}
    for part in largest:
        name = side.names.get(part.id or 0, "")
        found[name, sum(1 for each in found if each[0] == name)] = part
    return found


def _is_alias(side: LoweredStatement, at: int, ends: set[int]) -> bool:
    """Return whether a word is the alias of an expression that ends before it, or the AS between them."""
    word = side.tokens[at].word
    if word == "as":
        return at in ends
    return word in side.names.values() and (at in ends or (side.tokens[at - 1].word == "as" and at - 1 in ends))


def _is_name(side: LoweredStatement, at: int) -> bool:
    """Return whether a word belongs to an item of a select list that is the name of a column, with or without an
    alias."""
    first, last = at, at
    while first > 0 and side.tokens[first - 1].is_name:
        first -= 1
    while last + 1 < len(side.tokens) and side.tokens[last + 1].is_name:
        last += 1
    around = (side.tokens[each].word if 0 <= each < len(side.tokens) else "" for each in (first - 1, last + 1))
    return side.tokens[at].is_name and all(word in ends for word, ends in zip(around, _AROUND_AN_ITEM))


_AROUND_AN_ITEM = ({",", "select"}, {",", "from"})


def _holds(one: TextPart, other: TextPart) -> bool:
    return one.start <= other.start and other.end <= one.end and (one.start, one.end) != (other.start, other.end)

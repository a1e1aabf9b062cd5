"""The items of a FROM clause: things with a name and columns.
Columns are asked for by key, that is by name folded as the dialect compares it. An item is *open* when it may have
columns that nobody has listed (a table without a schema, or a star over one); asking an open item for a column gives
it that column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from headwater.lineage.effects import ColumnDefinition
from headwater.lineage.known_table import KnownTable
from headwater.model.names import CaseFolding, fold
from headwater.model.relation import WILDCARD, Attribute, Expression, GetField, Literal, OneOf, Ref, Scan
from headwater.text import Span


class ItemColumn(msgspec.Struct, frozen=True, gc=False):
    """A column of an item or of a query's result: the name it is shown by, and what it is."""

    name: str
    key: str
    expression: Expression
    span: Span | None = None
    type: str | None = None

    @property
    def is_wildcard(self) -> bool:
        return self.name == WILDCARD


class NewId(Protocol):
    """Gives the next unused column id of the statement."""

    def __call__(self) -> int: ...


class StoredItem:
    """A stored table. Its scan lists the columns that were asked for, and is complete once lowering is."""

    def __init__(
        self, table: KnownTable, case: CaseFolding, *, new_id: NewId, types: dict[int, str], span: Span | None
    ) -> None:
        self.table = table
        self._types = types  # of the statement's columns, by id
        self.used: list[str] = []  # names that an open table was asked for
        self._case = case
        self._new_id = new_id
        self._index = table.index(case)
        self._columns: dict[str, ItemColumn] = {}
        self._attributes: list[Attribute] = []
        self._doubtful: list[int] = []
        self._hidden: set[str] = set()  # keys of columns that are no part of a star
        self._missing: dict[int, str] = {}  # columns that the schema does not have, by id
        self.scan = Scan(table.name, (), span, table.resolution)

    @property
    def is_open(self) -> bool:
        return not self.table.complete

    def find(self, key: str) -> ItemColumn | None:
        """The column of that key, if it is known to exist."""
        column = self._columns.get(key)
        if column is not None:
            return column
        known = self._index.get(key)
        return None if known is None else self._add(known.name, key, known)

    def ask(self, name: str, key: str) -> ItemColumn | None:
        """The column of that key; an open table gets it if it was not known."""
        column = self.find(key)
        if column is None and self.is_open:
            self.used.append(name)
            column = self._add(name, key, None)
        return column

    def ask_hidden(self, name: str, key: str) -> ItemColumn:
        """A column that the table has without listing it, and that no star takes."""
        self._hidden.add(key)
        return self._columns.get(key) or self._add(name, key, None)

    def ask_missing(self, name: str, key: str) -> ItemColumn:
        """A column that the schema of the table does not have, though the statement says that the table does."""
        column = self.ask_hidden(name, key)
        if isinstance(column.expression, Ref) and column.expression.column not in self._missing:
            self._doubtful.append(column.expression.column)
            self._missing[column.expression.column] = f"`{name}`"
        return column

    def name_of(self, id: int) -> str | None:
        """The name of one of the columns that were asked for, by its id."""
        return next((each.name for each in self._attributes if each.id == id), None)

    def star(self) -> list[ItemColumn]:
        """All columns, in order; the last stands for those not known by name, when there may be such."""
        case = self._case
        columns = []
        for known in self.table.columns:
            column = self.find(fold(known.name, case))
            columns.append(column if column is not None else self._add(known.name, known.name, known))
        if self.is_open:  # a column more or less: each is in doubt
            doubt = self.table.approximate
            columns = [_doubtful(column, doubt) for column in columns]
            seen = {column.key for column in columns}
            seen |= self._hidden
            others = [each for key, each in self._columns.items() if key not in seen and not each.is_wildcard]
            columns += [_doubtful(column, doubt) for column in others]
            columns.append(self._columns.get(WILDCARD) or self._add(WILDCARD, WILDCARD, None))
        return columns

    def _add(self, name: str, key: str, known: ColumnDefinition | None) -> ItemColumn:
        id = self._new_id()
        self._attributes.append(Attribute(id, name))
        if name in self.table.doubts or name == WILDCARD:
            self._doubtful.append(id)
        if known is not None and known.type is not None:
            self._types[id] = known.type
        column = ItemColumn(name, key, Ref(id))
        self._columns[key] = column
        return column

    def settle(self) -> None:
        """Complete the scan with the columns that were asked for. Nothing reads it before."""
        doubt = None
        if self._doubtful:
            reasons = [self.table.doubts.get(each.name) for each in self._attributes if each.id in self._doubtful]
            if self._missing:
                verb = "is" if len(self._missing) == 1 else "are"
                reasons.append(f"{', '.join(self._missing.values())} {verb} not in the schema of `{self.table.name}`")
            doubt = next((reason for reason in reasons if reason), None) or self.table.approximate
        force_setattr(self.scan, "attributes", tuple(self._attributes))
        force_setattr(self.scan, "approximate", doubt)
        force_setattr(self.scan, "doubtful", frozenset(self._doubtful))


class DerivedItem:
    """The result of a query, with the names it is given here. `below` are open items that flow into it by a star."""

    def __init__(self, columns: Sequence[ItemColumn], below: Sequence["Item"] = ()) -> None:
        self.columns = list(columns)
        self.below = tuple(below)
        self._by_key: dict[str, ItemColumn] = {}
        for column in reversed(self.columns):
            self._by_key[column.key] = column

    @property
    def is_open(self) -> bool:
        return bool(self.below)

    def find(self, key: str) -> ItemColumn | None:
        """The column of that key, if it is known to exist."""
        return self._by_key.get(key)

    def ask(self, name: str, key: str) -> ItemColumn | None:
        """The column of that key; an open item asks those below, and if several may have it, it is any of theirs."""
        column = self.find(key)
        if column is None and self.below:
            found = [below.ask(name, key) for below in self.below]
            options = [each for each in found if each is not None]
            if options:
                column = self._by_key[key] = self._joined(name, key, options)
        return column

    def _joined(self, name: str, key: str, options: list[ItemColumn]) -> ItemColumn:
        if len(options) == 1:
            return options[0]
        doubt = f"`{name}` could come from any of {len(options)} tables whose columns are not known"
        return ItemColumn(name, key, OneOf(tuple(each.expression for each in options), uncertain=doubt))

    def star(self) -> list[ItemColumn]:
        """All columns, in order."""
        return self.columns


class MergedItem(DerivedItem):
    """The result of a set operation over open items: a column asked for comes from every branch."""

    def _joined(self, name: str, key: str, options: list[ItemColumn]) -> ItemColumn:
        return ItemColumn(name, key, OneOf(tuple(each.expression for each in options)))

    def star(self) -> list[ItemColumn]:
        """All columns; of items one after another that have none in common by name, column by column."""
        if self.columns:
            return self.columns
        rows = zip(*(below.star() for below in self.below))
        return [ItemColumn(row[0].name, row[0].key, OneOf(tuple(each.expression for each in row))) for row in rows]


class ElementItem(DerivedItem):
    """The elements of an array: their fields can be asked for, too, though nobody has listed them.
    Where the engine's star takes the fields of a struct in its place, they are given with their keys."""

    def __init__(self, columns: Sequence[ItemColumn], fields: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(columns)
        value = columns[0].expression if columns else Literal()
        self._starred = [ItemColumn(name, key, GetField(value, name)) for name, key in fields] + list(columns[1:])
        self._starred = self._starred if fields else self.columns

    def star(self) -> list[ItemColumn]:
        return self._starred

    @property
    def is_open(self) -> bool:
        return True

    def ask(self, name: str, key: str) -> ItemColumn | None:
        column = self.find(key)
        if column is None:
            value = (
                self.columns[-1].expression if self.columns[0].name.lower() == "pos" else self.columns[0].expression
            )
            column = self._by_key[key] = ItemColumn(name, key, GetField(value, name))
        return column


class OpaqueItem(DerivedItem):
    """Something whose columns are not known, and all of which are the same to us."""

    def __init__(self, value: Expression) -> None:
        super().__init__([ItemColumn(WILDCARD, WILDCARD, value)])

    @property
    def is_open(self) -> bool:
        return True

    def ask(self, name: str, key: str) -> ItemColumn | None:
        return ItemColumn(name, key, self.columns[0].expression)


Item: TypeAlias = StoredItem | DerivedItem


@dataclass(slots=True)
class Named:
    """An item under the name by which columns are qualified. `names` are the keys of its alias alone, or of its table
    name, outermost part first. `listed` False: not part of a star (a symbol of MATCH_RECOGNIZE)."""

    names: tuple[str, ...]
    item: Item
    listed: bool = True
    shown: str = ""

    def answers_to(self, parts: tuple[str, ...]) -> bool:
        """Return whether a qualifier means this item: `t` and `s.t` both mean the table s.t."""
        count = len(parts)
        return 0 < count <= len(self.names) and self.names[-count:] == parts


def renamed(columns: Iterable[ItemColumn], names: Sequence[tuple[str, str, Span | None]]) -> list[ItemColumn]:
    """The columns under the names of an alias list, by position; columns beyond the list keep theirs."""
    result = list(columns)
    for at, (name, key, span) in enumerate(names):
        if at < len(result):
            old = result[at]
            result[at] = ItemColumn(name, key, old.expression, span, old.type)
    return result


def _doubtful(column: ItemColumn, doubt: str | None) -> ItemColumn:
    return ItemColumn(column.name, column.key, OneOf((column.expression,), uncertain=doubt), column.span, column.type)

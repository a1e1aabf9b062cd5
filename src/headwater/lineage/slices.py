"""The part of a schema that a piece of SQL sees: cut out, taken elsewhere, and compared with what is true later.
A statement sees the schema only through a resolver. So it can be analysed anywhere with a slice of the schema, out of
order and beside others: the resolver notes what it was asked for (`Sight`) and told (its effects). When the schema at
the statement's place, worked out by replaying the effects of all before it, fits the sight, the analysis is the one
that a reader of the scripts in order would have made; when not, it is made again."""

import hashlib
from collections.abc import Iterable, MutableMapping, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self, TypeAlias

import msgspec

from headwater.errors import Issue
from headwater.lineage.effects import ColumnDefinition, SchemaEffect, UseColumns
from headwater.lineage.known_table import KnownTable
from headwater.lineage.overlay import ABSENT, EVERYTHING, Absent, Key, Layer
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.schema import SchemaMetadata, TableConstraintInfo
from headwater.model.names import TableName
from headwater.model.relation import Resolution

LAYERS = ("imported", "implied", "moved")
_Column: TypeAlias = tuple[str, str | None, bool, tuple[str, str] | None, bool]


class TableForm(msgspec.Struct, frozen=True, array_like=True):
    """A known table as it travels; what it was last changed by is left out, since no analysis depends on it."""

    name: tuple[str, ...]
    columns: tuple[_Column, ...]
    resolution: Resolution
    complete: bool
    doubts: dict[str, str]
    disputed: tuple[_Column, ...]
    temporary: bool
    constraints: tuple[TableConstraintInfo, ...]


class Slice(msgspec.Struct, frozen=True, array_like=True):
    """Tables by layer and key, the spellings that are settled, and where names without a schema are looked for."""

    tables: tuple[TableForm, ...] = ()
    layers: tuple[tuple[tuple[Key, int | None], ...], ...] = ((), (), ())  # as LAYERS; a number is one of `tables`
    spelled: tuple[tuple[Key, Key], ...] = ()
    namespace: tuple[str | None, str | None] = (None, None)


class Sight(msgspec.Struct, frozen=True, array_like=True):
    """The part of the schema that a piece of SQL saw: by layer and key a hash of the table, "" where there was
    none."""

    layers: tuple[tuple[tuple[Key, str], ...], ...] = ((), (), ())
    spelled: tuple[tuple[Key, Key], ...] = ()
    namespace: tuple[str | None, str | None] = (None, None)


def form_of(table: KnownTable) -> TableForm:
    """A table as it travels."""
    return TableForm(
        table.name.parts,
        tuple(map(_column, table.columns)),
        table.resolution,
        table.complete,
        dict(table.doubts),
        tuple(map(_column, table.disputed)),
        table.temporary,
        table.constraints,
    )


def _column(column: ColumnDefinition) -> _Column:
    return column.name, column.type, column.primary_key, column.references, column.quoted


_here: dict[int, tuple[TableForm, KnownTable]] = {}  # by the id of a form, which is held


def table_of(form: TableForm) -> KnownTable:
    """A table that has travelled, or that was put into a slice in this process: then it is made once."""
    known = _here.get(id(form))
    if known is None:
        if len(_here) >= _MOST_FORMS:
            _here.clear()
        known = _here[id(form)] = form, _table_of(form)
    return known[1]


def _table_of(form: TableForm) -> KnownTable:
    return KnownTable(
        TableName(form.name),
        tuple(ColumnDefinition(*column) for column in form.columns),
        form.resolution,
        form.complete,
        form.doubts,
        tuple(ColumnDefinition(*column) for column in form.disputed),
        form.temporary,
        form.constraints,
    )


_NO_TABLE, _MOVED = "", "-"
_MOST_KEPT, _MOST_FORMS = 100_000, 2_000


class Hashes:
    """The hashes of tables, each worked out once.
    Replaying makes the same tables anew, of the same columns: so a table is known by what it is made of."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], tuple[KnownTable, str]] = {}
        self._forms: dict[int, tuple[KnownTable, TableForm]] = {}
        self._imported: tuple[Any, str] | None = None

    def of(self, table: KnownTable | Absent | None) -> str:
        """A hash that is the same in all processes. None is a table that has gone elsewhere."""
        if table is None or isinstance(table, Absent):
            return _MOVED if table is None else _NO_TABLE
        key: tuple[Any, ...] = (id(table),)
        if not table.doubts and not table.disputed:
            parts = id(table.columns), id(table.constraints)
            key = (*parts, table.name.parts, table.resolution, table.complete, table.temporary)
        kept = self._kept.get(key)
        if kept is None:  # the table is held, so that the ids stay its own
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            kept = self._kept[key] = table, digest(msgspec.msgpack.encode(form_of(table)))
        return kept[1]

    def form_of(self, table: KnownTable) -> TableForm:
        """A table as it travels; the same object for the same table, as long as it is wanted often."""
        kept = self._forms.get(id(table))
        if kept is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            kept = self._forms[id(table)] = table, form_of(table)
        return kept[1]

    def of_many(self, layer: Layer[Any], name: str, key: Key) -> str:
        """Of the entries of a layer that a key stands for; of all imported ones the names alone, since that is all
        one can ask of them."""
        if key == EVERYTHING and name == "imported":
            if not _keeps_names(layer):
                return _digest_of_names(table for _, table in layer.items())
            if self._imported is None or self._imported[0] is not layer.base:  # many units ask for it
                self._imported = layer.base, _digest_of_names(layer.base.values())
            return self._imported[1]
        found = layer.items() if key == EVERYTHING else layer.beginning(key[1:])
        return digest(*(f"{at}{self.of(table)}".encode() for at, table in sorted(found, key=itemgetter(0))))


def _keeps_names(layer: Layer[Any]) -> bool:
    """Return whether the changes in a layer leave every table its name: they change columns alone."""
    base = layer.base
    return all(
        isinstance(table, KnownTable) and key in base and base[key].name == table.name
        for key, table in layer.own.items()
    )


def _digest_of_names(tables: Iterable[KnownTable]) -> str:
    return digest(*sorted({str(table.name).encode() for table in tables}))


def digest(*parts: bytes) -> str:
    """A short hash of bytes."""
    state = hashlib.blake2b(digest_size=12)
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    return state.hexdigest()


def _timeless() -> str:
    return ""


class WatchedResolver(SchemaResolver):
    """A resolver over a slice that notes what it is asked and told."""

    def __init__(self, schema: SchemaMetadata, dialect: str, part: Slice) -> None:
        self._lookups: dict[str, dict[Key, Any]] = {name: {} for name in LAYERS}
        self._spellings: dict[Key, TableName | Absent] = {}
        self.told: list[SchemaEffect] = []
        super().__init__(schema, dialect=dialect, now=_timeless)
        tables = [table_of(form) for form in part.tables]
        imported, implied = ({key: tables[at] for key, at in layer if at is not None} for layer in part.layers[:2])
        moved = {key: None if at is None else tables[at] for key, at in part.layers[2]}
        if imported:
            self._imported = Layer(self._shared_imports() | imported, self._lookups["imported"])
        self._implied = Layer(implied, self._lookups["implied"])
        self._moved = Layer(moved, self._lookups["moved"])
        self._spelled = Layer({key: TableName(name) for key, name in part.spelled}, self._spellings)
        self._temporary = {key for key, table in implied.items() if table.temporary}
        self._namespace = part.namespace
        self.schema = in_namespace(self.schema, part.namespace)

    def _imported_tables(self) -> MutableMapping[Key, KnownTable]:
        return Layer(self._shared_imports(), self._lookups["imported"])

    def apply(self, effect: SchemaEffect, *, statement_index: int | None = None) -> list[Issue]:
        before = self._changes()
        found = super().apply(effect, statement_index=statement_index)
        if not isinstance(effect, UseColumns) or self._changes() != before:
            self.told.append(effect)
        return found

    def _changes(self) -> int:
        return self._layer("implied").changes + self._layer("moved").changes

    def _layer(self, name: str) -> Layer[Any]:
        layer: Layer[Any] = getattr(self, f"_{name}")
        return layer

    def fork(self) -> Self:
        other = super().fork()
        other.told = []  # what a fork is told is its own; what it looks up, it looks up for all
        return other

    def sight(self, hashes: Hashes) -> Sight:
        """Return what was seen so far of what was there in the beginning."""
        layers = tuple(
            tuple((key, self._hash(hashes, name, key)) for key in sorted(self._lookups[name])) for name in LAYERS
        )
        spelled = {key: self._layer("spelled").own.get(key, name) for key, name in self._spellings.items()}
        named = tuple((key, name.parts) for key, name in sorted(spelled.items()) if isinstance(name, TableName))
        return Sight(layers, named, self._namespace)

    def hashes_of(self, names: Set[TableName], hashes: Hashes) -> list[str]:
        """The hashes of those of some tables that were seen, in order: a front end may look at others in passing."""
        tables = [
            table for seen in self._lookups.values() for table in seen.values() if isinstance(table, KnownTable)
        ]
        return sorted({hashes.of(table) for table in tables if table.name in names})

    def _hash(self, hashes: Hashes, name: str, key: Key) -> str:
        if key[:1] == EVERYTHING:
            return hashes.of_many(Layer(self._layer(name).base), name, key)
        return hashes.of(self._lookups[name][key])


def in_namespace(schema: SchemaMetadata, namespace: tuple[str | None, str | None]) -> SchemaMetadata:
    """A schema with other defaults for names without a catalog and a schema."""
    if (schema.default_catalog, schema.default_schema) == namespace:
        return schema
    return msgspec.structs.replace(schema, default_catalog=namespace[0], default_schema=namespace[1])


@dataclass(frozen=True, slots=True)
class Trace:
    """The part of the schema that a piece of SQL saw, and the effects that it had."""

    sight: Sight
    effects: tuple[SchemaEffect, ...]


class ReplayedResolver(SchemaResolver):
    """The schema at one place of the scripts, as the effects of everything before have left it."""

    def __init__(self, schema: SchemaMetadata, dialect: str, hashes: Hashes) -> None:
        super().__init__(schema, dialect=dialect, now=_timeless)
        self._hashes = hashes
        self._implied = Layer({}, indexed=True)
        self._moved = Layer({}, indexed=True)
        self._spelled = Layer({}, indexed=True)

    def _imported_tables(self) -> MutableMapping[Key, KnownTable]:
        return Layer(self._shared_imports(), indexed=True)

    @property
    def namespace(self) -> tuple[str | None, str | None]:
        return self.schema.default_catalog, self.schema.default_schema

    def replay(self, trace: Trace) -> None:
        """Let a piece of SQL do to the schema what it did when it was analysed."""
        for key, name in trace.sight.spelled:
            self._spelled.setdefault(key, TableName(name))
        for effect in trace.effects:
            self.apply(effect)

    def fits(self, sight: Sight) -> bool:
        """Return whether what was seen then is what is here now."""
        if sight.namespace != self.namespace:
            return False
        for name, seen in zip(LAYERS, sight.layers):
            layer: Layer[Any] = getattr(self, f"_{name}")
            for key, hash in seen:
                if key[:1] == EVERYTHING:
                    here = self._hashes.of_many(layer, name, key)
                else:
                    here = self._hashes.of(layer.find(key))
                if here != hash:
                    return False
        return all(self._spelled.get(key, TableName(name)).parts == name for key, name in sight.spelled)

    def cut(self, words: frozenset[str] | None, also: Iterable[Sight] = ()) -> Slice:
        """The part that a text with these words may ask for, and what it asked for before; None for all."""
        also = tuple(also)
        if any(key == EVERYTHING for sight in also for layer in sight.layers[1:] for key, _ in layer):
            words = None
        tables: list[TableForm] = []
        numbers: dict[int, int] = {}

        def number(table: KnownTable | None) -> int | None:
            if table is None:
                return None
            if id(table) not in numbers:
                numbers[id(table)] = len(tables)
                tables.append(self._hashes.form_of(table))
            return numbers[id(table)]

        layers = []
        for at, name in enumerate(LAYERS):
            layer: Layer[Any] = getattr(self, f"_{name}")
            found = dict(layer.changed(words))
            for sight in also:
                asked = (key for key, _ in sight.layers[at] if key in layer.own)
                found |= {key: layer.own[key] for key in asked if layer.own[key] is not ABSENT}
                many = (key[1:] for key, _ in sight.layers[at] if key[:1] == EVERYTHING and len(key) > 1)
                found |= {key: table for start in many for key, table in layer.changed_beginning(start)}
            layers.append(tuple((key, number(table)) for key, table in sorted(found.items())))
        assert isinstance(self._spelled, Layer)
        spelled = tuple((key, name.parts) for key, name in sorted(self._spelled.changed(words)))
        return Slice(tuple(tables), tuple(layers), spelled, self.namespace)

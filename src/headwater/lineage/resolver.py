"""Resolves names of tables, at a point of a script.

The rules, in the order in which they apply:

1. **Imported wins**: a table given in the schema overrides what the text implies about it. Where the two differ, a
   `SCHEMA_CONFLICT` names the columns and types, and those columns are in doubt from there on.
2. **Implied fills gaps**: DDL earlier in the text defines what the schema does not.
3. **Unknown tables** get an `UNKNOWN_TABLE` issue and the columns that the text uses of them.

Position matters: the resolver is asked before a statement's own effects are applied.
"""

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Self, assert_never

import msgspec

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage import effects
from headwater.lineage.known_table import KnownTable, alter_columns, compare, on_the_wire
from headwater.lineage.overlay import Value, beginning
from headwater.lineage.schema import ResolvedSchemaMetadata, SchemaMetadata, SchemaTable
from headwater.model.names import FOLDS, CaseRule, TableName, is_path, renamed
from headwater.model.relation import Resolution
from headwater.text import Span, nearest

TableKey = tuple[str, ...]  # the folded parts of a name
_HOMES = {"postgres": "public", "redshift": "public", "snowflake": "public", "tsql": "dbo", "duckdb": "main"}
"""The schema in which an engine looks for a table named without one."""
_MOST_IMPORTS = 8
_IMPORTS: dict[tuple[int, CaseRule, Callable[[], str]], tuple[SchemaMetadata, dict[TableKey, KnownTable]]] = {}


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class SchemaResolver:
    """The imported schema, and the implied one as it evolves with the statements applied so far."""

    def __init__(
        self, schema: SchemaMetadata | None = None, *, dialect: str | None = None, now: Callable[[], str] = _utc_now
    ) -> None:
        self.schema = self._given = schema or SchemaMetadata()
        self.case = self.schema.case_sensitivity.rule(dialect)
        self._folds = FOLDS[self.case.tables]
        self._home = _HOMES.get(dialect or "")
        self._now = now
        self._imported: MutableMapping[TableKey, KnownTable] = self._imported_tables()
        self._implied: MutableMapping[TableKey, KnownTable] = {}
        self._moved: MutableMapping[TableKey, KnownTable | None] = {}  # imported tables the text has renamed, swapped
        self._spelled: MutableMapping[TableKey, TableName] = {}
        self._temporary: set[TableKey] = set()
        self._functions: dict[TableKey, KnownTable] | None = None  # that are given, once one is asked for

    def begin_script(self) -> None:
        """Another script begins: what belonged to the session of the last, temporary tables and USE, is gone."""
        self.schema = self._given
        for key in self._temporary:
            self._implied.pop(key, None)
        self._temporary.clear()

    def learn(self, table: SchemaTable) -> KnownTable:
        """Take in a table as if it had been given with the schema."""
        self._imported.update(self._import(table))
        return self.resolve(TableName(table.parts))

    def fork(self) -> Self:
        """The same knowledge, to go on separately: what is applied to one is not seen by the other."""
        other = copy.copy(self)
        other._imported, other._implied = copy.copy(self._imported), copy.copy(self._implied)
        other._moved, other._spelled = copy.copy(self._moved), copy.copy(self._spelled)
        other._temporary = set(self._temporary)
        return other

    # ------------------------------------------------------------------------------------------- lookups

    def resolve(self, name: TableName, *, quoted: tuple[bool, ...] = ()) -> KnownTable:
        """The table that a name means here. Always an answer: an unknown table has resolution UNKNOWN.
        `quoted` says which parts were quoted; leaving it out means none."""
        for key in self._candidates(name, quoted):
            if key in self._moved:
                moved = self._moved[key]
                if moved is not None:
                    return moved
                continue
            known = self._imported.get(key) or self._implied.get(key)
            if known is not None:
                return known
        made = self._made_as_written(name) if any(quoted) else None
        if made is not None:
            return made
        qualified = self._qualify(name)
        key = self._fold(qualified.parts[: len(qualified.parts) - len(name.parts)]) + self._fold(name.parts, quoted)
        return KnownTable(self._spelled.setdefault(key, qualified))

    def belongs_to_session(self, name: TableName) -> bool:
        """Return whether a table is a temporary one of this script, or a variable that holds rows."""
        return self._fold(name.parts) in self._temporary or (self._home == "dbo" and name.name.startswith("@"))

    def function(self, name: TableName) -> KnownTable | None:
        """The rows of a function that is given in the schema, as a table; None when no function has this name."""
        if not self._given.functions:
            return None
        if self._functions is None:
            tables = [
                SchemaTable(name=f.name, schema=f.schema, catalog=f.catalog, columns=f.columns)
                for f in self._given.functions
            ]
            self._functions = dict(found for table in tables for found in self._import(table))
        return next((self._functions[key] for key in self._candidates(name, ()) if key in self._functions), None)

    def _made_as_written(self, name: TableName) -> KnownTable | None:
        """The table that the script made under exactly this name: effects do not say which names were quoted."""
        for key in self._candidates(name, ()):
            known = self._implied.get(key)
            if known is not None and known.name.parts[-len(name.parts) :] == name.parts:
                return known
        return None

    def unknown_table(self, table: KnownTable, span: Span | None = None) -> Issue:
        """The issue for a table that is not known: a warning if a schema was given, else a remark."""
        severity = Severity.WARNING if self._imported else Severity.INFO
        close = nearest(str(table.name), (str(known.name) for known in self._imported.values()))
        return Issue(
            IssueCode.UNKNOWN_TABLE,
            severity,
            f"`{table.name}` is neither in the given schema nor made by an earlier statement",
            span,
            hint=f"did you mean `{close}`?" if close else None,
        )

    def tables(self, like: TableName | None = None) -> Iterator[KnownTable]:
        """Every table known at this point, or those whose names begin like one, in the same schema."""

        def found(entries: Mapping[TableKey, Value]) -> Iterable[Value]:
            if like is None:
                return entries.values()
            return (value for _, value in beginning(entries, self._fold(like.parts)))

        for table in {id(table): table for table in found(self._imported)}.values():
            if self._fold(table.name.parts) not in self._moved:
                yield table
        yield from (table for table in found(self._moved) if table is not None)
        yield from found(self._implied)

    def resolved(self) -> ResolvedSchemaMetadata:
        """The effective schema at this point, as it goes on the wire."""
        tables = sorted(self.tables(), key=lambda table: table.name.parts)
        return ResolvedSchemaMetadata(tables=tuple(on_the_wire(table) for table in tables))

    # ------------------------------------------------------------------------------------------- effects

    def apply(self, effect: effects.SchemaEffect, *, statement_index: int | None = None) -> list[Issue]:
        """Let a statement change the schema; returns the conflicts this brings to light."""
        if isinstance(effect, effects.UseNamespace):
            self._use_namespace(effect)
            return []
        if not self.schema.allow_implied:
            return []
        match effect:
            case effects.CreateTable():
                return self._create(effect, statement_index)
            case effects.CopyTable():
                original = self.resolve(effect.original)
                return self._create(
                    effects.CreateTable(
                        effect.name,
                        original.columns,
                        temporary=effect.temporary,
                        keeps_existing=effect.keeps_existing,
                        complete=original.complete,
                        constraints=original.constraints,
                        span=effect.span,
                    ),
                    statement_index,
                )
            case effects.DropTable():
                self._forget(effect.name)
            case effects.RenameTable():
                self._rename(effect, statement_index)
            case effects.SwapTables():
                one, other = self.resolve(effect.one), self.resolve(effect.other)
                self._move(one, other.name, statement_index)
                self._move(other, one.name, statement_index)
            case effects.AlterColumns():
                return self._alter(effect, statement_index)
            case effects.UseColumns():
                self._use(effect, statement_index)
            case _:
                assert_never(effect)
        return []

    def _create(self, effect: effects.CreateTable, statement_index: int | None) -> list[Issue]:
        name = effect.name if effect.temporary else self._qualify(effect.name)
        key = self._fold(name.parts)
        given = self._moved[key] if key in self._moved else self._imported.get(key)
        if given is not None and given.resolution is Resolution.IMPORTED and not effect.temporary:
            return self._conflict(given, effect.columns, effect.span) if effect.complete else []
        known = (given or self._implied.get(key)) if effect.keeps_existing else None
        if known is not None and known.resolution is Resolution.IMPLIED:
            return []
        made = KnownTable(
            self._spelled.setdefault(key, name),
            effect.columns,
            Resolution.IMPLIED,
            effect.complete,
            temporary=effect.temporary,
            constraints=effect.constraints,
            statement_index=statement_index,
            updated_at=self._now(),
        )
        if effect.temporary:
            self._temporary.add(key)
            self._implied[key] = made
        else:
            self._put(made)
        return []

    def _conflict(
        self, given: KnownTable, columns: tuple[effects.ColumnDefinition, ...], span: Span | None
    ) -> list[Issue]:
        difference = compare(given, columns, self.case.columns)
        if difference is None:
            return []
        new = dataclasses.replace(
            given, doubts=dict(given.doubts) | difference.doubts, disputed=given.disputed + difference.disputed
        )
        for key in [key for key, table in self._imported.items() if table is given]:
            self._imported[key] = new
        for key in [key for key, table in self._moved.items() if table is given]:
            self._moved[key] = new
        message = f"the given schema of `{given.name}` won over the DDL: {difference.message}"
        return [Issue(IssueCode.SCHEMA_CONFLICT, Severity.WARNING, message, span)]

    def _alter(self, effect: effects.AlterColumns, statement_index: int | None) -> list[Issue]:
        table = self.resolve(effect.name)
        changed = alter_columns(table.columns, effect, self.case.columns)
        if table.resolution is Resolution.IMPORTED:
            # the given schema may describe the table before or after the ALTER; else it conflicts
            touched = {*effect.drop, *(old for old, _ in effect.rename)}
            after = not any(table.column(name, self.case.columns) for name in touched)
            return [] if after and changed == table.columns else self._conflict(table, changed, effect.span)
        altered = dataclasses.replace(table, columns=changed, statement_index=statement_index, updated_at=self._now())
        self._put(altered)
        return []

    def _put(self, table: KnownTable) -> None:
        """Keep what a statement made of a table; one under an imported table's name is kept with the moved ones."""
        key = self._fold(table.name.parts)
        if key in self._moved:
            self._moved[key] = table
        else:
            self._implied[key] = table

    def _rename(self, effect: effects.RenameTable, statement_index: int | None) -> None:
        table = self.resolve(effect.name)
        self._forget(table.name)
        if table.resolution is Resolution.IMPORTED:
            self._moved[self._fold(table.name.parts)] = None
        self._move(table, renamed(table.name, effect.to), statement_index)

    def _move(self, table: KnownTable, to: TableName, statement_index: int | None) -> None:
        moved = dataclasses.replace(table, name=to, statement_index=statement_index, updated_at=self._now())
        key = self._fold(to.parts)
        if table.temporary:
            self._temporary.add(key)
        if table.resolution is Resolution.IMPORTED or key in self._imported:
            self._moved[key] = moved
        else:
            self._implied[key] = moved

    def _use(self, effect: effects.UseColumns, statement_index: int | None) -> None:
        table = self.resolve(effect.name)
        if table.complete:
            return
        wanted = [name for name in effect.columns if table.column(name, self.case.columns) is None]
        if not wanted or table.resolution is Resolution.IMPORTED:
            return
        used = dataclasses.replace(
            table,
            columns=table.columns + tuple(effects.ColumnDefinition(name) for name in wanted),
            statement_index=statement_index if table.statement_index is None else table.statement_index,
            updated_at=self._now(),
        )
        self._put(used)

    def _use_namespace(self, effect: effects.UseNamespace) -> None:
        changes = {"default_schema": effect.schema} if effect.schema else {}
        if effect.catalog:
            changes["default_catalog"] = effect.catalog
        self.schema = msgspec.structs.replace(self.schema, **changes)

    def _forget(self, name: TableName) -> None:
        for key in self._candidates(name, ()):
            moved = self._moved.get(key)
            if moved is not None and moved.resolution is not Resolution.IMPORTED:
                self._moved[key] = None
                return
            if self._implied.pop(key, None) is not None:
                return

    # --------------------------------------------------------------------------------------------- names

    def _imported_tables(self) -> MutableMapping[TableKey, KnownTable]:
        return dict(self._shared_imports())

    def _shared_imports(self) -> dict[TableKey, KnownTable]:
        """The given tables by the names they can be asked for; worked out once for a schema that is used often."""
        if not self.schema.tables:
            return {}
        key = (id(self.schema), self.case, self._now)
        kept = _IMPORTS.get(key)
        if kept is None:
            while len(_IMPORTS) >= _MOST_IMPORTS:
                _IMPORTS.pop(next(iter(_IMPORTS)), None)
            tables = {name: known for table in self.schema.tables for name, known in self._import(table)}
            kept = _IMPORTS[key] = (self.schema, tables)  # the schema is held, so that its id stays its own
        return kept[1]

    def _import(self, table: SchemaTable) -> Iterator[tuple[TableKey, KnownTable]]:
        columns = tuple(
            effects.ColumnDefinition(
                column.name,
                column.data_type,
                bool(column.is_primary_key),
                (column.foreign_key.table, column.foreign_key.column) if column.foreign_key else None,
            )
            for column in table.columns
        )
        complete = table.complete and bool(columns)
        known = KnownTable(
            self._qualify(TableName(table.parts)), columns, Resolution.IMPORTED, complete, updated_at=self._now()
        )
        # A name in a schema file is not quoted: it stands for itself and for what the dialect makes of it.
        for parts in {table.parts, known.name.parts}:
            yield parts, known
            yield self._fold(parts), known

    def _qualify(self, name: TableName) -> TableName:
        parts, schema = name.parts, self.schema
        if parts[-1].startswith("#") or is_path(parts[-1]):
            return name  # a path, a stage, a session's own table
        if len(parts) == 1 and schema.default_schema:
            parts = (schema.default_schema, *parts)
        if len(parts) == 2 and schema.default_catalog:
            parts = (schema.default_catalog, *parts)
        return name if parts == name.parts else TableName(parts)

    def _candidates(self, name: TableName, quoted: tuple[bool, ...]) -> Iterator[TableKey]:
        """The keys a name may have, the most particular first: temporary, default, search path, as written."""
        own = self._fold(name.parts, quoted)
        if len(own) == 1:
            table = self._implied.get(own)
            if table is not None and table.temporary:
                yield own
        qualified = self._qualify(name).parts
        yield self._fold(qualified[: len(qualified) - len(own)]) + own
        if len(own) == 1:
            for hint in self.schema.search_path:
                yield (*self._fold((hint.schema,)), *own)
                catalog = hint.catalog or self.schema.default_catalog
                if catalog:
                    yield (*self._fold((catalog, hint.schema)), *own)
        yield own
        if len(own) == 1 and self._home is not None and not self.schema.default_schema:
            yield (*self._fold((self._home,)), *own)  # where the engine looks when nobody says where
        if len(own) == 2 and self._is_home(own):
            yield own[1:]
        if len(own) == 3 and not self.schema.default_catalog:
            yield own[1:]  # the given schema does not speak of catalogs

    def _is_home(self, key: TableKey) -> bool:
        """Tell whether a name says the schema in which the engine looks anyway: `dbo.t` is the table made as `t`."""
        if self._home is None or self.schema.default_schema or key[0] != self._fold((self._home,))[0]:
            return False
        table = self._implied.get(key[1:])
        return table is None or not table.temporary  # a session's own table is in no such schema

    def _fold(self, parts: tuple[str, ...], quoted: tuple[bool, ...] = ()) -> TableKey:
        plain, exact = self._folds
        if not quoted:
            return tuple(map(plain, parts))
        return tuple([(exact if flag else plain)(part) for part, flag in zip(parts, quoted)])

"""The tables that a statement names, and the state of each that it sees.
A table is looked up once per statement and pinned to a snapshot there and then: what is read, what is explained and
what is written into the origin of a commit are the same state by construction."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.errors import HeadwaterError, NotFoundError, UsageError
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import DEFAULT_DATABASE, OWN_DATABASES, TableIdentifier
from headwater.lake.tables.state import TableState
from headwater.lake.tables.time_travel import At
from headwater.lake.tables.warehouse import KnownTables
from headwater.model.schema import Schema
from headwater.query.parse import Node, SqlStatement, TimeTravel
from headwater.text import Source, Span, nearest, suggest

SYSTEM_MARK = "$"


@dataclass(frozen=True)
class Pinned:
    """A table at the state that a statement sees."""

    table: Table
    state: TableState
    is_past: bool = False  # named with a moment, which expiry may come for

    @property
    def name(self) -> TableIdentifier:
        return self.table.name

    @property
    def schema(self) -> Schema:
        return self.state.shape.schema

    @property
    def snapshot(self) -> Snapshot | None:
        return self.state.snapshot


@dataclass(frozen=True)
class TableRef:
    """One place where a statement names a table: the node, the text to replace, and what it stands for."""

    node: Node
    span: Span  # the name, and the time travel clause after it
    pinned: Pinned
    system: str | None = None  # `snapshots`, of `t$snapshots`

    @property
    def alias(self) -> str:
        """The name by which the columns are qualified."""
        return str(self.node.alias_or_name)

    @property
    def has_alias(self) -> bool:
        return bool(self.node.alias)

    @property
    def written(self) -> tuple[str, str]:
        """The database and the name by which the statement knows the table."""
        return self.node.db or self.pinned.name.database, self.node.name

    @property
    def renames_columns(self) -> bool:
        """Return whether the columns have other names in the query than in the table: `t AS x(a, b)`."""
        alias = self.node.args.get("alias")
        return alias is not None and bool(alias.args.get("columns"))


def has_database(column: Node, tables: Iterable[tuple[str, str]]) -> bool:
    """Return whether a column is written with the database of one of some tables, `shop.orders.id`; others that look
    so are a field of a field: `line.price.net`."""
    parts = [part.name.casefold() for part in column.parts]
    return len(parts) > 2 and any(parts[:2] == [database.casefold(), name.casefold()] for database, name in tables)


@dataclass
class Names:
    """The tables of a warehouse, as one statement names them."""

    warehouse: Warehouse
    database: str
    statement: SqlStatement
    tables: KnownTables
    _pins: dict[tuple[TableIdentifier, object], Pinned] = field(default_factory=dict)
    at: At | None = None  # the moment at which tables are seen that are named without one

    def table_name(self, node: Node) -> TableIdentifier:
        """The full name of a table that a node names, in the case it is stored in."""
        if node.args.get("catalog"):
            raise self.statement.error("a table has a name and a database, no catalog", node)
        database = node.args.get("db")
        wanted = TableIdentifier(database.name if database else self.database, node.name)
        known: list[str] = []
        with suppress(NotFoundError, UsageError):
            known = self.warehouse.list_tables(wanted.database)
        if wanted.table in known:
            return wanted
        same = [name for name in known if name.casefold() == wanted.table.casefold()]
        return TableIdentifier(wanted.database, same[0]) if len(same) == 1 else wanted

    def pin(self, node: Node, version: TimeTravel | None = None) -> Pinned:
        """The table that a node names, at the state it has now or had at the version.
        RAISES: NotFoundError at the place of the name."""
        name = self.table_name(node)
        key = (name, version.at if version else self.at)
        if key not in self._pins:
            try:
                self._pins[key] = self._pinned(name, version)
            except (NotFoundError, UsageError) as err:
                # a table's name without its alias, for its place
                span = self.statement.place(
                    exp.Table(this=node.this.copy(), db=node.args["db"].copy() if node.args.get("db") else None)
                )
                if version is not None and err.__cause__ is not None and "table" not in err.message:
                    span = self.statement.source.span(version.start, version.end)
                raise type(err)(err.message, hint=err.hint, span=span, source=self.statement.source) from err
        return self._pins[key]

    def _pinned(self, name: TableIdentifier, version: TimeTravel | None) -> Pinned:
        table = self.tables.get(name)
        store = table.store
        at = version.at if version is not None else self.at
        if at is None:
            return Pinned(table, store.latest())
        try:
            snapshot = table.snapshot(at)
        except HeadwaterError as err:
            raise type(err)(err.message, hint=err.hint) from err
        schema_id = snapshot.schema_id if snapshot else None
        return Pinned(table, store.state(snapshot, store.shape(schema_id)), is_past=True)

    def are_outdated(self) -> bool:
        """Return whether a table that was pinned to its latest state has a newer one by now."""
        pinned = [each for each in self._pins.values() if not each.is_past]
        return any(each.table.store.latest().snapshot_id != each.state.snapshot_id for each in pinned)

    @property
    def states(self) -> tuple[str, ...]:
        """The states of tables that the statement has seen, as `database.table@snapshot`."""
        pinned = {f"{each.name}@{each.snapshot.snapshot_id}" for each in self._pins.values() if each.snapshot}
        return tuple(sorted(pinned))

    def refs(self, tree: Node) -> list[TableRef]:
        """Every place in a tree that names a table of the warehouse, in the order of the text."""
        found = [ref for node in tree.find_all(exp.Table) if (ref := self.ref_of(node)) is not None]
        return sorted(found, key=lambda ref: ref.span.start)

    def ref_of(self, node: Node) -> TableRef | None:
        """The table of the warehouse that a node names, None for anything else."""
        if not isinstance(node.this, exp.Identifier) or is_cte(node):
            return None
        source = self.statement.source
        start, end = bounds(node)
        if source.text[start : start + 1] == "'":  # a file, which DuckDB reads itself
            return None
        version = next((each for each in self.statement.versions if _follows(source.text, end, each)), None)
        base, mark, system = node.name.partition(SYSTEM_MARK)
        span = source.span(start, version.end if version else end)
        if not mark:
            return TableRef(node, span, self.pin(node, version))
        plain = node.copy()
        plain.set("this", exp.to_identifier(base))
        plain.this.meta.update(node.this.meta)
        return TableRef(node, span, self.pin(plain, version), system.lower())

    def refuse_version(self, node: Node) -> None:
        """RAISES: SqlError when a table that is to be changed is named with a moment of the past."""
        end = bounds(node)[1]
        for version in self.statement.versions:
            if _follows(self.statement.source.text, end, version):
                span = self.statement.source.span(version.start, version.end)
                raise self.statement.error("the past cannot be changed", span)

    def database_name(self, node: Node) -> str:
        """RAISES: NotFoundError when there is no database of that name."""
        name = str(node.name)
        known = [DEFAULT_DATABASE, *self.warehouse.list_databases()]
        told = [each for each in known if each not in OWN_DATABASES]
        same = [each for each in known if each.casefold() == name.casefold()]
        if same:
            return same[0]
        raise NotFoundError(
            f"there is no database `{name}`",
            hint=suggest(name, known, f"databases: {', '.join(dict.fromkeys(told))}"),
            span=self.statement.place(node),
            source=self.statement.source,
        )


def bounds(node: Node) -> tuple[int, int]:
    """Return where the name of a table begins and ends in the text."""
    parts = [part for part in (node.args.get("db"), node.this) if part is not None]
    return parts[0].meta["start"], parts[-1].meta["end"] + 1


def moment_of(ref: TableRef, source: Source) -> str:
    """The clause of time travel after the name of a table, as it was written; empty without one."""
    return " ".join(source.text[bounds(ref.node)[1] : ref.span.end].split())


def _follows(text: str, end: int, version: TimeTravel) -> bool:
    return version.start >= end and not text[end : version.start].strip()


def is_cte(node: Node) -> bool:
    """Return whether a table's name is that of a common table expression in sight."""
    if node.args.get("db"):
        return False
    inside: Node = None
    parent = node.parent
    while parent is not None:
        clause = parent.args.get("with_")
        if clause is not None and node.name.casefold() in _visible(clause, inside):
            return True
        inside = parent if isinstance(parent, exp.CTE) else inside
        parent = parent.parent
    return False


def _visible(clause: Node, inside: Node) -> Iterator[str]:
    """The names of a WITH clause that a node beneath it sees: all, or those before the one it is part of."""
    for cte in clause.expressions:
        if cte is inside:
            if clause.args.get("recursive"):
                yield cte.alias.casefold()
            return
        yield cte.alias.casefold()


def find_field(schema: Schema, node: Node, statement: SqlStatement, table: object) -> str:
    """The column that an identifier names, whatever its case. RAISES: SqlError with the nearest name."""
    name = str(node.name)
    if name in schema.names:
        return name
    same = [known for known in schema.names if known.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    at = statement.place(node)
    close = nearest(name, schema.names)
    hint = f"did you mean `{close}`?  " if close else ""
    of = f" of `{table}`" if table is not None else ""
    raise statement.error(f"`{name}` is not a column{of}", at, hint=f"{hint}columns: {', '.join(schema.names)}")

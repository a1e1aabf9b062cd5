"""Tables and columns that get another name: RENAME, SWAP, EXCHANGE.
Rows do not change, only what they are called. So the new name has a column for each of the old one's, and an IDENTITY
edge leads from old to new: after `CREATE TABLE t_new AS …; ALTER TABLE t_new RENAME TO t`, the columns of `t` descend
from the sources of `t_new`. Two tables that change names have edges in both directions. A renamed column is an edge
inside its table."""

from headwater.errors import Issue
from headwater.lineage.effects import AlterColumns, RenameTable, SchemaEffect, SwapTables, UseColumns
from headwater.lineage.known_table import KnownTable
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import Lowered
from headwater.model.names import TableName, renamed
from headwater.model.relation import WILDCARD, Assignment, Attribute, Ref, Resolution, Scan, Write
from headwater.text import Span


class Moves:
    """The effects of one statement, in order, and the writes that those of them make that give other names."""

    def __init__(self, resolver: SchemaResolver, statement_type: str) -> None:
        self._resolver = resolver
        self._type = statement_type
        self._applied = 0  # how many of the effects the resolver knows; from the first on, it is a fork
        self._effects: list[SchemaEffect] = []
        self._writes: list[Write] = []
        self._issues: list[Issue] = []

    def add(self, effect: SchemaEffect, *, span: Span | None = None, to: Span | None = None) -> None:
        """Take in the next effect; `span` is the place of the old name in the text, `to` that of the new one."""
        match effect:
            case RenameTable(name, new):
                table = self._table(name, span)
                self._writes.append(same_rows(self._type, table, renamed(table.name, new), span, to))
            case SwapTables(one, other):
                first, second = self._table(one, span), self._table(other, to)
                self._writes.append(same_rows(self._type, first, second.name, span, to))
                self._writes.append(same_rows(self._type, second, first.name, to, span))
            case AlterColumns(name, rename=pairs) if pairs:
                table = self._now().resolve(name)
                if not table.complete:  # it must have had the columns that are renamed
                    self._effects.append(UseColumns(name, tuple(old for old, _ in pairs)))
                self._writes.append(self._renamed_columns(table, pairs, span, to))
        self._effects.append(effect)

    def lowered(self, target: TableName | None) -> Lowered:
        """The statement; `target` is the table it concerns if it gives no other names."""
        return Lowered(self._type, tuple(self._writes), tuple(self._effects), tuple(self._issues), target=target)

    def _table(self, name: TableName, span: Span | None) -> KnownTable:
        table = self._now().resolve(name)
        if table.resolution is Resolution.UNKNOWN:
            self._issues.append(self._resolver.unknown_table(table, span))
        return table

    def _now(self) -> SchemaResolver:
        """The schema as the effects so far leave it. Most statements have one effect, and need no copy."""
        if self._applied < len(self._effects):
            if not self._applied:
                self._resolver = self._resolver.fork()
            for effect in self._effects[self._applied :]:
                self._resolver.apply(effect)
            self._applied = len(self._effects)
        return self._resolver

    def _renamed_columns(
        self, table: KnownTable, pairs: tuple[tuple[str, str], ...], span: Span | None, to: Span | None
    ) -> Write:
        case = self._resolver.case.columns
        known = [table.column(old, case) for old, _ in pairs]
        attributes = tuple(
            Attribute(id, old if column is None else column.name)
            for id, ((old, _), column) in enumerate(zip(pairs, known))
        )
        assignments = tuple(
            Assignment(new, Ref(id, span), span=span, target_span=to) for id, (_, new) in enumerate(pairs)
        )
        return Write(self._type, table.name, assignments, target_scan=_scan(table, attributes, None))


def same_rows(
    statement_type: str, table: KnownTable, name: TableName, span: Span | None = None, to: Span | None = None
) -> Write:
    """Every column of a table into that of the same name in the table that has these rows from here on."""
    names = [column.name for column in table.columns] + ([] if table.complete else [WILDCARD])
    attributes = tuple(Attribute(id, each) for id, each in enumerate(names))
    assignments = tuple(Assignment(each.name, Ref(each.id)) for each in attributes)
    return Write(statement_type, name, assignments, (_scan(table, attributes, span),), target_span=to)


def _scan(table: KnownTable, attributes: tuple[Attribute, ...], span: Span | None) -> Scan:
    doubtful = frozenset(each.id for each in attributes if each.name in table.doubts or each.name == WILDCARD)
    reasons = [table.doubts[each.name] for each in attributes if each.name in table.doubts]
    doubt = (reasons[0] if reasons else table.approximate) if doubtful else None
    return Scan(table.name, attributes, span, table.resolution, doubt, doubtful)

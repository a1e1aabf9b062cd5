"""Queries: DuckDB runs them, over scans of the lake."""

import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.errors import EngineError, HeadwaterError, SqlError
from headwater.query.columns import ColumnCache
from headwater.query.dataset import LakeTable
from headwater.query.edits import Edit, Edited, apply_edits
from headwater.query.engine import DuckDBEngine
from headwater.query.handed import ParquetView
from headwater.query.names import Names, TableRef, has_database
from headwater.query.parse import Node, SqlStatement, quoted
from headwater.query.pushdown import pushed_predicates
from headwater.query.system import system_table
from headwater.query.top import asked_top
from headwater.text import Span

_ALL_COLUMNS = (exp.Columns, exp.Pivot, exp.Summarize, exp.Describe, exp.PositionalColumn)
_NEEDS_ALL_ROWS = (
    "where",
    "group",
    "having",
    "order",
    "distinct",
    "windows",
    "qualify",
    "joins",
    "laterals",
    "sample",
)


def mentioned_names(tree: Node, refs: list[TableRef]) -> frozenset[str] | None:
    """Every name in a query, folded: columns that are not among them are not read. None if any column may be."""
    if any(ref.renames_columns for ref in refs):
        return None
    tables = {ref.alias.casefold() for ref in refs}
    for node in tree.walk():
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            return None
        if isinstance(node, _ALL_COLUMNS) or (isinstance(node, exp.Join) and node.args.get("method")):
            return None
        if isinstance(node, exp.With) and node.args.get("recursive"):  # DuckDB then reads more than it needs
            return None
        if isinstance(node, exp.Column) and node.name.casefold() in tables:  # a whole row as a value
            return None
    return frozenset(node.name.casefold() for node in tree.find_all(exp.Identifier))


def takes_first_rows(ref: TableRef) -> bool:
    """Return whether a query takes the first rows of a table and leaves the others: LIMIT and nothing else."""
    select = ref.node.parent.parent if isinstance(ref.node.parent, exp.From) else None
    if not isinstance(select, exp.Select) or select.args.get("limit") is None:
        return False
    return not any(select.args.get(part) for part in _NEEDS_ALL_ROWS) and not any(
        isinstance(node, exp.AggFunc | exp.Window | exp.Anonymous) for node in select.walk()
    )


@dataclass(frozen=True)
class PreparedQuery:
    """A query ready to run: its text for DuckDB, and what the names in it stand for."""

    statement: SqlStatement
    text: Edited
    refs: tuple[TableRef, ...]
    tables: dict[str, Any]  # registered name → dataset or Arrow table
    mentioned: frozenset[str] | None = None  # names in it, folded; None: any column may be read

    @property
    def datasets(self) -> list[tuple[str, LakeTable]]:
        return [(name, table) for name, table in self.tables.items() if isinstance(table, LakeTable)]


@dataclass(frozen=True)
class StatementExecution:
    """The context in which statements run."""

    names: Names
    engine: DuckDBEngine
    cache: ColumnCache
    statement: SqlStatement
    parameters: Any = None

    def prepare(self, tree: Node, begin: int, end: int, more: tuple[Edit, ...] = ()) -> PreparedQuery:
        """The query that stands from `begin` to `end` in the text, with its tables pinned.
        RAISES: NotFoundError at the name of a table that is not there."""
        refs = [
            ref
            for ref in self.names.refs(tree)
            if begin <= ref.span.start < end and not any(edit.start <= ref.span.start < edit.end for edit in more)
        ]
        named = self.register(refs)
        text = self.statement.source.text
        edits = [Edit(ref.span.start, ref.span.end, _written(ref, name, text)) for ref, name in zip(refs, named)]
        edits += short_columns(tree, [ref.written for ref in refs], begin, end)
        edited = apply_edits(text, begin, end, [*edits, *more])
        return PreparedQuery(self.statement, edited, tuple(refs), named, mentioned_names(tree, refs))

    def register(self, refs: list[TableRef]) -> dict[str, Any]:
        """A name for DuckDB and a dataset for each reference, in order."""
        pushed = pushed_predicates(refs, self.engine.constant)
        tables: dict[str, Any] = {}
        for index, ref in enumerate(refs):
            base = str(ref.pinned.name) + (f"${ref.system}" if ref.system else "")
            name, count = base, 1
            while name in tables:
                count += 1
                name = f"{base}#{count}"
            if ref.system is not None:
                tables[name] = system_table(ref, self.statement)
            else:
                readers = self.engine.readers
                first_rows, top = takes_first_rows(ref), asked_top(ref)
                where = pushed.get(index, ())
                tables[name] = LakeTable(ref.pinned, where, self.cache, readers, first_rows=first_rows, top=top)
        return tables

    def run(self, query: PreparedQuery, *, shown: bool = False) -> pa.Table:
        """The rows of a query; those that are only `shown` may have values as text that no table could hold."""
        tables = _sources(query.tables, query.mentioned)
        rows = self._rows(query.text, tables, self.statement, shown=shown)
        return rows.rename_columns([_told_as_written(name, query) for name in rows.column_names])

    def _rows(
        self, text: Edited, tables: dict[str, Any], statement: SqlStatement, *, shown: bool = False
    ) -> pa.Table:
        """The rows of a query; files that DuckDB reads itself are kept while it does.
        RAISES: what failed in a scan, rather than what DuckDB makes of it; NotFoundError and CorruptFileError when
        DuckDB fails because of a file."""
        views = [table for table in tables.values() if isinstance(table, ParquetView)]
        try:
            with ExitStack() as held:
                for view in views:
                    held.enter_context(view.reading())
                return self.engine.rows(text, tables, statement, self.parameters, shown=shown)
        except HeadwaterError as err:
            for table in tables.values():
                if isinstance(table, LakeTable) and table.reading.failure is not None:
                    raise table.reading.failure from err
            for view in views if isinstance(err, EngineError) else ():
                view.recheck()
            raise

    def generated(self, text: str, tables: dict[str, Any]) -> pa.Table:
        """The rows of a query that was put together here; an error is placed by the name it speaks of."""
        try:
            nowhere = replace(self.statement, span=Span(0, 0, 1, 1))  # places in this text are not taken for ours
            return self._rows(Edited(text, 0, ()), _sources(tables, None), nowhere)
        except SqlError as err:
            raise self.statement.error(err.message, self._named(err.message), hint=err.hint) from err

    def _named(self, message: str) -> Span:
        """The first place of a name that a message has in quotes."""
        for name in re.findall(r"[`\"]([^`\"]+)[`\"]", message):
            for token in self.statement.tokens:
                if str(token.text).casefold() == name.casefold():
                    return self.statement.source.span(token.start, token.end + 1)
        return self.statement.span


_ALONE = re.compile(r"\b(summarize|table)\s+$", re.IGNORECASE)  # words that take a table without an alias


def _sources(tables: dict[str, Any], mentioned: frozenset[str] | None) -> dict[str, Any]:
    """The sources that DuckDB reads: of a table its files, where it can, else our scan of it."""
    lake = {name: each.view(mentioned) or each for name, each in tables.items() if isinstance(each, LakeTable)}
    return tables | lake


def _told_as_written(column: str, query: PreparedQuery) -> str:
    """The name that DuckDB gives to a column without one is its text; ours has the names of tables as they were."""
    if '"' in column:
        for ref, name in zip(query.refs, query.tables):
            for quotes in (quoted(ref.node.name), ref.node.name) if not ref.has_alias else ():
                column = column.replace(f"{quoted(name)} AS {quotes}", ref.node.name)
            column = column.replace(quoted(name), ref.node.name)
    return column


def _written(ref: TableRef, name: str, text: str) -> str:
    """Return how a reference is written for DuckDB: by the registered name, and by the name the query knows it by."""
    alone = ref.has_alias or _ALONE.search(text, 0, ref.span.start)
    return quoted(name) if alone else f"{quoted(name)} AS {quoted(ref.node.name)}"


def short_columns(tree: Node, tables: list[tuple[str, str]], begin: int, end: int) -> list[Edit]:
    """Columns written with their database, `shop.orders.id`, without it: DuckDB knows the table by its name alone."""
    edits = []
    for column in tree.find_all(exp.Column):
        parts: list[Node] = column.parts
        if has_database(column, tables) and begin <= parts[0].meta.get("start", -1) < end:
            edits.append(Edit(parts[0].meta["start"], parts[1].meta["end"] + 1, quoted(parts[1].name)))
    return edits

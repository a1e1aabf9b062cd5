"""Parts of a query run over chosen states and chosen rows of its tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from headwater.lake.engine.predicates import Compare, In, Predicate
from headwater.query.dataset import LakeTable
from headwater.query.names import Pinned
from headwater.query.parse import DIALECT, Node, quoted
from headwater.query.refresh.blocks import QueryTree, RefusedWay, equal_to, sources
from headwater.query.refresh.changes import InputChange
from headwater.query.refresh.split import Split, Splitter, is_linear
from headwater.query.select import StatementExecution

KEYS = "#keys"
NOTHING: Mapping[str, Sequence[Predicate]] = {}
VALUE = "value"
MOST_LISTED = 64  # values that a scan is given as a list
PART = 8  # a range is given in place of more, if it has fewer keys than this part of the rows of a table


@dataclass(frozen=True)
class RefreshStep:
    """One change of state of some tables: by their changed rows alone, or split by the values of a column."""

    tables: tuple[str, ...]
    split: Split | None = None  # None: the block is linear in the table


@dataclass
class RefreshEvaluation:
    """A query, the states of its tables before and after, and what changed between them."""

    run: StatementExecution
    tree: QueryTree
    after: Mapping[str, Pinned]  # by the names of tables in the query
    changes: Mapping[str, InputChange] = field(default_factory=dict)  # of those that changed

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(self.changes)

    def lake_table(self, name: str, *, old: bool = False, where: Sequence[Predicate] = ()) -> LakeTable:
        """A table as DuckDB scans it, in its state before or after."""
        pinned = self.changes[name].before if old and name in self.changes else self.after[name]
        return LakeTable(pinned, where, self.run.cache, self.run.engine.readers)

    def before(self, names: Iterable[str]) -> dict[str, Any]:
        """Tables in their states before. Of a table with a key that is the state after, without the rows that came
        and with those that are gone: so its columns are read once, for both."""
        return {
            name: self.changes[name] if self.after[name].schema.primary_keys else self.lake_table(name, old=True)
            for name in names
        }

    def values(self, split: Split, tables: Iterable[str]) -> pa.Table:
        """The values of the columns that changed tables are split by, in their changed rows, each once.
        RAISES: RefusedWay when the columns are of different types."""
        parts, types, named = [], set(), {}
        for name in tables:
            change, column = self.changes[name], _column_name(self.after[name], split[name])
            types.add(_family(change.came.schema.field(column).type))
            for side, rows in (("-", change.gone), ("+", change.came)):
                named[side + name] = rows
                parts.append(f"SELECT {quoted(column)} AS {VALUE} FROM {quoted(side + name)}")
        if len(types) != 1:
            raise RefusedWay("the columns that it is split by have different types")
        return self.run.generated(f"SELECT DISTINCT {VALUE} FROM ({' UNION ALL '.join(parts)})", named)

    def block_rows(
        self,
        select: Node,
        items: Sequence[str],
        tables: Mapping[str, Any],
        keys: Mapping[str, tuple[str, pa.Table]],
        bounds: Mapping[str, Sequence[Predicate]] = NOTHING,
    ) -> pa.Table:
        """Expressions over the joined and filtered rows of a block. `tables` stand in the place of some of the
        query's; those in `keys` are cut down to the rows with certain values of a column, and of those in `bounds` no
        rows are needed but those that meet conditions."""
        clause = self.tree.root.args.get("with_")
        ctes = [cte.sql(dialect=DIALECT) for cte in clause.expressions] if clause is not None else []
        return self.generated(f"SELECT {', '.join(items)} {from_text(select)}", ctes, tables, keys, bounds)

    def generated(
        self,
        text: str,
        ctes: list[str],
        tables: Mapping[str, Any],
        keys: Mapping[str, tuple[str, pa.Table]],
        bounds: Mapping[str, Sequence[Predicate]] = NOTHING,
    ) -> pa.Table:
        """Run a query over the tables as they are after, but for those given, and those cut down."""
        where = {name: bounded(self.after[name], *values) for name, values in keys.items()} | dict(bounds)
        named: dict[str, Any] = {name: self.lake_table(name, where=where.get(name, ())) for name in self.after}
        named |= tables
        shadows = []
        for name in [name for name in named if name in keys or isinstance(named[name], InputChange)]:
            table, source = named.pop(name), quoted(f"#{name}")
            if isinstance(table, InputChange):
                named |= {f"-{name}": table.gone, f"+{name}": table.came}
                source = _before_text(name, table)
                table = self.lake_table(name, where=where.get(name, ()))
            elif isinstance(table, LakeTable):  # maybe as it was, with the columns of then
                bounds_then = bounded(table.pinned, *keys[name])
                table = LakeTable(table.pinned, bounds_then, self.run.cache, self.run.engine.readers)
            if name in keys:
                column, values = keys[name]
                named[f"{KEYS}{name}"] = values
                source = f"(SELECT * FROM {source} AS t WHERE {_among(column, f'{KEYS}{name}')})"
            named[f"#{name}"] = table
            shadows.append(f"{quoted(name)} AS (SELECT * FROM {source})")
        clause = f"WITH {', '.join([*shadows, *ctes])} " if shadows or ctes else ""
        return self.run.generated(clause + text, named)


def from_text(select: Node) -> str:
    """The FROM and WHERE clauses of a block."""
    parts = [select.args.get("from_"), *(select.args.get("joins") or ()), select.args.get("where")]
    return " ".join(str(part.sql(dialect=DIALECT)).lstrip() for part in parts if part is not None)


def _among(column: str, keys: str) -> str:
    """The condition that a column of `t` has one of some values, NULL among them."""
    return f"EXISTS (SELECT 1 FROM {quoted(keys)} AS k WHERE k.{VALUE} IS NOT DISTINCT FROM t.{quoted(column)})"


def _before_text(name: str, change: InputChange) -> str:
    """The rows of a table with a key before a change, in the columns that the change knows."""
    columns = ", ".join(map(quoted, change.came.column_names))
    keys = ", ".join(map(quoted, change.after.schema.primary_keys))
    stayed = f"SELECT {columns} FROM {quoted('#' + name)} ANTI JOIN {quoted('+' + name)} USING ({keys})"
    return f"({stayed} UNION ALL SELECT {columns} FROM {quoted('-' + name)})"


def bounded(pinned: Pinned, column: str, values: pa.Table) -> tuple[Predicate, ...]:
    """The values of a column as a condition of the scan: a list of few, or the range of more where that is a small
    part of the table, as the keys of one night's rows are. Else none, since then whole columns serve all refreshes of
    a session; and none when a scan may compare them in another way than DuckDB."""
    name = _column_name(pinned, column)
    type = pinned.table.arrow_schema.field(name).type
    found = values.column(VALUE)
    plain = pa.types.is_integer(type) or pa.types.is_string(type) or pa.types.is_date32(type)
    if not plain or not len(found) or found.null_count:
        return ()
    try:
        found = found.cast(type)
    except pa.ArrowInvalid:  # a value that the column cannot have
        return ()
    if len(found) <= MOST_LISTED:
        return (In(name, tuple(found.to_pylist())),)
    if not pa.types.is_integer(type) or name != next(iter(pinned.schema.primary_keys), None):
        return ()
    least, most = pc.min_max(found).as_py().values()
    rows = sum(entry.file.rows for entry in pinned.state.entries)
    return (Compare(name, ">=", least), Compare(name, "<=", most)) if (most - least) * PART < rows else ()


def _column_name(pinned: Pinned, column: str) -> str:
    """The name of a column in the case that the table has it in."""
    return next(name for name in pinned.schema.names if name.casefold() == column.casefold())


def _family(type: pa.DataType) -> str:
    return "integer" if pa.types.is_integer(type) else str(type)


def plan_steps(tree: QueryTree, select: Node, changed: frozenset[str]) -> list[RefreshStep]:
    """The steps that bring the joined and filtered rows of a block from one state to another.
    RAISES: RefusedWay when a changed table can be followed in no way."""
    inside = sorted(changed & tree.tables_in(select))
    linear = [name for name in inside if is_linear(tree, select, name)]
    others = frozenset(inside) - set(linear)
    if not others:
        return [RefreshStep((name,)) for name in linear]
    try:
        together = _find_split(tree, select, frozenset(inside))
        return [RefreshStep(tuple(inside), together)]
    except RefusedWay:
        return [
            *(RefreshStep((name,)) for name in linear),
            RefreshStep(tuple(sorted(others)), _find_split(tree, select, others)),
        ]


def _find_split(tree: QueryTree, select: Node, changed: frozenset[str]) -> Split:
    """The first split of a block that follows all of some changed tables. RAISES: RefusedWay when there is none."""
    splitter = Splitter(tree, changed)
    refused = RefusedWay("no column by which its tables are joined")
    tried: set[tuple[str, str]] = set()
    for column in _candidates(tree, select):
        if column in tried:
            continue
        tried |= equal_to(select, column)
        try:
            return splitter.by_column(select, column)
        except RefusedWay as err:
            refused = err
    raise refused


def _candidates(tree: QueryTree, select: Node) -> list[tuple[str, str]]:
    kept = {alias for alias, source in sources(select).items() if source.kept}
    found = [(node.table, node.name) for node in select.find_all(exp.Column) if node.table in kept]
    return list(dict.fromkeys(found))


def signed_rows(of: RefreshEvaluation, select: Node, items: Sequence[str]) -> list[tuple[int, pa.Table]]:
    """Expressions over the rows that a block has lost (-1) and gained (+1) by what changed.
    RAISES: RefusedWay when a changed table cannot be followed."""
    found: list[tuple[int, pa.Table]] = []
    old = set(of.changed)
    for step in plan_steps(of.tree, select, of.changed):
        waiting = old - set(step.tables)
        states = of.before(waiting)
        if step.split is None:
            (name,) = step.tables
            change = of.changes[name]
            for sign, rows in ((-1, change.gone), (1, change.came)):
                if rows.num_rows:
                    found.append(
                        (sign, of.block_rows(select, items, states | {name: rows}, {}, _linked(of, name, rows)))
                    )
        else:
            values = of.values(step.split, step.tables)
            keys = {name: (column, values) for name, column in step.split.items()}
            found.append((-1, of.block_rows(select, items, states | of.before(step.tables), keys)))
            found.append((1, of.block_rows(select, items, states, keys)))
        old -= set(step.tables)
    return found


def _linked(of: RefreshEvaluation, name: str, rows: pa.Table) -> dict[str, tuple[Predicate, ...]]:
    """Conditions on the other tables of the SELECT that names a table, met by all rows that changed rows of it can
    meet: those with a value of the column by which they are joined, where that is the first of their key."""
    found: dict[str, tuple[Predicate, ...]] = {}
    for alias, here, select in _blocks_of(of.tree, name):
        for column in rows.column_names:
            for other, name_there in equal_to(select, (alias, column.casefold())):
                table = here.get(other, name)
                first = of.after[table].schema.primary_keys[:1]
                if table == name or table in found or not first or first[0].casefold() != name_there:
                    continue
                distinct = rows.select([column]).group_by([column]).aggregate([]).rename_columns([VALUE])
                where = bounded(of.after[table], first[0], distinct)
                found |= {table: where} if where else {}
    return found


def _blocks_of(tree: QueryTree, name: str) -> Iterator[tuple[str, dict[str, str], Node]]:
    """Each SELECT whose FROM clause names a table: the alias there, the tables there by alias, and the SELECT."""
    for select in tree.root.find_all(exp.Select):
        try:
            found = sources(select)
        except RefusedWay:
            continue
        nodes = {alias: source.node for alias, source in found.items() if isinstance(source.node, exp.Table)}
        here = {alias: node.name for alias, node in nodes.items() if node.name in tree.tables}
        for alias in (alias for alias, table in here.items() if table == name):
            yield alias, here, select

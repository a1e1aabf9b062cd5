"""The query that defines a table: that of CREATE MATERIALIZED VIEW, or of the commit which made all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import CannotTellError, HeadwaterError, NotFoundError
from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin, Snapshot
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import STATE_DATABASE, TableIdentifier
from headwater.query.parse import Node, SqlStatement, parse_statements, query_start, quoted
from headwater.text import Source

OPTION = "definition"


@dataclass(frozen=True)
class TableDefinition:
    """The query of a table, with full names of tables, and the commit that last made the table by it."""

    table: Table
    query: str
    is_declared: bool
    made: Snapshot | None  # None: the rows are not, or not only, what the query gave
    why_not: str | None = None  # why `made` is None
    database: str | None = None  # of names without one; None: there are none
    engine: str = "duckdb"  # or "spark": whose SQL the query is

    @property
    def statement(self) -> SqlStatement:
        """The statement that makes the table from nothing; commits of refreshes keep it as their recipe.
        RAISES: CannotTellError for a query of Spark."""
        if self.engine == "spark":
            hint = f"headwater rebuild {self.table.name} --master 'local[*]'"
            raise CannotTellError(
                f"{self.table.name} was made by Spark, which DuckDB may not compute alike", hint=hint
            )
        return next(iter(parse_statements(Source(create_text(self.table.name, self.query)))))

    @property
    def inputs(self) -> Mapping[str, InputVersion]:
        """The states that the table was made from, without those that the query itself names a moment of."""
        read = self.made.origin.inputs if self.made is not None and self.made.origin is not None else ()
        return {each.dataset: each for each in read if each.moment is None}


def create_text(name: TableIdentifier, query: str) -> str:
    return f"CREATE OR REPLACE TABLE {quoted(name.database)}.{quoted(name.table)} AS {query}"


def state_name(name: TableIdentifier) -> TableIdentifier:
    """The table that keeps the groups of a materialized view."""
    return TableIdentifier(STATE_DATABASE, f"{name.database}--{name.table}")


def find_definition(warehouse: Warehouse, name: str | TableIdentifier) -> TableDefinition:
    """The definition of a table. RAISES: NotFoundError for a table that is not there, CannotTellError for one that
    no query defines."""
    return find_definition_of(warehouse.table(name))


def find_definition_of(table: Table) -> TableDefinition:
    """The definition of a table. RAISES: CannotTellError when no query defines it."""
    made = _last_commit(table)
    declared = table.schema.options.get(OPTION)
    if declared is not None:
        origin = made.origin if made is not None else None
        if origin is not None and origin.sql == create_text(table.name, declared):
            return TableDefinition(table, declared, is_declared=True, made=made)
        why = "it has no rows yet" if made is None else f"snapshot {made.snapshot_id} was not made by its definition"
        return TableDefinition(table, declared, is_declared=True, made=None, why_not=why)
    if made is None or made.origin is None:
        raise CannotTellError(f"no query defines {table.name}", hint="CREATE MATERIALIZED VIEW declares one")
    if any(each.table_uuid == table.store.table_uuid and each.moment is None for each in made.origin.inputs):
        raise CannotTellError(f"no query defines {table.name}: the statement that made it read its rows before")
    recipe = made.origin.recipe
    database, engine = (recipe.database, recipe.engine) if recipe is not None else (None, "duckdb")
    text = _query_of(table, made.origin)
    return TableDefinition(table, text, is_declared=False, made=made, database=database, engine=engine)


def _last_commit(table: Table) -> Snapshot | None:
    """The newest commit that did more than move files. RAISES: CannotTellError when it has expired."""
    snapshot = table.snapshot()
    while snapshot is not None and snapshot.operation is Operation.COMPACT:
        try:
            before = snapshot.snapshot_id - 1
            snapshot = table.store.committer.log.get(before) if before else None
        except NotFoundError as err:
            raise CannotTellError(f"{table.name}@{before}, which was compacted since, has expired") from err
    return snapshot


def _query_of(table: Table, origin: Origin) -> str:
    """The query of CREATE TABLE AS, or of INSERT OVERWRITE of a whole table. RAISES: CannotTellError for others."""
    recipe = origin.recipe
    hint = f"CREATE MATERIALIZED VIEW declares one; `SELECT * FROM {table.name}$recipes` shows what made it"
    if recipe is None or recipe.reason is not None:
        why = recipe.reason if recipe is not None else "its program kept no recipe"
        raise CannotTellError(f"no query defines {table.name}: {why}", hint=hint)
    if recipe.parameters:
        raise CannotTellError(f"{table.name} was made with parameters", hint=hint)
    text = recipe.sql or origin.sql or ""
    try:
        statement = None if recipe.engine == "spark" else next(iter(parse_statements(Source(text))))
        tree: Node = sqlglot.parse_one(text, read="spark") if statement is None else statement.tree
    except (HeadwaterError, SqlglotError) as err:
        why = err.message if isinstance(err, HeadwaterError) else str(err).splitlines()[0]
        raise CannotTellError(f"the statement that made {table.name} cannot be read: {why}") from err
    whole = isinstance(tree, exp.Insert) and tree.args.get("overwrite") and not table.schema.partition_keys
    if not (whole or isinstance(tree, exp.Create)) or not isinstance(tree.expression, exp.Query):
        raise CannotTellError(f"the last statement on {table.name} did not make all of its rows", hint=hint)
    if statement is None:
        return str(tree.expression.sql(dialect="spark"))
    return statement.source.text[query_start(statement) : statement.span.end].rstrip().rstrip(";")

"""The query that gave the rows which a commit added to its table: of an INSERT its query in the types of the table,
of an UPDATE or MERGE the rows that were written."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from headwater.errors import CannotTellError, HeadwaterError, MemoryLimitError, TimeLimitError
from headwater.provenance.rewriting import parsed, sql_of
from headwater.provenance.sessions import RecipeSession
from headwater.query.create import prepare_tail
from headwater.query.dataset import LakeTable
from headwater.query.insert import converted_text, read_insert
from headwater.query.merge import merge_query, merged_tables
from headwater.query.modify import targeted, update_query
from headwater.query.names import Pinned
from headwater.query.parse import Node, quoted
from headwater.query.select import StatementExecution
from headwater.query.target import Target


@dataclass(frozen=True)
class NewRows:
    """A query over tables by their names in it, and the state that each of these is."""

    run: StatementExecution
    text: str
    columns: tuple[str, ...]  # of the table, in the order of the query's
    tables: dict[str, Any]
    pins: dict[str, Pinned]


def new_rows(session: RecipeSession) -> NewRows | None:
    """The query of the rows that a commit added; None for one that adds none.
    RAISES: CannotTellError when a state that it read is gone, or its statement is not understood."""
    run = session.execution(session.statement, session.commit.recipe.parameters)
    schema = session.commit.table.store.shape(session.commit.snapshot.schema_id).schema
    try:
        return _new_rows(run, tuple(schema.names))
    except (CannotTellError, TimeLimitError, MemoryLimitError):
        raise
    except HeadwaterError as err:
        raise CannotTellError(f"the statement of {session.commit} does not run any more: {err.message}") from err


def _new_rows(run: StatementExecution, columns: tuple[str, ...]) -> NewRows | None:
    tree = run.statement.tree
    if isinstance(tree, exp.Delete | exp.TruncateTable):
        return None
    if isinstance(tree, exp.Create):
        query = prepare_tail(run, tree.expression)
        return _made(run, _with_values(query.text.text, run.parameters), columns, query.tables)
    if isinstance(tree, exp.Insert):
        wanted = read_insert(run)
        text = _with_values(converted_text(run, wanted).text, run.parameters)
        return _made(run, text, columns, wanted.query.tables)
    if isinstance(tree, exp.Update):
        refs, target = targeted(run, tree.this)
        text, tables = update_query(run, refs, target)
        return _made(run, _listed(text, columns), columns, tables, target)
    if isinstance(tree, exp.Merge):
        refs, target = merged_tables(run)
        text, tables, whens = merge_query(run, refs, target)
        deletes = [str(at) for at, when in enumerate(whens) if when.values is None]
        action = quoted(parsed(text).expressions[0].alias)
        where = f" WHERE {action} NOT IN ({', '.join(deletes)})" if deletes else ""
        return _made(run, _listed(text, columns) + where, columns, tables, target)
    raise CannotTellError(f"{tree.key.upper()} is not followed row by row")


def _listed(text: str, columns: tuple[str, ...]) -> str:
    return f"SELECT {', '.join(map(quoted, columns))} FROM ({text})"


def _made(
    run: StatementExecution, text: str, columns: tuple[str, ...], tables: dict[str, Any], target: Target | None = None
) -> NewRows:
    pins = {name: table.pinned for name, table in tables.items() if isinstance(table, LakeTable)}
    for name, table in tables.items():
        if target is not None and table is target.rows:
            pins[name] = target.pinned
    return NewRows(run, text, columns, tables, pins)


def _with_values(text: str, parameters: Any) -> str:
    """A query with the values of its parameters written out."""
    if not parameters:
        return text
    tree = parsed(text)
    fill_values(tree, parameters)
    return sql_of(tree)


def fill_values(tree: Node, parameters: Any) -> None:
    """Write the values of parameters into a statement."""
    positional = iter(parameters) if not isinstance(parameters, dict) else iter(())
    for node in list(tree.find_all(exp.Placeholder, exp.Parameter)):
        name = node.name
        if isinstance(parameters, dict):
            value = parameters[name]
        else:
            value = parameters[int(name) - 1] if name.isdigit() else next(positional)
        node.replace(exp.convert(value))


def only_rows(new: NewRows, kept: dict[str, pa.Table]) -> dict[str, Any]:
    """The tables of the query with some of their rows alone."""
    return {name: kept.get(name, table) for name, table in new.tables.items()}

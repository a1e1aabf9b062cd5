"""The origin of a snapshot: the lineage of the statement that makes it, pinned to the states it read."""

import uuid
from importlib import import_module
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.lake.metadata.snapshot import ColumnOrigin, InputVersion, Origin
from headwater.lake.tables.names import TableIdentifier
from headwater.model.edges import Edge
from headwater.model.schema import Schema
from headwater.query.edits import Edit, apply_edits
from headwater.query.names import TableRef, bounds, moment_of
from headwater.query.parse import DIALECT, Node, SqlStatement
from headwater.query.recipes import masked_sql, recipe_of
from headwater.query.select import StatementExecution
from headwater.text import Source

if TYPE_CHECKING:
    from headwater.lineage.statement import StatementLineage

JOB = "sql"
WHOLE = "*"
"""The column of an influence on all columns alike: a filter, a join key."""


def origin_of(
    run: StatementExecution, refs: list[TableRef], target: TableIdentifier, target_node: Node, schema: Schema
) -> Origin:
    """The origin of the snapshot that a statement makes in `target`, whose columns are those of `schema`."""
    lineage = _lineage(run.statement, refs, (target, target_node), schema)
    edges = lineage.edges if lineage is not None else ()
    columns = tuple(dict.fromkeys(_column(edge) for edge in edges))
    text, recipe = recipe_of(run)
    return Origin(
        run_id=str(uuid.uuid4()),
        job=JOB,
        sql=text,
        inputs=tuple(_inputs(run.statement, refs, edges)),
        columns=columns,
        recipe=recipe,
    )


def _lineage(
    statement: SqlStatement, refs: list[TableRef], target: tuple[TableIdentifier, Node], schema: Schema
) -> "StatementLineage | None":
    """The lineage of the statement, with every table by its full name."""
    known = {_quoted(ref.pinned.name): list(ref.pinned.schema.names) for ref in refs if ref.system is None}
    if not isinstance(statement.tree, exp.Create):
        known[_quoted(target[0])] = list(schema.names)
    text = apply_edits(statement.source.text, statement.span.start, statement.span.end, _full_names(refs, target))
    analysis = import_module("headwater.analysis.analyze")  # when it is first needed: most queries write nothing
    request = analysis.Request(dialect=DIALECT, schema=known, engine="sqlglot", collapse=True, template=None)
    found = analysis.analyze_sources([Source(text.text)], request).statements
    return found[0] if found else None


def _full_names(refs: list[TableRef], target: tuple[TableIdentifier, Node]) -> list[Edit]:
    edits = {}
    for ref in refs:
        name = str(ref.pinned.name.table) + (f"${ref.system}" if ref.system else "")
        text = f'"{ref.pinned.name.database}"."{name}"'
        alias = "" if ref.has_alias else f' AS "{ref.node.name}"'
        edits[ref.span.start] = Edit(ref.span.start, ref.span.end, text + alias)
    written, node = target
    start, end = bounds(node)
    edits[start] = Edit(start, end, _quoted(written))
    return list(edits.values())


def _quoted(name: TableIdentifier) -> str:
    return f'"{name.database}"."{name.table}"'


def _column(edge: Edge) -> ColumnOrigin:
    return ColumnOrigin(
        column=edge.target.column or WHOLE,
        dataset=str(edge.source.table),
        source=edge.source.column or WHOLE,
        kind=edge.kind.value,
        expression=edge.expression and masked_sql(edge.expression)[0],
    )


def _inputs(statement: SqlStatement, refs: list[TableRef], edges: tuple[Edge, ...]) -> list[InputVersion]:
    read: dict[str, dict[str, None]] = {}
    for edge in edges:
        if edge.source.column is not None:
            read.setdefault(str(edge.source.table), {})[edge.source.column] = None
    found: dict[tuple[str, str], InputVersion] = {}
    for ref in refs:
        name = str(ref.pinned.name) + (f"${ref.system}" if ref.system else "")
        id = ref.pinned.state.snapshot_id
        moment = moment_of(ref, statement.source)
        found[name, moment] = InputVersion(
            dataset=name,
            snapshot_id=id,
            table_uuid=ref.pinned.table.store.table_uuid,
            columns=tuple(read.get(name, ())),
            moment=moment or None,
        )
    return list(found.values())

"""CREATE VIEW and DROP VIEW, and what a view stands for in a statement.
A view is written out where it is named, `(its query) AS v`, and the statement is read anew: so whatever is done with
it, its lineage included, is done with the tables behind it. The place of an error is found back in the text as it was
written; one inside a view is that of its name."""

from dataclasses import dataclass, replace

from sqlglot import exp

from headwater.errors import AlreadyExistsError, HeadwaterError
from headwater.lake.tables.names import DEFAULT_DATABASE, TableIdentifier
from headwater.lake.tables.views import View
from headwater.query.create import prepare_tail, refuse_clauses, table_comment
from headwater.query.edits import Edit, Edited, apply_edits
from headwater.query.names import Names, TableRef, bounds, is_cte
from headwater.query.parse import Node, SqlStatement, parse_statements, query_start, quoted
from headwater.query.result import Result, done
from headwater.query.select import StatementExecution, short_columns
from headwater.text import Source


@dataclass(frozen=True)
class Expanded:
    """A statement with views written out, and the way back to the text as it was."""

    statement: SqlStatement
    text: Edited
    source: Source

    def original(self, err: HeadwaterError) -> HeadwaterError:
        """An error about the expanded text as one about the text that was written."""
        if err.source is self.statement.source and err.span is not None:
            start, end = self.text.original(err.span.start), self.text.original(err.span.end)
            err.source, err.span = self.source, self.source.span(start, max(end, start + 1))
        return err


def create_view(run: StatementExecution) -> Result:
    """Carry out a CREATE VIEW; its query must be one that can be run now."""
    tree, statement = run.statement.tree, run.statement
    refuse_clauses(run)
    node = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    columns = tuple(each.name for each in tree.this.expressions) if isinstance(tree.this, exp.Schema) else ()
    warehouse, name = run.names.warehouse, run.names.table_name(node)
    if warehouse.has_table(name):
        raise statement.error(f"there is a table {name} already", node)
    if name.table in warehouse.views.list(name.database) and tree.args.get("exists"):
        return done(f"view {name} is there already")
    query = prepare_tail(run, tree.expression)
    found = run.engine.columns(query.text, query.tables, statement)
    if columns and len(columns) != len(found):
        raise statement.error(f"{len(columns)} names for {len(found)} columns", tree.this)
    begin = query_start(statement)
    edits = [full_name(ref, statement) for ref in query.refs]
    text = apply_edits(statement.source.text, begin, statement.span.end, edits).text
    view = View(sql=text.strip().rstrip(";"), columns=columns, comment=table_comment(tree))
    if name.database == DEFAULT_DATABASE:
        warehouse.create_database(name.database, if_not_exists=True)
    else:
        run.names.database_name(node.args.get("db") or exp.to_identifier(name.database))  # raises if it is not there
    try:
        warehouse.views.create(name, view, replace=bool(tree.args.get("replace")))
    except AlreadyExistsError as err:
        raise statement.error(err.message, node, hint="CREATE OR REPLACE VIEW") from err
    return done(f"view {name} created")


def drop_view(run: StatementExecution) -> Result:
    """Carry out a DROP VIEW."""
    tree, views = run.statement.tree, run.names.warehouse.views
    names = [run.names.table_name(node) for node in tree.args.get("tables") or [tree.this]]
    found = [name for name in names if not tree.args.get("exists") or name.table in views.list(name.database)]
    for name in found:
        views.get(name)  # all are there before the first goes
    for name in found:
        views.drop(name)
    return done(f"view {', '.join(map(str, names))} dropped")


def expand_views(statement: SqlStatement, names: Names) -> Expanded | None:
    """The statement with its views written out; None if it names none.
    RAISES: SqlError for a view that is to be changed, or read as of a moment."""
    edits, tables = [], []
    for node in statement.tree.find_all(exp.Table):
        name = _view_name(node, names)
        if name is not None:
            _refuse(node, name, statement)
            edits.append(_written_out(node, names.warehouse.views.get(name), statement))
            tables.append((node.db or name.database, node.name))
    if not edits:
        return None
    edits += short_columns(statement.tree, tables, statement.span.start, statement.span.end)
    text = apply_edits(statement.source.text, statement.span.start, statement.span.end, edits)
    explained = f"EXPLAIN {'ANALYZE ' if statement.explain == 'analyze' else ''}" if statement.explain else ""
    text = replace(text, text=explained + text.text, begin=text.begin - len(explained))
    (expanded,) = parse_statements(Source(text.text, statement.source.name))
    return Expanded(expanded, text, statement.source)


def _view_name(node: Node, names: Names) -> TableIdentifier | None:
    if not isinstance(node.this, exp.Identifier) or is_cte(node) or "start" not in node.this.meta:
        return None
    name = names.table_name(node)
    if names.warehouse.has_table(name):
        return None
    for each in names.warehouse.views.list(name.database):
        if each.casefold() == name.table.casefold():
            return TableIdentifier(name.database, each)
    return None


def _refuse(node: Node, name: TableIdentifier, statement: SqlStatement) -> None:
    tree = statement.tree
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if node is target and not isinstance(tree, exp.Describe | exp.Summarize):
        raise statement.error(f"{name} is a view: it cannot be changed", node, hint="change the tables behind it")
    end = bounds(node)[1]
    if any(not statement.source.text[end : each.start].strip() for each in statement.versions if each.start >= end):
        raise statement.error(f"{name} is a view: it has no past of its own", node)


def _written_out(node: Node, view: View, statement: SqlStatement) -> Edit:
    query = view.sql
    if view.columns:
        query = f"SELECT * FROM ({query}) AS view({', '.join(map(quoted, view.columns))})"
    start, end = bounds(node)
    if isinstance(statement.tree, exp.Describe) and statement.tree.this is node:
        return Edit(start, end, query)
    return Edit(start, end, f"({query})" if node.alias else f"({query}) AS {quoted(node.name)}")


def full_name(ref: TableRef, statement: SqlStatement) -> Edit:
    """A reference by the full name of its table, and the name that the query knows it by."""
    end = bounds(ref.node)[1]
    moment = statement.source.text[end : ref.span.end]
    table = ref.pinned.name.table + (f"${ref.system}" if ref.system else "")
    alias = "" if ref.has_alias else f" AS {quoted(ref.node.name)}"
    return Edit(ref.span.start, ref.span.end, f"{quoted(ref.pinned.name.database)}.{quoted(table)}{moment}{alias}")

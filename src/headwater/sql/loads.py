"""Files in and out: COPY, LOAD, UNLOAD, EXPORT. A path, URI or stage is a table of one part."""

import dataclasses
import re
from collections.abc import Sequence

from sqlglot import exp

from headwater.events.naming import file_table
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import WILDCARD, Assignment, Attribute, Ref, Relation, Resolution, Scan, Write
from headwater.sql.inserts import insert_write
from headwater.sql.lowering import Lowering, Node, Query, Scope
from headwater.sql.writes import assignments_by_name, created, identifier_of, states

_UNKNOWN = "the columns of a file are not known"


@states(exp.Copy)
def lower_copy(lowering: Lowering, node: Node) -> Lowered:
    files = list(node.args.get("files") or ())
    if isinstance(node.this, exp.Query):  # COPY (SELECT …) TO '…'
        return _unload(lowering, "COPY", lowering.query(node.this, None), files)
    table = node.this.this if isinstance(node.this, exp.Schema) else node.this
    if not node.args.get("kind"):  # COPY t TO '…'
        return _unload(lowering, "COPY", lowering.query(table, None), files)
    listed = node.this.expressions if isinstance(node.this, exp.Schema) else ()
    target = _resolve(lowering, table)
    queries = [each for each in files if isinstance(each, exp.Query)]
    if queries:
        query = lowering.query(queries[0], None)
        write = insert_write(lowering, exp.Insert(this=node.this), query, Scope())
        return Lowered("COPY", (dataclasses.replace(write, statement_type="COPY"),))
    source = files[0] if files else None
    if _is_stage(table) and isinstance(source, exp.Table):  # COPY INTO @stage FROM t
        query = lowering.query(source, None)
        return Lowered("COPY", (Write("COPY", target, assignments_by_name(query), (query.relation,)),))
    return _load(lowering, "COPY", target, [_path(each) for each in files], listed)


def _is_stage(table: Node) -> bool:
    return not isinstance(table.this, exp.Identifier)


@states(exp.LoadData)
def lower_load(lowering: Lowering, node: Node) -> Lowered:
    paths = [node.args["inpath"].name] if node.args.get("inpath") is not None else []
    files = node.args.get("files")
    if isinstance(files, exp.Expr):
        paths += [each.name for each in files.find_all(exp.Literal) if each.is_string and "://" in each.name]
    schema = node.this if isinstance(node.this, exp.Schema) else None
    table = schema.this if schema is not None else node.this
    return _load(lowering, "LOAD_DATA", _resolve(lowering, table), paths, schema.expressions if schema else ())


@states(exp.Export)
def lower_export(lowering: Lowering, node: Node) -> Lowered:
    options = node.args.get("options")
    uris = [each for each in (options.find_all(exp.Literal) if options is not None else ()) if "://" in each.name]
    return _unload(lowering, "EXPORT_DATA", lowering.query(node.this, None), uris)


@states(exp.Cache)
def lower_cache(lowering: Lowering, node: Node) -> Lowered:
    """CACHE TABLE c AS SELECT …: a table of the session."""
    if node.expression is None:
        return Lowered("CACHE_TABLE")
    query = lowering.query(node.expression, None)
    name, _ = lowering.table_name(node.this)
    write = Write("CACHE_TABLE", name, assignments_by_name(query), (query.relation,))
    return Lowered("CACHE_TABLE", (write,), (created(lowering, name, query, temporary=True),))


def _unload(lowering: Lowering, statement_type: str, query: Query, files: Sequence[Node]) -> Lowered:
    target = _file(_path(files[0])) if files else None
    write = Write(statement_type, target, assignments_by_name(query), (query.relation,))
    return Lowered(statement_type, (write,))


def _load(
    lowering: Lowering, statement_type: str, target: TableName, paths: Sequence[str], listed: Sequence[Node]
) -> Lowered:
    """A file into a table: which of its columns goes where is not known."""
    relations: list[Relation] = []
    assignments: list[Assignment] = []
    names = [identifier_of(each).name for each in listed] or [WILDCARD]
    for path in paths:
        column = Attribute(lowering.new_id(), WILDCARD)
        relations.append(Scan(_file(path), (column,), None, Resolution.UNKNOWN, _UNKNOWN))
        assignments += [Assignment(name, Ref(column.id)) for name in names]
    return Lowered(statement_type, (Write(statement_type, target, tuple(assignments), tuple(relations)),))


def _file(path: str) -> TableName:
    """The dataset of a path; what comes from the client is no file."""
    return TableName.of(path) if path.lower() in ("stdin", "stdout") else file_table(path)


def _path(node: Node) -> str:
    if isinstance(node, exp.Table):
        return str(node.this.name if isinstance(node.this, exp.Expr) else node.this)
    return str(node.name)


def _resolve(lowering: Lowering, table: Node) -> TableName:
    if _is_stage(table):
        return file_table(_path(table))
    name, quoted = lowering.table_name(table)
    return lowering.resolver.resolve(name, quoted=quoted).name


_UNLOAD = re.compile(r"UNLOAD\s*\(\s*('|\$\$|)(.*)\1\s*\)\s*TO\s+'([^']*)'", re.IGNORECASE | re.DOTALL)


def find_unload(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """The range of the query in an UNLOAD, and the path it is written to."""
    match = _UNLOAD.match(text, start, end)
    return None if match is None else (match.start(2), match.end(2), match.group(3))

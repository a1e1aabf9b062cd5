"""Statements: what each kind writes, and what it does to the schema."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import structs

from headwater.events.naming import file_table
from headwater.lineage.effects import ColumnDefinition, CopyTable, CreateTable
from headwater.lineage.schema import ConstraintType, TableConstraintInfo
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import WILDCARD, Assignment, Attribute, OneOf, Ref, Relation, Scan, Write
from headwater.zetasql.lower.lowering import ResolvedLowering, message_type, unwrap
from headwater.zetasql.lower.outputs import output_assignments, output_definitions
from headwater.zetasql.messages import enums
from headwater.zetasql.types import type_text

_CREATE = enums.ResolvedCreateStatementEnums
_Lower: TypeAlias = Callable[[ResolvedLowering, Any], Lowered]
_STATEMENTS: dict[type, _Lower] = {}


def states(*names: str) -> Callable[[_Lower], _Lower]:
    """Register a function for statements: `@states("QueryStmt")`."""

    def register(function: _Lower) -> _Lower:
        _STATEMENTS.update((message_type(name), function) for name in names)
        return function

    return register


def lower_statement(low: ResolvedLowering, statement: Any) -> Lowered:
    """Lower a resolved statement. One that has nothing to do with data comes back empty, under its name."""
    node = unwrap(statement)
    lower = _STATEMENTS.get(type(node))
    lowered = lower(low, node) if lower is not None else Lowered(statement_name(node))
    return dataclasses.replace(lowered, issues=(*lowered.issues, *low.issues)) if low.issues else lowered


def statement_name(node: Any) -> str:
    """`CREATE_ROW_ACCESS_POLICY` from ResolvedCreateRowAccessPolicyStmtProto."""
    name = type(node).__name__.removeprefix("Resolved").removesuffix("Proto").removesuffix("Stmt")
    words = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    return words.strip("_").upper()


@states("QueryStmt")
def lower_query(low: ResolvedLowering, node: Any) -> Lowered:
    assignments = output_assignments(low, node.output_column_list, value_table=node.is_value_table)
    return Lowered("SELECT", (Write("SELECT", None, tuple(assignments), (low.scan(node.query),)),))


@states("CreateTableAsSelectStmt")
def lower_create_as(low: ResolvedLowering, node: Any) -> Lowered:
    assignments = output_assignments(low, node.output_column_list, value_table=node.parent.is_value_table)
    columns = output_definitions(node.output_column_list, value_table=node.parent.is_value_table)
    names = [definition.name for definition in node.parent.column_definition_list]
    if len(names) == len(assignments):  # CREATE TABLE t (a, b) AS …
        assignments = [structs.replace(each, column=name) for each, name in zip(assignments, names)]
        columns = tuple(dataclasses.replace(each, name=name) for each, name in zip(columns, names))
    write = Write("CREATE_TABLE_AS_SELECT", None, tuple(assignments), (low.scan(node.query),))
    return created(low, node.parent.parent, write, columns)


@states("CreateViewStmt", "CreateMaterializedViewStmt")
def lower_view(low: ResolvedLowering, node: Any) -> Lowered:
    kind = "CREATE_VIEW" if type(node) is message_type("CreateViewStmt") else "CREATE_MATERIALIZED_VIEW"
    view = node.parent
    assignments = output_assignments(low, view.output_column_list, value_table=view.is_value_table)
    columns = output_definitions(view.output_column_list, value_table=view.is_value_table)
    return created(low, view.parent, Write(kind, None, tuple(assignments), (low.scan(view.query),)), columns)


@states("CreateModelStmt")
def lower_model(low: ResolvedLowering, node: Any) -> Lowered:
    assignments = output_assignments(low, node.output_column_list)
    relations: tuple[Relation, ...] = (low.scan(node.query),) if unwrap(node.query) is not None else ()
    for query in node.aliased_query_list:
        assignments += output_assignments(low, query.output_column_list)
        relations += (low.scan(query.query),)
    target, span = target_of(low, node.parent)
    write = Write("CREATE_MODEL", target, tuple(assignments), relations, target_span=span)
    return Lowered("CREATE_MODEL", (write,))


@states("CreateTableStmt")
def lower_create(low: ResolvedLowering, node: Any) -> Lowered:
    """CREATE TABLE, and its forms that take another table's columns (LIKE) or also its rows (CLONE, COPY)."""
    create = node.parent.parent
    for kind, scan in (("CREATE_TABLE_CLONE", node.clone_from), ("CREATE_TABLE_COPY", node.copy_from)):
        if unwrap(scan) is not None:
            return _copied(low, create, kind, scan)
    target, span = target_of(low, create)
    if node.parent.like_table.full_name:
        original = low.around.tables.get(node.parent.like_table.full_name)
        if original is not None:
            effect = CopyTable(target, original.name, is_temporary(create), keeps_existing(create), span)
            return Lowered("CREATE_TABLE_LIKE", effects=(effect,), target=target)
    columns = column_definitions(node.parent.column_definition_list)
    keys = _keys(low, node.parent)
    effect_of = CreateTable(
        target, columns, is_temporary(create), keeps_existing(create), constraints=keys, span=span
    )
    return Lowered("CREATE_TABLE", effects=(effect_of,), target=target)


def _keys(low: ResolvedLowering, base: Any) -> tuple[TableConstraintInfo, ...]:
    """PRIMARY KEY and FOREIGN KEY, of the table or of a column."""
    found = []
    if base.primary_key.column_name_list:
        primary = tuple(base.primary_key.column_name_list)
        found.append(TableConstraintInfo(constraint_type=ConstraintType.PRIMARY_KEY, columns=primary))
    for key in base.foreign_key_list:
        dotted = key.referenced_table.full_name or key.referenced_table.name
        known = low.around.tables.get(dotted)
        names = [column.name for column in known.columns] if known is not None else []
        found.append(
            TableConstraintInfo(
                constraint_type=ConstraintType.FOREIGN_KEY,
                columns=tuple(key.referencing_column_list),
                referenced_table=str(known.name) if known is not None else dotted,
                referenced_columns=tuple(names[at] for at in key.referenced_column_offset_list if at < len(names)),
            )
        )
    return tuple(found)


@states("CreateExternalTableStmt")
def lower_external(low: ResolvedLowering, node: Any) -> Lowered:
    """An external table is fed by the files it names."""
    create = node.parent.parent
    target, span = target_of(low, create)
    columns = column_definitions(
        [*node.parent.column_definition_list, *node.with_partition_columns.column_definition_list]
    )
    effect = CreateTable(target, columns, is_temporary(create), keeps_existing(create), bool(columns), span=span)
    uris = option_texts(node.parent.option_list, "uris")
    write = dataclasses.replace(
        _from_files(low, "CREATE_EXTERNAL_TABLE", target=target, uris=uris, columns=columns), target_span=span
    )
    return Lowered("CREATE_EXTERNAL_TABLE", (write,), (effect,))


@states("CreateSnapshotTableStmt")
def lower_snapshot(low: ResolvedLowering, node: Any) -> Lowered:
    return _copied(low, node.parent, "CREATE_SNAPSHOT_TABLE", node.clone_from)


@states("CloneDataStmt")
def lower_clone_data(low: ResolvedLowering, node: Any) -> Lowered:
    target = low.around.tables.get(node.target_table.table.full_name)
    name = target.name if target is not None else TableName(tuple(node.target_table.table.full_name.split(".")))
    return Lowered("CLONE_DATA", (_copy("CLONE_DATA", name, low, node.clone_from),))


def _copied(low: ResolvedLowering, create: Any, kind: str, scan: Any) -> Lowered:
    target, span = target_of(low, create)
    write = _copy(kind, target, low, scan)
    original = next((each for each in write.relations if isinstance(each, Scan)), None)
    effects = (
        (CopyTable(target, original.table, is_temporary(create), keeps_existing(create), span),) if original else ()
    )
    return Lowered(kind, (dataclasses.replace(write, target_span=span),), effects)


def _copy(kind: str, target: TableName, low: ResolvedLowering, scan: Any) -> Write:
    """Every column of one table to the column of that name in another."""
    node = unwrap(scan)
    while "table" not in type(node).DESCRIPTOR.fields_by_name:  # a filter around it
        node = unwrap(node.input_scan)
    known = low.around.tables.get(node.table.full_name)
    if known is None:
        return Write(kind, target, ())
    attributes = tuple(Attribute(low.new_id(), column.name) for column in known.columns)
    relation = Scan(known.name, attributes, low.span(node), known.resolution)
    return Write(kind, target, tuple(Assignment(each.name, Ref(each.id)) for each in attributes), (relation,))


@states("ExportDataStmt")
def lower_export(low: ResolvedLowering, node: Any) -> Lowered:
    uris = option_texts(node.option_list, "uri")
    assignments = output_assignments(low, node.output_column_list, value_table=node.is_value_table)
    target = file_table(uris[0]) if uris else None
    return Lowered("EXPORT_DATA", (Write("EXPORT_DATA", target, tuple(assignments), (low.scan(node.query),)),))


@states("AuxLoadDataStmt")
def lower_load(low: ResolvedLowering, node: Any) -> Lowered:
    target = low.around.qualify(tuple(node.name_path))
    columns = column_definitions(node.column_definition_list)
    effects = (CreateTable(target, columns, node.is_temp_table, keeps_existing=True),) if columns else ()
    uris = option_texts(node.from_files_option_list, "uris")
    return Lowered("LOAD_DATA", (_from_files(low, "LOAD_DATA", target=target, uris=uris, columns=columns),), effects)


def _from_files(
    low: ResolvedLowering, kind: str, *, target: TableName, uris: list[str], columns: tuple[ColumnDefinition, ...]
) -> Write:
    """Columns of files that are not known by name go to the columns of a table, listed or not."""
    doubt = "the columns of the files are not known"
    scans = [Scan(file_table(uri), (Attribute(low.new_id(), WILDCARD),), approximate=doubt) for uri in uris]
    value = OneOf(tuple(Ref(scan.attributes[0].id) for scan in scans))
    names = [column.name for column in columns] or [WILDCARD]
    assignments = tuple(Assignment(name, value) for name in names) if scans else ()
    return Write(kind, target, assignments, tuple(scans))


# -------------------------------------------------------------------------------------------------- shared


def created(low: ResolvedLowering, create: Any, write: Write, columns: tuple[ColumnDefinition, ...]) -> Lowered:
    """A table or view made of a query: the write gets its target, and the schema a table."""
    target, span = target_of(low, create)
    effect = CreateTable(target, columns, is_temporary(create), keeps_existing(create), span=span)
    write = dataclasses.replace(write, target=target, target_span=span)
    return Lowered(write.statement_type, (write,), (effect,))


def target_of(low: ResolvedLowering, create: Any) -> tuple[TableName, Any]:
    """The name a CREATE statement gives, and where it stands."""
    path = tuple(create.name_path)
    return low.around.qualify(path, temporary=is_temporary(create)), low.span(create)


def is_temporary(create: Any) -> bool:
    return bool(create.create_scope == _CREATE.CREATE_TEMP)


def keeps_existing(create: Any) -> bool:
    return bool(create.create_mode == _CREATE.CREATE_IF_NOT_EXISTS)


def column_definitions(definitions: Any) -> tuple[ColumnDefinition, ...]:
    """Columns as CREATE TABLE defines them."""
    return tuple(ColumnDefinition(each.name, type_text(each.type)) for each in definitions if not each.is_hidden)


def option_texts(options: Any, name: str) -> list[str]:
    """The strings of an option: `uri = 'gs://…'`, `uris = ['gs://…', …]`."""
    found: list[str] = []
    for option in options:
        if option.name.lower() == name:
            value = unwrap(option.value)
            if value is None or type(value) is not message_type("Literal"):
                continue
            held = value.value.value
            texts = held.array_value.element if held.WhichOneof("value") == "array_value" else [held]
            found += [text.string_value for text in texts if text.string_value]
    return found

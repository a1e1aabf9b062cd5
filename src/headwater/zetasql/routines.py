"""Functions, table functions and procedures that a script defines: what ZetaSQL must know of them to resolve calls,
and what lineage must know to look inside."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from headwater.lineage.resolver import SchemaResolver
from headwater.text import Source
from headwater.zetasql.catalog import Path, ScriptCatalog, split_path
from headwater.zetasql.failures import CannotResolve
from headwater.zetasql.lower import Place, ResolvedRoutine, Specialized
from headwater.zetasql.lower.expressions import type_of
from headwater.zetasql.lower.lowering import unwrap
from headwater.zetasql.lower.shapes import given_columns
from headwater.zetasql.messages import function, function_enums, types
from headwater.zetasql.reader import Reader
from headwater.zetasql.split import ScriptPiece
from headwater.zetasql.types import type_bytes, type_text

_ENUMS = function_enums.FunctionEnums
_ARBITRARY = frozenset({function_enums.ARG_TYPE_ARBITRARY, function_enums.ARG_TYPE_RELATION})


@dataclass(frozen=True, slots=True)
class ProcedureParameter:
    """A parameter of a procedure."""

    name: str
    type: bytes  # a TypeProto
    out: bool = False


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure and the statements of its body; `opaque` says why there are none."""

    name: str
    parameters: tuple[ProcedureParameter, ...]
    pieces: tuple[ScriptPiece, ...]
    source: Source
    opaque: str | None = None


def spellings(path: Path, resolver: SchemaResolver) -> Iterator[Path]:
    """The paths by which something created under `path` may be called: `p.ds.f`, `` `p.ds.f` ``, `ds.f`.
    The resolver knows which project and dataset a short name is in."""
    parts = split_path(path)
    project, dataset = resolver.schema.default_catalog, resolver.schema.default_schema
    whole = (dataset, *parts) if len(parts) == 1 and dataset else parts
    whole = (project, *whole) if len(whole) == 2 and project else whole
    seen = {path, parts, whole, (".".join(parts),), (".".join(whole),), whole[-2:], (".".join(whole[-2:]),)}
    yield from sorted(each for each in seen if each)


def define_function(reader: Reader, node: Any, place: Place, resolver: SchemaResolver) -> ResolvedRoutine:
    """Make a function known to the catalog, and return what lineage needs to see through it."""
    create = node.parent
    names = tuple(node.argument_name_list)
    templated = any(argument.kind in _ARBITRARY for argument in node.signature.argument)
    resolved_late = templated and node.language.upper() in ("", "SQL")
    for path in spellings(tuple(create.name_path), resolver):
        proto = function.FunctionProto(name_path=path, group="Templated_SQL_Function" if resolved_late else "Routine")
        proto.mode = _ENUMS.AGGREGATE if node.is_aggregate else _ENUMS.SCALAR
        proto.signature.add().CopyFrom(node.signature)
        if resolved_late:
            proto.parse_resume_location.input = node.code
            proto.parse_resume_location.byte_position = 0
            proto.templated_sql_function_argument_name.extend(names)
        reader.catalog.functions[path] = proto.SerializeToString()
        if len(path) == 1:
            reader.hide_builtin(path[0])
    specialize = _function_body(reader, node, names, resolver) if templated else None
    has_body = unwrap(node.function_expression) is not None or (templated and node.code and not node.is_aggregate)
    name = ".".join(split_path(tuple(create.name_path)))
    opaque = None if has_body and not node.is_remote else _language(node)
    return ResolvedRoutine(name, names, node, place, dict(reader.catalog.known), specialize, opaque)


def declare_function(reader: Reader, path: Path, kind: str, resolver: SchemaResolver) -> ResolvedRoutine:
    """Make a function of which only a call is known acceptable to ZetaSQL: any arguments, and a result of a kind."""
    signature = function.FunctionSignatureProto()
    signature.return_type.kind = function_enums.ARG_TYPE_FIXED
    signature.return_type.type.MergeFromString(type_bytes(kind))
    argument = signature.argument.add(kind=function_enums.ARG_TYPE_ARBITRARY)
    argument.options.cardinality = _ENUMS.REPEATED
    for each in spellings(path, resolver):
        proto = function.FunctionProto(name_path=each, group="Routine", mode=_ENUMS.SCALAR)
        proto.signature.add().CopyFrom(signature)
        reader.catalog.functions[each] = proto.SerializeToString()
    return ResolvedRoutine(".".join(split_path(path)), (), None, Place(Source("")), {}, opaque="nothing defines it")


def _language(node: Any) -> str:
    if getattr(node, "is_remote", False):
        return "it is a remote function"
    return f"its body is {node.language}" if node.language else "its body is not known"


def _function_body(reader: Reader, node: Any, names: tuple[str, ...], resolver: SchemaResolver) -> Any:
    """Resolve the body of a function with ANY TYPE parameters for the types of a call; once, if it reads no table."""
    place = Place(Source(node.code), exact=False)

    def resolve(arguments: tuple[bytes, ...]) -> Specialized | None:
        columns = {name: types.TypeProto.FromString(each) for name, each in zip(names, arguments)}
        try:
            body = reader.expression(node.code, place, resolver, columns=columns)
        except CannotResolve:
            return None
        return Specialized(body, place, dict(reader.catalog.known))

    kept = resolve if reader.table_names(f"SELECT {node.code}") else cache(resolve)
    return lambda signature: kept(tuple(argument.type.SerializeToString() for argument in signature.argument))


def define_table_function(reader: Reader, node: Any, place: Place, resolver: SchemaResolver) -> ResolvedRoutine:
    """Make a table function known to the catalog, and return what lineage needs to see through it."""
    create = node.parent
    names = tuple(node.argument_name_list)
    templated = unwrap(node.query) is None and bool(node.code)
    for path in spellings(tuple(create.name_path), resolver):
        proto = function.TableValuedFunctionProto(name_path=path)
        proto.signature.CopyFrom(node.signature)
        proto.type = _ENUMS.TEMPLATED_SQL_TVF if templated else _ENUMS.FIXED_OUTPUT_SCHEMA_TVF
        if templated:
            proto.parse_resume_location.input = node.code
            proto.parse_resume_location.byte_position = 0
            proto.argument_name.extend(names)
        reader.catalog.table_functions[path] = proto.SerializeToString()
    name = ".".join(split_path(tuple(create.name_path)))
    specialize = _table_function_body(reader, node, names, resolver) if templated else None
    opaque = None if templated or unwrap(node.query) is not None else _language(node)
    return ResolvedRoutine(name, names, node, place, dict(reader.catalog.known), specialize, opaque)


def _table_function_body(reader: Reader, node: Any, names: tuple[str, ...], resolver: SchemaResolver) -> Any:
    """Resolve the body of a table function with ANY TABLE parameters for the tables of a call.
    A function with the very columns of the call is made of it: typed parameters let ZetaSQL resolve the body."""

    def specialize(call: Any) -> Specialized | None:
        text = f"CREATE TEMP TABLE FUNCTION headwater_call({_typed(names, call)}) AS {node.code}"
        place = Place(Source(text), exact=False)
        try:
            statement = unwrap(reader.statement(text, place, resolver, inner=True))
        except CannotResolve:
            return None
        columns = tuple(int(each.column.column_id) for each in statement.output_column_list)
        return Specialized(statement.query, place, dict(reader.catalog.known), columns)

    return specialize


def _typed(names: tuple[str, ...], call: Any) -> str:
    from_types = []
    for name, argument in zip(names, call.argument_list):
        if argument.HasField("scan"):
            columns = given_columns(argument)
            inside = ", ".join(f"`{column.name}` {type_text(column.type)}" for column in columns)
            from_types.append(f"`{name}` TABLE<{inside}>")
        else:
            from_types.append(f"`{name}` {type_text(type_of(unwrap(argument.expr)))}")
    return ", ".join(from_types)


def define_procedure(catalog: ScriptCatalog, node: Any, resolver: SchemaResolver) -> tuple[ProcedureParameter, ...]:
    """Make a procedure known to the catalog, and return its parameters."""
    parameters = []
    for name, argument in zip(node.argument_name_list, node.signature.argument):
        out = argument.options.procedure_argument_mode in (_ENUMS.OUT, _ENUMS.INOUT)
        parameters.append(ProcedureParameter(name, argument.type.SerializeToString(), out))
    for path in spellings(tuple(node.parent.name_path), resolver):
        proto = function.ProcedureProto(name_path=path)
        proto.signature.CopyFrom(node.signature)
        # give a procedure some result type: ZetaSQL stops at a CALL of one that has none
        signature = proto.signature
        signature.return_type.Clear()
        signature.return_type.kind = function_enums.ARG_TYPE_FIXED
        signature.return_type.type.type_kind = types.TYPE_INT64
        catalog.procedures[path] = proto.SerializeToString()
    return tuple(parameters)

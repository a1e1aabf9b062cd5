"""The state of a script, and its plain statements and variables. A variable carries lineage: it stands for the
expression it was last set to. When the SET may not run, or runs in a loop, it stands for one of several."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from headwater.errors import SchemaError
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import Lowered
from headwater.model import relation as rel
from headwater.model.names import TableName
from headwater.text import Source
from headwater.zetasql.catalog import split_path
from headwater.zetasql.failures import CannotResolve, Reason
from headwater.zetasql.lower import (
    Place,
    ResolvedLowering,
    ResolvedRoutine,
    Surroundings,
    UnsupportedNode,
    lower_statement,
)
from headwater.zetasql.lower.expressions import type_of
from headwater.zetasql.lower.lowering import LITERAL, unwrap
from headwater.zetasql.lower.outputs import output_names
from headwater.zetasql.messages import types
from headwater.zetasql.reader import Reader
from headwater.zetasql.routines import Procedure
from headwater.zetasql.split import ScriptPiece, location
from headwater.zetasql.split import unwrap as syntax
from headwater.zetasql.types import type_bytes
from headwater.zetasql.unknown_functions import resolve_with_unknown_functions, unknown_calls


@dataclass(slots=True)
class ScriptState:
    """The definitions of a script so far."""

    reader: Reader
    routines: dict[str, ResolvedRoutine] = field(default_factory=dict)  # by dotted name, lower case
    procedures: dict[str, Procedure] = field(default_factory=dict)
    variables: dict[str, rel.Expression] = field(default_factory=dict)  # by name, lower case
    fallback: "Fallback | None" = None
    computes: "Computes | None" = None
    definitions: "list[tuple[ScriptPiece, Setting]]" = field(
        default_factory=list
    )  # its functions and variables, in order

    def begin(self) -> None:
        """A new script: functions and procedures stay, variables go."""
        self.variables = {}
        self.definitions = [each for each in self.definitions if each[0].kind == _FUNCTION]


@dataclass(frozen=True, slots=True)
class Setting:
    """The context in which a piece is analysed: its text, the schema, and how many calls deep.
    `inner` says that the text is not one of the script's own statements: a body, a string."""

    source: Source
    resolver: SchemaResolver
    inner: bool = False
    exact: bool = True
    depth: int = 0
    deadline: float = math.inf

    def place(self, start: int) -> Place:
        return Place(self.source, start, self.exact)

    def text(self, start: int, end: int) -> str:
        return self.source.text[self.source.character_at(start) : self.source.character_at(end)]

    def around(self, state: ScriptState) -> Surroundings:
        resolver = self.resolver

        def qualify(path: tuple[str, ...], temporary: bool = False) -> TableName:
            name = TableName(split_path(path))
            return name if temporary else resolver.resolve(name).name

        return Surroundings(state.reader.catalog.known, state.routines, state.variables, qualify, resolver)


@dataclass(frozen=True, slots=True)
class ComputedText:
    """A string that may be executed. `opaque` says why nothing can be said of it, `doubt` what is not certain."""

    text: str
    opaque: str | None = None
    doubt: str | None = None


Computes: TypeAlias = Callable[[ScriptState, ScriptPiece, Setting], list[ComputedText]]
"""The strings that a piece, which is an expression, may give at this point of the script."""

Fallback: TypeAlias = Callable[[ScriptState, ScriptPiece, Setting, CannotResolve], Lowered]
"""What to make of a piece that ZetaSQL cannot resolve."""

Handler: TypeAlias = Callable[[ScriptState, ScriptPiece, Setting], Lowered]
_HANDLERS: dict[str, Handler] = {}
_FUNCTION = "CreateFunctionStatement"
_DEFINITIONS = frozenset({_FUNCTION, "VariableDeclaration", "SingleAssignment", "AssignmentFromStruct"})


def handles(*kinds: str) -> Callable[[Handler], Handler]:
    """Register a function for pieces of these kinds."""

    def register(function: Handler) -> Handler:
        _HANDLERS.update((kind, function) for kind in kinds)
        return function

    return register


def understand(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """Understand one piece of a script. RAISES: CannotResolve."""
    handler = _HANDLERS.get(piece.kind, understand_statement)
    if piece.kind in _DEFINITIONS:
        state.definitions.append((piece, setting))
    try:
        return handler(state, piece, setting)
    except RecursionError as err:
        raise CannotResolve(Reason.UNSUPPORTED, "the statement is nested too deeply", piece.span) from err
    except UnsupportedNode as err:
        raise CannotResolve(Reason.UNSUPPORTED, f"there is no lineage rule for {err}", piece.span) from err
    except (AttributeError, LookupError, TypeError, ValueError, SchemaError) as err:
        # a tree of a shape that nobody foresaw costs one statement, not the script
        raise CannotResolve(Reason.UNSUPPORTED, f"the statement cannot be lowered: {err}", piece.span) from err


def understand_anyhow(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """Understand one piece, by the fallback if need be. RAISES: CannotResolve when there is no fallback."""
    try:
        return understand(state, piece, setting)
    except CannotResolve as failure:
        if state.fallback is None:
            raise
        return state.fallback(state, piece, setting, failure)


def understand_statement(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """A statement that ZetaSQL analyses."""
    text = setting.text(piece.start, piece.end)
    if state.fallback is not None and not any(unknown_calls(text, state.reader)):
        state.reader.check_tables(text, setting.resolver)
    low, statement = resolve_statement(state, piece, setting)
    return lower_statement(low, statement)


def resolve_statement(state: ScriptState, piece: ScriptPiece, setting: Setting) -> tuple[ResolvedLowering, Any]:
    """The resolved statement of a piece, and the lowering to use for it."""
    place = setting.place(piece.start)
    text = setting.text(piece.start, piece.end)
    statement = _resolve(
        lambda: state.reader.statement(text, place, setting.resolver, inner=setting.inner), text, state, setting
    )
    return ResolvedLowering(place, setting.around(state)), statement


def _resolve(resolve: Callable[[], Any], text: str, state: ScriptState, setting: Setting) -> Any:
    return resolve_with_unknown_functions(resolve, text, state.reader, state.routines, setting.resolver)


@handles("Broken")
def understand_broken(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    raise CannotResolve(Reason.SYNTAX, piece.problem or "the statement cannot be read", piece.problem_span)


@handles("BreakStatement", "ContinueStatement", "ReturnStatement", "RaiseStatement", "BeginStatement")
@handles("CommitStatement", "RollbackStatement", "SystemVariableAssignment", "ParameterAssignment")
def understand_control(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    return Lowered(setting.text(piece.start, piece.end).split()[0].upper().strip(";"))


# ----------------------------------------------------------------------------------------------- variables


def give_up_variables(state: ScriptState, names: list[str]) -> None:
    """Forget variables whose value could not be resolved: whoever uses them is left to the fallback, which knows."""
    if state.fallback is not None:
        for name in names:
            state.reader.catalog.variables.pop(name, None)
            state.variables.pop(name.lower(), None)


@handles("VariableDeclaration")
def understand_declare(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    node = piece.node
    value: rel.Expression = LITERAL
    kind, issues = b"", ()
    names = [identifier.id_string for identifier in node.variable_list.identifier_list]
    if syntax(node.type) is not None:
        kind = type_bytes(setting.text(*place_of(node.type, piece, node)))
        _declare(state, names, kind, LITERAL)  # also when the default cannot be resolved
    if syntax(node.default_value) is not None:
        try:
            value, found, issues = value_of(state, node.default_value, piece, setting)
        except CannotResolve:
            give_up_variables(state, names)
            raise
        _declare(state, names, kind or found, value)
    return Lowered("DECLARE", _reads("DECLARE", names, [value] * len(names)), issues=issues)


def _declare(state: ScriptState, names: list[str], kind: bytes, value: rel.Expression) -> None:
    for name in names:
        state.reader.catalog.variables[name] = kind
        state.variables[name.lower()] = named_value(name, value)


@handles("SingleAssignment")
def understand_set(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    name = piece.node.variable.id_string
    try:
        value, _, issues = value_of(state, piece.node.expression, piece, setting)
    except CannotResolve:
        give_up_variables(state, [name])
        raise
    assign(state, name, value, conditional=piece.conditional)
    return Lowered("SET", _reads("SET", [name], [value]), issues=issues)


@handles("AssignmentFromStruct")
def understand_set_several(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """`SET (a, b) = (SELECT AS STRUCT …)`: each variable gets the field in its place."""
    names = [identifier.id_string for identifier in piece.node.variables.identifier_list]
    try:
        whole, kind, issues = value_of(state, piece.node.struct_expression, piece, setting)
    except CannotResolve:
        give_up_variables(state, names)
        raise
    fields = types.TypeProto.FromString(kind or b"").struct_type.field
    values: list[rel.Expression] = []
    for at, name in enumerate(names):
        inner = fields[at].field_name if at < len(fields) and fields[at].field_name else f"_field_{at + 1}"
        values.append(rel.GetField(whole, inner))
        assign(state, name, values[-1], conditional=piece.conditional)
    return Lowered("SET", _reads("SET", names, values), issues=issues)


@handles("IfStatement", "WhileStatement")
def understand_condition(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """The condition of a block: it writes nothing, but it may read tables."""
    kind = piece.kind.removesuffix("Statement").upper()
    value, _, issues = _resolved_value(state, piece.start, piece.end, setting)
    return Lowered(kind, _reads(kind, ["condition"], [value]), issues=issues)


@handles("ForInStatement")
def understand_for(state: ScriptState, piece: ScriptPiece, setting: Setting) -> Lowered:
    """`FOR row IN (query)`: the variable is a struct of the query's columns."""
    place = place_of(piece.node.query, piece, piece.node)
    inner = dataclasses.replace(setting, inner=True)  # the tables of a script that ZetaSQL lists do not include these
    low, statement = resolve_statement(state, dataclasses.replace(piece, start=place[0], end=place[1]), inner)
    query = unwrap(statement)
    relation = low.scan(query.query)
    names = output_names(column.name for column in query.output_column_list)
    struct = types.TypeProto(type_kind=types.TYPE_STRUCT)
    fields: list[tuple[str, rel.Expression]] = []
    for name, output in zip(names, query.output_column_list):
        struct.struct_type.field.add(field_name=name).field_type.CopyFrom(output.column.type)
        fields.append((name, rel.Subquery(rel.SubqueryKind.SCALAR, relation, low.id(output.column))))
    variable = piece.node.variable.id_string
    state.reader.catalog.variables[variable] = struct.SerializeToString()
    assign(state, variable, rel.MakeStruct(tuple(fields)), conditional=False)
    assignments = tuple(
        rel.Assignment(name, rel.Ref(low.id(out.column))) for name, out in zip(names, query.output_column_list)
    )
    return Lowered("FOR", (rel.Write("FOR", None, assignments, (relation,)),), issues=tuple(low.issues))


def assign(state: ScriptState, name: str, value: rel.Expression, *, conditional: bool) -> None:
    """Set a variable. A value that is used more than once gets an id, so that it is traced once."""
    before = state.variables.get(name.lower(), LITERAL)
    if conditional and before != LITERAL:
        value = rel.OneOf((before, value))
    state.variables[name.lower()] = named_value(name, value)


def named_value(name: str, value: rel.Expression) -> rel.Expression:
    if value == LITERAL or isinstance(value, rel.Let):
        return value
    id = ResolvedLowering(Place(Source("")), Surroundings()).new_id()
    return rel.Let((rel.Computed(rel.Attribute(id, name), value),), rel.Ref(id))


def value_of(
    state: ScriptState, node: Any, piece: ScriptPiece, setting: Setting
) -> tuple[rel.Expression, bytes, Any]:
    """The lowered expression of a syntax node inside a piece, its type, and what was found on the way."""
    start, end = place_of(node, piece, piece.node)
    return _resolved_value(state, start, end, setting)


def _resolved_value(state: ScriptState, start: int, end: int, setting: Setting) -> tuple[rel.Expression, bytes, Any]:
    place = setting.place(start)
    text = setting.text(start, end)
    resolved = _resolve(lambda: state.reader.expression(text, place, setting.resolver), text, state, setting)
    low = ResolvedLowering(place, setting.around(state))
    kind = type_of(unwrap(resolved)).SerializeToString()
    return low.expression(resolved), kind, tuple(low.issues)


def place_of(node: Any, piece: ScriptPiece, whole: Any) -> tuple[int, int]:
    """The byte range of a part of a piece in the source: syntax nodes count from where the parse began."""
    offset = piece.start - location(whole).start
    inner = location(node)
    return offset + inner.start, offset + inner.end


def _reads(kind: str, names: list[str], values: list[rel.Expression]) -> tuple[rel.Write, ...]:
    """A write without a target, for statements that read data into variables; none for constants."""
    if all(value == LITERAL for value in values):
        return ()
    return (rel.Write(kind, None, tuple(rel.Assignment(name, value) for name, value in zip(names, values))),)

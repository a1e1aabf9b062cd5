"""Statements with other statements inside: functions, procedures, CALL, EXECUTE IMMEDIATE."""

import dataclasses
import re
from typing import Any

from headwater.errors import Issue, IssueCode, Severity
from headwater.lineage.effects import ColumnDefinition, CreateTable
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Attribute, Computed, Expression, Project, Subquery, SubqueryKind, Write
from headwater.text import Source
from headwater.zetasql import statements as scripting
from headwater.zetasql.catalog import find_table, split_path
from headwater.zetasql.failures import CannotResolve
from headwater.zetasql.instance import ServiceError
from headwater.zetasql.lower.lowering import LITERAL, Place, ResolvedLowering, Surroundings, message_type, unwrap
from headwater.zetasql.routines import (
    Procedure,
    define_function,
    define_procedure,
    define_table_function,
    spellings,
)
from headwater.zetasql.split import ScriptPiece, pieces_of, split_script
from headwater.zetasql.tables import target_path

_MAX_DEPTH = 8  # procedures that call each other, or strings that execute strings


@scripting.handles("CreateFunctionStatement", "CreateTableFunctionStatement")
def understand_create_function(
    state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting
) -> Lowered:
    low, statement = scripting.resolve_statement(state, piece, setting)
    node = unwrap(statement)
    scalar = type(node) is message_type("CreateFunctionStmt")
    define = define_function if scalar else define_table_function
    routine = define(state.reader, node, low.place, setting.resolver)
    for path in spellings(tuple(node.parent.name_path), setting.resolver):
        state.routines[".".join(path).lower()] = routine
    return Lowered("CREATE_FUNCTION" if scalar else "CREATE_TABLE_FUNCTION")


@scripting.handles("DropFunctionStatement", "DropTableFunctionStatement")
def understand_drop_function(state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting) -> Lowered:
    names = [part.id_string for part in piece.node.name.names]
    for path in spellings(tuple(names), setting.resolver):
        state.routines.pop(".".join(path).lower(), None)
        state.reader.catalog.functions.pop(path, None)
        state.reader.catalog.table_functions.pop(path, None)
    return Lowered("DROP_FUNCTION")


@scripting.handles("AuxLoadDataStatement")
def understand_load(state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting) -> Lowered:
    """LOAD DATA makes its table when there is none; ZetaSQL wants to see it before."""
    path = target_path(piece.node)
    if path is None or find_table(path, setting.resolver) is not None:
        return scripting.understand_statement(state, piece, setting)
    before = setting.resolver.fork()
    before.apply(CreateTable(TableName(split_path(path)), (ColumnDefinition("placeholder", "STRING"),)))
    state.reader.catalog.add_tables([path], before)
    try:
        return scripting.understand_statement(state, piece, dataclasses.replace(setting, resolver=before, inner=True))
    finally:
        state.reader.schema_changed()


@scripting.handles("CreateProcedureStatement")
def understand_create_procedure(
    state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting
) -> Lowered:
    """Remember a procedure, and say what its body does, with its arguments taken for constants."""
    _, statement = scripting.resolve_statement(state, piece, setting)
    node = unwrap(statement)
    parameters = define_procedure(state.reader.catalog, node, setting.resolver)
    name = ".".join(split_path(tuple(node.parent.name_path)))
    opaque = None if node.language.upper() in ("", "SQL") else f"its body is {node.language}"
    body = () if opaque else tuple(_body(piece, setting))
    procedure = Procedure(name, parameters, body, setting.source, opaque)
    for path in spellings(tuple(node.parent.name_path), setting.resolver):
        state.procedures[".".join(path).lower()] = procedure
    inside = dataclasses.replace(setting, resolver=setting.resolver.fork(), inner=True, depth=setting.depth + 1)
    lowered = _run(state, procedure, [LITERAL] * len(parameters), inside)
    return dataclasses.replace(lowered, statement_type="CREATE_PROCEDURE", effects=())


def _body(piece: ScriptPiece, setting: scripting.Setting) -> list[ScriptPiece]:
    """The statements of a procedure's body, where they stand in the source."""
    from_node = piece.node.body.statement_list_node.statement_list
    node = piece.node
    while "parse_location_range" not in type(node).DESCRIPTOR.fields_by_name:
        node = node.parent
    offset = piece.start - int(node.parse_location_range.start)
    return list(pieces_of(setting.source, from_node, offset))


@scripting.handles("CallStatement")
def understand_call(state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting) -> Lowered:
    low, statement = scripting.resolve_statement(state, piece, setting)
    node = unwrap(statement)
    name = node.procedure.name.rpartition(":")[2].lower()
    procedure = state.procedures.get(name)
    arguments = [low.expression(argument) for argument in node.argument_list]
    if procedure is None or procedure.opaque or setting.depth >= _MAX_DEPTH:
        if name.startswith("bq."):
            return Lowered("CALL")
        reason = "its body is not known" if procedure is None else procedure.opaque or "calls are nested too deeply"
        return Lowered("CALL", issues=(_opaque(f"procedure `{name}` cannot be seen through: {reason}", piece),))
    inside = dataclasses.replace(setting, source=procedure.source, inner=True, depth=setting.depth + 1)
    lowered = _run(state, procedure, arguments, inside, call=piece)
    return dataclasses.replace(lowered, statement_type="CALL")


def _run(
    state: scripting.ScriptState,
    procedure: Procedure,
    arguments: list[Expression],
    setting: scripting.Setting,
    *,
    call: ScriptPiece | None = None,
) -> Lowered:
    """The writes of a body, with parameters as variables. Its tables come and go as it runs."""
    before = dict(state.variables)
    declared = dict(state.reader.catalog.variables)
    for parameter, value in zip(procedure.parameters, arguments):
        state.reader.catalog.variables[parameter.name] = parameter.type
        state.variables[parameter.name.lower()] = scripting.named_value(parameter.name, value)
    writes: list[Write] = []
    issues: list[Issue] = []
    doubt: str | None = None
    for piece in procedure.pieces:
        try:
            lowered = scripting.understand_anyhow(state, piece, setting)
        except CannotResolve as failure:
            issues.append(_opaque(f"in `{procedure.name}`: {failure.message}", call or piece))
            continue
        writes += (dataclasses.replace(write, span=piece.span) for write in lowered.writes)
        issues += lowered.issues
        doubt = doubt or lowered.approximate
        for effect in lowered.effects:
            issues += setting.resolver.apply(effect)
    results = {each.name: state.variables[each.name.lower()] for each in procedure.parameters if each.out}
    state.variables, state.reader.catalog.variables = before, declared
    state.reader.schema_changed()
    if call is not None:
        # OUT parameters: the variables named in the call get what the body set them to
        for parameter, argument in zip(procedure.parameters, call.node.arguments):
            if parameter.name in results:
                path = argument.expr.ast_generalized_path_expression_node.ast_path_expression_node
                names = path.names[0].id_string if len(path.names) == 1 else None
                if names is not None:
                    scripting.assign(state, names, results[parameter.name], conditional=call.conditional)
    return Lowered("", tuple(writes), issues=tuple(issues), approximate=doubt)


# -------------------------------------------------------------------------------------- EXECUTE IMMEDIATE


@scripting.handles("ExecuteImmediateStatement")
def understand_execute(state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting) -> Lowered:
    """A string that can be computed from constants and variables is analysed; any other is opaque: that is said."""
    parts: list[Lowered] = []
    for computed in _texts(state, piece, setting):
        if computed.opaque is not None or setting.depth >= _MAX_DEPTH:
            _, _, found = scripting.value_of(state, piece.node.sql, piece, setting)
            reason = computed.opaque or "EXECUTE IMMEDIATE of a string that is nested too deeply"
            parts.append(Lowered("", issues=(*found, _opaque(reason, piece))))
            continue
        lowered = _execute(state, piece, setting, computed.text)
        if computed.doubt is not None:
            issues = (*lowered.issues, _opaque(computed.doubt, piece))
            lowered = dataclasses.replace(lowered, issues=issues, approximate=computed.doubt)
        parts.append(lowered)
    return _together(parts)


def _texts(
    state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting
) -> list[scripting.ComputedText]:
    """The strings that are executed: one that is written there, or those that can be computed."""
    constant = _constant_text(piece.node.sql)
    if constant is not None:
        return [scripting.ComputedText(constant)]
    if state.computes is not None and setting.depth == 0:
        start, end = scripting.place_of(piece.node.sql, piece, piece.node)
        found = state.computes(state, dataclasses.replace(piece, start=start, end=end), setting)
        if found:
            return found
    return [scripting.ComputedText("", "EXECUTE IMMEDIATE of a string that is computed: what it does cannot be seen")]


def _execute(state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting, text: str) -> Lowered:
    """The statements of a string, each with the schema that those before it leave."""
    text, values = _with_arguments(state, piece, setting, text)
    source = Source(text, setting.source.name)
    before = dict(state.variables)
    state.variables |= values
    resolver = setting.resolver.fork()
    inside = scripting.Setting(source, resolver, inner=True, exact=False, depth=setting.depth + 1)
    parts: list[Lowered] = []
    try:
        for part in split_script(source, state.reader.engine):
            parts.append(scripting.understand_anyhow(state, part, inside))
            for effect in parts[-1].effects:
                resolver.apply(effect)
                state.reader.schema_changed()
    except (CannotResolve, ServiceError) as failure:
        message = f"in EXECUTE IMMEDIATE: {failure.message}"
        return Lowered("EXECUTE_IMMEDIATE", issues=(_opaque(message, piece),))
    finally:
        state.variables = before
        for name in values:
            state.reader.catalog.variables.pop(name, None)
    lowered = _together(parts)
    # `INTO a, b`: the variables get the columns of the query
    names = [identifier.id_string for identifier in piece.node.into_clause.identifiers.identifier_list]
    for write in lowered.writes[-1:]:
        for name, assignment in zip(names, write.assignments):
            value = _read(write, assignment.expression)
            scripting.assign(state, name, value, conditional=piece.conditional)
    return lowered


def _together(parts: list[Lowered]) -> Lowered:
    """Several statements as what one EXECUTE IMMEDIATE does."""
    return Lowered(
        "EXECUTE_IMMEDIATE",
        tuple(write for part in parts for write in part.writes),
        tuple(effect for part in parts for effect in part.effects),
        tuple(issue for part in parts for issue in part.issues),
        approximate=next((part.approximate for part in parts if part.approximate), None),
    )


def _constant_text(sql: Any) -> str | None:
    """The string literal, when that is what is executed."""
    leaf = sql.ast_leaf_node
    if sql.WhichOneof("node") != "ast_leaf_node":
        return None
    node = getattr(leaf, leaf.WhichOneof("node") or "", None)
    literal = getattr(node, "string_value", None) if node is not None else None
    return literal or None


def _with_arguments(
    state: scripting.ScriptState, piece: ScriptPiece, setting: scripting.Setting, text: str
) -> tuple[str, dict[str, Expression]]:
    """Put the USING arguments in place of the parameters, as variables of their own."""
    values: dict[str, Expression] = {}
    positional = []
    for number, argument in enumerate(piece.node.using_clause.arguments):
        value, kind, _ = scripting.value_of(state, argument.expression, piece, setting)
        alias = argument.alias.identifier.id_string
        name = f"headwater_using_{alias or number}"
        state.reader.catalog.variables[name] = kind
        values[name] = scripting.named_value(name, value)
        if alias:
            text = re.sub(rf"@{re.escape(alias)}\b", name, text, flags=re.I)
        else:
            positional.append(name)
    for name in positional:
        text = text.replace("?", name, 1)
    return text, values


def _read(write: Write, expression: Expression) -> Expression:
    id = ResolvedLowering(Place(Source("")), Surroundings()).new_id()
    column = Computed(Attribute(id, ""), expression)
    return (
        Subquery(SubqueryKind.SCALAR, Project(write.relations[0], (column,)), id) if write.relations else expression
    )


def _opaque(message: str, piece: ScriptPiece) -> Issue:
    return Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.WARNING, message, piece.span)

"""Calls: operators, functions, aggregates, window functions, lambdas, and functions whose body we know."""

import re
from collections.abc import Callable
from typing import Any

from headwater.model.edges import ELEMENT
from headwater.model.relation import Call, Case, Computed, Element, Expression, GetField, Let, MakeArray
from headwater.zetasql.lower.lowering import (
    LITERAL,
    ResolvedLowering,
    ResolvedRoutine,
    Specialized,
    Surroundings,
    lowers,
    message_type,
    unwrap,
)

_MAX_INLINED = 20  # calls of functions inside functions; deeper ones are opaque
ELEMENTS = frozenset(f"{safe}array_at_{how}" for safe in ("$", "$safe_") for how in ("offset", "ordinal"))
CHAINED = frozenset({"$add", "$subtract", "$multiply", "$divide", "$concat_op", "$and", "$or", "$bitwise_or"})
_NAVIGATION = frozenset(
    {
        *("first_value", "last_value", "nth_value", "lag", "lead", "percentile_cont", "percentile_disc"),
        *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "is_first", "is_last"),
    }
)
_CALL: Any = message_type("FunctionCall")
_LITERAL: Any = message_type("Literal")


@lowers("FunctionCall")
def lower_call(low: ResolvedLowering, node: Any) -> Expression:
    base = node.parent
    name = function_name(base)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(low, base)
    if name in CHAINED:
        return _chain(low, node, name)
    if base.generic_argument_list:
        return _with_lambdas(low, base, name)
    arguments = tuple(map(low.expression, base.argument_list))
    if name in ELEMENTS and len(arguments) == 2:
        return Element(*arguments, _position(base.argument_list[1], name))
    routine = low.around.routines.get(name)
    if routine is not None or not str(base.function.name).startswith("ZetaSQL:"):
        return _inlined(low, node, name, arguments)
    return Call(name.removeprefix("$"), arguments)


def _position(index: Any, function: str) -> int | None:
    """The place in an array, from 0, that a constant in OFFSET or ORDINAL means."""
    literal = unwrap(index)
    value = literal.value.value if type(literal) is _LITERAL else None
    if value is None or value.WhichOneof("value") != "int64_value":
        return None
    position = int(value.int64_value) - function.endswith("ordinal")
    return position if position >= 0 else None


def _chain(low: ResolvedLowering, node: Any, name: str) -> Expression:
    """`a + b + c + …` is nested to the left, one level per operand: take it flat, for any number of operands."""
    operands: list[Any] = []
    while True:
        first, *rest = node.parent.argument_list
        operands.extend(reversed(rest))
        inner = unwrap(first)
        if type(inner) is not _CALL or function_name(inner.parent) != name:
            operands.append(inner)
            break
        node = inner
    return Call(name.removeprefix("$"), tuple(low.expression(operand) for operand in reversed(operands)))


@lowers("AggregateFunctionCall")
def lower_aggregate(low: ResolvedLowering, node: Any) -> Expression:
    call = node.parent
    base = call.parent
    order = tuple(low.expression(item.column_ref) for item in node.order_by_item_list)
    conditions = [low.expression(call.where_expr)] if call.HasField("where_expr") else []
    if node.HasField("having_modifier"):
        conditions.append(low.expression(node.having_modifier.having_expr))
    if node.HasField("having_expr"):
        conditions.append(low.expression(node.having_expr))
    name = function_name(base)
    routine = low.around.routines.get(name)
    if routine is not None:
        return _inlined(low, node, name, tuple(map(low.expression, base.argument_list)))
    result: Expression = Call(
        "count" if name == "$count_star" else name.removeprefix("$"),
        _arguments(low, base),
        aggregate=True,
        order=order,
        condition=_all(conditions),
    )
    inner = [*node.group_by_list, *node.group_by_aggregate_list]
    return Let(tuple(map(low.computed, inner)), result) if inner else result


@lowers("AnalyticFunctionCall")
def lower_window_function(low: ResolvedLowering, node: Any) -> Expression:
    """The function alone; the window around it is the scan's."""
    call = node.parent
    name = function_name(call.parent)
    condition = low.expression(call.where_expr) if call.HasField("where_expr") else None
    return Call(
        "count" if name == "$count_star" else name.removeprefix("$"),
        _arguments(low, call.parent),
        aggregate=name not in _NAVIGATION,
        condition=condition,
    )


def function_name(base: Any) -> str:
    """The name of a called function, lower case, without the group ZetaSQL puts before it."""
    name: str = base.function.name
    return name.rpartition(":")[2].lower()


def _arguments(low: ResolvedLowering, base: Any) -> tuple[Expression, ...]:
    if base.generic_argument_list:
        given = [argument for argument in base.generic_argument_list if argument.HasField("expr")]
        return tuple(low.expression(argument.expr) for argument in given)
    return tuple(map(low.expression, base.argument_list))


def _all(conditions: list[Expression]) -> Expression | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Call("and", tuple(conditions))


# ----------------------------------------------------------------------------------------- special functions


def _case_without_operand(low: ResolvedLowering, base: Any) -> Expression:
    arguments = list(map(low.expression, base.argument_list))
    default = arguments.pop() if len(arguments) % 2 else None
    return Case(tuple(zip(arguments[::2], arguments[1::2])), default)


def _case_with_operand(low: ResolvedLowering, base: Any) -> Expression:
    operand, *arguments = map(low.expression, base.argument_list)
    default = arguments.pop() if len(arguments) % 2 else None
    return Case(tuple(zip(arguments[::2], arguments[1::2])), default, operand)


def _make_array(low: ResolvedLowering, base: Any) -> Expression:
    return MakeArray(tuple(map(low.expression, base.argument_list)))


def _subscript(low: ResolvedLowering, base: Any) -> Expression:
    """`json.a`, `json['a']`, `json[0]`: a field when its name is written, else some element."""
    operand, key = base.argument_list[0], unwrap(base.argument_list[1])
    value = key.value.value if type(key) is _LITERAL else None
    if value is not None and value.WhichOneof("value") == "string_value":
        return GetField(low.expression(operand), value.string_value)
    return Element(low.expression(operand), low.expression(key))


_JSON_FUNCTIONS = ("json_value", "json_query", "json_extract", "json_extract_scalar")
_JSON_PATH = re.compile(r"\$(?:\.(\w+)|\[(\d+)\]|\['([^']*)'\])*\Z")
_JSON_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\['([^']*)'\]")


def _json_value(low: ResolvedLowering, base: Any) -> Expression:
    """`JSON_VALUE(j, '$.a.b')`: a path that is written leads into the column, and the value is transformed."""
    operand, *rest = map(low.expression, base.argument_list)
    key = unwrap(base.argument_list[1]) if len(base.argument_list) > 1 else None
    name = function_name(base)
    written = key.value.value.string_value if key is not None and type(key) is _LITERAL else ""
    for step in json_steps(name, written):
        operand = Element(operand) if step == ELEMENT else GetField(operand, step)
    return Call(name, (operand, *rest))


def json_steps(function: str, path: str) -> tuple[str, ...]:
    """The steps of a JSON path that a function was given in writing; none when it cannot be followed.

    >>> json_steps("json_value", "$.a[0]['b c']"), json_steps("json_value", "$..a"), json_steps("json_set", "$.a")
    (('a', '[]', 'b c'), (), ())
    """
    if function not in _JSON_FUNCTIONS or not _JSON_PATH.match(path):
        return ()
    return tuple(ELEMENT if number else name or quoted for name, number, quoted in _JSON_STEP.findall(path))


_SPECIAL: dict[str, Callable[[ResolvedLowering, Any], Expression]] = {
    "$case_no_value": _case_without_operand,
    "$case_with_value": _case_with_operand,
    "$make_array": _make_array,
    "$subscript": _subscript,
    **dict.fromkeys(_JSON_FUNCTIONS, _json_value),
    "$safe_subscript": _subscript,
}


# ------------------------------------------------------------------------------------------------- lambdas


def _with_lambdas(low: ResolvedLowering, base: Any, name: str) -> Expression:
    """A call with a lambda among its arguments: its parameters stand for elements of the arrays beside it."""
    arrays = [low.expression(each.expr) for each in base.generic_argument_list if each.HasField("expr")]
    bodies = [
        _lambda(low, each.inline_lambda, arrays, zipped=name == "array_zip")
        for each in base.generic_argument_list
        if each.HasField("inline_lambda")
    ]
    if not bodies:
        return Call(name.removeprefix("$"), tuple(arrays))
    if name in ("array_transform", "array_zip"):
        return MakeArray((bodies[0],))
    if name in ("array_find", "array_find_all"):
        found = Call("if", (bodies[0], Element(arrays[0])))
        return found if name == "array_find" else MakeArray((found,))
    return Call(name, (*arrays[:1], *bodies, *arrays[1:]))


def _lambda(low: ResolvedLowering, node: Any, arrays: list[Expression], *, zipped: bool) -> Expression:
    bindings = []
    for number, column in enumerate(node.argument_list):
        if zipped or number == 0:
            value: Expression = Element(arrays[min(number, len(arrays) - 1)]) if arrays else LITERAL
        else:
            value = LITERAL  # the second parameter is the position in the array
        bindings.append(Computed(low.attribute(column), value))
    return Let(tuple(bindings), low.expression(node.body))


# ------------------------------------------------------------------------------------------ known functions


def _inlined(low: ResolvedLowering, node: Any, name: str, arguments: tuple[Expression, ...]) -> Expression:
    """A call of a function defined in SQL: its body, with the arguments in place of the parameters."""
    routine = low.around.routines.get(name)
    if routine is None:
        return Call(name, arguments)
    special = routine.specialize(_base(node).signature) if routine.specialize else None
    reason = routine.opaque
    if low.depth >= _MAX_INLINED:
        reason = "functions call each other too deeply"
    elif routine.specialize and special is None:
        reason = "its body does not fit the types of this call"
    if reason is not None:
        low.report(f"`{routine.name}` cannot be seen through: {reason}", low.span(node))
        return Call(name, arguments, opaque=f"{routine.name}: {reason}")
    inner = body_lowering(low, special or routine)
    bindings = inner.bind_arguments(routine.parameters, arguments)
    if special is not None:
        return _finish(low, inner, Let(bindings, inner.expression(special.body)))
    computed = tuple(map(inner.computed, routine.statement.aggregate_expression_list))
    return _finish(low, inner, Let((*bindings, *computed), inner.expression(routine.statement.function_expression)))


def body_lowering(low: ResolvedLowering, body: ResolvedRoutine | Specialized) -> ResolvedLowering:
    """A lowering for the body of a function called in `low`."""
    around = Surroundings(body.tables, low.around.routines, {})
    inner = ResolvedLowering(body.place, around)
    inner.depth = low.depth + 1
    return inner


def _finish(low: ResolvedLowering, inner: ResolvedLowering, result: Expression) -> Expression:
    low.issues.extend(inner.issues)
    return result


def _base(node: Any) -> Any:
    while "signature" not in type(node).DESCRIPTOR.fields_by_name:
        node = node.parent
    return node

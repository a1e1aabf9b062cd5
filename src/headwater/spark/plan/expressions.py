"""Expressions of Catalyst as expressions of the relation tree.

Most are calls over their operands; what is here are those of which lineage can say more. Names of functions are
Spark's, so the one table of rules (`headwater.lineage.functions`) applies to them as to any other dialect.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from headwater.model import relation as rel
from headwater.spark.plan.lowering import PlanLowering
from headwater.spark.plan.node import Encoded, PlanNode

Scope: TypeAlias = dict[int, int]
_NOTHING = rel.Literal()


def lower_expression(lowering: PlanLowering, encoded: Encoded, scope: Scope) -> rel.Expression:
    """One expression of the plan, in a scope."""
    if isinstance(encoded, int):
        return rel.Ref(lowering.column(encoded, scope))
    if not isinstance(encoded, list):
        return _NOTHING
    head = encoded[0]
    if head == "=":
        return lower_expression(lowering, encoded[3], scope)
    if head == "?":
        return _subquery(lowering, encoded, scope)
    if head == "->":
        return lower_expression(lowering, encoded[1], scope)
    call = _Call(lowering, encoded, scope)
    build = _BY_CLASS.get(head)
    return build(call) if build is not None else call.plain()


def lower_computed(lowering: PlanLowering, encoded: Encoded, scope: Scope) -> rel.Computed:
    """A new column: an alias, or an expression that gets an id of its own."""
    expression = lower_expression(lowering, encoded, scope)
    if isinstance(encoded, list) and encoded[0] == "=":
        span = lowering.places.span(encoded[4] if len(encoded) > 4 else None, encoded[3])
        return rel.Computed(rel.Attribute(encoded[1], encoded[2]), expression, span)
    return rel.Computed(rel.Attribute(lowering.fresh(), ""), expression, lowering.places.span(None, encoded))


class _Call:
    """A call as the dump writes it, taken apart."""

    __slots__ = ("kind", "lowering", "more", "name", "operands", "scope")

    def __init__(self, lowering: PlanLowering, encoded: list[Any], scope: Scope) -> None:
        self.lowering, self.scope = lowering, scope
        self.kind: str = encoded[0]
        self.name: str = encoded[1].lower()
        self.operands: list[Encoded] = encoded[2:]
        self.more: dict[str, Any] = {}
        if self.operands and isinstance(self.operands[-1], dict) and "text" not in self.operands[-1]:
            self.more = self.operands.pop()

    def lower(self, encoded: Encoded) -> rel.Expression:
        return lower_expression(self.lowering, encoded, self.scope)

    @property
    def args(self) -> tuple[rel.Expression, ...]:
        return tuple(map(self.lower, self.operands))

    def plain(self) -> rel.Expression:
        """A function of which nothing is known but its arguments."""
        if self.more.get("opaque"):
            reason = f"the body of `{self.name}` is not read"
            return rel.Call(f"udf {self.name}", self.args, opaque=reason)
        if any(isinstance(each, list) and each[0] == "->" for each in self.operands):
            return _higher_order(self)
        return rel.Call(self.name, self.args)


# ------------------------------------------------------------------------------------------- plain wrappers


def _inside(call: _Call) -> rel.Expression:
    """Return what only wraps a value."""
    return call.lower(call.operands[0]) if call.operands else _NOTHING


def _static(call: _Call) -> rel.Expression:
    """Checks of CHAR and VARCHAR lengths that the analyzer puts around values."""
    if call.operands and call.name in _LENGTH_CHECKS:
        return call.lower(call.operands[0])
    return call.plain()


_LENGTH_CHECKS = frozenset({"chartypewritesidecheck", "varchartypewritesidecheck", "readsidepadding"})

# ----------------------------------------------------------------------------------------------------- choices


def _case_when(call: _Call) -> rel.Expression:
    args = call.args
    pairs = tuple(zip(args[0 : len(args) - 1 : 2], args[1::2]))
    return rel.Case(pairs, args[-1] if len(args) % 2 else None)


def _null_if(call: _Call) -> rel.Expression:
    """`nullif(a, b)` comes as the choice it is short for: its value is `a`, and `b` decides."""
    with_ = call.operands[0]
    if isinstance(with_, list) and with_[0] == "With" and len(with_) == 4:
        result, definition = with_[2], with_[3]
        compared = [
            each for each in result[2][2:] if not (isinstance(each, list) and each[0] == "CommonExpressionRef")
        ]
        return rel.Call("nullif", (call.lower(definition[2]), *map(call.lower, compared[:1])))
    return _inside(call)


def _with(call: _Call) -> rel.Expression:
    body, *definitions = call.operands
    bindings = []
    for definition in definitions:
        id = call.lowering.common[definition[-1]["id"]] = call.lowering.fresh()
        bindings.append(rel.Computed(rel.Attribute(id, ""), call.lower(definition[2])))
    return rel.Let(tuple(bindings), call.lower(body))


def _common_ref(call: _Call) -> rel.Expression:
    id = call.lowering.common.get(call.more["id"])
    return _NOTHING if id is None else rel.Ref(id)


# ------------------------------------------------------------------------------------- aggregates and windows


def _aggregate(call: _Call) -> rel.Expression:
    function, *rest = call.operands
    condition = call.lower(rest[0]) if call.more.get("filter") and rest else None
    if not isinstance(function, list):
        return call.lower(function)
    made = _Call(call.lowering, function, call.scope)
    if made.kind == "PivotFirst":  # the value of the row whose pivot column says so
        pivot, value = made.args[:2]
        return rel.MakeArray((rel.Call("first", (value,), True, condition=pivot),))
    order = tuple(call.lower(each) for each in made.operands if _is_order(each))
    args = tuple(call.lower(each) for each in made.operands if not _is_order(each))
    if made.more.get("opaque"):
        reason = f"the body of `{made.name}` is not read"
        return rel.Call(f"udf {made.name}", args, True, order, condition, reason)
    return rel.Call(made.name, args, True, order, condition)


def _is_order(encoded: Encoded) -> bool:
    return isinstance(encoded, list) and encoded[0] == "SortOrder"


_PICKS = frozenset({"first", "last", "first_value", "last_value", "nth_value", "any_value"})
_RANKS = frozenset({"Rank", "DenseRank", "PercentRank", "CumeDist", "NTile", "RowNumber"})


def _window(call: _Call) -> rel.Expression:
    """A function over a window. Ranks take nothing from their arguments, which repeat the order."""
    function, spec = call.operands
    value: rel.Expression = _NOTHING
    if not (isinstance(function, list) and function[0] in _RANKS):
        value = call.lower(function)
        if isinstance(value, rel.Call) and value.aggregate and value.function in _PICKS:
            value = rel.Call(value.function, value.args, False, value.order, value.condition, value.opaque)
    return rel.Window(value, _Call(call.lowering, spec, call.scope).args)


# ------------------------------------------------------------------------------------ structs, arrays and maps


def _element(call: _Call) -> rel.Expression:
    operand, key = call.operands[0], call.operands[1]
    if isinstance(key, dict):
        return rel.GetField(call.lower(operand), key["text"])
    return rel.Element(call.lower(operand), call.lower(key))


def _struct(call: _Call) -> rel.Expression:
    names, values = call.operands[::2], call.operands[1::2]
    fields = [
        (name["text"] if isinstance(name, dict) else "", call.lower(value)) for name, value in zip(names, values)
    ]
    return rel.MakeStruct(tuple(fields))


def _map(call: _Call) -> rel.Expression:
    """A map with constant keys is like a struct; of any other, keys and values cannot be told apart."""
    if call.operands and all(isinstance(key, dict) for key in call.operands[::2]):
        return _struct(call)
    return rel.Call("map", call.args)


def _update_fields(call: _Call) -> rel.Expression:
    """withField and dropFields: a struct of the same fields, some of them new."""
    operand, *values = call.args
    new = {name.lower(): value for name, value in zip(call.more["new"], values)}
    fields = [(name, new.get(name.lower(), rel.GetField(operand, name))) for name in call.more["fields"]]
    return rel.MakeStruct(tuple(fields))


def _json_path(call: _Call) -> rel.Expression:
    """A path into JSON text is a path into the column, and the value is transformed."""
    operand = call.lower(call.operands[0])
    path = call.operands[1]
    if isinstance(path, dict):
        for step in path["text"].lstrip("$").replace("[", ".[").split("."):
            if step.startswith("["):
                operand = rel.Element(operand)
            elif step:
                operand = rel.GetField(operand, step)
    return rel.Call("json_extract", (operand,))


# ---------------------------------------------------------------------------------------------------- lambdas


def _apply(call: _Call, lambda_: Encoded, values: list[rel.Expression]) -> rel.Expression:
    """The body of a lambda with its parameters bound to values; surplus parameters come from nowhere."""
    if not (isinstance(lambda_, list) and lambda_[0] == "->"):
        return call.lower(lambda_)
    parameters = [each for each in lambda_[2:] if isinstance(each, int)]
    values = values + [_NOTHING] * (len(parameters) - len(values))
    bindings = tuple(rel.Computed(rel.Attribute(id, ""), value) for id, value in zip(parameters, values))
    return rel.Let(bindings, call.lower(lambda_[1]))


def _transform(call: _Call) -> rel.Expression:
    *arrays, body = call.operands
    return rel.MakeArray((_apply(call, body, [rel.Element(call.lower(each)) for each in arrays]),))


def _filter(call: _Call) -> rel.Expression:
    array = call.lower(call.operands[0])
    return rel.Call("filter", (array, _apply(call, call.operands[1], [rel.Element(array)])))


def _reduce(call: _Call) -> rel.Expression:
    array, first = call.lower(call.operands[0]), call.lower(call.operands[1])
    step = _apply(call, call.operands[2], [first, rel.Element(array)])
    return _apply(call, call.operands[3], [rel.Call("reduce", (first, step))])


def _higher_order(call: _Call) -> rel.Expression:
    """Any other function with a lambda: its parameters are elements of the other arguments."""
    plain = [call.lower(each) for each in call.operands if not (isinstance(each, list) and each[0] == "->")]
    elements: list[rel.Expression] = [rel.Element(each) for each in plain] or [_NOTHING]
    bodies = []
    for each in call.operands:
        if isinstance(each, list) and each[0] == "->":
            values = [elements[min(at, len(elements) - 1)] for at in range(len(each) - 2)]
            bodies.append(_apply(call, each, values))
    return rel.Call(call.name, (*plain, *bodies))


# ------------------------------------------------------------------------------------------------- subqueries


def _subquery(lowering: PlanLowering, encoded: list[Any], scope: Scope) -> rel.Expression:
    kind, node = encoded[1], encoded[2]
    if kind == "Exists":
        return rel.Subquery(rel.SubqueryKind.EXISTS, lowering.subquery(node, scope).relation)
    return _value_of(lowering, node, scope, rel.SubqueryKind.SCALAR, None)


def _in_subquery(call: _Call) -> rel.Expression:
    *values, query = call.operands
    lowered = [call.lower(each) for each in values]
    operand = (
        lowered[0] if len(lowered) == 1 else rel.MakeStruct(tuple((str(at), each) for at, each in enumerate(lowered)))
    )
    return _value_of(call.lowering, query[2], call.scope, rel.SubqueryKind.IN, operand)


def _value_of(
    lowering: PlanLowering, node: PlanNode, scope: Scope, kind: rel.SubqueryKind, operand: rel.Expression | None
) -> rel.Expression:
    below = lowering.subquery(node, scope)
    columns = [lowering.column(column.id, below.renamed) for column in node.output]
    if not columns:
        return rel.Subquery(kind, below.relation, None, operand)
    if len(columns) == 1 or kind is rel.SubqueryKind.SCALAR:
        return rel.Subquery(kind, below.relation, columns[0], operand)
    row = rel.Computed(
        rel.Attribute(lowering.fresh(), ""), rel.MakeStruct(tuple((str(id), rel.Ref(id)) for id in columns))
    )
    return rel.Subquery(kind, rel.Project(below.relation, (row,)), row.attribute.id, operand)


_BY_CLASS: dict[str, Callable[[_Call], rel.Expression]] = {
    **dict.fromkeys(
        (
            "AssertNotNull",
            "CheckOverflow",
            "CheckOverflowInTableInsert",
            "KnownNotNull",
            "KnownNullable",
            "NamedArgumentExpression",
            "NormalizeNaNAndZero",
            "PreciseTimestampConversion",
            "SortOrder",
            "TempResolvedColumn",
            "UpCast",
            "WithField",
        ),
        _inside,
    ),
    **dict.fromkeys(("SpecifiedWindowFrame", "UnspecifiedFrame"), lambda call: _NOTHING),
    "Cast": lambda call: rel.Call("cast", call.args),
    "StaticInvoke": _static,
    "If": _case_when,
    "CaseWhen": _case_when,
    "NullIf": _null_if,
    "With": _with,
    "CommonExpressionRef": _common_ref,
    "AggregateExpression": _aggregate,
    "WindowExpression": _window,
    "GetStructField": lambda call: rel.GetField(_inside(call), call.more["field"]),
    "GetArrayStructFields": lambda call: rel.GetField(rel.Element(_inside(call)), call.more["field"]),
    "GetArrayItem": _element,
    "GetMapValue": _element,
    "ElementAt": _element,
    "CreateNamedStruct": _struct,
    "CreateMap": _map,
    "CreateArray": lambda call: rel.MakeArray(call.args),
    "UpdateFields": _update_fields,
    "GetJsonObject": _json_path,
    "VariantGet": _json_path,
    "ArrayTransform": _transform,
    "ArrayFilter": _filter,
    "ZipWith": _transform,
    "ArrayAggregate": _reduce,
    "ArraySort": lambda call: rel.Call(call.name, (_inside(call),)),
    "InSubquery": _in_subquery,
}

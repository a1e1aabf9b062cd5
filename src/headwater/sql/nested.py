"""Expressions over structs, arrays, maps, JSON and lambdas."""

from collections.abc import Callable, Iterable

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from headwater.model import relation as rel
from headwater.sql.calls import lower_call, owner_of
from headwater.sql.expressions import Arguments
from headwater.sql.items import ItemColumn
from headwater.sql.lowering import Lowering, Node, Scope, lowers


@lowers(exp.Struct)
def lower_struct(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    keys = [each.this for each in node.expressions if isinstance(each, exp.PropertyEQ)]
    if any(isinstance(key, exp.Column) for key in keys):  # OBJECT_CONSTRUCT(k, v): names that are values
        parts = [part for each in node.expressions for part in (each.this, each.args.get("expression"))]
        return rel.Call("struct", tuple(lowering.expression(each, scope) for each in parts if each is not None))
    fields: list[tuple[str, rel.Expression]] = []
    for at, each in enumerate(node.expressions):
        if isinstance(each, exp.PropertyEQ):
            name, value = each.this.name, each.expression
        else:
            name, value = each.alias_or_name or f"_field_{at + 1}", each
        fields.append((name, lowering.expression(value, scope)))
    return rel.MakeStruct(tuple(fields))


@lowers(exp.VarMap, exp.Map)
def lower_map(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """A map with constant keys is like a struct; of any other, keys and values cannot be told apart."""
    keys, values = node.args.get("keys"), node.args.get("values")
    if not isinstance(keys, exp.Array) or not isinstance(values, exp.Array):
        parts = [part for part in (keys, values) if part is not None]
        return rel.Call("map", tuple(lowering.expression(each, scope) for each in parts))
    lowered = tuple(lowering.expression(each, scope) for each in values.expressions)
    if all(isinstance(key, exp.Literal) for key in keys.expressions):
        return rel.MakeStruct(tuple((key.name, value) for key, value in zip(keys.expressions, lowered)))
    return rel.Call("map", (*(lowering.expression(each, scope) for each in keys.expressions), *lowered))


@lowers(exp.ToMap)
def lower_to_map(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    return lowering.expression(node.this, scope)


@lowers(exp.Bracket)
def lower_bracket(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    operand = lowering.expression(node.this, scope)
    for index in node.expressions:
        name = _member_name(lowering.dialect, node, index, operand)
        if name is not None:
            operand = lowering.field(operand, name)
        elif isinstance(index, exp.Slice):
            bounds = [each for each in index.args.values() if each is not None and each.find(exp.Column, exp.Query)]
            if bounds:  # otherwise it is an array of the same elements
                operand = rel.Case(tuple((lowering.expression(each, scope), operand) for each in bounds))
        else:
            position = _position(lowering.dialect, index, node.args.get("offset"))
            operand = rel.Element(operand, lowering.expression(index, scope), position)
    return operand


_COUNTED_FROM_ZERO = frozenset({"bigquery", "spark", "spark2", "databricks", "hive", "snowflake", "redshift"})
_COUNTED_FROM_ONE = frozenset(
    {
        *("duckdb", "postgres", "materialize", "risingwave", "trino", "presto", "athena", "dune"),
        *("clickhouse", "starrocks"),
    }
)  # the parser takes 1 from a constant index; of dialects in neither set it may not know how they count
_FIELDS_BY_NUMBER = frozenset({"duckdb", "trino", "presto", "athena", "dune"})


def _position(dialect: str, index: Node | None, offset: int | None) -> int | None:
    """The place in an array, from 0, that a constant index means; `offset` is where the function counts from."""
    if not isinstance(index, exp.Literal) or index.is_string or not index.name.isdigit():
        return None
    if offset is not None:
        return int(index.name) - offset if int(index.name) >= offset else None
    return int(index.name) if dialect in _COUNTED_FROM_ZERO | _COUNTED_FROM_ONE else None


def _member_name(dialect: str, node: Node, index: Node, operand: rel.Expression) -> str | None:
    """The field of a struct, or the key of a map, that a constant in brackets names; None when it names none."""
    if not isinstance(index, exp.Literal) or index.is_string:
        return index.name if isinstance(index, exp.Literal) else None
    if not isinstance(operand, rel.MakeStruct) or not index.name.isdigit():
        return None
    if isinstance(node.this, exp.VarMap | exp.Map):
        return str(index.name) if dialect in _COUNTED_FROM_ZERO else None
    number = int(index.name)
    if isinstance(node.parent, exp.ToMap):  # MAP {1: a}[1]
        return str(number + 1)
    return operand.fields[number][0] if dialect in _FIELDS_BY_NUMBER and number < len(operand.fields) else None


@lowers(exp.StructExtract, exp.GetExtract)
def lower_struct_extract(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    operand = lowering.expression(node.this, scope)
    if isinstance(node.expression, exp.Literal | exp.Identifier) and not node.expression.is_number:
        return lowering.field(operand, node.expression.name)
    position = _position(lowering.dialect, node.expression, 0) if isinstance(node, exp.GetExtract) else None
    return rel.Element(operand, lowering.expression(node.expression, scope), position)


@lowers(exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar)
def lower_json_extract(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """A path into JSON is a path into the column; a value taken out of JSON text is transformed, too."""
    path = node.expression
    operand = _json_path(lowering, lowering.expression(node.this, scope), path, scope)
    if node.args.get("variant_extract"):
        return operand
    others = [lowering.expression(each, scope) for each in node.expressions]  # JSON_EXTRACT(doc, path, path)
    return rel.Call("json_extract", (operand, *others))


def _json_path(lowering: Lowering, operand: rel.Expression, path: Node, scope: Scope) -> rel.Expression:
    if isinstance(path, exp.Cast):  # 'a'::text, as PostgreSQL writes it down
        path = path.this
    if isinstance(path, exp.JSONPath):
        for step in path.expressions:
            if isinstance(step, exp.JSONPathKey) and isinstance(step.this, str):
                operand = rel.GetField(operand, step.this)
            elif not isinstance(step, exp.JSONPathRoot):
                operand = rel.Element(operand)
    elif isinstance(path, exp.Literal) and path.is_string and path.name[:1] == "{" and path.name[-1:] == "}":
        for key in path.name[1:-1].split(","):  # Postgres: x #> '{a,0,b}'
            operand = rel.Element(operand) if key.strip().isdigit() else rel.GetField(operand, key.strip().strip('"'))
    elif isinstance(path, exp.Literal):
        operand = rel.GetField(operand, path.name) if path.is_string else rel.Element(operand)
    elif path is not None:
        operand = rel.Element(operand, lowering.expression(path, scope))
    return operand


# --------------------------------------------------------------------------------------------------- lambdas


@lowers(exp.Transform)
def lower_transform(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """An array whose elements are the body, over the elements of the first."""
    array, body = _array_and_body(node)
    elements = lowering.expression(array, scope)
    if not isinstance(body, exp.Lambda):
        return rel.Call("transform", (elements, lowering.expression(body, scope)))
    return rel.MakeArray((_apply(lowering, body, [rel.Element(elements), rel.Literal()], scope),))


@lowers(exp.ArrayFilter)
def lower_array_filter(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    array, body = _array_and_body(node)
    elements = lowering.expression(array, scope)
    if not isinstance(body, exp.Lambda):
        return rel.Call("filter", (elements, lowering.expression(body, scope)))
    return rel.Call("filter", (elements, _apply(lowering, body, [rel.Element(elements), rel.Literal()], scope)))


def _array_and_body(node: Node) -> tuple[Node, Node]:
    """The arguments of a function over an array, of one that the parser knows or of one it has only a name of."""
    return (
        (node.expressions[0], node.expressions[-1])
        if isinstance(node, exp.Anonymous)
        else (node.this, node.expression)
    )


@lowers(exp.Reduce)
def lower_reduce(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    array = lowering.expression(node.this, scope)
    first = (
        lowering.expression(node.args["initial"], scope) if node.args.get("initial") is not None else rel.Literal()
    )
    merge, finish = node.args.get("merge"), node.args.get("finish")
    result: rel.Expression = rel.OneOf((first, rel.Call("reduce", (rel.Element(array),))))
    if isinstance(merge, exp.Lambda):
        step = _apply(lowering, merge, [first, rel.Element(array)], scope)
        result = rel.Call("reduce", (first, step))
    elif merge is not None:
        result = rel.Call("reduce", (first, rel.Element(array), lowering.expression(merge, scope)))
    if isinstance(finish, exp.Lambda):
        result = _apply(lowering, finish, [result], scope)
    return result


_POSTGRES_LIKE = frozenset({"postgres", "redshift", "materialize", "risingwave"})
_SET_RETURNING = frozenset(
    {"jsonb_array_elements", "json_array_elements", "jsonb_array_elements_text", "json_array_elements_text"}
    | {"json_each", "jsonb_each", "json_each_text", "jsonb_each_text", "json_object_keys", "jsonb_object_keys"}
    | {"regexp_split_to_table", "regexp_matches", "string_to_table", "generate_subscripts"}
)
"""Functions of Postgres that make rows in the select list."""


@lowers(exp.Anonymous)
def lower_anonymous(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """A function the parser does not know; parameters of its lambdas are elements of its other arguments."""
    name = node.name.lower()
    build = _BY_NAME.get(name)
    if build is not None:
        return build(lowering, node, scope)
    by_query = lower_call(lowering, node, scope)
    if by_query is not None:
        return by_query
    definition = _definition(lowering, node)
    if definition is not None:
        return _through_function(lowering, definition, node, scope)
    if lowering.dialect == "oracle" and lowering.variables.get(name) is not None:  # an element of a collection
        return lowering.expression(exp.Placeholder(this=name), scope)
    call = Arguments()
    given = node.expressions if name not in _UNITS_AT else _without_unit(node.expressions, _UNITS_AT[name])
    for each in given:
        if not isinstance(each, exp.Lambda):
            call.add(lowering, each, scope)
    args = call.args
    lowering.span(node)
    for each in node.expressions:
        if isinstance(each, exp.Lambda):
            elements: list[rel.Expression] = [rel.Element(array) for array in args]
            elements = elements or [rel.Literal()]
            values = [elements[min(at, len(elements) - 1)] for at in range(len(each.expressions))]
            args.append(_apply(lowering, each, values, scope))
    if name in _SET_RETURNING and lowering.dialect in _POSTGRES_LIKE:
        scope.expanded += args
    return rel.Call(
        name, tuple(args), bool(call.order), tuple(call.order), call.condition
    )  # only aggregates have an order


_UNITS_AT = {
    **dict.fromkeys(("datepart", "date_part", "pgdate_part", "date_bucket", "timediff", "timestampadd"), 0),
    "trunc": 1,
}
"""Functions of dates that the parser does not know in each dialect that has them, and the place of their unit."""

_UNITS = frozenset({*Dialect.DATE_PART_MAPPING.values(), "QQ", "SS", "WW", "ISOWEEK"})


def _without_unit(given: list[Node], at: int) -> list[Node]:
    """The arguments of a function of dates without its unit, as in `DATEPART(hour, x)`: that is no column."""
    unit = given[at].name.upper() if at < len(given) and isinstance(given[at], exp.Column) else ""
    known = unit in _UNITS or (at == 0 and unit in Dialect.DATE_PART_MAPPING)  # TRUNC(x, d) has digits
    return [*given[:at], *given[at + 1 :]] if known and not given[at].table else given


@lowers(exp.Comprehension)
def lower_comprehension(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """`[f(x) FOR x IN list IF c]`."""
    array = lowering.expression(node.args["iterator"], scope)
    parameter = node.expression
    inner, bindings = bind_parameters(lowering, [parameter], [rel.Element(array)], scope)
    body = lowering.expression(node.this, inner)
    condition = node.args.get("condition")
    if condition is not None:
        body = rel.Call("filter", (body, lowering.expression(condition, inner)))
    return rel.Let(bindings, body)


def _apply(lowering: Lowering, node: Node, values: list[rel.Expression], scope: Scope) -> rel.Expression:
    """The body of a lambda with its parameters bound to values; surplus parameters come from nowhere."""
    values = values + [rel.Literal()] * (len(node.expressions) - len(values))
    inner, bindings = bind_parameters(lowering, node.expressions, values, scope)
    return rel.Let(bindings, lowering.expression(node.this, inner))


def bind_parameters(
    lowering: Lowering, parameters: Iterable[Node], values: Iterable[rel.Expression], scope: Scope
) -> tuple[Scope, tuple[rel.Computed, ...]]:
    """A scope in which parameters are values, and the columns that hold these."""
    inner, bindings = Scope(outer=scope), []
    for parameter, value in zip(parameters, values):
        id = lowering.new_id()
        bindings.append(rel.Computed(rel.Attribute(id, parameter.name), value))
        key = lowering.key(parameter) if isinstance(parameter, exp.Identifier) else lowering.key_of(parameter.name)
        inner.locals[key] = ItemColumn(parameter.name, key, rel.Ref(id))
    return inner, tuple(bindings)


def _definition(lowering: Lowering, node: Node) -> Node | None:
    """The CREATE FUNCTION of the script that a call means: of the schema that it names, if it names one."""
    name, owner = node.name.lower(), owner_of(node)
    own = lowering.functions.get(f"{owner}.{name}") or lowering.functions.get(f".{name}")
    return own if owner else lowering.functions.get(name)


def _through_function(lowering: Lowering, definition: Node, node: Node, scope: Scope) -> rel.Expression:
    """A call of a SQL function the script has defined: its body, with the arguments in the place of parameters."""
    lowering.check_time()  # functions that call each other twice make a tree as large as two to their number
    name = node.name.lower()
    functions = lowering.functions  # a function that calls itself is not entered again
    lowering.functions = {key: each for key, each in functions.items() if each is not definition}
    try:
        args = [lowering.expression(each, scope) for each in node.expressions]
        body = definition.expression
        body = body.this if isinstance(body, exp.Return | exp.Paren) else body
        if not isinstance(body, exp.Expr) or isinstance(body, exp.Heredoc | exp.Literal | exp.RawString):
            return rel.Call(name, tuple(args), opaque=f"the body of {name} is not SQL")
        parameters = definition.this.expressions
        values = args + [rel.Literal()] * (len(parameters) - len(args))
        inner, bindings = bind_parameters(lowering, parameters, values, Scope())
        saved, lowering.leftmost = lowering.leftmost, None
        with lowering.placeless():
            lowered = lowering.expression(body, inner)
        lowering.leftmost = saved
        return rel.Let(bindings, lowered)
    finally:
        lowering.functions = functions


# ------------------------------------------------------------------------------- functions known by name only


def _row(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """ROW(a, b): PostgreSQL numbers the fields; elsewhere they may have the names of the columns."""
    numbered = lowering.dialect in _POSTGRES_LIKE
    fields = [
        (f"f{at + 1}" if numbered else each.alias_or_name or f"f{at + 1}", lowering.expression(each, scope))
        for at, each in enumerate(node.expressions)
    ]
    return rel.MakeStruct(tuple(fields))


def _element_at(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    array, *rest = [lowering.expression(each, scope) for each in node.expressions]
    key = node.expressions[1] if len(node.expressions) > 1 else None
    if isinstance(key, exp.Literal) and key.is_string:
        return rel.GetField(array, key.name)
    return rel.Element(array, rest[0] if rest else None, _position(lowering.dialect, key, 1))


def _object(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """object_construct('k', v, …), json_build_object('k', v, …), json_object('k', v, …)."""
    pairs = list(zip(node.expressions[::2], node.expressions[1::2]))
    if not pairs or not all(isinstance(key, exp.Literal) for key, _ in pairs):
        return rel.Call(node.name.lower(), tuple(lowering.expression(each, scope) for each in node.expressions))
    return rel.MakeStruct(tuple((key.name, lowering.expression(value, scope)) for key, value in pairs))


_BY_NAME: dict[str, Callable[[Lowering, Node, Scope], rel.Expression]] = {
    "array_transform": lower_transform,
    "list_transform": lower_transform,
    "array_filter": lower_array_filter,
    "list_filter": lower_array_filter,
    "row": _row,
    "element_at": _element_at,
    "list_extract": _element_at,
    "array_extract": _element_at,
    "arrayelement": _element_at,
    "json_build_object": _object,
    "jsonb_build_object": _object,
    "object_construct_keep_null": _object,
}

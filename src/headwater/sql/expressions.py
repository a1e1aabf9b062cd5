"""Expressions: operators, functions, CASE, windows, subqueries."""

from collections.abc import Iterator

from sqlglot import exp

from headwater.model import relation as rel
from headwater.sql.items import ItemColumn
from headwater.sql.lowering import Lowering, Node, Query, Scope, lowers, lowers_as

_NOTHING = rel.Literal()


@lowers(
    *(exp.Literal, exp.Null, exp.Boolean, exp.Var, exp.DataType, exp.Star),
    *(exp.SessionParameter, exp.HexString, exp.BitString, exp.ByteString, exp.RawString, exp.National),
    *(exp.JSONPath, exp.Introducer, exp.NextValueFor, exp.Pseudocolumn),
)
def lower_constant(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """Return what comes from no column."""
    meta = node._meta
    if meta and "start" in meta and (lowering.leftmost is None or meta["start"] < lowering.leftmost):
        lowering.leftmost = meta["start"]
    return _NOTHING


@lowers(type(None), bool, str)
def lower_missing(lowering: Lowering, node: object, scope: Scope) -> rel.Expression:
    """An argument that is no expression: the parser accepts calls with too few, and puts None or False there."""
    return _NOTHING


@lowers(exp.Paren, exp.Alias, exp.Ordered, exp.IgnoreNulls, exp.RespectNulls, exp.Collate, exp.PivotAlias)
def lower_inside(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """Return what only wraps a value."""
    return lowering.expression(node.this, scope)


@lowers(exp.Kwarg, exp.PropertyEQ)
def lower_named_argument(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    return lowering.expression(node.expression, scope)


@lowers(exp.Binary, exp.Unary, exp.Between)
def lower_operator(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """A whole tree of operators is one call over its operands: for lineage they are all alike.
    This also keeps a sum of five thousand terms, which the parser nests to the left, off the stack."""
    if not _is_operator(type(node)):
        return lower_function(lowering, node, scope)
    operands: list[rel.Expression] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if _is_operator(type(part)):
            stack.extend(reversed([value for value in part.args.values() if isinstance(value, exp.Expr)]))
        else:
            operands.append(lowering.expression(part, scope))
    return rel.Call(node.key, tuple(operands))


_OPERATORS: dict[type, bool] = {exp.Paren: True}


def _is_operator(kind: type) -> bool:
    """Return whether `lower_operator` takes a node apart.
    sqlglot has nodes that are operators and functions at once: `a ~ b`, `POWER(a, b)`, `a @> b`, `CORR(a, b)`. They
    are functions here: the rules may know them by name, and some aggregate. Only AND, OR and XOR are operators."""
    known = _OPERATORS.get(kind)
    if known is None:
        named = issubclass(kind, exp.Func) and not issubclass(kind, exp.Connector)
        known = _OPERATORS[kind] = lowers_as(kind) is lower_operator and not named
    return known


@lowers(exp.Cast, exp.TryCast, exp.Convert)
def lower_cast(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    value = node.expression if isinstance(node.this, exp.DataType) else node.this
    operand = lowering.expression(value, scope)
    # the names of a row type's fields, when it has names
    to = node.args.get("to")
    members = to.expressions if isinstance(to, exp.DataType) else []
    names = [each.name for each in members if isinstance(each, exp.ColumnDef)]
    if (
        isinstance(operand, rel.MakeStruct) and len(names) == len(operand.fields) > 0
    ):  # a row takes those of its new type
        return rel.MakeStruct(
            tuple((name, rel.Call("cast", (value,))) for name, (_, value) in zip(names, operand.fields))
        )
    return rel.Call("cast", (operand,))


@lowers(exp.Case)
def lower_case(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    operand, default = node.args.get("this"), node.args.get("default")
    branches = tuple(
        (lowering.expression(branch.this, scope), lowering.expression(branch.args["true"], scope))
        for branch in node.args["ifs"]
    )
    return rel.Case(
        branches,
        lowering.expression(default, scope) if default is not None else None,
        lowering.expression(operand, scope) if operand is not None else None,
    )


@lowers(exp.If)
def lower_if(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    condition = lowering.expression(node.this, scope)
    value = lowering.expression(node.args["true"], scope)
    otherwise = node.args.get("false")
    return rel.Case(((condition, value),), lowering.expression(otherwise, scope) if otherwise is not None else None)


# ------------------------------------------------------------------------------------------------- functions


@lowers(exp.Expr)
def lower_function(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """Any function: its arguments, with what stands inside its parentheses beside them."""
    name, aggregate = _name_of(node)
    lowering.span(node)
    call = Arguments()
    for argument in _values(node):
        call.add(lowering, argument, scope)
    return rel.Call(name, tuple(call.args), aggregate, tuple(call.order), call.condition)


class Arguments:
    """The arguments of a call as they are collected."""

    __slots__ = ("args", "condition", "order")

    def __init__(self) -> None:
        self.args: list[rel.Expression] = []
        self.order: list[rel.Expression] = []
        self.condition: rel.Expression | None = None

    def add(self, lowering: Lowering, node: Node, scope: Scope) -> None:
        """Take one argument: `DISTINCT a, b`, `a ORDER BY b LIMIT 3`, `a HAVING MAX b`, or a plain value."""
        if isinstance(node, exp.Distinct):
            for each in node.expressions:
                self.args.append(lowering.expression(each, scope))
        elif isinstance(node, exp.Limit):
            self.add(lowering, node.this, scope)
        elif isinstance(node, exp.Order):
            if node.this is not None:
                self.add(lowering, node.this, scope)
            self.order += [lowering.expression(each, scope) for each in node.expressions]
        elif isinstance(node, exp.HavingMax):
            self.add(lowering, node.this, scope)
            self.condition = lowering.expression(node.expression, scope)
        elif isinstance(node, exp.Lambda):
            from_nowhere = Scope(outer=scope)
            for parameter in node.expressions:
                key = lowering.key(parameter)
                from_nowhere.locals[key] = ItemColumn(parameter.name, key, _NOTHING)
            self.args.append(lowering.expression(node.this, from_nowhere))
        else:
            self.args.append(lowering.expression(node, scope))


def _values(node: Node) -> Iterator[Node]:
    for value in node.args.values():
        if isinstance(value, exp.Expr):
            yield value
        elif type(value) is list:
            yield from (each for each in value if isinstance(each, exp.Expr))


_NAMES: dict[type, tuple[str, bool]] = {exp.SHA1Digest: ("sha1", False), exp.SHA2Digest: ("sha2", False)}
_NOT_AGGREGATES = (
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.RowNumber),
    *(exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Grouping, exp.GroupingId),
)


def _name_of(node: Node) -> tuple[str, bool]:
    """The name of a function, and whether it aggregates."""
    kind = type(node)
    if kind is exp.Anonymous:
        return node.name.lower(), False
    if issubclass(kind, exp.AnonymousAggFunc):
        return node.name.lower(), True
    known = _NAMES.get(kind)
    if known is None:
        names = kind.sql_names() if issubclass(kind, exp.Func) else [kind.key]
        aggregate = issubclass(kind, exp.AggFunc) and not issubclass(kind, _NOT_AGGREGATES)
        known = _NAMES[kind] = (names[0].lower(), aggregate)
    return known


@lowers(exp.WithinGroup)
def lower_within_group(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """The key of an ordered-set aggregate is what it computes with; of any other, only its order."""
    call = lowering.expression(node.this, scope)
    keys = tuple(lowering.expression(each, scope) for each in node.expression.expressions)
    if not isinstance(call, rel.Call):
        return call
    if isinstance(node.this, exp.PercentileCont | exp.PercentileDisc | exp.Mode) or not call.args:
        return rel.Call(call.function, call.args + keys, True, call.order, call.condition)
    return rel.Call(call.function, call.args, True, call.order + keys, call.condition)


@lowers(exp.Filter)
def lower_filter(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    call = lowering.expression(node.this, scope)
    condition = lowering.expression(node.expression.this, scope)
    if isinstance(call, rel.Call):
        return rel.Call(call.function, call.args, call.aggregate, call.order, condition, call.opaque)
    return rel.Case(((condition, call),))


@lowers(exp.Window)
def lower_window(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    function = lowering.expression(node.this, scope)
    keys: list[rel.Expression] = []
    seen: set[str] = set()
    window: Node | None = node
    while window is not None:  # OVER w, OVER (w ORDER BY …): the keys of the named window too
        keys += [lowering.expression(each, scope) for each in window.args.get("partition_by") or ()]
        order = window.args.get("order")
        if order is not None:
            keys += [lowering.expression(each, scope) for each in order.expressions]
        spec = window.args.get("spec")
        if spec is not None:
            bounds = (spec.args.get("start"), spec.args.get("end"))
            keys += [lowering.expression(bound, scope) for bound in bounds if isinstance(bound, exp.Expr)]
        window = _named_window(lowering, window, scope, seen)
    return rel.Window(function, tuple(keys))


def _named_window(lowering: Lowering, window: Node, scope: Scope, seen: set[str]) -> Node | None:
    alias = window.args.get("alias")
    if alias is None:
        return None
    key = lowering.key_of(alias.name)
    if key in seen:
        return None
    seen.add(key)
    return scope.windows.get(key)


# ------------------------------------------------------------------------------------------------ subqueries


@lowers(exp.Subquery, exp.Query)
def lower_subquery(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    return rel.Subquery(rel.SubqueryKind.SCALAR, *_first_column(lowering, lowering.query(node, scope)))


@lowers(exp.Exists)
def lower_exists(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    if not isinstance(node.this, exp.Query):
        return lower_function(lowering, node, scope)
    return rel.Subquery(rel.SubqueryKind.EXISTS, lowering.query(node.this, scope).relation)


@lowers(exp.Any, exp.All)
def lower_any(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    if not isinstance(node.this, exp.Query):
        return lowering.expression(node.this, scope)
    query = lowering.query(node.this, scope)
    return rel.Subquery(rel.SubqueryKind.IN, *_first_column(lowering, query))


@lowers(exp.In)
def lower_in(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    operand = lowering.expression(node.this, scope)
    query = node.args.get("query")
    if query is None:
        unnest = node.args.get("unnest")
        others = [*(node.args.get("expressions") or ()), *(unnest.expressions if unnest is not None else ())]
        field = node.args.get("field")
        if isinstance(field, exp.Expr):
            others.append(field)
        return rel.Call("in", (operand, *(lowering.expression(each, scope) for each in others)))
    lowered = lowering.query(query, scope)
    relation, column = _first_column(lowering, lowered)
    return rel.Subquery(rel.SubqueryKind.IN, relation, column, operand)


@lowers(exp.Array)
def lower_array(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    items = node.expressions
    if len(items) == 1 and isinstance(items[0], exp.Query):
        # ARRAY(SELECT …)
        query = lowering.query(items[0], scope)
        return rel.Subquery(rel.SubqueryKind.ARRAY, *_first_column(lowering, query))
    return rel.MakeArray(tuple(lowering.expression(each, scope) for each in items))


def _first_column(lowering: Lowering, query: Query) -> tuple[rel.Relation, int | None]:
    """The rows of a query and its column; several columns are a row value: `(a, b) IN (SELECT x, y …)`."""
    if not query.columns:
        return query.relation, None
    value = query.columns[0].expression
    if len(query.columns) > 1 or query.as_struct:
        value = rel.MakeStruct(tuple((column.name, column.expression) for column in query.columns))
    elif isinstance(value, rel.Ref) and value.span is None:
        return query.relation, value.column
    column = rel.Computed(rel.Attribute(lowering.new_id(), "value"), value)
    return rel.Project(query.relation, (column,)), column.attribute.id

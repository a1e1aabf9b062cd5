"""Conditions of a query that the scan of a table can use to leave files out.

Only conjuncts of a WHERE that compare one column with a constant are taken, and only where the answer of the lake and
that of DuckDB cannot differ; DuckDB evaluates the whole WHERE all the same, so nothing depends on taking many.

A conjunct may go below a join: it drops rows of its table, and a row that an outer join fills with nulls does not
satisfy it either. `IS NULL` is the exception. A join that looks for the *nearest* row (ASOF, POSITIONAL), a sample
and a LATERAL look at rows that the condition would have dropped; there nothing is pushed.
"""

import datetime
import decimal
from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from headwater.lake.engine.predicates import Compare, In, IsNull, Predicate, StartsWith
from headwater.lake.engine.types import EXACT
from headwater.model.schema import Field
from headwater.model.types import BOOLEAN, DATE, DOUBLE, INTEGERS, STRING, TIMESTAMP, Decimal
from headwater.query.names import Pinned, TableRef
from headwater.query.parse import Node
from headwater.text import Span

Evaluate = Callable[[Node], Any]
"""The value of a constant expression, None if it has none that can be told."""

_OPERATORS = {exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WITHOUT_NAN = ("=", "<", "<=")  # DuckDB has NaN above all numbers, Arrow has it outside of every order
_CONSTANT = (
    *(exp.Literal, exp.Boolean, exp.Neg, exp.Paren, exp.Cast, exp.DataType, exp.DataTypeParam),
    *(exp.Add, exp.Sub, exp.Mul, exp.Interval, exp.Var, exp.IntervalSpan),
)
_PLAIN_JOINS = {"", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"}


def pushed_predicates(refs: list[TableRef], evaluate: Evaluate) -> dict[int, tuple[Predicate, ...]]:
    """Index of a reference → the predicates that hold for all of its rows that matter."""
    pushed: dict[int, tuple[Predicate, ...]] = {}
    for index, ref in enumerate(refs):
        select = _select_of(ref)
        if ref.system is None and select is not None and select.args.get("where") is not None:
            scope = [each for each in refs if _select_of(each) is select]
            joins = select.args.get("joins") or ()
            filled = any(join.args.get("side") for join in joins)  # nulls may be in the place of rows of this table
            found = _predicates(select.args["where"].this, ref, scope, evaluate, filled)
            pushed[index] = tuple(found)
    return pushed


def scan_predicates(condition: Node, pinned: Pinned, evaluate: Evaluate) -> tuple[Predicate, ...]:
    """The predicates of a condition on the columns of one table, which all of its rows that matter meet."""
    ref = TableRef(exp.to_table("t"), Span(0, 0, 1, 1), pinned)
    return tuple(_predicates(condition, ref, [ref], evaluate, filled=False))


def exact_predicates(ref: TableRef, evaluate: Evaluate) -> tuple[Predicate, ...] | None:
    """The whole WHERE of the SELECT that a table stands in, alone, as predicates; None if they would say less."""
    select = _select_of(ref)
    if select is None:
        return None
    found: list[Predicate] = []
    for conjunct in _conjuncts(select.args["where"].this) if select.args.get("where") is not None else ():
        predicates = list(_predicates(conjunct, ref, [ref], evaluate, filled=False))
        if len(predicates) != (2 if isinstance(conjunct, exp.Between) else 1):
            return None
        found += predicates
    return tuple(found)


def _select_of(ref: TableRef) -> Node | None:
    """The SELECT whose WHERE concerns a table: the one in whose FROM or plain JOIN it stands."""
    node = ref.node
    parent = node.parent
    if node.args.get("sample") or node.args.get("joins") or node.args.get("pivots") or node.args.get("laterals"):
        return None
    if ref.renames_columns:
        return None
    if isinstance(parent, exp.From | exp.Join) and isinstance(parent.parent, exp.Select):
        select = parent.parent
        is_odd = any(select.args.get(part) for part in ("sample", "laterals", "match", "pivots"))
        for join in select.args.get("joins") or ():
            is_odd |= bool(join.args.get("method")) or (join.args.get("kind") or "").upper() not in _PLAIN_JOINS
        return None if is_odd else select
    if isinstance(parent, exp.From) and isinstance(parent.parent, exp.Update):
        return parent.parent
    return parent if isinstance(parent, exp.Update | exp.Delete) else None


def _predicates(
    condition: Node, ref: TableRef, scope: list[TableRef], evaluate: Evaluate, filled: bool
) -> Iterator[Predicate]:
    for conjunct in _conjuncts(condition):
        predicate = _predicate(conjunct, ref, scope, evaluate)
        if predicate is not None and not (filled and isinstance(predicate, IsNull) and not predicate.negated):
            yield predicate
        if isinstance(conjunct, exp.Between):
            field = _field(conjunct.this, ref, scope)
            if field is not None and not conjunct.args.get("symmetric"):
                for op, bound in ((">=", conjunct.args["low"]), ("<=", conjunct.args["high"])):
                    value = _value(bound, field, op, evaluate)
                    if value is not None:
                        yield Compare(field.name, op, value)


def _conjuncts(condition: Node) -> Iterator[Node]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _predicate(node: Node, ref: TableRef, scope: list[TableRef], evaluate: Evaluate) -> Predicate | None:
    if type(node) in _OPERATORS:
        return _comparison(node, ref, scope, evaluate)
    negated = isinstance(node, exp.Not) or bool(node.args.get("negate"))  # `NOT LIKE` is a Like with a mark
    inner = node.this if isinstance(node, exp.Not) else node
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        field = _field(inner.this, ref, scope)
        return IsNull(field.name, negated) if field is not None else None
    if negated:
        return None
    if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
        field = _field(node.this, ref, scope)
        values = [_value(each, field, "=", evaluate) for each in node.expressions] if field else [None]
        return In(field.name, tuple(values)) if field and all(value is not None for value in values) else None
    if isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal) and node.expression.is_string:
        field = _field(node.this, ref, scope)
        # the text before the wildcards of a pattern that is nothing but a prefix, empty if it is not
        body = node.expression.this.removesuffix("%")
        prefix = body if node.expression.this.endswith("%") and not set(body) & set("%_\\") else ""
        return StartsWith(field.name, prefix) if field and field.type == STRING and prefix else None
    return None


def _comparison(node: Node, ref: TableRef, scope: list[TableRef], evaluate: Evaluate) -> Predicate | None:
    op = _OPERATORS[type(node)]
    for column, constant, way in ((node.left, node.right, op), (node.right, node.left, _TURNED[op])):
        field = _field(column, ref, scope)
        if field is not None:
            value = _value(constant, field, way, evaluate)
            return Compare(field.name, way, value) if value is not None else None
    return None


def _field(node: Node, ref: TableRef, scope: list[TableRef]) -> Field | None:
    """The column of `ref` that a node is, if it is one, and of no other table."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return None
    name = node.name.casefold()
    if node.table:
        if node.table.casefold() != ref.alias.casefold():
            return None
    elif sum(_column(each, name) is not None for each in scope) != 1 or any(each.system for each in scope):
        return None
    return _column(ref, name)


def _column(ref: TableRef, folded: str) -> Field | None:
    return next((field for field in ref.pinned.schema.fields if field.name.casefold() == folded), None)


def _value(node: Node, field: Field, op: str, evaluate: Evaluate) -> Any:
    """A constant as the column has it, None if the lake and DuckDB might not compare it alike."""
    if not all(isinstance(each, _CONSTANT) for each in node.walk()):
        return None
    value = _literal(node)
    if value is None:
        value = evaluate(node)
    match field.type:
        case t if t == STRING:
            return value if isinstance(value, str) else None
        case t if t == BOOLEAN:
            return value if isinstance(value, bool) else None
        case t if t == DATE:
            return _date(value)
        case t if t == TIMESTAMP:
            return _timestamp(value)
        case t if t in INTEGERS:
            if isinstance(value, decimal.Decimal) and value == value.to_integral_value():
                return int(value)
            return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31 else None
        case Decimal(_, scale):
            if isinstance(value, bool) or not isinstance(value, int | decimal.Decimal):
                return None
            exact = decimal.Decimal(value).normalize(EXACT)
            places = -int(exact.as_tuple().exponent)
            return exact if places <= scale and abs(exact) < 10**9 else None
        case t if t == DOUBLE and op in _WITHOUT_NAN:
            return float(value) if isinstance(value, int | float | decimal.Decimal) and value == value else None
    return None


def _literal(node: Node) -> Any:
    """The value of a plain literal, None for what must be evaluated."""
    if isinstance(node, exp.Literal):
        if node.is_string:
            return node.this
        return int(node.this) if node.this.isdigit() else None
    is_date = isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE
    return _date(node.this.this) if is_date and isinstance(node.this, exp.Literal) and node.this.is_string else None


def _date(value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() and value.tzinfo is None else None
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value) if len(value) == 10 else None
        except ValueError:
            return None
    return value if isinstance(value, datetime.date) else None


def _timestamp(value: Any) -> datetime.datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else None
    return datetime.datetime(value.year, value.month, value.day) if isinstance(value, datetime.date) else None

"""Spark's filters as predicates of a scan.

A predicate may only drop rows that Spark would drop too, and Spark checks every row again: what cannot be said
exactly is left out. Spark takes NaN for larger than every number and equal to itself, Arrow does not, so a
floating-point column is not compared from above.

The catalog sends filters as JSON: `[["=", "id", 7], ["in", "region", ["eu", "us"]], ["null", "x"], …]`; dates and
times are texts, decimals too, bytes are base64.
"""

import base64
import datetime
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from headwater.errors import SchemaError
from headwater.lake.engine.predicates import check_where
from headwater.lake.tables import Compare, In, IsNull, Predicate, StartsWith
from headwater.model.schema import Schema
from headwater.model.types import BINARY, DOUBLE, FLOAT, TIMESTAMP, TIMESTAMP_LTZ, Decimal, Primitive
from headwater.spark.source import python_sources as spark

_OPERATORS = {
    spark.EqualTo: "=",
    spark.EqualNullSafe: "=",
    spark.GreaterThan: ">",
    spark.GreaterThanOrEqual: ">=",
    spark.LessThan: "<",
    spark.LessThanOrEqual: "<=",
}
_FLOATING = (FLOAT, DOUBLE)


def predicates_of(filters: Iterable[spark.Filter], schema: Schema) -> tuple[Predicate, ...]:
    """Return what of PySpark's filters a scan can use."""
    plain = (_plain(each) for each in filters)
    return _usable((each for each in plain if each is not None), schema)


def decode_filters(text: str | None, schema: Schema) -> tuple[Predicate, ...]:
    """Return what of the catalog's filters a scan can use."""
    if text is None:
        return ()
    return _usable(msgspec.json.decode(text, type=list[tuple[str, str, Any]]), schema)


def _plain(each: spark.Filter) -> tuple[str, str, Any] | None:
    if isinstance(each, spark.Not):
        return ("not null", _name(each.child), None) if isinstance(each.child, spark.IsNull) else None
    match each:
        case spark.IsNull():
            return "null", _name(each), None
        case spark.IsNotNull():
            return "not null", _name(each), None
        case spark.In():
            return "in", _name(each), list(each.value)
        case spark.StringStartsWith():
            return "starts", _name(each), each.value
    op = _OPERATORS.get(type(each))
    return None if op is None else (op, _name(each), each.value)  # type: ignore[attr-defined]


def _name(each: Any) -> str:
    return ".".join(each.attribute)


def _usable(plain: Iterable[tuple[str, str, Any]], schema: Schema) -> tuple[Predicate, ...]:
    found: list[Predicate] = []
    for op, name, value in plain:
        if name in schema.names:
            predicate = _predicate(op, name, value, schema)
            with suppress(SchemaError):  # a value that does not fit its column is Spark's to decide
                found += check_where(predicate, schema)
    return tuple(found)


def _predicate(op: str, name: str, value: Any, schema: Schema) -> Predicate | None:
    type = schema.field(name).type
    if not isinstance(type, Primitive | Decimal) and op not in ("null", "not null"):
        return None
    match op:
        case "null" | "not null":
            return IsNull(name, negated=op == "not null")
        case "starts":
            return StartsWith(name, value) if isinstance(value, str) else None
        case "in":
            known = [_value(each, type) for each in value if each is not None]
            return In(name, tuple(known)) if all(each is not None for each in known) else None
    known = _value(value, type)
    if known is None or (type in _FLOATING and (op in (">", ">=") or known != known)):
        return None
    return Compare(name, op, known)


def _value(value: Any, type: object) -> Any:
    """A value as the lake compares it; None when it cannot be said."""
    if isinstance(value, str) and type is not None:
        if type == BINARY:
            return base64.b64decode(value)
        if type in (TIMESTAMP, TIMESTAMP_LTZ):
            return _moment(datetime.datetime.fromisoformat(value), type)
    if isinstance(value, datetime.datetime):
        return _moment(value, type)
    return value


def _moment(value: datetime.datetime, type: object) -> datetime.datetime | None:
    if type == TIMESTAMP_LTZ:
        return value.astimezone(datetime.UTC) if value.tzinfo is not None else None
    return value if value.tzinfo is None else None

"""Predicates on columns: facts that a scan can use to skip files, and an exact filter for what is left.
Several predicates in a tuple hold together (AND). As in SQL, a comparison with null holds for no row."""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import SchemaError, UsageError
from headwater.lake.engine.arrays import array_of, is_exactly, mask_of
from headwater.lake.engine.types import arrow_type
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field, Schema

_OPERATORS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], bool]]] = {
    "=": (pc.equal, operator.eq),
    "!=": (pc.not_equal, operator.ne),
    "<": (pc.less, operator.lt),
    "<=": (pc.less_equal, operator.le),
    ">": (pc.greater, operator.gt),
    ">=": (pc.greater_equal, operator.ge),
}


@dataclass(frozen=True, slots=True)
class Compare:
    """A column against a value, by one of = != < <= > >=."""

    column: str
    op: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.op} {self.value!r}"


@dataclass(frozen=True, slots=True)
class In:
    """A column has one of some values."""

    column: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(repr, self.values))})"


@dataclass(frozen=True, slots=True)
class IsNull:
    """A column is null, or with `negated` is not."""

    column: str
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.column} IS {'NOT ' if self.negated else ''}NULL"


@dataclass(frozen=True, slots=True)
class StartsWith:
    """A text column begins with some text."""

    column: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {self.prefix + '%'!r}"


Predicate: TypeAlias = Compare | In | IsNull | StartsWith
Where: TypeAlias = Predicate | Iterable[Predicate] | None


def check_where(where: Where, schema: Schema) -> tuple[Predicate, ...]:
    """Predicates with their values in the types of the columns.
    RAISES: SchemaError naming a column that is not there, or whose type the value does not fit."""
    if where is None:
        return ()
    given = (where,) if isinstance(where, Compare | In | IsNull | StartsWith) else tuple(where)
    return tuple(_checked(predicate, schema.field(predicate.column)) for predicate in given)


def columns_of(where: Iterable[Predicate]) -> list[str]:
    """The columns that predicates look at, each once."""
    return list(dict.fromkeys(predicate.column for predicate in where))


def filter_batch(batch: pa.RecordBatch, where: Sequence[Predicate]) -> pa.RecordBatch:
    """The rows for which every predicate holds. REQUIRES: checked predicates on columns of the batch."""
    for predicate in where:
        mask = _mask(batch.column(predicate.column), predicate)
        batch = batch.filter(mask)  # a null in the mask drops the row, as SQL has it
    return batch


def mask_batch(batch: pa.RecordBatch, where: Sequence[Predicate]) -> npt.NDArray[np.bool_]:
    """For each row, whether every predicate holds. REQUIRES: checked predicates on columns of the batch."""
    mask = np.ones(len(batch), np.bool_)
    for predicate in where:
        mask &= mask_of(_mask(batch.column(predicate.column), predicate))
    return mask


def holds(predicate: Predicate, value: Any) -> bool:
    """Return whether a predicate holds for one value. REQUIRES: a checked predicate."""
    if isinstance(predicate, IsNull):
        return (value is None) != predicate.negated
    if value is None:
        return False
    match predicate:
        case Compare(_, op, wanted):
            return wanted is not None and bool(_OPERATORS[op][1](value, wanted))
        case In(_, values):
            return value in values
        case StartsWith(_, prefix):
            return isinstance(value, str) and value.startswith(prefix)
    assert_never(predicate)


def _mask(column: pa.Array, predicate: Predicate) -> pa.Array:
    match predicate:
        case Compare(_, op, value):
            return _OPERATORS[op][0](column, _scalar(value, column.type))
        case In(_, values):
            present = [value for value in values if value is not None]
            exact = present and all(is_exactly(each, column.type) for each in present) and column.type != pa.bool_()
            known = array_of(present, column.type) if exact else pa.array(present, column.type)
            found = pc.is_in(column, value_set=known)
            if pa.types.is_floating(column.type) and 0.0 in present:  # Arrow tells 0.0 and -0.0 apart here
                found = pc.or_(found, pc.fill_null(pc.equal(column, 0.0), False))
            return found
        case IsNull(_, negated):
            return pc.is_valid(column) if negated else pc.is_null(column)
        case StartsWith(_, prefix):
            return pc.starts_with(column, prefix)
    assert_never(predicate)


def _scalar(value: Any, type: pa.DataType) -> pa.Scalar:
    if is_exactly(value, type) and not isinstance(value, bool):
        return array_of([value], type)[0]
    try:
        return pa.scalar(value, type) if _fits(value, type) else pa.scalar(value)  # compared in a wider type
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as err:
        raise SchemaError(f"{value!r} cannot be compared with {type}") from err


def _checked(predicate: Predicate, field: Field) -> Predicate:
    match predicate:
        case Compare(_, op, value):
            if op not in _OPERATORS:
                raise UsageError(f"`{op}` is not a comparison", hint=f"one of {' '.join(_OPERATORS)}")
            return replace(predicate, value=_fitted(value, field))
        case In(_, values):
            fitted = [_fitted(value, field) for value in values]
            type = arrow_type(field.type)
            return replace(predicate, values=tuple(value for value in fitted if _fits(value, type)))
        case IsNull():
            return predicate
        case StartsWith():
            if str(field.type) != "STRING":
                raise SchemaError(f"column `{field.name}` is {field.type}, and only text can begin with text")
            return predicate
    assert_never(predicate)


def _fits(value: Any, type: pa.DataType) -> bool:
    """Return whether a column of the type can have exactly this value: Arrow takes 9.5 for an integer, and makes it
    9."""
    if is_exactly(value, type):
        return True
    try:
        same = pa.scalar(value, type).as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, ValueError):
        return False
    return not isinstance(value, int | float) or bool(same == value) or value != value


def _fitted(value: Any, field: Field) -> Any:
    """A value as rows of the column have it; one beyond the range of the column stays as it is."""
    if value is None:
        return None
    type = arrow_type(field.type)
    if is_exactly(value, type):
        return value
    if _fits(value, type):
        return pa.scalar(value, type).as_py()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 63:
        value = float(value)  # beyond every integer column, whichever side
    try:
        own = pa.scalar(value)
        if pa.types.is_string(own.type):
            return own.cast(type).as_py()
        pc.equal(pa.nulls(1, type), own)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError) as err:
        raise SchemaError(f"column `{field.name}` is {field.type} and cannot be compared with {value!r}") from err
    return value

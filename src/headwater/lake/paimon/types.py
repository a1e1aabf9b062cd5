"""Lake types as Apache Paimon writes them in its schema files, and back.
Paimon gives every nested field an id of its own, from the same numbers as columns. Ours have none, so they are
numbered from the id of their column, far above any column's id: they stay the same when columns are added."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec

from headwater.errors import SchemaError
from headwater.model import types as dt

_NESTED_IDS = 1 << 20  # where the ids of nested fields begin
_IDS_A_COLUMN = 1 << 10
_DEEPEST = 100  # levels of a type

_TEXT = {type: facts.paimon for type, facts in dt.TYPES.items()}
_MODEL: dict[str, dt.Primitive] = {text: type for type, text in _TEXT.items()} | {
    "INTEGER": dt.INT,
    "BINARY": dt.BINARY,
    "VARBINARY": dt.BINARY,
    "CHAR": dt.STRING,
    "VARCHAR": dt.STRING,
    "TIMESTAMP": dt.TIMESTAMP,
    "TIMESTAMP WITH LOCAL TIME ZONE": dt.TIMESTAMP_LTZ,
    "TIMESTAMP_LTZ": dt.TIMESTAMP_LTZ,
}
_ATOMIC = re.compile(
    r"([A-Z_]+)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*(WITH LOCAL TIME ZONE)?\s*(NOT NULL)?", re.I
)


def paimon_type(type: dt.DataType, nullable: bool, column_id: int) -> Any:
    """A column's type for a schema file: text, or an object for nested types."""
    return _paimon(type, nullable, count(_NESTED_IDS + column_id * _IDS_A_COLUMN))


def _paimon(type: dt.DataType, nullable: bool, ids: Iterator[int]) -> Any:
    suffix = "" if nullable else " NOT NULL"
    match type:
        case dt.Primitive():
            return _TEXT[type] + suffix
        case dt.Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale}){suffix}"
        case dt.Array(element):
            return {"type": f"ARRAY{suffix}", "element": _paimon(element, True, ids)}
        case dt.Map(key, value):
            return {"type": f"MAP{suffix}", "key": _paimon(key, False, ids), "value": _paimon(value, True, ids)}
        case dt.Struct(members):
            fields = [{"id": next(ids), "name": each.name, "type": _paimon(each.type, True, ids)} for each in members]
            return {"type": f"ROW{suffix}", "fields": fields}
        case dt.Foreign(text):
            raise SchemaError(f"Paimon has no type for {text}")


def highest_id(column_ids: list[int], types: list[Any]) -> int:
    """The highest field id of a schema, nested ones counted."""
    return max([*column_ids, *(id for type in types for id in _nested_ids(type))], default=-1)


def _nested_ids(type: Any) -> Iterator[int]:
    if isinstance(type, dict):
        for field in type.get("fields", ()):
            yield field["id"]
            yield from _nested_ids(field["type"])
        for part in ("element", "key", "value"):
            yield from _nested_ids(type.get(part))


class _Member(msgspec.Struct):
    name: str
    type: Any


class _Nested(msgspec.Struct):
    """A type with parts, as a schema file has it."""

    type: str
    nullable: bool | None = None
    element: Any = None
    key: Any = None
    value: Any = None
    fields: list[_Member] | None = None


def model_type_of(type: Any, column: str, *, depth: int = 0) -> tuple[dt.DataType, bool]:
    """The lake type of a type in a Paimon schema file, and whether it may be null.
    RAISES: SchemaError for one that the lake cannot store."""
    if isinstance(type, str):
        return _atomic(type, column)
    try:
        nested = msgspec.convert(type, _Nested)
    except msgspec.ValidationError as err:
        raise _unknown(f"`{str(type)[:80]}`", column) from err
    if depth > _DEEPEST:
        raise _unknown(f"a type of more than {_DEEPEST} levels", column)
    kind = nested.type.upper()
    nullable = "NOT NULL" not in kind if nested.nullable is None else nested.nullable

    def part(of: Any) -> dt.DataType:
        return model_type_of(of, column, depth=depth + 1)[0]

    match kind.removesuffix("NOT NULL").strip():
        case "ARRAY":
            return dt.Array(part(nested.element)), nullable
        case "MAP":
            return dt.Map(part(nested.key), part(nested.value)), nullable
        case "ROW" if nested.fields is not None:
            return dt.Struct(tuple(dt.Member(each.name, part(each.type)) for each in nested.fields)), nullable
    raise _unknown(f"`{str(type)[:80]}`", column)


def _atomic(text: str, column: str) -> tuple[dt.DataType, bool]:
    found = _ATOMIC.fullmatch(text.strip())
    if found is None:
        raise _unknown(text, column)
    name, precision, scale, local, not_null = found.groups()
    name = name.upper() + (" WITH LOCAL TIME ZONE" if local else "")
    if name in ("DECIMAL", "NUMERIC", "DEC"):
        return dt.Decimal(int(precision or 10), int(scale or 0)), not_null is None
    if name not in _MODEL:
        raise _unknown(text, column)
    return _MODEL[name], not_null is None


def _unknown(text: str, column: str) -> SchemaError:
    return SchemaError(
        f"column `{column}` is of Paimon's type {text}, which a lake table cannot store",
        hint="leave the column out, or cast it in Paimon first",
    )

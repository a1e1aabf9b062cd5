"""Conditions and keys as they are typed on the command line."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.lake.tables import Predicate
    from headwater.model.schema import Schema

_NULL = re.compile(r"(\S+)\s+is\s+(not\s+)?null", re.IGNORECASE)
_IN = re.compile(r"(\S+)\s+in\s*\((.*)\)", re.IGNORECASE)
_LIKE = re.compile(r"(\S+)\s+like\s+(.*)%'?", re.IGNORECASE)
_COMPARE = re.compile(r"([^\s<>=!]+)\s*(<=|>=|!=|<>|=|<|>)\s*(.*)")


def parse_where(texts: Sequence[str]) -> "list[Predicate]":
    """Conditions that hold together: `a > 5`, `a in (1, 2)`, `name like A%`, `note is not null`.

    RAISES: UsageError.
    """
    return [_parse(text.strip()) for text in texts]


def parse_key(text: str, schema: "Schema") -> Any:
    """The key of one row, its columns separated by commas. RAISES: UsageError."""
    import pyarrow as pa

    from headwater.lake.engine.types import arrow_type

    fields = [schema.field(name) for name in schema.primary_keys]
    parts = text.split(",") if len(fields) > 1 else [text]
    if len(parts) != len(fields):
        raise UsageError(f"the key has {len(fields)} columns: {', '.join(schema.primary_keys)}")
    values = []
    for field, part in zip(fields, parts):
        try:
            values.append(pa.scalar(part).cast(arrow_type(field.type)).as_py())
        except (pa.ArrowInvalid, OverflowError, ValueError) as err:
            raise UsageError(f"`{part}` is not a value of `{field.name}`, which is {field.type}") from err
    return tuple(values)


def _parse(text: str) -> "Predicate":
    from headwater.lake.tables import Compare, In, IsNull, StartsWith

    if match := _NULL.fullmatch(text):
        return IsNull(match[1], negated=bool(match[2]))
    if match := _IN.fullmatch(text):
        return In(match[1], tuple(_value(part) for part in match[2].split(",")))
    if match := _LIKE.fullmatch(text):
        return StartsWith(match[1], match[2].strip().lstrip("'"))
    if match := _COMPARE.fullmatch(text):
        return Compare(match[1], "!=" if match[2] == "<>" else match[2], _value(match[3]))
    raise UsageError(f"`{text}` is not a condition", hint="for example `amount > 5`, `name = 'Ada'`, `note is null`")


def _value(text: str) -> str:
    """A value with its quotes taken off; the type of the column says what it means."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text

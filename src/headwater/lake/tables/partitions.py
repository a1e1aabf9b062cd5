"""Partition values: in Python, in manifests (JSON), and in the names of folders."""

import hashlib
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa

from headwater.lake.engine.row import python_type
from headwater.lake.engine.temporal import with_numbers
from headwater.lake.metadata.manifest import Partition
from headwater.model.schema import Field
from headwater.model.types import DATE, TIMESTAMP, TIMESTAMP_LTZ

_NULL = "__null__"
_LONGEST = 255  # bytes of a file name; encoded names are ASCII


def stored_values(values: pa.Array) -> list[Any]:
    """Partition values as manifests have them; a date or time beyond the years 1 to 9999 is its number."""
    numbers = values.cast(with_numbers(values.type))
    return [_stored(value, number) for value, number in zip(values, numbers)]


def _stored(value: pa.Scalar, number: pa.Scalar) -> Any:
    try:
        return stored_value(value.as_py())
    except (OverflowError, ValueError):
        return number.as_py()


def stored_value(value: Any) -> Any:
    """A partition value as manifests have it: numbers, booleans and strings as they are, everything else as text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def python_values(partition: Partition, fields: tuple[Field, ...]) -> dict[str, Any]:
    """The values of a partition as rows have them, by column; one that Python has no value for is left out."""
    return {
        field.name: msgspec.convert(value, python_type(field.type))
        for value, field in zip(partition, fields)
        if not (isinstance(value, int) and field.type in (DATE, TIMESTAMP, TIMESTAMP_LTZ))
    }


def partition_folder(partition: Partition, fields: tuple[Field, ...], bucket: int) -> str:
    """Return where the files of one bucket are, below the data folder.

    >>> from headwater.model.types import STRING
    >>> partition_folder(("a/b",), (Field(0, "region", STRING),), 3)
    'region=a%2Fb/bucket-3'

    A name that is longer than file systems allow is cut, and ends with a hash of the whole.
    """
    parts = [f"{quote(field.name, safe='')}={_text(value)}" for value, field in zip(partition, fields)]
    return "/".join([*map(_cut, parts), f"bucket-{bucket}"])


def _cut(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 33]}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _text(value: Any) -> str:
    return _NULL if value is None else quote(str(value).lower() if isinstance(value, bool) else str(value), safe="")

"""The range of keys that predicates leave: what point and range reads of sorted files go by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwater.errors import SchemaError
from headwater.lake.engine.keys import KeyCodec, NativeKey
from headwater.lake.engine.predicates import Compare, In, Predicate
from headwater.lake.engine.version import DataFile


@dataclass(frozen=True, slots=True)
class KeyBounds:
    """The keys a scan can meet: `lower` ≤ key ≤ `upper`, None for no bound."""

    lower: NativeKey | None = None
    upper: NativeKey | None = None

    def excludes(self, file: DataFile, is_number: bool) -> bool:
        """Return whether no key of a file lies within."""
        low: NativeKey = int.from_bytes(file.min_key, "big") if is_number else file.min_key
        high: NativeKey = int.from_bytes(file.max_key, "big") if is_number else file.max_key
        below = self.upper is not None and low > self.upper  # type: ignore[operator]
        return below or (self.lower is not None and high < self.lower)  # type: ignore[operator]


def key_bounds(where: Sequence[Predicate], codec: KeyCodec) -> KeyBounds:
    """The range of keys that the predicates leave, from the leading columns of the key."""
    if not where:
        return KeyBounds()
    equal: list[Any] = []
    try:
        for name in (field.name for field in codec.fields):
            low, high = _range(where, name)
            if low is None and high is None:
                break
            if low != high:
                return KeyBounds(
                    None if low is None and not equal else _lower(codec, equal, low),
                    None if high is None and not equal else _upper(codec, equal, high),
                )
            equal.append(low)
        if not equal:
            return KeyBounds()
        return KeyBounds(_lower(codec, equal, None), _upper(codec, equal, None))
    except SchemaError:
        return KeyBounds()  # a value that keys cannot have does not cut keys


def _range(where: Sequence[Predicate], column: str) -> tuple[Any, Any]:
    """The lowest and highest value that a column can have; a strict bound is taken as a loose one."""
    low: Any = None
    high: Any = None
    for predicate in where:
        if predicate.column != column:
            continue
        match predicate:
            case Compare(_, op, value) if value is not None and value == value and op != "!=":
                if op in ("=", ">", ">="):
                    low = value if low is None else max(low, value)
                if op in ("=", "<", "<="):
                    high = value if high is None else min(high, value)
            case In(_, values) if values and all(value is not None and value == value for value in values):
                low = min(values) if low is None else max(low, min(values))
                high = max(values) if high is None else min(high, max(values))
    return low, high


def _lower(codec: KeyCodec, equal: list[Any], low: Any) -> NativeKey:
    values = tuple(equal) if low is None else (*equal, low)
    return codec.native(values) if codec.is_number else codec.prefix(values)


def _upper(codec: KeyCodec, equal: list[Any], high: Any) -> NativeKey | None:
    values = tuple(equal) if high is None else (*equal, high)
    return codec.native(values) if codec.is_number else _after(codec.prefix(values))


def _after(prefix: bytes) -> bytes | None:
    """Bytes that no key with this beginning is above, None if there are none."""
    cut = prefix.rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None

"""Effects as bytes, for keeping them and for sending them to another process."""

from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from headwater.errors import CorruptFileError
from headwater.lineage.effects import SchemaEffect

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(SchemaEffect)}


def encode_effects(effects: Iterable[SchemaEffect]) -> bytes:
    """Effects in order.

    >>> from headwater.lineage.effects import UseNamespace
    >>> decode_effects(encode_effects([UseNamespace("shop")]))
    (UseNamespace(schema='shop', catalog=None),)
    """
    return msgspec.msgpack.encode([(type(each).__name__, each) for each in effects])


def decode_effects(data: bytes) -> tuple[SchemaEffect, ...]:
    """The effects that `encode_effects` was given.
    RAISES: CorruptFileError when they are damaged, or of a kind that only a later Headwater knows."""
    try:
        pairs = msgspec.msgpack.decode(data, type=list[tuple[str, msgspec.Raw]])
        return tuple(msgspec.msgpack.decode(raw, type=_KINDS[name]) for name, raw in pairs)
    except KeyError as err:
        raise CorruptFileError(
            f"what a script did to the schema was kept as {err}, which this program does not know",
            hint="install a later Headwater",
        ) from err
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise CorruptFileError(f"what a script did to the schema cannot be read: {err}") from err

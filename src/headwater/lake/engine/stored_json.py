"""JSON files of a table into facts: the one place that knows what can be wrong with them, or with their version."""

from typing import TypeVar

import msgspec

from headwater.errors import CorruptFileError

T = TypeVar("T")


def decode_json(data: bytes | str, type: type[T], path: str, *, what: str = "of the expected form") -> T:
    """A fact from its JSON.
    RAISES: CorruptFileError when it is not JSON, not text, nested without end, or of another form."""
    try:
        return msgspec.json.decode(data, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise CorruptFileError(f"{path} is not {what}: {err}") from err


def encode_json(fact: object) -> bytes:
    """A fact as its file has it: for people to read, too."""
    return msgspec.json.format(msgspec.json.encode(fact), indent=2) + b"\n"


def check_format_version(path: str, version: int, known: int) -> None:
    """RAISES: CorruptFileError when a file was written by a later Headwater in a format of its own."""
    if version > known:
        raise CorruptFileError(
            f"{path} has format version {version}, this program knows up to {known}", hint="install a later Headwater"
        )

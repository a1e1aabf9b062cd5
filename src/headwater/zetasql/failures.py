"""Why a statement could not be resolved: a finding, not a crash, since another front end may still understand it."""

import re
from enum import Enum

from headwater.text import Source, Span
from headwater.zetasql.instance import ServiceError


class Reason(Enum):
    """The reason of a failure."""

    SYNTAX = "syntax"  # the text is not GoogleSQL
    UNKNOWN_TABLE = "unknown table"
    OPEN_TABLE = "open table"  # some of its columns are known, and there may be others
    UNKNOWN_COLUMN = "unknown column"
    UNKNOWN_FUNCTION = "unknown function"
    TYPES = "types"  # any other rule of the language
    UNSUPPORTED = "unsupported"  # resolved, but without a lineage rule here
    CRASH = "crash"  # the engine stopped, or took too long


class CannotResolve(Exception):
    """A statement that ZetaSQL, with what it was given, cannot resolve."""

    def __init__(self, reason: Reason, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.span = span


_PLACE = re.compile(r"\s*\[at (\d+):(\d+)\]\s*$")
_SUGGESTION = re.compile(r"; Did you mean [^?]*\?")
_CHAINED = re.compile(r"; Calling multi-part function names in chained call syntax [^;]*(?:; Did you mean [^?]*\?)?")
_REASONS = (
    (Reason.SYNTAX, re.compile(r"Syntax error|Illegal|Unclosed|Expected (?:keyword|end)", re.I)),
    (Reason.UNKNOWN_TABLE, re.compile(r"Table not found|Unrecognized name: \S+\.\S+ .*table|Model not found", re.I)),
    (Reason.UNKNOWN_FUNCTION, re.compile(r"(?:function|procedure|TVF)s? not found|Unknown function", re.I)),
    (
        Reason.UNKNOWN_COLUMN,
        re.compile(
            r"Unrecognized name|not found inside|does not exist in|Name \S+ not found|Column .* is not present", re.I
        ),
    ),
)


def read_error(err: ServiceError, source: Source, start: int, length: int) -> CannotResolve:
    """ZetaSQL's refusal of the text at bytes `start` … `start + length`, with its place in the whole source."""
    message, span = err.message, None
    place = _PLACE.search(message)
    if place is not None:
        message = message[: place.start()]
        first = source.character_at(start)
        inner = Source(source.text[first : source.character_at(start + length)])
        line, column = int(place.group(1)), int(place.group(2))
        at = inner.span_at(line, column).start
        word = re.compile(r"`[^`]*`|[\w.$-]+").match(inner.text, at)
        span = source.span(first + at, first + at + (len(word.group()) if word else 1))
    reason = next((reason for reason, pattern in _REASONS if pattern.search(message)), Reason.TYPES)
    if reason is Reason.UNKNOWN_TABLE:  # what it suggests depends on which texts were read before this one
        message = _SUGGESTION.sub("", message)
    return CannotResolve(reason, _CHAINED.sub("", message), span)

"""The words that statements begin with, and what to say when a text begins with others."""

from collections.abc import Sequence
from typing import Any

from headwater.errors import SqlError
from headwater.text import Source, suggest

_QUERIES = (
    "SELECT",
    "WITH",
    "FROM",
    "VALUES",
    "TABLE",
    "PIVOT",
    "UNPIVOT",
    "SUMMARIZE",
    "DESCRIBE",
    "DESC",
    "EXPLAIN",
    "USE",
)
_LISTED = (
    "DATABASES",
    "TABLES",
    "VIEWS",
    "MATERIALIZED",
    "COLUMNS",
    "CREATE",
    "SNAPSHOTS",
    "TAGS",
    "PARTITIONS",
    "SCHEMAS",
)
_BETWEEN = ("OR", "REPLACE", "TEMP", "TEMPORARY")  # words between CREATE and what is created
_SECOND: dict[str, tuple[str, ...]] = dict.fromkeys(_QUERIES, ()) | {
    "INSERT": (),
    "UPDATE": (),
    "DELETE": ("FROM",),
    "MERGE": ("INTO",),
    "TRUNCATE": (),
    "CREATE": ("TABLE", "VIEW", "MATERIALIZED", "DATABASE", "SCHEMA"),
    "REFRESH": ("MATERIALIZED",),
    "ALTER": ("TABLE", "MATERIALIZED"),
    "DROP": ("TABLE", "VIEW", "MATERIALIZED", "DATABASE", "SCHEMA"),
    "COMMENT": ("ON",),
    "SHOW": _LISTED,
}
"""The first word of each statement, and what the second can be where it must be one of some."""


def unknown_statement(tokens: Sequence[Any], source: Source) -> SqlError | None:
    """The error for a statement whose first words are none of ours, with the nearest; None if they are ours."""
    said = [token for token in tokens[:5] if str(token.text).upper() not in _BETWEEN][:2]
    words = [str(token.text).upper() for token in said]
    if not words or not words[0].isalpha():
        return None
    first = words[0]
    if first not in _SECOND:
        hint = suggest(first, _SECOND, f"statements begin with {', '.join(_SECOND)}")
        return _error(f"{first} is not a statement of this SQL", hint, tokens[0], source)
    known = _SECOND[first]
    if not known or (len(words) > 1 and words[1] in known):
        return None
    if len(words) < 2:
        return _error(f"{first} alone is not a statement", f"{first} {', '.join(known)}", tokens[0], source)
    hint = suggest(words[1], known, f"{first} {', '.join(known)}", f"`{first} {{}}`")
    return _error(f"{first} {words[1]} is not a statement of this SQL", hint, said[1], source)


def _error(message: str, hint: str, token: Any, source: Source) -> SqlError:
    return SqlError(message, hint=hint, span=source.span(token.start, token.end + 1), source=source)

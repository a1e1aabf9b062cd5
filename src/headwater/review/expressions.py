"""Comparison of two texts of SQL, but for blanks, comments, case and the names that tables have in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]

from headwater.sql.dialects import canonical_dialect, sqlglot_dialect

Words: TypeAlias = tuple[str, ...]
_TEXTS = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING, TokenType.BYTE_STRING})
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.DOT, TokenType.ALIAS})


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text and where it stands."""

    word: str
    start: int
    end: int
    is_name: bool  # part of the name of a column, or the word before an alias


def tokens_of(text: str, dialect: str | None) -> tuple[Token, ...] | None:
    """The words of a text, without comments; strings as they are, everything else in lower case. None where it cannot
    be cut into words."""
    try:
        found = sqlglot.tokenize(text, read=sqlglot_dialect(canonical_dialect(dialect)))
    except (SqlglotError, ValueError):
        return None
    words = (f"'{each.text}'" if each.token_type in _TEXTS else each.text.lower() for each in found)
    return tuple(Token(word, each.start, each.end + 1, each.token_type in _NAMES) for word, each in zip(words, found))


@lru_cache(maxsize=50_000)
def plain_words(text: str, dialect: str | None) -> Words:
    """The words of a text, without comments; strings as they are, everything else in lower case."""
    found = tokens_of(text, dialect)
    return tuple(text.split()) if found is None else tuple(token.word for token in found)


def unqualified(words: Words) -> tuple[Words, Words]:
    """The words without what stands before a dot, and what stood there."""
    kept: list[str] = []
    before: list[str] = []
    for at, word in enumerate(words):
        if word == "." or words[at + 1 : at + 2] == (".",):
            if word != ".":
                before.append(word)
        else:
            kept.append(word)
    return tuple(kept), tuple(before)


def are_renamed(pairs: Iterable[tuple[Words, Words]]) -> bool:
    """Return whether qualifiers differ by a renaming that holds for all pairs: one name for one, both ways."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for old, new in pairs:
        if len(old) != len(new):
            continue  # a name that needs no qualifier means the same without
        for one, other in zip(old, new):
            if there.setdefault(one, other) != other or back.setdefault(other, one) != one:
                return False
    return True

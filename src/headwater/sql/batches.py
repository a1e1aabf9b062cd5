"""T-SQL, where the semicolon between statements is left out: a new statement is recognised by its first word.

A word begins a statement when it stands first on its line, outside brackets and CASE, and what is before it is
complete: UPDATE does not follow THEN, SET does not follow UPDATE, SELECT does not follow INSERT, UNION or AS.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.split import Piece
from headwater.text import Source

_ALWAYS = frozenset(
    {
        *("CREATE", "DROP", "TRUNCATE", "DECLARE", "EXEC", "EXECUTE", "PRINT", "MERGE"),
        *("GO", "IF", "WHILE", "BEGIN", "ELSE", "END"),
    }
)
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "ALTER"})
_OPENS = frozenset({TokenType.L_PAREN, TokenType.CASE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.END})
_UNFINISHED = frozenset(
    {"THEN", "UNION", "ALL", "EXCEPT", "INTERSECT", "AS", "BEGIN", "ELSE", "OR", "AND", "AFTER", "OF", ","}
)


def split_batches(pieces: Iterable[Piece], source: Source) -> Iterator[Piece]:
    """The same pieces, those that hold several statements cut apart."""
    for piece in pieces:
        cuts = [0, *_beginnings(piece.tokens), len(piece.tokens)]
        if len(cuts) == 2:
            yield piece
            continue
        for start, end in itertools.pairwise(cuts):
            tokens = piece.tokens[start:end]
            if tokens and not (len(tokens) == 1 and tokens[0].text.upper() == "GO"):
                span = source.span(piece.offset + tokens[0].start, piece.offset + tokens[-1].end + 1)
                yield Piece(span, piece.text, tokens, piece.offset)


def _beginnings(tokens: Sequence[Any]) -> Iterator[int]:
    """The positions at which a statement begins, the first excepted."""
    depth = 0
    words: set[str] = {tokens[0].text.upper()} if tokens else set()
    for at in range(1, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        kind, word = token.token_type, token.text.upper()
        open_ended = token.line == before.line or before.text.upper() in _UNFINISHED
        if depth == 0 and not open_ended and _begins(word, words):
            yield at
            words = set()
        depth += (kind in _OPENS) - (kind in _CLOSES and depth > 0)
        if depth == 0:
            words.add(word)


def _begins(word: str, words: set[str]) -> bool:
    """Whether a word begins a statement after one that holds these words outside brackets."""
    if word in _ALWAYS:
        return not (word in ("IF", "EXEC", "EXECUTE") and words <= {"INSERT", "INTO"})
    if word in _WRITES:
        return "MERGE" not in words or "USING" not in words
    if word == "SET":
        return not (words & {"UPDATE", "MERGE", "ALTER"}) or "SET" in words
    if word == "SELECT":
        if words & {"INSERT"}:
            return bool(words & {"SELECT", "VALUES"})
        return "SELECT" in words or not words & {"WITH", "CREATE"}
    return word == "WITH" and bool(words & {"SELECT", "UPDATE", "DELETE", "SET", "DECLARE", "DROP", "TRUNCATE"})

"""Statements that stand inside objects which run them: tasks, pipes, alerts, events, flows.

    CREATE TASK … AS statement      CREATE PIPE … AS COPY INTO …
    CREATE EVENT … DO statement     CREATE FLOW … AS INSERT INTO …
    ALTER TASK … MODIFY AS …        CREATE ALERT … IF (EXISTS (query)) THEN statement

When they run does not matter to lineage: the statement stands in the place of the object, a block with all that is
in it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.split import Piece
from headwater.sql.tokens import word_at
from headwater.text import Source

_WORD_BEFORE = {"TASK": "AS", "PIPE": "AS", "FLOW": "AS", "EVENT": "DO", "ALERT": "THEN"}
_OTHERS = frozenset(
    {
        *("TABLE", "VIEW", "FUNCTION", "PROCEDURE", "PROC", "TRIGGER", "SCHEMA", "DATABASE", "INDEX", "ROLE", "USER"),
        *("STREAM", "STAGE", "SEQUENCE", "TYPE", "MACRO", "PACKAGE", "(", "AS"),
    }
)
_MOST_WORDS = 16  # before the kind of the object: OR REPLACE, DEFINER = `user`@`host`, IF NOT EXISTS


def unwrap(pieces: Iterable[Piece], source: Source) -> Iterator[Piece]:
    """The same statements, those inside objects that run them in the place of these."""
    for piece in pieces:
        inside = _inside(piece.tokens) if word_at(piece.tokens, 0) in ("CREATE", "ALTER") else ()
        if not inside:
            yield piece
        for tokens in inside:
            yield piece.cut(tokens, source)


def _inside(tokens: Sequence[Any]) -> tuple[Sequence[Any], ...]:
    """The tokens of the statements inside an object; none when it is no such object."""
    kind, at = _kind(tokens)
    if kind is None:
        return ()
    begin = _after(tokens, at, _WORD_BEFORE[kind])
    if begin is None or begin >= len(tokens):
        return ()
    if kind == "FLOW" and word_at(tokens, begin) not in ("INSERT", "WITH"):  # AUTO CDC INTO: one statement
        return ()
    if kind != "ALERT":
        return (tokens[begin:],)
    query = _condition(tokens, at)
    return (query, tokens[begin:]) if query else (tokens[begin:],)


def _kind(tokens: Sequence[Any]) -> tuple[str | None, int]:
    for at in range(1, min(len(tokens), _MOST_WORDS)):
        word = word_at(tokens, at)
        if word in _WORD_BEFORE:
            return word, at
        if word in _OTHERS:
            break
    return None, 0


def _after(tokens: Sequence[Any], at: int, word: str) -> int | None:
    """The place behind a word outside brackets; `EXECUTE AS` says who runs it."""
    depth = 0
    for here in range(at + 1, len(tokens)):
        kind = tokens[here].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and word_at(tokens, here) == word and word_at(tokens, here - 1) != "EXECUTE":
            return here + 1
    return None


def _condition(tokens: Sequence[Any], at: int) -> Sequence[Any]:
    """The query in `IF (EXISTS (query)) THEN`."""
    for here in range(at, len(tokens) - 3):
        if [word_at(tokens, here + step) for step in range(4)] == ["IF", "(", "EXISTS", "("]:
            end = next(place for place in range(len(tokens) - 1, here, -1) if word_at(tokens, place) == "THEN")
            return tokens[here + 4 : end - 2]
    return ()

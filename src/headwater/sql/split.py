"""A script cut into statements, so that one that cannot be read does not take the others with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType

from headwater.sql.dialects import sqlglot_dialect
from headwater.text import Source, Span


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement: its tokens, whose positions count from `offset`, or why it has none."""

    span: Span
    text: str
    tokens: tuple[Any, ...]
    offset: int = 0
    problem: str | None = None
    conditional: bool = False  # inside a branch or a loop
    names: frozenset[str] = frozenset()  # parameters and declared variables around it, in lower case
    record: str | None = None  # the variable that takes the rows of this query, one after another
    condition_of: str | None = None  # IF, WHILE: it stands for the condition of such a statement


def split_statements(source: Source, dialect: str) -> Iterator[Piece]:
    """The statements of a script, in order. Text that cannot be cut into tokens is cut at its semicolons instead."""
    if len(source.text) > _LONG:
        yield from _split_long(source, dialect)
        return
    tokens = _tokens(source.text, dialect)
    if tokens is None:
        yield from _split_roughly(source, dialect, 0, len(source.text))
    else:
        yield from _pieces(source, source.text, tokens, 0)


def _split_long(source: Source, dialect: str) -> Iterator[Piece]:
    """A long script, a part at a time: its tokens take fifty times the room of its text.

    A part ends at a semicolon that is outside quotes as far as a glance can tell. Where the glance was wrong, the
    part has no tokens, and is read together with the next.
    """
    begin = 0
    ends = [at + 1 for at in _semicolons(source.text, 0, len(source.text))]
    for end in (*ends, len(source.text)):
        last = end == len(source.text)
        if end - begin < _PART and not last:
            continue
        text = source.text[begin:end]
        tokens = _tokens(text, dialect)
        if tokens is not None:
            yield from _pieces(source, text, tokens, begin)
        elif last or end - begin > 4 * _PART:
            yield from _split_roughly(source, dialect, begin, end)
        else:
            continue
        begin = end


def split_inner(source: Source, dialect: str, *, start: int, end: int, quoted: bool = False) -> Iterator[Piece]:
    """The statements inside a part of the text: a body, or (`quoted`) the query in the quotes of an UNLOAD."""
    text = source.text[start:end]
    if quoted:  # '' stands for ' here; the length stays, so positions do
        text = text.replace("''", " '")
    tokens = _tokens(text, dialect)
    if tokens is not None:
        yield from _pieces(source, text, tokens, start)


def _tokens(text: str, dialect: str) -> list[Any] | None:
    try:
        tokens: list[Any] = sqlglot_dialect(dialect).tokenize(text)
    except Exception:  # the tokenizer fails in several ways on what is not SQL
        return None
    return tokens


def _pieces(source: Source, text: str, tokens: list[Any], offset: int) -> Iterator[Piece]:
    begin = 0
    ends = [at for at, token in enumerate(tokens) if token.token_type is TokenType.SEMICOLON]
    for at in ends:
        if at > begin:
            yield _piece(source, text, tokens[begin:at], offset)
        begin = at + 1
    if begin < len(tokens):
        yield _piece(source, text, tokens[begin:], offset)


def _piece(source: Source, text: str, tokens: list[Any], offset: int) -> Piece:
    span = source.span(offset + tokens[0].start, offset + tokens[-1].end + 1)
    return Piece(span, text, tuple(tokens), offset)


_LONG = 2_000_000
_PART = 250_000
_ROUGH = re.compile(r"(\$\w*\$).*?\1|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|;", re.DOTALL)


def _semicolons(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _ROUGH.finditer(text, start, end) if match.group() == ";")


def _split_roughly(source: Source, dialect: str, start: int, stop: int) -> Iterator[Piece]:
    begin = start
    for end in (*_semicolons(source.text, start, stop), stop):
        text = source.text[begin:end]
        if text.strip():
            tokens = _tokens(text, dialect)
            if tokens is None:
                span = source.span(begin + len(text) - len(text.lstrip()), end)
                yield Piece(
                    span, text, (), begin, "a quote or a comment is opened and not closed, or a sign is not SQL"
                )
            elif tokens:
                yield _piece(source, text, tokens, begin)
        begin = end + 1


def parse_piece(statement: Piece, dialect: str) -> Any:
    """sqlglot's tree of one statement.

    RAISES: ParseError and other errors of sqlglot.
    """
    if not statement.tokens:
        return None
    trees = sqlglot_dialect(dialect).parser().parse(list(statement.tokens), statement.text)
    return next((tree for tree in trees if tree is not None), None)

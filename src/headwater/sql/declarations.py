"""The declarations of procedural code: variables, cursors, handlers."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.control_flow import STATEMENTS
from headwater.sql.cursors import CursorDeclaration, read_cursor
from headwater.sql.dialects import MYSQL
from headwater.sql.routines import Code
from headwater.sql.split import Piece, split_inner
from headwater.sql.tokens import token_like, word_at
from headwater.text import Source

_HANDLING = STATEMENTS | {"LEAVE", "ROLLBACK", "COMMIT", "RESIGNAL", "EXIT"}
_DECLARING_IN_CODE = MYSQL | {"teradata"}  # DECLARE a, b INT DEFAULT 1
_OPENING_CURSORS = frozenset({"DECLARE", "LET", "OPEN", "SET"})


def read_statement(piece: Piece, source: Source, dialect: str, code: Code) -> Iterator[Piece]:
    """A statement without control words around it; one about a cursor is the cursor's query, or what it executes."""
    first = word_at(piece.tokens, 0)
    if first not in _OPENING_CURSORS:
        yield piece
        return
    piece = read_command(piece, dialect)
    cursor = read_cursor(piece.tokens)
    if cursor is not None:
        yield _cut_cursor(piece, cursor, source, code)
    elif first == "OPEN":
        if word_at(piece.tokens, 2) == "FOR" and len(piece.tokens) > 3:  # OPEN c FOR text, OPEN c FOR EXECUTE text
            name = piece.tokens[1].text.lower()
            executes = piece.tokens[3:]
            if word_at(executes, 0) != "EXECUTE":
                head = (token_like(executes[0], TokenType.VAR, word) for word in ("EXECUTE", "IMMEDIATE"))
                executes = (*head, *executes)
            yield dataclasses.replace(piece.cut(piece.tokens[3:], source), tokens=executes, record=name, cursor=name)
    elif first == "DECLARE" and dialect in _DECLARING_IN_CODE:
        yield from _declared_in_code(piece, source, code)
    else:
        yield piece


def read_declaration(piece: Piece, tokens: Sequence[Any], source: Source, code: Code) -> Iterator[Piece]:
    """A line of a DECLARE section: what its variable is given, or the query of its cursor."""
    at = 1 if word_at(tokens, 0) in ("CURSOR", "DECLARE") else 0
    if at >= len(tokens):
        return
    cursor = read_cursor(tokens)
    if cursor is not None:
        yield _cut_cursor(piece, cursor, source, code)
        return
    code.declare([tokens[at].text.lower()])
    given = _given_value(tokens)
    if given:
        gives = token_like(tokens[0], TokenType.COLON_EQ, ":=")
        yield dataclasses.replace(piece.cut(tokens, source), tokens=(tokens[0], gives, *given))


def _given_value(tokens: Sequence[Any]) -> Sequence[Any]:
    """The value that a line of a DECLARE section gives its variable: behind `:=`, DEFAULT or `=`; empty for none."""
    depth = 0
    for at, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0 and at and (kind in (TokenType.COLON_EQ, TokenType.EQ) or token.text.upper() == "DEFAULT"):
            return tokens[at + 1 :]
    return ()


def _declared_in_code(piece: Piece, source: Source, code: Code) -> Iterator[Piece]:
    """`DECLARE a, b INT DEFAULT 1`, or the statement of `DECLARE CONTINUE HANDLER FOR … statement`."""
    tokens = piece.tokens
    words = [word_at(tokens, at) for at in range(len(tokens))]
    if "HANDLER" in words[:4]:
        at = next((at for at, word in enumerate(words) if at > 2 and word in _HANDLING), len(tokens))
        if words[at : at + 1] == ["BEGIN"]:
            at += 1
        if at < len(tokens):
            yield dataclasses.replace(piece.cut(tokens[at:], source), conditional=True)
        return
    at = 1
    while words[at + 1 : at + 2] == [","]:
        at += 2
    names = [str(token.text).lower() for token in tokens[1 : at + 1 : 2]]
    code.declare(names)
    given = _given_value(tokens)
    gives = token_like(tokens[0], TokenType.COLON_EQ, ":=")
    for name in tokens[1 : at + 1 : 2] if given else ():
        yield dataclasses.replace(piece, tokens=(name, gives, *given))


def _cut_cursor(piece: Piece, cursor: CursorDeclaration, source: Source, code: Code) -> Piece:
    """The query of a cursor as a statement of its own."""
    code.declare([cursor.name])
    code.declare(cursor.parameters, given=True)
    return dataclasses.replace(piece.cut(cursor.query, source), record=cursor.name, cursor=cursor.name)


def read_command(piece: Piece, dialect: str) -> Piece:
    """A piece whose first word made the tokenizer keep the rest as text: with the rest as tokens."""
    if not _is_swallowed(piece):
        return piece
    head = piece.tokens[0]
    begin, end = head.start, piece.tokens[-1].end + 1
    blank = " " * (head.end + 1 - begin)
    text = blank + piece.text[head.end + 1 : end]
    rest = list(split_inner(Source(text), dialect, start=0, end=len(text)))
    if len(rest) != 1:
        return piece
    first = type(head)(head.token_type, head.text, head.line, head.col, 0, head.end - begin)
    tokens = (first, *rest[0].tokens)
    return dataclasses.replace(piece, text=piece.text[begin:end], tokens=tokens, offset=piece.offset + begin)


def _is_swallowed(piece: Piece) -> bool:
    """Return whether the tokenizer took the first word for a command and kept the rest of the piece as one string."""
    if len(piece.tokens) != 2 or piece.tokens[1].token_type is not TokenType.STRING:
        return False
    head, rest = piece.tokens
    return (
        head.token_type is TokenType.COMMAND or piece.text[head.end + 1 : rest.end + 1].strip() == rest.text.strip()
    )

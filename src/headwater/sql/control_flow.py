"""What the control words of procedural code declare and read: variables, conditions, loops over queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType

from headwater.sql.tokens import token_like, word_at

_ROUTINES = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "PACKAGE"})
TRANSACTION = frozenset({"TRANSACTION", "TRAN", "WORK", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"})
_OPENING = frozenset({"BEGIN", "ELSE", "LOOP", "THEN"})
_TESTING = {"IF": "IF", "ELSEIF": "IF", "ELSIF": "IF", "WHILE": "WHILE"}
HEAD_ENDS = frozenset({"THEN", "DO", "LOOP"})
STATEMENTS = frozenset(
    {
        *("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "WITH", "COPY"),
        *("BEGIN", "SET", "EXEC", "EXECUTE", "CALL", "DECLARE", "IF", "WHILE", "LOOP", "RETURN", "REPLACE"),
    }
)
"""Words that begin a statement of procedural code."""

_AFTER_CONDITION = STATEMENTS - {"IF", "SET"}
_FUNCTIONS = frozenset({"UPDATE", "REPLACE", "TRUNCATE", "INSERT"})  # with brackets: UPDATE(column) in a trigger


@dataclass(frozen=True, slots=True)
class Head:
    """A part of a control word's line that reads tables: a condition, or the query of a loop and its variable."""

    tokens: Sequence[Any]
    record: str | None = None
    condition_of: str | None = None


def routine_at(tokens: Sequence[Any]) -> int | None:
    """The place of the word PROCEDURE, FUNCTION, TRIGGER … in the header of a routine; None when a piece has none."""
    if word_at(tokens, 0) not in ("CREATE", "ALTER", "REPLACE"):
        return None
    at = 1
    for _ in range(5):
        word = word_at(tokens, at)
        if word in _ROUTINES or word == "(":
            return at if word in _ROUTINES else None
        if word == "DEFINER":  # MySQL: DEFINER = 'user'@'host', DEFINER = CURRENT_USER()
            at += 2
            at += 2 if word_at(tokens, at + 1) in ("@", "(") else 0
        at += 1
    return None


def is_routine(tokens: Sequence[Any]) -> bool:
    """Return whether a piece begins with the header of a procedure, function, trigger or package."""
    return routine_at(tokens) is not None


def label_size(tokens: Sequence[Any]) -> int:
    """How many tokens the label `<<name>>` before a block or loop takes; 0 when there is none."""
    words = [str(token.text) for token in tokens[:5]]
    if words[:1] == ["<<"] and words[2:3] == [">>"]:
        return 3
    return 5 if words[:2] == ["<", "<"] and words[3:] == [">", ">"] else 0


def read_heads(tokens: Sequence[Any], *, every: bool) -> Iterator[Head]:
    """The conditions and loop queries that stand before the first statement of a piece, in order.
    Unless `every` is asked for, only conditions with a query in them: outside GoogleSQL many are no expressions."""
    if is_routine(tokens):
        at = next((at for at, token in enumerate(tokens) if token.text.upper() == "BEGIN"), len(tokens))
        tokens = tokens[at:]
    while tokens:
        word = tokens[0].text.upper()
        if word in _OPENING:
            tokens = tokens[1:]
        elif (size := label_size(tokens)) > 0:
            tokens = tokens[size:]
        elif word in _TESTING:
            end = head_end(tokens)
            if end > 1 and (every or any(token.token_type is TokenType.SELECT for token in tokens[1:end])):
                yield Head(tokens[1:end], condition_of=_TESTING[word])
            tokens = tokens[end:]
        elif word == "FOR" and len(tokens) > 3 and tokens[2].text.upper() == "IN":
            end = head_end(tokens)
            query = tokens[3:end]
            reads = any(token.token_type in (TokenType.SELECT, TokenType.WITH) for token in query[:2])
            if reads or word_at(query, 0) == "EXECUTE":
                yield Head(query, record=tokens[1].text.lower())
            elif query and query[0].token_type is TokenType.VAR and word_at(query, 1) in ("", "("):
                gives = token_like(tokens[1], TokenType.COLON_EQ, ":=")  # FOR r IN c: a row of the cursor
                yield Head((tokens[1], gives, query[0]))
            tokens = tokens[end:]
        else:
            return


def head_end(tokens: Sequence[Any]) -> int:
    """Where the condition of IF and WHILE, or the query of FOR, ends: at THEN, DO, LOOP or (T-SQL) a statement."""
    depth = 0
    over_query = tokens[0].text.upper() == "FOR"
    for at, token in enumerate(tokens[1:], start=1):
        kind = token.token_type
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            depth += 1
        elif kind in (TokenType.R_PAREN, TokenType.END):
            depth -= 1
        elif depth == 0:
            word = word_at(tokens, at)
            if word in HEAD_ENDS:
                return at
            named = tokens[at - 1].token_type is TokenType.PARAMETER  # @execute
            called = word in _FUNCTIONS and word_at(tokens, at + 1) == "("
            if word in _AFTER_CONDITION and not over_query and not named and not called:
                return at
    return len(tokens)

"""The control words of procedural code, the conditions and queries in them, and the headers of routines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType

from headwater.sql.tokens import group_end, word_at

_ROUTINES = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "PACKAGE"})
TRANSACTION = frozenset({"TRANSACTION", "TRAN", "WORK", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"})
_LABELLED = frozenset({"BEGIN", "LOOP", "WHILE", "FOR", "FOREACH", "REPEAT", "DECLARE"})
_DECIDING = frozenset({"IF", "ELSEIF", "ELSIF", "WHEN", "WHILE", "FOR", "FOREACH", "UNTIL"})
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
    """A control word before a statement, and its tokens: with the condition of an IF, the query of a loop."""

    word: str
    tokens: Sequence[Any]


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
    """Return how many tokens the label `<<name>>` or `name:` before a block or loop takes; 0 when there is none."""
    words = [str(token.text) for token in tokens[:5]]
    if words[1:2] == [":"] and word_at(tokens, 2) in _LABELLED:
        return 2
    if words[:1] == ["<<"] and words[2:3] == [">>"]:
        return 3
    return 5 if words[:2] == ["<", "<"] and words[3:] == [">", ">"] else 0


def read_control(tokens: Sequence[Any]) -> tuple[list[Head], Sequence[Any]]:
    """The control words before the first statement of a piece, and the piece without them.
    Of a routine, those of its body."""
    heads: list[Head] = []
    if is_routine(tokens) or word_at(tokens, 0) in ("FUNCTION", "PROCEDURE"):
        at = next((at for at, token in enumerate(tokens) if token.text.upper() == "BEGIN"), len(tokens))
        tokens = tokens[at:]
    while tokens:
        first, second = word_at(tokens, 0), word_at(tokens, 1)
        end = label_size(tokens)
        if end:
            tokens = tokens[end:]
            continue
        if first == "BEGIN" and second not in TRANSACTION:
            end = 3 if second == "NOT" else 2 if second in ("TRY", "CATCH", "ATOMIC") else 1
            if second == "ATOMIC" and word_at(tokens, 2) == "WITH":
                end = group_end(tokens, 3) or len(tokens)
        elif first in ("ELSE", "LOOP", "EXCEPTION") or (first == "REPEAT" and second != "("):
            end = 1
        elif first == "CASE":
            end = next((at for at in range(len(tokens)) if word_at(tokens, at) == "WHEN"), len(tokens))
        elif first in _DECIDING:
            end = head_end(tokens)
        else:
            break
        heads.append(Head(first, tokens[:end]))
        tokens = tokens[end + (first in _DECIDING and word_at(tokens, end) in HEAD_ENDS) :]
    return heads, tokens


def head_end(tokens: Sequence[Any]) -> int:
    """Return where the condition of IF and WHILE, or the query of FOR, ends: at THEN, DO, LOOP or (T-SQL) a
    statement."""
    depth = 0
    over_query = tokens[0].text.upper() in ("FOR", "FOREACH")
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

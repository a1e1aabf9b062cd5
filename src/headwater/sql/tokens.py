"""Words and names among the tokens of a statement."""

from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType

_NOT_NAMES = frozenset(
    {
        *("SELECT", "SET", "VALUES", "WHERE", "ON", "AS", "WITH", "FROM", "DEFAULT", "UNNEST", "NOWAIT", "STDIN"),
        *("STDOUT", "OF", "SKIP", "GROUP", "ORDER", "INSERT", "UPDATE", "DELETE", "MERGE", "JOIN", "USING", "THEN"),
        *("LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER", "LIMIT", "UNION", "HAVING", "WHEN", "NULL"),
        *("OR", "IGNORE", "REPLACE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "DIRECTORY"),
    }
)
_NO_NAMES = frozenset({TokenType.STRING, TokenType.NUMBER, TokenType.NATIONAL_STRING, TokenType.HEREDOC_STRING})


def read_name(tokens: Sequence[Any], at: int) -> tuple[list[str], int]:
    """The parts of the name that begins at a token, and where it ends."""
    parts: list[str] = []
    while at < len(tokens):
        sign = ""
        while word_at(tokens, at) in ("#", "@"):
            sign += tokens[at].text
            at += 1
        if at >= len(tokens) or tokens[at].token_type in _NO_NAMES or word_at(tokens, at) in _NOT_NAMES:
            break
        if tokens[at].token_type is not TokenType.IDENTIFIER and not tokens[at].text.replace("$", "_").isidentifier():
            break
        parts.append(sign + tokens[at].text)
        at += 1
        if word_at(tokens, at) != ".":
            break
        at += 1
    return parts, at


def word_at(tokens: Sequence[Any], at: int) -> str:
    """A token in upper case, unless it is quoted."""
    if not 0 <= at < len(tokens) or tokens[at].token_type is TokenType.IDENTIFIER:
        return ""
    return "" if tokens[at].token_type in _NO_NAMES else str(tokens[at].text).upper()

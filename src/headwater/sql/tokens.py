"""Reading tokens: names, lists, brackets."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import TokenType

CLOSED_BY = {TokenType.L_PAREN: TokenType.R_PAREN, TokenType.L_BRACE: TokenType.R_BRACE}
_OPENS = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_NOT_NAMES = frozenset(
    {
        *("SELECT", "SET", "VALUES", "WHERE", "ON", "AS", "WITH", "FROM", "DEFAULT", "UNNEST", "NOWAIT", "STDIN"),
        *("STDOUT", "OF", "SKIP", "GROUP", "ORDER", "INSERT", "UPDATE", "DELETE", "MERGE", "JOIN", "USING", "THEN"),
        *("LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "OUTER", "LIMIT", "UNION", "HAVING", "WHEN", "NULL"),
        *("OR", "IGNORE", "REPLACE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "DIRECTORY"),
    }
)
STRINGS = frozenset({TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING})
_QUOTED = STRINGS | {TokenType.IDENTIFIER}


def group_end(tokens: Sequence[Any], at: int) -> int | None:
    """Return the place behind the bracket that closes one; None when it is not closed."""
    opens = tokens[at].token_type
    closes, depth = CLOSED_BY.get(opens), 0
    for index in range(at, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is opens) - (kind is closes)
        if depth == 0:
            return index + 1
    return None


def cut_list(tokens: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The parts of a list, cut at the commas outside brackets."""
    depth, begin = 0, 0
    for at, token in enumerate(tokens):
        kind = token.token_type
        depth += (kind in _OPENS) - (kind in _CLOSES)
        if kind is TokenType.COMMA and depth == 0:
            yield tokens[begin:at]
            begin = at + 1
    if begin < len(tokens):
        yield tokens[begin:]


def read_name(tokens: Sequence[Any], at: int) -> tuple[list[str], int]:
    """The parts of the name that begins at a token, and where it ends."""
    parts: list[str] = []
    while at < len(tokens):
        sign = ""
        while word_at(tokens, at) in ("#", "@"):
            sign += tokens[at].text
            at += 1
        if at >= len(tokens) or tokens[at].token_type in STRINGS or word_at(tokens, at) in _NOT_NAMES:
            break
        word = tokens[at].text.replace("${", "_").replace("}", "_")
        if (
            tokens[at].token_type is not TokenType.IDENTIFIER
            and not word.replace("$", "_" if word != "$" else "").isidentifier()
        ):
            break
        parts.append(sign + tokens[at].text)
        at += 1
        if word_at(tokens, at) != ".":
            break
        at += 1
    return parts, at


def word_at(tokens: Sequence[Any], at: int) -> str:
    """A token in upper case; nothing for one that is in quotes, and where there is none."""
    if not 0 <= at < len(tokens) or tokens[at].token_type in _QUOTED:
        return ""
    return str(tokens[at].text).upper()


def token_like(token: Any, kind: TokenType, text: str) -> Any:
    """A token of another kind in the place of one."""
    return type(token)(kind, text, token.line, token.col, token.start, token.end)


def as_query(tokens: Sequence[Any]) -> tuple[Any, ...]:
    """An expression as a query of one row."""
    return (token_like(tokens[0], TokenType.SELECT, "SELECT"), *tokens)

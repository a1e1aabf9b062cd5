"""The names of dialects: those sqlglot parses, with the other names people have for them."""

from functools import cache
from typing import Any

from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect, Dialects

from headwater.errors import DialectError
from headwater.text import nearest

_OTHER_NAMES = {
    "postgresql": "postgres",
    "pg": "postgres",
    "greenplum": "postgres",
    "cockroachdb": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "synapse": "tsql",
    "sparksql": "spark",
    "spark_sql": "spark",
    "mariadb": "mysql",
    "googlesql": "bigquery",
    "zetasql": "bigquery",
    "ansi": "",
    "generic": "",
    "sql": "",
    "prestodb": "presto",
    "impala": "hive",
}


@cache
def dialect_names() -> tuple[str, ...]:
    """Every dialect that can be asked for by its own name."""
    return tuple(sorted(each.value for each in Dialects if each.value))


def canonical_dialect(name: str | None) -> str:
    """The name under which a dialect is known here; the generic one is the empty name.

    >>> canonical_dialect("PostgreSQL"), canonical_dialect(None)
    ('postgres', '')

    RAISES: DialectError with the nearest name when there is none.
    """
    wanted = (name or "").strip().lower()
    wanted = _OTHER_NAMES.get(wanted, wanted)
    if wanted and wanted not in dialect_names():
        close = nearest(wanted, (*dialect_names(), *_OTHER_NAMES))
        hint = f"did you mean `{close}`?" if close else f"dialects: {', '.join(dialect_names())}"
        raise DialectError(f"there is no dialect `{name}`", hint=hint)
    return wanted


@cache
def sqlglot_dialect(name: str) -> Any:
    """sqlglot's object for a canonical dialect name."""
    return Dialect.get_or_raise(name or None)


MYSQL = frozenset({"mysql", "singlestore", "doris", "starrocks"})
MICROSOFT = frozenset({"tsql", "fabric"})
"""The dialects of T-SQL. A command is cut into tokens there, too: statements follow it without a semicolon."""


def tokenize(text: str, dialect: str) -> list[Any]:
    """The tokens of a text. sqlglot keeps what follows a command, up to a semicolon, as one string.

    `0x` is a constant without bytes, which sqlglot takes for a name.
    RAISES: TokenError and other errors of sqlglot.
    """
    tokens: list[Any]
    tokens = tokenize_commands(text, dialect) if dialect in MICROSOFT else sqlglot_dialect(dialect).tokenize(text)
    for at, token in enumerate(tokens) if "0x" in text else ():
        if token.text == "0x" and token.token_type is TokenType.IDENTIFIER and token.end == token.start + 1:
            tokens[at] = type(token)(TokenType.HEX_STRING, "", token.line, token.col, token.start, token.end)
    if dialect in MICROSOFT and "::" in text:  # geography::Point(a, b, c) is a call
        words = ["", *(token.text.upper() for token in tokens), "", "", ""]
        called = [words[at] != "FROM" and words[at + 1 : at + 4 : 2] == ["::", "("] for at in range(len(tokens) + 1)]
        tokens = [token for at, token in enumerate(tokens) if not (called[at] or called[at + 1])]
    return _without_streams(tokens) if dialect == "spark" and "stream" in text.lower() else tokens


_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.L_PAREN})


def _without_streams(tokens: list[Any]) -> list[Any]:
    """`FROM STREAM t` and `FROM STREAM(t)` as Spark reads them: rows of `t`, not of a table called `stream`."""
    kept = []
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None]):
        is_read = before is not None and before.token_type in (TokenType.FROM, TokenType.JOIN)
        is_word = token.token_type is TokenType.VAR and token.text.upper() == "STREAM"
        if not (is_read and is_word and after is not None and after.token_type in _NAMES):
            kept.append(token)
    return kept


def tokenize_commands(text: str, dialect: str) -> list[Any]:
    """The tokens of a text, commands cut into tokens in every dialect.

    RAISES: TokenError and other errors of sqlglot.
    """
    tokens: list[Any] = _without_commands(dialect)(dialect=sqlglot_dialect(dialect)).tokenize(text)
    return tokens


@cache
def _without_commands(dialect: str) -> Any:
    """The tokenizer class of a dialect that knows no commands. An instance keeps state: threads do not share one."""
    return type("Tokenizer", (sqlglot_dialect(dialect).tokenizer_class,), {"COMMANDS": set()})

"""From text to statements.
The language is DuckDB's, with the clauses of a lake added (`docs/reference/sql.md`). sqlglot parses; the time travel
clauses are taken out of the tokens first, so that they mean the same wherever a table may stand, and every other
position stays what it was in the text."""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError

from headwater.errors import SqlError
from headwater.query.statements import unknown_statement
from headwater.sql.split import Piece, parse_piece, split_statements
from headwater.text import Source, Span

DIALECT = "duckdb"
Node = Any


@dataclass(frozen=True, slots=True)
class TimeTravel:
    """A time travel clause: where it stands, and the moment it names."""

    start: int
    end: int
    at: int | str | datetime.datetime


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """One statement of a text. Positions in `tree` and `tokens` are positions in the text of the source."""

    source: Source
    span: Span
    tree: Node
    tokens: tuple[Any, ...]
    versions: tuple[TimeTravel, ...] = ()
    explain: str | None = None  # "explain" or "analyze"

    @property
    def text(self) -> str:
        return self.source.excerpt(self.span)

    def place(self, node: Node) -> Span:
        """Return where a node of the tree stands, the whole statement if that cannot be told."""
        return span_of(node, self.source) or self.span

    def error(self, message: str, at: Node | Span | None = None, hint: str | None = None) -> SqlError:
        """An error that points into the statement."""
        span = at if isinstance(at, Span) else self.span if at is None else self.place(at)
        return SqlError(message, hint=hint, span=span, source=self.source)


def parse_statements(source: Source) -> Iterator[SqlStatement]:
    """The statements of a text, each parsed when it is asked for, so that those before it have been done.
    RAISES: SqlError at the place that cannot be read."""
    for piece in split_statements(source, DIALECT):
        yield _parse(piece, source)


_EXPLAIN = re.compile(r"explain(\s+analyze)?\b", re.IGNORECASE)


def _parse(piece: Piece, source: Source) -> SqlStatement:
    if piece.problem is not None:
        raise SqlError(piece.problem, span=piece.span, source=source)
    text = source.excerpt(piece.span)
    match = _EXPLAIN.match(text)
    if match is None:
        return _parsed(piece, source)
    blank = source.text[: piece.span.start] + " " * match.end() + text[match.end() :]
    inner = list(split_statements(Source(blank, source.name), DIALECT))
    if not inner or inner[-1].span.start < piece.span.start:
        raise SqlError("EXPLAIN what?", span=piece.span, source=source)
    parsed = _parsed(inner[-1], source)
    return SqlStatement(
        source, parsed.span, parsed.tree, parsed.tokens, parsed.versions, "analyze" if match[1] else "explain"
    )


_OWN = {
    "SHOW": re.compile(r"show\b", re.IGNORECASE),
    "ALTER": re.compile(r"alter\s+(table\s+\S+\s+(create|drop)\s+tag|materialized\s+view)\b", re.IGNORECASE),
    "REFRESH": re.compile(r"refresh\s+materialized\b", re.IGNORECASE),
}


def _parsed(piece: Piece, source: Source) -> SqlStatement:
    if piece.offset:  # a part of a very long script
        source = Source(piece.text, source.name)
        piece = Piece(source.span(piece.tokens[0].start, piece.tokens[-1].end + 1), piece.text, piece.tokens)
    tokens, versions = _without_versions(list(_without_colons(piece.tokens)), piece, source)
    text = source.excerpt(piece.span)
    for word in _OWN:  # small languages of their own, read where they are carried out
        if _OWN[word].match(text):
            command = exp.Command(this=word, expression=text[len(word) :])
            return SqlStatement(source, piece.span, command, tuple(tokens))
    try:
        tree = parse_piece(Piece(piece.span, piece.text, tuple(tokens), piece.offset), DIALECT)
    except ParseError as err:
        raise unknown_statement(tokens, source) or _syntax_error(err, piece, source) from err
    except Exception as err:
        why = "it is nested too deeply" if isinstance(err, RecursionError) else str(err).split("\n")[0]
        raise SqlError(f"the statement cannot be read: {why}", span=piece.span, source=source) from err
    if tree is None or (isinstance(tree, exp.Condition | exp.Alias) and not isinstance(tree, exp.Query)):
        no_statement = SqlError("this is not a statement", span=piece.span, source=source)
        raise unknown_statement(tokens, source) or no_statement
    return SqlStatement(source, piece.span, tree, tuple(tokens), versions)


def _syntax_error(err: ParseError, piece: Piece, source: Source) -> SqlError:
    first = err.errors[0] if err.errors else {}
    message = (first.get("description") or str(err)).rstrip(". ").split("\n")[0]
    if "line" not in first:
        return SqlError(message, span=piece.span, source=source)
    wanted = first.get("highlight") or ""
    line, column = first["line"], first["col"]
    span = source.span_at(line, column - len(wanted) + 1, max(1, len(wanted)))
    if "Invalid expression" in message or "Unexpected token" in message or "<Token" in message:
        message = f"`{wanted}` was not expected here"
    return SqlError(message, span=span, source=source)


def query_start(statement: SqlStatement) -> int:
    """Return where the query in a CREATE or INSERT begins: at the first SELECT, WITH, VALUES or FROM outside
    parentheses. A query in parentheses begins at the last one that opens before it."""
    depth, opened, before = 0, -1, ""
    words = {"SELECT", "WITH", "VALUES", "FROM", "TABLE", "PIVOT", "UNPIVOT"}
    after = False
    opening = "INSERT" if isinstance(statement.tree, exp.Insert) else "AS"
    for token in statement.tokens:
        kind, word = token.token_type.name, str(token.text).upper()
        if kind == "L_PAREN":
            opened = token.start if depth == 0 else opened
            depth += 1
        elif kind == "R_PAREN":
            depth -= 1
        elif word == opening and kind != "STRING" and depth == 0:
            after = True
        elif word in words and kind not in ("STRING", "IDENTIFIER") and after:
            if depth == 0 and (word != "TABLE" or before not in ("INSERT", "INTO", "OVERWRITE")):
                return int(token.start)
            if depth and word in ("SELECT", "FROM", "VALUES", "WITH"):
                return opened
        before = word
    return statement.span.start


def quoted(name: str) -> str:
    """An identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'


def span_of(node: Node, source: Source) -> Span | None:
    """Return where a node stands: from the first to the last name in it."""
    found = [
        (each.meta["start"], each.meta["end"])
        for each in node.walk()
        if "start" in each.meta and each.meta.get("end") is not None
    ]
    if not found:
        return None
    return source.span(min(start for start, _ in found), max(end for _, end in found) + 1)


def _without_colons(tokens: Sequence[Any]) -> Iterator[Any]:
    """The tokens without the colons of `STRUCT<a: INT>`, which sqlglot does not read in this dialect."""
    open_types: list[str] = []
    before = ""
    for token in tokens:
        kind = token.token_type.name
        if kind == "LT" and before in ("STRUCT", "ARRAY", "LIST", "MAP"):
            open_types.append(before)
        elif kind == "GT" and open_types:
            open_types.pop()
        if kind != "COLON" or not open_types or open_types[-1] != "STRUCT":
            yield token
        before = kind


# ---------------------------------------------------------------------------------------------- time travel

_WORDS = {"VERSION", "TIMESTAMP", "SYSTEM_TIME", "SYSTEM_VERSION"}


def _without_versions(tokens: list[Any], piece: Piece, source: Source) -> tuple[list[Any], tuple[TimeTravel, ...]]:
    """The tokens without `[FOR] VERSION | TIMESTAMP AS OF …`, and what those clauses say."""
    kept: list[Any] = []
    versions: list[TimeTravel] = []
    at = 0
    while at < len(tokens):
        begin = at + 1 if _word(tokens, at) == "FOR" else at
        words = [_word(tokens, begin + step) for step in range(3)]
        if kept and words[0] in _WORDS and words[1:] == ["AS", "OF"]:
            end, moment = _moment(tokens, begin + 3, words[0] or "", piece, source)
            versions.append(TimeTravel(piece.offset + tokens[at].start, piece.offset + tokens[end].end + 1, moment))
            at = end + 1
        else:
            kept.append(tokens[at])
            at += 1
    return kept, tuple(versions)


def _moment(
    tokens: list[Any], at: int, word: str, piece: Piece, source: Source
) -> tuple[int, int | str | datetime.datetime]:
    """The moment after AS OF, and the index of its last token."""
    if _word(tokens, at) in ("TIMESTAMP", "DATE", "TIMESTAMPTZ"):
        at += 1
    token = tokens[at] if at < len(tokens) else tokens[-1]
    kind = token.token_type.name
    if kind == "NUMBER" and token.text.isdigit() and word.endswith("VERSION"):
        return at, int(token.text)
    if kind == "NUMBER" and token.text.isdigit():  # milliseconds since 1970
        return at, datetime.datetime.fromtimestamp(int(token.text) / 1000, datetime.UTC)
    if kind == "STRING":
        return at, str(token.text)
    span = source.span(piece.offset + token.start, piece.offset + token.end + 1)
    raise SqlError(
        f"{word} AS OF needs a snapshot id, or a tag or time in quotes",
        hint="VERSION AS OF 3, VERSION AS OF 'release-1', TIMESTAMP AS OF '2026-11-01 09:30'",
        span=span,
        source=source,
    )


def _word(tokens: list[Any], at: int) -> str | None:
    if at >= len(tokens) or tokens[at].token_type.name in ("STRING", "IDENTIFIER"):
        return None
    return str(tokens[at].text).upper()

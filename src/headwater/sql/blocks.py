"""Procedural code: the statements inside blocks, branches, loops and bodies, without what is around them.

Every branch is entered, in the order of the text: lineage asks what may flow, not what will. Declarations and control
words are dropped; a body in quotes is cut into statements of its own.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.dialects import UNSWALLOWED
from headwater.sql.heads import Head, cursor_query, declared_name, is_routine, parameters, read_heads
from headwater.sql.routines import is_expression, is_foreign
from headwater.sql.split import Piece, split_inner
from headwater.text import Source

_STATEMENTS = frozenset(
    {
        *("SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "WITH", "COPY"),
        *("BEGIN", "SET", "EXEC", "EXECUTE", "CALL", "DECLARE", "IF", "WHILE", "LOOP", "RETURN", "REPLACE"),
    }
)
_JUMPS = (
    *("BREAK", "LEAVE", "CONTINUE", "ITERATE", "EXIT", "NULL", "RAISE", "SIGNAL"),
    *("CLOSE", "FETCH", "DEALLOCATE", "PRINT", "PERFORM", "RAISERROR", "THROW", "GOTO", "WAITFOR"),
)
_HEADS = frozenset(
    {
        *("BEGIN", "END", "IF", "ELSE", "ELSEIF", "ELSIF", "WHILE", "LOOP", "FOR", "REPEAT", "UNTIL", "EXCEPTION"),
        *(
            "DECLARE",
            "CREATE",
            "ALTER",
            "WHEN",
            "RETURN",
            "GO",
            "DO",
            "REPLACE",
            "CASE",
            "EXECUTE",
            "OPEN",
            "FORALL",
            *_JUMPS,
        ),
    }
)
_VERBS = frozenset(
    {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY"}
)
"""Words that begin no declaration: where one of them comes before BEGIN, there is no block."""

_WRITING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "EXECUTE"})
_LABELLED = frozenset({"BEGIN", "LOOP", "WHILE", "FOR", "REPEAT", "DECLARE"})
_TRANSACTION = frozenset({"TRANSACTION", "TRAN", "WORK", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"})
_BODIES = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "PACKAGE"})
_QUOTED = frozenset({TokenType.HEREDOC_STRING, TokenType.RAW_STRING})
_DECLARING = frozenset({"oracle", "snowflake", "postgres", "redshift"})  # DECLARE a …; b …; BEGIN


def enter_blocks(pieces: Iterable[Piece], source: Source, dialect: str) -> Iterator[Piece]:
    """The statements of a script, with those inside procedural code in the place of the code."""
    names: set[str] = set()
    for piece in _enter(pieces, source, dialect, names):
        yield dataclasses.replace(piece, names=frozenset(names)) if names else piece


def _enter(
    pieces: Iterable[Piece], source: Source, dialect: str, names: set[str], *, inside: bool = False
) -> Iterator[Piece]:
    """The same, of a script or `inside` a body; parameters and declared variables are added to `names`."""
    declaring = False
    depth = 0  # of branches and loops around a statement
    for piece in pieces:
        piece = _without_label(piece, source)
        first = _word(piece.tokens, 0)
        if dialect not in UNSWALLOWED:  # T-SQL has said already what is conditional
            depth = max(0, depth + _opened(piece.tokens))
        if depth:
            piece = dataclasses.replace(piece, conditional=True)
        if declaring:
            declaring = first != "BEGIN" and first not in _VERBS
        if declaring:
            yield from _declared(piece, piece.tokens, source, names)
            continue
        if first not in _HEADS:
            yield piece
            continue
        if first == "DECLARE" and dialect in _DECLARING and (inside or not _is_cursor(piece.tokens)):
            declaring = True
            piece = _read_command(piece, source, dialect) if _is_swallowed(piece) else piece
            yield from _declared(piece, piece.tokens[1:], source, names)
            continue
        names |= {
            _word(piece.tokens, at + 1).lower() for at in range(3) if _word(piece.tokens, at) in ("FOR", "FORALL")
        }
        whole = piece
        if _is_swallowed(piece):
            piece = _read_command(piece, source, dialect)
        if first == "REPLACE":
            yield _as_insert(piece) if _word(piece.tokens, 1) == "INTO" else whole
            continue
        if is_routine(piece.tokens):
            names |= parameters(piece.tokens)
        body = _quoted_body(piece)
        if body is not None:
            inner = list(split_inner(source, dialect, start=body[0], end=body[1]))
            if first == "CREATE" and is_expression(inner):  # it is lowered where the function is called
                yield whole
                continue
            yield from _enter(inner, source, dialect, names, inside=True)
            continue
        if first == "EXECUTE":
            yield whole
            continue
        yield from (_cut_head(piece, head, source) for head in read_heads(piece.tokens, every=dialect == "bigquery"))
        tokens, declaring = _unwrap(piece.tokens, dialect)
        if declaring:
            yield from _declared(piece, tokens, source, names)
        elif tokens:
            yield piece if len(tokens) == len(piece.tokens) else _cut(piece, tokens, source)


def _without_label(piece: Piece, source: Source) -> Piece:
    """A block or loop without the name before it: `name: LOOP`, `<<name>> FOR …`."""
    words = [_word(piece.tokens, at) for at in range(6)]
    if words[1] == ":" and words[2] in _LABELLED:
        return _cut(piece, piece.tokens[2:], source)
    if words[0] == "<<" and words[2] == ">>" and words[3]:
        return _cut(piece, piece.tokens[3:], source)
    return piece


def _is_cursor(tokens: Sequence[Any]) -> bool:
    """Return whether DECLARE is the statement that makes a cursor, rather than the head of declarations."""
    return "CURSOR" in _words(tokens) and _word(tokens, 1) != "CURSOR"


def _is_swallowed(piece: Piece) -> bool:
    """Whether the tokenizer took the first word for a command and kept the rest of the piece as one string."""
    if len(piece.tokens) != 2 or piece.tokens[1].token_type is not TokenType.STRING:
        return False
    head = piece.tokens[0]
    rest = piece.text[head.end + 1 : head.end + 100].lstrip()
    return head.token_type is TokenType.COMMAND or rest[:1] not in ("'", '"')


def _as_insert(piece: Piece) -> Piece:
    """REPLACE INTO writes as INSERT INTO does."""
    head = piece.tokens[0]
    insert = type(head)(TokenType.INSERT, "INSERT", head.line, head.col, head.start, head.end)
    return Piece(piece.span, piece.text, (insert, *piece.tokens[1:]), piece.offset)


def _opened(tokens: Sequence[Any]) -> int:
    """How many branches and loops a piece opens, less those it closes."""
    first, second = _word(tokens, 0), _word(tokens, 1)
    if first == "END" or (first, second) == ("UNTIL", "END"):
        return -1 if second else 0
    return 1 if first in ("IF", "WHILE", "LOOP", "FOR", "REPEAT", "CASE") else 0


def _read_command(piece: Piece, source: Source, dialect: str) -> Piece:
    """A piece whose first word made the tokenizer keep the rest as text: with the rest as tokens."""
    head = piece.tokens[0]
    start = piece.offset + head.end + 1
    rest = list(split_inner(source, dialect, start=start, end=piece.span.end))
    if len(rest) != 1:
        return piece
    return Piece(piece.span, rest[0].text, (head, *rest[0].tokens), rest[0].offset, conditional=piece.conditional)


def _unwrap(tokens: Sequence[Any], dialect: str) -> tuple[Sequence[Any], bool]:
    """A statement without the control words before and after it; True if declarations follow instead of one."""
    while tokens:
        first, second = _word(tokens, 0), _word(tokens, 1)
        if second == ":" and _word(tokens, 2) in _LABELLED:
            tokens = tokens[2:]
        elif first == "BEGIN":
            if second in _TRANSACTION or len(tokens) == 1:
                return (tokens, False) if second in _TRANSACTION else ((), False)
            tokens = (
                tokens[3:] if second == "NOT" else tokens[2:] if second in ("TRY", "CATCH", "ATOMIC") else tokens[1:]
            )
        elif first in ("END", "GO"):
            tokens = _after_end(tokens)
        elif first in ("ELSE", "LOOP", "REPEAT"):
            tokens = tokens[1:]
        elif first == "CASE":
            tokens = _after_condition(tokens[1:]) if second == "WHEN" else _after_condition(tokens)
        elif first in ("IF", "ELSEIF", "ELSIF", "WHEN", "EXCEPTION", "WHILE", "FOR", "UNTIL", "OPEN"):
            tokens = _after_condition(tokens)
        elif first in _JUMPS:
            return (), False
        elif first == "FORALL":
            at = next((at for at, token in enumerate(tokens) if token.text.upper() in _WRITING), len(tokens))
            return tokens[at:], False
        elif first == "RETURN":
            return (tokens[2:], False) if second == "QUERY" else ((), False)
        elif first in ("CREATE", "ALTER") and not _BODIES.isdisjoint(_words(tokens[:6])):
            return _body(tokens, dialect)
        else:
            break
    return _without_tail(tokens), False


def _after_end(tokens: Sequence[Any]) -> Sequence[Any]:
    """What follows END, END IF, END LOOP label: in T-SQL, maybe the next statement."""
    at = 1
    while at < len(tokens) and _word(tokens, at) not in _STATEMENTS - {"IF", "WHILE", "LOOP"}:
        if _word(tokens, at) == "ELSE":
            break
        at += 1
    return tokens[at:]


def _after_condition(tokens: Sequence[Any]) -> Sequence[Any]:
    """What follows IF … THEN, WHILE … DO, FOR … LOOP, or (T-SQL) the condition of IF and WHILE."""
    depth = 0
    over_query = _word(tokens, 0) == "FOR"
    for at, token in enumerate(tokens[1:], start=1):
        kind = token.token_type
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            depth += 1
        elif kind in (TokenType.R_PAREN, TokenType.END):
            depth -= 1
        elif depth == 0:
            word = _word(tokens, at)
            if word in ("THEN", "DO", "LOOP"):
                return tokens[at + 1 :]
            is_variable = tokens[at - 1].token_type is TokenType.PARAMETER  # @execute
            if word in _STATEMENTS and word not in ("IF", "SET") and not over_query and not is_variable:
                return tokens[at:]
    return ()


def _body(tokens: Sequence[Any], dialect: str) -> tuple[Sequence[Any], bool]:
    """The first statement of a procedure's body, or whether declarations come before it."""
    if "FUNCTION" in _words(tokens[:6]) and "BEGIN" not in _words(tokens):
        return tokens, False  # a function that is one expression or query
    depth = 0
    for at, token in enumerate(tokens):
        kind, word = token.token_type, token.text.upper()
        if kind is TokenType.L_PAREN:
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
        elif depth == 0 and word == "BEGIN":
            return _unwrap(tokens[at:], dialect)
        elif depth == 0 and word in ("AS", "IS"):
            after = _word(tokens, at + 1)
            if after in _STATEMENTS - {"BEGIN", "DECLARE"}:
                return _unwrap(tokens[at + 1 :], dialect)
            if "BEGIN" not in _words(tokens[at:]):
                return (tokens[at + 1 :], True) if dialect not in UNSWALLOWED else ((), False)
    return (), False


def _without_tail(tokens: Sequence[Any]) -> Sequence[Any]:
    """A statement without the END that follows it where no semicolon does (T-SQL)."""
    opened = 0
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.CASE:
            opened += 1
        elif token.token_type is TokenType.END:
            if opened == 0:
                return tokens[:at]
            opened -= 1
    return tokens


def _quoted_body(piece: Piece) -> tuple[int, int] | None:
    """The inside of `AS $$ … $$`, `DO $$ … $$` or EXECUTE IMMEDIATE '…', as a range of the text."""
    first = _word(piece.tokens, 0)
    if first == "EXECUTE":
        return _executed(piece)
    if first != "DO" and (first != "CREATE" or _BODIES.isdisjoint(_words(piece.tokens[:6]))):
        return None
    if is_foreign(piece.tokens):
        return None
    for before, token in itertools.pairwise(piece.tokens):
        given = first == "DO" or before.text.upper() == "AS"
        if given and token.token_type in _QUOTED and piece.text[token.start] == "$":
            text = piece.text[token.start : token.end + 1]
            begin = text.find("$", 1) + 1
            return piece.offset + token.start + begin, piece.offset + token.end + 1 - begin
    return None


def _executed(piece: Piece) -> tuple[int, int] | None:
    """The statement that EXECUTE IMMEDIATE runs, when it is a constant."""
    if len(piece.tokens) != 3 or _word(piece.tokens, 1) != "IMMEDIATE":
        return None
    token = piece.tokens[2]
    text = piece.text[token.start : token.end + 1]
    if token.token_type not in (*_QUOTED, TokenType.STRING) or text[:1] not in ("'", '"', "$"):
        return None
    quote = len(text) - len(text.lstrip(text[0])) if text[0] != "$" else text.find("$", 1) + 1
    return piece.offset + token.start + quote, piece.offset + token.end + 1 - quote


def _declared(piece: Piece, tokens: Sequence[Any], source: Source, names: set[str]) -> Iterator[Piece]:
    """A line of a DECLARE section: what its variable is given, or the query of its cursor."""
    name = declared_name(tokens)
    if name is None:
        return
    names.add(name)
    query = cursor_query(tokens)
    if query:
        yield dataclasses.replace(_cut(piece, query, source), record=name)
    elif any(token.token_type is TokenType.COLON_EQ for token in tokens):
        yield _cut(piece, tokens, source)


def _cut_head(piece: Piece, head: Head, source: Source) -> Piece:
    """A condition or the query of a loop as a statement of its own."""
    cut = dataclasses.replace(_cut(piece, head.tokens, source), record=head.record, condition_of=head.condition_of)
    if head.condition_of is None:
        return cut
    first = head.tokens[0]
    select = type(first)(TokenType.SELECT, "SELECT", first.line, first.col, first.start, first.end)
    return dataclasses.replace(cut, tokens=(select, *cut.tokens))


def _cut(piece: Piece, tokens: Sequence[Any], source: Source) -> Piece:
    span = source.span(piece.offset + tokens[0].start, piece.offset + tokens[-1].end + 1)
    return Piece(span, piece.text, tuple(tokens), piece.offset, conditional=piece.conditional)


def _word(tokens: Sequence[Any], at: int) -> str:
    if at >= len(tokens) or tokens[at].token_type in (TokenType.STRING, TokenType.NATIONAL_STRING):
        return ""
    return str(tokens[at].text).upper()


def _words(tokens: Sequence[Any]) -> set[str]:
    return {_word(tokens, at) for at in range(len(tokens))}

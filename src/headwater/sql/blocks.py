"""Procedural code: the statements inside blocks, branches, loops and bodies, without what is around them.
Every branch is entered, in the order of the text: lineage asks what may flow, not what will. Declarations and control
words are dropped; a body in quotes is cut into statements of its own."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.branches import Branches
from headwater.sql.control_flow import (
    STATEMENTS,
    Head,
    is_routine,
    label_size,
    read_control,
    routine_at,
)
from headwater.sql.cursors import read_fetch
from headwater.sql.declarations import read_command, read_declaration, read_statement
from headwater.sql.dialects import MICROSOFT
from headwater.sql.loops import note_loops
from headwater.sql.packages import body_at
from headwater.sql.query_functions import is_expression, is_foreign
from headwater.sql.routines import Code, read_parameters
from headwater.sql.split import LoopSet, Piece, split_inner
from headwater.sql.tokens import as_query, token_like, word_at
from headwater.text import Source

_JUMPS = (
    *("BREAK", "LEAVE", "CONTINUE", "ITERATE", "EXIT", "NULL", "RAISE", "SIGNAL"),
    *("CLOSE", "FETCH", "DEALLOCATE", "PRINT", "PERFORM", "RAISERROR", "THROW", "GOTO", "WAITFOR"),
)
_HEADS = frozenset(
    {
        *("BEGIN", "END", "IF", "ELSE", "ELSEIF", "ELSIF", "WHILE", "LOOP", "FOR", "REPEAT", "UNTIL", "EXCEPTION"),
        *("DECLARE", "CREATE", "ALTER", "WHEN", "RETURN", "GO", "DO", "REPLACE", "CASE", "EXECUTE", "OPEN", "FORALL"),
        *("FOREACH", *_JUMPS),
    }
)
_VERBS = frozenset(
    {"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "TRUNCATE", "COPY"}
)
"""Words that begin no declaration: where one of them comes before BEGIN, there is no block."""

_WRITING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "EXECUTE"})
_TESTING = {"IF": "IF", "ELSEIF": "IF", "ELSIF": "IF", "WHILE": "WHILE"}
_QUOTED = frozenset({TokenType.HEREDOC_STRING, TokenType.RAW_STRING})
_DECLARING = frozenset({"oracle", "snowflake", "postgres", "redshift"})  # DECLARE a …; b …; BEGIN


def enter_blocks(pieces: Iterable[Piece], source: Source, dialect: str, code: Code | None = None) -> Iterator[Piece]:
    """The statements of a script, with those inside procedural code in the place of the code.
    `code` is told of what the code declares, before the statements that follow it."""
    code = code or Code()
    for piece in _Entry(source, dialect, code).enter(pieces):
        piece = dataclasses.replace(piece, names=frozenset(code.names)) if code.names else piece
        if code.current is not None:
            code.current.pieces.append(piece)
        if not code.holds:
            yield piece
    code.end()


class _Entry:
    """Procedural code as it is entered: that of a script or, `inside`, that of a body which stands in quotes."""

    def __init__(self, source: Source, dialect: str, code: Code, *, inside: bool = False) -> None:
        self._source = source
        self._dialect = dialect
        self._code = code
        self._inside = inside
        self._declaring = False  # in a DECLARE section
        self._branches = Branches()
        self._outside = 0  # how deep the blocks were before the piece
        self._names: frozenset[str] = frozenset()  # the variables around the current block
        self._outermost, self._batch = 0, 0  # where the current routine begins
        self._nested = 0  # routines inside it that have not ended

    def enter(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The statements of the code, in order."""
        sets: tuple[LoopSet, ...] = ()
        for piece in note_loops(pieces, self._dialect):
            sets = piece.loop_sets or sets
            for entered in self._enter_piece(dataclasses.replace(piece, loop_sets=()) if sets else piece):
                yield dataclasses.replace(entered, loop_sets=sets) if sets else entered
                sets = ()

    def _enter_piece(self, piece: Piece) -> Iterator[Piece]:
        size = 3 if self._inside and word_at(piece.tokens, 0) == "#" else label_size(piece.tokens)  # #option value
        piece = piece.cut(piece.tokens[size:], self._source) if 0 < size < len(piece.tokens) else piece
        entered = self._without_header(piece)
        if entered is None:
            return
        piece = self._placed(entered)
        first = word_at(piece.tokens, 0)
        if self._declaring:
            self._declaring = first != "BEGIN" and first not in _VERBS
        if self._declaring and first == "END":  # of a routine among the declarations
            return
        if self._declaring:
            yield from read_declaration(piece, piece.tokens, self._source, self._code)
        elif first not in _HEADS:
            yield from read_statement(piece, self._source, self._dialect, self._code)
        else:
            yield from self._read_head(piece, first)

    def _without_header(self, piece: Piece) -> Piece | None:
        """A piece of a DECLARE section without the header of a routine that begins there; None if nothing is left."""
        if not self._declaring or word_at(piece.tokens, 0) not in ("FUNCTION", "PROCEDURE"):
            return piece
        at = body_at(piece.tokens)
        if at is None:
            return None
        self._nested += 1
        self._code.declare([each.name for each in read_parameters(piece.tokens, 2)], given=True)
        return piece.cut(piece.tokens[at:], self._source) if at < len(piece.tokens) else None

    def _placed(self, piece: Piece) -> Piece:
        """A piece with the branches around it. A routine ends with its last block, or with its batch."""
        routine = self._code.current if not self._inside else None
        if routine is not None and piece.batch != self._batch:
            self._code.end()
        self._outside = self._branches.depth
        if self._dialect in MICROSOFT:  # T-SQL has said already what is conditional
            return piece
        if not self._outside and not self._declaring and not self._inside:
            self._names = frozenset(self._code.names)
        self._branches.read(piece.tokens)
        if self._nested and self._outside > self._branches.depth == self._outermost:
            self._nested, self._declaring = self._nested - 1, True
        elif routine is not None and self._branches.depth <= self._outermost and not self._declaring:
            self._code.end()
        elif self._outside and not self._branches.depth and not self._inside:
            self._code.leave(self._names)
        path = self._branches.path
        return dataclasses.replace(piece, conditional=True, branches=path) if path else piece

    def _read_head(self, piece: Piece, first: str) -> Iterator[Piece]:
        """A piece that begins with a control word, a declaration or the header of a routine."""
        piece = read_command(piece, self._dialect) if first == "DECLARE" else piece
        declares = first == "DECLARE" and self._dialect in _DECLARING
        cursor = word_at(piece.tokens, 1) != "CURSOR" and "CURSOR" in _words(piece.tokens)  # a statement of its own
        if declares and (self._inside or not cursor or self._dialect in ("oracle", "snowflake")):
            self._declaring = word_at(piece.tokens, 1) != "BEGIN"
            if self._declaring:
                yield from read_declaration(piece, piece.tokens[1:], self._source, self._code)
                return
            piece = piece.cut(piece.tokens[1:], self._source)  # DECLARE BEGIN …: nothing is declared
            self._branches.read(piece.tokens)
        loops = (at for at in range(3) if word_at(piece.tokens[:-1], at) in ("FOR", "FORALL"))
        self._code.names |= {piece.tokens[at + 1].text.lower() for at in loops}
        whole, piece = piece, read_command(piece, self._dialect)
        if first == "REPLACE" and not is_routine(piece.tokens):
            yield _as_insert(piece) if word_at(piece.tokens, 1) != "(" else whole
            return
        if is_routine(piece.tokens) and self._begin_routine(piece):
            yield piece
            return
        body = _quoted_body(piece)
        if body is not None:
            yield from self._read_quoted(whole, body, creates=first == "CREATE")
        elif first == "EXECUTE":
            yield piece
        else:
            yield from self._read_controlled(piece)

    def _begin_routine(self, piece: Piece) -> bool:
        """A routine begins with this piece. Returns whether it is a trigger whose body is a function elsewhere."""
        self._code.end()
        self._code.begin(piece, self._source)
        self._outermost, self._batch = self._outside, piece.batch
        routine = self._code.current
        calls = routine is not None and routine.trigger is not None and routine.trigger.function is not None
        if calls:
            self._code.end()
        return calls

    def _read_quoted(self, whole: Piece, body: tuple[int, int], *, creates: bool) -> Iterator[Piece]:
        """The statements of a body in quotes."""
        quoted = self._source.text[body[0] - 1] == "'"
        inner = list(split_inner(self._source, self._dialect, start=body[0], end=body[1], quoted=quoted))
        if creates and is_expression(inner):  # it is lowered where the function is called
            self._code.end()
            yield whole
            return
        names = frozenset(self._code.names)
        yield from _Entry(self._source, self._dialect, self._code, inside=True).enter(inner)
        self._code.leave(names)
        self._code.end()

    def _read_controlled(self, piece: Piece) -> Iterator[Piece]:
        """The conditions and queries of control words, and the statement or the declaration behind them."""
        for head in read_control(piece.tokens)[0]:
            if (cut := self._cut_head(piece, head)) is not None:
                yield cut
        tokens, self._declaring = _unwrap(piece.tokens, self._dialect)
        if tokens and len(tokens) < len(piece.tokens):
            piece = piece.cut(tokens, self._source)
            if word_at(tokens, 0) == "DECLARE" and self._dialect in _DECLARING:  # BEGIN DECLARE …
                self._declaring, piece = True, read_command(piece, self._dialect)
                tokens = piece.tokens[1:]
        if self._declaring:
            yield from read_declaration(piece, tokens, self._source, self._code)
        elif tokens:
            is_replace = word_at(tokens, 0) == "REPLACE" and word_at(tokens, 1) != "("
            piece = _as_insert(piece) if is_replace else piece
            yield from read_statement(piece, self._source, self._dialect, self._code)

    def _cut_head(self, piece: Piece, head: Head) -> Piece | None:
        """The condition of an IF or the query of a loop as a statement of its own; None when it reads nothing.
        Outside GoogleSQL, only conditions with a query in them: many others are no expressions."""
        inside = head.tokens[1:]
        if head.word in _TESTING and inside:
            if self._dialect != "bigquery" and all(token.token_type is not TokenType.SELECT for token in inside):
                return None
            cut = piece.cut(inside, self._source)
            return dataclasses.replace(cut, tokens=as_query(inside), condition_of=_TESTING[head.word])
        if head.word == "FOREACH":  # v IN ARRAY a, v SLICE 1 IN ARRAY a
            array = [at for at in range(len(inside) - 1) if word_at(inside, at) == "ARRAY"][:1]
            gives = token_like(inside[0], TokenType.COLON_EQ, ":=")
            return piece.cut((inside[0], gives, *inside[array[0] + 1 :]), self._source) if array else None
        if head.word != "FOR" or word_at(inside, 1) != "IN" or len(inside) < 3:
            return None
        query = inside[2:]
        if {TokenType.SELECT, TokenType.WITH} & {token.token_type for token in query[:2]} or (
            word_at(query, 0) == "EXECUTE"
        ):
            return dataclasses.replace(piece.cut(query, self._source), record=inside[0].text.lower())
        if query[0].token_type is TokenType.VAR and word_at(query, 1) in ("", "("):  # FOR r IN c: a row of the cursor
            gives = token_like(inside[0], TokenType.COLON_EQ, ":=")
            return piece.cut((inside[0], gives, query[0]), self._source)
        return None


def _as_insert(piece: Piece) -> Piece:
    """REPLACE writes as INSERT does."""
    insert = token_like(piece.tokens[0], TokenType.INSERT, "INSERT")
    return dataclasses.replace(piece, tokens=(insert, *piece.tokens[1:]))


def _unwrap(tokens: Sequence[Any], dialect: str) -> tuple[Sequence[Any], bool]:
    """A statement without the control words before and after it; True if declarations follow instead of one."""
    while tokens:
        if not is_routine(tokens):
            tokens = read_control(tokens)[1]
        if is_routine(tokens):
            return _body(tokens, dialect)
        first = word_at(tokens, 0)
        if first in ("END", "GO"):
            tokens = _after_end(tokens)
        elif first in ("OPEN", "BEGIN"):  # of a cursor, of a transaction
            return tokens, False
        elif first == "FETCH":
            return (tokens if read_fetch(tokens) is not None else ()), False
        elif first in _JUMPS:
            return (), False
        elif first == "FORALL":
            at = next((at for at, token in enumerate(tokens) if token.text.upper() in _WRITING), len(tokens))
            return tokens[at:], False
        elif first == "RETURN":
            return (tokens[2:], False) if word_at(tokens, 1) == "QUERY" else ((), False)
        else:
            break
    return _without_tail(tokens), False


def _after_end(tokens: Sequence[Any]) -> Sequence[Any]:
    """Return what follows END, END IF, END LOOP label: in T-SQL, maybe the next statement."""
    at = 1
    while at < len(tokens) and word_at(tokens, at) not in STATEMENTS - {"IF", "WHILE", "LOOP"}:
        if word_at(tokens, at) == "ELSE":
            break
        at += 1
    return tokens[at:]


def _body(tokens: Sequence[Any], dialect: str) -> tuple[Sequence[Any], bool]:
    """The first statement of a procedure's body, or whether declarations come before it."""
    is_function = word_at(tokens, routine_at(tokens) or 0) == "FUNCTION"
    if is_function and dialect != "oracle" and "BEGIN" not in _words(tokens):
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
        elif depth == 0 and word == "ROW" and "BEGIN" not in _words(tokens[at:]):  # FOR EACH ROW statement
            begin = next(
                (begin for begin in range(at, len(tokens)) if word_at(tokens, begin) in STATEMENTS), len(tokens)
            )
            if word_at(tokens, begin) == "DECLARE" and dialect in _DECLARING:
                return tokens[begin + 1 :], True
            return _unwrap(tokens[begin:], dialect)
        elif depth == 0 and word in ("AS", "IS"):
            after = word_at(tokens, at + 1)
            if after in STATEMENTS - {"BEGIN", "DECLARE"}:
                return _unwrap(tokens[at + 1 :], dialect)
            if at + 1 < len(tokens) and tokens[at + 1].token_type is TokenType.STRING:
                return (), False  # a body in another language, or in quotes
            if "BEGIN" not in _words(tokens[at:]):
                return (tokens[at + 1 :], True) if dialect not in MICROSOFT else ((), False)
    return (), False


_PAIRS = ((TokenType.END, TokenType.CASE), (TokenType.R_PAREN, TokenType.L_PAREN))


def _without_tail(tokens: Sequence[Any]) -> Sequence[Any]:
    """A statement without the END that follows it where no semicolon does (T-SQL)."""
    opened: list[Any] = []
    for at, token in enumerate(tokens):
        kind = token.token_type
        if kind in (TokenType.CASE, TokenType.L_PAREN):
            opened.append(kind)
        elif kind is TokenType.END and not opened:
            return tokens[:at]
        elif opened and (kind, opened[-1]) in _PAIRS:  # END in brackets without CASE: AS ROW END
            opened.pop()
    return tokens


def _quoted_body(piece: Piece) -> tuple[int, int] | None:
    """The inside of `AS $$ … $$`, `DO $$ … $$` or EXECUTE IMMEDIATE '…', as a range of the text."""
    first = word_at(piece.tokens, 0)
    if first == "EXECUTE":
        return _executed(piece)
    if first != "DO" and (first != "CREATE" or not is_routine(piece.tokens)):
        return None
    if is_foreign(piece.tokens):
        return None
    languages = {token.text.upper() for token in piece.tokens}
    for before, token in itertools.pairwise(piece.tokens):
        given = first == "DO" or before.text.upper() == "AS"
        if given and token.token_type in _QUOTED and piece.text[token.start] == "$":
            text = piece.text[token.start : token.end + 1]
            begin = text.find("$", 1) + 1
            return piece.offset + token.start + begin, piece.offset + token.end + 1 - begin
        if given and token.token_type is TokenType.STRING and "PLPGSQL" in languages:
            return piece.offset + token.start + 1, piece.offset + token.end
    return None


def _executed(piece: Piece) -> tuple[int, int] | None:
    """The statement that EXECUTE IMMEDIATE runs, when it is a constant."""
    if len(piece.tokens) != 3 or word_at(piece.tokens, 1) != "IMMEDIATE":
        return None
    token = piece.tokens[2]
    text = piece.text[token.start : token.end + 1]
    if token.token_type not in (*_QUOTED, TokenType.STRING) or text[:1] not in ("'", '"', "$"):
        return None
    quote = len(text) - len(text.lstrip(text[0])) if text[0] != "$" else text.find("$", 1) + 1
    return piece.offset + token.start + quote, piece.offset + token.end + 1 - quote


def _words(tokens: Sequence[Any]) -> set[str]:
    return {word_at(tokens, at) for at in range(len(tokens))}

"""A script cut into statements, so that one that cannot be read does not take the others with it."""

import dataclasses
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType, exp

from headwater.sql.branches import Path
from headwater.sql.clients import ClientScript, without_commands
from headwater.sql.dialects import MICROSOFT, sqlglot_dialect, tokenize
from headwater.sql.respell import respelled
from headwater.text import Source, Span


@dataclass(frozen=True, slots=True)
class LoopSet:
    """A variable that a statement of a loop sets: by adding to it, by reading tables."""

    name: str
    grows: bool
    reads: bool


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
    cursor: str | None = None  # the cursor that this query is of
    condition_of: str | None = None  # IF, WHILE: it stands for the condition of such a statement
    branches: Path = ()  # the branches and loops around it
    batch: int = 0  # how many commands of a client, such as GO, have ended statements before it
    into: tuple[str, ...] = ()  # the variables that take the row of this query
    opaque: str | None = None  # why the statement is not known
    doubt: str | None = None  # why its lineage is not certain
    loop_sets: tuple[LoopSet, ...] = ()  # the variables that the loop sets which it begins
    source: Source | None = None  # the text that it stands in, when that is an executed string and not the script

    def cut(self, tokens: Sequence[Any], source: Source) -> "Piece":
        """A part of the statement as a statement of its own."""
        span = source.span(self.offset + tokens[0].start, self.offset + tokens[-1].end + 1)
        return dataclasses.replace(self, span=span, tokens=tuple(tokens))

    @property
    def words(self) -> str:
        """The text of the statement."""
        return self.text[self.tokens[0].start : self.tokens[-1].end + 1] if self.tokens else ""


def split_statements(source: Source, dialect: str) -> Iterator[Piece]:
    """The statements of a script, in order. Text that cannot be cut into tokens is cut at its semicolons instead."""
    script = without_commands(source.text, dialect)
    if len(script.text) > _LONG:
        yield from _split_long(source, script, dialect)
        return
    tokens = _tokens(script.text, dialect)
    if tokens is None:
        yield from _split_roughly(source, script, dialect, 0, len(script.text))
    else:
        yield from _pieces(source, script.text, tokens, 0, script.ends)


def _split_long(source: Source, script: ClientScript, dialect: str) -> Iterator[Piece]:
    """A long script, a part at a time: its tokens take fifty times the room of its text.
    A part ends at a semicolon that is outside quotes as far as a glance can tell. Where the glance was wrong, the
    part has no tokens, and is read together with the next."""
    begin = 0
    whole = script.text
    ends = [at + 1 for at in _semicolons(whole, 0, len(whole))]
    for end in (*ends, len(whole)):
        last = end == len(whole)
        if end - begin < _PART and not last:
            continue
        text = whole[begin:end]
        tokens = _tokens(text, dialect)
        if tokens is not None:
            yield from _pieces(source, text, tokens, begin, script.ends)
        elif last or end - begin > 4 * _PART:
            yield from _split_roughly(source, script, dialect, begin, end)
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


def loose_tokens(piece: Piece, dialect: str) -> tuple[Any, ...]:
    """The tokens of a text whose quotes or comments are not closed, as if it had none."""
    return tuple(
        _tokens(re.sub(r"['\"`]|/\*|\*/|\$(?=\D)", lambda found: " " * len(found[0]), piece.text), dialect) or ()
    )


def _tokens(text: str, dialect: str) -> list[Any] | None:
    try:
        tokens: list[Any] = tokenize(text, dialect)
    except Exception:  # the tokenizer fails in several ways on what is not SQL
        return None
    return tokens


def _pieces(source: Source, text: str, tokens: list[Any], offset: int, ends: Sequence[int] = ()) -> Iterator[Piece]:
    """Cut tokens at their semicolons, and at the places where a client's command ends a statement."""
    begin = 0
    starts = [token.start + offset for token in tokens] if ends else []
    cuts = {bisect_left(starts, end): 0 for end in ends}  # → how many tokens a cut takes away
    cuts |= {at: 1 for at, token in enumerate(tokens) if token.token_type is _SEMICOLON}
    batch = bisect_left(ends, offset)
    for at in sorted(cuts):
        if at > begin:
            yield _piece(source, text, tokens[begin:at], offset, batch)
        begin = at + cuts[at]
        batch += not cuts[at]
    if begin < len(tokens):
        yield _piece(source, text, tokens[begin:], offset, batch)


def _piece(source: Source, text: str, tokens: list[Any], offset: int, batch: int = 0) -> Piece:
    span = source.span(offset + tokens[0].start, offset + tokens[-1].end + 1)
    return Piece(span, text, tuple(tokens), offset, batch=batch)


_SEMICOLON = TokenType.SEMICOLON
_LONG = 2_000_000
_PART = 250_000
_ROUGH = re.compile(r"(\$\w*\$).*?\1|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|;", re.DOTALL)


def _semicolons(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _ROUGH.finditer(text, start, end) if match.group() == ";")


def _split_roughly(source: Source, script: ClientScript, dialect: str, start: int, stop: int) -> Iterator[Piece]:
    begin = start
    ends = {*_semicolons(script.text, start, stop), *(end for end in script.ends if start < end < stop), stop}
    for end in sorted(ends):
        text = script.text[begin:end].lstrip(";")
        begin = end - len(text)
        if text.strip():
            tokens = _tokens(text, dialect) or _tokens(text, "")  # `$1,$2,$3` opens a quote to some tokenizers
            if tokens is None:
                span = source.span(begin + len(text) - len(text.lstrip()), end)
                yield Piece(
                    span, text, (), begin, "a quote or a comment is opened and not closed, or a sign is not SQL"
                )
            elif tokens:
                yield _piece(source, text, tokens, begin)
        begin = end


def parse_piece(statement: Piece, dialect: str) -> Any:
    """sqlglot's tree of one statement; what the parser refuses is tried again as it would be written elsewhere.
    A tree of which clauses were left out that may hold columns says so in `meta["lossy"]`.
    RAISES: ParseError and other errors of sqlglot."""
    if not statement.tokens:
        return None
    tree, failure = None, None
    try:
        tree = _parse(statement.tokens, statement.text, dialect)
    except Exception as err:  # the parser fails in many ways on what is not SQL
        failure = err
    if failure is None and not isinstance(tree, _UNSURE):
        return tree
    other = _parse_respelled(statement, dialect)
    if other is not None and not isinstance(other, exp.Command if failure is not None else _UNSURE):
        return other
    if failure is not None:
        raise failure
    return tree


_UNSURE = (exp.Command, exp.Alias, exp.Condition)  # a statement that was kept as text, or taken for an expression


def _parse_respelled(statement: Piece, dialect: str) -> Any:
    """The tree of a statement as it would be written elsewhere; None when no rule applies or it does not parse."""
    found = respelled(statement.tokens, dialect)
    if found is None:
        return None
    try:
        tree = _parse(found[0], statement.text, dialect)
    except Exception:  # as above
        return None
    if tree is not None and found[1]:
        tree.meta["lossy"] = True
    return tree


def _parse(tokens: Sequence[Any], text: str, dialect: str) -> Any:
    known = sqlglot_dialect(dialect)
    if dialect in MICROSOFT and len(tokens) > 1 and tokens[0].token_type in known.tokenizer_class.COMMANDS:
        head, rest = tokens[0], text[tokens[0].end + 1 : tokens[-1].end + 1].strip()
        tokens = (head, type(head)(TokenType.STRING, rest, head.line, head.col, tokens[1].start, tokens[-1].end))
    trees = known.parser().parse(list(tokens), text)
    return next((tree for tree in trees if tree is not None), None)


def opaque_piece(piece: Piece, reason: str) -> Piece:
    return dataclasses.replace(piece, opaque=reason)

"""Loops: the variables that one sets, which may have those values where its next round begins."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from headwater.sql.branches import LOOPS, Branches
from headwater.sql.control_flow import read_control
from headwater.sql.dialects import MICROSOFT
from headwater.sql.evaluation import is_number
from headwater.sql.split import LoopSet, Piece
from headwater.sql.texts import Texts
from headwater.sql.tokens import cut_list, word_at

_READING = frozenset({"SELECT", "FROM"})
_ENDS = frozenset({"FROM", "WHERE", "USING", "LIMIT", "ORDER", "GROUP", "UNION"})


def note_loops(pieces: Iterable[Piece], dialect: str) -> Iterator[Piece]:
    """The same pieces; the one that begins a loop says which variables the loop sets."""
    waiting = iter(pieces)
    after: Piece | None = None
    while (piece := after or next(waiting, None)) is not None:
        after = None
        if LOOPS.isdisjoint(head.word for head in read_control(piece.tokens)[0]):
            yield piece
            continue
        body: list[Piece] = []
        branches = Branches()
        branches.read(piece.tokens)
        for each in waiting:
            branches.read(each.tokens)
            inside = len(each.branches) > len(piece.branches) if dialect in MICROSOFT else branches.depth > 0
            if not inside:
                after = each
                break
            body.append(each)
        sets = tuple(found for each in (piece, *body) for found in set_by(each.tokens))
        yield dataclasses.replace(piece, loop_sets=sets)
        yield from note_loops(body, dialect)


def set_by(tokens: Sequence[Any]) -> Iterator[LoopSet]:
    """The variables that a statement sets."""
    tokens = read_control(tokens)[1]
    words = [word_at(tokens, at) for at in range(len(tokens))]
    reads = words[:1] != ["FETCH"] and not _READING.isdisjoint(words)  # a cursor gives the rows that it gave before
    given = next((at for at, word in enumerate(words) if word in (":=", "=")), len(words))
    if words[:1] in (["SET"], ["SELECT"]) or given <= 6:
        for part in cut_list(tokens[words[:1] in (["SET"], ["SELECT"]) :]):
            at = next((at for at, token in enumerate(part[:6]) if token.text in (":=", "=")), None)
            named = [str(token.text).lower() for token in part[:at] if token.text not in ("@", "+", "|", "LET")]
            if at and named:
                again = [str(token.text).lower() for token in part[at + 1 : at + 5]]
                yield LoopSet(named[0], part[at - 1].text == "+" or named[0] in again, reads)
    into = words.index("INTO") if "INTO" in words and words[0] in ("SELECT", "WITH", "FETCH", "EXECUTE") else None
    if into is not None:
        end = next((at for at in range(into, len(words)) if words[at] in _ENDS), len(words))
        for part in cut_list(tokens[into + 1 : end]):
            yield LoopSet(str(part[-1].text).lower(), False, reads)


def enter_loop(piece: Piece, texts: Texts) -> set[str]:
    """Forget the texts of variables that a loop sets, but for texts that only grow; returns those set by queries."""
    anew = {each.name for each in piece.loop_sets if not each.grows}
    for name in {each.name for each in piece.loop_sets if texts.knows(each.name)}:
        if name in anew or any(map(is_number, texts.of(name, piece.branches))):
            texts.give(name, (texts.hole(None),), piece.branches)
    return {each.name for each in piece.loop_sets if each.reads}


def in_loop(piece: Piece, carried: set[str], dialect: str) -> Piece:
    """A statement of a loop, in doubt when it uses a variable that a later one may have set in the round before.
    `carried` are the variables that the loop sets and has not set yet; those that the statement sets leave it."""
    names = [str(token.text).lower() for token in piece.tokens]
    signs = ("@",) if dialect in MICROSOFT else ("", *names)
    used = [name for before, name in zip(("", *names), names) if name in carried and before in signs]
    set_here = {each.name for each in set_by(piece.tokens)}
    carried -= set_here
    if not used or (used[0] in set_here and used.count(used[0]) == 1):
        return piece
    doubt = f"`{used[0]}` may have the value that the loop gave it in the round before"
    return dataclasses.replace(piece, doubt=piece.doubt or doubt)

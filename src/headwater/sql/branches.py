"""The branches and loops around each statement of procedural code.
A branch is known by the IF (or loop) that it belongs to and by its number among the arms of that IF. What one arm
assigns is seen by the statements after it in the same arm for certain, by those after the IF perhaps, and by the
other arms never."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headwater.sql.control_flow import TRANSACTION, read_control
from headwater.sql.tokens import word_at

_NUMBERS = itertools.count()
LOOPS = frozenset({"WHILE", "FOR", "FOREACH", "LOOP", "REPEAT"})
_ARMS = frozenset({"ELSE", "ELSIF", "ELSEIF", "WHEN"})


@dataclass(frozen=True, slots=True)
class CodeBranch:
    """One arm of a statement that decides, or the body of a loop."""

    number: int
    arm: int = 0
    loops: bool = False
    last: bool = False  # ELSE, which runs when no arm before it does


Path = tuple[CodeBranch, ...]  # the branches around a statement, from the outermost


def new_branch(word: str) -> CodeBranch:
    """The first arm of an IF or CASE, or the body of a loop, by the word that begins it."""
    return CodeBranch(next(_NUMBERS), loops=word in LOOPS)


def next_arm(branch: CodeBranch, word: str) -> CodeBranch:
    """The arm that follows another one of the same statement, by the word that begins it."""
    return CodeBranch(branch.number, branch.arm + 1, branch.loops, last=word == "ELSE")


def encloses(outer: Path, inner: Path) -> bool:
    """Return whether a statement on the second path runs only if the first path was taken."""
    return inner[: len(outer)] == outer


def excludes(one: Path, other: Path) -> bool:
    """Return whether two paths are different arms of one statement, of which only one runs."""
    for mine, theirs in zip(one, other):
        if mine != theirs:
            return mine.number == theirs.number
    return False


class Branches:
    """The open blocks, branches and loops at a place of procedural code in which END closes each of them."""

    def __init__(self) -> None:
        self._open: list[CodeBranch | None] = []  # None: BEGIN, which decides nothing

    @property
    def path(self) -> Path:
        return tuple(each for each in self._open if each is not None)

    @property
    def depth(self) -> int:
        return len(self._open)

    def read(self, tokens: Sequence[Any]) -> None:
        """Open and close what the control words of a piece open and close."""
        first, second = word_at(tokens, 0), word_at(tokens, 1)
        if first == "END" or (first == "UNTIL" and "END" in [token.text.upper() for token in tokens[-3:]]):
            if self._open and second not in TRANSACTION:
                self._open.pop()
            return
        if first == "DECLARE" and "HANDLER" in [token.text.upper() for token in tokens[:4]]:
            tokens = tokens[next((at for at in range(len(tokens)) if word_at(tokens, at) == "BEGIN"), len(tokens)) :]
        for head in read_control(tokens)[0]:
            if head.word == "BEGIN":
                self._open.append(None)
            elif head.word in _ARMS:
                if self._open and (before := self._open[-1]) is not None:
                    self._open[-1] = next_arm(before, head.word)
            elif head.word not in ("EXCEPTION", "UNTIL"):
                self._open.append(new_branch(head.word))

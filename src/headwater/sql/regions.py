"""Where the expressions of a statement are in its text.

The parser keeps the position of names, but not of the expressions around them. One walk over the tokens finds every
item of a select list and every condition; a lowered expression then claims the outermost one, not yet claimed, that
holds one of its names. Outer expressions are lowered before those inside them, so each finds its own.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType

_OPEN = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSE = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_BEGINS = frozenset(
    {
        *(TokenType.SELECT, TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY),
        *(TokenType.SET, TokenType.VALUES, TokenType.WHEN),
    }
)
_ENDS = frozenset(
    {
        *(TokenType.FROM, TokenType.JOIN, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.LIMIT),
        *(TokenType.WINDOW, TokenType.INTO, TokenType.LATERAL, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL),
        *(TokenType.INNER, TokenType.CROSS, TokenType.NATURAL, TokenType.FETCH, TokenType.THEN, TokenType.OFFSET),
        *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.USING),
    }
)
_SEPARATED = frozenset({TokenType.SELECT, TokenType.SET, TokenType.VALUES})
_SKIPPED = frozenset({TokenType.DISTINCT, TokenType.ALL})
_CASE = TokenType.CASE
_END = TokenType.END
_COMMA = TokenType.COMMA


class Regions:
    """The select items and conditions of one statement, as character ranges."""

    def __init__(self, tokens: Sequence[Any]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._parents: list[int] = []
        self._claimed: list[bool] = []
        self._stars: list[int] = []  # regions that begin with a star
        self._read(tokens)

    def claim(self, position: int) -> tuple[int, int] | None:
        """The range of the outermost unclaimed expression around a character, once."""
        at = bisect_right(self._starts, position) - 1
        best = -1
        while at >= 0:
            if self._ends[at] > position and not self._claimed[at]:
                best = at
            at = self._parents[at]
        if best < 0:
            return None
        self._claimed[best] = True
        return self._starts[best], self._ends[best]

    def claim_star(self, before: int) -> tuple[int, int] | None:
        """The range of the last unclaimed `*` item of a select list before a character."""
        for at in reversed(self._stars[: bisect_right(self._stars, before, key=self._starts.__getitem__)]):
            if not self._claimed[at]:
                self._claimed[at] = True
                return self._starts[at], self._starts[at] + 1
        return None

    def _read(self, tokens: Sequence[Any]) -> None:
        """One pass. The stack holds, per bracket or CASE, the region open there (or -1) and what began it."""
        open_regions: list[tuple[int, Any]] = [(-1, None)]
        previous_end = 0
        for at, token in enumerate(tokens):
            kind = token.token_type
            region, begun_by = open_regions[-1]
            if region == -2:  # the next token begins a region, unless it is a word between
                if kind in _SKIPPED:
                    continue
                region = self._begin(token.start, open_regions)
                open_regions[-1] = (region, begun_by)
                if kind is TokenType.STAR:
                    self._stars.append(region)
            if kind in _OPEN or kind is _CASE:
                open_regions.append((-1, kind))
            elif (kind in _CLOSE or kind is _END) and len(open_regions) > 1:
                self._finish(region, previous_end)
                open_regions.pop()
            elif kind is _COMMA:
                if region >= 0:
                    self._finish(region, previous_end)
                    open_regions[-1] = (-2, begun_by) if begun_by in _SEPARATED else (-1, None)
            elif kind in _BEGINS and begun_by is not _CASE:
                self._finish(region, previous_end)
                open_regions[-1] = (-2, kind)
            elif kind in _ENDS and region >= 0 and not _is_function(kind, tokens, at):
                self._finish(region, previous_end)
                open_regions[-1] = (-1, None)
            previous_end = token.end + 1
        for region, _ in open_regions:
            self._finish(region, previous_end)

    def _begin(self, start: int, open_regions: list[tuple[int, Any]]) -> int:
        parent = -1
        for region, _ in reversed(open_regions[:-1]):
            if region >= 0:
                parent = region
                break
        self._starts.append(start)
        self._ends.append(start)
        self._parents.append(parent)
        self._claimed.append(False)
        return len(self._starts) - 1

    def _finish(self, region: int, end: int) -> None:
        if region >= 0:
            self._ends[region] = end


def _is_function(kind: Any, tokens: Sequence[Any], at: int) -> bool:
    """Whether LEFT or RIGHT is a function rather than the beginning of a join."""
    if kind is not TokenType.LEFT and kind is not TokenType.RIGHT:
        return False
    return at + 1 < len(tokens) and tokens[at + 1].token_type is TokenType.L_PAREN

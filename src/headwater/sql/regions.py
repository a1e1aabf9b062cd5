"""The regions of a statement's expressions in its text.
The parser keeps the position of names, but not of the expressions around them. One walk over the tokens finds every
item of a select list, value of a row and condition; a lowered expression then claims the outermost one, not yet
claimed, that holds one of its names. Outer expressions are lowered before those inside them, so each finds its
own."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType

_OPENS, _CLOSES, _SEPARATES, _BEGINS, _ENDS = range(5)
_ROLES = {
    **dict.fromkeys((TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE), _OPENS),
    **dict.fromkeys((TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END), _CLOSES),
    TokenType.COMMA: _SEPARATES,
    **dict.fromkeys((TokenType.SELECT, TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY), _BEGINS),
    **dict.fromkeys((TokenType.SET, TokenType.VALUES, TokenType.WHEN), _BEGINS),
    **dict.fromkeys((TokenType.FROM, TokenType.JOIN, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT), _ENDS),
    **dict.fromkeys((TokenType.WINDOW, TokenType.INTO, TokenType.LATERAL, TokenType.LEFT, TokenType.RIGHT), _ENDS),
    **dict.fromkeys((TokenType.FULL, TokenType.INNER, TokenType.CROSS, TokenType.NATURAL, TokenType.FETCH), _ENDS),
    **dict.fromkeys((TokenType.THEN, TokenType.OFFSET, TokenType.LIMIT, TokenType.USING), _ENDS),
    **dict.fromkeys((TokenType.GROUP_BY, TokenType.ORDER_BY), _ENDS),
}
"""The tokens that open or close brackets, or begin or end an expression; any other is a part of one."""

_ROW = "row"  # the bracket around the values of a row
_LISTS = frozenset({TokenType.SELECT, TokenType.SET, _ROW})  # after which commas separate expressions
_SKIPPED = frozenset({TokenType.DISTINCT, TokenType.ALL})
_CASE = TokenType.CASE
_STAR = TokenType.STAR
_SIDES = (TokenType.LEFT, TokenType.RIGHT)
_L_PAREN = TokenType.L_PAREN
_NONE = -1  # no region is open
_NEXT = -2  # the next token begins one


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
        """One pass. The stack holds, per bracket or CASE around a place, the region open there and what began it."""
        stack: list[tuple[int, Any]] = []
        region, begun_by = _NONE, None
        role_of = _ROLES.get
        for at, token in enumerate(tokens):
            kind = token.token_type
            role = role_of(kind)
            if role is None and region != _NEXT:
                continue
            if kind is _L_PAREN and begun_by is TokenType.VALUES and region < 0:
                stack.append((_NONE, begun_by))
                region, begun_by = _NEXT, _ROW
                continue
            if region == _NEXT and kind not in _SKIPPED:
                region = self._begin(token.start, stack)
                if kind is _STAR:
                    self._stars.append(region)
            if role is None:
                continue
            if role == _OPENS:
                stack.append((region, begun_by))
                region, begun_by = _NONE, kind
            elif role == _CLOSES:
                if stack:
                    self._finish(region, tokens[at - 1])
                    region, begun_by = stack.pop()
            elif role == _BEGINS:
                if begun_by is not _CASE:
                    self._finish(region, tokens[at - 1])
                    region, begun_by = _NEXT, kind
            elif (
                region >= 0
                and not (  # LEFT and RIGHT may be functions
                    role == _ENDS
                    and kind in _SIDES
                    and tokens[at + 1 : at + 2]
                    and tokens[at + 1].token_type is _L_PAREN
                )
            ):
                self._finish(region, tokens[at - 1])
                region, begun_by = (_NEXT, begun_by) if role == _SEPARATES and begun_by in _LISTS else (_NONE, None)
        for open_region, _ in (*stack, (region, begun_by)):
            self._finish(open_region, tokens[-1])

    def _begin(self, start: int, around: Sequence[tuple[int, Any]]) -> int:
        self._starts.append(start)
        self._ends.append(start)
        self._parents.append(next((region for region, _ in reversed(around) if region >= 0), _NONE))
        self._claimed.append(False)
        return len(self._starts) - 1

    def _finish(self, region: int, last: Any) -> None:
        if region >= 0:
            self._ends[region] = last.end + 1

"""Functions that compute one value by steps: the queries of their variables, and the one that RETURN gives.

SELECT @v = a FROM t WHERE …; RETURN @v          T-SQL
SELECT a INTO v FROM t WHERE …; RETURN v;        PL/pgSQL, MySQL
"""

import dataclasses
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from headwater.sql.control_flow import read_control
from headwater.sql.split import Piece
from headwater.sql.tokens import as_query, cut_list, group_end, word_at

_Tokens = Sequence[Any]


def queries_of_value(pieces: Sequence[Piece], *, signed: bool) -> tuple[list[Piece], tuple[str, ...], bool]:
    """The queries that a function's value comes from, the variables in them, and whether one query says it all.
    `signed` says that variables have a sign before their names."""
    given: dict[str, list[Piece]] = {}
    returned: list[Piece] = []
    sure = True
    for piece in pieces:
        heads, tokens = read_control(piece.tokens)
        sure = sure and all(head.word == "BEGIN" for head in heads)
        if word_at(tokens, 0) == "RETURN" and len(tokens) > 1:
            returned.append(dataclasses.replace(piece, tokens=as_query(tokens[1:])))
        for name, query in _assigned(tokens):
            given.setdefault(name, []).append(dataclasses.replace(piece, tokens=tuple(query)))
    found = [query for query in returned if _name(query.tokens[1:]) not in given]
    used, more = set[str](), _named(returned, given, signed)
    while more - used:
        used |= more
        more = _named([query for name in used for query in given[name]], given, signed)
    found += [query for name in sorted(used) for query in given[name]]
    variables = tuple(sorted(_named(found, given, signed)))
    return found, variables, sure and len(found) == 1 and not variables


def _named(queries: Iterable[Piece], variables: Container[str], signed: bool) -> set[str]:
    """Those of some variables that queries name."""
    places = ((query.tokens, at) for query in queries for at in range(len(query.tokens)))
    words = {str(tokens[at].text).lower() for tokens, at in places if not signed or word_at(tokens, at - 1) == "@"}
    return {word for word in words if word in variables}


def _name(tokens: _Tokens) -> str | None:
    """The name of the variable that some tokens are: `v`, `@v`."""
    own = [str(token.text) for token in (tokens[1:] if word_at(tokens, 0) == "@" else tokens)]
    return own[0].lower() if len(own) == 1 and own[0].isidentifier() else None


def _assigned(tokens: _Tokens) -> Iterator[tuple[str, _Tokens]]:
    """The variables that a statement sets, each with the query of its value."""
    first = word_at(tokens, 0)
    if first == "SELECT":
        yield from _selected(tokens)
        return
    for part in cut_list(tokens[1:]) if first == "DECLARE" else [tokens[first == "SET" :]]:
        at = _place(part, "=", ":=")
        name = _name(part[:2] if first == "DECLARE" else part[:at])
        if at < len(part) - 1 and name is not None:
            yield name, as_query(part[at + 1 :])


def _selected(tokens: _Tokens) -> Iterator[tuple[str, _Tokens]]:
    """`SELECT @v = a, @w = b FROM t` and `SELECT a, b INTO v, w FROM t`."""
    begin = 1 if word_at(tokens, 1) != "TOP" else (group_end(tokens, 2) or 3) if word_at(tokens, 2) == "(" else 3
    into, rest = _place(tokens, "INTO"), _place(tokens, "FROM")
    names = list(cut_list(tokens[into + 1 + (word_at(tokens, into + 1) == "STRICT") : rest]))
    for at, item in enumerate(cut_list(tokens[begin : min(into, rest)])):
        sign = _place(item, "=") if at >= len(names) else -1
        name = _name(item[:sign]) if 0 < sign < len(item) else _name(names[at]) if sign < 0 else None
        if name is not None:
            yield name, (tokens[0], *item[sign + 1 :], *tokens[rest:])


def _place(tokens: _Tokens, *words: str) -> int:
    """Return where one of some words stands outside brackets; the end when it does not."""
    at = 0
    while at < len(tokens) and word_at(tokens, at) not in words:
        at = (group_end(tokens, at) or len(tokens)) if word_at(tokens, at) == "(" else at + 1
    return at

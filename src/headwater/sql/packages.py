"""Oracle's packages: each procedure and function of a body is a routine of its own.

    CREATE PACKAGE BODY p AS
      total NUMBER := 0;                            →  DECLARE total NUMBER := 0;
      PROCEDURE load (day NUMBER) IS BEGIN … END;   →  CREATE PROCEDURE p.load (day NUMBER) IS BEGIN … END;
    BEGIN … END p;                                  →  BEGIN … END p;

The specification of a package only declares its routines, so that nothing is left of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlglot import TokenType

from headwater.sql.branches import Branches
from headwater.sql.control_flow import routine_at
from headwater.sql.split import Piece
from headwater.sql.tokens import token_like, word_at
from headwater.text import Source

_ROUTINES = frozenset({"PROCEDURE", "FUNCTION"})


def unpack_packages(pieces: Iterable[Piece], source: Source) -> Iterator[Piece]:
    """The same pieces, those inside packages as if they stood outside."""
    inside, heading = False, False  # a package; a routine of it before its BEGIN
    branches, batch, package, nested = Branches(), 0, None, 0
    for piece in pieces:
        named = word_at(piece.tokens, routine_at(piece.tokens) or 0) == "PACKAGE"  # or a specification
        begin = body_at(piece.tokens) if named else None
        if begin is not None:
            inside, heading, branches, batch = True, False, Branches(), piece.batch
            package = piece.tokens[begin - 2]
            if begin == len(piece.tokens):
                continue
            piece = piece.cut(piece.tokens[begin:], source)
        if not inside or piece.batch != batch:
            inside = False
            yield piece
            continue
        first, between = word_at(piece.tokens, 0), branches.depth == 0 and not heading
        if between and first in ("BEGIN", "END"):
            inside = False  # BEGIN … END p is what runs when the package is first used
            yield from [piece] if first == "BEGIN" else ()
            continue
        declares = between and first in _ROUTINES
        defined = first in _ROUTINES and body_at(piece.tokens) is not None
        if declares and not defined:
            continue
        if declares:
            kind, *rest = piece.tokens
            owner = (package, token_like(kind, TokenType.DOT, "."))
            piece = piece.cut((token_like(kind, TokenType.CREATE, "CREATE"), kind, *owner, *rest), source)
        elif between:
            declare = token_like(piece.tokens[0], TokenType.DECLARE, "DECLARE")
            piece = piece.cut((declare, *piece.tokens), source)
        nested += heading and defined
        opened = branches.depth
        branches.read(piece.tokens)
        ends = nested > 0 and opened > branches.depth == 0  # a routine inside the declarations of another
        nested -= ends
        heading = ends or ((heading or declares) and branches.depth == 0)
        yield piece


def body_at(tokens: Sequence[Any]) -> int | None:
    """The place behind the header of a routine; None where the routine is only announced."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and word_at(tokens, at) in ("IS", "AS"):
            return at + 1
    return None

"""Functions that other texts define: in an estate, a script calls those of another file."""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from sqlglot import exp

from headwater.sql.batches import split_batches
from headwater.sql.dialects import MICROSOFT
from headwater.sql.lowering import Node
from headwater.sql.packages import unpack_packages
from headwater.sql.query_functions import QueryFunctions, note_functions
from headwater.sql.split import Piece, parse_piece, split_statements
from headwater.sql.without_lineage import kind_without_lineage
from headwater.sql.wrapped import unwrap
from headwater.text import Source


def noted(source: Source, dialect: str, known: QueryFunctions) -> Iterator[Piece]:
    """The statements of a text before blocks are entered; the functions that they define are put into `known`."""
    pieces = split_statements(source, dialect)
    if dialect in MICROSOFT:
        pieces = split_batches(pieces, source)
    if dialect == "oracle":
        pieces = unpack_packages(pieces, source)
    return note_functions(unwrap(pieces, source), source, dialect, known)


def keep_function(functions: dict[str, Node], node: Node | None) -> None:
    """Keep the function that a CREATE defines, by its name alone and with its schema."""
    if isinstance(node, exp.Create) and isinstance(node.this, exp.UserDefinedFunction):
        name, owner = node.this.this.name.lower(), node.this.this.text("db").lower()
        functions[name] = functions[f"{owner}.{name}"] = node


@lru_cache(maxsize=256)
def functions_of(text: str, dialect: str) -> tuple[dict[str, Node], QueryFunctions]:
    """The functions that a text defines, for scripts that call them: their queries have no place there."""
    functions: dict[str, Node] = {}
    known: QueryFunctions = {}
    with suppress(Exception):  # the parser fails in many ways; what it has read until then counts
        for piece in noted(Source(text), dialect, known):
            if kind_without_lineage(piece.tokens) in ("CREATE_FUNCTION", "CREATE_MACRO"):
                with suppress(Exception):
                    keep_function(functions, parse_piece(piece, dialect))
    for routine in itertools.chain(*known.values()):
        routine.is_given = True
    return functions, known

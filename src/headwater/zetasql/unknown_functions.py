"""Calls of functions that nothing defines.

ZetaSQL refuses a statement for one unknown function, and all that it knows of the statement is lost. So the function
is declared: it takes any arguments and gives a value of some type. Its arguments flow to its result, in doubt.
"""

import re
from collections.abc import Callable
from itertools import chain, repeat
from typing import TypeVar

from headwater.errors import InputError
from headwater.lineage.resolver import SchemaResolver
from headwater.model.names import parse_parts
from headwater.zetasql.catalog import Path
from headwater.zetasql.failures import CannotResolve, Reason
from headwater.zetasql.lower import Routine
from headwater.zetasql.reader import Reader
from headwater.zetasql.routines import declare_function, spellings

_MISSING = re.compile(r"Function not found: ((?:`[^`]*`|[^`;\s])+)")
_KINDS = ("STRING", "INT64", "BOOL", "FLOAT64", "ARRAY<STRING>", "DATE")  # tried in turn until the statement fits
_MOST = 25  # unknown functions in one statement
_T = TypeVar("_T")


def resolve_with_unknown_functions(
    resolve: Callable[[], _T], reader: Reader, routines: dict[str, Routine], resolver: SchemaResolver
) -> _T:
    """Resolve a text. A function that is not known is declared, and `routines` says that nothing defines it.

    RAISES: CannotResolve, when it cannot be resolved that way either: the first reason, and nothing is declared.
    """
    declared: list[Path] = []
    kinds = chain(_KINDS, repeat(None))
    kind = next(kinds)
    first: CannotResolve | None = None
    while True:
        try:
            return resolve()
        except CannotResolve as failure:
            first = first or failure
            missing = _missing_function(failure)
            if missing is not None and missing not in declared and len(declared) < _MOST:
                declared.append(missing)
            elif failure.reason is Reason.TYPES and declared:
                kind = next(kinds)
            else:
                kind = None
        if kind is None:
            _forget(declared, reader, routines, resolver)
            raise first
        for path in declared:
            routine = declare_function(reader, path, kind, resolver)
            routines.update((".".join(each).lower(), routine) for each in spellings(path, resolver))


def _missing_function(failure: CannotResolve) -> Path | None:
    found = _MISSING.match(failure.message) if failure.reason is Reason.UNKNOWN_FUNCTION else None
    try:
        return parse_parts(found[1]) if found is not None else None
    except InputError:
        return None


def _forget(paths: list[Path], reader: Reader, routines: dict[str, Routine], resolver: SchemaResolver) -> None:
    for path in paths:
        for each in spellings(path, resolver):
            reader.catalog.functions.pop(each, None)
            routines.pop(".".join(each).lower(), None)

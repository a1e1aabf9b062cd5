"""Calls of functions that nothing defines.
ZetaSQL refuses a statement for one unknown function, and all that it knows of the statement is lost. So the function
is declared: it takes any arguments and gives a value of some type. Its arguments flow to its result, in doubt."""

import re
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import TypeVar

from headwater.errors import InputError
from headwater.lineage.resolver import SchemaResolver
from headwater.model.names import parse_parts
from headwater.zetasql.builtins import BUILTIN_FOLDERS
from headwater.zetasql.catalog import Path, last_word
from headwater.zetasql.failures import CannotResolve, Reason
from headwater.zetasql.lower import ResolvedRoutine
from headwater.zetasql.messages import function
from headwater.zetasql.reader import Reader
from headwater.zetasql.routines import declare_function, spellings

_MISSING = re.compile(r"Function not found: ((?:`[^`]*`|[^`;\s])+)")
_CALLS = re.compile(r"(?<![\w.`])((?:`[\w-]+`|[A-Za-z_][\w-]*)(?:\s*\.\s*(?:`\w+`|\w+)){1,2})\s*\(")
_WORDS = re.compile(r"\w+")
_OWN_FOLDERS = BUILTIN_FOLDERS | {"safe"}
_KINDS = ("STRING", "INT64", "BOOL", "FLOAT64", "ARRAY<STRING>", "DATE")  # tried in turn until the statement fits
_MOST = 25  # unknown functions in one statement
_T = TypeVar("_T")


def resolve_with_unknown_functions(
    resolve: Callable[[], _T],
    text: str,
    reader: Reader,
    routines: dict[str, ResolvedRoutine],
    resolver: SchemaResolver,
) -> _T:
    """Resolve a text. A function that is not known is declared, and `routines` says that nothing defines it.
    RAISES: CannotResolve, when it cannot be resolved that way either: the first reason, and nothing is declared."""
    for path in _calls(text):  # also in the body of a function: a later call of it cannot tell which one is meant
        _found_without_project(path, reader, routines)
    declared = _declared_before(text, routines)
    kinds = chain(_KINDS, repeat(None))
    kind: str | None = None
    first: CannotResolve | None = None
    while True:
        try:
            return resolve()
        except CannotResolve as failure:
            missing = _missing_function(failure)
            if missing is not None and _found_without_project(missing, reader, routines):
                continue  # not the first reason: whether it is met depends on what was resolved before
            first = first or failure
            if missing is not None and missing not in declared and len(declared) < _MOST:
                declared += dict.fromkeys([missing, *unknown_calls(text, reader)])
                kind = kind or next(kinds)
            elif failure.reason is Reason.TYPES and declared:
                kind = next(kinds)
            else:
                kind = None
        if kind is None:
            for path in declared:
                for each in spellings(path, resolver):
                    reader.catalog.functions.pop(each, None)
                    routines.pop(".".join(each).lower(), None)
            raise first
        for path in declared:
            routine = declare_function(reader, path, kind, resolver)
            routines.update((".".join(each).lower(), routine) for each in spellings(path, resolver))


def _declared_before(text: str, routines: dict[str, ResolvedRoutine]) -> list[Path]:
    """The functions that an earlier statement had declared and a text may call: this one may need another type."""
    words = set(_WORDS.findall(text.lower()))
    names = {routine.name: last_word(routine.name) for routine in routines.values() if routine.is_guess}
    return [tuple(name.split(".")) for name, word in names.items() if word in words]


def _found_without_project(path: Path, reader: Reader, routines: dict[str, ResolvedRoutine]) -> bool:
    """Let `p.d.f` mean the function that was defined as `d.f`, if nobody said of which project that is."""
    short = path[-2:]
    routine = routines.get(".".join(short).lower()) if len(path) > len(short) else None
    if routine is None:
        return False
    content = next((reader.catalog.functions[each] for each in reader.catalog.functions if _same(each, short)), None)
    if path in reader.catalog.functions or routine.name.count(".") != 1 or content is None:
        return False
    proto = function.FunctionProto.FromString(content)
    proto.name_path[:] = path
    reader.catalog.functions[path] = proto.SerializeToString()
    routines[".".join(path).lower()] = routine
    return True


def _same(path: Path, other: Path) -> bool:
    return tuple(map(str.lower, path)) == tuple(map(str.lower, other))


def unknown_calls(text: str, reader: Reader) -> Iterator[Path]:
    """The functions with dotted names that a text calls and nothing defines: one refusal names only one."""
    known = {tuple(map(str.lower, path)) for path in reader.catalog.functions}
    for path in _calls(text):
        lowered = tuple(map(str.lower, path))
        if lowered not in known and lowered[-2:] not in known and lowered[0] not in _OWN_FOLDERS:
            yield path


def _calls(text: str) -> Iterator[Path]:
    for match in _CALLS.finditer(text):
        yield tuple(part.strip("` \t\n") for part in match[1].split("."))


def _missing_function(failure: CannotResolve) -> Path | None:
    found = _MISSING.match(failure.message) if failure.reason is Reason.UNKNOWN_FUNCTION else None
    try:
        return parse_parts(found[1]) if found is not None else None
    except InputError:
        return None

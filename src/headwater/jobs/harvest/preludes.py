"""Functions that earlier scripts define, made known to the units of a batch.

ZetaSQL takes longer to take in a function than to resolve a call of it, and a catalog with other functions must be
registered anew. So functions are taken in once, and stay for later batches, which know those that their units name. A
unit shares them if it cannot tell the difference: it calls none of them but those that it is to know.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from headwater.jobs.harvest.units import Prelude, Unit, last_part
from headwater.lineage.effects import UseNamespace
from headwater.lineage.resolver import SchemaResolver
from headwater.lineage.script import FrontEnd
from headwater.sql.frontend import SqlFrontEnd
from headwater.text import Source
from headwater.zetasql.engine import ZetaSqlEngine
from headwater.zetasql.frontend import Functions, GoogleSqlFrontEnd
from headwater.zetasql.split import ScriptPiece, split_script

_ROUTINES = ("CreateFunctionStatement", "CreateProcedureStatement", "CreateTableFunctionStatement")


@dataclass(frozen=True)
class SharedFunctions:
    """The functions of a batch."""

    functions: Functions
    preludes: dict[Prelude, frozenset[str]]  # with the names that each defines

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset().union(*self.preludes.values())

    def fit(self, unit: Unit) -> bool:
        """Return whether a unit has the same answer with all of these as with its own alone."""
        own = {*unit.prelude, unit.defines}
        others = (name for prelude, names in self.preludes.items() if prelude not in own for name in names)
        return self.preludes.keys() >= set(unit.prelude) and not any(map(unit.may_call, others))


NOTHING = SharedFunctions(Functions(), {})
_kept: WeakKeyDictionary[ZetaSqlEngine, dict[str, SharedFunctions]] = WeakKeyDictionary()


def share_functions(
    units: Iterable[Unit], front_end: FrontEnd[Any], resolver: SchemaResolver
) -> SharedFunctions | None:
    """Take in the functions of a batch, but for those that read tables and those of one name."""
    if not isinstance(front_end, GoogleSqlFrontEnd):
        return None
    kept = _kept.setdefault(front_end.engine, {})
    before = kept.get(front_end.dialect, NOTHING)
    wanted = {each for unit in units for each in (*unit.prelude, unit.defines) if each is not None}
    usable = _usable(wanted, front_end)
    if any(each not in before.preludes and not names.isdisjoint(before.names) for each, names in usable.items()):
        before = NOTHING  # which has others of these names: those of another estate, or as they were
    words = {last_part(name) for names in usable.values() for name in names}
    front_end.know(before.functions.only(words), {each.text for each in usable})
    usable = {
        each: names
        for each, names in usable.items()
        if each in before.preludes or _define_whole(each, front_end, resolver)
    }
    found = SharedFunctions(front_end.functions, usable)
    kept[front_end.dialect] = SharedFunctions(before.functions | found.functions, before.preludes | usable)
    return found


def _define_whole(prelude: Prelude, front_end: GoogleSqlFrontEnd, resolver: SchemaResolver) -> bool:
    """Define the functions of a text for a batch, and return whether that is done.

    One that calls a function which the batch does not know is left to each unit that needs it: what ZetaSQL is told
    of the unknown one, for this text to be resolved, must not reach other units.
    """
    known = front_end.functions
    _define([prelude], front_end, resolver)
    if not any(routine.is_guess for routine in front_end.functions.routines.values()):
        return True
    front_end.know(known, {setting.source.text for _, setting in known.definitions})
    return False


def _usable(preludes: Iterable[Prelude], front_end: GoogleSqlFrontEnd) -> dict[Prelude, frozenset[str]]:
    """Those that can be shared, in order, with the names that each defines."""
    named = {each: each.names for each in sorted(preludes, key=lambda each: (each.level, each.text))}
    makers = Counter(name for names in named.values() for name in names)
    return {
        each: names
        for each, names in named.items()
        if all(makers[name] == 1 for name in names) and not front_end.reads_tables(each.text)
    }


def tell_functions(
    unit: Unit, front_end: FrontEnd[Any], resolver: SchemaResolver, shared: SharedFunctions | None
) -> None:
    """Let a front end know the functions that a unit may call."""
    if isinstance(front_end, SqlFrontEnd):
        front_end.know(each.text for each in unit.prelude)
    elif isinstance(front_end, GoogleSqlFrontEnd):
        if shared is not None and shared.fit(unit):
            front_end.know(shared.functions, {each.text for each in unit.prelude})
        else:
            _define(unit.prelude, front_end, resolver)


def _define(preludes: Iterable[Prelude], front_end: GoogleSqlFrontEnd, resolver: SchemaResolver) -> None:
    for each in preludes:
        source = Source(each.text)
        apart = resolver.fork()
        apart.apply(UseNamespace(each.namespace[1], each.namespace[0]))
        read = front_end.begin(source)
        for piece in _routines(read.text, front_end.engine, front_end.dialect):
            front_end.lower(piece, source=source, resolver=apart, deadline=float("inf"))


@lru_cache(maxsize=1024)
def _routines(text: str, engine: ZetaSqlEngine, dialect: str) -> list[ScriptPiece]:
    """The functions and procedures of a text, which is cut once for all units that it is before.
    A text that ZetaSQL does not parse as a whole is parsed piece by piece: that takes seconds."""
    return [piece for piece in split_script(Source(text), engine, dialect) if piece.kind in _ROUTINES]

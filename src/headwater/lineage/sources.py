"""Sets of stored columns that something depends on, and how they combine.
`Sources` maps (stored column, kind) to a `Way`: how certain it is, whether it hides the value, and where in the text
the column is named. These dictionaries are shared between columns and never changed once they have been returned.
Kinds are small integers here, in the order of `Kind`: this is the innermost loop of the analysis."""

from typing import TypeAlias

from headwater.model.edges import ColumnRef, Kind
from headwater.text import Span

KINDS = tuple(Kind)
IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL, WINDOW = range(5)
CODES = {kind: code for code, kind in enumerate(KINDS)}


class Leaf:
    """A stored column or a field inside it. Made once per column and path, so it is compared by identity."""

    __slots__ = ("ref",)

    def __init__(self, ref: ColumnRef) -> None:
        self.ref = ref


Way: TypeAlias = tuple[bool, str | None, Span | None]  # masking, reason for doubt, place of the reference
Sources: TypeAlias = dict[tuple[Leaf, int], Way]

NONE: Sources = {}


def add(into: Sources, sources: Sources) -> None:
    """Add sources as they are."""
    if not into:
        into.update(sources)
        return
    for key, way in sources.items():
        known = into.get(key)
        into[key] = way if known is None else join_ways(known, way)


def add_value(into: Sources, sources: Sources, *, floor: int, masks: bool = False, doubt: str | None = None) -> None:
    """Add sources that take part in a value made by a function: their kind is at least `floor`."""
    for (leaf, code), way in sources.items():
        if masks or doubt:
            way = (way[0] or masks, way[1] or doubt, way[2])
        key = (leaf, floor if code < floor else code)
        known = into.get(key)
        into[key] = way if known is None else join_ways(known, way)


def add_as(into: Sources, sources: Sources, code: int) -> None:
    """Add sources that all matter in one way, whatever they did before: as a condition, a key, a filter."""
    for (leaf, _), way in sources.items():
        key = (leaf, code)
        known = into.get(key)
        into[key] = way if known is None else join_ways(known, way)


def join_ways(one: Way, other: Way) -> Way:
    """Two ways from the same column: certain if one is, masking if both are."""
    doubt = one[1] and other[1]
    return (one[0] and other[0], doubt or None, one[2] or other[2])


def strongest(sources: Sources) -> Sources:
    """The same sources with at most one value kind per column: the strongest."""
    best: dict[Leaf, int] = {}
    for leaf, code in sources:
        if code <= AGGREGATION:
            best[leaf] = max(code, best.get(leaf, code))
    result: Sources = {}
    for (leaf, code), way in sources.items():
        key = (leaf, best[leaf]) if code <= AGGREGATION else (leaf, code)
        known = result.get(key)
        result[key] = way if known is None else join_ways(known, way)
    return result

"""Lines that run together: those between two boxes meet in a ribbon halfway and fan out to both of its sides.
Lines that do not go farther up or down than they are apart stay as they are, unless many of them cross: rows side by
side read better."""

from bisect import bisect_right
from collections import defaultdict
from itertools import combinations
from math import hypot
from typing import TypeAlias

from headwater.view.diagram import Diagram
from headwater.view.layout import Layout, port_offset

_FEWEST = 3  # lines between two boxes that are bundled
_FAR = 48.0  # how much higher or lower the other box must be at least
_APART, _THICKEST = 3.0, 30.0  # between the lines of a ribbon, and of all of it
_STEEPNESS = 1.2  # of a ribbon in its middle, of a straight line's
Turn: TypeAlias = tuple[float, float, float]
"""A point that a line passes, and how steep it is there."""
_End: TypeAlias = tuple[float, float, int]  # the heights at which a line begins and ends, and its number


def bundled(diagram: Diagram, layout: Layout) -> dict[int, tuple[Turn, ...]]:
    """The points that the lines of a diagram pass between their ends, by number."""
    boxes = {box.id: box for box in diagram.boxes}
    borders: dict[float, float] = {}  # where a rank begins → where its widest box ends
    for place in layout.places.values():
        borders[place.x] = max(borders.get(place.x, 0.0), place.x + place.width)
    pairs: dict[tuple[str, str], list[_End]] = defaultdict(list)
    for number, line in enumerate(diagram.lines):
        start, end = layout.places[line.source.box], layout.places[line.target.box]
        if end.x > start.x + start.width:
            top = start.y + port_offset(boxes[line.source.box], line.source.port)
            bottom = end.y + port_offset(boxes[line.target.box], line.target.port)
            pairs[line.source.box, line.target.box].append((top, bottom, number))
    ranks = sorted(borders)
    turns = {number: tuple((x, y, 0.0) for x, y in points) for number, points in layout.bends.items()}
    for (source, _), lines in pairs.items():
        if _run_together(lines, layout):
            left = layout.places[source].x
            turns |= _ribbon(lines, turns, borders[left], ranks[bisect_right(ranks, left)])
    return turns


def _run_together(lines: list[_End], layout: Layout) -> bool:
    if len(lines) < _FEWEST:
        return False
    height = sum(end - start for start, end, _ in lines) / len(lines)
    spread = max(max(each[side] for each in lines) - min(each[side] for each in lines) for side in (0, 1))
    crossings = sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in combinations(lines[:100], 2))
    return abs(height) > max(_FAR, spread) or lines[0][2] in layout.bends or crossings > len(lines)


def _ribbon(
    lines: list[_End], turns: dict[int, tuple[Turn, ...]], left: float, right: float
) -> dict[int, tuple[Turn, ...]]:
    """The turns of lines that are a ribbon: between two ranks, or where they pass the ranks between their boxes."""
    ordered = sorted(lines, key=lambda each: (each[0] + each[1], each))
    first, last = (sum(each[side] for each in lines) / len(lines) for side in (0, 1))
    slope = _STEEPNESS * (last - first) / (right - left)
    waist = ((left + right) / 2, (first + last) / 2, slope)
    step = min(_APART, _THICKEST / len(lines))
    found = {}
    for at, (_, _, number) in enumerate(ordered):
        shift = (at - (len(lines) - 1) / 2) * step
        passed = turns.get(number) or (waist,)
        found[number] = tuple((x, y + shift * hypot(1.0, steep), steep) for x, y, steep in passed)
    return found

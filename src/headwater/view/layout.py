"""The layout of boxes: layers from left to right, few crossings, no overlap.

1. *Ranks*: a box stands right of everything it is made of (longest path); lines that go round in circles are
   taken the other way. Sources are then pulled towards what uses them.
2. *Dummies*: a line over several ranks gets a place in each rank it passes.
3. *Order*: sweeps from left to right and back put each box at the mean height of its neighbours' rows — rows, not
   boxes, because that is where the lines end; the order with the fewest crossings of weighted neighbours is kept.
4. *Heights*: boxes are set as near to that mean as their neighbours in the rank allow.

Everything is deterministic: the same diagram has the same picture. A picture that grows out of another keeps the
order of the boxes that both have, so that who looks at it does not lose them; boxes of one group stay together.
"""

import math
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest

from headwater.view.diagram import Box, Diagram
from headwater.view.measure import text_width

TITLE_HEIGHT = 26.0
ROW_HEIGHT = 20.0
FONT_SIZE = 12.0
_PADDING = 12.0
_NARROWEST, _WIDEST = 90.0, 330.0
_GAP_X, _GAP_Y = 90.0, 22.0
_PER_LINE, _MOST_GAP = 1.5, 180.0  # more room between ranks for each line that runs there
_SWEEPS, _MOST_SWEEPS = 10, 120
_CAREFUL, _EFFORT = 4_000, 40_000  # pieces of lines up to which orders are compared; pieces times sweeps for that
BADGE_WIDTH = 34.0  # of a count beside a title
FOLD_WIDTH = 15.0  # of the mark that opens and closes a box
_FRAME_PADDING, _FRAME_TITLE = 12.0, 20.0
_GROUP_GAP = 2 * _FRAME_PADDING + _FRAME_TITLE


@dataclass(frozen=True, slots=True)
class BoxPlace:
    """The position and size of a box."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of the boxes, the turning points of long lines, the frames of groups, and the size of the whole."""

    places: dict[str, BoxPlace]
    bends: dict[int, tuple[tuple[float, float], ...]]  # number of the line → points it passes between its ends
    width: float
    height: float
    frames: tuple[tuple[str, BoxPlace], ...] = ()  # a group may have several, one in each rank


def box_size(box: Box) -> tuple[float, float]:
    """The width and height a box needs for its text."""
    texts = [
        text_width(box.title, FONT_SIZE + 1, bold=True),
        *(text_width(port.label, FONT_SIZE) for port in box.ports),
    ]
    left, right = title_margins(box)
    width = min(_WIDEST, max(_NARROWEST, max(texts) + 2 * _PADDING)) + left + right
    return width, TITLE_HEIGHT + ROW_HEIGHT * (len(box.ports) + bool(box.more))


def title_margins(box: Box) -> tuple[float, float]:
    """The room left and right of a title that marks and counts need."""
    left = (FOLD_WIDTH if box.folded is not None else 0.0) + (BADGE_WIDTH if box.before else 0.0)
    return left, BADGE_WIDTH if box.after else 0.0


def port_offset(box: Box, port: str | None) -> float:
    """Return how far below the top of its box the line of a port ends."""
    if port is not None:
        for at, each in enumerate(box.ports):
            if each.id == port:
                return TITLE_HEIGHT + ROW_HEIGHT * (at + 0.5)
    return TITLE_HEIGHT / 2


def lay_out(diagram: Diagram, *, near: Layout | None = None) -> Layout:
    """Place the boxes of a diagram; those that stand in `near` keep their order."""
    return _Layering(diagram, near).layout()


_Segment = tuple[int, float, float]  # the other node, the offset there, the offset here


class _Layering:
    """One layout in the making. Nodes are numbers: the boxes first, then the dummies."""

    def __init__(self, diagram: Diagram, near: Layout | None) -> None:
        self.boxes = diagram.boxes
        known = near.places if near is not None else {}
        self.before = {number: known[box.id].y for number, box in enumerate(self.boxes) if box.id in known}
        self.groups = [box.group for box in self.boxes]
        self.grouped = any(self.groups)
        index = {box.id: number for number, box in enumerate(diagram.boxes)}
        self.sizes = [box_size(box) for box in diagram.boxes]
        self.lines = [
            (
                index[line.source.box],
                index[line.target.box],
                port_offset(self.boxes[index[line.source.box]], line.source.port),
                port_offset(self.boxes[index[line.target.box]], line.target.port),
            )
            for line in diagram.lines
        ]
        pairs = dict.fromkeys((source, target) for source, target, _, _ in self.lines if source != target)
        self.forward = _without_cycles(len(self.boxes), list(pairs))
        self.ranks = _ranks(len(self.boxes), [pair for pair, kept in self.forward.items() if kept])
        self.into: dict[int, list[_Segment]] = defaultdict(list)
        self.out: dict[int, list[_Segment]] = defaultdict(list)
        self.chains: dict[tuple[int, int], list[int]] = {}
        self._add_segments()

    def layout(self) -> Layout:
        layers: list[list[int]] = [[] for _ in range(max(self.ranks, default=0) + 1)]
        for node, rank in enumerate(self.ranks):
            layers[rank].append(node)
        tops = [0.0] * len(self.ranks)
        for layer in layers:
            if self.before:
                layer.sort(key=lambda node: self.before.get(node, math.inf))
            self._stack(layer, tops, [self.before.get(node, float(at)) for at, node in enumerate(layer)])
        self._sweep(layers, tops)
        for layer in layers:  # at last, both sides have a say in the heights
            self._settle(layer, tops, self.into, self.out, reorder=False)
        return self._placed(layers, tops)

    def _sweep(self, layers: list[list[int]], tops: list[float]) -> None:
        """Order the layers. Small pictures are swept often, and the best of all orders is taken; a large one has few
        sweeps, each about as good as the one before."""
        segments = sum(map(len, self.out.values()))
        careful = segments <= _CAREFUL
        best: tuple[int, list[list[int]], list[float]] | None = None
        effort = _EFFORT // 4 if self.before else _EFFORT  # what stands already leaves little to choose
        sweeps = min(_MOST_SWEEPS, max(_SWEEPS, effort // max(1, segments))) if careful else _SWEEPS
        for sweep in range(sweeps):
            if careful and sweep == sweeps // 2 and not self.before:  # a second start, from the other side
                for layer in layers:
                    layer.reverse()
                    self._stack(layer, tops, [float(at) for at in range(len(layer))])
            rightward = sweep % 2 == 0
            both = careful and sweep % 6 >= 4  # now and then both sides pull, which leads out of a dead end
            sides = (self.into, self.out) if both else (self.into,) if rightward else (self.out,)
            for layer in layers if rightward else reversed(layers):
                self._settle(layer, tops, *sides)
            if careful:
                count = self._crossings(layers, tops)
                if best is None or count < best[0]:
                    best = count, [list(layer) for layer in layers], list(tops)
        if best is not None:
            _, layers[:], tops[:] = best

    def _crossings(self, layers: list[list[int]], tops: list[float]) -> int:
        """Return how many pieces between neighbouring layers cross."""
        total = 0
        for layer in layers:
            ends = [
                (tops[node] + here, tops[other] + there)
                for node in layer
                for other, there, here in self.out.get(node, ())
            ]
            ends.sort()
            seen: list[float] = []
            for _, end in ends:
                total += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return total

    def _add_segments(self) -> None:
        """Cut lines that pass ranks into pieces between neighbouring ranks; lines of one pair share their dummies."""
        for source, target, at_source, at_target in self.lines:
            if source == target:
                continue
            if not self.forward[source, target]:
                source, target, at_source, at_target = target, source, at_target, at_source
            chain = self._chain(source, target)
            steps = [source, *chain, target]
            for number, (one, other) in enumerate(pairwise(steps)):
                here = at_source if number == 0 else 0.0
                there = at_target if number == len(steps) - 2 else 0.0
                self.out[one].append((other, there, here))
                self.into[other].append((one, here, there))

    def _chain(self, source: int, target: int) -> list[int]:
        chain = self.chains.get((source, target))
        if chain is None:
            chain = []
            for rank in range(self.ranks[source] + 1, self.ranks[target]):
                chain.append(len(self.ranks))
                self.ranks.append(rank)
                self.sizes.append((0.0, 0.0))
                self.groups.append("")
            self.chains[source, target] = chain
        return chain

    def _settle(
        self, layer: list[int], tops: list[float], *sides: dict[int, list[_Segment]], reorder: bool = True
    ) -> None:
        """Move the nodes of a layer towards their neighbours on some sides."""
        wanted = []
        for node in layer:
            pulls = [tops[other] + there - here for side in sides for other, there, here in side.get(node, ())]
            wanted.append(sum(pulls) / len(pulls) if pulls else tops[node])
        if reorder:
            order = self._ordered(layer, [want + self.sizes[node][1] / 2 for node, want in zip(layer, wanted)])
            layer[:] = [layer[at] for at in order]
            wanted = [wanted[at] for at in order]
        self._stack(layer, tops, wanted)

    def _ordered(self, layer: list[int], middles: list[float]) -> list[int]:
        """The order in which a layer would like to stand: by middles, groups together, known boxes as they stood."""
        order = sorted(range(len(layer)), key=lambda at: (middles[at], at))
        if self.before:
            places = [number for number, at in enumerate(order) if layer[at] in self.before]
            known = sorted((order[number] for number in places), key=lambda at: self.before[layer[at]])
            for number, at in zip(places, known):
                order[number] = at
        if self.grouped:
            first: dict[str, int] = {}
            for number, at in enumerate(order):
                first.setdefault(self.groups[layer[at]] or f"\0{at}", number)
            order.sort(key=lambda at: first[self.groups[layer[at]] or f"\0{at}"])
        return order

    def _gap(self, node: int, below: int | None) -> float:
        apart = self.grouped and below is not None and self.groups[node] != self.groups[below]
        return _GAP_Y + (_GROUP_GAP if apart else 0.0)

    def _stack(self, layer: list[int], tops: list[float], wanted: list[float]) -> None:
        """Set the nodes of a layer one below the other, as near as can be to where they want to be.
        Heights taken off, what is left is a sequence that must not fall: neighbours that want to pass each other are
        pooled at their mean, which is the nearest such sequence (pool adjacent violators)."""
        blocks: list[tuple[float, int]] = []  # mean, number of nodes
        used, offsets = 0.0, []
        for node, below, want in zip_longest(layer, layer[1:], wanted):
            offsets.append(used)
            mean, count = want - used, 1
            while blocks and blocks[-1][0] > mean:
                before, many = blocks.pop()
                mean, count = (before * many + mean * count) / (many + count), many + count
            blocks.append((mean, count))
            used += self.sizes[node][1] + self._gap(node, below)
        at = 0
        for mean, count in blocks:
            for _ in range(count):
                tops[layer[at]] = mean + offsets[at]
                at += 1

    def _placed(self, layers: list[list[int]], tops: list[float]) -> Layout:
        room = _FRAME_PADDING if self.grouped else 0.0
        top = min(tops, default=0.0) - (room + _FRAME_TITLE if self.grouped else 0.0)
        places: dict[str, BoxPlace] = {}
        middles: dict[int, tuple[float, float]] = {}
        frames: list[tuple[str, BoxPlace]] = []
        x = room
        for number, layer in enumerate(layers):
            widest = max((self.sizes[node][0] for node in layer), default=0.0)
            for node in layer:
                if node < len(self.boxes):
                    width, height = self.sizes[node]
                    places[self.boxes[node].id] = BoxPlace(x, tops[node] - top, width, height)
                else:
                    middles[node] = (x + widest / 2, tops[node] - top)
            frames += self._frames(layer, places)
            lines = sum(len(self.out.get(node, ())) for node in layer)
            x += widest + _GAP_X + (min(_MOST_GAP, _PER_LINE * lines) if number + 1 < len(layers) else 0.0)
        bends = {}
        for number, (source, target, _, _) in enumerate(self.lines):
            chain = self.chains.get((source, target)) or self.chains.get((target, source), [])[::-1]
            if chain:
                bends[number] = tuple(middles[node] for node in chain)
        height = max((place.y + place.height for place in places.values()), default=0.0) + room
        return Layout(places, bends, max(0.0, x - _GAP_X + room), height, tuple(self._joined(frames, places)))

    def _joined(
        self, frames: list[tuple[str, BoxPlace]], places: dict[str, BoxPlace]
    ) -> Iterator[tuple[str, BoxPlace]]:
        """One frame for each group, unless a box of another one would stand inside it."""
        groups: dict[str, list[BoxPlace]] = {}
        for group, place in frames:
            groups.setdefault(group, []).append(place)
        strangers = {box.id: box.group for box in self.boxes}
        for group, parts in groups.items():
            whole = _around(parts)
            if any(strangers[id] != group and _touch(whole, place) for id, place in places.items()):
                yield from ((group, part) for part in parts)
            else:
                yield group, whole

    def _frames(self, layer: list[int], places: dict[str, BoxPlace]) -> Iterator[tuple[str, BoxPlace]]:
        """A frame around each run of boxes of one group."""
        for group, nodes in groupby(layer, key=lambda node: self.groups[node]):
            inside = [places[self.boxes[node].id] for node in nodes if group]
            if inside:
                left, top = inside[0].x - _FRAME_PADDING, inside[0].y - _FRAME_PADDING - _FRAME_TITLE
                width = max(place.width for place in inside) + 2 * _FRAME_PADDING
                bottom = inside[-1].y + inside[-1].height + _FRAME_PADDING
                yield group, BoxPlace(left, top, width, bottom - top)


def _around(parts: list[BoxPlace]) -> BoxPlace:
    left, top = min(part.x for part in parts), min(part.y for part in parts)
    right, bottom = max(part.x + part.width for part in parts), max(part.y + part.height for part in parts)
    return BoxPlace(left, top, right - left, bottom - top)


def _touch(one: BoxPlace, other: BoxPlace) -> bool:
    across = one.x < other.x + other.width and other.x < one.x + one.width
    return across and one.y < other.y + other.height and other.y < one.y + one.height


def _without_cycles(count: int, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], bool]:
    """For each pair, whether it goes forward; the others close a cycle and are taken backward."""
    follow: dict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        follow[source].append(target)
    forward = dict.fromkeys(pairs, True)
    state = [0] * count  # 0 not seen, 1 on the way, 2 done
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        work = [(root, iter(follow[root]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if state[target] == 1:
                    forward[node, target] = False
                elif state[target] == 0:
                    state[target] = 1
                    work.append((target, iter(follow[target])))
                    break
            else:
                state[node] = 2
                work.pop()
    return forward


def _ranks(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Longest path from the sources; sources are pulled next to their first use. REQUIRES: no cycles."""
    follow: dict[int, list[int]] = defaultdict(list)
    missing = [0] * count
    for source, target in pairs:
        follow[source].append(target)
        missing[target] += 1
    sources = [node for node in range(count) if missing[node] == 0]
    ranks = [0] * count
    ready = list(sources)
    while ready:
        node = ready.pop()
        for target in follow[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            missing[target] -= 1
            if missing[target] == 0:
                ready.append(target)
    for node in sources:
        if follow[node]:
            ranks[node] = min(ranks[target] for target in follow[node]) - 1
    return ranks

"""A laid-out diagram as SVG: one file that stands alone, light or dark, with ids and titles.
Every id is stable (`box-…`, `port-…`, `line-…`), every state is a class, and every text is escaped, so that a page
can build on the same picture that a file shows."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from headwater.text import counted
from headwater.view.bundles import Turn, bundled
from headwater.view.diagram import Box, Diagram, Emphasis, End, Line
from headwater.view.layout import (
    BADGE_WIDTH,
    FOLD_WIDTH,
    FONT_SIZE,
    ROW_HEIGHT,
    TITLE_HEIGHT,
    BoxPlace,
    Layout,
    lay_out,
    port_offset,
    title_margins,
)
from headwater.view.measure import labels
from headwater.view.style import STYLE

_MARGIN = 24.0
_REACH = 40.0  # how far a line that goes back to the left swings out
_CLOSE = 11.0  # how far above its box a line runs that comes back to it: half the space between boxes
_INSET = 12.0


def to_svg(diagram: Diagram, *, title: str = "Lineage", layout: Layout | None = None, styled: bool = True) -> str:
    """Draw a diagram, by itself or (not `styled`) for a page that has the style sheet."""
    layout = layout or lay_out(diagram)
    margin = _MARGIN + (_REACH if any(_goes_back(line, layout) for line in diagram.lines) else 0.0)
    width, height = layout.width + 2 * margin, layout.height + 2 * margin
    boxes = {box.id: box for box in diagram.boxes}
    turns = bundled(diagram, layout)
    titles = labels([box.title for box in diagram.boxes], _title_rooms(diagram, layout), FONT_SIZE + 1, bold=True)
    style = f"<style>{STYLE}</style>" if styled else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hw" role="img" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{escape(title)}</title>{style}",
        '<rect class="paper" width="100%" height="100%"/>',
        f'<g class="all" transform="translate({margin:g} {margin:g})">',
        *_frames(layout.frames),
        *(_line(number, line, boxes, layout, turns.get(number, ())) for number, line in enumerate(diagram.lines)),
        *(_box(box, layout.places[box.id], title) for box, title in zip(diagram.boxes, titles)),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _frames(frames: Sequence[tuple[str, BoxPlace]]) -> Iterator[str]:
    rooms = [place.width - 2 * _INSET for _, place in frames]
    for (_, place), name in zip(frames, labels([group for group, _ in frames], rooms, FONT_SIZE)):
        yield (
            f'<rect class="group" rx="10" x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"'
            f' height="{place.height:.1f}"/>'
            f'<text class="label" x="{place.x + _INSET:.1f}" y="{place.y + 18:.1f}">{escape(name)}</text>'
        )


def _title_rooms(diagram: Diagram, layout: Layout) -> list[float]:
    return [layout.places[box.id].width - 2 * _INSET - sum(title_margins(box)) for box in diagram.boxes]


def _box(box: Box, place: BoxPlace, title: str) -> str:
    left = title_margins(box)[0]
    names = labels([port.label for port in box.ports], [place.width - 2 * _INSET] * len(box.ports), FONT_SIZE)
    rows = "".join(_port(box, at, name) for at, name in enumerate(names))
    if box.more:
        rows += f'<text class="more" x="{_INSET:g}" y="{_baseline(len(box.ports)):g}">+{box.more:,} more</text>'
    rule = f'<line class="rule" x2="{place.width:.1f}" y1="{TITLE_HEIGHT:g}" y2="{TITLE_HEIGHT:g}"/>' if rows else ""
    about = f"{box.title}: {box.note}" if box.note else box.title
    return (
        f'<g class="{_classes("box", box.kind, box.state)}" id="box-{escape(box.id)}"'
        f' transform="translate({place.x:.1f} {place.y:.1f})"><title>{escape(about)}</title>'
        f'<rect class="frame" rx="6" width="{place.width:.1f}" height="{place.height:.1f}"/>'
        f'<rect class="kind" rx="1.5" x="4" y="7" width="3" height="{TITLE_HEIGHT - 14:g}"/>'
        f"{rule}{_marks(box, place)}"
        f'<text class="title" x="{_INSET + left:g}" y="17.5">{escape(title)}</text>{rows}</g>'
    )


def _marks(box: Box, place: BoxPlace) -> str:
    """Return what opens a box further: its columns, and the tables left and right of it that are not drawn."""
    marks, at = "", _INSET
    if box.folded is not None:
        marks += f'<text class="fold" x="{at - 1:g}" y="17">{"▸" if box.folded else "▾"}</text>'
        at += FOLD_WIDTH
    if box.before:
        marks += _badge("before", at - 2, f"‹ {_count(box.before)}", f"{counted(box.before, 'more table')} upstream")
    if box.after:
        x = place.width - _INSET - BADGE_WIDTH + 8
        marks += _badge("after", x, f"{_count(box.after)} ›", f"{counted(box.after, 'more table')} downstream")
    return marks


def _badge(side: str, x: float, text: str, about: str) -> str:
    width = BADGE_WIDTH - 6
    return (
        f'<g class="badge {side}" transform="translate({x:.1f} 5)"><title>{about}</title>'
        f'<rect rx="8" width="{width:g}" height="16"/><text x="{width / 2:g}" y="11.6">{text}</text></g>'
    )


def _count(number: int) -> str:
    return str(number) if number < 100 else "99+"


def _baseline(row: int) -> float:
    return TITLE_HEIGHT + ROW_HEIGHT * row + 14.5


def _classes(*names: str | Emphasis) -> str:
    return escape(" ".join(filter(None, (each.value if isinstance(each, Emphasis) else each for each in names))))


def _port(box: Box, at: int, name: str) -> str:
    port = box.ports[at]
    return (
        f'<text class="{_classes("port", port.state)}" id="port-{escape(box.id)}-{escape(port.id)}" x="{_INSET:g}"'
        f' y="{_baseline(at):g}"><title>{escape(port.label)}</title>{escape(name)}</text>'
    )


def _line(number: int, line: Line, boxes: dict[str, Box], layout: Layout, turns: tuple[Turn, ...]) -> str:
    start, end = layout.places[line.source.box], layout.places[line.target.box]
    first = (start.x + start.width, start.y + _offset(boxes, line.source))
    last = (end.x, end.y + _offset(boxes, line.target))
    if _goes_back(line, layout):
        path = _around(first, last, over=start.y - _CLOSE if start == end else None)
    else:
        path = _through([(*first, 0.0), *turns, (*last, 0.0)])
    title = f"<title>{escape(line.title)}</title>" if line.title else ""
    classes = _classes(
        "line", line.style.value, line.state, "doubtful" if line.doubtful else "", "faint" if line.faint else ""
    )
    return f'<path class="{classes}" id="line-{number}" d="{path}">{title}</path>'


def _goes_back(line: Line, layout: Layout) -> bool:
    start, end = layout.places[line.source.box], layout.places[line.target.box]
    return end.x <= start.x + start.width


def _offset(boxes: dict[str, Box], end: End) -> float:
    return port_offset(boxes[end.box], end.port)


def _through(points: list[Turn]) -> str:
    """A smooth path that leaves and arrives level."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0, slope0), (x1, y1, slope1) in pairwise(points):
        half = (x1 - x0) / 2
        bent = f"{y0 + slope0 * half:.1f} {x1 - half:.1f} {y1 - slope1 * half:.1f}"
        path += f"C{x0 + half:.1f} {bent} {x1:.1f} {y1:.1f}"
    return path


def _around(first: tuple[float, float], last: tuple[float, float], *, over: float | None = None) -> str:
    """A path back to the left: out on the right, over (a box, close to it, if it is the same), in from the left."""
    (x0, y0), (x1, y1) = first, last
    reach = _REACH / 2 if over is not None else _REACH
    right, left = x0 + reach, x1 - reach
    over = min(y0, y1) - _REACH if over is None else over
    return (
        f"M{x0:.1f} {y0:.1f}C{right:.1f} {y0:.1f} {right:.1f} {over:.1f} {x0:.1f} {over:.1f}"
        f"L{x1:.1f} {over:.1f}C{left:.1f} {over:.1f} {left:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    )

"""A laid-out diagram as SVG: one file that stands alone, light or dark, with ids and titles.

Every id is stable (`box-…`, `port-…`, `line-…`), every state is a class, and every text is escaped, so that a page
can build on the same picture that a file shows.
"""

from html import escape
from itertools import pairwise

from headwater.view.diagram import Box, Diagram, End, Line, Port
from headwater.view.layout import FONT_SIZE, ROW_HEIGHT, TITLE_HEIGHT, Layout, Place, lay_out, port_offset
from headwater.view.measure import shortened

_MARGIN = 24.0
_REACH = 40.0  # how far a line that goes back to the left swings out
_INSET = 12.0
_STYLE = """
.hw { --ink: #1f2933; --faint: #7b8794; --paper: #ffffff; --box: #f5f7fa; --edge: #cbd2d9; --flow: #2563eb;
  --decide: #b45309; --rows: #7b8794; font-family: Helvetica, Arial, sans-serif; font-size: 12px; }
@media (prefers-color-scheme: dark) { .hw { --ink: #e4e7eb; --faint: #9aa5b1; --paper: #16191d; --box: #22272e;
  --edge: #3e4c59; --flow: #60a5fa; --decide: #f59e0b; --rows: #7b8794; } }
.hw .paper { fill: var(--paper); } .hw .frame { fill: var(--box); stroke: var(--edge); }
.hw text { fill: var(--ink); } .hw .title { font-weight: bold; font-size: 13px; } .hw .note { fill: var(--faint); }
.hw .rule { stroke: var(--edge); } .hw path.line { fill: none; stroke-width: 1.4; opacity: .8; }
.hw .value { stroke: var(--flow); } .hw .condition { stroke: var(--decide); stroke-dasharray: 6 4; }
.hw .row { stroke: var(--rows); stroke-dasharray: 2 4; } .hw path.line:hover { stroke-width: 3; opacity: 1; }
"""


def to_svg(diagram: Diagram, *, title: str = "Lineage") -> str:
    """Draw a diagram."""
    layout = lay_out(diagram)
    margin = _MARGIN + (_REACH if any(_goes_back(line, layout) for line in diagram.lines) else 0.0)
    width, height = layout.width + 2 * margin, layout.height + 2 * margin
    boxes = {box.id: box for box in diagram.boxes}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hw" role="img" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        f'<g transform="translate({margin:g} {margin:g})">',
        *(_line(number, line, boxes, layout) for number, line in enumerate(diagram.lines)),
        *(_box(box, layout.places[box.id]) for box in diagram.boxes),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _box(box: Box, place: Place) -> str:
    room = place.width - 2 * _INSET
    name = escape(shortened(box.title, FONT_SIZE + 1, room, bold=True))
    rows = "".join(_port(box, port, at, room) for at, port in enumerate(box.ports))
    rule = f'<line class="rule" x2="{place.width:.1f}" y1="{TITLE_HEIGHT:g}" y2="{TITLE_HEIGHT:g}"/>' if rows else ""
    about = f"{box.title}: {box.note}" if box.note else box.title
    return (
        f'<g class="box" id="box-{escape(box.id)}" transform="translate({place.x:.1f} {place.y:.1f})">'
        f"<title>{escape(about)}</title>"
        f'<rect class="frame" rx="6" width="{place.width:.1f}" height="{place.height:.1f}"/>'
        f'{rule}<text class="title" x="{_INSET:g}" y="17.5">{name}</text>{rows}</g>'
    )


def _port(box: Box, port: Port, at: int, room: float) -> str:
    y = TITLE_HEIGHT + ROW_HEIGHT * at + 14.5
    label = escape(shortened(port.label, FONT_SIZE, room))
    return (
        f'<text class="port" id="port-{escape(box.id)}-{escape(port.id)}" x="{_INSET:g}" y="{y:g}">'
        f"<title>{escape(port.label)}</title>{label}</text>"
    )


def _line(number: int, line: Line, boxes: dict[str, Box], layout: Layout) -> str:
    start, end = layout.places[line.source.box], layout.places[line.target.box]
    first = (start.x + start.width, start.y + _offset(boxes, line.source))
    last = (end.x, end.y + _offset(boxes, line.target))
    if _goes_back(line, layout):
        path = _around(first, last)
    else:
        path = _through([first, *layout.bends.get(number, ()), last])
    title = f"<title>{escape(line.title)}</title>" if line.title else ""
    return f'<path class="line {line.style.value}" id="line-{number}" d="{path}">{title}</path>'


def _goes_back(line: Line, layout: Layout) -> bool:
    start, end = layout.places[line.source.box], layout.places[line.target.box]
    return end.x <= start.x + start.width


def _offset(boxes: dict[str, Box], end: End) -> float:
    return port_offset(boxes[end.box], end.port)


def _through(points: list[tuple[float, float]]) -> str:
    """A smooth path that leaves and arrives level."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (x0 + x1) / 2
        path += f"C{half:.1f} {y0:.1f} {half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    return path


def _around(first: tuple[float, float], last: tuple[float, float]) -> str:
    """A path back to the left: out on the right, over, and in from the left."""
    (x0, y0), (x1, y1) = first, last
    right, left, over = x0 + _REACH, x1 - _REACH, min(y0, y1) - _REACH
    return (
        f"M{x0:.1f} {y0:.1f}C{right:.1f} {y0:.1f} {right:.1f} {over:.1f} {x0:.1f} {over:.1f}"
        f"L{x1:.1f} {over:.1f}C{left:.1f} {over:.1f} {left:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    )

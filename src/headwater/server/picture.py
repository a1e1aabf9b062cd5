"""A picture of lineage with what its boxes and lines stand for, and as JSON for the page."""

from dataclasses import dataclass
from typing import TypedDict

from headwater.graph.node_json import NodeJson, node_json
from headwater.graph.steps import Node, Step
from headwater.view.diagram import Box, Diagram, End
from headwater.view.layout import BoxPlace, Layout
from headwater.view.svg import to_svg


@dataclass(frozen=True, slots=True)
class Picture:
    """A diagram with its layout, and the steps that each of its lines stands for."""

    diagram: Diagram
    layout: Layout
    steps: tuple[tuple[Step, ...], ...]  # by line
    starts: tuple[Node, ...]
    cut: bool  # there were more tables than are drawn
    beside: int = 0  # tables one step from where it begins that take part only in ways that are not followed


class PictureBox(TypedDict):
    """A dataset, or a group of them, in a picture."""

    id: str
    kind: str
    ports: list[str]
    before: int
    after: int
    more: int
    folded: bool | None
    x: float
    y: float
    width: float
    height: float


class PictureLine(TypedDict):
    """A line of a picture; `edges` are source column, target column and kind."""

    source: End
    target: End
    style: str
    edges: list[tuple[str, str, str]]


class PictureAnswer(TypedDict):
    """A drawn part of the graph."""

    state: int
    svg: str
    starts: list[NodeJson]
    boxes: list[PictureBox]
    lines: list[PictureLine]
    cut: bool
    beside: int


def picture_json(drawn: Picture, state: int) -> PictureAnswer:
    """A picture as the page takes it; `state` is the number of the state it shows."""
    lines: list[PictureLine] = []
    for line, steps in zip(drawn.diagram.lines, drawn.steps):
        edges = [(step.source.column, step.target.column, step.kind.value) for step in steps]
        lines.append({"source": line.source, "target": line.target, "style": line.style.value, "edges": edges})
    places = drawn.layout.places
    return {
        "state": state,
        "svg": to_svg(drawn.diagram, layout=drawn.layout, styled=False),
        "starts": [node_json(node) for node in drawn.starts],
        "boxes": [_box_json(box, places[box.id]) for box in drawn.diagram.boxes],
        "lines": lines,
        "cut": drawn.cut,
        "beside": drawn.beside,
    }


def _box_json(box: Box, place: BoxPlace) -> PictureBox:
    return {
        "id": box.id,
        "kind": box.kind,
        "ports": [port.id for port in box.ports],
        "before": box.before,
        "after": box.after,
        "more": box.more,
        "folded": box.folded,
        "x": place.x,
        "y": place.y,
        "width": place.width,
        "height": place.height,
    }

"""The formats of answers: the one list of them. A picture is a line here, and a function that draws a diagram.

The functions are imported when they are first needed: most answers are text.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.view.diagram import Diagram


@dataclass(frozen=True)
class PictureFormat:
    """A format, the kind and ending of its files, and its function. `titled` says that the function takes a title."""

    name: str
    media_type: str
    ending: str
    maker: str
    titled: bool = False


PICTURES = {
    each.name: each
    for each in (
        PictureFormat("mermaid", "text/plain", "mmd", "headwater.view.sources:to_mermaid"),
        PictureFormat("dot", "text/plain", "gv", "headwater.view.sources:to_dot"),
        PictureFormat("svg", "image/svg+xml", "svg", "headwater.view.svg:to_svg", titled=True),
        PictureFormat("html", "text/html", "html", "headwater.view.report:to_page", titled=True),
    )
}

ANSWER_FORMATS = ("tree", "table", "json", "csv", *PICTURES)  # of questions to the graph
RESULT_FORMATS = ("tree", "table", "json", "jsonl", "csv", *PICTURES, "openlineage")  # of the lineage of a text


def make_picture(diagram: "Diagram", format: str, *, title: str = "Lineage") -> str:
    """A diagram in one of `PICTURES`."""
    picture = PICTURES[format]
    module, _, function = picture.maker.partition(":")
    make = getattr(import_module(module), function)
    return str(make(diagram, title=title) if picture.titled else make(diagram))

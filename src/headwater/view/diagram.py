"""What a picture shows: boxes with rows in them, and lines between rows."""

from dataclasses import dataclass
from enum import Enum


class Style(Enum):
    """How a line looks, by what it means."""

    VALUE = "value"  # solid: the one is made of the other
    CONDITION = "condition"  # dashed: the one decides about the other
    ROW = "row"  # dotted: the one decides which rows there are


@dataclass(frozen=True, slots=True)
class Port:
    """A row of a box: a column. `id` is unique in its box."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Box:
    """A table with the columns that take part."""

    id: str
    title: str
    ports: tuple[Port, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """Where a line begins or ends: a row of a box, or (port None) the box itself."""

    box: str
    port: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line from what is used to what is made."""

    source: End
    target: End
    style: Style = Style.VALUE
    title: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and lines. REQUIRES: every end names a box, and a port of that box, of the diagram."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...] = ()

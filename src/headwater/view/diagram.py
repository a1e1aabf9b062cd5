"""The content of a picture: boxes with rows in them, and lines between rows."""

from dataclasses import dataclass
from enum import Enum


class Style(Enum):
    """The look of a line, by its meaning."""

    VALUE = "value"  # solid: the one is made of the other
    CONDITION = "condition"  # dashed: the one decides about the other
    ROW = "row"  # dotted: the one decides which rows there are


class Emphasis(Enum):
    """The emphasis of a part of the picture."""

    PLAIN = ""
    FOCUS = "focus"  # the one that was asked about
    ADDED = "added"  # in a comparison: there now, not before
    REMOVED = "removed"  # there before, not now
    CHANGED = "changed"  # there both times, and not the same


@dataclass(frozen=True, slots=True)
class Port:
    """A row of a box: a column. `id` is unique in its box."""

    id: str
    label: str
    state: Emphasis = Emphasis.PLAIN


@dataclass(frozen=True, slots=True)
class Box:
    """A table with the columns that take part.
    A picture that can be opened further says so on its boxes: `before` and `after` count the tables left and right of
    it that are not drawn, `more` the columns that are not, and `folded` whether it shows columns at all."""

    id: str
    title: str
    ports: tuple[Port, ...] = ()
    note: str = ""
    kind: str = "table"
    state: Emphasis = Emphasis.PLAIN
    group: str = ""
    before: int = 0
    after: int = 0
    more: int = 0
    folded: bool | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The end of a line: a row of a box, or (port None) the box itself."""

    box: str
    port: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line from what is used to what is made."""

    source: End
    target: End
    style: Style = Style.VALUE
    title: str = ""
    state: Emphasis = Emphasis.PLAIN
    doubtful: bool = False
    faint: bool = False  # there, and not what the picture is about


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and lines. REQUIRES: every end names a box, and a port of that box, of the diagram.
    Boxes of one group stand together, in a frame with its name."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...] = ()

"""Columns and their marks as JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from headwater.graph.steps import Node
from headwater.graph.tables import WHOLE

if TYPE_CHECKING:
    from headwater.graph.marks import Mark


class MarkJson(TypedDict):
    """A failed check of a version that a column descends from; `column` is None for the dataset as a whole."""

    dataset: str
    column: str | None
    check: str
    version: str | None
    time: datetime
    message: str | None
    doubt: str | None


class NodeJson(TypedDict):
    """A column, or a dataset as a whole (`column` is None); `distance` in steps from where a walk began."""

    dataset: str
    column: str | None
    distance: NotRequired[int]
    marks: NotRequired[list[MarkJson]]


def node_json(node: Node, distance: int | None = None, marks: Sequence["Mark"] = ()) -> NodeJson:
    plain: NodeJson = {"dataset": node.dataset, "column": None if node.column == WHOLE else node.column}
    if distance is not None:
        plain["distance"] = distance
    if marks:
        plain["marks"] = [mark_json(mark) for mark in marks]
    return plain


def mark_json(mark: "Mark") -> MarkJson:
    shown = {name: getattr(mark, name) for name in MarkJson.__annotations__}
    return cast(MarkJson, shown | {"column": None if mark.column == WHOLE else mark.column})

"""Walks over resolved trees, of messages and of the `zetasql` package's objects alike."""

from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Any

from headwater.zetasql.lower.lowering import unwrap


def walk_resolved_tree(node: Any, visitor_fn: Callable[[Any], object]) -> None:
    """Call `visitor_fn` for every resolved node, parents before children, children in order."""
    stack = [unwrap(node) if hasattr(node, "DESCRIPTOR") else node]
    while stack:
        current = stack.pop()
        if current is not None:
            visitor_fn(current)
            stack.extend(reversed(list(resolved_children(current))))


def resolved_children(node: Any) -> Iterator[Any]:
    """The resolved nodes and columns directly inside a node, in order."""
    return _message_children(node) if hasattr(node, "DESCRIPTOR") else _object_children(node)


@singledispatch
def visit_resolved_node(node: Any, finder: Any) -> None:
    """Visit a node, by its type; nothing, unless a function was registered for the type.

    >>> from zetasql.types import ResolvedTableScan                       # doctest: +SKIP
    >>> @visit_resolved_node.register                                      # doctest: +SKIP
    ... def _(node: ResolvedTableScan, finder) -> None:
    ...     finder.tables.add(node.table.name)

    Hand it to the walk: `walk_resolved_tree(stmt, lambda node: visit_resolved_node(node, finder))`.
    """


def _message_children(message: Any) -> Iterator[Any]:
    """The resolved nodes directly inside a message; what it inherits is kept in its `parent`, outermost first."""
    levels = [message]
    while "parent" in type(levels[-1]).DESCRIPTOR.fields_by_name:
        levels.append(levels[-1].parent)
    for level in reversed(levels):
        for field, value in level.ListFields():
            if field.message_type is None or field.name == "parent":
                continue
            for each in value if field.is_repeated else (value,):
                name = type(each).__name__
                if name.startswith("AnyResolved"):
                    inner = unwrap(each)
                    if inner is not None:
                        yield inner
                elif name.startswith("Resolved"):
                    yield each


def _object_children(node: Any) -> Iterator[Any]:
    for name in _field_names(type(node)):
        value = getattr(node, name, None)
        for each in value if isinstance(value, list) else (value,):
            if type(each).__name__.startswith("Resolved"):
                yield each


def _field_names(kind: type) -> Iterator[str]:
    seen: set[str] = set()
    for base in reversed(kind.__mro__):
        for name in getattr(base, "_PROTO_FIELD_MAP", ()):
            if name not in seen:
                seen.add(name)
                yield name

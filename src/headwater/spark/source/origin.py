"""The hook by which the agent gives a commit the lineage of the query that makes it."""

from collections.abc import Callable

from headwater.lake.metadata.snapshot import Origin

_hook: Callable[[int], Origin | None] = lambda _: None  # noqa: E731


def set_origin_of(hook: Callable[[int], Origin | None] | None) -> None:
    """Ask `hook` for the origin of a write that brings none, with the id of Spark's SQL execution."""
    global _hook
    _hook = hook or (lambda _: None)


def origin_of(execution_id: int) -> Origin | None:
    """The origin of what an execution writes, if an agent watches."""
    return _hook(execution_id)

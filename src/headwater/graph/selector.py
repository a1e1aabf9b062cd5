"""The names of parts of the graph, as people write them: `2+shop.orders.total+1`.

A name is a dataset or a column of one; `*` and `?` stand for any characters. A number and a plus before it ask for so
many steps upstream, behind it downstream; a plus alone for all there are.

>>> parse_selector("2+shop.orders.total+")
Selector(pattern='shop.orders.total', up=2, down=None)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from shlex import quote

from headwater.errors import NotFoundError, UsageError
from headwater.graph.index import EdgeIndex
from headwater.graph.tables import WHOLE
from headwater.text import suggest

_FORM = re.compile(r"(?:(?P<up>\d*)\+)?(?P<name>.+?)(?:\+(?P<down>\d*))?")


@dataclass(frozen=True, slots=True)
class Selector:
    """A name or pattern, and how far to go from it: None for all the way, 0 for not at all."""

    pattern: str
    up: int | None = 0
    down: int | None = 0


def parse_selector(text: str) -> Selector:
    """RAISES: UsageError."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"{text!r} does not name anything", hint="for example `shop.orders.total` or `2+shop.*.id+1`"
        )
    return Selector(found["name"], _steps(found["up"]), _steps(found["down"]))


def _steps(text: str | None) -> int | None:
    return 0 if text is None else int(text) if text else None


def matching(index: EdgeIndex, pattern: str) -> list[int]:
    """The nodes that a name or pattern means: a column, or all columns of a dataset. Exact names come before names in
    another case, and those before patterns. RAISES: NotFoundError with the nearest name."""
    for found in _ways(index, pattern):
        if found:
            return sorted(found)
    known = [*index.datasets, *(f"{a}.{b}" for a, b in index.nodes if b != WHOLE)]
    hint = suggest(pattern, known, f"`headwater search {quote(pattern)}` looks for names")
    raise NotFoundError(f"nothing in the graph is called `{pattern}`", hint=hint)


def _ways(index: EdgeIndex, pattern: str) -> Iterable[list[int]]:
    yield list(index.datasets.get(pattern, ()))
    dataset, _, column = pattern.rpartition(".")
    while dataset:
        id = index.id_of(dataset, column)
        if id is not None:
            yield [id]
        dataset, _, rest = dataset.rpartition(".")
        column = f"{rest}.{column}"
    folded = pattern.lower()
    yield [id for id, (a, b) in enumerate(index.nodes) if folded in (a.lower(), f"{a}.{b}".lower())]
    if any(char in pattern for char in "*?["):
        wanted = re.compile(translate(pattern), re.IGNORECASE)
        yield [id for id, (a, b) in enumerate(index.nodes) if wanted.match(f"{a}.{b}")]

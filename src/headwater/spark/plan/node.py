"""A Catalyst plan as Python sees it: light nodes with the fields of Spark's own case classes.

Expressions stay as the dump writes them, nested lists, because a plan has many of them and each is looked at once:

    7                               the column with that exprId
    null                            a literal
    ["=", 9, "total", E, PLACE]     `E AS total`, a new column; PLACE may be missing
    ["Upper", "upper", E, …]        a call: Catalyst's class, the function's name, operands; a last object says more
    ["->", E, 11, 12]               a lambda and its parameters
    ["?", "ScalarSubquery", 3]      a subquery, by the number of its plan
    {"text": "city"}                the name of a field, where a literal is one

A PLACE is `{"call": "withColumn", "at": "/jobs/a.py:22"}` in Python or `{"text": 0, "start": 7, "end": 15}` in SQL.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Encoded: TypeAlias = Any
"""An expression as the dump writes it."""

Place: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """One column of a node's output."""

    id: int
    name: str
    type: str


@dataclass(slots=True, eq=False)
class PlanNode:
    """One operator of a plan. Two nodes are equal when they are the same one."""

    name: str  # the simple name of Catalyst's class
    fields: dict[str, Any] = field(default_factory=dict)
    children: tuple["PlanNode", ...] = ()
    output: tuple[PlanColumn, ...] = ()  # where the order of columns matters: leaves, branches of a union, the root …
    origin: Place | None = None
    live: Callable[[], Any] = lambda: None
    _inner: "tuple[PlanNode, ...] | None" = field(default=None, init=False, repr=False)

    @property
    def jvm(self) -> Any:
        """The live plan in Spark's JVM: what the dump leaves out can be asked of it."""
        return self.live()

    @property
    def child(self) -> "PlanNode":
        """The only child."""
        return self.children[0]

    @property
    def inner(self) -> tuple["PlanNode", ...]:
        """Plans that are fields and not children: the query of a command, the body of a view. Looked for once."""
        if self._inner is None:
            self._inner = tuple(each for value in self.fields.values() for each in _plans_in(value))
        return self._inner

    def get(self, name: str) -> Any:
        """A field by the name that Spark gives it; None when this Spark has no such field."""
        return self.fields.get(name)

    def walk(
        self, follows: Callable[["PlanNode", "PlanNode"], bool] = lambda above, below: True
    ) -> Iterator["PlanNode"]:
        """This node and every one below it, subqueries and inner plans too; each once, parents first.

        `follows` says whether to go from a node to one below it.
        """
        seen: set[int] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            stack.extend(each for each in reversed((*node.children, *node.inner)) if follows(node, each))


def _plans_in(value: Any) -> Iterator[PlanNode]:
    if isinstance(value, PlanNode):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, PlanNode | list | dict):
                yield from _plans_in(each)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan, the SQL texts its places point into, and whether (and why) expressions are missing."""

    root: PlanNode
    texts: tuple[str, ...] = ()
    truncated: bool = False
    reason: str = "the plan is too large"

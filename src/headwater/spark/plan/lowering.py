"""Lowering a Catalyst plan to the relation tree: the state of one lowering, and the register of operators.

Catalyst's exprIds are the column ids of the relation tree, with one exception. An operator may give its output the
ids of its input: a union takes those of its first branch, a reference to a CTE those of the definition. In the
relation tree an id means one thing everywhere, so such an operator gets fresh ids, and `Lowered.renamed` remembers,
for the operators above it only, which id now means which column.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from headwater.errors import Issue, IssueCode, Severity
from headwater.model.names import TableName
from headwater.model.relation import Attribute, Relation
from headwater.spark.plan.node import Plan, PlanNode
from headwater.spark.plan.places import Places

_FIRST_FRESH = 1 << 48  # above every exprId


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A node lowered: its relation, and what ids of the plan mean above it when they do not mean themselves."""

    relation: Relation
    renamed: dict[int, int] = field(default_factory=dict)


TablesOf: TypeAlias = Callable[[PlanNode], tuple[TableName, ...]]
"""Names the stored tables behind a leaf: usually one, none when nothing is stored there."""

Lower: TypeAlias = Callable[["PlanLowering", PlanNode, tuple[LoweredNode, ...]], LoweredNode]
_OPERATORS: dict[str, Lower] = {}


def lowers(*names: str) -> Callable[[Lower], Lower]:
    """Register the lowering of operators, by the simple names of their classes."""

    def register(function: Lower) -> Lower:
        for name in names:
            _OPERATORS[name] = function
        return function

    return register


class PlanLowering:
    """One plan being lowered.

    `earlier` are plans whose rows later plans take up by the same ids: the micro-batch behind a `foreachBatch`, a
    checkpointed DataFrame.
    """

    def __init__(
        self, plan: Plan, tables_of: TablesOf, *, earlier: tuple[Plan, ...] = (), redacted: bool = True
    ) -> None:
        self.plan = plan
        self.tables_of = tables_of
        self.places = Places(plan.texts, redacted=redacted)
        self.issues: list[Issue] = []
        self.common: dict[int, int] = {}  # of WITH expressions: their id → the column that holds the value
        self.outer: dict[int, int] = {}  # of the queries around a subquery
        self._earlier: dict[tuple[int, ...], tuple[PlanNode, int]] = {}
        self._next = _FIRST_FRESH
        self._done: dict[int, LoweredNode] = {}
        for one in (plan, *earlier):
            for node in one.root.walk():
                self.places.names |= {column.id: column.name for column in node.output}
        for one in earlier:
            for node in (one.root, *one.root.children):  # a micro-batch hands on what it would write
                ids = tuple(column.id for column in node.output)
                self._earlier.setdefault(ids, (node, len(self.places.texts)))
            self.places.texts += one.texts

    def fresh(self) -> int:
        """A column id that nothing has yet."""
        self._next += 1
        return self._next

    def attribute(self, id: int) -> Attribute:
        """A column under its own id, with the name that the plan gives it."""
        return Attribute(id, self.places.names.get(id, ""))

    def column(self, id: int, renamed: dict[int, int]) -> int:
        """The column that an id of the plan means in a scope."""
        return renamed.get(id, self.outer.get(id, id))

    def note(self, message: str, hint: str | None = None) -> None:
        """Say, once, that something could not be followed exactly."""
        issue = Issue(IssueCode.APPROXIMATE_LINEAGE, Severity.WARNING, message, hint=hint)
        if issue not in self.issues:
            self.issues.append(issue)

    def lower(self, root: PlanNode) -> LoweredNode:
        """Lower a plan and everything below it, children first, without recursion; each node once."""
        stack = [root]
        while stack:
            node = stack[-1]
            todo = [child for child in node.children if id(child) not in self._done]
            if todo:
                stack.extend(todo)
                continue
            stack.pop()
            if id(node) not in self._done:
                below = tuple(self._done[id(child)] for child in node.children)
                self._done[id(node)] = _OPERATORS.get(node.name, _OPERATORS["?"])(self, node, below)
        return self._done[id(root)]

    def taken_up(self, node: PlanNode) -> LoweredNode | None:
        """The earlier plan whose rows a node takes up, by the ids of its columns; None when there is none."""
        ids = tuple(column.id for column in node.output)
        if not ids or ids not in self._earlier:
            return None
        root, first_text = self._earlier[ids]
        saved, self.places.first_text = self.places.first_text, first_text
        try:
            return self.lower(root)
        finally:
            self.places.first_text = saved

    def subquery(self, root: PlanNode, renamed: dict[int, int]) -> LoweredNode:
        """Lower the plan of a subquery, which may refer to the columns around it."""
        saved = self.outer
        self.outer = saved | renamed
        try:
            return self.lower(root)
        finally:
            self.outer = saved

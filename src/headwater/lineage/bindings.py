"""The definitions of columns: the definitions of a statement's columns and the conditions on its rows.
One walk over the relations, not over the expressions: a subquery inside an expression is bound when it is first
looked at. Everything is keyed by column id, so order does not matter and a recursive CTE needs no special care."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from headwater.model.edges import Kind
from headwater.model.relation import (
    Aggregate,
    Call,
    Computed,
    CteRef,
    Expression,
    Filter,
    Generate,
    Join,
    MakeArray,
    OneOf,
    Project,
    Ref,
    Relation,
    Scan,
    SetOp,
    Sort,
    TableFunction,
    Values,
    With,
)
from headwater.text import Span


class Stored(msgspec.Struct, frozen=True, gc=False):
    """A column that a scan reads: where lineage ends. `name` is None for all columns not known by name."""

    scan: Scan
    name: str | None
    approximate: str | None


Definition: TypeAlias = Expression | Stored


@dataclass(slots=True)
class RowScope:
    """The conditions that decide the rows of a relation: its conditions, and the CTEs whose rows it takes."""

    conditions: list[tuple[Kind, Expression, Span | None]] = field(default_factory=list)
    ctes: list[int] = field(default_factory=list)


class Bindings:
    """The definitions of columns met so far, the spans of computed ones, all scans, and the row scope of each CTE."""

    def __init__(self) -> None:
        self.definitions: dict[int, Definition] = {}
        self.spans: dict[int, Span | None] = {}
        self.scans: list[Scan] = []
        self.cte_scopes: dict[int, RowScope] = {}
        self._cte_columns: dict[int, tuple[int, ...]] = {}

    def bind(self, relation: Relation) -> RowScope:
        """Take in the columns of a relation and return what decides its rows."""
        top = RowScope()
        stack: list[tuple[Relation, RowScope]] = [(relation, top)]
        while stack:
            node, scope = stack.pop()
            if isinstance(node, With):
                for cte in node.ctes:
                    inner = self.cte_scopes[cte.id] = RowScope()
                    self._cte_columns[cte.id] = cte.columns
                    stack.append((cte.relation, inner))
                stack.append((node.body, scope))  # on top: what the text reads first is bound last
            else:
                stack.extend((below, scope) for below in self._bind_node(node, scope))
        return top

    def bind_scan(self, scan: Scan, *, source: bool = True) -> None:
        """Take in a stored table; `source` False when it is the target looking at itself."""
        if source:
            self.scans.append(scan)
        for attribute in scan.attributes:
            doubt = scan.approximate if not scan.doubtful or attribute.id in scan.doubtful else None
            name = None if attribute.name == "*" else attribute.name
            self.definitions[attribute.id] = Stored(scan, name, doubt)

    def bind_computed(self, columns: Iterable[Computed]) -> None:
        """Take in columns made by expressions."""
        for column in columns:
            self.definitions[column.attribute.id] = column.expression
            self.spans[column.attribute.id] = column.span

    def conditions(self, scope: RowScope) -> Iterator[tuple[Kind, Expression, Span | None]]:
        """Everything that decides the rows of a scope: its conditions, then those of each CTE it reaches, once."""
        yield from scope.conditions
        reached, order = set(scope.ctes), list(dict.fromkeys(scope.ctes))
        for cte in order:
            below = self.cte_scopes.get(cte)
            if below is not None:
                yield from below.conditions
                order.extend(id for id in dict.fromkeys(below.ctes) if id not in reached)
                reached.update(below.ctes)

    def followed(self, expression: Expression) -> Expression | None:
        """Return the definition that a name stands for, through names of names; None when that is a stored column."""
        for _ in range(1000):  # a longer chain is not worth following
            if not isinstance(expression, Ref):
                return expression
            below = self.definitions.get(expression.column)
            if below is None or isinstance(below, Stored):
                return None
            expression = below
        return None

    def _bind_node(self, node: Relation, scope: RowScope) -> tuple[Relation, ...]:
        match node:
            case Scan():
                self.bind_scan(node)
                return ()
            case Project(input, columns):
                self.bind_computed(columns)
                return (input,)
            case Filter(input, condition, span):
                scope.conditions.append((Kind.FILTER, condition, span))
                return (input,)
            case Join(left, right, condition, merged, span):
                self.bind_computed(merged)
                if condition is not None:
                    scope.conditions.append((Kind.JOIN, condition, span))
                return (left, right)
            case Aggregate(input, keys, columns):
                self.bind_computed(keys)
                self.bind_computed(columns)
                scope.conditions.extend((Kind.GROUP_BY, Ref(key.attribute.id), key.span) for key in keys)
                return (input,)
            case Sort(input, keys, span):
                scope.conditions.extend((Kind.SORT, key, span) for key in keys)
                return (input,)
            case _:
                return self._bind_leaf(node, scope)

    def _bind_leaf(self, node: Relation, scope: RowScope) -> tuple[Relation, ...]:
        match node:
            case SetOp(operator, attributes, branches, compares):
                # what EXCEPT takes away decides which rows stay, and is in none of them
                taken, away = (branches[:1], branches[1:]) if operator == "except" else (branches, ())
                compared = [attribute.id for attribute in attributes] if compares else []
                compared += [id for branch in away for id in branch.columns if id is not None]
                scope.conditions.extend((Kind.GROUP_BY, Ref(id), None) for id in compared)
                for at, attribute in enumerate(attributes):
                    given = [branch.columns[at] for branch in taken if at < len(branch.columns)]
                    self.definitions[attribute.id] = OneOf(tuple(Ref(id) for id in given if id is not None))
                return tuple(branch.relation for branch in branches)
            case Generate(input, columns, expanded):
                self.bind_computed(columns)
                # An array that is written item by item has as many rows as items, whatever their values are.
                lengths = (each for each in expanded if not isinstance(each, MakeArray))
                scope.conditions.extend((Kind.JOIN, each, None) for each in lengths)
                return () if input is None else (input,)
            case CteRef(cte, attributes):
                scope.ctes.append(cte)
                for attribute, column in zip(attributes, self._cte_columns.get(cte, ())):
                    self.definitions[attribute.id] = Ref(column)
                return ()
            case Values(attributes, rows):
                for at, attribute in enumerate(attributes):
                    options = tuple(row[at] for row in rows if at < len(row))
                    self.definitions[attribute.id] = OneOf(options)
                return ()
            case TableFunction(function, attributes, args, inputs):
                refs = tuple(Ref(id) for branch in inputs for id in branch.columns if id is not None)
                whole = Call(function, args + refs, opaque=f"the body of {function} is not known")
                for attribute in attributes:
                    self.definitions[attribute.id] = whole
                scope.conditions.extend((Kind.JOIN, each, None) for each in args)
                return tuple(branch.relation for branch in inputs)
            case _:
                raise AssertionError(f"not a relation: {type(node).__name__}")

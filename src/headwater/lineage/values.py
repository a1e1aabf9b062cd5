"""From a column to the stored columns it is made of.

Each (column id, path) is resolved once, on demand. Two things keep that linear and safe:

* *Depth.* Columns that refer to columns through a thousand CTEs would exhaust Python's stack. After `_MAX_HOPS` hops
  the attempt is dropped, the deep column is resolved on a fresh stack, and the attempt is made again: what it had
  resolved on the way is still known.
* *Recursion.* A column of a recursive CTE is met again while it is being resolved. It then counts as what it was
  found to be so far (at first: nothing), and the outermost such column is resolved again until nothing is added. One
  that goes down a tree, as JSON, is met by a longer path at each level: then all of the column counts.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, TypeAlias

from headwater.lineage.bindings import Bindings, RowScope, Stored
from headwater.lineage.functions import PLAIN, Passing, rule_of
from headwater.lineage.sources import (
    AGGREGATION,
    CODES,
    CONDITIONAL,
    IDENTITY,
    NONE,
    TRANSFORMATION,
    WINDOW,
    Leaf,
    Sources,
    add,
    add_as,
    add_value,
)
from headwater.model import relation as rel
from headwater.model.edges import ELEMENT, ColumnRef
from headwater.model.names import TableName

Path: TypeAlias = tuple[str, ...]
_Key: TypeAlias = tuple[int, Path]

_MAX_HOPS = 40
_CERTAIN = 1 << 30  # deeper than any open column: depends on none


class _TooDeep(Exception):
    """Raised to continue on a fresh stack with the column it names."""

    def __init__(self, key: _Key) -> None:
        self.key = key


class OutOfTime(Exception):
    """Raised when a statement takes longer than it may."""


def _grows(key: _Key, earlier: _Key) -> bool:
    """Return whether a column is met again, by the same path or by a longer one that ends in it."""
    return key[0] == earlier[0] and key[1][len(key[1]) - len(earlier[1]) :] == earlier[1]


class ValueSources:
    """The sources of expressions of one statement.
    REQUIRES: every column an expression refers to is bound, or belongs to a subquery or Let inside it."""

    def __init__(self, bindings: Bindings, deadline: float | None = None) -> None:
        self.bindings = bindings
        self.seen: set[int] = set()  # ids that something depended on
        self._deadline = deadline
        self._leaves: dict[tuple[TableName, str | None, Path], Leaf] = {}
        self._known: dict[_Key, Sources] = {}
        self._open: dict[_Key, int] = {}  # being resolved → how deep
        self._assumed: dict[_Key, Sources] = {}
        self._tentative: dict[_Key, tuple[Sources, int]] = {}
        self._hops = _MAX_HOPS
        self._steps = 0
        self._lowest = _CERTAIN  # the outermost open column the current answer leans on
        self._cte_rows: dict[int, Sources] = {}
        self._subqueries: dict[int, tuple[rel.Subquery, RowScope]] = {}

    def of(self, expression: rel.Expression, path: Path = ()) -> Sources:
        """The sources of an expression, or of what `path` leads to inside it."""
        pending: list[_Key] = []
        while True:
            try:
                if not pending:
                    return self._expression(expression, path)
                self._column(*pending[-1])
                pending.pop()
            except _TooDeep as deep:
                self._open.clear()
                self._lowest = _CERTAIN
                if any(_grows(deep.key, earlier) for earlier in pending):  # a cycle longer than the hops allowed
                    self._hops *= 2
                pending.append(deep.key)

    def rows_scope(self, subquery: rel.Subquery) -> RowScope:
        """Return what decides the rows of a subquery; binds its columns when it is first met."""
        held = self._subqueries.get(id(subquery))
        if held is None:  # the subquery is kept, so that its id stays its own
            held = self._subqueries[id(subquery)] = (subquery, self.bindings.bind(subquery.relation))
        return held[1]

    def rows_of(self, subquery: rel.Subquery) -> Sources:
        """The sources of everything that decides which rows a subquery has."""
        result: Sources = {}
        for kind, expression, _ in self.bindings.conditions(self.rows_scope(subquery)):
            add_as(result, self.of(expression), CODES[kind])
        return result

    def _rows(self, scope: RowScope) -> Sources:
        result: Sources = {}
        for kind, expression, _ in scope.conditions:
            add_as(result, self._expression(expression, ()), CODES[kind])
        for cte in scope.ctes:
            add(result, self._rows_of_cte(cte))
        return result

    # ------------------------------------------------------------------------------------------- columns

    def _column(self, id: int, path: Path) -> Sources:
        key = (id, path)
        known = self._known.get(key)
        if known is not None:
            return known
        definition = self.bindings.definitions.get(id)
        if definition is None:
            return NONE
        if type(definition) is Stored:
            return self._stored(key, definition)
        if key in self._open:
            self._lowest = min(self._lowest, self._open[key])
            return self._assumed.get(key, NONE)
        if key in self._tentative:
            sources, lowest = self._tentative[key]
            self._lowest = min(self._lowest, lowest)
            return sources
        if path and any(_grows(key, outer) for outer in self._open):
            return self._column(id, ())  # a recursion that goes down a tree: any depth of it is part of the whole
        if len(self._open) >= self._hops:
            raise _TooDeep(key)
        return self._computed(key, definition)

    def _stored(self, key: _Key, column: Stored) -> Sources:
        place = (column.scan.table, column.name, key[1])
        leaf = self._leaves.get(place)
        if leaf is None:
            leaf = self._leaves[place] = Leaf(ColumnRef(*place))
        result = self._known[key] = {(leaf, IDENTITY): (False, column.approximate, None)}
        return result

    def _computed(self, key: _Key, definition: Any) -> Sources:
        id, path = key
        self.seen.add(id)
        self._steps += 1
        if not self._steps & 0xFF and self._deadline is not None and monotonic() > self._deadline:
            raise OutOfTime
        outer, depth = self._lowest, len(self._open)
        self._open[key] = depth
        while True:
            self._lowest = _CERTAIN
            sources = self._expression(definition, path)
            if self._lowest != depth or sources == self._assumed.get(key, NONE):
                break
            self._assumed[key] = sources  # it leans on itself: try again with what is known now
            self._tentative = {key: held for key, held in self._tentative.items() if held[1] < depth}
        del self._open[key]
        if self._lowest >= depth:
            self._known[key] = sources
            self._keep_tentative(depth)
            self._lowest = outer
        else:
            self._tentative[key] = (sources, self._lowest)
            self._lowest = min(outer, self._lowest)
        return sources

    def _keep_tentative(self, depth: int) -> None:
        if not self._tentative:
            return
        for key, (sources, lowest) in list(self._tentative.items()):
            if lowest >= depth:
                self._known[key] = sources
                del self._tentative[key]

    # --------------------------------------------------------------------------------------- expressions

    def _expression(self, expression: rel.Expression, path: Path) -> Sources:
        return _BY_TYPE[type(expression)](self, expression, path)

    def _ref(self, ref: rel.Ref, path: Path) -> Sources:
        sources = self._column(ref.column, path)
        if ref.span is None or len(sources) != 1:
            return sources
        ((key, way),) = sources.items()
        return sources if way[2] is not None else {key: (way[0], way[1], ref.span)}

    def _literal(self, _: rel.Literal, __: Path) -> Sources:
        return NONE

    def _call(self, call: rel.Call, path: Path) -> Sources:
        result: Sources = {}
        rule = rule_of(call.function)
        floor = AGGREGATION if call.aggregate else TRANSFORMATION
        if rule is PLAIN:
            for arg in call.args:
                add_value(result, self._expression(arg, ()), floor=floor, doubt=call.opaque)
        else:
            inner: Path = ()
            if path and rule.passing is Passing.SAME:
                inner = path
            elif path and rule.passing is Passing.ELEMENTS and path[0] == ELEMENT:
                inner = path[1:]
            conditions = rule.condition_positions(len(call.args))
            for at, arg in enumerate(call.args):
                if at in conditions:
                    add_as(result, self._expression(arg, ()), CONDITIONAL)
                else:
                    sources = self._expression(arg, inner)
                    add_value(result, sources, floor=floor, masks=rule.masks, doubt=call.opaque)
                    if rule.tests:
                        add_as(result, sources, CONDITIONAL)
        if call.condition is not None:
            add_as(result, self._expression(call.condition, ()), CONDITIONAL)
        for key in call.order:
            add_as(result, self._expression(key, ()), WINDOW)
        return result

    def _case(self, case: rel.Case, path: Path) -> Sources:
        result: Sources = {}
        for _, value in case.branches:
            add_value(result, self._expression(value, path), floor=TRANSFORMATION)
        if case.default is not None:
            add_value(result, self._expression(case.default, path), floor=TRANSFORMATION)
        if case.operand is not None:
            add_as(result, self._expression(case.operand, ()), CONDITIONAL)
        for condition, _ in case.branches:
            add_as(result, self._expression(condition, ()), CONDITIONAL)
        return result

    def _window(self, window: rel.Window, path: Path) -> Sources:
        result: Sources = {}
        add(result, self._expression(window.function, path))
        for key in window.keys:
            add_as(result, self._expression(key, ()), WINDOW)
        return result

    def _make_struct(self, struct: rel.MakeStruct, path: Path) -> Sources:
        if path:
            wanted = path[0].lower()
            for name, value in struct.fields:
                if name.lower() == wanted:
                    return self._expression(value, path[1:])
        result: Sources = {}
        for _, value in struct.fields:
            add_value(result, self._expression(value, ()), floor=TRANSFORMATION)
        return result

    def _get_field(self, field: rel.GetField, path: Path) -> Sources:
        return self._expression(field.operand, (field.name, *path))

    def _make_array(self, array: rel.MakeArray, path: Path) -> Sources:
        result: Sources = {}
        for item in array.items:
            if path and path[0] == ELEMENT:
                add(result, self._expression(item, path[1:]))
            else:
                add_value(result, self._expression(item, ()), floor=TRANSFORMATION)
        return result

    def _element(self, element: rel.Element, path: Path) -> Sources:
        item = self._item_at(element)
        if item is not None:
            return self._expression(item, path)
        sources = self._expression(element.operand, (ELEMENT, *path))
        if element.index is None:
            return sources
        chosen_by = self._expression(element.index, ())
        if not chosen_by:
            return sources
        result = dict(sources)
        add_as(result, chosen_by, CONDITIONAL)
        return result

    def _item_at(self, element: rel.Element) -> rel.Expression | None:
        """The item that a constant position chooses from an array written item by item; None for any other."""
        array = self.bindings.followed(element.operand)
        if isinstance(array, rel.Element):
            inner = self._item_at(array)
            array = None if inner is None else self.bindings.followed(inner)
        if element.position is None or not isinstance(array, rel.MakeArray) or element.position >= len(array.items):
            return None
        return array.items[element.position]

    def _one_of(self, choice: rel.OneOf, path: Path) -> Sources:
        if len(choice.options) == 1 and choice.uncertain is None:
            return self._expression(choice.options[0], path)
        result: Sources = {}
        for option in choice.options:
            add_value(result, self._expression(option, path), floor=IDENTITY, doubt=choice.uncertain)
        return result

    def _let(self, let: rel.Let, path: Path) -> Sources:
        self.bindings.bind_computed(let.bindings)
        return self._expression(let.body, path)

    def _subquery(self, subquery: rel.Subquery, path: Path) -> Sources:
        scope = self.rows_scope(subquery)
        result: Sources = {}
        if subquery.column is not None:
            array = subquery.kind is rel.SubqueryKind.ARRAY
            inner = path[1:] if array and path[:1] == (ELEMENT,) else () if array else path
            whole = subquery.kind is not rel.SubqueryKind.SCALAR and not (array and path)
            floor = TRANSFORMATION if whole else IDENTITY
            add_value(result, self._column(subquery.column, inner), floor=floor)
        if subquery.operand is not None:
            add_value(result, self._expression(subquery.operand, ()), floor=TRANSFORMATION)
        add(result, self._rows(scope))
        return result

    def _rows_of_cte(self, cte: int) -> Sources:
        known = self._cte_rows.get(cte)
        if known is None:
            known = self._cte_rows[cte] = {}  # a recursive one that decides its own rows adds nothing by that
            for kind, expression, _ in self.bindings.conditions(RowScope(ctes=[cte])):
                add_as(known, self._expression(expression, ()), CODES[kind])
        return known


_BY_TYPE: dict[type, Callable[[ValueSources, Any, Path], Sources]] = {
    rel.Ref: ValueSources._ref,
    rel.Literal: ValueSources._literal,
    rel.Call: ValueSources._call,
    rel.Case: ValueSources._case,
    rel.Window: ValueSources._window,
    rel.MakeStruct: ValueSources._make_struct,
    rel.GetField: ValueSources._get_field,
    rel.MakeArray: ValueSources._make_array,
    rel.Element: ValueSources._element,
    rel.OneOf: ValueSources._one_of,
    rel.Let: ValueSources._let,
    rel.Subquery: ValueSources._subquery,
}

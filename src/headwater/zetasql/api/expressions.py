"""Parents of an expression, one step up: a visitor of resolved expressions.
A value may be asked for as a whole or by a path inside it (`("addr", "city")`, `("items", "[]", "sku")`). The path is
kept beside the walk: `GetStructField` adds a step, `MakeStruct` takes one away, and a function that makes a new value
ends it. The functions' rules are those of the product (`headwater.lineage.functions`)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from zetasql.api import ResolvedNodeVisitor
from zetasql.types import ResolvedColumn, ResolvedSubqueryExprEnums, TypeKind, parse_proto

from headwater.lineage.functions import Passing, rule_of
from headwater.model.edges import ELEMENT, ColumnRef
from headwater.model.names import TableName
from headwater.zetasql.api.statements import to_message
from headwater.zetasql.api.walk import resolved_children
from headwater.zetasql.lower.calls import CHAINED, ELEMENTS, function_name, json_steps
from headwater.zetasql.lower.expressions import field_names, same_names

Path: TypeAlias = tuple[str, ...]
_KINDS = ResolvedSubqueryExprEnums.SubqueryType


@dataclass
class FieldOfColumn(ResolvedColumn):  # type: ignore[misc]  # the package has no types
    """A place inside a column: `name` is `addr.city`, `path` is `("city",)`."""

    path: Path = ()


class NodeVisitor(ResolvedNodeVisitor):  # type: ignore[misc]
    """The package's visitor, for messages as well; types and signatures inside a node are not visited."""

    def visit(self, node: Any) -> Any:
        """Call the `visit_…` method of the node's class, or of the nearest class above it that has one."""
        return super().visit(parse_proto(to_message(node)) if hasattr(node, "DESCRIPTOR") else node)

    def descend(self, node: Any) -> None:
        """Visit the resolved nodes directly inside `node`, in order."""
        for child in resolved_children(node):
            self.visit(child)


class ExpressionParentFinder(NodeVisitor):
    """The columns an expression's value is made of, one step up, in `parents`.

    Conditions of CASE and IF are no parents; a subquery counts as its output column. Override `visit_Resolved…` for a
    kind of node, and call `descend` or `super()` to go on below it.
    """

    def __init__(self, path: Path = ()) -> None:
        super().__init__()
        self.parents: list[Any] = []
        self.path = path
        self._bound: dict[int, tuple[Any, Path]] = {}  # columns of WITH(…) and of lambdas: their expression
        self._flattened: list[tuple[Any, int]] = []

    @classmethod
    def find_direct_parents(cls, expr: Any) -> list[Any]:
        """The columns that make the value of `expr`, in order of appearance.

        A field of a struct is given as its column with the path, as `addr.city`.
        """
        finder = cls()
        finder.visit(expr)
        return as_given(finder.parents, expr)

    def default_visit(self, node: Any) -> None:
        """A node without a rule makes a new value of everything in it."""
        with self._inside(()):
            self.descend(node)

    # ---------------------------------------------------------------------------------- columns and structs

    def visit_ResolvedColumnRef(self, node: Any) -> None:
        bound = self._bound.get(node.column.column_id)
        if bound is not None:
            self._follow(bound[0], (*bound[1], *self.path))
        else:
            self.add(node.column)

    def add(self, column: Any) -> None:
        """Take `column` as a parent, once, with the path inside it that is asked for."""
        found = inside_column(column, self.path)
        if not any(one.column_id == found.column_id and one.name == found.name for one in self.parents):
            self.parents.append(found)

    def visit_ResolvedMakeStruct(self, node: Any) -> None:
        names = [name.lower() for name in field_names(node.type)]
        if self.path and self.path[0].lower() in names:
            self._follow(node.field_list[names.index(self.path[0].lower())], self.path[1:])
        else:
            self._follow_all(node.field_list, ())

    def visit_ResolvedGetStructField(self, node: Any) -> None:
        names = field_names(node.expr.type)
        at = node.field_idx or 0
        self._follow(node.expr, (names[at] if at < len(names) else f"_field_{at + 1}", *self.path))

    def visit_ResolvedGetJsonField(self, node: Any) -> None:
        self._follow(node.expr, (node.field_name, *self.path))

    def visit_ResolvedCast(self, node: Any) -> None:
        """A value under the field names of another type: fields meet by position."""
        for path in _before_cast(self.path, node.expr.type, node.type):
            self._follow(node.expr, path)

    # ------------------------------------------------------------------------------------------------ calls

    def visit_ResolvedFunctionCall(self, node: Any) -> None:
        """The arguments that make the value; those that only choose it are left out."""
        name = function_name(node)
        arguments = node.argument_list
        if node.generic_argument_list:
            self._with_lambdas(name, node.generic_argument_list)
        elif name in CHAINED:
            # the operands of `a + b + c + …`, which is nested to the left
            operands: list[Any] = []
            while type(node).__name__ == "ResolvedFunctionCall" and function_name(node) == name:
                first, *rest = node.argument_list
                operands[:0] = rest
                node = first
            self._follow_all([node, *operands], ())
        elif name in ("$case_no_value", "$case_with_value"):
            pairs = arguments[name == "$case_with_value" :]
            self._follow_all([*pairs[1::2], *(pairs[-1:] if len(pairs) % 2 else ())], self.path)
        elif name == "$make_array":
            self._follow_all(arguments, self._of_element())
        elif name in ELEMENTS or name in ("$subscript", "$safe_subscript"):
            chosen = _chosen_item(name, *arguments[:2])
            step = _text(arguments[1]) if name.endswith("subscript") else None
            if chosen is not None:
                self._follow(chosen, self.path)
            else:
                self._follow(arguments[0], (ELEMENT if step is None else step, *self.path))
        elif name.startswith("json_") and len(arguments) > 1:
            kept = self.path if rule_of(name).passing is Passing.SAME else ()
            self._follow(arguments[0], (*json_steps(name, _text(arguments[1]) or ""), *kept))
            self._follow_all(arguments[1:], kept)
        else:
            self._call(name, arguments)

    def visit_ResolvedAggregateFunctionCall(self, node: Any) -> None:
        for inner in (*node.group_by_list, *node.group_by_aggregate_list):
            self._bound[inner.column.column_id] = (inner.expr, ())
        self.visit_ResolvedAnalyticFunctionCall(node)

    def visit_ResolvedAnalyticFunctionCall(self, node: Any) -> None:
        """The arguments; FILTER, ORDER BY, HAVING and the window choose rows, and are no parents."""
        given = [each.expr for each in node.generic_argument_list if each.expr is not None]
        self._call(function_name(node), given if node.generic_argument_list else node.argument_list)

    def _call(self, name: str, arguments: Sequence[Any]) -> None:
        rule = rule_of("count" if name == "$count_star" else name.removeprefix("$"))
        inner: Path = self.path if rule.passing is Passing.SAME else ()
        if rule.passing is Passing.ELEMENTS:
            inner = self._of_element()
        conditions = rule.condition_positions(len(arguments))
        self._follow_all([each for at, each in enumerate(arguments) if at not in conditions], inner)

    def _with_lambdas(self, name: str, arguments: Sequence[Any]) -> None:
        """The parameters of a lambda stand for elements of the arrays beside it."""
        arrays = [each.expr for each in arguments if each.expr is not None]
        lambdas = [each.inline_lambda for each in arguments if each.inline_lambda is not None]
        for each in lambdas:
            for at, column in enumerate(each.argument_list):
                if arrays and (name == "array_zip" or at == 0):  # the second parameter is a position
                    self._bound[column.column_id] = (arrays[min(at, len(arrays) - 1)], (ELEMENT,))
                else:
                    self._bound[column.column_id] = (None, ())
        if lambdas and name in ("array_transform", "array_zip"):
            self._follow(lambdas[0].body, self._of_element())
        elif lambdas and name in ("array_find", "array_find_all"):
            path = self._of_element() if name == "array_find_all" else self.path
            self._follow(arrays[0], (ELEMENT, *path))
        else:
            self._call(name, [*arrays[:1], *(each.body for each in lambdas), *arrays[1:]])

    # ----------------------------------------------------------------------------------- other expressions

    def visit_ResolvedSubqueryExpr(self, node: Any) -> None:
        """The output column of the subquery; with IN, also what is looked for in it. EXISTS has no value in it."""
        columns = node.subquery.column_list
        if node.subquery_type == _KINDS.EXISTS or not columns:
            return
        array = node.subquery_type == _KINDS.ARRAY
        with self._inside(self._of_element() if array else self.path):
            self.add(columns[0])
        self._follow_all([] if node.in_expr is None else [node.in_expr], ())

    def visit_ResolvedWithExpr(self, node: Any) -> None:
        for each in node.assignment_list:
            self._bound[each.column.column_id] = (each.expr, ())
        self.visit(node.expr)

    def visit_ResolvedArrayAggregate(self, node: Any) -> None:
        self._bound[node.element_column.column_id] = (node.array, (ELEMENT,))
        for each in node.pre_aggregate_computed_column_list:
            self._bound[each.column.column_id] = (each.expr, ())
        self.visit(node.aggregate)

    def visit_ResolvedFlatten(self, node: Any) -> None:
        """`FLATTEN(items.parts.name)`: each step takes the elements of the one before."""
        self._flatten(node, len(node.get_field_list), self._of_element())

    def visit_ResolvedFlattenedArg(self, node: Any) -> None:
        if self._flattened:
            flatten, at = self._flattened.pop()
            self._flatten(flatten, at, self.path)
            self._flattened.append((flatten, at))

    def _flatten(self, node: Any, steps: int, path: Path) -> None:
        if steps == 0:
            self._follow(node.expr, (ELEMENT, *path))
            return
        step = node.get_field_list[steps - 1]
        self._flattened.append((node, steps - 1))
        self._follow(step, (ELEMENT, *path) if step.type.type_kind == TypeKind.TYPE_ARRAY else path)
        self._flattened.pop()

    # ----------------------------------------------------------------------------------------------- paths

    def _of_element(self) -> Path:
        """The path inside an element, when the value is an array."""
        return self.path[1:] if self.path[:1] == (ELEMENT,) else ()

    def _follow(self, node: Any, path: Path) -> None:
        with self._inside(path):
            self.visit(node)

    def _follow_all(self, nodes: Sequence[Any], path: Path) -> None:
        for node in nodes:
            self._follow(node, path)

    @contextmanager
    def _inside(self, path: Path) -> Iterator[None]:
        outer, self.path = self.path, path
        try:
            yield
        finally:
            self.path = outer


def _text(node: Any) -> str | None:
    """The string that a literal holds."""
    held = getattr(getattr(node, "value", None), "value", None)
    return getattr(held, "string_value", None)


def _chosen_item(name: str, array: Any, index: Any) -> Any:
    """The item of an array literal that a constant in OFFSET or ORDINAL chooses; None when that is not told."""
    held = getattr(getattr(index, "value", None), "value", None)
    number = getattr(held, "int64_value", None)
    if name not in ELEMENTS or number is None or getattr(array, "function", None) is None:
        return None
    at = int(number) - name.endswith("ordinal")
    items = array.argument_list if function_name(array) == "$make_array" else ()
    return items[at] if 0 <= at < len(items) else None


def _before_cast(path: Path, given: Any, wanted: Any) -> Iterator[Path]:
    """A path into a value of type `wanted`, as paths into the value of type `given` that it was made of."""
    if given is None or wanted is None or same_names(given, wanted):
        yield path
    elif given.type_kind == TypeKind.TYPE_ARRAY:
        if path[:1] == (ELEMENT,) or not path:
            inner = _before_cast(path[1:], given.array_type.element_type, wanted.array_type.element_type)
            yield from ((ELEMENT, *rest) for rest in inner)
    else:
        fields = zip(given.struct_type.field, wanted.struct_type.field)
        for old, new, (one, other) in zip(field_names(given), field_names(wanted), fields):
            if not path or path[0].lower() == new.lower():
                yield from ((old, *rest) for rest in _before_cast(path[1:], one.field_type, other.field_type))


# ------------------------------------------------------------------------------------- forms of columns and nodes


def inside_column(column: Any, path: Path) -> Any:
    """A place inside a column, as a column whose name has the path."""
    path = (*getattr(column, "path", ()), *path)
    if not path:
        return column
    base = column.name if not getattr(column, "path", ()) else column.name.split(".")[0].split(ELEMENT)[0]
    name = ColumnRef(TableName.of("$"), base, path).name
    return FieldOfColumn(column.column_id, column.table_name, name, column.type, column.annotation_map, path)


def as_given(columns: list[Any], asked: Any) -> list[Any]:
    """Columns in the form in which the question was asked: objects, or messages."""
    return columns if hasattr(asked, "to_proto") else [column.to_proto() for column in columns]

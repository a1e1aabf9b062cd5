"""The stored columns that a column comes from in the end: a visitor of resolved statements.
Two passes. The visit registers, for each column that a node makes, the columns or expressions it is made of. The
search then follows them from one column up to columns that are stored."""

from collections.abc import Iterable, Iterator
from typing import Any

from headwater.model.edges import ELEMENT
from headwater.zetasql.api.expressions import ExpressionParentFinder, NodeVisitor, Path, as_given, inside_column
from headwater.zetasql.api.statements import stored_name
from headwater.zetasql.builtins import PSEUDO_COLUMNS
from headwater.zetasql.messages import enums

_SET_OPERATION = enums.ResolvedSetOperationScanEnums.SetOperationType
_EXCEPT = frozenset(map(_SET_OPERATION.Value, ("EXCEPT_ALL", "EXCEPT_DISTINCT")))


class ParentColumnFinder(NodeVisitor):
    """The stored columns that columns of a statement come from.

    After `visit(statement)`, `columns_to_parents` has the direct parents of each column by its id, `terminal_columns`
    the ids of stored columns, and `find_terminal_parents(column)` answers. Override `visit_Resolved…` for a kind of
    node; `register` says what a column is made of, `descend` goes on below.
    """

    expressions: type[ExpressionParentFinder] = ExpressionParentFinder  # looks into expressions

    def __init__(self) -> None:
        super().__init__()
        self.columns_to_parents: dict[int, list[Any]] = {}
        self.terminal_columns: set[int] = set()
        self.with_entry_scopes: list[list[Any]] = []
        self.tables: dict[int, str] = {}  # of terminal columns: the full name of their table
        self._made_of: dict[int, list[tuple[Any, Path]]] = {}
        self._recursive: list[Any] = []

    # --------------------------------------------------------------------------------------------- questions

    @classmethod
    def find_parents_for_column(cls, statement: Any, column: Any) -> list[Any]:
        """The stored columns that `column`, one of the columns of the statement, is made of."""
        finder = cls()
        finder.visit(statement)
        wanted = column if hasattr(column, "column_id") else column.column
        return as_given(finder.find_terminal_parents(wanted), statement)

    @classmethod
    def find_parents_for_expression(cls, statement: Any, expr: Any) -> list[Any]:
        """The stored columns that an expression of the statement is made of."""
        finder = cls()
        finder.visit(statement)
        return as_given(finder.find_parents_of(expr), statement)

    def find_terminal_parents(self, column: Any) -> list[Any]:
        """The stored columns that a column of the visited statement is made of, nearest first."""
        return list(self._terminals([column]))

    def find_parents_of(self, expr: Any, path: Path = ()) -> list[Any]:
        """The stored columns that an expression of the visited statement, or a place inside it, is made of."""
        return list(self._terminals(self._direct(expr, path)))

    def _terminals(self, columns: Iterable[Any]) -> Iterator[Any]:
        queue = list(columns)
        seen: set[tuple[int, Path]] = set()
        given: set[tuple[str, str]] = set()  # a table that is scanned twice has each column once
        for column in queue:
            key = (column.column_id, getattr(column, "path", ()))
            if key in seen:
                continue
            seen.add(key)
            if column.column_id not in self.terminal_columns:
                queue.extend(self._parents(*key))
            elif (name := (self.tables.get(column.column_id, column.table_name), column.name.lower())) not in given:
                given.add(name)
                yield column

    def _parents(self, id: int, path: Path) -> Iterator[Any]:
        if not path or id not in self._made_of:
            yield from (inside_column(each, path) for each in self.columns_to_parents.get(id, ()))
        else:
            for made_of, before in self._made_of[id]:
                yield from self._direct(made_of, (*before, *path))

    def _direct(self, made_of: Any, path: Path) -> list[Any]:
        if hasattr(made_of, "column_id"):
            return [inside_column(made_of, path)]
        finder = self.expressions(path)
        finder.visit(made_of)
        return finder.parents

    # ----------------------------------------------------------------------------------------------- registers

    def register(self, column: Any, made_of: Iterable[Any], path: Path = ()) -> None:
        """Say that `column` is made of expressions or columns, or of what `path` leads to in them."""
        held = self._made_of.setdefault(column.column_id, [])
        parents = self.columns_to_parents.setdefault(column.column_id, [])
        for each in made_of:
            held.append((each, path))
            parents += [parent for parent in self._direct(each, path) if parent not in parents]

    def register_terminal(self, column: Any, table: str) -> None:
        """Say that `column` is stored in `table`."""
        self.terminal_columns.add(column.column_id)
        self.tables[column.column_id] = table

    # --------------------------------------------------------------------------------------------------- nodes

    def visit_ResolvedComputedColumn(self, node: Any) -> None:
        self.register(node.column, [node.expr])
        self.descend(node)

    visit_ResolvedDeferredComputedColumn = visit_ResolvedComputedColumn

    def visit_ResolvedTableScan(self, node: Any) -> None:
        for column in node.column_list:
            self.register_terminal(column, stored_name(node))
        self.descend(node)

    def visit_ResolvedTVFScan(self, node: Any) -> None:
        """Give the result of a table function all arguments as parents; without arguments it is terminal."""
        arguments = [each.expr for each in node.argument_list if each.expr is not None]
        columns = [column for each in node.argument_list if each.scan is not None for column in _handed_over(each)]
        for column in node.column_list:
            if node.argument_list:
                self.register(column, [*arguments, *columns])
            else:
                self.register_terminal(column, stored_name(node))
        self.descend(node)

    def visit_ResolvedWithScan(self, node: Any) -> None:
        self.with_entry_scopes.append(node.with_entry_list)
        self.descend(node)
        self.with_entry_scopes.pop()

    def visit_ResolvedWithRefScan(self, node: Any) -> None:
        """Each reference has columns of its own, in the order of the query it names."""
        entries = (entry for scope in reversed(self.with_entry_scopes) for entry in scope)
        entry = next((each for each in entries if each.with_query_name == node.with_query_name), None)
        if entry is not None:
            self._register_all(node.column_list, entry.with_subquery.column_list)

    def visit_ResolvedSetOperationScan(self, node: Any) -> None:
        """A column is made of that of each input; what EXCEPT takes away is in no row."""
        for item in node.input_item_list[: 1 if node.op_type in _EXCEPT else None]:
            self._register_all(node.column_list, item.output_column_list)
        self.descend(node)

    def visit_ResolvedRecursiveScan(self, node: Any) -> None:
        for item in (node.non_recursive_term, node.recursive_term):
            self._register_all(node.column_list, item.output_column_list)
        self._recursive.append(node)
        self.descend(node)
        self._recursive.pop()

    def visit_ResolvedRecursiveRefScan(self, node: Any) -> None:
        if self._recursive:
            self._register_all(node.column_list, self._recursive[-1].column_list)

    def visit_ResolvedArrayScan(self, node: Any) -> None:
        """UNNEST: a column has some element of its array; the offset is made of nothing."""
        for column, array in zip(node.element_column_list, node.array_expr_list):
            self.register(column, [array], (ELEMENT,))
        self.descend(node)

    def visit_ResolvedPivotScan(self, node: Any) -> None:
        for each in node.pivot_column_list:
            self.register(each.column, [node.pivot_expr_list[each.pivot_expr_index or 0]])
        self.descend(node)

    def visit_ResolvedUnpivotScan(self, node: Any) -> None:
        for at, column in enumerate(node.value_column_list):
            self.register(column, [group.column_list[at] for group in node.unpivot_arg_list])
        self.descend(node)

    def visit_ResolvedGroupingCall(self, node: Any) -> None:
        self.register(node.output_column, [node.group_by_column])

    def _register_all(self, columns: Iterable[Any], made_of: Iterable[Any]) -> None:
        for column, each in zip(columns, made_of):
            self.register(column, [each])


def _handed_over(argument: Any) -> list[Any]:
    """The columns of a table argument; pseudo-columns are not handed over."""
    columns = argument.argument_column_list or argument.scan.column_list
    return [column for column in columns if column.name not in PSEUDO_COLUMNS]

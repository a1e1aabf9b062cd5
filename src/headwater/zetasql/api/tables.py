"""Tables read and written: a visitor of resolved statements."""

from typing import Any

from headwater.zetasql.api.expressions import NodeVisitor
from headwater.zetasql.api.statements import stored_name
from headwater.zetasql.api.walk import resolved_children
from headwater.zetasql.lower.statements import statement_name


class TableLineageExtractor(NodeVisitor):
    """The tables of the statements visited: `source_tables` of all, `target_table` of the last that has one."""

    def __init__(self) -> None:
        super().__init__()
        self.source_tables: set[str] = set()
        self.target_table: str | None = None
        self.statement_type: str | None = None

    def visit_ResolvedTableScan(self, node: Any) -> None:
        self.source_tables.add(stored_name(node))
        self.descend(node)

    def visit_ResolvedTVFScan(self, node: Any) -> None:
        """A table function with nothing to make its rows of has them stored somewhere: it is a source."""
        if not node.argument_list:
            self.source_tables.add(stored_name(node))
        self.descend(node)

    def visit_ResolvedStatement(self, node: Any) -> None:
        """A statement that writes no table."""
        self.statement_type = statement_name(node)
        self.descend(node)

    def visit_ResolvedQueryStmt(self, node: Any) -> None:
        self.statement_type = "SELECT"
        self.descend(node)

    def visit_ResolvedCreateTableAsSelectStmt(self, node: Any) -> None:
        self.visit_ResolvedStatement(node)
        self.target_table = ".".join(node.name_path)

    visit_ResolvedCreateViewBase = visit_ResolvedCreateTableAsSelectStmt
    visit_ResolvedCreateTableStmtBase = visit_ResolvedCreateTableAsSelectStmt
    visit_ResolvedCreateModelStmt = visit_ResolvedCreateTableAsSelectStmt
    visit_ResolvedAuxLoadDataStmt = visit_ResolvedCreateTableAsSelectStmt

    def visit_ResolvedInsertStmt(self, node: Any) -> None:
        """The table that is changed is the target; it is a source only when it is read beside that."""
        if node.table_scan is None:  # a statement inside UPDATE, on an array
            self.descend(node)
            return
        self.statement_type = statement_name(node)
        self.target_table = stored_name(node.table_scan)
        for child in resolved_children(node):
            if child is not node.table_scan:
                self.visit(child)

    visit_ResolvedUpdateStmt = visit_ResolvedInsertStmt
    visit_ResolvedMergeStmt = visit_ResolvedInsertStmt
    visit_ResolvedDeleteStmt = visit_ResolvedInsertStmt
    visit_ResolvedTruncateStmt = visit_ResolvedInsertStmt

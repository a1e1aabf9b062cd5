"""Table and column lineage of one resolved statement, as values."""

from typing import Any

from headwater.errors import UsageError
from headwater.lineage.readings import ColumnLineage, TableLineage, column_lineage, table_lineage
from headwater.zetasql.api.statements import lineage_of, to_message
from headwater.zetasql.lower.lowering import message_type


def extract_table_lineage(stmt: Any) -> TableLineage:
    """The tables a statement reads, and the one it writes."""
    return table_lineage(lineage_of(stmt))


class ColumnLineageExtractor:
    """For each output column of a statement, the stored columns that its value is made of.

    Conditions (WHERE, JOIN, CASE WHEN …) are no parents; struct columns are given by their leaves (`addr.city`). A
    column that comes from no other, such as COUNT(*), has an empty set of parents.
    """

    @staticmethod
    def extract_column_lineage(stmt: Any, output_table: str | None = None) -> set[ColumnLineage]:
        """The lineage of any statement; `output_table` names the target of a SELECT."""
        return set(column_lineage(lineage_of(stmt, output_table)))

    @staticmethod
    def extract_for_query(stmt: Any, output_table: str) -> set[ColumnLineage]:
        """The lineage of a SELECT whose result goes to `output_table`."""
        return _checked(stmt, "QueryStmt", output_table=output_table)

    @staticmethod
    def extract_for_create_table_as_select(stmt: Any) -> set[ColumnLineage]:
        """The lineage of CREATE TABLE AS SELECT."""
        return _checked(stmt, "CreateTableAsSelectStmt")

    @staticmethod
    def extract_for_create_view(stmt: Any) -> set[ColumnLineage]:
        """The lineage of CREATE [MATERIALIZED] VIEW."""
        return _checked(stmt, "CreateViewStmt", "CreateMaterializedViewStmt")

    @staticmethod
    def extract_for_insert(stmt: Any) -> set[ColumnLineage]:
        """The lineage of INSERT, from a query or from VALUES."""
        return _checked(stmt, "InsertStmt")

    @staticmethod
    def extract_for_update(stmt: Any) -> set[ColumnLineage]:
        """The lineage of UPDATE: the columns, fields and elements that SET names."""
        return _checked(stmt, "UpdateStmt")

    @staticmethod
    def extract_for_merge(stmt: Any) -> set[ColumnLineage]:
        """The lineage of MERGE: all its WHEN clauses together."""
        return _checked(stmt, "MergeStmt")


def _checked(stmt: Any, *kinds: str, output_table: str | None = None) -> set[ColumnLineage]:
    message = to_message(stmt)
    if not any(type(message) is message_type(kind) for kind in kinds):
        raise UsageError(f"this is for {' or '.join(kinds)}, not for {type(message).__name__.removesuffix('Proto')}")
    return ColumnLineageExtractor.extract_column_lineage(message, output_table)

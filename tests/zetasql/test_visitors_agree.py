"""The visitors walk the resolved tree; the product works on the relation tree. Both say the same."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.effort import one_in
from tests.golden.golden_cases import lineages, read_cases
from zetasql.types import (
    ResolvedCreateTableAsSelectStmt,
    ResolvedCreateViewBase,
    ResolvedInsertStmt,
    ResolvedMergeStmt,
    ResolvedQueryStmt,
    ResolvedUpdateStmt,
    parse_proto,
)

from headwater.model.edges import ColumnRef, InfluenceClass
from headwater.text import Source
from headwater.zetasql import (
    ExpressionParentFinder,
    ParentColumnFinder,
    TableLineageExtractor,
    extract_table_lineage,
)
from headwater.zetasql.api.expressions import inside_column
from headwater.zetasql.api.statements import lineage_of
from headwater.zetasql.lower.lowering import unwrap
from headwater.zetasql.lower.outputs import output_names
from headwater.zetasql.reader import Reader

GOLDEN = Path(__file__).parents[1] / "golden" / "googlesql"
KINDS = (
    *(ResolvedCreateTableAsSelectStmt, ResolvedCreateViewBase, ResolvedQueryStmt),
    *(ResolvedInsertStmt, ResolvedUpdateStmt, ResolvedMergeStmt),
)


def resolved(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any, Any]]:
    """Every statement that the cases of a file make ZetaSQL resolve, with the name of its case."""
    found: list[tuple[str, Any, Any]] = []
    name = ""
    original = Reader.statement

    def kept(self: Reader, *args: Any, **options: Any) -> Any:
        statement = original(self, *args, **options)
        found.append((name, unwrap(statement), parse_proto(unwrap(statement))))
        return statement

    monkeypatch.setattr(Reader, "statement", kept)
    schema, cases = read_cases(path)
    for case in cases:
        name = case.name
        list(lineages(Source(case.sql), "googlesql", schema))
    return [each for each in found if isinstance(each[2], KINDS)]


def written(stmt: Any) -> Iterator[tuple[str, Any]]:
    """Each column or field that a statement writes, with the column or expression it is set to."""
    if isinstance(stmt, ResolvedMergeStmt):
        for when in stmt.when_clause_list:
            if when.insert_row is not None:
                yield from row(when.insert_column_list, when.insert_row)
            yield from updates(when.update_item_list)
    elif isinstance(stmt, ResolvedUpdateStmt):
        yield from updates(stmt.update_item_list)
    elif isinstance(stmt, ResolvedInsertStmt):
        yield from zip([each.name for each in stmt.insert_column_list], stmt.query_output_column_list)
        for each in stmt.row_list:
            yield from row(stmt.insert_column_list, each)
    else:
        names = output_names(each.name for each in stmt.output_column_list)
        listed = [each.name for each in getattr(stmt, "column_definition_list", ())]
        columns = [each.column for each in stmt.output_column_list]
        yield from zip(listed if len(listed) == len(names) else names, columns)


def row(columns: list[Any], values: Any) -> Iterator[tuple[str, Any]]:
    for column, each in zip(columns, values.value_list):
        yield column.name, each.value


def updates(items: list[Any]) -> Iterator[tuple[str, Any]]:
    for item in items:
        if item.set_value is not None:
            (target,) = ExpressionParentFinder.find_direct_parents(item.target)
            yield target.name, item.set_value.value


def by_the_product(message: Any) -> dict[ColumnRef, set[str]]:
    """The sources of each column, or of each place inside a column, that is written."""
    lineage = lineage_of(message, expand=False)
    found: dict[ColumnRef, set[str]] = defaultdict(set)
    for edge in lineage.edges:
        if edge.kind.influence is InfluenceClass.VALUE:
            found[edge.target].add(str(edge.source).lower())
    written = {target.column for target in found}
    return found | {
        ColumnRef(lineage.output, each.name): set() for each in lineage.columns if each.name not in written
    }


def by_visitors(stmt: Any, target: ColumnRef) -> set[str]:
    """The sources of one place that is written."""
    finder = ParentColumnFinder()
    finder.visit(stmt)
    found: set[str] = set()
    for name, made_of in written(stmt):
        if target.name == name or target.name.startswith((f"{name}.", f"{name}[")):
            path = target.path[len(name.split(".")) - 1 :]
            if hasattr(made_of, "column_id"):
                parents = finder.find_terminal_parents(inside_column(made_of, path))
            else:
                parents = finder.find_parents_of(made_of, path)
            found |= {f"{finder.tables[each.column_id]}.{each.name}".lower() for each in parents}
    return found


def is_compared(stmt: Any) -> bool:
    """What SELECT AS STRUCT writes are fields of one column; a nested statement on an array has no SET value."""
    nested = [item for item in getattr(stmt, "update_item_list", ()) if item.element_column is not None]
    return not getattr(stmt, "is_value_table", False) and not nested


@pytest.mark.parametrize("path", one_in(4, sorted(GOLDEN.glob("*.sql"))), ids=lambda path: path.stem)
def test_columns_and_tables_agree_on_every_golden_statement(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, message, stmt in resolved(path, monkeypatch):
        if is_compared(stmt):
            for target, sources in by_the_product(message).items():
                assert by_visitors(stmt, target) == sources, (name, str(target))
        expected = extract_table_lineage(message)
        tables = TableLineageExtractor()
        tables.visit(stmt)
        assert (tables.target_table, tables.source_tables) == (expected.target, expected.sources), name
        assert tables.statement_type == expected.statement_type


@pytest.mark.slow
def test_enough_statements_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("nested", "queries", "select", "subqueries", "writes")
    found = [stmt for name in names for _, _, stmt in resolved(GOLDEN / f"{name}.sql", monkeypatch)]
    assert len([stmt for stmt in found if is_compared(stmt)]) >= 150

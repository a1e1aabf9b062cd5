"""`zetasql_toolkit` has the toolkit's names where its port has them, and the port's printed examples run."""

import importlib
import runpy
import sys

import pytest
from zetasql.api import Analyzer
from zetasql.types import AnalyzerOptions

import headwater.zetasql
from headwater.zetasql import create_sample_catalog, get_bigquery_language_options, share_engine

MODULES = {
    "catalog.sample_catalog": ("create_sample_catalog", "get_builtin_function_options"),
    "options.bigquery_options": ("get_bigquery_language_options",),
    "lineage.models": ("ColumnEntity", "ColumnLineage", "TableLineage"),
    "lineage.ast_walker": ("walk_resolved_tree", "visit_resolved_node"),
    "lineage.expression_finder": ("ExpressionParentFinder",),
    "lineage.parent_finder": ("ParentColumnFinder",),
    "lineage.extractor": ("ColumnLineageExtractor",),
    "lineage.table_lineage": ("TableLineageExtractor", "extract_table_lineage"),
    "lineage.column_lineage": ("ParentColumnFinder", "ExpressionParentFinder", "ColumnLineageExtractor"),
    "lineage.formatters": ("LineageFormatter",),
}

BASIC = """
from zetasql.api import Analyzer, AnalyzerOptions
from zetasql.api.builders import CatalogBuilder, TableBuilder
from zetasql.types import TypeKind
from zetasql_toolkit.lineage import ColumnLineageExtractor

# Build catalog
src_table = (TableBuilder("source")
    .add_column("id", TypeKind.TYPE_INT64)
    .add_column("name", TypeKind.TYPE_STRING)
    .build())

catalog = CatalogBuilder("demo").add_table(src_table).build()

# Analyze SQL
sql = "CREATE TABLE target AS SELECT id, UPPER(name) as name FROM source"
options = AnalyzerOptions()
analyzer = Analyzer(options, catalog)
stmt = analyzer.analyze_statement(sql)

# Extract lineage
lineages = ColumnLineageExtractor.extract_column_lineage(stmt)

for lineage in lineages:
    print(f"{lineage.target.table}.{lineage.target.name}")
    for parent in lineage.parents:
        print(f"  <- {parent.table}.{parent.name}")
"""
AS_THE_PACKAGE_HAS_IT = {  # two lines of the example are not as the `zetasql` package has them
    "from zetasql.api import Analyzer, AnalyzerOptions": (
        "from zetasql.api import Analyzer\nfrom zetasql.types import AnalyzerOptions\n"
        "from zetasql_toolkit.catalog import get_builtin_function_options"
    ),
    "(src_table).build()": "(src_table).with_builtin_functions(get_builtin_function_options()).build()",
}
PRINTED = ["target.id\n  <- source.id", "target.name\n  <- source.name"]

COMPLEX = '''
# Matches ExtractColumnLevelLineage.java example
sql = """
CREATE TABLE target AS
SELECT
    concatted AS column_alias
FROM (
    SELECT
        UPPER(CONCAT(title, comment)) AS concatted
    FROM wikipedia
)
GROUP BY 1
"""

lineages = ColumnLineageExtractor.extract_column_lineage(
    analyzer.analyze_statement(sql)
)
'''

FIXTURE = '''
@pytest.fixture
def sample_catalog():
    """Create a test catalog with sample tables"""
    from zetasql.api.builders import CatalogBuilder, TableBuilder
    from zetasql.types import TypeKind

    orders = (TableBuilder("orders")
        .add_column("order_id", TypeKind.TYPE_INT64)
        .add_column("customer_id", TypeKind.TYPE_INT64)
        .add_column("amount", TypeKind.TYPE_DOUBLE)
        .build())

    customers = (TableBuilder("customers")
        .add_column("id", TypeKind.TYPE_INT64)
        .add_column("name", TypeKind.TYPE_STRING)
        .build())

    return (CatalogBuilder("test")
        .add_table(orders)
        .add_table(customers)
        .build())
'''

WALKER = """
def walk_resolved_tree(node: ResolvedNode, visitor_fn):
    visitor_fn(node)

    # Traverse all ResolvedNode fields
    for field_name in node._PROTO_FIELD_MAP.keys():
        value = getattr(node, field_name)
        if isinstance(value, ResolvedNode):
            walk_resolved_tree(value, visitor_fn)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ResolvedNode):
                    walk_resolved_tree(item, visitor_fn)
"""

VISITOR = """
class Mine(ParentColumnFinder):
    def visit_ResolvedWithScan(self, node):
        self.with_entry_scopes.append(node.with_entry_list)
        self.descend(node)
        self.with_entry_scopes.pop()
"""


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    share_engine()
    return Analyzer(AnalyzerOptions(language_options=get_bigquery_language_options()), create_sample_catalog())


@pytest.mark.parametrize(("module", "names"), MODULES.items(), ids=lambda each: str(each))
def test_the_names_are_those_of_headwater(module: str, names: tuple[str, ...]) -> None:
    found = importlib.import_module(f"zetasql_toolkit.{module}")
    package = importlib.import_module(f"zetasql_toolkit.{module.split('.')[0]}")
    for name in names:
        assert getattr(found, name) is getattr(headwater.zetasql, name)
        assert getattr(package, name) is getattr(headwater.zetasql, name)


def test_the_printed_example(analyzer: Analyzer, capsys: pytest.CaptureFixture[str]) -> None:
    text = BASIC
    for written, as_it_is in AS_THE_PACKAGE_HAS_IT.items():
        assert written in text
        text = text.replace(written, as_it_is)
    exec(text, {})
    blocks = capsys.readouterr().out.strip().replace("\ntarget", "\n\ntarget").split("\n\n")
    assert sorted(blocks) == PRINTED


def test_the_two_changes_are_still_needed() -> None:
    with pytest.raises(ImportError, match="AnalyzerOptions"):
        exec(BASIC.split("# Build")[0], {})


def test_the_example_that_matches_java(analyzer: Analyzer) -> None:
    names = {"analyzer": analyzer, "ColumnLineageExtractor": headwater.zetasql.ColumnLineageExtractor}
    exec(COMPLEX, names)
    (found,) = names["lineages"]
    assert str(found.target) == "target.column_alias"
    assert sorted(map(str, found.parents)) == ["wikipedia.comment", "wikipedia.title"]


def test_the_fixture_of_the_printed_tests(analyzer: Analyzer) -> None:
    names: dict[str, object] = {"pytest": pytest}
    exec(FIXTURE.replace("@pytest.fixture\n", ""), names)
    catalog = names["sample_catalog"]()
    stmt = Analyzer(AnalyzerOptions(), catalog).analyze_statement(
        "SELECT o.amount, c.name FROM orders o, customers c"
    )
    found = headwater.zetasql.ColumnLineageExtractor.extract_column_lineage(stmt, "target")
    assert {str(parent) for each in found for parent in each.parents} == {"orders.amount", "customers.name"}


def test_the_printed_walk_and_visitor(analyzer: Analyzer) -> None:
    """The printed walk sees the fields of a node's own class; ours also those it inherits."""
    from zetasql.types import ResolvedNode

    names: dict[str, object] = {
        "ResolvedNode": ResolvedNode,
        "ParentColumnFinder": headwater.zetasql.ParentColumnFinder,
    }
    exec(WALKER + VISITOR, names)
    stmt = analyzer.analyze_statement("WITH c AS (SELECT id FROM customers) SELECT id FROM c")
    theirs: list[object] = []
    ours: list[object] = []
    names["walk_resolved_tree"](stmt, theirs.append)
    headwater.zetasql.walk_resolved_tree(stmt, ours.append)
    assert {id(each) for each in theirs} <= {id(each) for each in ours}
    column = stmt.output_column_list[0].column
    assert [each.name for each in names["Mine"].find_parents_for_column(stmt, column)] == ["id"]


def test_the_example_module_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "zetasql_toolkit.examples.extract_column_lineage", raising=False)
    runpy.run_module("zetasql_toolkit.examples.extract_column_lineage", run_name="__main__")
    out = capsys.readouterr().out
    assert "project.dataset.table.column_alias\n  <- bigquery-public-data.samples.wikipedia.comment" in out

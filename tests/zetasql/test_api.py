"""The names of ZetaSQL's lineage toolkit, with statements of the package's own Analyzer and of our engine."""

import runpy
import threading
from pathlib import Path

import pytest
from zetasql.api import Analyzer
from zetasql.core.exceptions import ServerError
from zetasql.types import (
    AnalyzerOptions,
    LanguageFeature,
    NameResolutionMode,
    ProductMode,
    ResolvedColumnRef,
    ResolvedTableScan,
)

from headwater.errors import UsageError
from headwater.zetasql import (
    ColumnEntity,
    ColumnLineage,
    ColumnLineageExtractor,
    ExpressionParentFinder,
    LineageFormatter,
    ParentColumnFinder,
    TableLineageExtractor,
    create_sample_catalog,
    extract_table_lineage,
    get_bigquery_language_options,
    get_builtin_function_options,
    share_engine,
    visit_resolved_node,
    walk_resolved_tree,
)

EXAMPLES = Path(__file__).parents[2] / "examples"

TOOLKIT_FEATURES = """
    ALLOW_MISSING_PATH_EXPRESSION_IN_ALTER_DDL ALTER_COLUMN_SET_DATA_TYPE ALTER_TABLE_RENAME_COLUMN
    ANALYTIC_FUNCTIONS ANONYMIZATION BIGNUMERIC_TYPE CBRT_FUNCTIONS CREATE_EXTERNAL_TABLE_WITH_CONNECTION
    CREATE_EXTERNAL_TABLE_WITH_PARTITION_COLUMNS CREATE_EXTERNAL_TABLE_WITH_TABLE_ELEMENT_LIST
    CREATE_MATERIALIZED_VIEW_CLUSTER_BY CREATE_MATERIALIZED_VIEW_PARTITION_BY CREATE_SNAPSHOT_TABLE
    CREATE_TABLE_AS_SELECT_COLUMN_LIST CREATE_TABLE_CLONE CREATE_TABLE_CLUSTER_BY CREATE_TABLE_COPY
    CREATE_TABLE_FIELD_ANNOTATIONS CREATE_TABLE_FUNCTION CREATE_TABLE_LIKE CREATE_TABLE_NOT_NULL
    CREATE_TABLE_PARTITION_BY CREATE_VIEW_WITH_COLUMN_LIST DML_UPDATE_WITH_JOIN ENCRYPTION FOREIGN_KEYS GEOGRAPHY
    GROUP_BY_ROLLUP INTERVAL_TYPE INVERSE_TRIG_FUNCTIONS JSON_ARRAY_FUNCTIONS JSON_TYPE
    JSON_VALUE_EXTRACTION_FUNCTIONS NAMED_ARGUMENTS NUMERIC_TYPE PARAMETERIZED_TYPES PARAMETERS_IN_GRANTEE_LIST
    ROUND_WITH_ROUNDING_MODE TABLESAMPLE TABLE_VALUED_FUNCTIONS TEMPLATE_FUNCTIONS TIMESTAMP_NANOS
    TIME_BUCKET_FUNCTIONS UNENFORCED_PRIMARY_KEYS HAVING_IN_AGGREGATE LIMIT_IN_AGGREGATE
    NULL_HANDLING_MODIFIER_IN_AGGREGATE NULL_HANDLING_MODIFIER_IN_ANALYTIC ORDER_BY_IN_AGGREGATE
    SELECT_STAR_EXCEPT_REPLACE CIVIL_TIME SAFE_FUNCTION_CALL WEEK_WITH_WEEKDAY ADDITIONAL_STRING_FUNCTIONS
    ALLOW_DASHES_IN_TABLE_NAME ALLOW_REGEXP_EXTRACT_OPTIONALS ANNOTATION_FRAMEWORK CASE_STMT COLLATION_SUPPORT
    COLUMN_DEFAULT_VALUE CONCAT_MIXED_TYPES DATE_ARITHMETICS DATE_TIME_CONSTRUCTORS DECIMAL_ALIAS
    EXTENDED_DATE_TIME_SIGNATURES EXTENDED_GEOGRAPHY_PARSERS FORMAT_IN_CAST FOR_IN IS_DISTINCT LIKE_ANY_SOME_ALL
    NULLS_FIRST_LAST_IN_ORDER_BY OMIT_INSERT_COLUMN_LIST PIVOT QUALIFY REMOTE_FUNCTION REPEAT SCRIPT_LABEL
    UNNEST_AND_FLATTEN_ARRAYS UNPIVOT WITH_GROUP_ROWS WITH_RECURSIVE GROUP_BY_ALL GROUPING_SETS GROUPING_BUILTIN
    WITH_ON_SUBQUERY ARRAY_EQUALITY CAST_DIFFERENT_ARRAY_TYPES
"""
NEWER_FEATURES = "PIPES RANGE_TYPE BY_NAME CORRESPONDING MATCH_RECOGNIZE WITH_EXPRESSION INLINE_LAMBDA_ARGUMENT"


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    share_engine()
    return Analyzer(AnalyzerOptions(language_options=get_bigquery_language_options()), create_sample_catalog())


def lineage(*parents: str, target: str) -> ColumnLineage:
    def entity(text: str) -> ColumnEntity:
        table, _, name = text.rpartition(".")
        return ColumnEntity(table, name)

    return ColumnLineage(entity(target), frozenset(map(entity, parents)))


def test_language_options_have_every_feature_of_the_toolkit_and_newer_ones() -> None:
    enabled = set(get_bigquery_language_options().enabled_language_features)
    wanted = {f"FEATURE_{name}" for name in (TOOLKIT_FEATURES + NEWER_FEATURES).split()}
    missing = {name for name in wanted if LanguageFeature[name] not in enabled}
    assert missing == set()
    options = get_bigquery_language_options()
    assert options.product_mode == ProductMode.PRODUCT_EXTERNAL
    assert options.name_resolution_mode == NameResolutionMode.NAME_RESOLUTION_DEFAULT
    assert "QUALIFY" in options.reserved_keywords


def test_spanner_options_differ() -> None:
    dash = LanguageFeature.FEATURE_ALLOW_DASHES_IN_TABLE_NAME
    assert dash in get_bigquery_language_options().enabled_language_features
    assert dash not in get_bigquery_language_options("spanner").enabled_language_features


def test_builtin_function_options_carry_the_language() -> None:
    assert get_builtin_function_options().language_options.enabled_language_features


def test_the_example_that_matches_java(analyzer: Analyzer) -> None:
    sql = """
        CREATE TABLE target AS SELECT concatted AS column_alias
        FROM (SELECT UPPER(CONCAT(title, comment)) AS concatted FROM wikipedia) GROUP BY 1"""
    found = ColumnLineageExtractor.extract_column_lineage(analyzer.analyze_statement(sql))
    assert found == {lineage("wikipedia.title", "wikipedia.comment", target="target.column_alias")}


def test_table_lineage(analyzer: Analyzer) -> None:
    found = extract_table_lineage(
        analyzer.analyze_statement("INSERT INTO orders (order_id) SELECT id FROM customers")
    )
    assert (found.target, found.sources, found.statement_type) == ("orders", {"customers"}, "INSERT")
    extractor = TableLineageExtractor()
    extractor.visit(analyzer.analyze_statement("SELECT * FROM orders JOIN customers ON id = customer_id"))
    assert extractor.source_tables == {"orders", "customers"}
    assert extractor.target_table is None


def test_a_query_with_an_output_table(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement("SELECT SUM(amount) AS total, COUNT(*) AS n FROM orders")
    assert ColumnLineageExtractor.extract_column_lineage(stmt, "d.report") == {
        lineage("orders.amount", target="d.report.total"),
        lineage(target="d.report.n"),
    }
    assert ColumnLineageExtractor.extract_for_query(stmt, "d.report")


def test_struct_columns_are_given_by_their_leaves(analyzer: Analyzer) -> None:
    sql = "CREATE TABLE o AS SELECT STRUCT(id, STRUCT(name AS n) AS inner1) AS s FROM customers"
    found = ColumnLineageExtractor.extract_for_create_table_as_select(analyzer.analyze_statement(sql))
    assert found == {
        ColumnLineage(ColumnEntity("o", "s.id"), frozenset({ColumnEntity("customers", "id")})),
        ColumnLineage(ColumnEntity("o", "s.inner1.n"), frozenset({ColumnEntity("customers", "name")})),
    }


def test_the_wrong_kind_of_statement_is_refused(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement("SELECT 1 AS one")
    with pytest.raises(UsageError, match="for MergeStmt"):
        ColumnLineageExtractor.extract_for_merge(stmt)
    with pytest.raises(UsageError, match="resolved statement is needed"):
        extract_table_lineage("SELECT 1")


def test_direct_parents_of_an_expression(analyzer: Analyzer) -> None:
    sql = "SELECT CASE WHEN status = 'x' THEN amount ELSE (SELECT MAX(price) FROM products) END AS k FROM orders"
    stmt = analyzer.analyze_statement(sql)
    (computed,) = stmt.query.expr_list
    parents = ExpressionParentFinder.find_direct_parents(computed.expr)
    assert [parent.name for parent in parents] == ["amount", "$col1"]
    assert type(parents[0]).__name__ == "ResolvedColumn"


def test_terminal_parents_of_a_column_and_an_expression(analyzer: Analyzer) -> None:
    sql = "WITH c AS (SELECT amount * 2 AS twice, status FROM orders) SELECT twice + 1 AS t, status FROM c"
    stmt = analyzer.analyze_statement(sql)
    column = stmt.output_column_list[0].column
    assert [each.name for each in ParentColumnFinder.find_parents_for_column(stmt, column)] == ["amount"]
    refs: list[object] = []
    walk_resolved_tree(stmt, lambda node: refs.append(node) if isinstance(node, ResolvedColumnRef) else None)
    parents = {each.name for ref in refs for each in ParentColumnFinder.find_parents_for_expression(stmt, ref)}
    assert parents <= {"amount", "status"}
    assert "amount" in parents


def test_the_walk_and_the_extensible_visit(analyzer: Analyzer) -> None:
    seen: list[str] = []

    @visit_resolved_node.register
    def _(node: ResolvedTableScan, finder: list[str]) -> None:
        finder.append(node.table.name)

    stmt = analyzer.analyze_statement("SELECT 1 FROM orders, customers WHERE EXISTS (SELECT 1 FROM products)")
    walk_resolved_tree(stmt, lambda node: visit_resolved_node(node, seen))
    assert sorted(seen) == ["customers", "orders", "products"]


def test_messages_and_objects_give_the_same(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement("UPDATE orders SET amount = price FROM products WHERE TRUE")
    assert ColumnLineageExtractor.extract_for_update(stmt) == ColumnLineageExtractor.extract_for_update(
        stmt.to_proto()
    )


def test_formatter(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement("CREATE VIEW v AS SELECT name AS n FROM customers")
    found = ColumnLineageExtractor.extract_for_create_view(stmt)
    assert LineageFormatter.to_text(found) == "v.n\n  <- customers.name"
    assert '"name": "n"' in LineageFormatter.to_json(found)


def test_the_shared_engine_reports_errors_as_the_package_does(analyzer: Analyzer) -> None:
    with pytest.raises(ServerError, match="nowhere"):
        analyzer.analyze_statement("SELECT * FROM nowhere")


def test_the_shared_engine_takes_threads(analyzer: Analyzer) -> None:
    found: list[str] = []

    def work() -> None:
        found.append(analyzer.analyze_statement("SELECT name FROM customers").output_column_list[0].name)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["name"] * 3


@pytest.mark.parametrize("name", ["demo_table_lineage", "demo_column_lineage"])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "  <- " in out
    assert "None" not in out

"""Each method of the visitors, on a node built by hand; and visitors of one's own."""

from typing import Any

import pytest
from zetasql.api import Analyzer, ResolvedNodeVisitor
from zetasql.types import AnalyzerOptions

from headwater.zetasql import (
    ColumnEntity,
    ColumnLineageExtractor,
    ExpressionParentFinder,
    ParentColumnFinder,
    TableLineageExtractor,
    create_sample_catalog,
    get_bigquery_language_options,
    share_engine,
)
from zetasql import types as z

INT = z.Type(type_kind=z.TypeKind.TYPE_INT64)
STRUCT = z.Type(
    type_kind=z.TypeKind.TYPE_STRUCT,
    struct_type=z.StructType(
        field=[z.StructField(field_name="x", field_type=INT), z.StructField(field_name="y", field_type=INT)]
    ),
)
ARRAY = z.Type(type_kind=z.TypeKind.TYPE_ARRAY, array_type=z.ArrayType(element_type=STRUCT))


def column(id: int, name: str, kind: Any = INT) -> Any:
    return z.ResolvedColumn(column_id=id, table_name="t", name=name, type=kind)


A, B, C, S, ITEMS = (
    column(1, "a"),
    column(2, "b"),
    column(3, "c"),
    column(4, "s", STRUCT),
    column(5, "items", ARRAY),
)


def ref(given: Any) -> Any:
    return z.ResolvedColumnRef(column=given, type=given.type)


def call(name: str, *arguments: Any, kind: Any = INT) -> Any:
    function = z.FunctionRef(name=f"ZetaSQL:{name}")
    return z.ResolvedFunctionCall(function=function, argument_list=list(arguments), type=kind)


def scan(name: str, *columns: Any) -> Any:
    return z.ResolvedTableScan(table=z.TableRef(name=name, full_name=f"ds.{name}"), column_list=list(columns))


def computed(made: Any, expr: Any) -> Any:
    return z.ResolvedComputedColumn(column=made, expr=expr)


def project(input: Any, *columns: Any) -> Any:
    return z.ResolvedProjectScan(
        input_scan=input, expr_list=list(columns), column_list=[each.column for each in columns]
    )


def direct(expr: Any) -> list[str]:
    finder = ExpressionParentFinder()
    finder.visit(expr)
    assert finder.path == ()
    return [each.name for each in finder.parents]


def terminals(node: Any, *columns: Any) -> list[list[str]]:
    finder = ParentColumnFinder()
    finder.visit(node)
    return [[each.name for each in finder.find_terminal_parents(each)] for each in columns]


# ------------------------------------------------------------------------------------------------ expressions


def test_they_are_visitors_of_the_package() -> None:
    for each in (TableLineageExtractor, ParentColumnFinder, ExpressionParentFinder):
        assert issubclass(each, ResolvedNodeVisitor)


def test_visit_column_ref() -> None:
    assert direct(ref(A)) == ["a"]


def test_visit_function_call_takes_values_and_no_conditions() -> None:
    assert direct(call("concat", ref(A), ref(B), ref(A))) == ["a", "b"]
    assert direct(call("if", ref(A), ref(B), ref(C))) == ["b", "c"]
    assert direct(call("$case_no_value", ref(A), ref(B), ref(C))) == ["b", "c"]
    assert direct(call("$case_with_value", ref(A), ref(B), ref(C))) == ["c"]
    assert direct(call("$make_array", ref(A), ref(B))) == ["a", "b"]
    assert direct(call("$array_at_offset", ref(ITEMS), ref(A), kind=STRUCT)) == ["items[]"]
    assert direct(call("$add", call("$add", ref(A), ref(B)), ref(C))) == ["a", "b", "c"]


def test_visit_function_call_follows_a_written_json_path() -> None:
    path = z.ResolvedLiteral(value=z.ValueWithType(value=z.Value(string_value="$.user.ids[0]")))
    assert direct(call("json_value", ref(A), path)) == ["a.user.ids[]"]
    assert direct(call("$subscript", ref(A), path)) == ["a.$.user.ids[0]"]


def test_visit_aggregate_and_analytic_calls() -> None:
    order = [z.ResolvedOrderByItem(column_ref=ref(B))]
    for kind in (z.ResolvedAggregateFunctionCall, z.ResolvedAnalyticFunctionCall):
        given = kind(function=z.FunctionRef(name="ZetaSQL:sum"), argument_list=[ref(A)])
        if kind is z.ResolvedAggregateFunctionCall:
            given.order_by_item_list = order
        assert direct(given) == ["a"]


def test_visit_subquery_expr() -> None:
    kinds = z.ResolvedSubqueryExprEnums.SubqueryType
    below = scan("u", B)

    def subquery(kind: Any, **others: Any) -> Any:
        return z.ResolvedSubqueryExpr(subquery_type=kind, subquery=below, **others)

    assert direct(subquery(kinds.SCALAR)) == ["b"]
    assert direct(subquery(kinds.ARRAY)) == ["b"]
    assert direct(subquery(kinds.EXISTS)) == []
    assert direct(subquery(kinds.IN, in_expr=ref(A))) == ["b", "a"]


def test_visit_structs_and_casts() -> None:
    made = z.ResolvedMakeStruct(field_list=[ref(A), ref(B)], type=STRUCT)
    assert direct(made) == ["a", "b"]
    assert direct(z.ResolvedGetStructField(expr=made, field_idx=1, type=INT)) == ["b"]
    assert direct(z.ResolvedGetStructField(expr=ref(S), field_idx=1, type=INT)) == ["s.y"]
    assert direct(z.ResolvedGetJsonField(expr=ref(A), field_name="k")) == ["a.k"]
    renamed = z.StructType(field=[z.StructField(field_name=name, field_type=INT) for name in "pq"])
    cast = z.ResolvedCast(expr=ref(S), type=z.Type(type_kind=z.TypeKind.TYPE_STRUCT, struct_type=renamed))
    assert direct(z.ResolvedGetStructField(expr=cast, field_idx=0, type=INT)) == ["s.x"]
    assert direct(cast) == ["s.x", "s.y"]


def test_visit_with_expr_lambdas_and_flatten() -> None:
    let = z.ResolvedWithExpr(assignment_list=[computed(column(9, "v"), ref(A))], expr=ref(column(9, "v")))
    assert direct(let) == ["a"]
    element = column(8, "e", STRUCT)
    body = z.ResolvedGetStructField(expr=ref(element), field_idx=0, type=INT)
    arguments = [
        z.ResolvedFunctionArgument(expr=ref(ITEMS)),
        z.ResolvedFunctionArgument(inline_lambda=z.ResolvedInlineLambda(argument_list=[element], body=body)),
    ]
    transform = call("array_transform")
    transform.generic_argument_list = arguments
    assert direct(transform) == ["items[].x"]
    step = z.ResolvedGetStructField(expr=z.ResolvedFlattenedArg(type=STRUCT), field_idx=1, type=INT)
    assert direct(z.ResolvedFlatten(expr=ref(ITEMS), get_field_list=[step])) == ["items[].y"]


def test_visit_array_aggregate() -> None:
    element = column(8, "e")
    total = z.ResolvedAggregateFunctionCall(function=z.FunctionRef(name="ZetaSQL:sum"), argument_list=[ref(element)])
    assert direct(z.ResolvedArrayAggregate(array=ref(ITEMS), element_column=element, aggregate=total)) == ["items[]"]


def test_a_node_without_a_rule_is_made_of_all_in_it() -> None:
    assert direct(z.ResolvedGetProtoField(expr=ref(A))) == ["a"]


# ---------------------------------------------------------------------------------------------------- columns


def test_visit_table_scan_makes_terminal_columns() -> None:
    finder = ParentColumnFinder()
    finder.visit(scan("t", A, B))
    assert (finder.terminal_columns, finder.tables) == ({1, 2}, {1: "ds.t", 2: "ds.t"})
    assert finder.find_terminal_parents(A) == [A]


def test_visit_computed_column_registers_direct_parents() -> None:
    finder = ParentColumnFinder()
    finder.visit(project(scan("t", A, B), computed(column(10, "sum"), call("$add", ref(A), ref(B)))))
    assert finder.columns_to_parents == {10: [A, B]}
    assert finder.find_terminal_parents(column(10, "sum")) == [A, B]


def test_visit_with_scan_and_with_ref_scan() -> None:
    inner, outer = column(11, "twice"), column(12, "twice")
    entry = z.ResolvedWithEntry(
        with_query_name="c", with_subquery=project(scan("t", A), computed(inner, call("$add", ref(A), ref(A))))
    )
    finder = ParentColumnFinder()
    finder.visit(
        z.ResolvedWithScan(
            with_entry_list=[entry], query=z.ResolvedWithRefScan(with_query_name="c", column_list=[outer])
        )
    )
    assert finder.columns_to_parents[12] == [inner]
    assert finder.find_terminal_parents(outer) == [A]
    assert finder.with_entry_scopes == []
    finder.visit_ResolvedWithRefScan(z.ResolvedWithRefScan(with_query_name="nowhere", column_list=[C]))
    assert 3 not in finder.columns_to_parents


def test_with_entries_are_in_scope_while_their_query_is_visited() -> None:
    seen: list[list[str]] = []

    class Finder(ParentColumnFinder):
        def visit_ResolvedSingleRowScan(self, node: Any) -> None:
            seen.append([each.with_query_name for scope in self.with_entry_scopes for each in scope])

    entry = z.ResolvedWithEntry(with_query_name="c", with_subquery=scan("t", A))
    Finder().visit(z.ResolvedWithScan(with_entry_list=[entry], query=z.ResolvedSingleRowScan()))
    assert seen == [["c"]]


def test_visit_set_operation_scan() -> None:
    items = [
        z.ResolvedSetOperationItem(scan=scan("t", A), output_column_list=[A]),
        z.ResolvedSetOperationItem(scan=scan("u", B), output_column_list=[B]),
    ]
    both = column(10, "both")
    union = z.ResolvedSetOperationScan(input_item_list=items, column_list=[both])
    assert terminals(union, both) == [["a", "b"]]


def test_visit_recursive_scan_ends() -> None:
    again, out = column(10, "again"), column(11, "out")
    second = project(
        z.ResolvedRecursiveRefScan(column_list=[again]),
        computed(column(12, "next"), call("$add", ref(again), ref(A))),
    )
    node = z.ResolvedRecursiveScan(
        non_recursive_term=z.ResolvedSetOperationItem(scan=scan("t", A), output_column_list=[A]),
        recursive_term=z.ResolvedSetOperationItem(scan=second, output_column_list=[column(12, "next")]),
        column_list=[out],
    )
    assert terminals(node, out, again) == [["a"], ["a"]]


def test_visit_array_scan() -> None:
    element, field = column(10, "e", STRUCT), column(11, "f")
    unnest = z.ResolvedArrayScan(
        input_scan=scan("t", ITEMS), array_expr_list=[ref(ITEMS)], element_column_list=[element]
    )
    node = project(unnest, computed(field, z.ResolvedGetStructField(expr=ref(element), field_idx=0, type=INT)))
    assert terminals(node, element, field) == [["items[]"], ["items[].x"]]


def test_visit_pivot_and_unpivot_scans() -> None:
    q1, value, label = column(10, "q1"), column(11, "v"), column(12, "l")
    total = z.ResolvedAggregateFunctionCall(function=z.FunctionRef(name="ZetaSQL:sum"), argument_list=[ref(A)])
    pivot = z.ResolvedPivotScan(
        input_scan=scan("t", A, B),
        pivot_expr_list=[total],
        for_expr=ref(B),
        pivot_column_list=[z.ResolvedPivotColumn(column=q1, pivot_expr_index=0, pivot_value_index=0)],
    )
    assert terminals(pivot, q1) == [["a"]]
    unpivot = z.ResolvedUnpivotScan(
        input_scan=scan("t", A, B),
        value_column_list=[value],
        label_column=label,
        unpivot_arg_list=[z.ResolvedUnpivotArg(column_list=[ref(A)]), z.ResolvedUnpivotArg(column_list=[ref(B)])],
    )
    assert terminals(unpivot, value, label) == [["a", "b"], []]


def test_visit_grouping_call() -> None:
    flag = column(10, "flag")
    node = z.ResolvedAggregateScan(
        input_scan=scan("t", A),
        grouping_call_list=[z.ResolvedGroupingCall(group_by_column=ref(A), output_column=flag)],
    )
    assert terminals(node, flag) == [["a"]]


def test_visit_tvf_scan() -> None:
    out = column(10, "out")
    argument = z.ResolvedFunctionArgument(scan=scan("t", A, B), argument_column_list=[A])
    function = z.TableValuedFunctionRef(name="ds.f")
    assert terminals(z.ResolvedTVFScan(tvf=function, argument_list=[argument], column_list=[out]), out) == [["a"]]
    finder = ParentColumnFinder()
    finder.visit(z.ResolvedTVFScan(tvf=function, column_list=[out]))
    assert (finder.find_terminal_parents(out), finder.tables) == ([out], {10: "ds.f"})


# ----------------------------------------------------------------------------------------------------- tables


def tables(node: Any) -> tuple[str | None, set[str], str | None]:
    extractor = TableLineageExtractor()
    extractor.visit(node)
    return extractor.target_table, extractor.source_tables, extractor.statement_type


def test_visit_statements_that_write() -> None:
    source, target = scan("u", B), scan("t", A)
    create = z.ResolvedCreateTableAsSelectStmt(name_path=["p", "n"], query=source)
    assert tables(create) == ("p.n", {"ds.u"}, "CREATE_TABLE_AS_SELECT")
    view = z.ResolvedCreateViewStmt(name_path=["v"], query=source)
    assert tables(view) == ("v", {"ds.u"}, "CREATE_VIEW")
    assert tables(z.ResolvedInsertStmt(table_scan=target, query=source)) == ("ds.t", {"ds.u"}, "INSERT")
    assert tables(z.ResolvedUpdateStmt(table_scan=target, from_scan=source)) == ("ds.t", {"ds.u"}, "UPDATE")
    assert tables(z.ResolvedMergeStmt(table_scan=target, from_scan=source)) == ("ds.t", {"ds.u"}, "MERGE")
    assert tables(z.ResolvedDeleteStmt(table_scan=target)) == ("ds.t", set(), "DELETE")
    assert tables(z.ResolvedTruncateStmt(table_scan=target)) == ("ds.t", set(), "TRUNCATE")


def test_visit_statements_that_read() -> None:
    assert tables(z.ResolvedQueryStmt(query=scan("u", B))) == (None, {"ds.u"}, "SELECT")
    assert tables(z.ResolvedTVFScan(tvf=z.TableValuedFunctionRef(name="ds.f"))) == (None, {"ds.f"}, None)
    explain = z.ResolvedExplainStmt(statement=z.ResolvedQueryStmt(query=scan("u", B)))
    assert tables(explain)[1] == {"ds.u"}


def test_a_nested_statement_has_no_table_of_its_own() -> None:
    nested = z.ResolvedUpdateItem(insert_list=[z.ResolvedInsertStmt()])
    assert tables(z.ResolvedUpdateStmt(table_scan=scan("t", A), update_item_list=[nested]))[0] == "ds.t"


# ------------------------------------------------------------------------------------------- visitors of one's own


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    share_engine()
    return Analyzer(AnalyzerOptions(language_options=get_bigquery_language_options()), create_sample_catalog())


def test_one_node_overridden_and_the_rest_goes_on(analyzer: Analyzer) -> None:
    class WithoutUpper(ExpressionParentFinder):
        def visit_ResolvedFunctionCall(self, node: Any) -> None:
            if node.function.name != "ZetaSQL:upper":
                super().visit_ResolvedFunctionCall(node)

    class Finder(ParentColumnFinder):
        expressions = WithoutUpper

    sql = "WITH c AS (SELECT UPPER(name) || email AS k, id FROM customers) SELECT k, id + 1 AS n FROM c"
    stmt = analyzer.analyze_statement(sql)
    first, second = (each.column for each in stmt.output_column_list)
    assert [each.name for each in ParentColumnFinder.find_parents_for_column(stmt, first)] == ["name", "email"]
    assert [each.name for each in Finder.find_parents_for_column(stmt, first)] == ["email"]
    assert [each.name for each in Finder.find_parents_for_column(stmt, second)] == ["id"]


def test_parents_set_by_hand_are_followed(analyzer: Analyzer) -> None:
    class Finder(ParentColumnFinder):
        def visit_ResolvedComputedColumn(self, node: Any) -> None:
            self.columns_to_parents[node.column.column_id] = [stored["country"]]
            self.descend(node)

    stored: dict[str, Any] = {}
    stmt = analyzer.analyze_statement("SELECT UPPER(name) AS n, country FROM customers")
    stored["country"] = stmt.output_column_list[1].column
    column = stmt.output_column_list[0].column
    assert [each.name for each in Finder.find_parents_for_column(stmt, column)] == ["country"]


def test_entities_of_resolved_columns() -> None:
    assert ColumnEntity.from_resolved_column(A) == ColumnEntity("t", "A")


def test_extractors_by_kind_of_statement(analyzer: Analyzer) -> None:
    insert = analyzer.analyze_statement("INSERT INTO orders (order_id) SELECT id FROM customers")
    assert {str(each.target) for each in ColumnLineageExtractor.extract_for_insert(insert)} == {"orders.order_id"}
    sql = (
        "MERGE orders USING customers ON order_id = id WHEN MATCHED THEN UPDATE SET status = name "
        "WHEN NOT MATCHED THEN INSERT (order_id) VALUES (id)"
    )
    found = ColumnLineageExtractor.extract_for_merge(analyzer.analyze_statement(sql))
    assert {str(each.target) for each in found} == {"orders.status", "orders.order_id"}


def test_messages_are_visited_as_objects_are(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement("SELECT UPPER(name) AS n FROM customers")
    message = stmt.to_proto()
    column = message.output_column_list[0].column
    (parent,) = ParentColumnFinder.find_parents_for_column(message, column)
    assert (type(parent).__name__, parent.name) == ("ResolvedColumnProto", "name")
    extractor = TableLineageExtractor()
    extractor.visit(message)
    assert extractor.source_tables == {"customers"}


def test_a_long_chain_of_operands(analyzer: Analyzer) -> None:
    stmt = analyzer.analyze_statement(f"SELECT {' + '.join(['amount', 'product_id'] * 30)} AS k FROM orders")
    column = stmt.output_column_list[0].column
    found = ParentColumnFinder.find_parents_for_column(stmt, column)
    assert {each.name for each in found} == {"amount", "product_id"}

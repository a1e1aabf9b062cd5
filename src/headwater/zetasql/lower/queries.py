"""Scans: tables, joins, filters, projections, groups, windows, set operations, WITH."""

from typing import Any

from headwater.model import relation as rel
from headwater.zetasql.lower.expressions import scan_columns
from headwater.zetasql.lower.lowering import LITERAL, ResolvedLowering, builds, message_type, table_name, unwrap
from headwater.zetasql.messages import enums

_RECURSIVE = message_type("RecursiveScan")
_OPERATORS = {
    value.number: value.name.removesuffix("_ALL").removesuffix("_DISTINCT").lower()
    for value in enums.ResolvedSetOperationScanEnums.SetOperationType.DESCRIPTOR.values
}
_UNION_ALL = enums.ResolvedSetOperationScanEnums.SetOperationType.Value("UNION_ALL")
_RECURSIVE_UNION_ALL = enums.ResolvedRecursiveScanEnums.RecursiveSetOperationType.Value("UNION_ALL")


@builds("SingleRowScan", "UnsetArgumentScan")
def build_single_row(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.Values((), ())


@builds("TableScan")
def build_table(low: ResolvedLowering, node: Any) -> rel.Relation:
    return lower_table(low, node)


def lower_table(low: ResolvedLowering, node: Any) -> rel.Scan:
    """A stored table, by its full name; the short name is never an identity."""
    dotted = node.table.full_name or node.table.name
    known = low.around.tables.get(dotted)
    attributes = tuple(
        [rel.Attribute(low.base + column.column_id, column.name) for column in node.parent.column_list]
    )
    if known is None:
        return rel.Scan(table_name(dotted), attributes, low.span(node), rel.Resolution.UNKNOWN)
    doubts = known.doubts
    if not doubts:
        return rel.Scan(known.name, attributes, low.span(node), known.resolution)
    doubtful = [attribute for attribute in attributes if attribute.name in doubts]
    return rel.Scan(
        known.name,
        attributes,
        low.span(node),
        known.resolution,
        doubts[doubtful[0].name] if doubtful else None,
        frozenset(attribute.id for attribute in doubtful),
    )


@builds("ProjectScan")
def build_project(low: ResolvedLowering, node: Any) -> rel.Relation:
    input = low.scan(node.input_scan)
    return rel.Project(input, tuple(map(low.computed, node.expr_list))) if node.expr_list else input


@builds("FilterScan")
def build_filter(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.Filter(low.scan(node.input_scan), low.expression(node.filter_expr), low.span(node.filter_expr))


@builds("JoinScan")
def build_join(low: ResolvedLowering, node: Any) -> rel.Relation:
    has_condition = unwrap(node.join_expr) is not None
    return rel.Join(
        low.scan(node.left_scan),
        low.scan(node.right_scan),
        low.expression(node.join_expr) if has_condition else None,
        span=low.span(node.join_expr) if has_condition else None,
    )


@builds("ArrayScan")
def build_array(low: ResolvedLowering, node: Any) -> rel.Relation:
    """UNNEST: the element column is some element of the array; the offset is made of nothing."""
    arrays = tuple(map(low.expression, node.array_expr_list))
    columns = [
        rel.Computed(low.attribute(column), rel.Element(array), low.span(given))
        for column, array, given in zip(node.element_column_list, arrays, node.array_expr_list)
    ]
    if node.HasField("array_offset_column"):
        columns.append(rel.Computed(low.attribute(node.array_offset_column.column), LITERAL))
    input = low.scan(node.input_scan) if unwrap(node.input_scan) is not None else None
    if unwrap(node.join_expr) is None or input is None:
        return rel.Generate(input, tuple(columns), arrays)
    right = rel.Generate(None, tuple(columns), arrays)
    return rel.Join(input, right, low.expression(node.join_expr), span=low.span(node.join_expr))


@builds("AggregateScan", "AnonymizedAggregateScan", "DifferentialPrivacyAggregateScan")
@builds("AggregationThresholdAggregateScan")
def build_aggregate(low: ResolvedLowering, node: Any) -> rel.Relation:
    base = node.parent
    columns = [low.computed(column) for column in base.aggregate_list]
    for grouping in base.grouping_call_list:
        key = rel.Ref(low.id(grouping.group_by_column.column))
        columns.append(rel.Computed(low.attribute(grouping.output_column), rel.Call("grouping", (key,))))
    keys = tuple(map(low.computed, base.group_by_list))
    return rel.Aggregate(low.scan(base.input_scan), keys, tuple(columns))


@builds("AnalyticScan")
def build_windows(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.Project(low.scan(node.input_scan), tuple(lower_windows(low, node.function_group_list)))


def lower_windows(low: ResolvedLowering, groups: Any) -> list[rel.Computed]:
    """The columns of window functions, each with the keys of its window."""
    columns = []
    for group in groups:
        keys = window_keys(low, group)
        for each in group.analytic_function_list:
            column = unwrap(each)
            call = unwrap(column.expr)
            frame = tuple(
                low.expression(bound.expression)
                for bound in (call.window_frame.start_expr, call.window_frame.end_expr)
                if unwrap(bound.expression) is not None
            )
            window = rel.Window(low.expression(call), (*keys, *frame))
            columns.append(rel.Computed(low.attribute(column.column), window, low.span(call)))
    return columns


def window_keys(low: ResolvedLowering, group: Any) -> tuple[rel.Expression, ...]:
    """PARTITION BY and ORDER BY of a window."""
    partition = map(low.expression, group.partition_by.partition_by_list)
    order = (low.expression(item.column_ref) for item in group.order_by.order_by_item_list)
    return (*partition, *order)


@builds("SetOperationScan")
def build_set_operation(low: ResolvedLowering, node: Any) -> rel.Relation:
    attributes = tuple(map(low.attribute, node.parent.column_list))
    branches = tuple(_branch(low, item) for item in node.input_item_list)
    return rel.SetOp(_OPERATORS.get(node.op_type, "union"), attributes, branches, node.op_type != _UNION_ALL)


def _branch(low: ResolvedLowering, item: Any) -> rel.Branch:
    return rel.Branch(low.scan(item.scan), tuple(map(low.id, item.output_column_list)))


@builds("OrderByScan")
def build_order(low: ResolvedLowering, node: Any) -> rel.Relation:
    items = node.order_by_item_list
    spans = [span for span in map(low.span, items) if span is not None]
    keys = tuple(low.expression(item.column_ref) for item in items)
    return rel.Sort(low.scan(node.input_scan), keys, spans[0].cover(spans[-1]) if spans else None)


@builds("LimitOffsetScan", "SampleScan", "AssertScan", "BarrierScan", "ExecuteAsRoleScan", "LogScan")
@builds("StaticDescribeScan")
def build_passing(low: ResolvedLowering, node: Any) -> rel.Relation:
    """Scans that keep the columns of their input as they are."""
    return low.scan(node.input_scan)


# ---------------------------------------------------------------------------------------------------- WITH


@builds("WithScan")
def build_with(low: ResolvedLowering, node: Any) -> rel.Relation:
    ctes = []
    for entry in node.with_entry_list:
        id = low.cte(entry.with_query_name)
        columns = tuple(map(low.id, scan_columns(entry.with_subquery)))
        ctes.append(rel.Cte(id, entry.with_query_name, _cte_body(low, entry.with_subquery, id), columns))
    return rel.With(tuple(ctes), low.scan(node.query))


def _cte_body(low: ResolvedLowering, node: Any, id: int) -> rel.Relation:
    scan = unwrap(node)
    return _recursive(low, scan, id) if type(scan) is _RECURSIVE else low.scan(scan)


def _recursive(low: ResolvedLowering, node: Any, id: int) -> rel.Relation:
    """The two terms of a recursive query; inside the second, the query itself is CTE `id`."""
    first = _branch(low, node.non_recursive_term)
    with low.inside(low.recursive, id):
        second = _branch(low, node.recursive_term)
    compares = node.op_type != _RECURSIVE_UNION_ALL
    union = rel.SetOp("union", tuple(map(low.attribute, node.parent.column_list)), (first, second), compares)
    depth = node.recursion_depth_modifier
    if not node.HasField("recursion_depth_modifier") or not depth.HasField("recursion_depth_column"):
        return union
    return rel.Project(union, (rel.Computed(low.attribute(depth.recursion_depth_column.column), LITERAL),))


@builds("RecursiveScan")
def build_recursive(low: ResolvedLowering, node: Any) -> rel.Relation:
    """A recursive query that is not the body of a WITH entry: `|> RECURSIVE UNION`, or one inside other operators."""
    id = low.new_id()
    columns = tuple(map(low.id, node.parent.column_list))
    return rel.With((rel.Cte(id, "", _recursive(low, node, id), columns),), rel.CteRef(id, ()))


@builds("RecursiveRefScan")
def build_recursive_ref(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.CteRef(low.recursive[-1], tuple(map(low.attribute, node.parent.column_list)))


@builds("WithRefScan")
def build_with_ref(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.CteRef(low.cte(node.with_query_name), tuple(map(low.attribute, node.parent.column_list)))

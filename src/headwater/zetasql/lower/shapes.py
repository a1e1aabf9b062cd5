"""Scans that change the shape of a table: PIVOT, UNPIVOT, MATCH_RECOGNIZE, GROUP_ROWS, table functions, pipelines."""

from typing import Any

from headwater.model import relation as rel
from headwater.zetasql.builtins import PSEUDO_COLUMNS
from headwater.zetasql.lower.calls import body_lowering
from headwater.zetasql.lower.expressions import scan_columns
from headwater.zetasql.lower.lowering import LITERAL, ResolvedLowering, ResolvedRoutine, builds, table_name, unwrap
from headwater.zetasql.lower.queries import lower_windows, window_keys


@builds("PivotScan")
def build_pivot(low: ResolvedLowering, node: Any) -> rel.Relation:
    """Each new column is an aggregate over the rows in which FOR has one of the values: FOR decides, not makes."""
    chosen_by = low.expression(node.for_expr)
    expressions = [low.expression(each) for each in node.pivot_expr_list]
    spans = [low.span(each) for each in node.pivot_expr_list]
    columns = [
        rel.Computed(
            low.attribute(each.column),
            _among(expressions[each.pivot_expr_index], chosen_by),
            spans[each.pivot_expr_index],
        )
        for each in node.pivot_column_list
    ]
    return rel.Aggregate(low.scan(node.input_scan), tuple(map(low.computed, node.group_by_list)), tuple(columns))


def _among(aggregate: rel.Expression, condition: rel.Expression) -> rel.Expression:
    if not isinstance(aggregate, rel.Call):
        return rel.Call("if", (condition, aggregate))
    both = condition if aggregate.condition is None else rel.Call("and", (aggregate.condition, condition))
    return rel.Call(aggregate.function, aggregate.args, aggregate.aggregate, aggregate.order, both, aggregate.opaque)


@builds("UnpivotScan")
def build_unpivot(low: ResolvedLowering, node: Any) -> rel.Relation:
    """Value column i takes, row by row, column i of each group in the IN list; the label is written in the text."""
    columns = [
        rel.Computed(
            low.attribute(column),
            rel.OneOf(tuple(low.expression(group.column_list[at]) for group in node.unpivot_arg_list)),
        )
        for at, column in enumerate(node.value_column_list)
    ]
    columns.append(rel.Computed(low.attribute(node.label_column), LITERAL))
    columns.extend(map(low.computed, node.projected_input_column_list))
    relation: rel.Relation = rel.Generate(low.scan(node.input_scan), tuple(columns))
    if not node.include_nulls:  # a row whose values are all NULL is left out
        for column in node.value_column_list:
            relation = rel.Filter(relation, rel.Ref(low.id(column)))
    return relation


@builds("MatchRecognizeScan")
def build_match(low: ResolvedLowering, node: Any) -> rel.Relation:
    """Measures are aggregates per match; the definitions of the pattern's variables decide which rows match."""
    groups = node.analytic_function_group_list
    relation: rel.Relation = rel.Project(low.scan(node.input_scan), tuple(lower_windows(low, groups)))
    for definition in node.pattern_variable_definition_list:
        relation = rel.Filter(relation, low.expression(definition.predicate), low.span(definition.predicate))
    keys = tuple(key for group in groups for key in window_keys(low, group))
    relation = rel.Sort(relation, tuple(dict.fromkeys(keys))) if keys else relation
    measures = [low.computed(each) for group in node.measure_group_list for each in group.aggregate_list]
    given = [node.match_number_column, node.match_row_number_column, node.classifier_column]
    measures += [rel.Computed(low.attribute(column), LITERAL) for column in given if column.column_id]
    return rel.Aggregate(relation, (), tuple(measures))


@builds("GroupRowsScan")
def build_group_rows(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.Generate(None, tuple(map(low.computed, node.input_column_list)))


# ----------------------------------------------------------------------------------------- table functions


@builds("TVFScan")
def build_table_function(low: ResolvedLowering, node: Any) -> rel.Relation:
    name = ".".join(node.tvf.name.split(".")) or "table function"
    routine = low.around.routines.get(name.lower())
    attributes = tuple(map(low.attribute, node.parent.column_list))
    if routine is not None and routine.opaque is None and low.depth < 20:
        inlined = _inlined(low, node, routine, attributes)
        if inlined is not None:
            return inlined
    low.report(f"`{name}` cannot be seen through: {_reason(routine)}", low.span(node))
    if not node.argument_list:  # it has its rows from somewhere else: it is a source itself
        doubt = f"the body of {name} is not known"
        return rel.Scan(table_name(name), attributes, low.span(node), approximate=doubt)
    scalars = tuple(low.expression(each.expr) for each in node.argument_list if each.HasField("expr"))
    return rel.TableFunction(name, attributes, scalars, tuple(_inputs(low, node)))


def _reason(routine: ResolvedRoutine | None) -> str:
    return (routine.opaque if routine is not None else None) or "its body is not known"


def _inputs(low: ResolvedLowering, node: Any) -> list[rel.Branch]:
    inputs = []
    for argument in node.argument_list:
        if argument.HasField("scan"):
            columns = given_columns(argument)
            inputs.append(rel.Branch(low.scan(argument.scan), tuple(map(low.id, columns))))
    return inputs


def given_columns(argument: Any) -> list[Any]:
    """The columns of a table argument; pseudo-columns are not handed over."""
    columns = argument.argument_column_list or scan_columns(argument.scan)
    return [column for column in columns if column.name not in PSEUDO_COLUMNS]


def _inlined(
    low: ResolvedLowering, node: Any, routine: ResolvedRoutine, attributes: tuple[rel.Attribute, ...]
) -> rel.Relation | None:
    """The body of a table function in SQL, its outputs under the ids they have at the call."""
    special = routine.specialize(node) if routine.specialize else None
    if routine.specialize is not None and special is None:
        return None
    inner = body_lowering(low, special or routine)
    names, values, tables = [], [], iter(_inputs(low, node))
    for parameter, argument in zip(routine.parameters, node.argument_list):
        if argument.HasField("scan"):
            branch = next(tables)
            inner.relations[parameter.lower()] = (
                branch.relation,
                tuple(id for id in branch.columns if id is not None),
            )
        else:
            names.append(parameter)
            values.append(low.expression(argument.expr))
    bindings = inner.bind_arguments(tuple(names), tuple(values))
    body = inner.scan(special.body if special is not None else routine.statement.query)
    if special is not None:
        outputs = [inner.base + number for number in special.columns]
    else:
        outputs = [inner.id(each.column) for each in routine.statement.output_column_list]
    low.issues.extend(inner.issues)
    positions = list(node.column_index_list) or range(len(attributes))
    columns = [
        rel.Computed(each, rel.Ref(outputs[at])) for each, at in zip(attributes, positions) if at < len(outputs)
    ]
    return rel.Project(rel.Generate(body, bindings) if bindings else body, tuple(columns))


@builds("RelationArgumentScan")
def build_relation_argument(low: ResolvedLowering, node: Any) -> rel.Relation:
    """The table a table function was called with; outside of a call, rows of nothing."""
    attributes = tuple(map(low.attribute, node.parent.column_list))
    given = low.relations.get(node.name.lower())
    if given is None:
        return rel.Generate(None, tuple(rel.Computed(attribute, LITERAL) for attribute in attributes))
    relation, columns = given
    return rel.Project(relation, tuple(rel.Computed(each, rel.Ref(id)) for each, id in zip(attributes, columns)))


# ------------------------------------------------------------------------------------------- subpipelines


@builds("PipeIfScan")
def build_pipe_if(low: ResolvedLowering, node: Any) -> rel.Relation:
    """`|> IF`: ZetaSQL has already chosen the case."""
    if not 0 <= node.selected_case < len(node.if_case_list):
        return low.scan(node.input_scan)
    pipeline = node.if_case_list[node.selected_case].subpipeline.scan
    id = low.new_id()
    input = low.scan(node.input_scan)
    columns = tuple(map(low.id, scan_columns(node.input_scan)))
    with low.inside(low.pipelines, id):
        body = low.scan(unwrap(pipeline))
    return rel.With((rel.Cte(id, "", input, columns),), body)


@builds("PipeTeeScan", "PipeForkScan")
def build_pipe_tee(low: ResolvedLowering, node: Any) -> rel.Relation:
    return low.scan(node.input_scan)


@builds("SubpipelineInputScan")
def build_pipeline_input(low: ResolvedLowering, node: Any) -> rel.Relation:
    return rel.CteRef(low.pipelines[-1], ())

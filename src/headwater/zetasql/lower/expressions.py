"""Expressions other than calls."""

from typing import Any

from headwater.model import relation as rel
from headwater.zetasql.lower.lowering import LITERAL, ResolvedLowering, location, lowers, unwrap
from headwater.zetasql.messages import enums, types

_SUBQUERY = enums.ResolvedSubqueryExprEnums
_KINDS = {
    _SUBQUERY.SCALAR: rel.SubqueryKind.SCALAR,
    _SUBQUERY.ARRAY: rel.SubqueryKind.ARRAY,
    _SUBQUERY.EXISTS: rel.SubqueryKind.EXISTS,
}


@lowers("Literal", "Parameter", "SystemVariable", "DMLDefault")
def lower_constant(low: ResolvedLowering, node: Any) -> rel.Expression:
    return LITERAL


@lowers("ColumnRef")
def lower_column_ref(low: ResolvedLowering, node: Any) -> rel.Expression:
    return rel.Ref(low.id(node.column), low.span(node))


@lowers("Constant")
def lower_variable(low: ResolvedLowering, node: Any) -> rel.Expression:
    """A script variable: what it was last set to."""
    return low.around.variables.get(node.constant.name.lower(), LITERAL)


@lowers("ArgumentRef", "ExpressionColumn")
def lower_argument(low: ResolvedLowering, node: Any) -> rel.Expression:
    """A parameter of the function whose body this is."""
    return low.arguments.get(node.name.lower(), LITERAL)


@lowers("Cast")
def lower_cast(low: ResolvedLowering, node: Any) -> rel.Expression:
    """CAST as written; a coercion that ZetaSQL put in has no place in the text, and at most renames fields."""
    inner = coerce(low.expression(node.expr), type_of(unwrap(node.expr)), node.parent.type)
    if location(node) is None:
        return inner
    return rel.Call("safe_cast" if node.return_null_on_error else "cast", (inner,))


def coerce(value: rel.Expression, given: Any, wanted: Any) -> rel.Expression:
    """A value under the field names of another type: fields meet by position, not by name."""
    if given.type_kind == types.TYPE_ARRAY and wanted.type_kind == types.TYPE_ARRAY:
        inner = given.array_type.element_type, wanted.array_type.element_type
        return value if same_names(*inner) else rel.MakeArray((coerce(rel.Element(value), *inner),))
    if given.type_kind != types.TYPE_STRUCT or wanted.type_kind != types.TYPE_STRUCT or same_names(given, wanted):
        return value
    made = dict(enumerate(value.fields)) if isinstance(value, rel.MakeStruct) else {}
    fields = []
    pairs = zip(field_names(given), field_names(wanted), given.struct_type.field, wanted.struct_type.field)
    for at, (old, new, one, other) in enumerate(pairs):
        part = made[at][1] if at in made else rel.GetField(value, old)
        fields.append((new, coerce(part, one.field_type, other.field_type)))
    return rel.MakeStruct(tuple(fields))


def same_names(given: Any, wanted: Any) -> bool:
    """Return whether two types have the same field names, all the way down."""
    if given.type_kind == types.TYPE_ARRAY and wanted.type_kind == types.TYPE_ARRAY:
        return same_names(given.array_type.element_type, wanted.array_type.element_type)
    if given.type_kind != types.TYPE_STRUCT or wanted.type_kind != types.TYPE_STRUCT:
        return True
    pairs = zip(given.struct_type.field, wanted.struct_type.field)
    return field_names(given) == field_names(wanted) and all(
        same_names(one.field_type, other.field_type) for one, other in pairs
    )


@lowers("MakeStruct")
def lower_make_struct(low: ResolvedLowering, node: Any) -> rel.Expression:
    names = field_names(node.parent.type)
    return rel.MakeStruct(tuple(zip(names, map(low.expression, node.field_list))))


@lowers("GetStructField")
def lower_get_field(low: ResolvedLowering, node: Any) -> rel.Expression:
    operand = unwrap(node.expr)
    names = field_names(type_of(operand))
    name = names[node.field_idx] if node.field_idx < len(names) else f"_field_{node.field_idx + 1}"
    return rel.GetField(low.expression(operand), name)


@lowers("GetJsonField")
def lower_json_field(low: ResolvedLowering, node: Any) -> rel.Expression:
    return rel.GetField(low.expression(node.expr), node.field_name)


@lowers("GetRowField")
def lower_row_field(low: ResolvedLowering, node: Any) -> rel.Expression:
    return rel.GetField(low.expression(node.expr), node.column.name)


@lowers("Flatten")
def lower_flatten(low: ResolvedLowering, node: Any) -> rel.Expression:
    """`FLATTEN(items.parts.name)`: each step takes the elements of the one before."""
    value: rel.Expression = rel.Element(low.expression(node.expr))
    for step in node.get_field_list:
        with low.inside(low.flattened, value):
            value = low.expression(step)
        if type_of(unwrap(step)).type_kind == types.TYPE_ARRAY:
            value = rel.Element(value)
    return rel.MakeArray((value,))


@lowers("FlattenedArg")
def lower_flattened(low: ResolvedLowering, node: Any) -> rel.Expression:
    return low.flattened[-1] if low.flattened else LITERAL


@lowers("WithExpr")
def lower_with(low: ResolvedLowering, node: Any) -> rel.Expression:
    return rel.Let(tuple(map(low.computed, node.assignment_list)), low.expression(node.expr))


@lowers("SubqueryExpr")
def lower_subquery(low: ResolvedLowering, node: Any) -> rel.Expression:
    kind = _KINDS.get(node.subquery_type, rel.SubqueryKind.IN)
    columns = scan_columns(node.subquery)
    relation = low.scan(node.subquery)
    if kind is rel.SubqueryKind.EXISTS or not columns:
        return rel.Subquery(kind, relation)
    operand = low.expression(node.in_expr) if kind is rel.SubqueryKind.IN else None
    return rel.Subquery(kind, relation, low.id(columns[0]), operand)


@lowers("ReplaceField")
def lower_replace_field(low: ResolvedLowering, node: Any) -> rel.Expression:
    """REPLACE_FIELDS on a struct: its fields, some of them with another value."""
    whole = low.expression(node.expr)
    names = field_names(type_of(unwrap(node.expr)))
    values = {name: rel.GetField(whole, name) for name in names}
    fields: dict[str, rel.Expression] = dict(values)
    for item in node.replace_field_item_list:
        value = low.expression(item.expr)
        if not item.struct_index_path:
            return rel.Call("replace_fields", (whole, value))
        name = names[item.struct_index_path[0]]
        # deeper inside, what is replaced cannot be told from what stays
        fields[name] = value if len(item.struct_index_path) == 1 else rel.OneOf((fields[name], value))
    return rel.MakeStruct(tuple(fields.items()))


@lowers("GetProtoField", "GetProtoOneof", "FilterField", "UpdateConstructor", "GraphGetElementProperty")
def lower_inner(low: ResolvedLowering, node: Any) -> rel.Expression:
    """Something of a value whose inside we do not know."""
    return rel.Call("field", (low.expression(node.expr),))


@lowers("MakeProto")
def lower_make_proto(low: ResolvedLowering, node: Any) -> rel.Expression:
    return rel.Call("struct", tuple(low.expression(field.expr) for field in node.field_list))


@lowers("ArrayAggregate")
def lower_array_aggregate(low: ResolvedLowering, node: Any) -> rel.Expression:
    element = rel.Computed(low.attribute(node.element_column), rel.Element(low.expression(node.array)))
    before = tuple(map(low.computed, node.pre_aggregate_computed_column_list))
    return rel.Let((element, *before), low.expression(node.aggregate))


@lowers("CatalogColumnRef", "GraphMakeElement", "GraphIsLabeledPredicate")
def lower_nothing(low: ResolvedLowering, node: Any) -> rel.Expression:
    return LITERAL


def type_of(node: Any) -> Any:
    """The TypeProto of a concrete expression: on the outermost of its parents that has one."""
    while "type" not in type(node).DESCRIPTOR.fields_by_name:
        node = node.parent
    return node.type


def field_names(struct: Any) -> list[str]:
    """The names of a struct type's fields; those without one are called as BigQuery calls them."""
    return [field.field_name or f"_field_{number}" for number, field in enumerate(struct.struct_type.field, start=1)]


def scan_columns(node: Any) -> Any:
    """The columns a scan gives, in order."""
    scan = unwrap(node)
    while scan is not None and "column_list" not in type(scan).DESCRIPTOR.fields_by_name:
        scan = scan.parent
    return () if scan is None else scan.column_list

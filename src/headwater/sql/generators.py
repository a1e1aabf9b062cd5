"""Functions that make rows in FROM: UNNEST, LATERAL, explode, FLATTEN, JSON_TABLE, other table functions."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from headwater.model import relation as rel
from headwater.model.names import TableName
from headwater.model.types import Array, Struct
from headwater.sql.calls import add_call, add_result_scan, is_result_scan
from headwater.sql.items import DerivedItem, ElementItem, ItemColumn, MergedItem, renamed
from headwater.sql.lowering import Lowering, Node, Scope, lowers
from headwater.sql.table_names import files_read
from headwater.sql.tables import add_item, add_opaque, adds, alias_names, beside, name_item, store
from headwater.text import Span

_Named = tuple[str, str, Span | None]
_Generated = tuple[Sequence[str], Sequence[rel.Expression], Sequence[rel.Expression]]
"""Default names and values of the columns made, and what decides the number of rows."""


@adds(exp.Unnest)
def add_unnest(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    arrays = [lowering.expression(each, scope) for each in node.expressions]
    alias = node.args.get("alias")
    names = alias_names(lowering, alias)
    values = [value for array in arrays for value in _unnested(lowering, array)]
    if len(names) > len(values):  # a map gives keys and values, an array of structs its fields: they look alike here
        values += [values[-1]] * (len(names) - len(values))
    offset = node.args.get("offset")
    if isinstance(offset, exp.Identifier):
        values.append(rel.Literal())
        names = [*names[: len(values) - 1], (offset.name, lowering.key(offset), lowering.span(offset))]
    return _add_generated(lowering, node, scope, before, (names, ["unnest"], values, arrays))


def _unnested(lowering: Lowering, array: rel.Expression) -> list[rel.Expression]:
    """Return what one array gives: its elements; in Trino, where an element is a row, a column for each of its
    fields."""
    element = rel.Element(array)
    known = lowering.type_of(array) if lowering.dialect in _ROWS_TO_COLUMNS else None
    if isinstance(known, Array) and isinstance(known.element, Struct):
        return [rel.GetField(element, member.name) for member in known.element.members]
    return [element]


_ROWS_TO_COLUMNS = frozenset({"trino", "presto", "athena"})


@adds(exp.Lateral, exp.TableFromRows)
def add_lateral(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    inner = node.this
    if isinstance(inner, exp.Query):
        query = lowering.query(inner, scope)
        names = alias_names(lowering, node.args.get("alias"))
        item = DerivedItem(renamed(query.columns, names), query.below)
        scope.items.append(name_item(lowering, node, item, (), "the subquery"))
        return beside(before, query.relation)
    if isinstance(inner, exp.Unnest):
        inner.set("alias", node.args.get("alias"))
        return add_unnest(lowering, inner, scope, before)
    return _add_function(lowering, node, scope, before)


@adds(exp.Stream, exp.Final)
def add_wrapped(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    """STREAM(t), t FINAL: the table."""
    return add_item(lowering, node.this, scope, before)


@adds(exp.Func)
def _add_function(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    function = node.this
    if isinstance(function, exp.Anonymous) and function.name.upper() == "TABLE" and len(function.expressions) == 1:
        function = function.expressions[0]
    if isinstance(function, exp.Literal) and function.is_string:
        function = exp.DynamicIdentifier(this=function)  # TABLE('s.t') is TABLE(IDENTIFIER('s.t'))
    if isinstance(function, exp.DynamicIdentifier) and isinstance(function.this, exp.Literal):
        return add_item(lowering, exp.Table(this=function, alias=node.args.get("alias")), scope, before)
    if is_result_scan(function):
        entered = add_result_scan(lowering, node, function, scope, before)
        if entered is not None:
            return entered
    files = files_read(function)
    if files:
        return _add_files(lowering, node, scope, before, files)
    entered = add_call(lowering, node, function, scope, before) or _add_view(lowering, node, function, scope, before)
    if entered is not None:
        return entered
    if "generator" in (function.key, function.name.lower()):  # rows without columns
        scope.items.append(name_item(lowering, node, DerivedItem([]), (), "generator"))
        return beside(before, rel.Values((), ()))
    generate = _GENERATORS.get(type(function)) or _BY_NAME.get(function.name.lower() if function.name else "")
    if generate is None:
        return add_opaque(lowering, node, scope, before)
    names = alias_names(lowering, node.args.get("alias"))
    defaults, values, expanded = generate(lowering, function, scope)
    if not names and generate is _json_columns:  # they are named in the call, even when there is only one
        names = [(name, lowering.key_of(name), None) for name in defaults]
    return _add_generated(lowering, node, scope, before, (names, defaults, values, expanded))


def _add_view(
    lowering: Lowering, node: Node, function: Node, scope: Scope, before: rel.Relation | None
) -> rel.Relation | None:
    """A view with parameters (ClickHouse): `v(x = 1)` reads the view `v`."""
    if lowering.dialect != "clickhouse" or not isinstance(function, exp.Anonymous):
        return None
    table = exp.Table(this=exp.to_identifier(function.name), db=node.args.get("db"), alias=node.args.get("alias"))
    known = lowering.resolver.resolve(lowering.table_name(table)[0])
    return None if known.resolution is rel.Resolution.UNKNOWN else add_item(lowering, table, scope, before)


def _add_generated(
    lowering: Lowering,
    node: Node,
    scope: Scope,
    before: rel.Relation | None,
    made: tuple[Sequence[_Named], Sequence[str], Sequence[rel.Expression], Sequence[rel.Expression]],
) -> rel.Relation:
    """Columns made per row. Without names of their own, a single one has the name of the alias."""
    names, defaults, values, expanded = made
    if values and len(names) > len(values):  # the fields of a struct, the keys and values of a map
        values = [*values, *[values[-1]] * (len(names) - len(values))]
    alias = node.args.get("alias")
    if not names and len(values) == 1 and alias is not None and alias.this is not None:
        names = [(alias.name, lowering.key(alias.this), lowering.span(alias.this))]
    columns: list[rel.Computed] = []
    offered: list[ItemColumn] = []
    for at, value in enumerate(values):
        name = defaults[at] if at < len(defaults) else f"{defaults[-1]}_{at}"
        key, span = lowering.key_of(name), None
        if at < len(names):
            name, key, span = names[at]
        computed = rel.Computed(rel.Attribute(lowering.new_id(), name, span), value)
        columns.append(computed)
        offered.append(ItemColumn(name, key, rel.Ref(computed.attribute.id), span))
    item: DerivedItem = DerivedItem(offered)
    if len(values) <= 2:
        fields = lowering.field_names(values[0]) if lowering.dialect == "bigquery" else ()
        item = ElementItem(offered, [(field, lowering.key_of(field)) for field in fields])
    scope.items.append(name_item(lowering, node, item, (lowering.key_of(defaults[0]),), defaults[0]))
    return rel.Generate(before, tuple(columns), tuple(expanded))


@adds(exp.Join)
def add_array_join(lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None) -> rel.Relation:
    """ARRAY JOIN (ClickHouse): each array becomes its element, under its own name or an alias."""
    columns: list[rel.Computed] = []
    offered: list[ItemColumn] = []
    arrays: list[rel.Expression] = []
    for each in [node.this, *(node.args.get("expressions") or ())]:
        array = each.this if isinstance(each, exp.Alias | exp.Table) else each
        name = each.alias_or_name
        arrays.append(lowering.expression(array, scope))
        computed = rel.Computed(rel.Attribute(lowering.new_id(), name), rel.Element(arrays[-1]))
        columns.append(computed)
        offered.append(ItemColumn(name, lowering.key_of(name), rel.Ref(computed.attribute.id)))
    for column in offered:  # they stand for the arrays from here on
        scope.merged[column.key] = column
    return rel.Generate(before, tuple(columns), tuple(arrays))


# --------------------------------------------------------------------------------------------- generators


def _argument(function: Node) -> Node:
    """The collection that is exploded: the first argument, or the one named `input`."""
    first = function.this if isinstance(function.this, exp.Expr) else function.expressions[0]
    for each in (first, *(function.args.get("expressions") or ())):
        if isinstance(each, exp.Kwarg) and each.this.name.lower() == "input":
            return each.expression
    return first.expression if isinstance(first, exp.Kwarg) else first


def _explode(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    value = lowering.expression(_argument(function), scope)
    if lowering.dialect == "snowflake":  # FLATTEN
        derived = rel.Call("flatten", (value,))
        made: list[rel.Expression] = [rel.Literal(), derived, derived, rel.Literal(), rel.Element(value), value]
        return ["SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS"], made, [value]
    return ["col", "value"], [rel.Element(value)], [value]


def _explode_pairs(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    value = lowering.expression(_argument(function), scope)
    return ["key", "value"], [rel.Element(value), rel.Element(value)], [value]


def _posexplode(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    value = lowering.expression(_argument(function), scope)
    # in an array that is written item by item, every item has its place, whatever the values are
    place = rel.Literal() if isinstance(value, rel.MakeArray) else rel.Call("posexplode", (value,))
    return ["pos", "col", "value"], [place, rel.Element(value)], [value]


def _variant_explode(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    value = lowering.expression(_argument(function), scope)
    return (
        ["pos", "key", "value"],
        [rel.Literal(), rel.Call("variant_explode", (value,)), rel.Element(value)],
        [value],
    )


def _json_tuple(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    if not function.expressions:
        return ["c0"], [rel.Literal()], []
    value = lowering.expression(function.expressions[0], scope)
    fields = [each.name for each in function.expressions[1:]] or ["c0"]
    return fields, [rel.Call("json_extract", (rel.GetField(value, field),)) for field in fields], []


def _json_columns(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    """JSON_TABLE and OPENJSON … WITH: each column is a path into the document."""
    document = _json_rows(lowering.expression(function.this, scope), function.args.get("path"))
    schema = function.args.get("schema")
    definitions = schema.expressions if schema is not None else function.expressions
    columns = list(_json_definitions(definitions))
    if not columns:
        return ["key", "value", "type"], [rel.Literal(), rel.Element(document), rel.Literal()], [document]
    names = [name for name, _ in columns]
    values: list[rel.Expression] = []
    for _, path in columns:
        value: rel.Expression = document
        for step in path:
            value = rel.GetField(value, step)
        values.append(rel.Call("json_extract", (value,)))
    return names, values, [document.operand if isinstance(document, rel.Element) else document]


def _json_rows(document: rel.Expression, path: Node | None) -> rel.Expression:
    """Return what the path of JSON_TABLE makes rows of: `$.items[*]` is each element of `items`."""
    for step in path.name.lstrip("$").split(".") if isinstance(path, exp.Literal) else ():
        key, bracket, _ = step.partition("[")
        document = rel.GetField(document, key) if key else document
        document = rel.Element(document) if bracket else document
    return document


def _json_definitions(definitions: Sequence[Node]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for each in definitions:
        nested = each.args.get("nested_schema")
        path = each.args.get("path")
        text = path.name if isinstance(path, exp.Expr) else f"$.{each.name}"
        steps = [step.split("[")[0] for step in text.lstrip("$").split(".") if step.split("[")[0]]
        if nested is not None:
            found += [(name, steps + inner) for name, inner in _json_definitions(nested.expressions)]
        elif each.this is not None:
            found.append((each.name, steps))
    return found


def _xml_columns(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    given = tuple(lowering.expression(each, scope) for each in function.args.get("passing") or ())
    names = [each.name for each in function.args.get("columns") or ()]
    return names or ["column_value"], [rel.Call("xmltable", given)] * max(1, len(names)), given


def _series(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    bounds = [value for value in function.args.values() if isinstance(value, exp.Expr)]
    bounds += [each for each in function.args.get("expressions") or () if isinstance(each, exp.Expr)]
    given = [lowering.expression(each, scope) for each in bounds]
    return ["generate_series"], [rel.Call("generate_series", tuple(given))], given


def _elements(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    value = lowering.expression(function.expressions[0], scope)
    return ["value"], [rel.Element(value)], [value]


def _transformed(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    args = tuple(lowering.expression(each, scope) for each in function.expressions)
    return ["value"], [rel.Call(function.name.lower(), args)], args


def _split(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    """SPLIT_TO_TABLE: the number of the row, that of the part, and the part."""
    given = tuple(lowering.expression(each, scope) for each in (function.this, function.expression))
    return ["SEQ", "INDEX", "VALUE"], [rel.Literal(), rel.Literal(), rel.Call("split", given)], given


def _stack(lowering: Lowering, function: Node, scope: Scope) -> _Generated:
    """stack(n, a, b, c, d): n rows of what follows, so that a column is every width-th of them."""
    values = [lowering.expression(each, scope) for each in function.expressions]
    rows = int(function.this.name) if isinstance(function.this, exp.Literal) and function.this.name.isdigit() else 1
    width = max(1, -(-len(values) // max(1, rows)))
    return [f"col{at}" for at in range(width)], [rel.OneOf(tuple(values[at::width])) for at in range(width)], []


_Generator = Callable[[Lowering, Node, Scope], _Generated]

_GENERATORS: dict[type, _Generator] = {
    exp.Explode: _explode,
    exp.ExplodeOuter: _explode,
    exp.Posexplode: _posexplode,
    exp.PosexplodeOuter: _posexplode,
    exp.Inline: _explode,
    exp.JSONTable: _json_columns,
    exp.OpenJSON: _json_columns,
    exp.XMLTable: _xml_columns,
    exp.GenerateSeries: _series,
    exp.ExplodingGenerateSeries: _series,
    exp.GenerateDateArray: _series,
}
for _name, _make in (("SplitToTable", _split), ("Stack", _stack)):
    if hasattr(exp, _name):  # sqlglot 30.12 reads them as functions without a class
        _GENERATORS[getattr(exp, _name)] = _make

_BY_NAME: dict[str, _Generator] = {
    "json_tuple": _json_tuple,
    "jsonb_array_elements": _elements,
    "json_array_elements": _elements,
    "jsonb_array_elements_text": _elements,
    "json_array_elements_text": _elements,
    "json_each": _explode_pairs,
    "jsonb_each": _explode_pairs,
    "jsonb_each_text": _explode_pairs,
    "variant_explode": _variant_explode,
    "variant_explode_outer": _variant_explode,
    "string_split": _transformed,
    "regexp_split_to_table": _transformed,
    "split_to_table": _transformed,
    "generate_series": _series,
    "generate_subscripts": _transformed,
    "range": _series,
    "sequence": _series,
    "numbers": _series,
}


def generated_values(lowering: Lowering, function: Node, scope: Scope) -> Sequence[rel.Expression] | None:
    """The columns of a function in the select list that makes rows; None when it is no such function."""
    generate = _GENERATORS.get(type(function)) or _BY_NAME.get(function.name.lower() if function.name else "")
    if generate is None:
        return None
    _, values, expanded = generate(lowering, function, scope)
    scope.expanded += expanded
    return values


def _add_files(
    lowering: Lowering, node: Node, scope: Scope, before: rel.Relation | None, files: Sequence[TableName]
) -> rel.Relation:
    """The rows of a file, or of several one after another."""
    items = [store(lowering, lowering.resolver.resolve(file), lowering.span(node.this)) for file in files]
    names = (lowering.key_of(files[0].name),)
    if len(items) == 1:
        scope.items.append(name_item(lowering, node, items[0], names, files[0].name))
        return beside(before, items[0].scan)
    item = MergedItem([], items)
    scope.items.append(name_item(lowering, node, item, names, files[0].name))
    relation: rel.Relation = rel.SetOp("union", (), tuple(rel.Branch(each.scan, ()) for each in items))
    return beside(before, relation)


# ------------------------------------------------------------------------------------------ as an expression


@lowers(exp.ExplodingGenerateSeries)
def lower_exploding_series(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """generate_series in the select list of Postgres: rows, as many as its bounds say."""
    _, values, bounds = _series(lowering, node, scope)
    scope.expanded += bounds
    return values[0]


@lowers(exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter, exp.Inline, exp.Unnest)
def lower_explode(lowering: Lowering, node: Node, scope: Scope) -> rel.Expression:
    """A generator in the select list: its value is an element. `IN UNNEST(x)` only looks into the array."""
    given = node.expressions if isinstance(node, exp.Unnest) else [node.this]
    arrays = [lowering.expression(array, scope) for array in given]
    if not isinstance(node.parent, exp.In | exp.Any | exp.All):
        scope.expanded += arrays
    elements = tuple(rel.Element(array) for array in arrays)
    return elements[0] if len(elements) == 1 else rel.OneOf(elements)

"""The select list: items, stars, names of outputs; and keys that may refer to it by name or position."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.model.relation import WILDCARD, Attribute, Computed, Expression, GetField, Literal, OneOf, Ref
from headwater.sql.duckdb_columns import columns_call, expand_columns
from headwater.sql.generators import generated_values
from headwater.sql.items import Item, ItemColumn, Named
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.text import Span

_ALIASES_IN_LIST = frozenset({"snowflake", "redshift", "databricks", "spark", "duckdb", "clickhouse", "teradata"})
"""Dialects in which a select item can refer to the alias of one before it."""


@dataclass(slots=True)
class SelectList:
    """A lowered select list: its columns, those that had to be computed, and open items that a star lets through."""

    columns: list[ItemColumn] = field(default_factory=list)
    computed: list[Computed] = field(default_factory=list)
    below: tuple[Item, ...] = ()
    items: list[Node] = field(default_factory=list)  # what each column was written as
    unnamed: int = 0


def lower_select_list(lowering: Lowering, node: Node, scope: Scope) -> SelectList:
    """Lower the items of a SELECT. Their aliases become visible in the scope."""
    selected = SelectList()
    at_once = lowering.dialect in _ALIASES_IN_LIST
    for position, item in enumerate(node.expressions):
        before = len(selected.columns)
        _lower_item(lowering, item, position, scope=scope, selected=selected)
        selected.items += [item] * (len(selected.columns) - before)
        if at_once and isinstance(item, exp.Alias) and len(selected.columns) > before:
            scope.aliases.setdefault(selected.columns[-1].key, selected.columns[-1])
    if not at_once:
        for column in reversed(selected.columns):
            scope.aliases[column.key] = column
    return selected


def _lower_item(lowering: Lowering, item: Node, position: int, *, scope: Scope, selected: SelectList) -> None:
    if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
        _expand_star(lowering, item, scope, selected)
    elif isinstance(item, exp.Column):
        span = lowering.span(item.this)
        expression = lowering.expression(item, scope)
        column = ItemColumn(item.name, lowering.key(item.this), expression, span)
        selected.columns.append(_output(lowering, column, item, selected))
    elif isinstance(item, exp.Aliases):
        _lower_aliases(lowering, item, scope, selected)
    elif isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
        # `f(x).*`: the fields of a value; a table's name in it is the whole row
        with lowering.rows_by_name():
            expression = lowering.expression(item.this, scope)
        _add_fields(lowering, expression, selected)
    elif (call := columns_call(item)) is not None:
        for name, one in expand_columns(lowering, item, call, scope):
            _lower_computed(lowering, exp.alias_(one, name, quoted=True), position, scope=scope, selected=selected)
    else:
        _lower_computed(lowering, item, position, scope=scope, selected=selected)


def _lower_computed(lowering: Lowering, item: Node, position: int, *, scope: Scope, selected: SelectList) -> None:
    alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
    value = item.this if alias is not None else item
    if alias is not None and isinstance(value, exp.Column) and not isinstance(value.this, exp.Star):
        name_span = lowering.span(alias)
        expression = lowering.expression(value, scope)
        column = ItemColumn(alias.name, lowering.key(alias), expression, name_span)
        selected.columns.append(_output(lowering, column, value, selected))
        return
    name_span = lowering.span(alias) if alias is not None else None
    start = alias._meta.get("start") if alias is not None and alias._meta else lowering.first_position(value)
    whole = lowering.claim(start)
    expression = lowering.expression(value, scope)
    span = _without_alias(lowering, whole, name_span)
    name = alias.name if alias is not None else output_name(lowering, value, position, selected)
    key = lowering.key(alias) if alias is not None else lowering.key_of(name)
    made = Computed(Attribute(lowering.new_id(), name, name_span), expression, span)
    selected.computed.append(made)
    lowering.keep_fields(made.attribute.id, expression)
    selected.columns.append(ItemColumn(name, key, Ref(made.attribute.id), name_span or span, _type_of(value)))


def _output(lowering: Lowering, column: ItemColumn, written: Node, selected: SelectList) -> ItemColumn:
    """A column that is selected by name: it stays what it is, under the name it gets here."""
    if isinstance(column.expression, Ref):
        return column
    span = lowering.cover(written.parts[0], written.parts[-1])
    made = Computed(Attribute(lowering.new_id(), column.name, column.span), column.expression, span)
    selected.computed.append(made)
    return ItemColumn(column.name, column.key, Ref(made.attribute.id), column.span)


def _without_alias(lowering: Lowering, whole: Span | None, alias: Span | None) -> Span | None:
    """The span of an item without its alias, which may stand after it or (T-SQL, DuckDB) before."""
    if whole is None or alias is None:
        return whole
    text = lowering.source.text
    if alias.start <= whole.start:
        rest = text[alias.end : whole.end]
        start = alias.end + len(rest) - len(rest.lstrip(" \t\r\n=:"))
        return lowering.source.span(start, whole.end)
    before = text[whole.start : alias.start].rstrip()
    if (before[-2:].upper() == "AS" and before[-3:-2].isspace()) or before[-3:].upper() == ")AS":
        before = before[:-2].rstrip()
    return lowering.source.span(whole.start, whole.start + len(before))


def output_name(lowering: Lowering, value: Node, position: int, selected: SelectList) -> str:
    """The name of an item without an alias: that of the column or field it ends in, else by position."""
    name: str = "" if isinstance(value, exp.Literal) else value.output_name
    if name and name != WILDCARD:
        return name
    if lowering.dialect in ("postgres", "redshift", "materialize", "risingwave"):
        # Postgres calls an output without a name after its function
        while isinstance(value, exp.Cast | exp.Paren | exp.Window | exp.Filter | exp.WithinGroup):
            value = value.this
        if isinstance(value, exp.Case):
            return "case"
        if isinstance(value, exp.Anonymous):
            return str(value.name).lower()
        if isinstance(value, exp.Explode | exp.ExplodingGenerateSeries):  # sqlglot's own names for them
            return "unnest" if isinstance(value, exp.Explode) else "generate_series"
        return str(value.sql_names()[0]).lower() if isinstance(value, exp.Func) else "?column?"
    selected.unnamed += 1
    return f"f{selected.unnamed - 1}_" if lowering.dialect == "bigquery" else f"_col_{position}"


def _type_of(value: Node) -> str | None:
    if isinstance(value, exp.Cast) and isinstance(value.to, exp.DataType):
        text: str = value.to.sql()
        return text
    return None


# --------------------------------------------------------------------------------------------------- stars


def _expand_star(lowering: Lowering, item: Node, scope: Scope, selected: SelectList) -> None:
    star = item if isinstance(item, exp.Star) else item.this
    if isinstance(item, exp.Star):
        named = [each for each in scope.items if each.listed]
        columns = list(scope.merged.values()) + [
            column for each in named for column in each.item.star() if column.key not in scope.merged
        ]
    else:
        parts = [part for part in (item.args.get("catalog"), item.args.get("db"), item.args.get("table")) if part]
        keys = tuple(lowering.key(part) for part in parts)
        named = [each for each in scope.all_items() if each.answers_to(keys)][:1]
        columns = [column for each in named for column in each.item.star()]
        if not named:
            # `s.*` where s is no table: the fields of a struct, else an unknown name
            expression = lowering.expression(exp.Column(this=parts[-1]) if len(parts) == 1 else parts[-1], scope)
            _add_fields(lowering, expression, selected)
            return
    span = _star_span(lowering, item)
    _report_open(lowering, named, span)
    selected.below += tuple(each.item for each in named if each.item.is_open)
    columns = [_from_star(column, span) for column in columns]
    selected.columns += _exceptions(lowering, star, columns, scope=scope, selected=selected)


def _from_star(column: ItemColumn, span: Span | None) -> ItemColumn:
    """A column that a star stands for: the star is where it is named."""
    expression = column.expression
    if isinstance(expression, Ref) and expression.span is None:
        expression = Ref(expression.column, span)
    elif isinstance(expression, OneOf) and len(expression.options) == 1:
        inner = expression.options[0]
        if isinstance(inner, Ref) and inner.span is None:
            expression = OneOf((Ref(inner.column, span),), expression.uncertain)
    return ItemColumn(column.name, column.key, expression, span, column.type)


def _star_span(lowering: Lowering, item: Node) -> Span | None:
    if isinstance(item, exp.Column):
        table = lowering.span(item.args["table"])
        return lowering.source.span(table.start, table.end + 2) if table is not None else None
    clause = item.parent.args.get("from_") if item.parent is not None else None
    return lowering.claim_star(lowering.first_position(clause)) if clause is not None else None


def _report_open(lowering: Lowering, named: Iterable[Named], span: Span | None) -> None:
    for each in named:
        columns = each.item.star()
        if any(column.is_wildcard for column in columns):
            known = [column.name for column in columns if not column.is_wildcard]
            what = f"of which only {len(known)} can be named" if known else "which are not known"
            lowering.report(
                IssueCode.APPROXIMATE_LINEAGE,
                f"`*` takes all columns of `{each.shown}`, {what}",
                span=span,
                hint="give the schema of the table",
            )


def _add_fields(lowering: Lowering, expression: Expression, selected: SelectList) -> None:
    """The fields of a struct as columns; if they are not known, one that stands for all."""
    names = lowering.field_names(expression)
    for name in names or [WILDCARD]:
        value = expression if not names else GetField(expression, name)
        made = Computed(Attribute(lowering.new_id(), name), value)
        selected.computed.append(made)
        selected.columns.append(ItemColumn(name, lowering.key_of(name), Ref(made.attribute.id)))


def _exceptions(
    lowering: Lowering, star: Node, columns: list[ItemColumn], *, scope: Scope, selected: SelectList
) -> list[ItemColumn]:
    """EXCEPT, REPLACE and RENAME of a star."""
    args = star.args
    dropped = {lowering.key_of(each.name) for each in args.get("except_") or ()}
    replacing = [each for each in args.get("replace") or () if isinstance(each, exp.Alias)]
    replaced: dict[str, Node] = {lowering.key(each.args["alias"]): each for each in replacing}
    renaming = args.get("rename") or ()
    given: dict[str, Node] = {lowering.key_of(each.this.name): each.args["alias"] for each in renaming}
    alike = args.get("ilike")
    if alike is not None:
        signs = {"%": ".*", "_": "."}
        like = re.compile("".join(signs.get(sign, re.escape(sign)) for sign in alike.name), re.IGNORECASE)
        columns = [column for column in columns if column.is_wildcard or like.fullmatch(column.name)]
    if not dropped and not replaced and not given:
        return columns
    names = [each.args["alias"] for each in replacing] + [each.this for each in renaming]
    columns = _with_named(lowering, columns, names, scope)
    result = []
    for column in columns:
        if column.key in dropped:
            continue
        if column.key in replaced:
            column = _replacement(lowering, replaced[column.key], scope, selected)
        if column.key in given:
            alias = given[column.key]
            column = ItemColumn(alias.name, lowering.key_of(alias.name), column.expression, lowering.span(alias))
        result.append(column)
    return result


def _with_named(
    lowering: Lowering, columns: list[ItemColumn], names: Sequence[Node], scope: Scope
) -> list[ItemColumn]:
    """The columns of a star with those that REPLACE or RENAME names: a table whose columns are not known has them."""
    known = {column.key for column in columns}
    at = next((at for at, column in enumerate(columns) if column.is_wildcard), None)
    if at is None:
        return columns
    named: list[ItemColumn] = []
    for each in names:
        name = each.this if isinstance(each, exp.Column) else each
        if lowering.key(name) not in known:
            value = lowering.expression(exp.Column(this=name.copy()), scope)
            named.append(ItemColumn(name.name, lowering.key(name), value))
    return [*columns[:at], *named, *columns[at:]]


def _replacement(lowering: Lowering, item: Node, scope: Scope, selected: SelectList) -> ItemColumn:
    alias = item.args["alias"]
    name_span = lowering.span(alias)
    expression = lowering.expression(item.this, scope)
    column = Computed(Attribute(lowering.new_id(), alias.name, name_span), expression, name_span)
    selected.computed.append(column)
    return ItemColumn(alias.name, lowering.key(alias), Ref(column.attribute.id), name_span)


def _lower_aliases(lowering: Lowering, item: Node, scope: Scope, selected: SelectList) -> None:
    """`explode(m) AS (k, v)`, `posexplode(a) AS (i, x)`: several columns from one generator."""
    found = generated_values(lowering, item.this, scope)
    value = lowering.expression(item.this, scope) if found is None else Literal()
    for at, alias in enumerate(item.args["expressions"]):
        made: Expression = found[min(at, len(found) - 1)] if found else GetField(value, f"{at}")
        column = Computed(Attribute(lowering.new_id(), alias.name, lowering.span(alias)), made)
        selected.computed.append(column)
        selected.columns.append(
            ItemColumn(alias.name, lowering.key(alias), Ref(column.attribute.id), lowering.span(alias))
        )


# ---------------------------------------------------------------------------------------------------- keys


def lower_key(
    lowering: Lowering, node: Node, scope: Scope, columns: Sequence[ItemColumn], *, alias_first: bool = False
) -> Expression:
    """A key of GROUP BY, ORDER BY or DISTINCT ON: a position, an alias, or an expression."""
    if isinstance(node, exp.Ordered):
        node = node.this
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        at = int(node.name) - 1
        if 0 <= at < len(columns):
            return columns[at].expression
    if alias_first and isinstance(node, exp.Column) and node.args.get("table") is None:
        alias = scope.aliases.get(lowering.key(node.this)) if not isinstance(node.this, exp.Star) else None
        if alias is not None:
            return alias.expression
    return lowering.expression(node, scope)


def group_keys(lowering: Lowering, clause: Node | None, scope: Scope, selected: SelectList) -> tuple[Computed, ...]:
    """The keys of GROUP BY, those of ROLLUP, CUBE and GROUPING SETS included."""
    if clause is None:
        return ()
    if clause.args.get("all"):
        pairs = zip(selected.columns, selected.items)
        keys = [column.expression for column, item in pairs if item.find(exp.AggFunc) is None]
    else:
        keys = [lower_key(lowering, node, scope, selected.columns) for node in _key_nodes(clause)]
    computed = {made.attribute.id: made.span for made in selected.computed}
    spans = [key.span or computed.get(key.column) if isinstance(key, Ref) else None for key in keys]
    return tuple(Computed(Attribute(lowering.new_id(), "key"), key, span) for key, span in zip(keys, spans))


def _key_nodes(node: Node) -> Iterable[Node]:
    groups = ("expressions", "grouping_sets", "cube", "rollup")
    for each in [inner for group in groups for inner in node.args.get(group) or () if isinstance(inner, exp.Expr)]:
        if isinstance(each, exp.Tuple | exp.Cube | exp.Rollup | exp.GroupingSets | exp.Paren):
            inside = [each.this] if isinstance(each, exp.Paren) else None
            yield from inside or _key_nodes(each)
        else:
            yield each

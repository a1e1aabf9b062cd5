"""Resolves names of columns.

The order: parameters of a lambda, columns of the FROM clause, aliases of the select list where the clause allows
them, then the same in the query around. A column known to exist wins over one that an open table may have; a column
of an open table exists in its own FROM clause if it was named there, and is no more certain than others in a query
within. A name that several may have is the value of one of them, with an issue that lists the candidates.
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from headwater.errors import IssueCode
from headwater.model.relation import Call, Expression, GetField, Literal, MakeStruct, OneOf, Ref
from headwater.sql.dialects import MICROSOFT, MYSQL
from headwater.sql.items import ElementItem, ItemColumn, Named, OpaqueItem, StoredItem
from headwater.sql.lowering import Lowering, Node, Scope, lowers
from headwater.text import Span, nearest

_HIDDEN = ("_partitiontime", "_partitiondate", "_table_suffix", "_file_name")
_NOT_COLUMNS = frozenset(
    {
        *("rownum", "rowid", "level", "sysdate", "systimestamp", "user", "uid", "default", "ctid", "oid", "tableoid"),
        *("current_date", "current_timestamp", "current_time", "current_user", "localtimestamp", "localtime"),
        *("session_user", "connect_by_isleaf", "connect_by_iscycle", "sqlcode", "sqlerrm", "sqlstate"),
        *("xmin", "xmax", "$action", *_HIDDEN),
    }
)
"""Names that engines answer without a column."""

_NEVER_COLUMNS = _NOT_COLUMNS - {"user", "level", "uid", "oid", "default"}
"""Those that no table has as a column of its own."""


@lowers(exp.Column)
def lower_column(lowering: Lowering, node: Node, scope: Scope) -> Expression:
    args = node.args
    this = args["this"]
    if type(this) is exp.Star:
        return MakeStruct(())
    if type(this) is exp.Parameter:  # t.$1: a column of a file, by position
        return lower_parameter(lowering, this, scope)
    table = args.get("table")
    if table is None:
        return resolve_name(lowering, this, scope)
    parts = [part for part in (args.get("catalog"), args.get("db"), table, this) if part is not None]
    return resolve_path(lowering, parts, scope)


@lowers(exp.Placeholder)
def lower_placeholder(lowering: Lowering, node: Node, scope: Scope) -> Expression:
    """`?` comes from nowhere, `:x` may be a variable of the script."""
    return _variable(lowering, str(node.args.get("this") or ""))


@lowers(exp.Parameter)
def lower_parameter(lowering: Lowering, node: Node, scope: Scope) -> Expression:
    """A parameter comes from nowhere, but `$1` over a file or a stage is its first column."""
    files = [named for named in scope.items if named.item.is_open and named.names[-1:] != ("",)]
    if lowering.dialect == "snowflake" and len(files) == 1 and isinstance(node.this, exp.Literal):
        column = files[0].item.ask(f"${node.this.name}", f"${node.this.name}")
        if column is not None:
            number = lowering.span(node.this)
            with_sign = None if number is None else lowering.source.span(number.start - 1, number.end)
            return _refer(column, with_sign)
    # the argument that a parameter of a function stands for, by its name or its number; None outside functions
    name = node.name
    key = f"${name}" if name.isdigit() else lowering.key_of(name)
    given = next((level.locals[key].expression for level in scope.levels() if key in level.locals), None)
    return given if given is not None else _variable(lowering, node.name)


def _variable(lowering: Lowering, name: str) -> Expression:
    """Return what a variable of the script stands for at this point.
    The values of other variables were put into its own when it was assigned. A name that is still there had no value
    then, and what it was assigned later, or what this variable itself is, does not count."""
    node = lowering.variables.get(name.lstrip("@$:").lower())
    return Literal() if node is None else _alone(lowering, node)


def _alone(lowering: Lowering, node: Node) -> Expression:
    """Lower what a variable stands for, in which no variable has a value."""
    before, names = lowering.variables, lowering.names
    lowering.variables, lowering.names = dict.fromkeys(before), ()
    try:
        with lowering.placeless():
            return lowering.expression(node, Scope())
    finally:
        lowering.variables, lowering.names = before, names


def variable_fields(lowering: Lowering, name: str, fields: Sequence[Node]) -> Expression:
    """A field of what a variable stands for; of a row, the column that the field is."""
    own = name.lstrip("@$:").lower()
    node = lowering.variables.get(own)
    given = lowering.variables.get(f"{own}.{fields[0].name.lower()}") if fields else None
    if given is not None:  # it was assigned on its own
        return _fields(lowering, _alone(lowering, given), fields[1:])
    row = node.this if isinstance(node, exp.Subquery) else None
    if not isinstance(row, exp.Select) or row.args.get("kind") != "STRUCT" or not row.is_star or not fields:
        return _fields(lowering, _variable(lowering, name), fields)
    rows = row.args["from_"]
    column = exp.Column(this=fields[0].copy(), table=exp.to_identifier(rows.this.alias_or_name))
    alone = exp.Subquery(this=exp.Select(expressions=[column], from_=rows.copy()))
    return _fields(lowering, _alone(lowering, alone), fields[1:])


def _hidden_column(lowering: Lowering, identifier: Node, scope: Scope, span: Span | None) -> Expression | None:
    """A column that every table has without listing it, such as BigQuery's _PARTITIONTIME."""
    if identifier.name.lower() not in _HIDDEN:
        return None
    tables = [named.item for named in scope.items if isinstance(named.item, StoredItem)]
    if len(tables) != 1:
        return None
    return _refer(tables[0].ask_hidden(identifier.name, lowering.key(identifier)), span)


@lowers(exp.Dot)
def lower_dot(lowering: Lowering, node: Node, scope: Scope) -> Expression:
    """`a.b.c.d.e`, or a field of whatever is before the dot."""
    fields: list[Node] = []
    while isinstance(node, exp.Dot):
        fields.append(node.expression)
        node = node.this
    fields.reverse()
    names = node.parts if isinstance(node, exp.Column) else [node] if isinstance(node, exp.Identifier) else []
    while names and fields and isinstance(fields[0], exp.Identifier):
        names = [*names, fields.pop(0)]
    if names and not fields:
        return resolve_path(lowering, names, scope)
    if isinstance(node, exp.Placeholder | exp.Parameter) and all(
        isinstance(field, exp.Identifier) for field in fields
    ):
        return variable_fields(lowering, node.name, fields)
    if names and isinstance(fields[0], exp.Func):
        result = _sure_value(lowering, names, scope, fields[0].name.lower())
    else:
        result = resolve_path(lowering, names, scope) if len(names) > 1 else lowering.expression(node, scope)
    for field in fields:
        if isinstance(field, exp.Identifier):
            result = lowering.field(result, field.name)
        elif isinstance(field, exp.Literal):  # tuple.1: by position
            at = int(field.name) - 1 if field.name.isdigit() else -1
            known = isinstance(result, MakeStruct) and 0 <= at < len(result.fields)
            result = (
                result.fields[at][1] if isinstance(result, MakeStruct) and known else GetField(result, field.name)
            )
        elif isinstance(field, exp.Func):  # a method: x.f(y), or a function of a schema, of which nothing is known
            value = lowering.expression(field, scope)
            result = value if result == Literal() else Call(field.name.lower(), (result, value))
    return result


def _sure_value(lowering: Lowering, names: Sequence[Node], scope: Scope, method: str) -> Expression:
    """Lower the part before the dot of a call; a name that is certainly no column is a schema and gives nothing."""
    keys = tuple(lowering.key(name) for name in names)
    if any(_find_item(keys[:count], scope) is not None for count in range(1, len(names))):
        return resolve_path(lowering, names, scope)
    found = find_name(lowering, names[0], keys[0], scope, span=lowering.span(names[0]), sure=True)
    if found is None and lowering.dialect in MICROSOFT and len(names) == 1 and _METHODS.fullmatch(method):
        return resolve_name(lowering, names[0], scope)
    return _fields(lowering, found, names[1:]) if found is not None else Literal()


_METHODS = re.compile("value|query|exist|tostring|st[a-z]+|astext[zm]*|asgml|get(ancestor|descendant|level)")


@lowers(exp.Identifier)
def resolve_name(lowering: Lowering, identifier: Node, scope: Scope) -> Expression:
    """Return what an unqualified name means."""
    key = lowering.key(identifier)
    span = lowering.span(identifier)
    # A name that is declared is rather a variable than a column nobody has heard of.
    declared = bool(lowering.names) and identifier.name.lower() in lowering.names
    found = find_name(lowering, identifier, key, scope, span=span, sure=lowering.prefers_rows or declared)
    if found is not None:
        return found
    whole = _whole_row(lowering, key, scope)
    if whole is not None:
        return whole
    if identifier.name.lower() in lowering.variables and (declared or lowering.dialect not in _SIGNED):
        return _variable(lowering, identifier.name)
    hidden = _hidden_column(lowering, identifier, scope, span)
    if hidden is not None:
        return hidden
    if identifier.name.lower() not in _NOT_COLUMNS and not identifier.name.startswith(("@", ":", "$")):
        _report_unknown(lowering, identifier.name, scope, span)
        items = list(scope.all_items())
        if len(items) == 1 and isinstance(items[0].item, StoredItem) and not declared:
            return _refer(items[0].item.ask_missing(identifier.name, key), span)  # the schema may be older
    return Literal()


_SIGNED = MICROSOFT | MYSQL  # where a variable that is not declared has a sign before it


def resolve_path(lowering: Lowering, parts: Sequence[Node], scope: Scope) -> Expression:
    """Return what a dotted name means: a column of a table, or a field inside one."""
    keys = tuple(lowering.key(part) for part in parts)
    for count in range(min(3, len(parts) - 1), 0, -1):
        named = _find_item(keys[:count], scope)
        if named is not None:
            return _column_of(lowering, named, parts, count)
    span = lowering.cover(parts[0], parts[-1])
    found = find_name(lowering, parts[0], keys[0], scope, span=span, sure=True)
    if found is not None:
        return _fields(lowering, found, parts[1:])
    if len(parts) == 2 and parts[1].name.lower() in ("nextval", "currval"):  # the next number of a sequence
        return Literal()
    if parts[0].name.lower() in lowering.variables:
        return variable_fields(lowering, parts[0].name, parts[1:])
    own = _own_variable(lowering, parts[1], scope) if len(parts) == 2 else None
    if own is not None:
        return own
    if lowering.dialect in _DOTTED_FIELDS:
        loose = find_name(lowering, parts[0], keys[0], scope, span=span)
        if loose is not None:
            return _fields(lowering, loose, parts[1:])
    lowering.report(
        IssueCode.UNKNOWN_COLUMN,
        f"`{parts[0].name}` in `{'.'.join(part.name for part in parts)}` is neither a table in scope nor a column",
        span=span,
        hint=_hint(parts[0].name, [named.shown for named in scope.all_items()]),
    )
    return Literal()


def _own_variable(lowering: Lowering, identifier: Node, scope: Scope) -> Expression | None:
    """The parameter or variable that `f.x` means in the body of a function or block `f`."""
    key = lowering.key(identifier)
    given = next((level.locals[key] for level in scope.levels() if key in level.locals), None)
    if given is not None:
        return _refer(given, lowering.span(identifier))
    name = identifier.name.lower()
    return _variable(lowering, name) if name in lowering.names or name in lowering.variables else None


_DOTTED_FIELDS = frozenset(
    {"bigquery", "spark", "databricks", "spark2", "hive", "trino", "presto", "athena", "duckdb"}
)


def find_name(
    lowering: Lowering, identifier: Node, key: str, scope: Scope, *, span: Span | None, sure: bool = False
) -> Expression | None:
    """The column an unqualified name means, from the innermost scope that has it; None if none has.
    With `sure`, only columns known to exist count."""
    first_open: list[Named] | None = None
    for level in scope.levels():
        column = level.locals.get(key) or level.merged.get(key)
        if column is not None:
            return _refer(column, span)
        found = [(named, column) for named in level.items if (column := named.item.find(key)) is not None]
        if found and first_open is not None and not sure:
            if all(named.item.is_open for named, _ in found):
                break  # both may have it: the inner query comes first
            first_open = [*first_open, *(named for named, _ in found)]
            return _from_open(lowering, identifier.name, key, first_open, span)
        if len(found) == 1:
            return _refer(found[0][1], span)
        elements = [each for each in found if isinstance(each[0].item, ElementItem)]
        if len(elements) == 1 and lowering.dialect == "bigquery":  # UNNEST(arr) AS arr: the alias hides the column
            return _refer(elements[0][1], span)
        if found:
            return _ambiguous(lowering, identifier.name, found, span)
        alias = level.aliases.get(key)
        if alias is not None:
            return _refer(alias, span)
        if first_open is None:
            first_open = [named for named in level.items if named.item.is_open] or None
    if sure or first_open is None or key.lower() in _NEVER_COLUMNS:
        return None
    return _from_open(lowering, identifier.name, key, first_open, span)


def _from_open(
    lowering: Lowering, name: str, key: str, candidates: list[Named], span: Span | None
) -> Expression | None:
    asked = [(named, column) for named in candidates if (column := named.item.ask(name, key)) is not None]
    sure = [(named, column) for named, column in asked if not isinstance(named.item, ElementItem | OpaqueItem)]
    asked = sure or asked  # a table may have any column, the elements of an array rarely do
    if not asked:
        return None
    if len(asked) == 1:
        return _refer(asked[0][1], span)
    return _ambiguous(lowering, name, asked, span)


def _ambiguous(lowering: Lowering, name: str, found: list[tuple[Named, ItemColumn]], span: Span | None) -> Expression:
    tables = [named.shown for named, _ in found]
    listed = ", ".join(f"`{table}.{name}`" for table in tables)
    lowering.report(
        IssueCode.AMBIGUOUS_COLUMN,
        f"`{name}` could be any of {listed}",
        span=span,
        hint=f"write `{tables[0]}.{name}`, or give a schema",
    )
    options = tuple(_refer(column, span) for _, column in found)
    return OneOf(options, uncertain=f"`{name}` is ambiguous: {listed}")


def _refer(column: ItemColumn, span: Span | None) -> Expression:
    """A use of a column; the place where it was first read is kept."""
    expression = column.expression
    return Ref(expression.column, span) if type(expression) is Ref and expression.span is None else expression


def _find_item(parts: tuple[str, ...], scope: Scope) -> Named | None:
    for named in scope.all_items():
        if named.answers_to(parts):
            return named
    return None


def _column_of(lowering: Lowering, named: Named, parts: Sequence[Node], count: int) -> Expression:
    identifier = parts[count]
    if isinstance(identifier, exp.Star):
        return MakeStruct(())
    span = lowering.cover(parts[0], identifier)
    column = named.item.ask(identifier.name, lowering.key(identifier))
    if column is not None:
        return _fields(lowering, _refer(column, span), parts[count + 1 :])
    known = [column.name for column in named.item.star()]
    if identifier.name.lower() not in _NOT_COLUMNS:
        lowering.report(
            IssueCode.UNKNOWN_COLUMN,
            f"`{identifier.name}` is not a column of `{named.shown}`",
            span=lowering.span(identifier),
            hint=_hint(identifier.name, known),
        )
        if isinstance(named.item, StoredItem):  # the schema may be older than the statement
            missing = named.item.ask_missing(identifier.name, lowering.key(identifier))
            return _fields(lowering, _refer(missing, span), parts[count + 1 :])
    return Literal()


def _fields(lowering: Lowering, expression: Expression, parts: Sequence[Node]) -> Expression:
    for part in parts:
        expression = lowering.field(expression, part.name)
    return expression


def _whole_row(lowering: Lowering, key: str, scope: Scope) -> Expression | None:
    """A table's name used as a value: the row as a struct."""
    named = _find_item((key,), scope)
    if named is None:
        return None
    return MakeStruct(tuple((column.name, column.expression) for column in named.item.star()))


def _report_unknown(lowering: Lowering, name: str, scope: Scope, span: Span | None) -> None:
    items = list(scope.all_items())
    known = [column.name for named in items for column in named.item.star()]
    tables = ", ".join(f"`{named.shown}`" for named in items)
    lowering.report(
        IssueCode.UNKNOWN_COLUMN,
        f"`{name}` is not a column of {tables}" if items else f"`{name}` is used without a table it could come from",
        span=span,
        hint=_hint(name, known),
    )


def _hint(name: str, candidates: Sequence[str]) -> str | None:
    close = nearest(name, candidates)
    return f"did you mean `{close}`?" if close else None

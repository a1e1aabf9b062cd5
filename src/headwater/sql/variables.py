"""Variables of a script: what was put into one flows to where it is used.

A variable stands for the expression that was last assigned to it. Inside a branch or a loop the assignment may or may
not happen, so there it is one of the two.
"""

import dataclasses
from collections.abc import Sequence

from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from headwater.lineage.effects import CreateTable, SchemaEffect
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Assignment, Write
from headwater.sql.definitions import column_definitions
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.split import Piece, parse_piece
from headwater.sql.writes import lower_select, states

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.PARAMETER})
_INTO_VARIABLES = frozenset({"oracle", "snowflake", "mysql"})  # where INTO never makes a table
_INTO_EITHER = frozenset({"postgres", "redshift", "materialize", "risingwave"})  # where it makes one outside of code
_MAX_NODES = 2000  # a variable that grows by itself in a long script is let go


@states(exp.Declare)
def lower_declare(lowering: Lowering, node: Node) -> Lowered:
    given: list[Assignment] = []
    tables: list[SchemaEffect] = []
    for item in node.expressions:
        names = item.this if isinstance(item.this, list) else [item.this]
        for name in names:
            default = item.args.get("default")
            if isinstance(item.args.get("kind"), exp.Schema):
                tables.append(_table_variable(lowering, name, item.args["kind"]))
                continue
            lowering.variables[variable_name(name)] = None
            if isinstance(default, exp.Expr):
                given += _assign(lowering, name, default)
    return dataclasses.replace(_reported("DECLARE", given), effects=tuple(tables))


def _table_variable(lowering: Lowering, name: Node, schema: Node) -> SchemaEffect:
    """`DECLARE @t TABLE (…)`: a table of the batch."""
    columns = column_definitions(lowering, schema.expressions)
    return CreateTable(TableName.of("@" + variable_name(name)), columns, temporary=True)


@states(exp.Set)
def lower_set(lowering: Lowering, node: Node) -> Lowered:
    given: list[Assignment] = []
    for item in node.expressions:
        pair = item.this
        if isinstance(pair, exp.EQ):
            given += _assign(lowering, pair.this, pair.expression)
    return _reported("SET", given)


def _reported(statement_type: str, given: Sequence[Assignment]) -> Lowered:
    """A statement that gives variables values: a write only if some value is read from tables."""
    if not given:
        return Lowered(statement_type)
    return Lowered(statement_type, (Write(statement_type, None, tuple(given), ()),))


@states(exp.Select)
def lower_select_into(lowering: Lowering, node: Node) -> Lowered:
    """`SELECT … INTO v` and T-SQL's `SELECT @v = …` give variables values; any other SELECT gives rows."""
    into = node.args.get("into")
    if isinstance(into, exp.Into):
        targets = into.expressions or [into.this]
        if all(_takes_value(lowering, target) for target in targets):
            return _reported("SELECT_INTO", _assign_row(lowering, targets, node))
    pairs = [each for each in node.expressions if isinstance(each, exp.EQ) and isinstance(each.this, exp.Parameter)]
    if lowering.dialect in ("tsql", "fabric") and pairs and len(pairs) == len(node.expressions):
        values = [pair.expression for pair in pairs]
        return _reported("SELECT", _assign_row(lowering, [pair.this for pair in pairs], node, values))
    return lower_select(lowering, node)


def without_into(piece: Piece, dialect: str) -> tuple[Piece, list[str]]:
    """A PL/pgSQL statement without its `INTO a, b`, and those names: to the parser they would be tables."""
    if dialect not in _INTO_EITHER or not piece.names:
        return piece, []
    words = [token.text.lower() for token in piece.tokens]
    for at, word in enumerate(words):
        if word != "into" or not at or words[at - 1] in ("insert", "merge", "copy"):
            continue
        start = at + 2 if words[at + 1 : at + 2] == ["strict"] else at + 1
        end = start
        while end < len(words) and words[end] in piece.names and (end == start or words[end - 1] == ","):
            end += 2 if words[end + 1 : end + 2] == [","] else 1
        if end > start and words[end - 1] != ",":
            names = [name for name in words[start:end] if name != ","]
            return dataclasses.replace(piece, tokens=(*piece.tokens[:at], *piece.tokens[end:])), names
    return piece, []


def _takes_value(lowering: Lowering, target: Node | None) -> bool:
    """Whether the target of INTO is a variable rather than a new table."""
    if target is None:
        return False
    return lowering.dialect in _INTO_VARIABLES or variable_name(target) in lowering.variables


def _assign_row(
    lowering: Lowering, targets: Sequence[Node], select: Node, values: Sequence[Node] = ()
) -> list[Assignment]:
    """Each variable gets one column of a query."""
    query = select.copy()
    query.set("into", None)
    given: list[Assignment] = []
    for target, value in zip(targets, values or select.expressions):
        given += _assign(lowering, target, _alone(query, value))
    return given


def keep_record(lowering: Lowering, name: str, query: Node) -> None:
    """A variable that holds a row of a query: of a loop or a cursor."""
    if isinstance(query, exp.Query):
        rows = exp.Subquery(
            this=_inlined(lowering, query) or query.copy(), alias=exp.TableAlias(this=exp.to_identifier(name))
        )
        row = exp.Select(kind="STRUCT", expressions=[exp.Star()], from_=exp.From(this=rows))
        lowering.variables[name] = exp.Subquery(this=row)


def as_condition(lowered: Lowered, tree: Node, statement_type: str) -> Lowered:
    """The lineage of a condition, under the name of the statement it decides; none if it reads nothing."""
    if tree.find(exp.Column, exp.Parameter, exp.Subquery, exp.Exists) is None:
        return Lowered(statement_type)
    writes = tuple(
        dataclasses.replace(
            write,
            statement_type=statement_type,
            assignments=tuple(dataclasses.replace(each, column="condition") for each in write.assignments),
        )
        for write in lowered.writes
    )
    return dataclasses.replace(lowered, statement_type=statement_type, writes=writes)


def lower_assignment(lowering: Lowering, piece: Piece) -> Lowered | None:
    """`x := expression`, with or without LET and a type before it; None when a piece is something else."""
    at = next((at for at, token in enumerate(piece.tokens[:6]) if token.token_type is TokenType.COLON_EQ), None)
    if at is None:  # PL/pgSQL: x = 1, new.x = 1
        kinds = [token.token_type for token in piece.tokens[:4]]
        at = 1 if kinds[1:2] == [TokenType.EQ] else 3 if kinds[1::2] == [TokenType.DOT, TokenType.EQ] else None
    if not at or piece.tokens[0].token_type not in _NAMES:
        return None
    if any(token.token_type is TokenType.L_PAREN for token in piece.tokens[:at]):
        return None
    name = piece.tokens[1 if at > 1 and piece.tokens[0].text.upper() == "LET" else 0]
    head = piece.tokens[at]
    select = type(head)(TokenType.SELECT, "SELECT", head.line, head.col, head.start, head.end)
    try:
        tree = parse_piece(dataclasses.replace(piece, tokens=(select, *piece.tokens[at + 1 :])), lowering.dialect)
    except SqlglotError:
        return None
    given: list[Assignment] = []
    if isinstance(tree, exp.Select) and tree.expressions:
        given = _assign(lowering, exp.Var(this=name.text), tree.expressions[0])
    return _reported("SET", given)


def _assign(lowering: Lowering, left: Node, right: Node) -> list[Assignment]:
    """Let variables stand for their new values; returns those that are read from tables, as columns."""
    if isinstance(left, exp.Tuple):
        row = right.this if isinstance(right, exp.Subquery | exp.Paren) else right
        values = row.expressions if isinstance(row, exp.Select | exp.Tuple) else []
        parts = [_alone(row, value) if isinstance(row, exp.Select) else value for value in values]
        return [each for name, part in zip(left.expressions, parts) for each in _assign(lowering, name, part)]
    name = variable_name(left)
    value = _inlined(lowering, right)
    given: list[Assignment] = []
    if value is not None and value.find(exp.Query) is not None:
        read = (
            lowering.without_spans(value, Scope())
            if isinstance(right, exp.Var)
            else lowering.expression(right, Scope())
        )
        given = [Assignment(name, read, target_span=lowering.span(left))]
    if value is not None and value.find(exp.Query) is None:
        value = exp.Null()  # nothing is read for it: a text that grows piece by piece is not kept
    before = lowering.variables.get(name)
    if lowering.conditional and before is not None and value is not None:
        value = exp.Coalesce(this=before.copy(), expressions=[value])
    lowering.variables[name] = value
    return given


def _alone(query: Node, value: Node) -> Node:
    """A query with only one of its columns."""
    single = query.copy()
    single.set("expressions", [value.copy()])
    single.set("kind", None)
    return exp.Subquery(this=single)


def _inlined(lowering: Lowering, node: Node | None) -> Node | None:
    """An expression with what its variables stand for now in their place."""
    if not isinstance(node, exp.Expr):
        return None

    def replace(part: Node) -> Node:
        known = lowering.variables.get(variable_name(part)) if is_variable(part) else None
        if known is None:
            return part
        is_output = isinstance(part.parent, exp.Select) and part.arg_key == "expressions"
        return exp.alias_(known.copy(), part.name) if is_output else known.copy()

    result: Node = node.copy().transform(replace)
    return result if sum(1 for _ in result.walk()) < _MAX_NODES else None


def is_variable(node: Node) -> bool:
    """Whether a node can be the use of a variable: `@x`, `$x`, or a plain name."""
    return isinstance(node, exp.Parameter | exp.Placeholder | exp.Var) or (
        isinstance(node, exp.Column) and node.args.get("table") is None
    )


def variable_name(node: Node) -> str:
    """The name of a variable, without its sign and case."""
    name: str = node.name
    return name.lstrip("@$:").lower()

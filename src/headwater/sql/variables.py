"""Variables of a script: what was put into one flows to where it is used.

A variable stands for the expression that was last assigned to it. Inside a branch or a loop the assignment may or may
not happen, so there it is one of the two.
"""

import dataclasses

from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from headwater.lineage.script import Lowered
from headwater.sql.lowering import Lowering, Node
from headwater.sql.split import Piece, parse_piece
from headwater.sql.writes import states

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.PARAMETER})
_MAX_NODES = 2000  # a variable that grows by itself in a long script is let go


@states(exp.Declare)
def lower_declare(lowering: Lowering, node: Node) -> Lowered:
    for item in node.expressions:
        names = item.this if isinstance(item.this, list) else [item.this]
        for name in names:
            lowering.variables[variable_name(name)] = _inlined(lowering, item.args.get("default"))
    return Lowered("DECLARE")


@states(exp.Set)
def lower_set(lowering: Lowering, node: Node) -> Lowered:
    for item in node.expressions:
        pair = item.this
        if isinstance(pair, exp.EQ):
            _assign(lowering, pair.this, pair.expression)
    return Lowered("SET")


def lower_assignment(lowering: Lowering, piece: Piece) -> Lowered | None:
    """`x := expression`, with or without LET and a type before it; None when a piece is something else."""
    at = next((at for at, token in enumerate(piece.tokens[:6]) if token.token_type is TokenType.COLON_EQ), None)
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
    if isinstance(tree, exp.Select) and tree.expressions:
        _assign(lowering, exp.Var(this=name.text), tree.expressions[0])
    return Lowered("SET")


def _assign(lowering: Lowering, left: Node, right: Node) -> None:
    if isinstance(left, exp.Tuple):
        row = right.this if isinstance(right, exp.Subquery | exp.Paren) else right
        values = row.expressions if isinstance(row, exp.Select | exp.Tuple) else []
        for name, value in zip(left.expressions, values):
            _assign(lowering, name, _alone(row, value) if isinstance(row, exp.Select) else value)
        return
    name = variable_name(left)
    value = _inlined(lowering, right)
    before = lowering.variables.get(name)
    if lowering.conditional and before is not None and value is not None:
        value = exp.Coalesce(this=before.copy(), expressions=[value])
    lowering.variables[name] = value


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
        return known.copy() if known is not None else part

    result: Node = node.copy().transform(replace)
    return result if sum(1 for _ in result.walk()) < _MAX_NODES else None


def is_variable(node: Node) -> bool:
    """Whether a node can be the use of a variable: `@x`, `$x`, or a plain name."""
    return isinstance(node, exp.Parameter | exp.Placeholder) or (
        isinstance(node, exp.Column) and node.args.get("table") is None
    )


def variable_name(node: Node) -> str:
    """The name of a variable, without its sign and case."""
    name: str = node.name
    return name.lstrip("@$:").lower()

"""RESULT_SCAN(LAST_QUERY_ID()) (Snowflake): the rows of an earlier statement of the script."""

from sqlglot import exp

from headwater.model.relation import Literal, Relation, Values
from headwater.sql.items import DerivedItem, OpaqueItem, renamed
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.split import Piece, parse_piece
from headwater.sql.tables import alias_names, beside, name_item

_NAME = "result_scan"


def is_result_scan(function: Node) -> bool:
    """Return whether a function gives the rows of an earlier statement."""
    return isinstance(function, exp.Anonymous) and function.name.lower() == _NAME


def add_result_scan(
    lowering: Lowering, node: Node, function: Node, scope: Scope, before: Relation | None
) -> Relation | None:
    """The query whose rows are meant; None when it cannot be told or is no query."""
    piece = _meant(lowering, function)
    if piece is None:
        return None
    try:
        tree = parse_piece(piece, lowering.dialect)
    except Exception:  # the parser fails in many ways on what is not SQL
        return None
    if isinstance(tree, exp.Show | exp.Describe) or (isinstance(tree, exp.Command) and tree.name.upper() == "SHOW"):
        return _add_catalog(lowering, node, scope, before)
    if not isinstance(tree, exp.Query):
        return None
    with lowering.reading(piece):
        query = lowering.query(tree, Scope())
    item = DerivedItem(renamed(query.columns, alias_names(lowering, node.args.get("alias"))), query.below)
    scope.items.append(name_item(lowering, node, item, (_NAME,), _NAME))
    return beside(before, query.relation)


def _meant(lowering: Lowering, function: Node) -> Piece | None:
    """The statement that LAST_QUERY_ID(), LAST_QUERY_ID(-2) or -2 means; None for an id."""
    given = function.expressions[0] if function.expressions else None
    if isinstance(given, exp.Anonymous) and given.name.lower() == "last_query_id":
        given = given.expressions[0] if given.expressions else exp.Literal.number(-1)
    steps = 0
    if isinstance(given, exp.Neg) and isinstance(given.this, exp.Literal) and given.this.name.isdigit():
        steps = int(given.this.name)
    elif isinstance(given, exp.Literal) and given.name.lstrip("-").isdigit() and given.name.startswith("-"):
        steps = -int(given.name)
    return lowering.earlier[-steps] if 0 < steps <= len(lowering.earlier) else None


def _add_catalog(lowering: Lowering, node: Node, scope: Scope, before: Relation | None) -> Relation:
    """The rows that SHOW lists: they come from no table."""
    scope.items.append(name_item(lowering, node, OpaqueItem(Literal()), (_NAME,), _NAME))
    return beside(before, Values((), ()))

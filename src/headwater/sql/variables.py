"""Variables of a script: what was put into one flows to where it is used.
A variable stands for the expression that was last assigned to it. Inside a branch or a loop the assignment may or may
not happen, so there it is one of the two."""

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext

from msgspec import structs
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from headwater.errors import IssueCode
from headwater.lineage.effects import CreateTable, SchemaEffect
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Assignment, Write
from headwater.sql.creates import column_definitions
from headwater.sql.dialects import MICROSOFT, MYSQL
from headwater.sql.evaluation import Evaluation
from headwater.sql.lowering import Lowering, Node, Scope
from headwater.sql.split import Piece, parse_piece
from headwater.sql.texts import NULL, inlined, variable_name
from headwater.sql.tokens import as_query, cut_list
from headwater.sql.triggers import assign_row, row_column
from headwater.sql.writes import lower_select, states

_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.PARAMETER})
_INTO_TABLES = frozenset({"insert", "merge", "copy", "replace", "ignore", "low_priority", "delayed", "high_priority"})
_INTO_VARIABLES = MYSQL | {"oracle", "snowflake"}  # where INTO never makes a table
_INTO_EITHER = frozenset({"postgres", "redshift", "materialize", "risingwave"})  # where it makes one outside of code


@states(exp.Declare)
def lower_declare(lowering: Lowering, node: Node) -> Lowered:
    given: list[Assignment] = []
    tables: list[SchemaEffect] = []
    for item in node.expressions:
        names = item.this if isinstance(item.this, list) else [item.this]
        for name in names:
            default = item.args.get("default")
            if isinstance(item.args.get("kind"), exp.Schema):
                # `DECLARE @t TABLE (…)`: a table of the batch
                columns = column_definitions(lowering, item.args["kind"].expressions)
                tables.append(CreateTable(TableName.of("@" + variable_name(name)), columns, temporary=True))
                continue
            lowering.variables[variable_name(name)] = None
            lowering.texts.give(variable_name(name), (NULL,), ())
            if isinstance(default, exp.Expr):
                given += assign_value(lowering, name, default)
    return dataclasses.replace(reported("DECLARE", given), effects=tuple(tables))


@states(exp.Set)
def lower_set(lowering: Lowering, node: Node) -> Lowered:
    given: list[Assignment] = []
    for item in node.expressions:
        pair = item.this
        if isinstance(pair, exp.EQ):
            given += assign_value(lowering, pair.this, pair.expression)
    return reported("SET", given)


def reported(statement_type: str, given: Sequence[Assignment]) -> Lowered:
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
        known = lowering.dialect in _INTO_VARIABLES
        if all(known or variable_name(each) in lowering.variables or row_column(lowering, each) for each in targets):
            if len(targets) == 1 and (len(node.expressions) > 1 or node.is_star):
                # `SELECT * INTO r`: a variable that holds the whole row
                target = targets[0]
                query = node.copy()
                query.set("into", None)
                lowered = lower_select(lowering, query)
                keep_record(lowering, variable_name(target), query)
                writes = tuple(dataclasses.replace(write, statement_type="SELECT_INTO") for write in lowered.writes)
                return dataclasses.replace(lowered, statement_type="SELECT_INTO", writes=writes)
            return reported("SELECT_INTO", _assign_row(lowering, targets, node))
    pairs = [each for each in node.expressions if isinstance(each, exp.EQ) and isinstance(each.this, exp.Parameter)]
    if lowering.dialect in MICROSOFT and pairs and len(pairs) == len(node.expressions):
        if node.args.get("from_") is None:
            return reported(
                "SELECT", [each for pair in pairs for each in assign_value(lowering, pair.this, pair.expression)]
            )
        values = [pair.expression for pair in pairs]
        return reported("SELECT", _assign_row(lowering, [pair.this for pair in pairs], node, values))
    lowered = lower_select(lowering, node)
    if lowering.dialect in MYSQL:  # SELECT @v := x gives rows, too
        on_the_way = [each.unalias() for each in node.expressions if isinstance(each.unalias(), exp.PropertyEQ)]
        _assign_row(lowering, [each.this for each in on_the_way], node, [each.expression for each in on_the_way])
    return lowered


def without_into(piece: Piece, dialect: str) -> tuple[Piece, list[str]]:
    """A statement of PL/pgSQL or MySQL without its `INTO a, r.b`, and those names, which are no tables."""
    if dialect not in MYSQL and (dialect not in _INTO_EITHER or not piece.names):
        return piece, []
    if not any(token.token_type is TokenType.INTO for token in piece.tokens):
        return piece, []
    words = [token.text.lower() for token in piece.tokens]
    known = piece.names | {"new", "old"}
    for at, word in enumerate(words):
        if word != "into" or not at or words[at - 1] in _INTO_TABLES:
            continue
        end = at + 2 if words[at + 1 : at + 2] == ["strict"] else at + 1
        names: list[str] = []
        while end < len(words):
            signed = dialect in MYSQL and words[end] == "@" and end + 1 < len(words)
            end += signed
            if not signed and words[end] not in known:
                break
            dotted = words[end + 1 : end + 2] == ["."]
            names.append("".join(words[end : end + 3]) if dotted else words[end])
            end += 3 if dotted else 1
            if words[end : end + 1] != [","]:
                return dataclasses.replace(piece, tokens=(*piece.tokens[:at], *piece.tokens[end:])), names
            end += 1
    return piece, []


def into_variables(names: Sequence[str]) -> Node:
    """The INTO of a query that fills variables, and fields of records."""
    parts = [name.rpartition(".") for name in names]
    return exp.Into(
        expressions=[exp.column(name, table=row) if row else exp.Var(this=name) for row, _, name in parts]
    )


def forget_variables(lowering: Lowering, names: Sequence[str]) -> None:
    """Variables get what RETURNING or a set operation gives, and that is not followed."""
    for name in names:
        lowering.variables[name] = None
        lowering.texts.give(name, (lowering.texts.hole(None),), lowering.branches)
    message = f"what the statement gives is not followed into {', '.join(f'`{name}`' for name in names)}"
    lowering.report(IssueCode.APPROXIMATE_LINEAGE, message)


def _assign_row(
    lowering: Lowering, targets: Sequence[Node], select: Node, values: Sequence[Node] = ()
) -> list[Assignment]:
    """Each variable gets one column of a query."""
    query = select.copy()
    query.set("into", None)
    given: list[Assignment] = []
    for target, value in zip(targets, values or select.expressions):
        alone = _alone(query, value) if select.args.get("from_") is not None else value.unalias()
        given += assign_value(lowering, target, alone)
    return given


def keep_record(lowering: Lowering, name: str, query: Node) -> None:
    """A variable that holds a row of a query: of a loop or a cursor."""
    if isinstance(query, exp.Query):
        for field in [each for each in lowering.variables if each.startswith(f"{name}.")]:
            del lowering.variables[field]
        rows = exp.Subquery(
            this=inlined(lowering.variables, query, lowering.names) or query.copy(),
            alias=exp.TableAlias(this=exp.to_identifier(name)),
        )
        row = exp.Select(kind="STRUCT", expressions=[exp.Star()], from_=exp.From(this=rows))
        lowering.variables[name] = exp.Subquery(this=row)
        lowering.texts.give(name, (lowering.texts.hole(None),), lowering.branches)


def as_condition(lowered: Lowered, tree: Node, statement_type: str) -> Lowered:
    """The lineage of a condition, under the name of the statement it decides; none if it reads nothing."""
    if tree.find(exp.Column, exp.Parameter, exp.Subquery, exp.Exists) is None:
        return Lowered(statement_type)
    writes = tuple(
        dataclasses.replace(
            write,
            statement_type=statement_type,
            assignments=tuple(structs.replace(each, column="condition") for each in write.assignments),
        )
        for write in lowered.writes
    )
    return dataclasses.replace(lowered, statement_type=statement_type, writes=writes)


def lower_assignment(lowering: Lowering, piece: Piece) -> Lowered | None:
    """`x := expression`, with or without LET and a type before it; None when a piece is something else."""
    first = piece.tokens[0].token_type if piece.tokens else None
    if first is TokenType.SET and lowering.dialect in MYSQL:
        return _lower_set(lowering, piece)
    if first is TokenType.COLON and lowering.trigger is not None:
        piece = dataclasses.replace(piece, tokens=piece.tokens[1:])  # Oracle: :NEW.x := 1
    most = 6 if lowering.dialect != "oracle" else len(piece.tokens)
    at = next((at for at, token in enumerate(piece.tokens[:most]) if token.token_type is TokenType.COLON_EQ), None)
    if at is None:  # PL/pgSQL: x = 1, new.x = 1
        kinds = [token.token_type for token in piece.tokens[:4]]
        at = 1 if kinds[1:2] == [TokenType.EQ] else 3 if kinds[1::2] == [TokenType.DOT, TokenType.EQ] else None
    if not at or at + 1 == len(piece.tokens) or piece.tokens[0].token_type not in _NAMES:
        return None
    element = any(token.token_type is TokenType.L_PAREN for token in piece.tokens[:at])  # names(i).part := 1
    if element and lowering.dialect != "oracle":
        return None
    name = piece.tokens[1 if at > 1 and piece.tokens[0].text.upper() == "LET" else 0]
    try:
        tree = parse_piece(dataclasses.replace(piece, tokens=as_query(piece.tokens[at + 1 :])), lowering.dialect)
    except SqlglotError:
        return None
    given: list[Assignment] = []
    if isinstance(tree, exp.Select) and tree.expressions:
        left: Node = exp.Var(this=name.text)
        lowering.conditional = lowering.conditional or element
        if at > 2 and piece.tokens[at - 2].token_type is TokenType.DOT and not element:
            left = exp.column(piece.tokens[at - 1].text, table=piece.tokens[at - 3].text)
        given = assign_value(lowering, left, tree.expressions[0])
    return reported("SET", given)


def _lower_set(lowering: Lowering, piece: Piece) -> Lowered | None:
    """MySQL's `SET a = 1, @b = (SELECT …), NEW.c = 2`, of which the parser loses parts; None for another SET."""
    pairs: list[tuple[Node, Node]] = []
    for part in cut_list(piece.tokens[1:]):
        words = [token.text for token in part[:4]]
        at = 1 + (words[0] == "@") + 2 * (words[1:2] == ["."])
        if words[at : at + 1] not in (["="], [":="]) or len(part) == at + 1:
            return None
        try:
            tree = parse_piece(dataclasses.replace(piece, tokens=as_query(part[at + 1 :])), lowering.dialect)
        except SqlglotError:
            return None
        if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
            return None
        name = part[at - 1].text
        left = exp.column(name, table=words[0]) if words[1:2] == ["."] else exp.Var(this=name)
        pairs.append((left, tree.expressions[0]))
    return reported("SET", [each for left, right in pairs for each in assign_value(lowering, left, right)])


def assign_value(lowering: Lowering, left: Node, right: Node) -> list[Assignment]:
    """Let variables stand for their new values; returns those that are read from tables, as columns."""
    if isinstance(left, exp.Tuple):
        row = right.this if isinstance(right, exp.Subquery | exp.Paren) else right
        values = row.expressions if isinstance(row, exp.Select | exp.Tuple) else []
        parts = [_alone(row, value) if isinstance(row, exp.Select) else value for value in values]
        return [each for name, part in zip(left.expressions, parts) for each in assign_value(lowering, name, part)]
    if assign_row(lowering, left, right):
        return []
    name = variable_name(left)
    if isinstance(left, exp.Column) and left.table:  # a field of a record
        name = f"{left.table.lower()}.{name}"
    value = inlined(lowering.variables, right, lowering.names)
    given: list[Assignment] = []
    if value is not None and value.find(exp.Query) is not None:
        with lowering.placeless() if isinstance(right, exp.Var) else nullcontext():
            read = lowering.expression(value if isinstance(right, exp.Var) else right, Scope())
        given = [Assignment(name, read, target_span=lowering.span(left))]
    if value is not None and value.find(exp.Query) is None:
        value = exp.Null()  # nothing is read for it: a text that grows piece by piece is not kept
    before = lowering.variables.get(name)
    if lowering.conditional and before is not None and value is not None and before != value:
        value = exp.Anonymous(this="identity", expressions=[before.copy(), value])  # it is one of the two
    lowering.variables[name] = value
    texts, path = lowering.texts, lowering.branches
    evaluation = Evaluation(texts, lowering.variables, lowering.names, path, lowering.dialect)
    texts.give(name, evaluation.values(right), path)
    return given


def _alone(query: Node, value: Node) -> Node:
    """A query with only one of its columns."""
    single = query.copy()
    single.set("expressions", [value.copy()])
    single.set("kind", None)
    return exp.Subquery(this=single)

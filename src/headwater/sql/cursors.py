"""Cursors: the query of one, and the variables that a FETCH fills with the columns of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import TokenType, exp

from headwater.errors import IssueCode
from headwater.lineage.script import Lowered
from headwater.sql.lowering import Lowering, Node
from headwater.sql.texts import inlined
from headwater.sql.tokens import cut_list, group_end
from headwater.sql.variables import assign_value, keep_record, reported

_LEADING = frozenset({"DECLARE", "LET", "OPEN", "SET"})
_QUERIES = frozenset({TokenType.SELECT, TokenType.WITH})
_SCALARS = frozenset({"tsql", "fabric", "mysql", "snowflake", "teradata"})  # where FETCH never fills a record


@dataclass(frozen=True, slots=True)
class CursorDeclaration:
    """The declaration of a cursor, or OPEN … FOR: its name, its parameters, and the tokens of its query."""

    name: str
    parameters: tuple[str, ...]
    query: Sequence[Any]


def read_cursor(tokens: Sequence[Any]) -> CursorDeclaration | None:
    """The cursor that a declaration or OPEN gives a query; None when it is something else."""
    words = [str(token.text).upper() for token in tokens[:12]]
    at = 1 if words[:1] and words[0] in _LEADING else 0
    opened = words[:1] == ["OPEN"] and words[2:3] == ["FOR"]
    if not opened and "CURSOR" not in words[at : at + 7]:
        return None
    if words[at] == "CURSOR":  # CURSOR c (x NUMBER) IS SELECT …
        at += 1
    if words[at : at + 1] == ["@"]:
        at += 1
    given = next((each for each in range(at + 1, len(tokens)) if tokens[each].text.upper() in ("IS", "FOR")), None)
    if given is None or at >= len(tokens):
        return None
    begin = given + 1
    if not any(token.token_type in _QUERIES for token in tokens[begin : begin + 2]):
        return None
    return CursorDeclaration(
        str(tokens[at].text).lower(), _parameters(tokens[at:begin]), _without_locks(tokens[begin:])
    )


def _parameters(tokens: Sequence[Any]) -> tuple[str, ...]:
    at = next((at for at, token in enumerate(tokens) if token.token_type is TokenType.L_PAREN), None)
    end = group_end(tokens, at) if at is not None else None
    if at is None or end is None:
        return ()
    return tuple(str(part[0].text).lower() for part in cut_list(tokens[at + 1 : end - 1]) if part)


def _without_locks(tokens: Sequence[Any]) -> Sequence[Any]:
    """A query without FOR UPDATE OF … and FOR READ ONLY."""
    depth = 0
    for at, token in enumerate(tokens[:-1]):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        locks = token.text.upper() == "FOR" and tokens[at + 1].text.upper() in ("UPDATE", "READ", "SHARE", "FETCH")
        if depth == 0 and locks:
            return tokens[:at]
    return tokens


def read_fetch(tokens: Sequence[Any]) -> tuple[str, tuple[str, ...]] | None:
    """The cursor and the variables of `FETCH NEXT FROM c INTO a, b`; None for any other statement."""
    if not tokens or tokens[0].text.upper() != "FETCH":
        return None
    words = [str(token.text).upper() for token in tokens]
    into = next((at for at, word in enumerate(words) if word.endswith("INTO")), None)  # also BULK COLLECT INTO
    if into is None:
        return None
    named = into - 1
    while words[named] in ("BULK", "COLLECT"):
        named -= 1
    end = next((at for at in range(into, len(words)) if words[at] == "LIMIT"), len(words))
    targets = tuple(str(part[-1].text).lower() for part in cut_list(tokens[into + 1 : end]) if part)
    return (str(tokens[named].text).lower(), targets) if targets else None


def keep_cursor(lowering: Lowering, name: str, query: Node) -> None:
    """A cursor has a query from here on, with the variables that it was opened with."""
    if isinstance(query, exp.Query):
        kept = inlined(lowering.variables, query, lowering.names) or query.copy()
        for node in kept.walk():
            node.meta.clear()  # its places are not those of the statements that fetch
        before = lowering.cursors.get(name)
        if before is not None and lowering.conditional and before != kept:
            kept = exp.Union(this=before.copy(), expression=kept, distinct=False)
        lowering.cursors[name] = kept


def lower_fetch(lowering: Lowering, cursor: str, targets: Sequence[str]) -> Lowered:
    """Each variable gets the column in its place; a single one that is a record gets them all."""
    query = lowering.cursors.get(cursor)
    if query is None:
        for name in targets:
            lowering.variables[name] = None
            lowering.texts.give(name, (lowering.texts.hole(None),), lowering.branches)
        lowering.report(IssueCode.APPROXIMATE_LINEAGE, f"the query of the cursor `{cursor}` is not known here")
        return Lowered("FETCH")
    columns = query.selects
    single = len(columns) == 1 and not columns[0].is_star
    if len(targets) == 1 and not single and lowering.dialect not in _SCALARS:
        keep_record(lowering, targets[0], query)
        return Lowered("FETCH")
    names = [
        exp.to_identifier(f"headwater_column_{number}") for number in range(1, max(len(targets), len(columns)) + 1)
    ]
    rows = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier(cursor), columns=names))
    given = []
    for name, column in zip(targets, names):
        value = exp.Select(expressions=[exp.Column(this=column.copy())], from_=exp.From(this=rows.copy()))
        given += assign_value(lowering, exp.Var(this=name), exp.Subquery(this=value))
    return reported("FETCH", given)

"""Table-level lineage of statements whose columns we do not understand: which tables are named, and where."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import TokenType, exp

from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Relation, Scan, Write
from headwater.sql.lowering import Lowering, Node

_TARGET_WORDS = frozenset({TokenType.INTO, TokenType.UPDATE, TokenType.OVERWRITE})
_SOURCE_WORDS = frozenset({TokenType.FROM, TokenType.JOIN, TokenType.USING})


def lower_roughly(lowering: Lowering, tree: Node, statement_type: str) -> Lowered:
    """The tables of a tree: the one it writes, and all others it names."""
    owner = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    target = owner if isinstance(owner, exp.Table) and not isinstance(tree, exp.Query) else None
    ctes = {lowering.key_of(each.alias) for each in tree.find_all(exp.CTE)}
    sources: list[Relation] = []
    for table in tree.find_all(exp.Table):
        bare = table.args.get("db") is None
        if table is target or not table.name or (bare and lowering.key_of(table.name) in ctes):
            continue
        sources.append(_scan(lowering, table))
    name = None if target is None else lowering.resolver.resolve(lowering.table_name(target)[0]).name
    return Lowered(statement_type, (Write(statement_type, name, (), tuple(sources)),), table_only=True)


def _scan(lowering: Lowering, table: Node) -> Scan:
    name, quoted = lowering.table_name(table)
    known = lowering.resolver.resolve(name, quoted=quoted)
    return Scan(known.name, (), lowering.table_span(table), known.resolution)


def lower_tokens(lowering: Lowering, tokens: Sequence[Any], statement_type: str) -> Lowered:
    """The tables that stand after FROM, JOIN and INTO in text that the parser does not read."""
    target: TableName | None = None
    sources: list[Relation] = []
    for word, name, start, end in _names(tokens):
        known = lowering.resolver.resolve(name)
        span = lowering.source.span(lowering.offset + start, lowering.offset + end)
        if word in _TARGET_WORDS and target is None:
            target = known.name
        else:
            sources.append(Scan(known.name, (), span, known.resolution))
    writes = (Write(statement_type, target, (), tuple(sources)),) if sources or target else ()
    return Lowered(statement_type, writes, table_only=True, target=target)


def _names(tokens: Sequence[Any]) -> Iterator[tuple[Any, TableName, int, int]]:
    for at, token in enumerate(tokens):
        if token.token_type not in _SOURCE_WORDS and token.token_type not in _TARGET_WORDS:
            continue
        after = at + 1
        if after < len(tokens) and tokens[after].token_type is TokenType.TABLE:
            after += 1
        parts: list[str] = []
        start, end = 0, 0
        while after < len(tokens) and tokens[after].token_type in (TokenType.VAR, TokenType.IDENTIFIER):
            parts.append(tokens[after].text)
            start, end = (start if len(parts) > 1 else tokens[after].start), tokens[after].end + 1
            if after + 1 < len(tokens) and tokens[after + 1].token_type is TokenType.DOT:
                after += 2
            else:
                break
        if parts:
            yield token.token_type, TableName(tuple(parts)), start, end

"""Table-level lineage of statements whose columns we do not understand: which tables are named, and where."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.model.relation import Relation, Scan, Write
from headwater.sql.dialects import MICROSOFT
from headwater.sql.lowering import Lowering, Node
from headwater.sql.tokens import read_name, word_at


def lower_tables(lowering: Lowering, tree: Node, statement_type: str) -> Lowered:
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
    """The tables that text names which the parser does not read: the first that is written, and those it reads."""
    target: TableName | None = None
    sources: list[Relation] = []
    for written, parts, start, end in _named_tables(tokens):
        if lowering.dialect == "bigquery":  # `p.d.t` in one pair of quotes
            parts = tuple(each for part in parts for each in part.split("."))
        trigger = lowering.trigger
        if trigger is not None and len(parts) == 1 and parts[0].lower() in trigger.tables:
            parts = trigger.table
        if parts[0].startswith("@") and lowering.dialect not in MICROSOFT:  # a variable
            continue
        known = lowering.resolver.resolve(TableName(parts))
        if written and target is None:
            target = known.name
        elif not written:
            span = lowering.place(start, end)
            sources.append(Scan(known.name, (), span, known.resolution))
    writes = (Write(statement_type, target, (), tuple(sources)),) if sources or target else ()
    return Lowered(statement_type, writes, table_only=True, target=target)


_Found = tuple[bool, tuple[str, ...], int, int]  # whether it is written, its name, where that begins and ends

_READ = frozenset({"FROM", "JOIN", "USING", "APPLY", "CLONE", "STRAIGHT_JOIN", "PIVOT", "UNPIVOT"})
_WRITTEN = frozenset({"INTO", "UPDATE", "OVERWRITE", "MERGE", "INSERT", "DELETE", "TABLE", "VIEW", "COPY"})
_QUERIES = frozenset({"SELECT", "FROM", "DELETE", "UPDATE", "INSERT", "MERGE", "WITH", "CREATE", "USING", "JOIN"})
_NO_VERBS = frozenset({"DO", "THEN", "FOR", "KEY", "ON", ",", "NO", "GRANT", "REVOKE", "AFTER", "BEFORE", "OR"})
_BETWEEN = frozenset(
    {"INTO", "TABLE", "IF", "NOT", "EXISTS", "ONLY", "LATERAL", "STREAM", "OVERWRITE", "LIVE", "ONCE"}
)


def _named_tables(tokens: Sequence[Any]) -> Iterator[_Found]:
    """Tables after FROM, JOIN, USING, INTO, UPDATE and the like, the named queries of the statement left out."""
    named = {
        str(tokens[at].text).lower()
        for at in range(len(tokens) - 1)
        if word_at(tokens, at + 1) in ("AS", "(") and word_at(tokens, at - 1) in ("WITH", ",", "RECURSIVE")
    }
    queries = [True]  # per open bracket: whether a query stands in it
    for at in range(len(tokens)):
        word = word_at(tokens, at)
        if word == "(":
            queries.append(word_at(tokens, at + 1) in _QUERIES or word_at(tokens, at - 1) in ("FROM", "JOIN", "("))
        elif word == ")" and len(queries) > 1:
            queries.pop()
        elif queries[-1] and (word in _READ or word in _WRITTEN) and not _is_other(tokens, at):
            written = word in _WRITTEN or (word == "FROM" and word_at(tokens, at - 1) == "DELETE")
            for found in _list(tokens, at + 1, written):
                if found[1] != (found[1][0],) or found[1][0].lower() not in named:
                    yield found


def _is_other(tokens: Sequence[Any], at: int) -> bool:
    """Return whether a word means no table: `IS DISTINCT FROM`, `DO UPDATE SET`, `GRANT UPDATE`, `a.table`."""
    word, before, after = word_at(tokens, at), word_at(tokens, at - 1), word_at(tokens, at + 1)
    if before == "." or after in (".", "=", ")", ","):
        return True
    if word == "FROM":
        loads = word_at(tokens, 0) == "COPY" and word_at(tokens, 1) not in ("INTO", "(")  # COPY t FROM 'file'
        return loads or (before == "DISTINCT" and "IS" in (word_at(tokens, at - 2), word_at(tokens, at - 3)))
    return word not in _READ and (before in _NO_VERBS or (word == "TABLE" and before in ("INTO", "OVERWRITE")))


def _list(tokens: Sequence[Any], at: int, written: bool) -> Iterator[_Found]:
    """The names of `a, s.b AS x, c`; of what is written, the first."""
    while True:
        while _is_between(tokens, at):
            at += 1
        name, end = read_name(tokens, at)
        if not name:
            return
        if written or word_at(tokens, end) != "(":  # else it is a function
            yield written, tuple(name), tokens[at].start, tokens[end - 1].end + 1
        if word_at(tokens, end) == "AS":
            end += 1
        if word_at(tokens, end) != "," and word_at(tokens, end + 1) == ",":
            end += 1
        if written or word_at(tokens, end) != ",":
            return
        at = end + 1


def _is_between(tokens: Sequence[Any], at: int) -> bool:
    """Return whether a word stands between FROM or INTO and the name: IF NOT EXISTS, ONLY, the brackets of a join."""
    word, before, after = word_at(tokens, at), word_at(tokens, at - 1), word_at(tokens, at + 1)
    if word == "(":
        return before in ("STREAM", "FROM", "JOIN", "ONLY", "(") and after not in _QUERIES
    return word in _BETWEEN and after != "."

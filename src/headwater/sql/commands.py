"""Statements that the parser leaves as text, and whose text is simple enough to read: ClickHouse's EXCHANGE TABLES,
Redshift's ALTER TABLE … APPEND FROM."""

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from headwater.lineage.effects import SwapTables
from headwater.lineage.script import Lowered
from headwater.model.names import TableName
from headwater.sql.lowering import Lowering, Node

_NAME = r"((?:[\w$]+|\"[^\"]+\"|`[^`]+`)(?:\.(?:[\w$]+|\"[^\"]+\"|`[^`]+`))*)"
_EXCHANGE = re.compile(rf"EXCHANGE\s+(?:TABLES|DICTIONARIES)\s+{_NAME}\s+AND\s+{_NAME}", re.IGNORECASE)
_APPEND = re.compile(rf"ALTER\s+TABLE\s+{_NAME}\s+APPEND\s+FROM\s+{_NAME}", re.IGNORECASE)


_SILENT = frozenset(
    {
        *("SAVEPOINT", "RELEASE", "NOTIFY", "LISTEN", "UNLISTEN", "CHECKPOINT", "DISCARD", "REINDEX", "CLUSTER"),
        *("LOCK", "UNLOCK", "GRANT", "REVOKE", "DENY", "COMMENT", "ANALYZE", "VACUUM", "RESET", "SHOW", "CLOSE"),
        *("DEALLOCATE", "MOVE", "FETCH", "START", "ABORT", "ROLLBACK", "COMMIT", "END", "SECURITY", "REASSIGN"),
        *("DETACH", "ATTACH", "INSTALL", "LOAD", "FORCE", "PRAGMA", "USE", "MSCK", "REPAIR", "REFRESH"),
        *("ADD", "LIST", "CLEAR", "UNCACHE", "DESC", "DESCRIBE", "KILL", "DBCC", "BACKUP", "RESTORE", "PRINT"),
        *("GET", "GOTO", "WAITFOR", "SAVE", "REVERT", "RECONFIGURE", "RAISERROR", "THROW"),
    }
)
_CHANGES = frozenset({"CREATE", "ALTER", "DROP", "UNDROP"})
_WITH_ROWS = frozenset({"TABLE", "VIEW", "PROCEDURE", "PROC", "TRIGGER", "MODEL"})
_OBJECTS = frozenset(
    {
        *("INDEX", "SEQUENCE", "SCHEMA", "DATABASE", "ROLE", "USER", "TYPE", "DOMAIN", "OPERATOR", "AGGREGATE"),
        *("POLICY", "PUBLICATION", "SUBSCRIPTION", "STATISTICS", "COLLATION", "CONVERSION", "EXTENSION", "SERVER"),
        *("CAST", "TRANSFORM", "LANGUAGE", "RULE", "TABLESPACE", "CONSTRAINT", "CONNECTION", "SECRET", "GROUP"),
        *("PRIVILEGES", "SYSTEM", "SYNONYM", "PROFILE", "CATALOG", "WAREHOUSE", "STAGE", "RESOURCE", "LOGIN", "TEXT"),
        *("ASSEMBLY", "PARTITION", "CERTIFICATE", "EVENT", "ENDPOINT", "CREDENTIAL", "PROPERTY", "ENTITY", "OBJECT"),
        *("MACRO", "CONSTANT", "VARIABLE", "ACCESS", "LOCATION", "SHARE", "RECIPIENT", "FULLTEXT"),
    }
)


def kind_without_lineage(tokens: Sequence[Any]) -> str | None:
    """The kind of a statement whose first words say that it moves no rows, whatever follows; None for any other."""
    words = [token.text.upper() for token in tokens[:8]]
    if not words or (words[0] in _SILENT and words[:2] != ["LOAD", "DATA"]):
        return words[0] if words else None
    if words[0] == "SET" and not any(token.text in ("=", ":=") for token in tokens):
        return "SET"
    if words[0] not in _CHANGES:
        return None
    if words[0] == "DROP" and words[1:2] not in (["TABLE"], ["VIEW"]):
        return "_".join(words[:2])
    if "FUNCTION" in words:  # what its body reads is asked for where it is called
        return f"{words[0]}_FUNCTION"
    named = next((word for word in words[1:] if word in _OBJECTS or word in _WITH_ROWS), None)
    return None if named is None or named in _WITH_ROWS else f"{words[0]}_{named}"


def lower_exchange(lowering: Lowering, text: str) -> Lowered | None:
    """EXCHANGE TABLES a AND b: each has the columns of the other from here on."""
    found = _EXCHANGE.match(text)
    if found is None:
        return None
    first, second = (_table_name(lowering, name) for name in found.groups())
    return Lowered("EXCHANGE", effects=(SwapTables(first, second),), target=lowering.resolver.resolve(first).name)


def rewritten(lowering: Lowering, text: str) -> Node | None:
    """A statement that says the same as one the parser leaves as text.

    ALTER TABLE d APPEND FROM s moves the rows of s into the columns of d that have the same names.
    """
    found = _APPEND.match(text)
    if found is None:
        return None
    target, source = (lowering.resolver.resolve(_table_name(lowering, name)) for name in found.groups())
    taken = "*"
    if target.complete and source.complete:
        there = {lowering.key_of(column.name) for column in target.columns}
        shared = [column.name for column in source.columns if lowering.key_of(column.name) in there]
        taken = ", ".join(exp.to_identifier(name, quoted=True).sql("duckdb") for name in shared) or "*"
    try:
        tree = parse_one(f"INSERT INTO {found[1]} BY NAME SELECT {taken} FROM {found[2]}", dialect="duckdb")
    except SqlglotError:
        return None
    for node in tree.walk():
        node.meta.clear()  # its places are not in the user's text
    return tree


def _table_name(lowering: Lowering, text: str) -> TableName:
    return lowering.table_name(exp.to_table(text, dialect=lowering.dialect or None))[0]

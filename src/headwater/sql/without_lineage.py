"""Statements that move no rows, told by their first words."""

from collections.abc import Sequence
from typing import Any

_SILENT = frozenset(
    {
        *("SAVEPOINT", "RELEASE", "NOTIFY", "LISTEN", "UNLISTEN", "CHECKPOINT", "DISCARD", "REINDEX", "CLUSTER"),
        *("LOCK", "UNLOCK", "GRANT", "REVOKE", "DENY", "COMMENT", "ANALYZE", "VACUUM", "RESET", "SHOW", "CLOSE"),
        *("DEALLOCATE", "MOVE", "FETCH", "START", "ABORT", "ROLLBACK", "COMMIT", "END", "SECURITY", "REASSIGN"),
        *("DETACH", "ATTACH", "INSTALL", "LOAD", "FORCE", "PRAGMA", "USE", "MSCK", "REPAIR", "REFRESH"),
        *("ADD", "LIST", "CLEAR", "UNCACHE", "DESC", "DESCRIBE", "KILL", "DBCC", "BACKUP", "RESTORE", "PRINT"),
        *("GET", "GOTO", "WAITFOR", "SAVE", "REVERT", "RECONFIGURE", "RAISERROR", "THROW", "ANALYSE"),
    }
)
_PROCEDURES = frozenset(
    {
        *("SP_ADDEXTENDEDPROPERTY", "SP_UPDATEEXTENDEDPROPERTY", "SP_DROPEXTENDEDPROPERTY", "SP_CONFIGURE"),
        *("SP_SETTRIGGERORDER", "SP_RECOMPILE", "SP_REFRESHVIEW", "SP_REFRESHSQLMODULE", "SP_UPDATESTATS"),
        *("SP_ADDROLE", "SP_ADDROLEMEMBER", "SP_DROPROLEMEMBER", "SP_ADDUSER", "SP_ADDLOGIN", "SP_ADDMESSAGE"),
        *("SP_TABLEOPTION", "SP_DBOPTION", "SP_GETAPPLOCK", "SP_RELEASEAPPLOCK", "SP_FULLTEXT_DATABASE"),
    }
)
"""System procedures of T-SQL that move no rows."""
_CHANGES = frozenset({"CREATE", "ALTER", "DROP", "UNDROP"})
_WITH_ROWS = frozenset({"TABLE", "VIEW", "PROCEDURE", "PROC", "TRIGGER", "MODEL"})
_OBJECTS = frozenset(
    {
        *("INDEX", "SEQUENCE", "SCHEMA", "DATABASE", "ROLE", "USER", "TYPE", "DOMAIN", "OPERATOR", "AGGREGATE"),
        *("POLICY", "PUBLICATION", "SUBSCRIPTION", "STATISTICS", "COLLATION", "CONVERSION", "EXTENSION", "SERVER"),
        *("CAST", "TRANSFORM", "LANGUAGE", "RULE", "TABLESPACE", "CONSTRAINT", "CONNECTION", "SECRET", "GROUP"),
        *("PRIVILEGES", "SYSTEM", "SYNONYM", "PROFILE", "CATALOG", "WAREHOUSE", "STAGE", "RESOURCE", "LOGIN", "TEXT"),
        *("ASSEMBLY", "PARTITION", "CERTIFICATE", "EVENT", "ENDPOINT", "CREDENTIAL", "PROPERTY", "ENTITY", "OBJECT"),
        *("TASK", "PIPE", "ALERT", "FLOW", "STREAMLIT", "NOTEBOOK", "INTEGRATION", "TAG", "SERVICE"),
        *("MACRO", "CONSTANT", "VARIABLE", "ACCESS", "LOCATION", "SHARE", "RECIPIENT", "FULLTEXT"),
    }
)


def kind_without_lineage(tokens: Sequence[Any]) -> str | None:
    """The kind of a statement whose first words say that it moves no rows, whatever follows; None for any other."""
    words = [word for token in tokens[:8] for word in token.text.upper().split()]  # ADD JAR is one token
    if not words or (words[0] in _SILENT and words[:2] != ["LOAD", "DATA"]):
        return words[0] if words else None
    if words[0] == "SET" and not any(token.text in ("=", ":=") for token in tokens):
        return "SET"
    if words[0] in ("EXEC", "EXECUTE") and not _PROCEDURES.isdisjoint(words[1:6:2]):  # also sys.sp_…, db.sys.sp_…
        return "EXECUTE"
    if words[0] not in _CHANGES:
        return None
    if words[0] == "DROP" and words[1:2] not in (["TABLE"], ["VIEW"]):
        return "_".join(words[:2])
    if "FUNCTION" in words:  # what its body reads is asked for where it is called
        return f"{words[0]}_FUNCTION"
    named = next((word for word in words[1:] if word in _OBJECTS or word in _WITH_ROWS), None)
    return None if named is None or named in _WITH_ROWS else f"{words[0]}_{named}"

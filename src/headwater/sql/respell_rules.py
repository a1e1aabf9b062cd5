"""The rules of `respell`: pattern and replacement, for all dialects or for some."""

_POSTGRES = frozenset({"postgres", "redshift", "materialize", "risingwave"})
_GOOGLE = frozenset({"bigquery"})
_SPARK = frozenset({"spark", "spark2", "databricks", "hive"})
_MICROSOFT = frozenset({"tsql", "fabric"})

OPERATORS = _POSTGRES | {"duckdb", ""}
"""The dialects in which signs that stand together are one operator, whatever they are."""

COMPOUND = _MICROSOFT
"""The dialects that have `a += b`."""

RULES: tuple[tuple[frozenset[str] | None, str, str], ...] = (
    # T-SQL
    (_MICROSOFT, "CLUSTERED", ""),
    (_MICROSOFT, "NONCLUSTERED", ""),
    (_MICROSOFT, ", INDEX ? ()", ""),
    (_MICROSOFT, "INDEX ? ,", ","),
    (_MICROSOFT, "WITH XMLNAMESPACES () ,", "WITH"),
    (_MICROSOFT, "WITH XMLNAMESPACES ()", ""),
    *((_MICROSOFT, f"WITH ( {hint} )", "") for hint in ("TABLOCK", "TABLOCKX", "HOLDLOCK", "ROWLOCK", "UPDLOCK")),
    (_MICROSOFT, "INSERT ... EXEC ...", "~INSERT ... DEFAULT VALUES"),
    (_MICROSOFT, "INSERT ... EXECUTE ...", "~INSERT ... DEFAULT VALUES"),
    (_MICROSOFT, "FROM ::", "FROM"),
    # DuckDB
    (frozenset({"duckdb"}), "EXPORT_STATE", ""),
    # Databricks
    (_SPARK, "MERGE WITH SCHEMA EVOLUTION", "MERGE"),
    # PostgreSQL
    (_POSTGRES, "ON ONLY", "ON"),
    (_POSTGRES, ") VIRTUAL", ")"),
)

"""The rules of `respell`: pattern and replacement, for all dialects or for some."""

_POSTGRES = frozenset({"postgres", "redshift", "materialize", "risingwave"})
_GOOGLE = frozenset({"bigquery"})
_SPARK = frozenset({"spark", "spark2", "databricks", "hive"})
_MICROSOFT = frozenset({"tsql", "fabric"})

_ORACLE = frozenset({"oracle"})
_MYSQL = frozenset({"mysql", "singlestore", "doris", "starrocks"})
_TERADATA = frozenset({"teradata"})
_VIOLATIONS = ("ON VIOLATION DROP ROW", "ON VIOLATION FAIL UPDATE", "")

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
    (_MICROSOFT, "OUTPUT ... WHERE ...", "WHERE $2 OUTPUT $1"),
    (_MICROSOFT, "OPTION ()", ""),
    (_MICROSOFT, "INDEX ? ()", ""),
    # DuckDB
    (frozenset({"duckdb"}), "EXPORT_STATE", ""),
    (frozenset({"duckdb"}), "AS PIVOT ...", "AS ( PIVOT ... )"),
    (frozenset({"duckdb"}), "AS UNPIVOT ...", "AS ( UNPIVOT ... )"),
    # Databricks
    (_SPARK, "MERGE WITH SCHEMA EVOLUTION", "MERGE"),
    (_SPARK, "OR REFRESH", ""),
    (_SPARK, "STREAMING LIVE TABLE", "TABLE"),
    (_SPARK, "STREAMING TABLE", "TABLE"),
    (_SPARK, "LIVE TABLE", "TABLE"),
    (_SPARK, "LIVE VIEW", "VIEW"),
    *((_SPARK, f"( CONSTRAINT ? EXPECT () {then} )", "~") for then in _VIOLATIONS),
    *((_SPARK, f"CONSTRAINT ? EXPECT () {then} ,", "~") for then in _VIOLATIONS),
    *((_SPARK, f", CONSTRAINT ? EXPECT () {then}", "~") for then in _VIOLATIONS),
    (_SPARK, "APPLY CHANGES INTO ... FROM ... KEYS ...", "~INSERT INTO ... SELECT * FROM ..."),
    (_SPARK, "CREATE FLOW ? AS AUTO CDC INTO ... FROM ... KEYS ...", "~INSERT INTO $2 SELECT * FROM $3"),
    # Oracle
    (_ORACLE, "DELETE WHERE ... WHEN", "WHEN MATCHED AND ( ... ) THEN DELETE WHEN"),
    (_ORACLE, "DELETE WHERE ...", "WHEN MATCHED AND ( ... ) THEN DELETE"),
    (_ORACLE, "UPDATE () SET", "WITH HEADWATER_VIEW AS () UPDATE HEADWATER_VIEW SET"),
    (_ORACLE, "UPDATE () ? SET", "WITH $2 AS $1 UPDATE $2 SET"),
    (
        _ORACLE,
        "FROM ? MODEL PARTITION_BY () DIMENSION BY () MEASURES () ... ()",
        "~FROM ( SELECT $-2 , $-3 , $-4 FROM $1 )",
    ),
    (_ORACLE, "FROM ? MODEL DIMENSION BY () MEASURES () ... ()", "~FROM ( SELECT $-2 , $-3 FROM $1 )"),
    # MySQL
    (_MYSQL, "LOAD DATA ... INFILE ? ... INTO TABLE ? . ? ...", "LOAD DATA INPATH $2 INTO TABLE $4 . $5"),
    (_MYSQL, "LOAD DATA ... INFILE ? ... INTO TABLE ? ...", "LOAD DATA INPATH $2 INTO TABLE $4"),
    # Teradata
    (_TERADATA, "( TITLE ? )", ""),
    (_TERADATA, "( FORMAT ? )", ""),
    (_TERADATA, "( NAMED ? )", "AS ?"),
    (_TERADATA, "TITLE ?", ""),
    # PostgreSQL
    (_POSTGRES, "ON ONLY", "ON"),
    (_POSTGRES, "WITH NO DATA", ""),
    (_POSTGRES, "WITH DATA", ""),
    (_POSTGRES, ") VIRTUAL", ")"),
)

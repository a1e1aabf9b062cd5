"""The rules of `respell`: pattern and replacement, for all dialects or for some."""

from headwater.sql.dialects import MICROSOFT, MYSQL

_POSTGRES = frozenset({"postgres", "redshift", "materialize", "risingwave"})
_GOOGLE = frozenset({"bigquery"})
_SPARK = frozenset({"spark", "spark2", "databricks", "hive"})

_DUCKDB = frozenset({"duckdb"})
_ORACLE = frozenset({"oracle"})
_TERADATA = frozenset({"teradata"})
_VERSIONED = ("ROW", "TRANSACTION_ID", "SEQUENCE_NUMBER")
_VIOLATIONS = ("ON VIOLATION DROP ROW", "ON VIOLATION FAIL UPDATE", "")

_PIPES = _GOOGLE | _SPARK


def _piped(operator: str, instead: str) -> tuple[tuple[frozenset[str], str, str], ...]:
    """The rules of a pipe operator, before another and at the end."""
    lossy, instead = ("~", instead[1:]) if instead.startswith("~") else ("", instead)
    made = f"|> {instead}" if instead else ""
    return (_PIPES, f"|> {operator} |>", f"{lossy}{made} |>"), (_PIPES, f"|> {operator}", f"{lossy}{made}")


_AGGREGATES = ("SUM", "AVG", "MIN", "MAX", "COUNT", "ARRAY_AGG", "STRING_AGG", "ANY_VALUE", "CORR", "COUNTIF")
_WRAPPERS = tuple(
    f"{how} {kind}{array}".strip()
    for how in ("WITH", "WITHOUT")
    for kind in ("CONDITIONAL ", "UNCONDITIONAL ", "")
    for array in ("ARRAY", "")
)

_KINDS = (
    *((kind, "VIEW") for kind in ("MATERIALIZED", "SECURE")),
    *((kind, "TABLE") for kind in ("FOREIGN", "EXTERNAL", "DYNAMIC", "ICEBERG", "TRANSIENT", "HYBRID", "STREAMING")),
)
"""Kinds of tables and views whose ALTER says the same as that of any other."""

OPERATORS = _POSTGRES | _DUCKDB | {""}
"""The dialects in which signs that stand together are one operator, whatever they are."""

COMPOUND = MICROSOFT
"""The dialects that have `a += b`."""

RULES: tuple[tuple[frozenset[str] | None, str, str], ...] = (
    # Other names
    *((None, f"ALTER {kind} {what}", f"ALTER {what}") for kind, what in _KINDS),
    (MYSQL, "RENAME AS", "RENAME TO"),
    (MYSQL, "RENAME =", "RENAME TO"),
    (_SPARK, "ALTER TABLE ... PARTITION () RENAME TO PARTITION ()", "ALTER TABLE ... ADD PARTITION $3"),
    # T-SQL
    (MICROSOFT, "CLUSTERED", ""),
    (MICROSOFT, "NONCLUSTERED", ""),
    *((MICROSOFT, f"GENERATED ALWAYS AS {what} {end}", "") for what in _VERSIONED for end in ("START", "END")),
    *((MICROSOFT, f"{word} WITH ()", "") for word in ("MASKED", "ENCRYPTED")),
    *((MICROSOFT, word, "") for word in ("HIDDEN", "SPARSE", "ROWGUIDCOL", "FILESTREAM")),
    (MICROSOFT, "COLUMN_SET FOR ALL_SPARSE_COLUMNS", ""),
    (MICROSOFT, "OUTPUT ... INTO ? . ?", "OUTPUT $1 INTO $3"),
    (MICROSOFT, "HASH () WITH ()", "()"),
    *((MICROSOFT, word, "") for word in ("ASC", "DESC")),
    *((MICROSOFT, f", INDEX ? {what}", "") for what in ("()", "COLUMNSTORE ()", "COLUMNSTORE")),
    (MICROSOFT, "INDEX ? ,", ","),
    (MICROSOFT, "WITH XMLNAMESPACES () ,", "WITH"),
    (MICROSOFT, "WITH XMLNAMESPACES ()", ""),
    *((MICROSOFT, f"WITH ( {hint} )", "") for hint in ("TABLOCK", "TABLOCKX", "HOLDLOCK", "ROWLOCK", "UPDLOCK")),
    (MICROSOFT, "INSERT ... EXEC ...", "~INSERT ... DEFAULT VALUES"),
    (MICROSOFT, "INSERT ... EXECUTE ...", "~INSERT ... DEFAULT VALUES"),
    (MICROSOFT, "DELETE FROM ... FROM", "DELETE ... FROM"),
    (MICROSOFT, "FROM ::", "FROM"),
    (MICROSOFT, "OUTPUT ... WHERE ...", "WHERE $2 OUTPUT $1"),
    (MICROSOFT, "OPTION ()", ""),
    (MICROSOFT, "INDEX ? ()", ""),
    # DuckDB
    (_DUCKDB, "EXPORT_STATE", ""),
    (_DUCKDB, "AS PIVOT ...", "AS ( PIVOT ... )"),
    (_DUCKDB, "AS UNPIVOT ...", "AS ( UNPIVOT ... )"),
    # Databricks
    (_SPARK, "MERGE WITH SCHEMA EVOLUTION", "MERGE"),
    (_SPARK, "DIRECTORY ? USING ? OPTIONS ()", "DIRECTORY ?"),
    (_SPARK, "DIRECTORY ? USING ?", "DIRECTORY ?"),
    (_SPARK, "INSERT INTO ONCE", "INSERT INTO"),
    (_SPARK, "OR REFRESH", ""),
    (_SPARK, "CREATE PRIVATE", "CREATE"),
    (_SPARK, "CREATE OR REPLACE PRIVATE", "CREATE"),
    *(
        (_SPARK, f"SCHEDULE {when} AS", "AS")
        for when in ("EVERY ? ?", "REFRESH EVERY ? ?", "CRON ?", "REFRESH CRON ?")
    ),
    (_SPARK, "SCHEDULE CRON ? AT TIME ZONE ? AS", "AS"),
    (_SPARK, "TRIGGER ON UPDATE AS", "AS"),
    (_GOOGLE, "AS REPLICA OF ...", "AS SELECT * FROM ..."),
    (_GOOGLE, "SNAPSHOT TABLE", "TABLE"),
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
    (MYSQL, "LOAD DATA ... INFILE ? ... INTO TABLE ? . ? ...", "LOAD DATA INPATH $2 INTO TABLE $4 . $5"),
    (MYSQL, "LOAD DATA ... INFILE ? ... INTO TABLE ? ...", "LOAD DATA INPATH $2 INTO TABLE $4"),
    *(
        (MYSQL, f"SELECT ... INTO {kind} ? {rest}", f"INSERT OVERWRITE DIRECTORY $2 SELECT $1 {then}")
        for kind in ("OUTFILE", "DUMPFILE")
        for rest, then in (("... FROM ...", "FROM $4"), ("...", ""))
    ),
    # Teradata
    (_TERADATA, "( TITLE ? )", ""),
    (_TERADATA, "( FORMAT ? )", ""),
    (_TERADATA, "( NAMED ? )", "AS ?"),
    (_TERADATA, "TITLE ?", ""),
    # Spark
    (_SPARK, "MATCH_CONDITION () ON", "ON () AND"),
    (_SPARK, "MATCH_CONDITION () USING", "~USING"),
    (_SPARK, "MATCH_CONDITION ()", "ON ()"),
    (_SPARK, "ASOF JOIN", "JOIN"),
    (_SPARK, "APPROX NEAREST", "NEAREST"),
    (_SPARK, "EXACT NEAREST", "NEAREST"),
    *((_SPARK, f"NEAREST {count} BY {by}", "ON") for count in ("?", "") for by in ("SIMILARITY", "DISTANCE")),
    (_SPARK, "BIN BY ()", "~"),
    (_SPARK, "WINDOW ()", "TIME_WINDOW ()"),
    (_SPARK, "GEOGRAPHY ( ANY )", "GEOGRAPHY"),
    (_SPARK, "GEOMETRY ( ANY )", "GEOMETRY"),
    (_SPARK, ">> >", ">>"),
    (_SPARK, "MAX RECURSION LEVEL ?", ""),
    (_SPARK, "TABLE () PARTITION_BY ...", "~TABLE ()"),
    (_SPARK, "TABLE () WITH SINGLE PARTITION ...", "~TABLE ()"),
    # Cursors
    (None, "WHERE CURRENT OF ?", ""),
    # SQL's functions of JSON
    *(
        (None, f"{what} ON {when}", "")
        for what in ("NULL", "ERROR", "DEFAULT ?", "EMPTY ?", "EMPTY", "TRUE", "FALSE", "UNKNOWN")
        for when in ("EMPTY", "ERROR")
    ),
    *((None, f"{how} WRAPPER", "") for how in _WRAPPERS),
    (None, "OMIT QUOTES", ""),
    (None, "KEEP QUOTES", ""),
    (None, "FORMAT JSON", ""),
    (None, "PASSING ... AS ?", ", ..."),
    (None, "JSON_VALUE ( ... RETURNING ... )", "JSON_VALUE ( $1 )"),
    (None, "JSON_QUERY ( ... RETURNING ... )", "JSON_QUERY ( $1 )"),
    # Pipes
    (_PIPES, "TABLE ? |>", "FROM ? |>"),
    (_PIPES, "TABLE ? . ? |>", "FROM ? . ? |>"),
    *((_PIPES, f"{word} TABLE ?", f"{word} ( SELECT * FROM ? )") for word in ("ALL", "DISTINCT", "UNION", "EXCEPT")),
    (_PIPES, "( TABLE ? )", "( SELECT * FROM ? )"),
    (_PIPES, "|> STATIC_DESCRIBE", ""),
    (_PIPES, "|> DESCRIBE", ""),
    (_PIPES, "|> LOG ()", ""),
    (_PIPES, "|> LOG", ""),
    (_PIPES, "|> WINDOW", "|> EXTEND"),
    (_PIPES, "FROM ... |> CREATE TABLE ?", "CREATE TABLE $2 AS FROM $1"),
    (_PIPES, "FROM ... |> INSERT INTO ?", "INSERT INTO $2 FROM $1"),
    *((_PIPES, f"|> TEE {branches}", "") for branches in ("() , () , ()", "() , ()", "()", "")),
    (_PIPES, "FROM ... |> WITH ? AS ()", "WITH $2 AS $3 FROM $1"),
    (_PIPES, "SELECT ... |> WITH ? AS ()", "WITH $2 AS $3 SELECT $1"),
    *_piped("FORK ...", "~"),
    *_piped("IF ...", "~"),
    *_piped("RECURSIVE UNION ...", "~"),
    *_piped("ASSERT ...", "~"),
    *_piped("EXPORT DATA ...", "~"),
    *_piped("DROP ...", "SELECT * EXCEPT ( ... )"),
    *_piped("RENAME ...", "SELECT * RENAME ( ... )"),
    *_piped("SET ? = ...", "SELECT * REPLACE ( $2 AS $1 )"),
    # GoogleSQL
    (_GOOGLE, "SELECT WITH ? OPTIONS ()", "SELECT"),
    (_GOOGLE, "SELECT WITH ?", "SELECT"),
    (None, "GRAPH_TABLE ()", "~GRAPH_TABLE_ROWS ( )"),
    (_GOOGLE, "@ {}", ""),
    (_GOOGLE, "NEW ? . ? ()", "STRUCT ()"),
    (_GOOGLE, "NEW ? ()", "STRUCT ()"),
    (_GOOGLE, "DELETE ? WHERE", "DELETE FROM ? WHERE"),
    (_GOOGLE, "UINT32", "INT64"),
    (_GOOGLE, "UINT64", "INT64"),
    *(
        (_GOOGLE, f"{cast} ( ... AS {name} )", f"{cast} ( $1 AS STRING )")
        for cast in ("CAST", "SAFE_CAST")
        for name in ("? . ? . ? . ?", "? . ? . ?", "? . ?", "ARRAY_FIND_MODE", "?")
    ),
    (_GOOGLE, "CLAMPED BETWEEN ... AND ?", ""),
    (_GOOGLE, "WITH REPORT ()", ""),
    (_GOOGLE, ", CONTRIBUTION_BOUNDS_PER_GROUP => ()", ""),
    (_GOOGLE, ", CONTRIBUTION_BOUNDS_PER_ROW => ()", ""),
    (_GOOGLE, ", REPORT_FORMAT => ?", ""),
    (_GOOGLE, "THEN RETURN ...", ""),
    (_GOOGLE, "ASSERT_ROWS_MODIFIED ?", ""),
    (_GOOGLE, "DELETE ? . ? WHERE", "DELETE FROM ? . ? WHERE"),
    (_GOOGLE, "DELETE ? ? WHERE", "DELETE FROM ? ? WHERE"),
    (_GOOGLE, "DELETE ? AS ? WHERE", "DELETE FROM ? AS ? WHERE"),
    (_GOOGLE, "( TABLE ? ,", "( ( SELECT * FROM ? ) ,"),
    (_GOOGLE, ", TABLE ?", ", ( SELECT * FROM ? )"),
    (_GOOGLE, "( MODEL ? ,", "("),
    (_GOOGLE, ", MODEL ?", ""),
    *((_GOOGLE, f"{name} ( ... GROUP_BY ... )", f"~{name} ( $1 )") for name in _AGGREGATES),
    *((_GOOGLE, f"{name} ( ... WHERE ... )", f"~{name} ( $1 )") for name in _AGGREGATES),
    (_GOOGLE, "EXPORT DATA AS", "EXPORT DATA OPTIONS ( ) AS"),
    # PostgreSQL
    (_POSTGRES, "ON ONLY", "ON"),
    (_POSTGRES, "ONLY ( ? . ? )", "ONLY ? . ?"),
    (_POSTGRES, "ONLY ( ? )", "ONLY ?"),
    (_POSTGRES, "WITH NO DATA", ""),
    (_POSTGRES, "WITH DATA", ""),
    (_POSTGRES | _DUCKDB, ") VIRTUAL", ")"),
    (_POSTGRES | _DUCKDB, "WITH () AS", "AS"),
    (_POSTGRES, "OVERRIDING ? VALUE", ""),
    (_POSTGRES, "WITHOUT OVERLAPS", ""),
    (_POSTGRES, "WITH OPTIONS", ""),
    (_POSTGRES, "DO SELECT FOR UPDATE", "DO NOTHING"),
    (_POSTGRES, "DO SELECT", "DO NOTHING"),
    (_POSTGRES, "FOR PORTION OF ? FROM ? TO ?", ""),
    (_POSTGRES, "FOR PORTION OF ? ()", ""),
    (_POSTGRES, "ADD NOT NULL", "ADD COLUMN"),
    (_POSTGRES, "RETURNING WITH ()", "RETURNING"),
    *((_POSTGRES, f"USING {sign}", "") for sign in ("<", ">", "<=", ">=", "~ < ~", "~ > ~")),
    *((_POSTGRES, f"SEARCH {how} FIRST BY ... SET ?", "~") for how in ("DEPTH", "BREADTH")),
    (_POSTGRES, "CYCLE ... SET ? TO ? DEFAULT ? USING ?", "~"),
    (_POSTGRES, "CYCLE ... SET ? USING ?", "~"),
    (_POSTGRES, "BIT VARYING ()", "VARBIT"),
    *((_POSTGRES, f"{word} : ?", f"~{word} ?") for word in ("FROM", "JOIN", "INTO", "UPDATE", "TABLE", "VIEW")),
    (_POSTGRES, ": ?", "NULL"),
)

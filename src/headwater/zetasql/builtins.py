"""The parts of BigQuery and Spanner that ZetaSQL lacks: types, functions, procedures, pseudo-columns, system
views."""

from functools import cache
from typing import Any

from headwater.zetasql.messages import catalog, function_enums, types
from headwater.zetasql.options import language_options

_ALIASES = {
    "INT": types.TYPE_INT64,
    "SMALLINT": types.TYPE_INT64,
    "INTEGER": types.TYPE_INT64,
    "BIGINT": types.TYPE_INT64,
    "TINYINT": types.TYPE_INT64,
    "BYTEINT": types.TYPE_INT64,
    "DECIMAL": types.TYPE_NUMERIC,
    "BIGDECIMAL": types.TYPE_BIGNUMERIC,
}

# by dialect: name → result, for functions that take anything, in any number
_FUNCTIONS = {
    "bigquery": {
        "SEARCH": types.TYPE_BOOL,
        "CONTAINS_SUBSTR": types.TYPE_BOOL,
        "NORMALIZE_TEXT": types.TYPE_STRING,
        "EXTERNAL_OBJECT_TRANSFORM": types.TYPE_STRING,
        "APPENDS_VERSION": types.TYPE_INT64,
    },
    "spanner": {
        "PENDING_COMMIT_TIMESTAMP": types.TYPE_TIMESTAMP,
        "SEARCH": types.TYPE_BOOL,
        "SEARCH_SUBSTRING": types.TYPE_BOOL,
        "SCORE": types.TYPE_DOUBLE,
        "BIT_REVERSE": types.TYPE_INT64,
    },
}

_BY = ("MAX_BY", "MIN_BY")  # the value of the row in which another value is greatest, or least

# BQ.name → the types of its arguments
PROCEDURES = {
    "REFRESH_MATERIALIZED_VIEW": (types.TYPE_STRING,),
    "REFRESH_EXTERNAL_METADATA_CACHE": (types.TYPE_STRING,),
    "ABORT_SESSION": (types.TYPE_STRING,),
    "JOBS.CANCEL": (types.TYPE_STRING,),
}

PARTITION_COLUMNS = (("_PARTITIONTIME", "TIMESTAMP"), ("_PARTITIONDATE", "DATE"), ("_FILE_NAME", "STRING"))
WILDCARD_COLUMNS = (("_TABLE_SUFFIX", "STRING"),)
PSEUDO_COLUMNS = frozenset(name for name, _ in PARTITION_COLUMNS + WILDCARD_COLUMNS)

BUILTIN_FOLDERS = frozenset({"aead", "hll_count", "keys", "kll_quantiles", "net"})
"""Where ZetaSQL keeps functions of its own: a catalog that has such a folder beside them ends the engine."""

_NAMES = "table_catalog STRING, table_schema STRING, table_name STRING"
_INFORMATION_SCHEMA = {
    "TABLES": f"{_NAMES}, table_type STRING, is_insertable_into STRING, is_typed STRING, is_change_history_enabled "
    "STRING, creation_time TIMESTAMP, base_table_catalog STRING, base_table_schema STRING, base_table_name STRING, "
    "snapshot_time_ms TIMESTAMP, ddl STRING, default_collation_name STRING",
    "COLUMNS": f"{_NAMES}, column_name STRING, ordinal_position INT64, is_nullable STRING, data_type STRING, "
    "is_generated STRING, generation_expression STRING, is_stored STRING, is_hidden STRING, is_updatable STRING, "
    "is_system_defined STRING, is_partitioning_column STRING, clustering_ordinal_position INT64, "
    "collation_name STRING, column_default STRING, rounding_mode STRING",
    "COLUMN_FIELD_PATHS": f"{_NAMES}, column_name STRING, field_path STRING, data_type STRING, description STRING, "
    "collation_name STRING, rounding_mode STRING",
    "TABLE_OPTIONS": f"{_NAMES}, option_name STRING, option_type STRING, option_value STRING",
    "VIEWS": f"{_NAMES}, view_definition STRING, check_option STRING, use_standard_sql STRING",
    "PARTITIONS": f"{_NAMES}, partition_id STRING, total_rows INT64, total_logical_bytes INT64, "
    "total_billable_bytes INT64, last_modified_time TIMESTAMP, storage_tier STRING",
    "SCHEMATA": "catalog_name STRING, schema_name STRING, schema_owner STRING, creation_time TIMESTAMP, "
    "last_modified_time TIMESTAMP, location STRING, ddl STRING, default_collation_name STRING",
    "ROUTINES": "specific_catalog STRING, specific_schema STRING, specific_name STRING, routine_catalog STRING, "
    "routine_schema STRING, routine_name STRING, routine_type STRING, data_type STRING, routine_body STRING, "
    "routine_definition STRING, external_language STRING, is_deterministic STRING, security_type STRING, "
    "created TIMESTAMP, last_altered TIMESTAMP, ddl STRING",
    "TABLE_STORAGE": "project_id STRING, project_number INT64, table_catalog STRING, table_schema STRING, "
    "table_name STRING, creation_time TIMESTAMP, deleted BOOL, storage_last_modified_time TIMESTAMP, "
    "total_rows INT64, total_partitions INT64, total_logical_bytes INT64, active_logical_bytes INT64, "
    "long_term_logical_bytes INT64, total_physical_bytes INT64, active_physical_bytes INT64, "
    "long_term_physical_bytes INT64, time_travel_physical_bytes INT64, table_type STRING",
    "JOBS": "creation_time TIMESTAMP, project_id STRING, project_number INT64, user_email STRING, job_id STRING, "
    "job_type STRING, statement_type STRING, priority STRING, start_time TIMESTAMP, end_time TIMESTAMP, "
    "query STRING, state STRING, reservation_id STRING, total_bytes_processed INT64, total_slot_ms INT64, "
    "error_result STRUCT<reason STRING, location STRING, debug_info STRING, message STRING>, cache_hit BOOL, "
    "destination_table STRUCT<project_id STRING, dataset_id STRING, table_id STRING>, "
    "referenced_tables ARRAY<STRUCT<project_id STRING, dataset_id STRING, table_id STRING>>, "
    "labels ARRAY<STRUCT<key STRING, value STRING>>, total_bytes_billed INT64, parent_job_id STRING",
}
_INFORMATION_SCHEMA |= {
    f"JOBS_BY_{what}": _INFORMATION_SCHEMA["JOBS"] for what in ("PROJECT", "USER", "ORGANIZATION")
}


def information_schema_columns(view: str) -> tuple[tuple[str, str], ...] | None:
    """The columns of an INFORMATION_SCHEMA view, as (name, type); None when it is not known."""
    text = _INFORMATION_SCHEMA.get(view.upper())
    return None if text is None else _columns(text)


@cache
def _columns(text: str) -> tuple[tuple[str, str], ...]:
    """Split `a STRING, b STRUCT<c INT64, d INT64>` at the commas outside brackets."""
    columns, depth, begin = [], 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            name, _, type_name = text[begin:at].strip().partition(" ")
            columns.append((name, type_name))
            begin = at + 1
    return tuple(columns)


@cache
def base_catalog(dialect: str) -> bytes:
    """The part of every catalog that does not depend on tables: ZetaSQL's builtins and BigQuery's additions."""
    content = catalog.SimpleCatalogProto(name="headwater")
    content.builtin_function_options.language_options.CopyFrom(language_options(dialect))
    for name, kind in _ALIASES.items():
        content.named_type.add(name=name).type.type_kind = kind
    for name, kind in _FUNCTIONS.get(dialect, {}).items():
        function = content.custom_function.add(name_path=[name], group="BigQuery")
        function.mode = function_enums.FunctionEnums.SCALAR
        signature = function.signature.add()
        signature.return_type.kind = function_enums.ARG_TYPE_FIXED
        signature.return_type.type.type_kind = kind
        signature.return_type.num_occurrences = 1
        argument = signature.argument.add(kind=function_enums.ARG_TYPE_ARBITRARY, num_occurrences=-1)
        argument.options.cardinality = function_enums.FunctionEnums.REPEATED
    for name in _BY if dialect == "bigquery" else ():
        _add_by(content.custom_function.add(name_path=[name], group="BigQuery"))
    return bytes(content.SerializeToString())


def _add_by(function: Any) -> None:
    function.mode = function_enums.FunctionEnums.AGGREGATE
    signature = function.signature.add()
    signature.return_type.kind = function_enums.ARG_TYPE_ANY_1
    signature.return_type.num_occurrences = 1
    signature.argument.add(kind=function_enums.ARG_TYPE_ANY_1, num_occurrences=1)
    signature.argument.add(kind=function_enums.ARG_TYPE_ARBITRARY, num_occurrences=1)

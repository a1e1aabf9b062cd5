"""The language options of BigQuery and Spanner, and the options of ZetaSQL's analysis.
ZetaSQL marks each language feature as desirable or not and as finished or not. BigQuery gets the desirable, finished
ones, those it has although ZetaSQL still calls them unfinished, and the two it has although ZetaSQL would rather
not."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from headwater.zetasql.messages import language, options, service, types

_BIGQUERY_TOO = """
    ANONYMIZATION DIFFERENTIAL_PRIVACY DIFFERENTIAL_PRIVACY_MAX_ROWS_CONTRIBUTED
    DIFFERENTIAL_PRIVACY_MIN_PRIVACY_UNITS_PER_GROUP DIFFERENTIAL_PRIVACY_PUBLIC_GROUPS
    DIFFERENTIAL_PRIVACY_REPORT_FUNCTIONS DIFFERENTIAL_PRIVACY_THRESHOLDING
    CREATE_EXTERNAL_TABLE_WITH_PARTITION_COLUMNS CREATE_TABLE_CLONE CLONE_DATA ALTER_COLUMN_SET_DATA_TYPE
    ALTER_MATERIALIZED_VIEW_ALTER_COLUMN_SET_OPTIONS CREATE_VIEWS_WITH_COLUMN_OPTIONS
    INVERSE_TRIG_FUNCTIONS RADIANS_DEGREES_FUNCTIONS ADDITIONAL_DATE_TIME_FUNCTIONS
    ALIASES_FOR_STRING_AND_DATE_FUNCTIONS ENABLE_EDIT_DISTANCE_BYTES
    NON_SQL_PROCEDURE EXTERNAL_SECURITY_PROCEDURE
    COLLATION_SUPPORT COLLATION_IN_WITH_RECURSIVE COLLATION_IN_EXPLICIT_CAST
    LIKE_ANY_SOME_ALL_ARRAY LIKE_ANY_SOME_ALL_SUBQUERY JSON_SUBFIELDS_WITH_SET TO_JSON_UNSUPPORTED_FIELDS
    LIMIT_ALL STRUCT_BRACED_CONSTRUCTORS RELAXED_WITH_RECURSIVE WITH_GROUP_ROWS
"""
_REFUSED = "DISALLOW_PIVOT_AND_UNPIVOT_ON_ARRAY_SCANS TEST_IDEALLY_ENABLED_BUT_IN_DEVELOPMENT"
_NOT_IN_SPANNER = "ALLOW_DASHES_IN_TABLE_NAME"

_SYSTEM_VARIABLES: Mapping[str, int] = {
    "dataset_id": types.TYPE_STRING,
    "dataset_project_id": types.TYPE_STRING,
    "last_job_id": types.TYPE_STRING,
    "location": types.TYPE_STRING,
    "project_id": types.TYPE_STRING,
    "query_label": types.TYPE_STRING,
    "reservation": types.TYPE_STRING,
    "row_count": types.TYPE_INT64,
    "session_id": types.TYPE_STRING,
    "time_zone": types.TYPE_STRING,
    "script.bytes_billed": types.TYPE_INT64,
    "script.bytes_processed": types.TYPE_INT64,
    "script.creation_time": types.TYPE_TIMESTAMP,
    "script.job_id": types.TYPE_STRING,
    "script.num_child_jobs": types.TYPE_INT64,
    "script.slot_ms": types.TYPE_INT64,
    "error.message": types.TYPE_STRING,
    "error.formatted_stack_trace": types.TYPE_STRING,
    "error.statement_text": types.TYPE_STRING,
}


@cache
def language_options(dialect: str = "bigquery") -> Any:
    """The LanguageOptionsProto of `bigquery` or `spanner`. REQUIRES: the caller does not change it."""
    found = set()
    for value in language.DESCRIPTOR.enum_types_by_name["LanguageFeature"].values:
        traits = value.GetOptions().Extensions[language.language_feature_options]
        if traits.ideally_enabled and not traits.in_development and not value.name.startswith("__"):
            found.add(value.number)
    features = found | _numbers(_BIGQUERY_TOO)
    features -= _numbers(_REFUSED)
    if dialect == "spanner":
        features -= _numbers(_NOT_IN_SPANNER)
    return options.LanguageOptionsProto(
        name_resolution_mode=language.NAME_RESOLUTION_DEFAULT,
        product_mode=language.PRODUCT_EXTERNAL,
        enabled_language_features=sorted(features),
        reserved_keywords=["QUALIFY", "MATCH_RECOGNIZE"] if dialect == "bigquery" else [],
    )


@cache
def language_bytes(dialect: str = "bigquery") -> bytes:
    """The same, serialized: what parse requests carry."""
    return bytes(language_options(dialect).SerializeToString())


@cache
def analyzer_bytes(dialect: str = "bigquery", *, positional: bool = False) -> bytes:
    """The options part of an analyze request, serialized; it is appended to every request.
    Unused columns are pruned, errors are one line with line:column, parameters need no declaration (`positional`: `?`
    instead of `@name`), every node carries its place in the text, and nothing is rewritten, so that PIVOT and the
    like are seen as they were written."""
    request = service.AnalyzeRequest()
    chosen = request.options
    chosen.language_options.CopyFrom(language_options(dialect))
    chosen.prune_unused_columns = True
    chosen.error_message_mode = language.ERROR_MESSAGE_ONE_LINE
    chosen.allow_undeclared_parameters = True
    chosen.parameter_mode = language.PARAMETER_POSITIONAL if positional else language.PARAMETER_NAMED
    chosen.create_new_column_for_each_projected_output = True
    chosen.parse_location_record_type = language.PARSE_LOCATION_RECORD_FULL_NODE_SCOPE
    for name, kind in _SYSTEM_VARIABLES.items():
        variable = chosen.system_variables.add(name_path=name.split("."))
        variable.type.type_kind = kind
    # `PARTITION BY _PARTITIONDATE` in a CREATE TABLE names a column that no table declares
    for name, kind in (("_PARTITIONTIME", types.TYPE_TIMESTAMP), ("_PARTITIONDATE", types.TYPE_DATE)):
        chosen.ddl_pseudo_columns.add(name=name).type.type_kind = kind
    return bytes(request.SerializeToString())


def _numbers(names: str) -> set[int]:
    return {language.LanguageFeature.Value(f"FEATURE_{name}") for name in names.split()}

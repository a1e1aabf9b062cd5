"""Jobs by what people know: an application names its jobs after nodes of Spark's plans, which say nothing to them."""

import re

_JOB = re.compile(r"(?:(?P<namespace>.*)/)?(?P<owner>[^./]+)\.(?P<node>\w+)(?:\.(?P<dataset>[^/]+))?")
_READS = (
    r"adaptive_spark_plan|deserialize_to_object|serialize_from_object|(?:global|local|collect)_limit|project|filter"
    r"|take_ordered_and_project|(?:\w+_)?(?:aggregate|join|relation|scan|scan_exec)|sort|union|distinct|window"
    r"|map_(?:elements|partitions|in_pandas|in_arrow)|repartition\w*|subquery_alias|command_result|whole_stage_codegen"
)
_VERBS = (
    (r"append_data", "append to"),
    (r"overwrite_\w+", "overwrite"),
    (r"merge_into_\w+", "merge into"),
    (r"update_(?:table|command)", "update"),
    (r"delete_from_table|delete_command", "delete from"),
    (r"replace_data|write_delta", "change rows of"),
    (r"replace_table_as_select", "replace"),
    (r"(?:\w+_)?create_(?:\w+_)?table_as_select(?:_command)?|create_(?:data_source_)?table(?:_command)?", "create"),
    (r"create_view_command", "create view"),
    (r"load_data_command", "load into"),
    (r"(?:insert|save)_into_\w+|write_files\w*|write_to_\w+", "write to"),
    (rf"read_\w+|rdd_\w+|{_READS}", "read"),
)


def job_owner(job: str | None) -> str:
    """The application that a job is a part of, if it is named after a step of a plan; else the job.

    >>> job_owner("default/shop.read_deserialize_to_object.orders_csv"), job_owner("dbt/nightly.orders")
    ('shop', 'dbt/nightly.orders')
    """
    return _split(job)[0]


def job_title(job: str | None, dataset: str | None = None) -> str:
    """Say what a job does. `dataset` is what it reads or writes, where that is known better than by its name.

    >>> job_title("default/shop.append_data.bronze_orders", "bronze.orders")
    'shop: append to bronze.orders'
    >>> job_title("shop.adaptive_spark_plan"), job_title("etl.execute_insert_into_hadoop_fs_relation_command.lake_t")
    ('shop: read', 'etl: write to lake_t')
    >>> job_title("dbt/nightly.orders"), job_title(None)
    ('dbt/nightly.orders', '')
    """
    owner, verb, named = _split(job)
    return f"{owner}: {' '.join(each for each in (verb, dataset or named) if each)}" if verb else owner


def _split(job: str | None) -> tuple[str, str, str]:
    """The application, the verb and the dataset of a job; the job alone, if it has another kind of name."""
    found = _JOB.fullmatch(job or "")
    node = found["node"].removeprefix("execute_") if found else ""
    verb = next((verb for pattern, verb in _VERBS if re.fullmatch(pattern, node)), "")
    if not found or not verb:
        return job or "", "", ""
    return found["owner"], verb, found["dataset"] or ""

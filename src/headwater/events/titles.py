"""Titles of jobs. Integrations with Spark name a job `application.node.dataset` after a node of Catalyst's plan, such
as `shop.read_deserialize_to_object.items_csv`, which says nothing to people."""

import re

_NODE = (  # names of more than one word, which nobody gives a job
    r"\w+_(?:command|exec|plan|as_select|relation|limit|objects?|elements|partitions|groups|scan|stage|rdd|alias|result|cte)"
    r"|append_data|overwrite_\w+|write_(?:delta|files|to_\w+)|replace_data|whole_stage_codegen|take_ordered_and_project"
    r"|\w*hash_aggregate|sort_(?:aggregate|merge_join)|\w+_hash_join"
    r"|(?:merge_into|update|delete_from|create|drop|rename|replace|truncate|repair)_(?:\w+_)?(?:table|view|columns?)"
    r"|(?:add|alter|drop|set|unset)_(?:columns?|\w*constraint|table_\w+)"
)
_WORD = "aggregate|deduplicate|distinct|except|expand|filter|generate|intersect|join|offset|project|range|repartition"
_READ = f"{_WORD}|sample|sort|tail|union|window|query"
_JOB = re.compile(
    rf"(?:.*/)?(?P<owner>[^./]+)\.(?P<step>read_(?:{_READ}|{_NODE})|(?:execute_)?(?:{_NODE}))(?:\.(?P<name>.+))?"
)
_VERBS = (
    ("read_", "read"),
    (r"(?:add|alter|set|unset)_|\w+_columns?$|alter_table", "alter"),
    (r"create_\w*view", "create view"),
    ("drop_", "drop"),
    ("create_", "create table"),
    ("append_", "append to"),
    ("overwrite_", "overwrite"),
    ("merge_", "merge into"),
    ("update_", "update"),
    ("delete_", "delete from"),
    ("truncate_", "truncate"),
    ("replace_table", "replace table"),
    ("replace_", "replace rows of"),
    ("load_", "load into"),
    ("rename_", "rename"),
    (r"optimize_|\w+_optimize", "optimize"),
    (r"insert_|save_|write_|\w+_plan", "write to"),
    ("", "query"),
)


def job_owner(job: str | None) -> str:
    """The application that a job is a part of, if it is named after a node of a plan; else the job.

    >>> job_owner("default/shop.read_deserialize_to_object.orders_csv"), job_owner("dbt/nightly.orders")
    ('shop', 'dbt/nightly.orders')
    """
    found = _JOB.fullmatch(job or "")
    return found["owner"] if found is not None else job or ""


def job_title(job: str | None, dataset: str | None = None) -> str:
    """Say what a job does. `dataset` is what it reads or writes, where that is known better than by its name.

    >>> job_title("default/shop.append_data.bronze_orders", "bronze.orders")
    'shop: append to bronze.orders'
    >>> job_title("etl.execute_insert_into_hadoop_fs_relation_command.lake_t"), job_title("shop.adaptive_spark_plan")
    ('etl: write to lake_t', 'shop: write')
    >>> job_title("dbt/nightly.orders"), job_title(None)
    ('dbt/nightly.orders', '')
    """
    found = _JOB.fullmatch(job or "")
    if found is None:
        return job or ""
    step = found["step"].removeprefix("execute_")
    verb = next(words for begin, words in _VERBS if re.match(begin, step))
    name = dataset or found["name"]
    return f"{found['owner']}: {verb} {name}" if name else f"{found['owner']}: {verb.partition(' ')[0]}"

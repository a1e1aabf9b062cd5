"""Titles of jobs. Integrations with Spark name a job `application.node.dataset` after a node of Catalyst's plan, such
as `shop.read_deserialize_to_object.items_csv`, which says nothing to people."""

import re
from collections.abc import Iterable

_NODE = (  # names of more than one word, which nobody gives a job
    r"\w+_(?:command|exec|plan|as_select|relation|limit|objects?|elements|partitions|groups|scan|stage|rdd|alias|result|cte)"
    r"|append_data|overwrite_\w+|write_(?:delta|files|to_\w+)|replace_data|whole_stage_codegen|take_ordered_and_project"
    r"|\w*hash_aggregate|sort_(?:aggregate|merge_join)|\w+_hash_join"
    r"|(?:merge_into|update|delete_from|create|drop|rename|replace|truncate|repair)_(?:\w+_)?(?:table|view|columns?)"
    r"|(?:add|alter|drop|set|unset)_(?:columns?|\w*constraint|table_\w+)"
)
_WORD = "aggregate|deduplicate|distinct|except|expand|filter|generate|intersect|join|offset|project|range|repartition"
_READ = f"{_WORD}|sample|sort|tail|union|window|query"
_JOB = re.compile(rf"(?P<app>.+?)\.(?P<step>read_(?:{_READ}|{_NODE})|(?:execute_)?(?:{_NODE}))(?:\.(?P<name>.+))?")
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


def job_title(job: str, datasets: Iterable[str] = ()) -> str:
    """The name of a job; of one that is named after a node of a plan, its application and what it did. Datasets are
    those that it may name, for theirs are spelled with underscores there.

    >>> job_title("default/shop.append_data.bronze_order_items", ["bronze.order_items"])
    'default/shop · append to bronze.order_items'
    >>> job_title("shop.read_deserialize_to_object.items_csv", ["/raw/items.csv"]), job_title("nightly/export")
    ('shop · read items.csv', 'nightly/export')
    """
    found = _JOB.fullmatch(job)
    if found is None:
        return job
    step = found["step"].removeprefix("execute_")
    verb = next(words for begin, words in _VERBS if re.match(begin, step))
    spelled = _letters(found["name"] or "")
    names = [".".join(each.rsplit("/", 1)[-1].split(".")[-2:]) for each in datasets]
    name = next((each for each in names if _letters(each) == spelled), found["name"])
    return f"{found['app']} · {verb} {name}" if name else f"{found['app']} · {verb.partition(' ')[0]}"


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()

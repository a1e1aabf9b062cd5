"""The recipe of a commit made through Spark: the statement, or the plan of a DataFrame written back as one."""

import re
from typing import Any

from pyspark import SparkContext

from headwater.lake.metadata.snapshot import FileVersion, Recipe
from headwater.query.recipes import MASKED, file_versions, masked_sql
from headwater.spark.agent.execution import SparkSQLExecutionContext
from headwater.spark.plan.written_query import written_query

_SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")
_WRITES = re.compile(r"\s*(insert|merge|update|delete|create|replace|with\b.*\binsert)\b", re.IGNORECASE | re.DOTALL)
_OVERWRITES = ("OverwriteByExpression", "OverwritePartitionsDynamic")
_FILES = re.compile(r"\b(?:csv|parquet)\.`([^`]+)`")


def recipe_of(context: SparkContext, run: SparkSQLExecutionContext, execution: Any, target: str | None) -> Recipe:
    """Return what it takes to run an execution again that wrote a table, or why that cannot be."""
    try:
        return _recipe(context, run, execution, target)
    except Exception as err:  # a commit keeps its lineage, whatever becomes of its recipe
        return Recipe(engine="spark", reason=f"its plan cannot be read: {type(err).__name__}: {str(err)[:100]}")


def _recipe(context: SparkContext, run: SparkSQLExecutionContext, execution: Any, target: str | None) -> Recipe:
    session = execution.sparkSession()
    settings = {name: str(session.conf().get(name)) for name in _SETTINGS}
    database = str(session.catalog().currentDatabase())
    text, reason = run.sql, None
    if text is None or _WRITES.match(text) is None:
        query, reason = written_query(context, execution.analyzed())
        text = None if query is None or target is None else f"{_verb(execution.analyzed())} {target} {query}"
    plain: str | None = None
    files: tuple[FileVersion, ...] = ()
    if text is not None:
        plain, is_masked = masked_sql(text, double=True)
        reason = MASKED if is_masked else reason
        files = tuple(each for path in _FILES.findall(plain) for each in file_versions(path))
    return Recipe(
        engine="spark",
        sql=plain,
        database=database,
        settings=settings,
        files=files,
        place=_place(run),
        reason=reason,
    )


def _place(run: SparkSQLExecutionContext) -> str | None:
    """The file and line of the program that ran a query, where Spark knows them."""
    places = (node.origin for plan in run.plans for node in plan.root.walk())
    return next((str(place["at"]) for place in places if place is not None and "at" in place), None)


def _verb(plan: Any) -> str:
    return "INSERT OVERWRITE" if str(plan.nodeName()) in _OVERWRITES else "INSERT INTO"

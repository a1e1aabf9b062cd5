"""Lineage without running: of a DataFrame that was only built, of SQL that was only written."""

from typing import Any, cast

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headwater.errors import SqlError, UsageError
from headwater.lineage.result import AnalyzeResult
from headwater.lineage.statement import renamed
from headwater.model.names import parse_table_name
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.options import AgentOptions
from headwater.spark.agent.plan_reader import PlanLineage, PlanReader


def lineage(df: DataFrame, *, output: str | None = None, literals: bool = False) -> AnalyzeResult:
    """Return where the columns of a DataFrame come from. Nothing is executed.

    `output` names the table they are meant for. Literal values are shown as `?` unless `literals` is given.

    RAISES: UsageError for a DataFrame of Spark Connect, whose plan lives elsewhere.
    """
    if not hasattr(df, "_jdf"):
        raise UsageError(
            "the plan of a Spark Connect DataFrame is not in this process",
            hint="observe the server's session, or use a classic session",
        )
    found = _read(df.sparkSession, df._jdf.queryExecution().analyzed(), literals)
    return _result(found, output)


def explain_lineage(
    spark: SparkSession, sql: str, *, output: str | None = None, literals: bool = False
) -> AnalyzeResult:
    """The lineage of one SQL statement, commands too, as this session understands it. Nothing is executed.

    RAISES: SqlError when Spark does not understand the statement.
    """
    session, jvm = spark._jsparkSession, cast(Any, spark.sparkContext._jvm)
    try:
        plan = session.sessionState().sqlParser().parsePlan(sql)
        skip = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        analyzed = session.sessionState().executePlan(plan, skip).analyzed()
    except (Py4JError, PySparkException) as err:
        said = next((line for line in str(err).splitlines() if line.strip()), type(err).__name__)
        raise SqlError(f"Spark does not understand the statement: {said}") from err
    return _result(_read(spark, analyzed, literals), output)


def _read(spark: SparkSession, plan: Any, literals: bool) -> PlanLineage:
    context = OpenLineageContext(spark._jsparkSession, spark.sparkContext, AgentOptions(literals=literals))
    reader = PlanReader(context)
    return reader.read(reader.dump(plan))


def _result(found: PlanLineage, output: str | None) -> AnalyzeResult:
    statements = found.statements
    if output is not None:
        table = parse_table_name(output)
        statements = tuple(each if each.target is not None else renamed(each, table) for each in statements)
    return AnalyzeResult(statements, (*found.issues, *found.notes))

"""Write docs/reference/spark-commands.md: every command of this Spark, and what the agent makes of it.

The classes are those in Spark's own jars, asked of the JVM; what the agent knows follows from its visitors. It needs
a Spark, so it is not part of `docs/generate.py`; a test holds the page up to date for the newest supported Spark.
"""

import re
import zipfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from headwater.spark.agent.datasets import PlanOutput
from headwater.spark.agent.visitors.catalog import builder_classes, visitor_classes

PAGE = Path(__file__).parent / "reference" / "spark-commands.md"
_COMMAND = "org.apache.spark.sql.catalyst.plans.logical.Command"
_PLACES = re.compile(r"org/apache/spark/sql/(execution/(command|datasources)|hive/execution|catalyst/plans/logical)/")

# commands that write the columns of a query, or change rows: these have column lineage
COLUMNS = """
    AlterViewAsCommand AppendData CacheTableAsSelect CreateDataSourceTableAsSelectCommand
    CreateHiveTableAsSelectCommand CreateTableAsSelect CreateViewCommand DeleteFromTable InsertIntoDataSourceCommand
    InsertIntoDataSourceDirCommand InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand InsertIntoHiveTable
    MergeIntoTable OverwriteByExpression OverwritePartitionsDynamic ReplaceData ReplaceTableAsSelect
    SaveAsV1TableCommand SaveIntoDataSourceCommand UpdateTable WriteDelta
"""
# forms that the analyzer replaces, or that only the optimizer makes: the agent meets another one
NOT_MET = """
    AlterViewAs AlterViewSchemaBinding AnalyzeColumn AnalyzeTable AnalyzeTables CreateTableLike CreateView
    DeleteFromTableWithFilters InsertOnlyMerge LoadData RefreshTable SetViewProperties UnsetViewProperties
"""
# commands without a visitor of their own: what they read is the plan below them, or the queries they run
READ_BELOW = "AnalyzeTablesCommand CacheTable"
# only the runner of a declared pipeline takes them; what its flows read and write is reported as they run
PIPELINES = """
    CreateFlowCommand CreateMaterializedViewAsSelect CreateStreamingTable CreateStreamingTableAsSelect
    CreateStreamingTableAutoCdc
"""
TESTS = {
    "test_commands.py": """
        AlterTableAddColumnsCommand AlterTableAddPartitionCommand AlterTableDropPartitionCommand
        AlterTableRenameCommand AlterTableRenamePartitionCommand AlterTableSetPropertiesCommand
        AlterTableUnsetPropertiesCommand AlterTableChangeColumnCommand AlterTableSetLocationCommand
        AlterViewAsCommand AlterViewSchemaBindingCommand AnalyzeColumnCommand AnalyzeTablesCommand
        CreateMetricViewCommand CreateTempViewUsing RefreshResource AnalyzeTableCommand CacheTableAsSelect
        CommentOnTable
        CreateDataSourceTableAsSelectCommand CreateDataSourceTableCommand CreateHiveTableAsSelectCommand
        CreateTableLikeCommand CreateViewCommand DropTable DropTableCommand InsertIntoDataSourceDirCommand
        InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand InsertIntoHiveTable LoadDataCommand
        RefreshTableCommand RepairTableCommand SaveAsV1TableCommand TruncateTableCommand
    """,
    "test_jdbc.py": """
        AddColumns AppendData CreateTable CreateTableAsSelect DeleteFromTable InsertIntoDataSourceCommand
        MergeIntoTable SaveIntoDataSourceCommand UpdateTable
    """,
    "test_lake_tables.py": """
        AlterColumns CacheTable DropColumns OverwriteByExpression OverwritePartitionsDynamic RenameColumn RenameTable
        ReplaceTable ReplaceTableAsSelect SetTableProperties TruncateTable UncacheTable UnsetTableProperties
        WriteDelta
    """,
}
_ABOUT_NO_DATA = re.compile(
    r"Show|Describe|Explain|Set(Catalog|Command|Path|Variable|Namespace)|Reset|Add(Archives|Files|Jars)|List|Use|"
    r"Function|Namespace|Database|Variable|Cursor|Compound|Noop|Procedure|External|StreamingExplain|Uncache|"
    r"RefreshResource|CreateTempViewUsing"
)


def command_classes(spark: SparkSession) -> list[str]:
    """The simple names of all commands in Spark's jars."""
    jvm: Any = spark.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    command = jvm.java.lang.Class.forName(_COMMAND)
    found = set()
    for jar in (Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"):
        for name in zipfile.ZipFile(jar).namelist():
            if not _PLACES.match(name) or not name.endswith(".class") or "$" in name:
                continue
            kind = jvm.java.lang.Class.forName(name.removesuffix(".class").replace("/", "."), False, loader)
            if command.isAssignableFrom(kind) and not jvm.java.lang.reflect.Modifier.isAbstract(kind.getModifiers()):
                found.add(str(kind.getSimpleName()))
    return sorted(found)


def page(spark: SparkSession) -> str:
    """The page for a Spark."""
    version = ".".join(spark.version.split(".")[:2])
    outputs = {
        name
        for visitor in (*visitor_classes(), *builder_classes())
        if visitor.makes is PlanOutput
        for name in visitor.nodes
    }
    inputs = {
        name
        for visitor in (*visitor_classes(), *builder_classes())
        if visitor.makes is not PlanOutput
        for name in visitor.nodes
    }
    tested = {name: test for test, names in TESTS.items() for name in names.split()}
    lines = [
        "# Commands of Spark",
        "<!-- Written by docs/spark_commands.py from the code and Spark's jars: change it there. -->\n",
        f"Every command class in the jars of Spark {version}, and what the agent reports of it. Plans that are no",
        "commands (queries, `collect`, `count`) are reported with what they read. *columns*: the run has column",
        "lineage. *tested by*: a file in `tests/spark/agent`; where it is empty, no test runs that command.\n",
        "| command | datasets | columns | tested by |",
        "|---|---|---|---|",
    ]
    for name in command_classes(spark):
        datasets = " and ".join(
            word for word, names in (("reads", inputs), ("writes or changes", outputs)) if name in names
        )
        if not datasets and name in READ_BELOW.split():
            datasets = "reads"
        if not datasets and name in PIPELINES.split():
            datasets = "none: it declares a part of a pipeline"
        if not datasets:
            datasets = "none: it is not about data" if _ABOUT_NO_DATA.search(name) else "**not read**"
            datasets = "another command runs in its place" if name in NOT_MET.split() else datasets
        columns = "yes" if name in COLUMNS.split() else ""
        lines.append(f"| `{name}` | {datasets} | {columns} | {tested.get(name, '')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    PAGE.write_text(page(session), encoding="utf-8")
    session.stop()

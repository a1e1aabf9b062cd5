"""Write docs/reference/spark-commands.md: every command of this Spark, and what the agent makes of it.

The classes are those in Spark's own jars, asked of the JVM; what the agent knows follows from its visitors. It needs
a Spark, so it is not part of `docs/generate.py`; a test holds the page up to date for the newest supported Spark.
The second table is what docs/spark_matrix.py has found by running commands on every release of Spark.
"""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from headwater.spark.agent.datasets import PlanOutput
from headwater.spark.agent.visitors.catalog import builder_classes, visitor_classes

PAGE = Path(__file__).parent / "reference" / "spark-commands.md"
MATRIX = Path(__file__).parent / "spark-matrix.json"
_COMMAND = "org.apache.spark.sql.catalyst.plans.logical.Command"
_PLACES = re.compile(r"org/apache/spark/sql/(execution/(command|datasources)|hive/execution|catalyst/plans/logical)/")

# commands that write the columns of a query, or change rows: these have column lineage
COLUMNS = """
    AlterViewAsCommand AppendData CacheTableAsSelect CreateDataSourceTableAsSelectCommand
    CreateHiveTableAsSelectCommand CreateTableAsSelect CreateViewCommand DeleteFromTable InsertIntoDataSourceCommand
    InsertIntoDataSourceDirCommand InsertIntoHadoopFsRelationCommand InsertIntoHiveDirCommand InsertIntoHiveTable
    InsertOnlyMerge
    MergeIntoTable OverwriteByExpression OverwritePartitionsDynamic ReplaceData ReplaceTableAsSelect
    SaveAsV1TableCommand SaveIntoDataSourceCommand UpdateTable WriteDelta
"""
# forms that the analyzer replaces, or that only the optimizer makes: the agent meets another one
NOT_MET = """
    AlterViewAs AlterViewSchemaBinding AnalyzeColumn AnalyzeTable AnalyzeTables CreateTableLike CreateView
    DeleteFromTableWithFilters LoadData RefreshTable SetViewProperties UnsetViewProperties
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


_LETTERS = {"datasets": "d", "columns": "c", "version": "v", "rows": "r"}


def cell(found: dict[str, str] | str | None) -> str:
    """What was found of one command on one format and release, in a few signs."""
    if found is None or isinstance(found, str):
        return found or "not run"
    if found["datasets"] in ("not supported", "did not run", "no event"):
        return found["datasets"]
    right = [letter for fact, letter in _LETTERS.items() if found[fact] == "right"]
    bad = [f"**{found[fact].split(':')[0]} {fact}**" for fact in _LETTERS if found[fact] not in ("right", "-")]
    return " ".join([*right, *bad])


def matrix() -> list[str]:
    """The table of what was found by running."""
    found = json.loads(MATRIX.read_text(encoding="utf-8"))
    formats = list(dict.fromkeys(name for release in found.values() for name in release))
    lines = [
        "\n## Seen by running\n",
        "`docs/spark_matrix.py` runs these statements on each release of Spark and compares the event with what must",
        "be in it. A cell says what was right: **d** the datasets that are read and written, **c** the columns,",
        "**v** the version of the table, **r** the rows; what is missing or wrong is named. A letter that is not",
        "there has no meaning for the command. *not supported*: Spark or the format refuses the statement; *no",
        "release*: there is none of that format for that Spark, or none could be had; *did not start*: the release",
        "of the format that there is fails on that Spark before the first statement.\n",
        f"| format | command | {' | '.join(found)} |",
        f"|---|---|{'---|' * len(found)}",
    ]
    for name in formats:
        rows = [release.get(name, "not run") for release in found.values()]
        commands = next((list(row) for row in rows if isinstance(row, dict)), ["all"])
        for command in commands:
            cells = [cell(row if isinstance(row, str) else row.get(command)) for row in rows]
            lines.append(f"| {name} | {command} | {' | '.join(cells)} |")
    return lines


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
    return "\n".join([*lines, *matrix()]) + "\n"


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    PAGE.write_text(page(session), encoding="utf-8")
    session.stop()

"""Visitors of the commands that write rows to files, Hive, JDBC and other sources of the first generation."""

from typing import Any, Literal

from headwater.spark.agent import tables
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.described import describe, described_field
from headwater.spark.agent.scala import class_name, lookup, option
from headwater.spark.agent.visitors.inputs import format_name
from headwater.spark.agent.visitors.visitor import QueryPlanVisitor, register, visits
from headwater.spark.plan.node import PlanNode


def query_of(node: PlanNode) -> PlanNode | None:
    """Return what a command writes: its child, or the field `query` where Spark keeps it off the tree."""
    query = node.get("query")
    return query if isinstance(query, PlanNode) else node.children[0] if node.children else None


def change_of_mode(mode: object) -> str | None:
    """Return what a save mode does to the dataset itself."""
    return {"Overwrite": "OVERWRITE", "ErrorIfExists": "CREATE", "Ignore": "CREATE"}.get(str(mode))


def _names(node: PlanNode) -> tuple[str, ...] | None:
    names = node.get("outputColumnNames")
    return tuple(names) if isinstance(names, list) else None


@register
class InsertIntoHadoopFsRelationVisitor(QueryPlanVisitor[Literal["InsertIntoHadoopFsRelationCommand"], PlanOutput]):
    """Files written to a folder, or to a table that is one."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        table = described_field(self.context, node, "catalogTable")
        if table is not None:
            dataset = tables.catalog_table(self.context, table)
        else:
            format = node.get("fileFormat") or {"kind": class_name(node.jvm.fileFormat())}
            (dataset,) = tables.file_dataset([node.get("outputPath")], format=format_name(format["kind"]))
        change = "OVERWRITE" if node.get("mode") == "Overwrite" else None
        return [PlanOutput(dataset, node, query_of(node), _names(node), change)]


@register
class InsertIntoHiveTableVisitor(QueryPlanVisitor[Literal["InsertIntoHiveTable"], PlanOutput]):
    """Rows written to a Hive table by Hive's own writers."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        table = described_field(self.context, node, "table")
        change = "OVERWRITE" if node.get("overwrite") else None
        dataset = tables.catalog_table(self.context, table) if table is not None else None
        return [] if dataset is None else [PlanOutput(dataset, node, query_of(node), _names(node), change)]


@register
class CreateTableAsSelectVisitor(
    QueryPlanVisitor[
        Literal[
            "CreateDataSourceTableAsSelectCommand",
            "CreateHiveTableAsSelectCommand",
            "CreateHoodieTableAsSelectCommand",
            "OptimizedCreateHiveTableAsSelectCommand",
            "SaveAsV1TableCommand",
        ],
        PlanOutput,
    ]
):
    """CREATE TABLE … AS SELECT in the session catalog, and `saveAsTable`."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        table = described_field(self.context, node, "tableDesc" if "tableDesc" in node.fields else "table")
        if table is None:
            return []
        dataset = tables.catalog_table(self.context, table)
        mode = node.get("mode")
        change = None if mode == "Append" else "OVERWRITE" if mode == "Overwrite" else "CREATE"
        return [PlanOutput(dataset, node, query_of(node), _names(node), change, statement="CREATE_TABLE_AS_SELECT")]


@register
class SaveIntoDataSourceCommandVisitor(QueryPlanVisitor[Literal["SaveIntoDataSourceCommand"], PlanOutput]):
    """`df.write.format(…).save()` to a source that saves by itself: JDBC, Kafka, a connector."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        live = node.jvm
        options, source = live.options(), class_name(live.dataSource())
        dataset = saved_dataset(source, lambda name: lookup(options, name))
        change = None if dataset.layer == "kafka" else change_of_mode(node.get("mode"))  # a topic is appended to
        return [PlanOutput(dataset, node, query_of(node), None, change)]


def saved_dataset(source: str, option_of: Any) -> PlanDataset:
    """The dataset that a source's options name."""
    if option_of("url") and option_of("dbtable"):
        return tables.jdbc_dataset(option_of("url"), option_of("dbtable"))
    if option_of("kafka.bootstrap.servers"):
        return tables.kafka_dataset(option_of("kafka.bootstrap.servers"), option_of("topic") or "?")
    if option_of("path"):
        if source.startswith("Delta"):
            return tables.delta_dataset(option_of("path"))
        return tables.file_dataset([option_of("path")])[0]
    return tables.temporary_view(source)


@visits("InsertIntoDataSourceCommand", "InsertIntoHoodieTableCommand")
def insert_into_data_source(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """INSERT INTO a table of a source that inserts by itself, such as JDBC and Hudi."""
    relation = node.jvm.logicalRelation()
    table = option(relation.catalogTable())
    dataset = tables.temporary_view(class_name(relation.relation()))
    if table is not None:
        dataset = tables.catalog_table(context, describe(context, table))
    elif class_name(relation.relation()) == "JDBCRelation":
        options = relation.relation().jdbcOptions()
        dataset = tables.jdbc_dataset(str(options.url()), str(options.tableOrQuery()))
    names = tuple(str(field.name()) for field in relation.schema().fields())
    names = tuple(name for name in names if not name.startswith("_hoodie_"))  # which Hudi fills itself
    change = "OVERWRITE" if node.get("overwrite") else None
    return [PlanOutput(dataset, node, query_of(node), names, change)]


@visits("InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand", "InsertIntoDir")
def insert_into_directory(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """INSERT OVERWRITE DIRECTORY."""
    location = option(node.jvm.storage().locationUri())
    if location is None:
        return []
    format = node.get("provider") if isinstance(node.get("provider"), str) else "hive"
    (dataset,) = tables.file_dataset([str(location.toString())], format=format)
    change = "OVERWRITE" if node.get("overwrite") else None
    return [PlanOutput(dataset, node, query_of(node), None, change)]


@register
class LoadDataCommandVisitor(QueryPlanVisitor[Literal["LoadDataCommand"], PlanOutput]):
    """LOAD DATA INPATH … INTO TABLE: the table."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        dataset = tables.named_table(self.context, node.get("table")["table"])
        change = "OVERWRITE" if node.get("isOverwrite") else None
        return [PlanOutput(dataset, node, change=change, statement="LOAD")]


@visits("LoadDataCommand", makes=PlanDataset)
def load_data_input(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """LOAD DATA INPATH … INTO TABLE: the files."""
    return tables.file_dataset([node.get("path")])

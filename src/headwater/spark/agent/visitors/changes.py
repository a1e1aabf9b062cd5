"""Visitors of commands that change a dataset itself: create, rename, alter, truncate, drop, view, cache."""

from typing import Literal

from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.described import described_field
from headwater.spark.agent.tables import catalog_table, last_known, named_table, named_view, temporary_view
from headwater.spark.agent.visitors.visitor import QueryPlanVisitor, register, visits
from headwater.spark.plan.node import PlanNode

_TABLE_FIELDS = ("table", "tableName", "tableIdent", "name", "targetTable", "view", "viewName", "tableIdentifier")


def table_field(node: PlanNode) -> list[str]:
    """The table that a command is about, whatever its field is called."""
    for field in _TABLE_FIELDS:
        value = node.get(field)
        if isinstance(value, dict) and "table" in value:
            return list(value["table"])
    return []


def changed(context: OpenLineageContext, node: PlanNode, change: str) -> list[PlanOutput]:
    """The table that a command names, with what happens to it."""
    parts = table_field(node)
    if not parts:
        return []
    dataset = last_known(context, named_table(context, parts))
    return [PlanOutput(dataset, node, change=change, statement=change)]


@visits("CreateDataSourceTableCommand", "CreateHoodieTableCommand", "CreateTableCommand")
def create_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """CREATE TABLE without rows."""
    table = described_field(context, node, "table")
    if table is None:
        return []
    return [PlanOutput(catalog_table(context, table), node, change="CREATE", statement="CREATE")]


@visits("CreateTableLikeCommand", makes=PlanDataset)
def create_table_like_input(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """CREATE TABLE … LIKE: the table whose columns it takes."""
    return [named_table(context, node.get("sourceTable")["table"])]


@register
class DropTableCommandVisitor(QueryPlanVisitor[Literal["DropTableCommand"], PlanOutput]):
    """DROP TABLE and DROP VIEW in the session catalog."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        if node.get("isView"):
            view = named_view(self.context, table_field(node))
            return [PlanOutput(view, node, change="DROP", statement="DROP")]
        return changed(self.context, node, "DROP")


@visits("DropTempViewCommand", "DropTempView")
def drop_temp_view(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """DROP VIEW of a temporary view."""
    parts = table_field(node) or ["?"]
    return [PlanOutput(temporary_view(parts[-1]), node, change="DROP", statement="DROP")]


@register
class AlterTableRenameCommandVisitor(QueryPlanVisitor[Literal["AlterTableRenameCommand"], PlanOutput]):
    """ALTER TABLE … RENAME TO: the new name, which points back at the old one."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        old, new = node.get("oldName")["table"], node.get("newName")["table"]
        if len(new) == 1:
            new = [*old[:-1], *new]
        before = named_table(self.context, old)
        after = named_table(self.context, new)
        return [PlanOutput(after, node, change="RENAME", previous=before.name, statement="RENAME")]


@visits("AlterTableRenameCommand", makes=PlanDataset)
def renamed_input(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """ALTER TABLE … RENAME TO: the old name."""
    return [named_table(context, node.get("oldName")["table"])]


@visits(
    *("AlterTableAddColumnsCommand", "AlterTableAddPartitionCommand", "AlterTableChangeColumnCommand"),
    *("AlterTableDropPartitionCommand", "AlterTableRenamePartitionCommand", "AlterTableSerDePropertiesCommand"),
    *("AlterTableSetLocationCommand", "AlterTableSetPropertiesCommand", "AlterTableUnsetPropertiesCommand"),
    *("AlterTableChangeColumnCommentsCommand", "AlterViewSchemaBindingCommand", "RepairTableCommand"),
    *("CreateTableLikeCommand", "TruncateTableCommand"),
    *("AlterHoodieTableAddColumnsCommand", "TruncateHoodieTableCommand"),
)
def alter_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """ALTER TABLE, MSCK REPAIR and TRUNCATE in the session catalog; the new table of CREATE TABLE … LIKE."""
    changes = {"CreateTableLikeCommand": "CREATE"}
    change = "TRUNCATE" if node.name.startswith("Truncate") else changes.get(node.name, "ALTER")
    return changed(context, node, change)


@register
class CreateViewVisitor(QueryPlanVisitor[Literal["CreateViewCommand", "AlterViewAsCommand"], PlanOutput]):
    """CREATE VIEW, `createOrReplaceTempView`: a view is made of columns like a table."""

    def apply(self, node: PlanNode) -> list[PlanOutput]:
        parts = table_field(node)
        kind = (node.get("viewType") or {}).get("kind", "")
        dataset = temporary_view(parts[-1]) if "Temp" in kind else named_view(self.context, parts)
        query = node.get("plan") or node.get("query")
        given = [each[0] for each in node.get("userSpecifiedColumns") or ()]
        change = "ALTER" if node.name == "AlterViewAsCommand" else "CREATE"
        columns = tuple(given) or None
        return [PlanOutput(dataset, node, query, columns, change, statement="CREATE_VIEW")]


@visits("CacheTableAsSelect")
def cache_table_as_select(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """CACHE TABLE … AS SELECT: a temporary view that is kept in memory."""
    name = str(node.jvm.tempViewName())
    dataset = temporary_view(name.rsplit(".", 1)[-1].strip("`"))
    return [PlanOutput(dataset, node, node.get("plan"), change="CREATE", statement="CACHE")]


@visits(
    *("RefreshTableCommand", "AnalyzeTableCommand", "AnalyzeColumnCommand", "AnalyzePartitionCommand"),
    makes=PlanDataset,
)
def looked_at(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """REFRESH TABLE and ANALYZE TABLE only look."""
    return [named_table(context, table_field(node))]

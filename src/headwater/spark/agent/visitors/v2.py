"""Builders and visitors for catalogs and sources of the second generation: the whole plan is needed to name them."""

from py4j.protocol import Py4JError

from headwater.spark.agent import tables
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.scala import option
from headwater.spark.agent.visitors import inputs
from headwater.spark.agent.visitors.outputs import query_of
from headwater.spark.agent.visitors.visitor import DatasetBuilder, NodesOfBuilder, register_builder, visits
from headwater.spark.plan.node import PlanNode


def relation_of(context: OpenLineageContext, node: PlanNode | None) -> PlanDataset | None:
    """The table behind the relation that a command writes to, through aliases and views.

    It is asked of its catalog anew: the relation in the plan knows the table as it was before.
    """
    for each in node.walk() if node is not None else ():
        if each.name == "DataSourceV2Relation":
            live = each.jvm
            catalog, identifier = option(live.catalog()), option(live.identifier())
            if catalog is not None and identifier is not None:
                try:
                    return inputs.relation_table(context, each, live, catalog.loadTable(identifier))
                except Exception:  # it is gone: what the plan knows must do
                    break
    second = NodesOfBuilder(inputs.DataSourceV2RelationInputOnStartDatasetBuilder(context))
    for visitor in (second, inputs.LogicalRelationDatasetBuilder(context)):
        for each in node.walk() if node is not None else ():
            if visitor.is_defined_at(each):
                return visitor.apply(each)[0]
    return None


def identified(context: OpenLineageContext, node: PlanNode) -> PlanDataset | None:
    """The table that a command of the second generation names, whether or not it exists yet."""
    name = node.get("name") if isinstance(node.get("name"), PlanNode) else node.children[0] if node.children else None
    if name is None:
        return None
    if name.name in ("ResolvedIdentifier", "ResolvedPersistentView"):
        return _by_identifier(context, name)
    return relation_of(context, name)


def _by_identifier(context: OpenLineageContext, name: PlanNode) -> PlanDataset:
    catalog, parts = name.get("catalog"), name.get("identifier")["table"]
    if catalog == tables.SESSION_CATALOG:
        return tables.named_table(context, parts)
    live = name.jvm
    try:  # after the fact the catalog knows the table, with its address and version
        table = live.catalog().loadTable(live.identifier())
        return tables.v2_table(context, table, catalog=catalog, parts=parts)
    except Exception:  # before the fact, or after a drop, there is only the name
        return tables.catalog_name(context, catalog, parts)


@register_builder
class AppendDataDatasetBuilder(DatasetBuilder[PlanOutput]):
    """INSERT INTO, INSERT OVERWRITE and row-level changes of tables of the second generation."""

    nodes = frozenset(
        {"AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic", "ReplaceData", "WriteDelta"}
        | {"InsertOnlyMerge"}  # from Spark 4.3 on, a MERGE that changes no row; before, it was AppendData
    )

    def build(self, node: PlanNode) -> list[PlanOutput]:
        table = node.get("originalTable") or node.get("table")
        dataset = relation_of(self.context, table)
        if dataset is None:
            return []
        change = "OVERWRITE" if node.name.startswith("Overwrite") else None
        statement = "MERGE" if node.name == "InsertOnlyMerge" else "INSERT"
        if node.name in ("ReplaceData", "WriteDelta"):
            statement = _row_level_command(node)
        return [PlanOutput(dataset, node, query_of(node), None, change, statement=statement)]


def _row_level_command(node: PlanNode) -> str:
    """MERGE, UPDATE or DELETE: Spark rewrites all three to the same operators, which know what they were."""
    try:
        return str(node.jvm.operation().command().toString())
    except Py4JError:  # a Spark that keeps it elsewhere
        return "MERGE"


@register_builder
class MergeIntoCommandOutputDatasetBuilder(DatasetBuilder[PlanOutput]):
    """The table that MERGE changes, where the plan has it as it was written; `MergeIntoCommand` is Delta Lake's."""

    nodes = frozenset({"MergeIntoTable", "MergeIntoCommand"})

    def build(self, node: PlanNode) -> list[PlanOutput]:
        return _row_level(self.context, node, "MERGE")


@register_builder
class MergeIntoCommandInputDatasetBuilder(DatasetBuilder[PlanDataset]):
    """The table that MERGE takes its rows from."""

    nodes = MergeIntoCommandOutputDatasetBuilder.nodes

    def build(self, node: PlanNode) -> list[PlanDataset]:
        given = [value for name in ("sourceTable", "source") if isinstance(value := node.get(name), PlanNode)]
        source = given[0] if given else node.children[1] if len(node.children) > 1 else None
        dataset = relation_of(self.context, source)
        return [] if dataset is None else [dataset]


@visits("UpdateTable", "DeleteFromTable", "UpdateCommand", "DeleteCommand")
def update_or_delete(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """UPDATE and DELETE as they were written; the last two are Delta Lake's."""
    return _row_level(context, node, "UPDATE" if node.name.startswith("Update") else "DELETE")


def _row_level(context: OpenLineageContext, node: PlanNode, statement: str) -> list[PlanOutput]:
    target = node.get("target")
    dataset = relation_of(context, target if isinstance(target, PlanNode) else node.children[0])
    return [] if dataset is None else [PlanOutput(dataset, node, statement=statement)]


@register_builder
class CreateReplaceDatasetBuilder(DatasetBuilder[PlanOutput]):
    """CREATE and REPLACE TABLE, with or without AS SELECT, in another catalog."""

    nodes = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect", "CreateTable", "ReplaceTable", "CreateV2Table"})

    def build(self, node: PlanNode) -> list[PlanOutput]:
        dataset = identified(self.context, node)
        if dataset is None:
            return []
        query = node.get("query")
        if not isinstance(query, PlanNode):  # then it is among the children; the other child is the name
            children = node.children if node.name.endswith("AsSelect") else ()
            query = next((child for child in children if not child.name.startswith("Resolved")), None)
        change = "OVERWRITE" if node.name.startswith("Replace") else "CREATE"
        statement = "CREATE_TABLE_AS_SELECT" if query is not None else "CREATE"
        return [PlanOutput(dataset, node, query, None, change, statement=statement)]


@visits("DropTable", "DropView")
def drop_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """DROP TABLE in any catalog."""
    return _changed(context, node, "DROP")


@visits("CreateMetricViewCommand")
def create_metric_view(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """CREATE VIEW … WITH METRICS: what it measures is in a text that Spark reads when the view is used."""
    identifier = node.children[0].get("identifier") if node.children else None
    if not isinstance(identifier, dict):
        return []
    view = tables.named_view(context, identifier["table"])
    return [PlanOutput(view, node, change="CREATE", statement="CREATE_VIEW")]


@visits("RenameTable")
def rename_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    before = identified(context, node)
    new = node.get("newName")
    if before is None or not isinstance(new, list):
        return []
    parts = list(before.table.parts[: -len(new)]) + [str(part) for part in new]
    after = tables.named_table(context, parts)
    return [PlanOutput(after, node, change="RENAME", previous=before.name, statement="RENAME")]


@visits("RenameTable", makes=PlanDataset)
def renamed_table_input(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    before = identified(context, node)
    return [] if before is None else [before]


@visits(
    *("AddColumns", "ReplaceColumns", "DropColumns", "RenameColumn", "AlterColumns", "AlterColumn", "CommentOnTable"),
    *("SetTableProperties", "UnsetTableProperties", "SetTableLocation", "AlterTableCollation", "AlterTableClusterBy"),
    *("AddPartitions", "DropPartitions", "RenamePartitions", "RecoverPartitions", "RepairTable"),
    *("AddCheckConstraint", "AddConstraint", "DropConstraint", "SetTableSerDeProperties", "CreateIndex", "DropIndex"),
    *("AlterTableAddConstraint", "AlterTableDropConstraint", "AlterTableDropFeature", "OptimizeTableCommand"),
    *("TruncateTable", "TruncatePartition", "TruncateDeltaTableCommand"),
)
def alter_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """The ALTER TABLE family, COMMENT ON TABLE and TRUNCATE, in any catalog; OPTIMIZE of Delta Lake."""
    return _changed(context, node, "TRUNCATE" if node.name.startswith("Truncate") else "ALTER")


@visits("RestoreTableCommand")
def restore_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """RESTORE TABLE … TO of Delta Lake: the table gets the rows of an older version of itself."""
    table = option(node.jvm.sourceTable().catalogTable()) or node.jvm.sourceTable()
    dataset = tables.v2_table(context, table)
    return [PlanOutput(dataset, node, change="OVERWRITE", statement="RESTORE")]


@visits("CloneTableCommand")
def clone_table(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """CREATE TABLE … CLONE of Delta Lake: the new table."""
    parts = (node.get("targetIdent") or {}).get("table", ["delta"])
    named = parts[0] != "delta"
    dataset = tables.named_table(context, parts) if named else tables.delta_dataset(node.get("targetPath"))
    return [PlanOutput(dataset, node, change="CREATE", statement="CLONE")]


@visits("CloneTableCommand", makes=PlanDataset)
def cloned_table(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """CREATE TABLE … CLONE of Delta Lake: the table that it is made like."""
    source = node.jvm.sourceTable()
    snapshot = option(source.snapshot())
    return [tables.delta_dataset(str(source.dataPath().toString()), snapshot and snapshot.version())]


def _changed(context: OpenLineageContext, node: PlanNode, change: str) -> list[PlanOutput]:
    found = identified(context, node)
    known = [] if found is None else [tables.last_known(context, found)]
    return [PlanOutput(dataset, node, change=change, statement=change) for dataset in known]

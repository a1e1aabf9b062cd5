"""Visitors of the leaves that plans read from."""

from typing import Any, Literal

from headwater.spark.agent.datasets import PlanDataset
from headwater.spark.agent.scala import class_name, each, lookup, option
from headwater.spark.agent.tables import catalog_table, file_dataset, jdbc_dataset, temporary_view, v2_table
from headwater.spark.agent.visitors.rdds import rdd_paths
from headwater.spark.agent.visitors.visitor import QueryPlanVisitor, register
from headwater.spark.plan.node import Node


@register
class LogicalRelationDatasetBuilder(QueryPlanVisitor[Literal["LogicalRelation"], PlanDataset]):
    """A source of the first generation: files, JDBC, a table of the session catalog, a connector's relation.

    (It is a visitor by what it does; the name is the one that users of OpenLineage's agent know.)
    """

    def apply(self, node: Node) -> list[PlanDataset]:
        live = node.jvm
        relation, table = live.relation(), option(live.catalogTable())
        kind = relation_kind(relation)
        schema = tuple((column.name, column.type) for column in node.output)
        if table is not None:
            return [_with_version(catalog_table(self.context.session, table), relation, kind)]
        if kind == "JDBCRelation":
            options = relation.jdbcOptions()
            return [jdbc_dataset(str(options.url()), str(options.tableOrQuery()), schema=schema)]
        if kind == "HadoopFsRelation":
            paths = [str(path.toString()) for path in each(relation.location().rootPaths())]
            if any("/_delta_log" in path for path in paths):  # a table's own book-keeping
                return []
            found = file_dataset(paths, format=format_name(relation.fileFormat()), schema=schema)
            return [_with_version(each, relation, kind) for each in found]
        return [temporary_view(kind)]


def relation_kind(relation: Any) -> str:
    """The class of a relation; of one without a name of its own, that which it extends (Delta Lake's are such)."""
    name = class_name(relation)
    return str(relation.getClass().getSuperclass().getSimpleName()) if name.isdigit() else name


def format_name(file_format: Any) -> str:
    """What a file format calls itself: `parquet`, `csv`."""
    return str(class_name(file_format)).removesuffix("FileFormat").removesuffix("2").lower()


def _with_version(dataset: PlanDataset, relation: Any, kind: str) -> PlanDataset:
    """A table of Delta Lake is files whose index knows the version it stands for."""
    if kind != "HadoopFsRelation" or not class_name(relation.location()).startswith("Tahoe"):
        return dataset
    version = str(relation.location().getSnapshot().version())
    return PlanDataset(
        dataset.name, dataset.table, dataset.schema, dataset.symlinks, dataset.uri, "delta", "delta", version
    )


@register
class HiveTableRelationVisitor(QueryPlanVisitor[Literal["HiveTableRelation"], PlanDataset]):
    """A table of Hive's metastore that Spark reads with Hive's own readers."""

    def apply(self, node: Node) -> list[PlanDataset]:
        return [catalog_table(self.context.session, node.jvm.tableMeta())]


@register
class DataSourceV2RelationVisitor(
    QueryPlanVisitor[
        Literal["DataSourceV2Relation", "StreamingDataSourceV2Relation", "StreamingRelationV2", "ResolvedTable"],
        PlanDataset,
    ]
):
    """A table of another catalog, or a source of the second generation."""

    def apply(self, node: Node) -> list[PlanDataset]:
        live = node.jvm
        if node.name == "ResolvedTable":
            return [
                v2_table(self.context.session, live.table(), catalog=live.catalog(), identifier=live.identifier())
            ]
        catalog, identifier = option(live.catalog()), option(live.identifier())
        options = live.extraOptions() if node.name == "StreamingRelationV2" else live.options()
        table = live.table()
        found = v2_table(self.context.session, table, catalog=catalog, identifier=identifier, options=options)
        return [found]


@register
class DataSourceV2ScanRelationVisitor(
    QueryPlanVisitor[Literal["DataSourceV2ScanRelation", "StreamingDataSourceV2ScanRelation"], PlanDataset]
):
    """The same, where Spark has already decided what to scan."""

    def apply(self, node: Node) -> list[PlanDataset]:
        relation = node.jvm.relation()
        return [
            v2_table(
                self.context.session,
                relation.table(),
                catalog=option(relation.catalog()),
                identifier=option(relation.identifier()),
                options=relation.options(),
            )
        ]


@register
class StreamingRelationVisitor(QueryPlanVisitor[Literal["StreamingRelation"], PlanDataset]):
    """A stream of the first generation, before it runs."""

    def apply(self, node: Node) -> list[PlanDataset]:
        source = node.jvm.dataSource()
        return _file_stream(lookup(source.options(), "path"), str(node.jvm.sourceName()), node)


@register
class StreamingExecutionRelationVisitor(QueryPlanVisitor[Literal["StreamingExecutionRelation"], PlanDataset]):
    """A stream of the first generation, running without new data."""

    def apply(self, node: Node) -> list[PlanDataset]:
        source = node.jvm.source()
        path = str(source.path()) if class_name(source) == "FileStreamSource" else None
        return _file_stream(path, class_name(source), node)


def _file_stream(path: str | None, name: str, node: Node) -> list[PlanDataset]:
    schema = tuple((column.name, column.type) for column in node.output)
    return file_dataset([path], schema=schema) if path else [temporary_view(name)]


@register
class LogicalRDDVisitor(QueryPlanVisitor[Literal["LogicalRDD", "ExternalRDD"], PlanDataset]):
    """Rows of an RDD: the files at the beginning of its chain."""

    def apply(self, node: Node) -> list[PlanDataset]:
        return file_dataset(rdd_paths(node.jvm.rdd()))

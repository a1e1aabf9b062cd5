"""Visitors of the leaves that plans read from."""

import dataclasses
from typing import Any, Literal

from headwater.events.naming import memory_name
from headwater.model.names import TableName
from headwater.spark.agent import tables
from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import Behind, PlanDataset
from headwater.spark.agent.described import described_field
from headwater.spark.agent.recorded import Recorded
from headwater.spark.agent.scala import class_name, each, entries, lookup, option, present, private_field
from headwater.spark.agent.visitors import visitor
from headwater.spark.agent.visitors.rdds import rdd_origins
from headwater.spark.plan.leaves import CHECKPOINT, UNSEEN
from headwater.spark.plan.node import PlanNode


@visitor.register
class LogicalRelationDatasetBuilder(visitor.QueryPlanVisitor[Literal["LogicalRelation"], PlanDataset]):
    """A source of the first generation: files, JDBC, a table of the session catalog, a connector's relation.

    (It is a visitor by what it does; the name is the one that users of OpenLineage's agent know.)
    """

    def apply(self, node: PlanNode) -> list[PlanDataset]:
        table = described_field(self.context, node, "catalogTable")
        files = _files(node)
        if table is not None:
            return [_with_version(tables.catalog_table(self.context, table), node, files)]
        schema = tuple((column.name, column.type) for column in node.output)
        if files is not None:
            if any("/_delta_log" in path for path in files["paths"]):  # a table's own book-keeping
                return []
            paths = _source_paths(files) if node.get("isStreaming") is True else files["paths"]
            found = tables.file_dataset(paths, format=format_name(files["format"]), schema=schema)
            return [_with_version(each, node, files) for each in found]
        relation = node.jvm.relation()
        if class_name(relation) == "JDBCRelation":
            options = relation.jdbcOptions()
            prepared = str(options.prepareQuery()).strip()
            return [
                tables.jdbc_dataset(str(options.url()), str(options.tableOrQuery()), schema=schema, prepared=prepared)
            ]
        if class_name(relation) == "KafkaRelation":
            return [tables.kafka_source(entries(private_field(relation, "sourceOptions")), schema)]
        return [tables.temporary_view(class_name(relation))]


def _source_paths(files: dict[str, Any]) -> list[str]:
    """The folder that a stream reads, where it is known, else the folders of the new files that a batch has."""
    return [files["base"]] if files.get("base") else [path.rpartition("/")[0] or path for path in files["paths"]]


def _files(node: PlanNode) -> dict[str, Any] | None:
    """The files behind a relation, as the dump says them; a Spark that cannot compile is asked."""
    known = node.get("relation")
    if isinstance(known, dict):
        return known if known.get("kind") == "HadoopFsRelation" else None
    relation = node.jvm.relation()
    name = class_name(relation)
    if name.isdigit():  # without a name of its own: Delta Lake's are such
        name = str(relation.getClass().getSuperclass().getSimpleName())
    if name != "HadoopFsRelation":
        return None
    location = relation.location()
    paths = [str(path.toString()) for path in each(location.rootPaths())]
    base = lookup(relation.options(), "basePath")
    return {"paths": paths, "format": class_name(relation.fileFormat()), "index": class_name(location), "base": base}


def format_name(file_format: str) -> str:
    """Return what a file format calls itself, by its class: `parquet`, `csv`."""
    return file_format.removesuffix("FileFormat").removesuffix("2").lower()


def _with_version(dataset: PlanDataset, node: PlanNode, files: dict[str, Any] | None) -> PlanDataset:
    """A table of Delta Lake is files whose index knows the version it stands for."""
    if files is None or not files["index"].startswith("Tahoe"):
        return dataset
    index = node.jvm.relation().location()
    is_batch = "Batch" in files["index"]  # of a stream: some of its files
    snapshot = index.snapshot() if is_batch else index.getSnapshot()
    return dataclasses.replace(dataset, layer="delta", format="delta", version=str(snapshot.version()))


@visitor.register
class HiveTableRelationVisitor(visitor.QueryPlanVisitor[Literal["HiveTableRelation"], PlanDataset]):
    """A table of Hive's metastore that Spark reads with Hive's own readers."""

    def apply(self, node: PlanNode) -> list[PlanDataset]:
        table = described_field(self.context, node, "tableMeta")
        return [] if table is None else [tables.catalog_table(self.context, table)]


@visitor.register_builder
class DataSourceV2RelationInputOnStartDatasetBuilder(visitor.DatasetBuilder[PlanDataset]):
    """A table of another catalog, or a source of the second generation, as the analyzed plan has it at the start."""

    nodes = frozenset(
        {"DataSourceV2Relation", "StreamingDataSourceV2Relation", "StreamingRelationV2", "ResolvedTable"}
    )

    def build(self, node: PlanNode) -> list[PlanDataset]:
        if node.name == "StreamingDataSourceV2Relation" and "table" not in node.fields:
            return [_running_stream(self.context, node)]
        return [relation_table(self.context, node, node.jvm)]


@visitor.visits("DataSourceV2ScanRelation", "StreamingDataSourceV2ScanRelation", makes=PlanDataset)
def scan_relation(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """The same, where Spark has already decided what to scan."""
    relation = node.get("relation")
    relation = relation if isinstance(relation, PlanNode) else PlanNode("DataSourceV2Relation")
    return [relation_table(context, relation, node.jvm.relation())]


def relation_table(
    context: OpenLineageContext, node: PlanNode, live: Any, table: Any = None, *, options: Any = None
) -> PlanDataset:
    """The table behind a relation of the second generation, or a fresher look at it; `live` is the relation.

    `options` gives those that it is written with, where the relation does not have them.
    """
    catalog, parts = relation_name(node, live)
    if options is None:
        options = live.extraOptions if node.name == "StreamingRelationV2" else getattr(live, "options", None)
    found = tables.v2_table(context, table or live.table(), catalog=catalog, parts=parts, options=options)
    is_read = node.name == "DataSourceV2Relation" and table is None and not isinstance(live, Recorded)
    if found.layer == "headwater" and is_read and catalog is not None:
        return _at_moment(context, found, live, (catalog, parts))
    return found


def _at_moment(
    context: OpenLineageContext, found: PlanDataset, live: Any, name: tuple[str, list[str]]
) -> PlanDataset:
    """A lake table in the state that the options of a read ask for, which its catalog does not know of."""
    given = live.options()
    said = () if given.isEmpty() else (given.get(each) for each in ("snapshot", "timestamp", "tag", "at"))
    moment = next((str(each) for each in said if each is not None), None)
    if moment is None:
        return found
    then = option(live.catalog()).loadTable(option(live.identifier()), moment)
    return tables.v2_table(context, then, catalog=name[0], parts=name[1])


def _running_stream(context: OpenLineageContext, node: PlanNode) -> PlanDataset:
    """A stream of Spark 3.5 that runs: its relation has no table, but perhaps a name in a catalog."""
    live = node.jvm
    catalog, parts = relation_name(node, live)
    if catalog is not None:
        table = option(live.catalog()).loadTable(option(live.identifier()))
        return tables.v2_table(context, table, catalog=catalog, parts=parts)
    source = str(live.scan().getClass().getName()).rsplit(".", 1)[-1].split("$")[0]
    if source.startswith("Kafka"):
        schema = tuple((column.name, column.type) for column in node.output)
        return tables.kafka_source(private_field(live.scan(), "options"), schema)
    return tables.temporary_view(source.removesuffix("Table").lower())


def relation_name(node: PlanNode, live: Any) -> tuple[str | None, list[str]]:
    """The catalog of a relation, and its name there; (None, []) when it has none."""
    catalog, identifier = node.get("catalog"), node.get("identifier")
    if isinstance(catalog, str) and isinstance(identifier, dict):
        return catalog, list(identifier["table"])
    if "catalog" in node.fields and "identifier" in node.fields:
        return None, []
    found, name = present(live.catalog()), present(live.identifier())
    if found is None or name is None:
        return None, []
    return str(found.name()), [*map(str, name.namespace()), str(name.name())]


@visitor.visits("StreamingRelation", makes=PlanDataset)
def streaming_relation(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """A stream of the first generation, before it runs."""
    source = node.jvm.dataSource()
    return _file_stream(lookup(source.options(), "path"), str(node.jvm.sourceName()), node)


@visitor.visits("StreamingExecutionRelation", makes=PlanDataset)
def streaming_execution_relation(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """A stream of the first generation, running without new data."""
    source = node.jvm.source()
    kind, path = class_name(source), None
    if kind == "FileStreamSource":
        path = str(source.path())
    elif kind == "DeltaSource":
        path = str(source.deltaLog().dataPath().toString())
    return _file_stream(path, kind, node)


def _file_stream(path: str | None, name: str, node: PlanNode) -> list[PlanDataset]:
    schema = tuple((column.name, column.type) for column in node.output)
    return tables.file_dataset([path], schema=schema) if path else [tables.temporary_view(name)]


@visitor.visits("LogicalRDD", "ExternalRDD", makes=PlanDataset)
def logical_rdd(context: OpenLineageContext, node: PlanNode) -> list[PlanDataset]:
    """Rows of an RDD: those of a checkpoint that was seen, else the files at the beginning of its chain."""
    rdd = node.jvm.rdd()
    key, ids = int(rdd.id()), tuple(column.id for column in node.output)
    behind = context.rows.get(ids) or context.rows.get(key)
    if behind is not None:
        context.rows[key] = behind  # a join of the rows with themselves gives them other ids
        return [PlanDataset(memory_name("rows"), TableName.of(CHECKPOINT, str(key)), query=behind)]
    paths, unseen = rdd_origins(rdd)
    stands = [PlanDataset(memory_name(kind), TableName.of(UNSEEN, kind), query=Behind()) for kind in unseen]
    return [*tables.scanned_files(context.known, paths), *stands]

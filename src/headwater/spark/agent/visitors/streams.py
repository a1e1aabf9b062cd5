"""Visitors of the nodes by which streaming queries write.

Every batch of a stream is an execution with one of these nodes at its root. Their fields change from release to
release: Spark 4.0 to 4.2 name the table and beside it, perhaps, the relation of a catalog; since 4.3 there is always
a relation.
"""

from collections.abc import Mapping
from typing import Any

from headwater.spark.agent.context import OpenLineageContext
from headwater.spark.agent.datasets import PlanDataset, PlanOutput
from headwater.spark.agent.described import describe
from headwater.spark.agent.scala import class_name, entries, option, present
from headwater.spark.agent.tables import catalog_table, delta_dataset, file_dataset, v2_table
from headwater.spark.agent.visitors.inputs import relation_table
from headwater.spark.agent.visitors.outputs import query_of
from headwater.spark.agent.visitors.v2 import relation_of
from headwater.spark.agent.visitors.visitor import visits
from headwater.spark.plan.node import PlanNode


@visits("WriteToMicroBatchDataSource", "WriteToDataSourceV2")
def write_micro_batch(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """A micro-batch written to a table or source of the second generation."""
    live = node.jvm
    given = entries(live.writeOptions()) if node.name == "WriteToMicroBatchDataSource" else {}
    relation = present(live.relation()) if "relation" in node.fields else None
    if relation is not None:
        dataset = _written(context, node, relation, given)
    elif "table" in node.fields:
        dataset = v2_table(context, live.table(), options=lambda: given)
    else:
        raise LookupError("it does not name what it writes to")
    return [PlanOutput(dataset, node, query_of(node))]


def _written(context: OpenLineageContext, node: PlanNode, relation: Any, given: Mapping[str, str]) -> PlanDataset:
    """The table behind the relation that a batch is written to; `given` are the options of the stream."""
    dumped = node.get("relation")
    if present(relation.catalog()) is not None and isinstance(dumped, PlanNode):
        found = relation_of(context, dumped)
        if found is not None:
            return found
    return relation_table(context, PlanNode("DataSourceV2Relation"), relation, options=lambda: given)


@visits("WriteToMicroBatchDataSourceV1")
def write_micro_batch_v1(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """A micro-batch written to files or Delta Lake; `foreachBatch` and memory are no datasets by themselves."""
    live = node.jvm
    table = option(live.catalogTable())
    sink = class_name(live.sink())
    if table is not None:
        return [PlanOutput(catalog_table(context, describe(context, table)), node, query_of(node))]
    if sink == "DeltaSink":
        dataset = delta_dataset(str(live.sink().path().toString()))
    elif sink == "FileStreamSink":
        (dataset,) = file_dataset([str(live.sink().toString()).removeprefix("FileSink[").removesuffix("]")])
    else:
        return []
    return [PlanOutput(dataset, node, query_of(node))]


@visits("WriteToContinuousDataSource")
def write_continuously(context: OpenLineageContext, node: PlanNode) -> list[PlanOutput]:
    """A stream in continuous mode. Its plan has the writer only; the running query knows the table."""
    write = node.jvm.write()
    for query in context.session.sharedState().activeStreamingQueries().values():
        last = query.lastExecution()
        if last is not None and class_name(last.logical()) == node.name and last.logical().write().equals(write):
            dataset = v2_table(context, query.sink())  # the query does not keep the options of its sink
            return [PlanOutput(dataset, node, query_of(node))]
    raise LookupError("the query that it belongs to has ended")

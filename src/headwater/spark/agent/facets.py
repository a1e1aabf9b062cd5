"""The facets of a dataset that a plan reads or writes."""

from headwater.errors import SchemaError
from headwater.events import facets
from headwater.events.columns import column_lineage
from headwater.events.event import InputDataset, OutputDataset
from headwater.events.facet import Facet, by_key, plain_facet
from headwater.model.edges import Edge
from headwater.model.names import TableName
from headwater.model.types import Array, DataType, Map, Struct, parse_type
from headwater.spark.agent.datasets import Amount, PlanDataset, PlanOutput

_MOST_FIELDS = 5000


def input_dataset(dataset: PlanDataset, read: Amount | None, report: dict[str, int] | None = None) -> InputDataset:
    """A dataset that was read, with how much of it."""
    statistics = None
    snapshot = {"snapshotId": int(dataset.version)} if report and dataset.version is not None else {}
    reports = {"icebergScanReport": plain_facet({**snapshot, "scanMetrics": report})} if report else {}
    if read is not None:
        statistics = facets.InputStatisticsFacet(row_count=read.rows, size=read.bytes, file_count=read.files)
    return InputDataset(
        namespace=dataset.name.namespace,
        name=dataset.name.name,
        facets=by_key(*_facets(dataset, dataset.schema)),
        input_facets=by_key(statistics) | reports,
    )


def output_dataset(
    output: PlanOutput, edges: tuple[Edge, ...], known: dict[TableName, PlanDataset], written: Amount | None
) -> OutputDataset:
    """A dataset that was written, with what its columns are made of."""
    dataset = output.dataset
    statistics = None
    amount = output.written or (written if output.query is not None else None)
    if amount is not None:
        statistics = facets.OutputStatisticsFacet(row_count=amount.rows, size=amount.bytes, file_count=amount.files)
    reports = {} if output.report is None else {"icebergCommitReport": plain_facet(output.report)}
    lineage = column_lineage([edge for edge in edges if edge.source.table in known], lambda table: known[table].name)
    return OutputDataset(
        namespace=dataset.name.namespace,
        name=dataset.name.name,
        facets=by_key(*_facets(dataset, _written_schema(output)), _lifecycle(output), *lineage),
        output_facets=by_key(statistics) | reports,
    )


def _written_schema(output: PlanOutput) -> tuple[tuple[str, str], ...]:
    """The columns of the target; of one that is new, those of the query."""
    if output.dataset.schema or output.query is None:
        return output.dataset.schema
    names = output.columns or tuple(column.name for column in output.query.output)
    return tuple((name, column.type) for name, column in zip(names, output.query.output))


def _facets(dataset: PlanDataset, schema: tuple[tuple[str, str], ...]) -> list[Facet | None]:
    uri = dataset.uri or dataset.name.namespace
    layer = dataset.layer
    return [
        facets.SchemaFacet(fields=tuple(_field(name, type) for name, type in schema[:_MOST_FIELDS]))
        if schema
        else None,
        facets.DataSourceFacet(name=dataset.name.namespace, uri=uri),
        facets.VersionFacet(dataset_version=dataset.version) if dataset.version is not None else None,
        facets.SymlinksFacet(identifiers=dataset.symlinks) if dataset.symlinks else None,
        dataset.catalog,
        facets.StorageFacet(storage_layer=layer, file_format=dataset.format) if layer is not None else None,
    ]


def _lifecycle(output: PlanOutput) -> facets.LifecycleFacet | None:
    if output.change is None:
        return None
    before = None
    if output.previous is not None:
        before = facets.PreviousIdentifier(namespace=output.previous.namespace, name=output.previous.name)
    return facets.LifecycleFacet(lifecycle_state_change=output.change, previous_identifier=before)


def _field(name: str, type: str) -> facets.SchemaField:
    """A column with what is inside it."""
    if "<" not in type:
        return facets.SchemaField(name=name, type=type)
    try:
        inside = _members(parse_type(type, foreign=True))
    except SchemaError:
        inside = ()
    return facets.SchemaField(name=name, type=type.partition("<")[0], fields=inside)


def _members(type: DataType) -> tuple[facets.SchemaField, ...]:
    match type:
        case Struct(members):
            return tuple(_nested(member.name, member.type) for member in members)
        case Array(element):
            return (_nested("_element", element),)
        case Map(key, value):
            return (_nested("key", key), _nested("value", value))
        case _:
            return ()


def _nested(name: str, type: DataType) -> facets.SchemaField:
    return facets.SchemaField(name=name, type=str(type).partition("<")[0].lower(), fields=_members(type))

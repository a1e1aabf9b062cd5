"""The OpenLineage facets that Headwater writes and understands.
A facet is a struct with three facts beside its fields: the key it stands under, the address of its published schema,
and who made it. Facets that are not listed here survive a round trip as plain mappings: `find_facet` gives the typed
one where there is a type, and nothing is lost where there is none."""

from typing import Any

import msgspec

from headwater.events.facet import BASE_FACET, Facet, Part, schema_address


class SchemaField(Part, frozen=True, kw_only=True):
    name: str
    type: str | None = None
    description: str | None = None
    ordinal_position: int | None = msgspec.field(name="ordinal_position", default=None)
    fields: tuple["SchemaField", ...] = ()


class SchemaFacet(Facet, frozen=True, kw_only=True):
    """The columns of a dataset, nested ones under their parent."""

    key = "schema"
    schema_url: str = schema_address("SchemaDatasetFacet", "1-2-0")
    fields: tuple[SchemaField, ...] = ()


class DataSourceFacet(Facet, frozen=True, kw_only=True):
    """The place of a dataset."""

    key = "dataSource"
    schema_url: str = schema_address("DatasourceDatasetFacet", "1-0-1")
    name: str | None = None
    uri: str | None = None


class VersionFacet(Facet, frozen=True, kw_only=True):
    """The state of a dataset that was read or made: for a lake table, its snapshot."""

    key = "version"
    schema_url: str = schema_address("DatasetVersionDatasetFacet", "1-0-1")
    dataset_version: str


class Identifier(Part, frozen=True, kw_only=True):
    namespace: str
    name: str
    type: str


class SymlinksFacet(Facet, frozen=True, kw_only=True):
    """Other names of the same dataset."""

    key = "symlinks"
    schema_url: str = schema_address("SymlinksDatasetFacet", "1-0-1")
    identifiers: tuple[Identifier, ...] = ()


class StorageFacet(Facet, frozen=True, kw_only=True):
    """The store of a dataset, and its file format."""

    key = "storage"
    schema_url: str = schema_address("StorageDatasetFacet", "1-0-1")
    storage_layer: str
    file_format: str | None = None


class CatalogFacet(Facet, frozen=True, kw_only=True):
    """The catalog that a table is found in."""

    key = "catalog"
    schema_url: str = schema_address("CatalogDatasetFacet", "1-1-0")
    framework: str
    type: str
    name: str
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    source: str | None = None


class PreviousIdentifier(Part, frozen=True, kw_only=True):
    namespace: str
    name: str


class LifecycleFacet(Facet, frozen=True, kw_only=True):
    """A change of the dataset itself: ALTER, CREATE, DROP, OVERWRITE, RENAME or TRUNCATE."""

    key = "lifecycleStateChange"
    schema_url: str = schema_address("LifecycleStateChangeDatasetFacet", "1-0-1")
    lifecycle_state_change: str
    previous_identifier: PreviousIdentifier | None = None


class Transformation(Part, frozen=True, kw_only=True):
    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool = msgspec.field(default_factory=lambda: False)  # by factory: written also when it is no


class InputField(Part, frozen=True, kw_only=True):
    namespace: str
    name: str
    field: str
    transformations: tuple[Transformation, ...] = ()


class FieldLineage(Part, frozen=True, kw_only=True):
    input_fields: list[InputField]
    transformation_description: str | None = None
    transformation_type: str | None = None


class ColumnLineageFacet(Facet, frozen=True, kw_only=True):
    """The columns that each column was made from; under `dataset`, the columns that decided which rows there are."""

    key = "columnLineage"
    schema_url: str = schema_address("ColumnLineageDatasetFacet", "1-2-0")
    fields: dict[str, FieldLineage] = msgspec.field()
    dataset: tuple[InputField, ...] = ()


class ColumnPath(Part, frozen=True, kw_only=True):
    """One way between places inside two columns; without a field, it leads into the dataset as a whole."""

    field: str | None = None
    path: tuple[str, ...] = ()
    input: InputField
    input_path: tuple[str, ...] = ()


class ColumnPathsFacet(Facet, frozen=True, kw_only=True):
    """A facet of ours: of the pairs of columns in `columnLineage` that are nested, which parts of them meet.
    The step into an array or map is `[]`."""

    key = "headwater_columnPaths"
    schema_url: str = msgspec.field(name="_schemaURL", default_factory=lambda: BASE_FACET)
    paths: tuple[ColumnPath, ...] = ()


class Owner(Part, frozen=True, kw_only=True):
    name: str
    type: str | None = None


class InputStatisticsFacet(Facet, frozen=True, kw_only=True):
    """The amount that a run read of one dataset."""

    key = "inputStatistics"
    schema_url: str = schema_address("InputStatisticsInputDatasetFacet", "1-0-0")
    row_count: int | None = None
    size: int | None = None
    file_count: int | None = None


class Assertion(Part, frozen=True, kw_only=True):
    """One check: its kind, and its result."""

    assertion: str
    success: bool
    column: str | None = None
    severity: str | None = None
    name: str | None = None
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    content_type: str | None = None


class DataQualityAssertionsFacet(Facet, frozen=True, kw_only=True):
    """Checks of a dataset and of its columns."""

    key = "dataQualityAssertions"
    schema_url: str = schema_address("DataQualityAssertionsDatasetFacet", "1-1-0")
    assertions: tuple[Assertion, ...]


class DataQualityMetricsFacet(Facet, frozen=True, kw_only=True):
    """Figures of a dataset, and by name those of its columns: `nullCount`, `distinctCount`, `min` …"""

    key = "dataQualityMetrics"
    schema_url: str = schema_address("DataQualityMetricsInputDatasetFacet", "1-0-3")
    row_count: int | None = None
    bytes: int | None = None
    file_count: int | None = None
    column_metrics: dict[str, dict[str, Any]] = msgspec.field()


class OutputStatisticsFacet(Facet, frozen=True, kw_only=True):
    """The amount that a run wrote to one dataset."""

    key = "outputStatistics"
    schema_url: str = schema_address("OutputStatisticsOutputDatasetFacet", "1-0-2")
    row_count: int | None = None
    size: int | None = None
    file_count: int | None = None


class LocationCondition(Part, frozen=True, kw_only=True):
    type: str = msgspec.field(default_factory=lambda: "location")
    locations: tuple[str, ...] = ()


class InputSubsetFacet(Facet, frozen=True, kw_only=True):
    """The part of a dataset that a run read: the folders it lies in."""

    key = "subset"
    schema_url: str = schema_address("BaseSubsetDatasetFacet", "1-0-0", "InputSubsetInputDatasetFacet")
    input_condition: LocationCondition


class OutputSubsetFacet(Facet, frozen=True, kw_only=True):
    """The part of a dataset that a run wrote."""

    key = "subset"
    schema_url: str = schema_address("BaseSubsetDatasetFacet", "1-0-0", "OutputSubsetOutputDatasetFacet")
    output_condition: LocationCondition


SUBSETS: dict[str, Any] = {"input": InputSubsetFacet, "output": OutputSubsetFacet}


class SqlFacet(Facet, frozen=True, kw_only=True):
    """The text of the query."""

    key = "sql"
    schema_url: str = schema_address("SQLJobFacet", "1-1-0")
    query: str
    dialect: str | None = None


class JobTypeFacet(Facet, frozen=True, kw_only=True):
    """BATCH or STREAMING, the engine, and what kind of work it is there."""

    key = "jobType"
    schema_url: str = schema_address("JobTypeJobFacet", "2-0-4")
    processing_type: str
    integration: str
    job_type: str | None = None


class JobOwnershipFacet(Facet, frozen=True, kw_only=True):
    key = "ownership"
    schema_url: str = schema_address("OwnershipJobFacet", "1-0-1")
    owners: tuple[Owner, ...] = ()


class Tag(Part, frozen=True, kw_only=True):
    key: str
    value: str
    source: str | None = None


class RunTagsFacet(Facet, frozen=True, kw_only=True):
    key = "tags"
    schema_url: str = schema_address("TagsRunFacet", "1-0-0")
    tags: tuple[Tag, ...] = ()


class JobTagsFacet(Facet, frozen=True, kw_only=True):
    key = "tags"
    schema_url: str = schema_address("TagsJobFacet", "1-0-0")
    tags: tuple[Tag, ...] = ()


class SourceCodeFacet(Facet, frozen=True, kw_only=True):
    """The text of the job's program."""

    key = "sourceCode"
    schema_url: str = schema_address("SourceCodeJobFacet", "1-0-1")
    language: str
    source_code: str


class SourceCodeLocationFacet(Facet, frozen=True, kw_only=True):
    """The file that the job is written in."""

    key = "sourceCodeLocation"
    schema_url: str = schema_address("SourceCodeLocationJobFacet", "1-1-0")
    type: str
    url: str
    path: str | None = None
    version: str | None = None


class RunReference(Part, frozen=True, kw_only=True):
    run_id: str


class JobReference(Part, frozen=True, kw_only=True):
    namespace: str
    name: str


class Root(Part, frozen=True, kw_only=True):
    run: RunReference
    job: JobReference


class ParentFacet(Facet, frozen=True, kw_only=True):
    """The run that this run is a part of."""

    key = "parent"
    schema_url: str = schema_address("ParentRunFacet", "1-2-0")
    run: RunReference
    job: JobReference
    root: Root | None = None


class ProcessingEngineFacet(Facet, frozen=True, kw_only=True):
    key = "processing_engine"
    schema_url: str = schema_address("ProcessingEngineRunFacet", "1-1-1")
    version: str
    name: str | None = None
    openlineage_adapter_version: str | None = None


class ErrorMessageFacet(Facet, frozen=True, kw_only=True):
    """Why a run failed."""

    key = "errorMessage"
    schema_url: str = schema_address("ErrorMessageRunFacet", "1-0-1")
    message: str
    programming_language: str
    stack_trace: str | None = None


class EnvironmentVariable(Part, frozen=True, kw_only=True):
    name: str
    value: str


class EnvironmentFacet(Facet, frozen=True, kw_only=True):
    key = "environmentVariables"
    schema_url: str = schema_address("EnvironmentVariablesRunFacet", "1-0-0")
    environment_variables: tuple[EnvironmentVariable, ...] = ()


class ExtractionError(Part, frozen=True, kw_only=True):
    error_message: str
    stack_trace: str | None = None
    task: str | None = None
    task_number: int | None = None


class ExtractionErrorFacet(Facet, frozen=True, kw_only=True):
    """The parts of a plan that could not be read: lineage that is missing and says so."""

    key = "extractionError"
    schema_url: str = schema_address("ExtractionErrorRunFacet", "1-1-2")
    total_tasks: int
    failed_tasks: int
    errors: tuple[ExtractionError, ...] = ()

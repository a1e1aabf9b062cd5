"""The datasets that a plan reads and writes, as facts."""

from dataclasses import dataclass, field

from headwater.events.facets import CatalogFacet, Identifier
from headwater.events.naming import DatasetName
from headwater.model.names import TableName
from headwater.spark.plan.node import Node


@dataclass(frozen=True, slots=True)
class JdbcQuery:
    """A query that is read over JDBC in the place of a table. The address may carry a password: it is never shown."""

    text: str
    dialect: str
    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PlanDataset:
    """A dataset as a plan names it: what events call it, and what the lineage of the plan calls it."""

    name: DatasetName
    table: TableName
    schema: tuple[tuple[str, str], ...] = ()  # column, type as Spark writes it
    symlinks: tuple[Identifier, ...] = ()
    uri: str | None = None
    layer: str | None = None  # who keeps it: file, hive, jdbc, delta, iceberg, headwater …
    format: str | None = None  # parquet, csv …
    version: str | None = None
    table_uuid: str | None = None  # of a lake table
    query: JdbcQuery | None = None
    catalog: CatalogFacet | None = None


@dataclass(frozen=True, slots=True)
class PlanOutput:
    """A dataset that a plan writes or changes.

    `query` is what is written, None when no rows are; `columns` are the names of its columns in the target, None when
    they are the query's own. `change` is what happens to the dataset itself (CREATE, OVERWRITE, DROP …).
    """

    dataset: PlanDataset
    node: Node
    query: Node | None = None
    columns: tuple[str, ...] | None = None
    change: str | None = None
    previous: DatasetName | None = None
    statement: str = "INSERT"

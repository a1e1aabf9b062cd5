"""The datasets that a plan reads and writes, as facts."""

from dataclasses import dataclass, field
from typing import Any

from headwater.errors import Issue
from headwater.events.facets import CatalogFacet, Identifier
from headwater.events.naming import DatasetName
from headwater.model.edges import Edge
from headwater.model.names import TableName
from headwater.spark.plan.node import PlanNode


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount that was read or written; None where it is not known."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True)
class JdbcQuery:
    """A query that is read over JDBC in the place of a table, behind what `prepareQuery` puts before it. The address
    may carry a password: it is never shown."""

    text: str
    dialect: str
    url: str = field(repr=False)
    prepared: str = ""


@dataclass(frozen=True, slots=True)
class Behind:
    """The sources of rows that a plan takes from elsewhere: the tables, the edges from them to its columns, and what
    is not known of these."""

    tables: dict[TableName, "PlanDataset"] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    notes: tuple[Issue, ...] = ()


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
    query: JdbcQuery | Behind | None = field(default=None, hash=False)  # it stands for other tables
    catalog: CatalogFacet | None = None
    live: Any = field(default=None, compare=False, repr=False)  # the table in the JVM, where its commits are read


@dataclass(frozen=True, slots=True)
class PlanOutput:
    """A dataset that a plan writes or changes.

    `query` is what is written, None when no rows are; `columns` are the names of its columns in the target, None when
    they are the query's own. `change` is what happens to the dataset itself (CREATE, OVERWRITE, DROP …). `written` is
    what the table itself says of the commit.
    """

    dataset: PlanDataset
    node: PlanNode
    query: PlanNode | None = None
    columns: tuple[str, ...] | None = None
    change: str | None = None
    previous: DatasetName | None = None
    statement: str = "INSERT"
    written: Amount | None = None
    report: dict[str, Any] | None = field(default=None, hash=False)  # of a commit, where the table makes one

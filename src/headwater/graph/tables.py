"""The lake tables that lineage is kept in: what they are called, their columns, their keys.
They are ordinary tables of the database `lineage`, for any SQL, Spark or DuckDB to read. A column of a table stands
by its name with its path (`items[].sku`); `*` stands for the table as a whole, where something decides which rows
there are."""

from dataclasses import dataclass, field

from headwater.model.names import LINEAGE_DATABASE

DATABASE = LINEAGE_DATABASE

WHOLE = "*"


def root_column(column: str) -> str:
    """A column without the path into it: `items[].sku` is a part of `items`."""
    return column.partition("[")[0].partition(".")[0]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One of the tables; `about` and the comments of columns are its documentation."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, str, str], ...]  # name, type, what it says
    options: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = field(init=False)  # of the columns; kept, since every row that is added asks for them

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(name for name, _, _ in self.columns))

    @property
    def full_name(self) -> str:
        return f"{DATABASE}.{self.name}"


DATASETS = TableSpec(
    "datasets",
    "Everything that is read or written: tables, views, files, topics.",
    ("dataset",),
    (
        ("dataset", "STRING NOT NULL", "the name by which all tables here know it"),
        ("namespace", "STRING", "where it lives, as OpenLineage names it; null for names from SQL text"),
        ("kind", "STRING", "table, view, query (what a bare SELECT gives), file, topic or memory"),
    ),
)
COLUMNS = TableSpec(
    "columns",
    "The columns of datasets, as far as they are known.",
    ("dataset", "column"),
    (
        ("dataset", "STRING NOT NULL", "the dataset"),
        ("column", "STRING NOT NULL", "the column"),
        ("position", "INT", "its place, from 0"),
        ("type", "STRING", "its type, as its source writes it"),
        ("description", "STRING", "what it means, as its source says: a schema file, dbt, an event"),
        ("tags", "ARRAY<STRING>", "words put on it, such as `email`"),
        ("origin", "STRING", "how it is known: imported, implied by SQL, observed in a run, or only described"),
        ("words", "STRING", "what `headwater describe` says it means; shown instead of the description"),
        ("owner", "STRING", "of a table as a whole: whose it is, as dbt says; the tag `owner:NAME` is shown instead"),
    ),
    options=(("merge-engine", "partial-update"),),  # what one source does not know, another may have said
)
STATEMENTS = TableSpec(
    "statements",
    "SQL statements that were harvested.",
    ("statement",),
    (
        ("statement", "STRING NOT NULL", "`file#number`, or the id of a log entry"),
        ("source", "STRING", "the file or log it is from"),
        ("number", "INT", "its place there, from 0"),
        ("dialect", "STRING", "the SQL dialect it was read in"),
        ("type", "STRING", "INSERT, MERGE, CREATE_TABLE_AS, …"),
        ("target", "STRING", "the dataset it writes"),
        ("reads", "ARRAY<STRING>", "the datasets it reads"),
        ("status", "STRING", "resolved, approximate, table-only or error"),
        ("text", "STRING", "the statement itself"),
        ("line", "INT", "where it begins in its file"),
        ("start", "INT", "the character it begins at"),
        ("user", "STRING", "who ran it, from a log"),
        ("time", "TIMESTAMP_LTZ", "when it ran, from a log"),
        ("fingerprint", "STRING", "of its text, dialect and the schema it touched"),
        ("observed_reads", "ARRAY<STRING>", "the tables that the warehouse says its text read, from a log"),
        ("observed_writes", "ARRAY<STRING>", "the tables that the warehouse says its text wrote, from a log"),
    ),
)
EDGES = TableSpec(
    "edges",
    "Which column takes part in which, in which way, and who says so.",
    ("statement", "target", "target_column", "source", "source_column", "kind"),
    (
        ("statement", "STRING NOT NULL", "the statement that says so; `job:namespace/name` for an observed job"),
        ("target", "STRING NOT NULL", "the dataset that is made"),
        ("target_column", "STRING NOT NULL", "its column, or * for its rows"),
        ("source", "STRING NOT NULL", "the dataset that is used"),
        ("source_column", "STRING NOT NULL", "its column, or * for its rows"),
        ("kind", "STRING NOT NULL", "IDENTITY, TRANSFORMATION, AGGREGATION, CONDITIONAL, WINDOW, FILTER, JOIN, …"),
        ("expression", "STRING", "how, as far as its first 2,000 characters"),
        ("masking", "BOOLEAN", "whether the value cannot be told from the result"),
        ("approximate", "STRING", "why it is in doubt; null when it is not"),
        ("file", "STRING", "the file that says so"),
        ("line", "INT", "the line there where the source column stands"),
        ("start", "INT", "its first character there"),
        ("end", "INT", "the character after the last"),
        ("observed", "BOOLEAN", "whether a run did it, rather than a text saying so"),
        ("run", "STRING", "the last run that did it"),
        ("seen", "TIMESTAMP_LTZ", "when that run reported it"),
    ),
    options=(("file.block-size", "131072"),),  # it is read whole far more often than by key
)
RUNS = TableSpec(
    "runs",
    "Runs that were observed.",
    ("run",),
    (
        ("run", "STRING NOT NULL", "its id"),
        ("job", "STRING", "what ran, as `namespace/name`"),
        ("state", "STRING", "START, RUNNING, COMPLETE, FAIL or ABORT"),
        ("started", "TIMESTAMP_LTZ", "when it began"),
        ("ended", "TIMESTAMP_LTZ", "when it ended"),
        ("engine", "STRING", "what ran it"),
        ("sql", "STRING", "its query, where it has one"),
        ("code", "STRING", "its program, where an event brings the text of it"),
        ("error", "STRING", "why it failed"),
        ("parent", "STRING", "the run it is a part of"),
        ("producer", "STRING", "who reported it"),
    ),
)
RUN_INPUTS = TableSpec(
    "run_inputs",
    "What a run read and wrote, at which version.",
    ("run", "dataset", "role"),
    (
        ("run", "STRING NOT NULL", "the run"),
        ("dataset", "STRING NOT NULL", "the dataset"),
        ("role", "STRING NOT NULL", "input or output"),
        ("version", "STRING", "the snapshot or version of it"),
        ("table_uuid", "STRING", "which table had the name then; a lake table that is replaced is another one"),
        ("columns", "ARRAY<STRING>", "the columns that took part, where known"),
        ("rows", "BIGINT", "rows read or written"),
        ("bytes", "BIGINT", "bytes read or written"),
        ("files", "BIGINT", "files read or written"),
    ),
)
ISSUES = TableSpec(
    "issues",
    "What was found wrong or doubtful while harvesting.",
    ("statement", "number"),
    (
        ("statement", "STRING NOT NULL", "the statement, or the file of a finding that belongs to none"),
        ("number", "INT NOT NULL", "its place among the findings of that statement"),
        ("code", "STRING", "`headwater explain CODE` tells more"),
        ("severity", "STRING", "error, warning or info"),
        ("message", "STRING", "what it is"),
        ("hint", "STRING", "what to do"),
        ("file", "STRING", "where"),
        ("line", "INT", "where"),
        ("column", "INT", "where"),
    ),
)
CHECKS = TableSpec(
    "checks",
    "Checks of data, and what was measured, pinned to the version that they looked at.",
    ("run", "dataset", "column", "check"),
    (
        ("run", "STRING NOT NULL", "the run that checked; the moment of an event that belongs to no run"),
        ("dataset", "STRING NOT NULL", "the dataset"),
        ("column", "STRING NOT NULL", "its column, or * for the dataset as a whole"),
        ("check", "STRING NOT NULL", "the name of the check"),
        ("outcome", "STRING", "pass, warn or fail; measured for a figure that nothing is expected of"),
        ("version", "STRING", "the snapshot or version that was looked at; null when it is not known"),
        ("table_uuid", "STRING", "which lake table had the name then; null for everything else"),
        ("time", "TIMESTAMP_LTZ", "when"),
        ("source", "STRING", "who checked: check-data, dbt, great-expectations, soda, or the producer of an event"),
        ("expected", "STRING", "what was expected"),
        ("actual", "STRING", "what was found"),
        ("message", "STRING", "what the check says of it"),
    ),
)
HARVESTS = TableSpec(
    "harvests",
    "Every change of the graph, with the snapshots of the tables that belong together.",
    ("harvest",),
    (
        ("harvest", "STRING NOT NULL", "its id, ordered by time"),
        ("kind", "STRING", "harvest, or ingest of events"),
        ("sources", "ARRAY<STRING>", "the folders, files and logs"),
        ("dialects", "ARRAY<STRING>", "the dialects they were read in"),
        ("started", "TIMESTAMP_LTZ", "when it began"),
        ("ended", "TIMESTAMP_LTZ", "when it ended"),
        ("statements", "BIGINT", "statements in the sources"),
        ("analysed", "BIGINT", "of those, analysed this time"),
        ("removed", "BIGINT", "statements that are there no more"),
        ("edges", "BIGINT", "edges written"),
        ("issues", "BIGINT", "findings written"),
        ("waves", "INT", "rounds that resolution took"),
        ("snapshots", "MAP<STRING, BIGINT>", "the snapshot of each table that shows this state"),
        ("number", "BIGINT", "the number of the state that it made; null in records of early versions"),
    ),
)

UNITS = TableSpec(
    "units",
    "Stretches of SQL text that were analysed on their own, with what they saw of the schema and did to it: "
    "what a harvest needs in order not to analyse them again.",
    ("unit",),
    (
        ("unit", "STRING NOT NULL", "the id of its first statement"),
        ("root", "STRING", "the folder, file or log it was found in, as it was named"),
        ("source", "STRING", "the file or log entry it is from"),
        ("number", "INT", "the number of its first statement there"),
        ("count", "INT", "how many statements it is"),
        ("fingerprint", "STRING", "of its text, its place, its dialect and how it was read"),
        ("sight", "BINARY", "what it saw of the schema, as MessagePack"),
        ("effects", "BINARY", "what it did to the schema, as MessagePack"),
        ("findings", "INT", "how many errors and warnings it has"),
        ("harvest", "STRING", "the harvest that analysed it"),
    ),
)

FACT_TABLES = (UNITS, STATEMENTS, DATASETS, COLUMNS, EDGES, RUNS, RUN_INPUTS, ISSUES, CHECKS)
"""In the order in which they are written: a unit that is there says that its rows are being written."""

ALL_TABLES = (*FACT_TABLES, HARVESTS)

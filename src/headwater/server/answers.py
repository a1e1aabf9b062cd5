"""The answers of the API, as types: the OpenAPI document follows from them, and mypy holds the endpoints to them.
They are dictionaries, because that is what rows of a lake table and the formats of the graph are."""

from datetime import datetime
from typing import NotRequired, TypedDict

from headwater.graph.node_json import MarkJson, NodeJson
from headwater.lake.metadata.snapshot import Summary
from headwater.lake.tables.stats import TableLevel


class About(TypedDict):
    """The server; `state` is the number of the graph's latest state, 0 when there is none."""

    version: str
    warehouse: str
    state: int


class NamedType(TypedDict):
    """A column and its type, as its source writes it; `marks` are the failed checks that it descends from."""

    name: str
    type: str | None
    description: str | None
    tags: list[str]
    marks: list[MarkJson]


class DatasetColumns(TypedDict):
    """A dataset: its columns, and the datasets left and right of it; its owner is also the tag `owner:NAME`."""

    dataset: str
    description: str | None
    owner: str | None
    tags: list[str]
    kind: str
    columns: list[NamedType]
    upstream: list[str]
    downstream: list[str]
    members: list[str]
    in_lake: bool


class MapAnswer(TypedDict):
    """Every dataset with the number of its region, and pairs of numbers: the second is made of the first."""

    state: int
    regions: list[str]
    tables: list[str]
    region: list[int]
    kind: list[str]
    columns: list[int]
    pairs: list[tuple[int, int]]


class StateRow(TypedDict):
    """One state that the graph has had; `expired` when it cannot be read any more."""

    number: int
    harvest: str
    kind: str
    sources: list[str] | None
    ended: datetime
    statements: int | None
    analysed: int | None
    removed: int | None
    edges: int | None
    issues: int | None
    expired: bool


class States(TypedDict):
    states: list[StateRow]


# ---------------------------------------------------------------------------------------------------- records


class LitText(TypedDict):
    """The text that an edge comes from: a harvested `statement`, or the `query` or `program` of the run that did it.
    `start` and `end` are where in it the edge is written; `cut` when only a part is sent."""

    role: str

    text: str
    start: int | None
    end: int | None
    cut: bool
    line: int | None
    type: str | None
    status: str | None
    dialect: str | None


class RunOfEdge(TypedDict):
    """The last run that did what an edge says, and the snapshot it made; `title` says in words what the job did."""

    run: str
    job: str | None
    title: str | None
    state: str | None
    started: datetime | None
    ended: datetime | None
    snapshot: str | None


class EdgeRow(TypedDict):
    """One way in which two columns are joined."""

    source: str
    target: str
    source_column: str | None
    target_column: str | None
    kind: str
    influence: str
    expression: str | None
    masking: bool | None
    approximate: str | None
    statement: str
    file: str | None
    line: int | None
    observed: bool | None
    seen: datetime | None
    sql: LitText | None
    run: RunOfEdge | None


class Edges(TypedDict):
    edges: list[EdgeRow]


class RunDataset(TypedDict):
    """A dataset that a run read or wrote."""

    run: str
    dataset: str
    role: str
    version: str | None
    columns: list[str] | None
    rows: int | None
    bytes: int | None
    files: int | None


class RunRow(TypedDict):
    """A run that was observed; with its datasets when it is asked for by its id. `title` says what it did."""

    run: str
    job: str | None
    title: str | None
    state: str | None
    started: datetime | None
    ended: datetime | None
    seconds: float | None
    engine: str | None
    sql: str | None
    code: str | None
    error: str | None
    parent: str | None
    producer: str | None
    datasets: NotRequired[list[RunDataset]]


class Runs(TypedDict):
    total: int
    runs: list[RunRow]


class IssueRow(TypedDict):
    """Something wrong or doubtful, and where."""

    statement: str
    number: int
    code: str
    severity: str
    message: str
    hint: str | None
    file: str | None
    line: int | None
    column: int | None


class Issues(TypedDict):
    """`counts` is by code, of all there are."""

    total: int
    counts: dict[str, int]
    issues: list[IssueRow]


class CheckRow(TypedDict):
    """The result of a check, or a figure; `column` is `*` for the dataset as a whole."""

    run: str
    dataset: str
    column: str
    check: str
    outcome: str
    version: str | None
    table_uuid: str | None
    time: datetime
    source: str
    expected: str | None
    actual: str | None
    message: str | None


class Checks(TypedDict):
    """The newest result of each check, and the columns that descend from a failure."""

    checks: list[CheckRow]
    marks: list[NodeJson]


# ------------------------------------------------------------------------------------------------------- lake


class TableRow(TypedDict):
    """A table of the warehouse; `own` when the graph itself is kept in it."""

    table: str
    columns: int
    primary_key: tuple[str, ...]
    comment: str | None
    snapshot: int | None
    time: datetime | None
    rows: int
    files: int
    bytes: int
    own: NotRequired[bool]


class Tables(TypedDict):
    tables: list[TableRow]
    warehouse: str


class SchemaColumn(TypedDict):
    id: int
    name: str
    marks: NotRequired[list[MarkJson]]
    type: str
    nullable: bool
    description: str | None
    key: bool
    partition: bool


class TableSchema(TypedDict):
    """One version of a table's schema."""

    id: int
    time: datetime | None
    columns: list[SchemaColumn]
    options: dict[str, str]
    comment: str | None


class TableTag(TypedDict):
    tag: str
    snapshot: int


class TableDetail(TableRow):
    """A table with its schema and how its files stand."""

    schema: TableSchema
    tags: list[TableTag]
    levels: tuple[TableLevel, ...]
    buckets: int
    partitions: int
    most_runs: int
    snapshots: int


class SnapshotInput(TypedDict):
    dataset: str
    snapshot: int | None
    columns: tuple[str, ...]


class SnapshotRow(TypedDict):
    """A snapshot, with the run and the inputs it was made from."""

    snapshot: int
    schema: int
    time: datetime
    operation: str
    user: str
    summary: Summary
    run: str | None
    job: str | None
    title: str | None
    sql: str | None
    inputs: list[SnapshotInput]


class Snapshots(TypedDict):
    total: int
    snapshots: list[SnapshotRow]


class FileRow(TypedDict):
    """A live data file."""

    partition: list[str]
    bucket: int
    level: int
    name: str
    rows: int
    deletes: int
    bytes: int
    sequence: int


class FilesAnswer(TypedDict):
    total: int
    files: list[FileRow]


class Stopped(TypedDict):
    """The answer to a cancellation: true when the query was running."""

    stopped: bool


# ------------------------------------------------------------------------------------------------------ events


class ReceivedCounts(TypedDict):
    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class FailedEvent(TypedDict):
    """An event that is not one, by its place in the array."""

    index: int
    reason: str
    retriable: bool


class Received(TypedDict):
    """The fate of many events: `success`, `partial_success` or `failure`."""

    status: str
    summary: ReceivedCounts
    failed_events: list[FailedEvent]

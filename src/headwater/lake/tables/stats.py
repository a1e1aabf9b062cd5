"""The statistics of a table."""

from dataclasses import dataclass

from headwater.lake.engine.version import Version
from headwater.lake.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class TableLevel:
    """The files of one level, in all buckets."""

    level: int
    files: int
    rows: int
    deletes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TableStats:
    """A table at its latest snapshot. Rows are stored rows: versions of one key count each."""

    table: str
    snapshot_id: int
    schema_id: int
    snapshots: int
    tags: int
    partitions: int
    buckets: int  # that hold files, in all partitions
    files: int
    rows: int
    bytes: int
    most_runs: int  # sorted runs in the bucket that has most: what a scan of it merges
    levels: tuple[TableLevel, ...]
    compactions_given_up: int = 0  # by writes of this `Table` that others crossed


def table_stats(store: TableStore) -> TableStats:
    """Count what a table holds."""
    state = store.latest()
    files = [entry.file for entry in state.entries]
    levels = []
    for level in sorted({file.level for file in files}):
        here = [file for file in files if file.level == level]
        levels.append(
            TableLevel(
                level,
                len(here),
                sum(file.rows for file in here),
                sum(file.deletes for file in here),
                sum(file.size for file in here),
            )
        )
    runs = (len(Version(files=some).runs()) for some in state.places.values())
    return TableStats(
        table=str(store.name),
        snapshot_id=state.snapshot_id,
        schema_id=state.shape.schema.id,
        snapshots=len(store.committer.log.ids()),
        tags=len(store.tags.names()),
        partitions=len({partition for partition, _ in state.places}),
        buckets=len(state.places),
        files=len(files),
        rows=sum(file.rows for file in files),
        bytes=sum(file.size for file in files),
        most_runs=max(runs, default=0),
        levels=tuple(levels),
        compactions_given_up=store.given_up,
    )

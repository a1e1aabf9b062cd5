"""Snapshots: the states a table has had, and the log that orders them.

A snapshot is one small JSON file, `snapshot/snapshot-{id}`, ids from 1 without gaps. Whoever creates the file has
made the commit; there is no other lock. `LATEST` and `EARLIEST` are hints that save listings and may be stale or
missing without harm.

A snapshot knows where it came from: `origin` names the run that made it and, for each dataset that run read, the
snapshot and the columns it saw.
"""

import zlib
from collections.abc import Callable, Iterator
from enum import Enum

import msgspec

from headwater.errors import CorruptFileError, NotFoundError
from headwater.files import Files, Probing
from headwater.lake.engine.layout import PathFactory, snapshot_id
from headwater.lake.engine.stored_json import check_format_version, decode_json, encode_json

Probe = Callable[[], bool]
FORMAT_VERSION = 1
FIRST = 1
NO_SNAPSHOT = -1
"""The snapshot id of a table that nothing was written to."""


class Operation(Enum):
    """The operation of a commit."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    OVERWRITE = "OVERWRITE"
    COMPACT = "COMPACT"
    ROLLBACK = "ROLLBACK"


class InputVersion(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A dataset that a run read: which state of it, and which columns."""

    dataset: str
    snapshot_id: int | None = None
    table_uuid: str | None = None  # a table that is replaced is another one, whose snapshots begin with 1 again
    columns: tuple[str, ...] = ()
    moment: str | None = None  # the clause of time travel that named the state, as it was written


class ColumnOrigin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One edge of the lineage of a snapshot: a column of the table came from a column of an input."""

    column: str
    dataset: str
    source: str
    kind: str
    expression: str | None = None


class FileVersion(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file outside of the lake that a run read: its size and time tell whether it has changed since."""

    path: str
    size: int
    modified: int  # nanoseconds since 1970


class Recipe(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The rest of what it takes to run a commit's query again, besides the states that it read."""

    engine: str  # "duckdb" or "spark": whose SQL it is
    version: int = 1
    sql: str | None = None  # None: the text of the origin
    database: str | None = None  # of names without one
    settings: dict[str, str] = {}  # of the session, that change what the text means
    parameters: tuple[str | int | float | bool | None, ...] | dict[str, str | int | float | bool | None] | None = None
    files: tuple[FileVersion, ...] = ()
    place: str | None = None  # file and line of the program that ran it
    reason: str | None = None  # why it cannot be run again


class RefreshRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The way in which a refresh made a snapshot and its time, from which the plan of the next one tells its own."""

    way: str
    seconds: float


class Origin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The inputs that a snapshot was made from."""

    run_id: str | None = None
    job: str | None = None
    sql: str | None = None
    inputs: tuple[InputVersion, ...] = ()
    columns: tuple[ColumnOrigin, ...] = ()
    recipe: Recipe | None = None  # None: not made by a query, or by a version that kept none
    refresh: RefreshRecord | None = None  # None: not made by a refresh


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Counts after the commit, and what it added. Records are stored rows: versions of one key count each."""

    total_records: int = 0
    total_files: int = 0
    total_size: int = 0
    added_records: int = 0
    added_files: int = 0
    removed_files: int = 0


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One state of a table."""

    snapshot_id: int
    schema_id: int
    commit_user: str
    commit_id: str
    timestamp: int  # milliseconds since 1970
    operation: Operation
    manifest_list: str
    delta_manifest: str | None = None  # the files this commit added and removed
    summary: Summary = Summary()
    next_sequence: int = 1
    origin: Origin | None = None
    version: int = FORMAT_VERSION
    checksum: int = 0  # in the file only: CRC-32 of the JSON without it


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """A snapshot as its file has it."""
    plain = msgspec.structs.replace(snapshot, checksum=0)
    return encode_json(msgspec.structs.replace(plain, checksum=zlib.crc32(msgspec.json.encode(plain))))


def decode_snapshot(data: bytes, path: str) -> Snapshot:
    """Read a snapshot. RAISES: CorruptFileError when it is damaged or of a later version than this program knows."""
    snapshot = decode_json(data, Snapshot, path, what="a snapshot")
    check_format_version(path, snapshot.version, FORMAT_VERSION)
    plain = msgspec.structs.replace(snapshot, checksum=0)
    if zlib.crc32(msgspec.json.encode(plain)) != snapshot.checksum:
        raise CorruptFileError(f"{path} is damaged: its checksum does not hold")
    return plain


def next_sequence(latest: Snapshot | None) -> int:
    """The sequence of the next file of level 0 after a snapshot, None for the empty table."""
    return 1 if latest is None else latest.next_sequence


class SnapshotLog:
    """The snapshots of one table, in order."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self._probing = files if isinstance(files, Probing) else None
        self._seen: dict[int, Snapshot] = {}
        self._newest = NO_SNAPSHOT  # the highest id this log has seen
        self._probes: tuple[int, Probe, Probe] | None = None  # an id, whether it is there, whether the next is

    def latest(self) -> Snapshot | None:
        """The newest snapshot, None if there is none."""
        id = self.latest_id()
        return None if id == NO_SNAPSHOT else self.get(id)

    def latest_id(self) -> int:
        """The id of the newest snapshot, `NO_SNAPSHOT` if there is none."""
        if self._is_newest_still():
            return self._newest
        id = self._newest if self._exists(self._newest) else self._hinted()
        while id != NO_SNAPSHOT and self._exists(id + 1):
            id += 1
        self._newest = max(id, self._newest)
        return id

    def earliest_id(self) -> int:
        """The id of the oldest snapshot that is kept, `NO_SNAPSHOT` if there is none."""
        hinted = self._hint(self._paths.earliest_snapshot)
        if hinted is not None and self._exists(hinted) and not self._exists(hinted - 1):
            return hinted
        return min(self._listed(), default=NO_SNAPSHOT)

    def get(self, id: int) -> Snapshot:
        """One snapshot. RAISES: NotFoundError naming those there are."""
        known = self._seen.get(id)
        if known is None:
            path = self._paths.snapshot(id)
            try:
                known = decode_snapshot(self._files.get(path), path)
            except NotFoundError as err:
                raise NotFoundError(f"there is no snapshot {id} of {self._paths.folder}", hint=self._range()) from err
            self._seen[id] = known
        return known

    def ids(self) -> list[int]:
        """The ids of all snapshots, in order."""
        return sorted(self._listed())

    def newest_first(self) -> Iterator[Snapshot]:
        """Every snapshot from the newest back to the oldest that is kept."""
        id = self.latest_id()
        while id >= FIRST:
            try:
                yield self.get(id)
            except NotFoundError:  # the oldest is passed, or a repair has set this one aside
                id = max((each for each in self._listed() if each < id), default=NO_SNAPSHOT)
                continue
            id -= 1

    def publish(self, snapshot: Snapshot) -> None:
        """Make a snapshot the next one. RAISES: AlreadyExistsError when somebody else has made one with that id."""
        self._files.put_if_absent(self._paths.snapshot(snapshot.snapshot_id), encode_snapshot(snapshot))
        self._newest = max(self._newest, snapshot.snapshot_id)
        self._files.put(self._paths.latest_snapshot, str(snapshot.snapshot_id).encode(), synced=False)

    def forget(self, ids: list[int], *, earliest: int) -> None:
        """Remove snapshots, oldest first, then point `EARLIEST` at the oldest that stays.
        Writing a file makes the removals in its folder durable: after it, no loss of power brings a snapshot back."""
        for id in sorted(ids):
            self._files.delete(self._paths.snapshot(id))
            self._seen.pop(id, None)
        self._files.put(self._paths.earliest_snapshot, str(earliest).encode())

    def _is_newest_still(self) -> bool:
        """Return whether the newest snapshot seen is the newest there is; False where that cannot be told quickly."""
        id, probes = self._newest, self._probes
        if probes is None or probes[0] != id:
            if id < FIRST or self._probing is None:
                return False
            here, following = self._paths.snapshot(id), self._paths.snapshot(id + 1)
            self._probes = probes = (id, self._probing.probe(here), self._probing.probe(following))
        return probes[1]() and not probes[2]()

    def _exists(self, id: int) -> bool:
        """Return whether a snapshot is on disk now; one seen before may have been expired by somebody else."""
        if id < FIRST:
            return False
        try:
            return bool(self._files.get_range(self._paths.snapshot(id), 0, 1))
        except NotFoundError:
            return False

    def _hinted(self) -> int:
        hinted = self._hint(self._paths.latest_snapshot)
        if hinted is not None and self._exists(hinted):
            return hinted
        return max(self._listed(), default=NO_SNAPSHOT)

    def _hint(self, path: str) -> int | None:
        try:
            return int(self._files.get(path))
        except (NotFoundError, ValueError):
            return None

    def _listed(self) -> list[int]:
        names = (entry.name for entry in self._files.list(self._paths.snapshot_folder))
        return [id for id in map(snapshot_id, names) if id is not None]

    def _range(self) -> str:
        ids = self.ids()
        return f"snapshots {ids[0]} to {ids[-1]} are kept" if ids else "the table has no snapshots yet"

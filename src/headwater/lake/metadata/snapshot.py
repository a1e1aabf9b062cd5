"""Snapshots: the states a table has had, and the log that orders them.

A snapshot is one small JSON file, `snapshot/snapshot-{id}`, ids from 1 without gaps. Whoever creates the file has
made the commit; there is no other lock. `LATEST` is a hint that saves a listing and may be stale or missing.
Snapshots below `EARLIEST` have expired: a writer that finds the place of one free does not take it. `EXPIRED` names
the last of them, so that a writer that was slow can tell whether one was its own.

A snapshot knows where it came from: `origin` names the run that made it and, for each dataset that run read, the
snapshot and the columns it saw.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum

import msgspec

from headwater.errors import AlreadyExistsError, CorruptFileError, NotFoundError
from headwater.files import Files, Probing
from headwater.lake.engine.layout import PathFactory, snapshot_id
from headwater.lake.engine.stored_json import check_format_version, decode_json, encode_json

Probe = Callable[[], bool]
FORMAT_VERSION = 1
FIRST = 1
NO_SNAPSHOT = -1
"""The snapshot id of a table that nothing was written to."""
_LOOKS = 10  # for the newest snapshot, while others commit and expire
_MOST_EXPIRED = 200  # expired snapshots that are noted, for writers that were slow


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
        """The newest snapshot, None if there is none; a newer one when others expire it meanwhile."""
        for _ in range(_LOOKS):
            id = self.latest_id()
            with suppress(NotFoundError):
                return None if id == NO_SNAPSHOT else self.get(id)
        return self.get(self.latest_id())

    def latest_id(self) -> int:
        """The id of the newest snapshot, `NO_SNAPSHOT` if there is none."""
        if self._is_newest_still():
            return self._newest
        while True:
            floor = self._noted_floor()
            id = self._newest if self._newest >= floor and self._exists(self._newest) else self._hinted(floor)
            while id != NO_SNAPSHOT and self._exists(id + 1):
                id += 1
            if self._noted_floor() == floor:  # nothing has expired while we looked
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
        """Make a snapshot the next one. RAISES: AlreadyExistsError when there is, or has been, one with that id.
        Its place may be free because it has expired since this writer looked: then it must stay so."""
        path = self._paths.snapshot(snapshot.snapshot_id)
        self._files.put_if_absent(path, encode_snapshot(snapshot))
        if self._has_expired(snapshot.snapshot_id):
            self._files.delete(path)
            raise AlreadyExistsError(f"{path} has expired")
        self._newest = max(self._newest, snapshot.snapshot_id)
        self._files.put(self._paths.latest_snapshot, str(snapshot.snapshot_id).encode(), synced=False)

    def manifest_list_of(self, id: int) -> str | None:
        """The manifest list of a snapshot, also if it has expired of late: nobody else has it. None if not known."""
        if not self._has_expired(id):
            with suppress(NotFoundError):
                return self.get(id).manifest_list
        return self._expired().get(id)

    def forget(self, ids: list[int], *, earliest: int) -> None:
        """Note what expires, point `EARLIEST` at the oldest that stays, then remove the others, oldest first.
        Whoever finds the place of a removed one free also finds `EARLIEST` above it, and does not publish there; nor
        does a snapshot count that a loss of power brings back."""
        floor, there = self._there()
        earliest = max(earliest, floor)
        lists = {id: name for id in ids if (name := self.manifest_list_of(id)) is not None}
        expired = self._expired() | lists
        kept = dict(sorted(expired.items())[-_MOST_EXPIRED:])
        self._files.put(self._paths.expired_snapshots, msgspec.json.encode(kept))
        self._files.put(self._paths.earliest_snapshot, str(earliest).encode())
        for id in sorted({*ids, *(id for id in there if id < earliest)}):
            self._files.delete(self._paths.snapshot(id))
            self._seen.pop(id, None)
        self._raise_floor()

    def _raise_floor(self) -> None:
        """Point `EARLIEST` above the last gap: in an object store another expiry, with an older view, may have
        written its own number after ours."""
        there = set(self._there()[1])
        first = max(there, default=FIRST)
        while first - 1 in there:
            first -= 1
        if self._noted_floor() < first:
            self._files.put(self._paths.earliest_snapshot, str(first).encode())

    def _expired(self) -> dict[int, str]:
        """The manifest lists of the snapshots that have expired last."""
        try:
            return msgspec.json.decode(self._files.get(self._paths.expired_snapshots), type=dict[int, str])
        except (NotFoundError, msgspec.DecodeError):  # a damaged note tells nothing
            return {}

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

    def _has_expired(self, id: int) -> bool:
        """Return whether a snapshot is below those that count, even if its file is there."""
        return id < self._noted_floor() and id < self._there()[0]

    def _there(self) -> tuple[int, list[int]]:
        """The least id that counts, and all that have a file. As long as the note stays what it is, the snapshot that
        it names stays; a note that names none is damaged, and tells nothing."""
        while True:
            noted = self._noted_floor()
            names = (entry.name for entry in self._files.list(self._paths.snapshot_folder))
            there = [id for id in map(snapshot_id, names) if id is not None]
            if any(id >= noted for id in there):
                return noted, there
            if self._noted_floor() == noted:
                return FIRST, there

    def _noted_floor(self) -> int:
        noted = self._hint(self._paths.earliest_snapshot)
        return FIRST if noted is None else noted

    def _hinted(self, floor: int) -> int:
        hinted = self._hint(self._paths.latest_snapshot)
        if hinted is not None and hinted >= floor and self._exists(hinted):
            return hinted
        return max(self._listed(), default=NO_SNAPSHOT)

    def _hint(self, path: str) -> int | None:
        try:
            return int(self._files.get(path))
        except (NotFoundError, ValueError):
            return None

    def _listed(self) -> list[int]:
        floor, there = self._there()
        return [id for id in there if id >= floor]

    def _range(self) -> str:
        ids = self.ids()
        return f"snapshots {ids[0]} to {ids[-1]} are kept" if ids else "the table has no snapshots yet"

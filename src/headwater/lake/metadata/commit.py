"""Commits: how a change becomes the next snapshot, among any number of writers.

    write data files → read the latest snapshot → check for conflicts → write the delta manifest and the manifest list
    → create `snapshot-{n+1}`, which succeeds for exactly one writer → on loss, begin again from "read the latest"

What is written before the last step is invisible; a writer that dies leaves orphans, which the cleaner removes. The
order of rows is the order of commits: files get their sequence numbers from the snapshot they land in, so the later
commit wins whatever its writer had seen.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from headwater.errors import CommitConflictError, NotFoundError, StorageError
from headwater.files import Files
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.manifest import EntryKind, ManifestEntry, ManifestFile, Manifests, Partition
from headwater.lake.metadata.snapshot import (
    FIRST,
    NO_SNAPSHOT,
    Operation,
    Origin,
    Snapshot,
    SnapshotLog,
    Summary,
    next_sequence,
)

ATTEMPTS = 100
"""How often a commit is tried. Each lost race means that another writer has succeeded."""
_FIRST_PAUSE = 0.002
_logger = logging.getLogger("headwater.lake")
_LOOKS = 5  # at a latest snapshot that another process may be expiring
_LONGEST_PAUSE = 0.5
_REWRITES = (Operation.COMPACT, Operation.ROLLBACK)  # they change which runs are below which


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """A data file and the bucket it belongs to."""

    file: DataFile
    bucket: int = 0
    partition: Partition = ()

    def entry(self, kind: EntryKind) -> ManifestEntry:
        return ManifestEntry(kind, self.file, self.bucket, self.partition)


Guard: TypeAlias = Callable[[Snapshot, Sequence[ManifestEntry]], None]
"""Looks at what another commit has done since the base of a change, and raises CommitConflictError to refuse."""


@dataclass(frozen=True, slots=True)
class TableChange:
    """The work of a commit.

    `user` and `id` together name the commit. With `replayed`, it may have landed before (a stream that was restarted,
    a job that was run again): then it is looked for in the whole log, and lands once. `base` is the snapshot that
    `removed` was read from, and from which on `guard` is shown every commit. With `replaced`, all files of those
    partitions (None: of the table) that are there when the commit lands are removed too. With `restores`, `added` is
    a state the table had before: its files come back as they were, and those that are live already stay.
    """

    operation: Operation
    user: str
    id: str
    schema_id: int
    added: tuple[PlacedFile, ...] = ()
    removed: tuple[PlacedFile, ...] = ()
    base: int | None = None
    replaces: bool = False
    restores: bool = False
    replaced: frozenset[Partition] | None = None
    origin: Origin | None = None
    replayed: bool = False
    guard: Guard | None = None
    check: Callable[[Snapshot | None], None] | None = None  # looks at the state that the change would be added to
    since: int = 0  # with `replayed`: the earlier attempt, if there was one, landed after this snapshot


_Files: TypeAlias = tuple[tuple[PlacedFile, ...], tuple[PlacedFile, ...]]  # to add, to remove


class Committer:
    """Makes changes the next snapshot of one table."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self.log = SnapshotLog(files, paths)
        self.manifests = Manifests(files, paths)

    def commit(self, change: TableChange, *, attempts: int = ATTEMPTS) -> Snapshot:
        """Make a change the next snapshot and return that.
        RAISES: CommitConflictError when the change no longer fits, or other writers were faster `attempts` times."""
        pause = _FIRST_PAUSE
        since = change.since if change.replayed else None  # from where on an earlier attempt may have landed
        for attempt in range(1, attempts + 1):
            latest = self.log.latest()
            landed = None if since is None else self._landed(change, since)
            if landed is not None:
                return landed
            if since is None:
                since = latest.snapshot_id if latest else 0
            written: list[str] = []
            snapshot = self._attempted(change, latest, written, is_patient=attempt < _LOOKS)
            if snapshot is not None:
                return snapshot
            for name in written:
                self._files.delete(self._paths.manifest(name))
            taken = (self._paths.folder, (latest.snapshot_id if latest else 0) + 1, change.operation.value, attempt)
            _logger.info("commit retry table=%s snapshot=%d operation=%s attempt=%d", *taken)
            time.sleep(pause * random.random())
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise CommitConflictError(
            f"{self._paths.folder}: other writers were faster {attempts} times", hint="commit less often, or retry"
        )

    # ------------------------------------------------------------------------------------------- one attempt

    def _attempted(
        self, change: TableChange, latest: Snapshot | None, written: list[str], *, is_patient: bool
    ) -> Snapshot | None:
        """The snapshot after the latest, if no other writer was faster. New manifests are named in `written`.
        Files that are gone are of a latest snapshot that is expiring; without patience, they are missing."""
        try:
            snapshot = self._prepared(change, self._checked(change, latest), latest, written)
        except NotFoundError:
            if not is_patient and self.log.latest_id() == (latest.snapshot_id if latest else NO_SNAPSHOT):
                raise
            return None
        return snapshot if self._published(snapshot) else None

    def _published(self, snapshot: Snapshot) -> bool:
        """Publish a snapshot; False when another writer has taken its place.
        A store may take a file and lose the answer, and a client that tries again is then told that it exists. So
        whatever the answer was, the file decides: the snapshot with our manifest list in it is ours."""
        try:
            self.log.publish(snapshot)
        except StorageError as err:
            found = self.log.manifest_list_of(snapshot.snapshot_id)
            if found is None:
                raise err
            return found == snapshot.manifest_list
        return True

    def _landed(self, change: TableChange, since: int) -> Snapshot | None:
        """The snapshot after `since` that an earlier attempt of the same commit has made, its answer lost."""
        for snapshot in self.log.newest_first():
            if snapshot.snapshot_id <= since:
                return None
            if (snapshot.commit_user, snapshot.commit_id) == (change.user, change.id):
                return snapshot
        return None

    def find(self, user: str, id: str) -> Snapshot | None:
        """The snapshot that a commit has made, if it landed and is still kept."""
        for snapshot in self.log.newest_first():
            if (snapshot.commit_user, snapshot.commit_id) == (user, id):
                return snapshot
        return None

    def _checked(self, change: TableChange, latest: Snapshot | None) -> _Files:
        """The files to add and to remove, if the change still fits the latest state.
        RAISES: CommitConflictError when one to remove is gone, or its bucket was rewritten in between."""
        if change.check is not None:
            change.check(latest)
        if change.guard is not None:
            for between, delta in self._since(change.base, latest):
                change.guard(between, delta)
        if change.replaces and latest is not None:
            return self._replacing(change, latest)
        if not change.removed or latest is None:
            return change.added, change.removed
        names = {placed.file.name for placed in change.removed}
        buckets = {(placed.partition, placed.bucket) for placed in change.removed}
        for between, delta in self._since(change.base, latest):
            for entry in delta:
                rewritten = between.operation in _REWRITES and (entry.partition, entry.bucket) in buckets
                if (entry.kind is EntryKind.DELETE and entry.file.name in names) or rewritten:
                    raise CommitConflictError(
                        f"{entry.file.name} was rewritten by snapshot {between.snapshot_id}",
                        hint="do the work again on the new state",
                    )
        return change.added, change.removed

    def _since(
        self, base: int | None, latest: Snapshot | None
    ) -> Iterator[tuple[Snapshot, tuple[ManifestEntry, ...]]]:
        """The snapshots after that which a change was made on, with what each added and removed.
        RAISES: CommitConflictError when one has expired: then nobody can tell whether the change still fits."""
        for id in range((base or 0) + 1, (latest.snapshot_id if latest else 0) + 1):
            try:
                between = self.log.get(id)
                delta = self.delta(between)
            except NotFoundError as err:
                raise CommitConflictError(
                    f"{self._paths.folder}: snapshot {id} came since, and has expired",
                    hint="do the work again on the new state",
                ) from err
            yield between, delta

    def _replacing(self, change: TableChange, latest: Snapshot) -> _Files:
        """A change that takes the place of whole partitions: what it adds, and what is there now."""
        wanted = change.replaced
        live = [
            PlacedFile(entry.file, entry.bucket, entry.partition)
            for entry in self.manifests.live(latest.manifest_list)
            if wanted is None or entry.partition in wanted
        ]
        if not change.restores:
            return change.added, tuple(live)
        same = {_place(placed) for placed in live} & {_place(placed) for placed in change.added}
        return (
            tuple(placed for placed in change.added if _place(placed) not in same),
            tuple(placed for placed in live if _place(placed) not in same),
        )

    def _prepared(self, change: TableChange, files: _Files, latest: Snapshot | None, written: list[str]) -> Snapshot:
        """The next snapshot, with its manifests written; their names go to `written`."""
        added: Sequence[PlacedFile]
        added, removed = files
        sequence = next_sequence(latest)
        if not change.restores:
            added, sequence = _in_sequence(added, sequence)
        entries = [placed.entry(EntryKind.DELETE) for placed in removed]
        entries += [placed.entry(EntryKind.ADD) for placed in added]
        before: list[ManifestFile] = self.manifests.read_list(latest.manifest_list) if latest else []
        live = latest.summary.total_files if latest and change.operation is Operation.COMPACT else None
        manifests = self.manifests.compact(before, live=live)
        written += [manifest.name for manifest in manifests if manifest not in before]
        delta = self.manifests.write(entries) if entries else None
        if delta is not None:
            written.append(delta.name)
            manifests.append(delta)
        name = self.manifests.write_list(manifests)
        written.append(name)
        return Snapshot(
            snapshot_id=latest.snapshot_id + 1 if latest else FIRST,
            schema_id=max(change.schema_id, latest.schema_id if latest else 0),
            commit_user=change.user,
            commit_id=change.id,
            timestamp=max(int(time.time() * 1000), latest.timestamp if latest else 0),
            operation=change.operation,
            manifest_list=name,
            delta_manifest=delta.name if delta else None,
            summary=_summary(latest, added, removed),
            next_sequence=sequence,
            origin=change.origin,
        )

    def delta(self, snapshot: Snapshot) -> tuple[ManifestEntry, ...]:
        """Return what one snapshot added and removed."""
        if snapshot.delta_manifest is None:
            return ()
        return self.manifests.read_named(snapshot.delta_manifest, snapshot.manifest_list)


def _place(placed: PlacedFile) -> tuple[str, int]:
    return placed.file.name, placed.file.level


def _in_sequence(added: Sequence[PlacedFile], sequence: int) -> tuple[list[PlacedFile], int]:
    """New files of level 0 numbered in the order of the commit; rewritten ones keep the age of their rows."""
    placed = []
    for each in added:
        if each.file.level == 0:
            each = replace(each, file=msgspec.structs.replace(each.file, sequence=sequence))
            sequence += 1
        placed.append(each)
    return placed, sequence


def _summary(latest: Snapshot | None, added: Sequence[PlacedFile], removed: Sequence[PlacedFile]) -> Summary:
    before = latest.summary if latest else Summary()
    rows = sum(placed.file.rows for placed in added)
    return msgspec.structs.replace(
        before,
        total_records=before.total_records + rows - sum(placed.file.rows for placed in removed),
        total_files=before.total_files + len(added) - len(removed),
        total_size=before.total_size
        + sum(placed.file.size for placed in added)
        - sum(placed.file.size for placed in removed),
        added_records=rows,
        added_files=len(added),
        removed_files=len(removed),
    )

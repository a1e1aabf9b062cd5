"""Expiry of what is no longer needed: expired snapshots and the files only they had, and files that no snapshot ever
had. Expiry removes the snapshots themselves, makes that durable, and only then removes what they needed: a crash in
between leaves files that nothing refers to, which the orphan clean-up finds, and never a snapshot whose files are
gone. Nothing is removed that a kept snapshot, a tag or a reader's lease can reach."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from headwater.errors import NotFoundError, StorageError
from headwater.files import FileEntry, Files, Locking
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.commit import Committer
from headwater.lake.metadata.manifest import EntryKind
from headwater.lake.metadata.snapshot import NO_SNAPSHOT, Snapshot

DAY = 86_400.0
_PATIENCE, _PAUSE = 600.0, 0.01  # seconds that an expiry waits for another, and between two looks
_logger = logging.getLogger("headwater.lake")


@dataclass(frozen=True, slots=True)
class Retention:
    """The snapshots to keep: at least `min_snapshots`, at most `max_snapshots`, and those younger than
    `age_millis`. With an age of 0 none is kept for its age, whatever the clocks say."""

    min_snapshots: int = 10
    max_snapshots: int = 1 << 60
    age_millis: int = 3_600_000


@dataclass(frozen=True, slots=True)
class Removal:
    """The result of a clean-up, or of a dry run: snapshot ids, and paths of files."""

    snapshots: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    size: int = 0


Delete = Callable[[Sequence[str]], None]


class Cleaner:
    """Expiry and orphan removal for one table. `held` are snapshots that tags and readers need."""

    def __init__(self, files: Files, paths: PathFactory, committer: Committer, delete: Delete | None = None) -> None:
        """`delete` removes many files; by default they are removed one after the other."""
        self._files = files
        self._delete = delete if delete is not None else self._delete_each
        self._paths = paths
        self._committer = committer

    def expire(
        self,
        retention: Retention,
        *,
        now_millis: int,
        held: Callable[[], Iterable[Snapshot]] = tuple,
        dry_run: bool = False,
    ) -> Removal:
        """Remove the snapshots that retention does not keep, and what only they need.
        `held` is asked once they are gone: a reader that leased one before that has it, a later one finds it gone."""
        log = self._committer.log
        with nullcontext() if dry_run else self._alone():
            found = None
            while found is None:
                found = self._no_longer_needed(log.ids(), retention, now_millis)
            expired, kept_from, data, manifests = found
            if not expired:
                return Removal()
            if not dry_run:
                log.forget(expired, earliest=kept_from)
            needed = list(held())
            paths = [*sorted(data - self._reachable(needed)), *sorted(manifests - self._manifests(needed))]
            if not dry_run:
                self._delete(paths)
                removed = (self._paths.folder, expired[0], expired[-1], len(paths))
                _logger.info("expiry table=%s snapshots=%d..%d files=%d", *removed)
            return Removal(tuple(expired), tuple(paths))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other expiries out, on a store that has locks. RAISES: StorageError when one does not end."""
        if not isinstance(self._files, Locking):
            yield
            return
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                held = self._files.lock(self._paths.expiry_lock)
                break
            except StorageError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)
        try:
            yield
        finally:
            held.close()

    def _no_longer_needed(
        self, ids: list[int], retention: Retention, now_millis: int
    ) -> tuple[list[int], int, set[str], set[str]] | None:
        """The snapshots that retention does not keep, the oldest that stays, and the data files and manifests that
        only those need; None when another expiry removes some meanwhile."""
        log = self._committer.log
        try:
            kept_from = self._kept_from(ids, retention, now_millis)
            expired = [id for id in ids if id < kept_from]
            data = self._dropped_data(expired, kept_from) if expired else set()
            manifests = self._manifests(log.get(id) for id in expired)
            manifests -= self._manifests(log.get(id) for id in ids if id >= kept_from) if expired else set()
        except NotFoundError:
            if log.ids()[:1] == ids[:1]:
                raise
            return None
        return expired, kept_from, data, manifests

    def orphans(
        self, *, older_than: float = DAY, now: float, held: Iterable[Snapshot] = (), dry_run: bool = True
    ) -> Removal:
        """Files of the table that no snapshot, tag or lease can reach; those of writers still at work are young."""
        snapshots = [*self._snapshots(), *held]
        reachable = self._reachable(snapshots) | self._manifests(snapshots)
        listed: list[FileEntry] = []
        for folder in (self._paths.data_folder, self._paths.manifest_folder):
            listed += self._files.list(folder, deep=True)
        orphans = [entry for entry in listed if entry.path not in reachable and entry.modified <= now - older_than]
        if not dry_run:
            self._delete([entry.path for entry in orphans])
        return Removal(files=tuple(entry.path for entry in orphans), size=sum(entry.size for entry in orphans))

    def release(self, snapshot: Snapshot, *, held: Iterable[Snapshot]) -> Removal:
        """Remove what only a snapshot needs that is no longer kept itself."""
        kept = [*self._snapshots(), *held]
        data = self._reachable([snapshot]) - self._reachable(kept)
        manifests = self._manifests([snapshot]) - self._manifests(kept)
        paths = (*sorted(data), *sorted(manifests))
        self._delete(paths)
        return Removal(files=paths)

    def _delete_each(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._files.delete(path)

    def _kept_from(self, ids: list[int], retention: Retention, now_millis: int) -> int:
        """The oldest snapshot to keep."""
        if not ids:
            return NO_SNAPSHOT
        kept = set(ids[-max(1, retention.min_snapshots) :])
        if retention.age_millis <= 0:  # the store's clock, in ticks or whole seconds, may be behind the commit's
            return min(kept)
        for id in reversed(ids[-retention.max_snapshots :] if retention.max_snapshots < len(ids) else ids):
            if id not in kept:
                if now_millis - self._committer.log.get(id).timestamp >= retention.age_millis:
                    break
                kept.add(id)
        return min(kept)

    def _dropped_data(self, expired: list[int], kept_from: int) -> set[str]:
        """Data files that commits up to the oldest kept snapshot have removed and no kept one has brought back."""
        dropped: set[str] = set()
        log = self._committer.log
        for id in [id for id in log.ids() if id >= min(expired)]:
            for entry in self._committer.delta(log.get(id)):
                path = self._paths.data_file(entry.file.name)
                if entry.kind is EntryKind.ADD:
                    dropped.discard(path)  # a rollback brings files back, a move to another level removes and adds
                elif id <= kept_from:
                    dropped.add(path)
        return dropped

    def _snapshots(self) -> list[Snapshot]:
        return [self._committer.log.get(id) for id in self._committer.log.ids()]

    def _reachable(self, snapshots: Iterable[Snapshot]) -> set[str]:
        """The data files of some snapshots."""
        return {
            self._paths.data_file(entry.file.name)
            for snapshot in snapshots
            for entry in self._committer.manifests.live(snapshot.manifest_list)
        }

    def _manifests(self, snapshots: Iterable[Snapshot]) -> set[str]:
        """The manifests and manifest lists of some snapshots."""
        names: set[str] = set()
        for snapshot in snapshots:
            names.add(snapshot.manifest_list)
            names |= {manifest.name for manifest in self._committer.manifests.read_list(snapshot.manifest_list)}
        return {self._paths.manifest(name) for name in names}

"""Keeping a table in shape: compaction, rollback, expiry, orphans."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from headwater.errors import CommitConflictError, HeadwaterError, NotFoundError
from headwater.files import FileEntry, Files, LocalFiles
from headwater.lake.engine.bounds import KeyBounds
from headwater.lake.engine.compaction import compact_bucket
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.layout import is_table_file, wal_sequence
from headwater.lake.engine.version import DataFile, Version, VersionEdit
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.expire import DAY, Cleaner, Delete, Removal, Retention
from headwater.lake.metadata.manifest import EntryKind
from headwater.lake.metadata.snapshot import InputVersion, Operation, Origin, Snapshot
from headwater.lake.metadata.store_clock import store_time
from headwater.lake.tables.plan import Split
from headwater.lake.tables.read import file_batches, of_latest
from headwater.lake.tables.rewrite import write_rewritten
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.state import Place, TableState
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import discard

ATTEMPTS = 20
ROWS = "rows"
"""The commit user of row writers; the commit id is the sequence of the log."""
_COMMIT_BYTES = 4 << 30  # what compactions have written before they are committed
_MOST_COUNTED = 10_000  # files: in a larger table a writer counts only runs that came of late


@dataclass(frozen=True, slots=True)
class Compaction:
    """The compaction of one bucket."""

    partition: tuple[object, ...]
    bucket: int
    files_before: int
    files_after: int
    snapshot_id: int


def compact_table(
    store: TableStore, *, full: bool = True, progress: Callable[[str], None] = lambda name: None
) -> list[Compaction]:
    """Merge the sorted runs of each bucket into one, or only where it is due, and commit all of it at once.
    Buckets that others have rewritten meanwhile are done again, one by one. RAISES: CommitConflictError when others
    rewrote a bucket again and again; buckets done before stay done."""
    state, places = of_latest(store, lambda state: (state, state.places))
    edits: dict[Place, VersionEdit] = {}
    written = 0
    done: list[Compaction] = []
    crossed: list[Place] = []  # that others rewrote, and expired what was there
    for place in sorted(places, key=repr):
        progress("/".join(map(str, (*place[0], f"bucket-{place[1]}"))))
        try:
            edit = _edit(store, state, place, full)
        except NotFoundError:
            if not _is_outdated(store, state):
                raise
            crossed.append(place)
            continue
        if edit is not None:
            edits[place] = edit
            written += sum(file.size for file in edit.added)
        if written >= _COMMIT_BYTES:
            done += _commit_edits(store, state, edits, full)
            edits, written = {}, 0
    done += _commit_edits(store, state, edits, full)
    return done + _compact_each(store, crossed, full)


def _is_outdated(store: TableStore, state: TableState) -> bool:
    return store.latest().snapshot_id != state.snapshot_id


def _compact_each(store: TableStore, places: Iterable[Place], full: bool) -> list[Compaction]:
    again = (compact_place(store, place, full=full) for place in places)
    return [compaction for compaction in again if compaction is not None]


def _commit_edits(
    store: TableStore, state: TableState, edits: dict[Place, VersionEdit], full: bool
) -> list[Compaction]:
    if not edits:
        return []
    try:
        snapshot = commit_compaction(store, _change(state, edits))
    except CommitConflictError:
        return _compact_each(store, edits, full)
    return [_compaction(state, place, edit, snapshot) for place, edit in edits.items()]


def compact_if_due(store: TableStore, snapshot: Snapshot) -> None:
    """Compact the buckets in which a commit has filled the measure of sorted runs."""
    compact_buckets(store, due_buckets(store, snapshot))


def due_buckets(store: TableStore, snapshot: Snapshot) -> list[Place]:
    """The buckets that a commit has filled with sorted runs, unless the table says that writers do not compact.

    Each multiple of the trigger is passed by exactly one commit, so of many writers one sets to work. A commit that
    others have expired already leaves it to those that came after.
    """
    options = store.shape().options
    if options.write_only or not options.auto_compaction:
        return []
    try:
        return _filled(store, snapshot, options.compaction_trigger)
    except NotFoundError:
        if store.committer.log.latest_id() == snapshot.snapshot_id:
            raise
        return []


def compact_buckets(store: TableStore, places: Iterable[Place]) -> None:
    """Compact buckets where it is due. It never fails: the rows are committed already, and a compaction that others
    cross is given up, and counted."""
    for place in places:
        try:
            compact_place(store, place, full=False, attempts=1)
        except HeadwaterError:
            store.given_up += 1


def _filled(store: TableStore, snapshot: Snapshot, trigger: int) -> list[Place]:
    """The buckets that a commit has brought to a multiple of `trigger` runs, or past it."""
    total = snapshot.summary.total_files
    if total < trigger:
        return []
    added: Counter[Place] = Counter()
    for entry in store.committer.delta(snapshot):
        if entry.kind is EntryKind.ADD and entry.file.level == 0:
            added[(entry.partition, entry.bucket)] += 1
    runs: dict[Place, set[object]] = {place: set() for place in added}
    for entry in store.committer.manifests.live(snapshot.manifest_list, recent=total > _MOST_COUNTED):
        place = (entry.partition, entry.bucket)
        if place in runs and (label := _run_label(store.shape(), entry.file)) is not None:
            runs[place].add(label)
    return [place for place in added if len(runs[place]) // trigger > (len(runs[place]) - added[place]) // trigger]


def _run_label(shape: Shape, file: DataFile) -> object:
    """Return what two files of one run have in common; None for one that is large enough in a table without a key."""
    if shape.is_keyed:
        return file.name if file.level == 0 else file.level
    return file.name if _is_small(file, shape) else None


def rollback(store: TableStore, target: Snapshot) -> Snapshot:
    """Make the table what it was at a snapshot, by a new snapshot; what came between stays in its history.
    The origin of the new one names the snapshot that is restored."""
    name, id = str(store.name), target.snapshot_id
    restored = InputVersion(dataset=name, snapshot_id=id, table_uuid=store.table_uuid)
    files = tuple(PlacedFile(entry.file, entry.bucket, entry.partition) for entry in store.live(target))
    change = TableChange(
        *(Operation.ROLLBACK, "headwater", uuid.uuid4().hex, store.shape().schema.id),
        added=files,
        replaces=True,
        restores=True,
        origin=Origin(job="rollback", inputs=(restored,)),
    )
    return store.committer.commit(change)  # its files are others' too: whatever happens, they stay


def expire(
    store: TableStore, retention: Retention, *, dry_run: bool = False, delete: Delete | None = None
) -> Removal:
    """Remove snapshots that retention does not keep and what only they need; tags and readers keep theirs.
    `delete` removes many files, for who has more hands than one."""
    now = store_time(store.files, store.paths.manifest_folder)
    retention = _keeping_unlogged(store, retention)
    cleaner = Cleaner(store.files, store.paths, store.committer, delete)
    return cleaner.expire(retention, now_millis=int(now * 1000), held=lambda: held(store, now), dry_run=dry_run)


def remove_orphans(
    store: TableStore, *, older_than: float = DAY, dry_run: bool = True, delete: Delete | None = None
) -> Removal:
    """Remove files that no snapshot, tag or reader can reach, if they are old enough not to be a writer's at work.
    How old a file is, the store's clock says: ours may be wrong."""
    now = store_time(store.files, store.paths.manifest_folder)
    cleaner = Cleaner(store.files, store.paths, store.committer, delete)
    removal = cleaner.orphans(older_than=older_than, now=now, held=held(store, now), dry_run=dry_run)
    if not dry_run and isinstance(store.files, LocalFiles):
        store.files.sweep(older_than=max(older_than, DAY), now=now)
    return removal


def delete_tag(store: TableStore, name: str) -> None:
    """Remove a tag, and if its snapshot has expired the files that only it needed."""
    snapshot = store.tags.delete(name)
    if snapshot.snapshot_id not in store.committer.log.ids():
        cleaner = Cleaner(store.files, store.paths, store.committer)
        cleaner.release(snapshot, held=held(store, store_time(store.files, store.paths.manifest_folder)))


def held(store: TableStore, now: float) -> list[Snapshot]:
    """The snapshots that tags and readers need."""
    return [*store.tags.all().values(), *store.leases.held(now)]


def _keeping_unlogged(store: TableStore, retention: Retention) -> Retention:
    """Keep every snapshot that holds the rows of a log which is still there: only it shows that they landed."""
    listed = store.files.list(store.paths.rows_folder, deep=True)
    logs = {str(sequence) for entry in listed if (sequence := wal_sequence(entry.name)) is not None}
    if not logs:
        return retention
    landed = (
        number
        for number, snapshot in enumerate(store.committer.log.newest_first(), 1)
        if snapshot.commit_user == ROWS and snapshot.commit_id in logs
    )
    least = max(landed, default=0)
    return replace(
        retention,
        min_snapshots=max(retention.min_snapshots, least),
        max_snapshots=max(retention.max_snapshots, least),
    )


def compact_place(store: TableStore, place: Place, *, full: bool, attempts: int = ATTEMPTS) -> Compaction | None:
    """Merge the sorted runs of one bucket, if that is due, and commit it; None if there was nothing to do.
    RAISES: CommitConflictError when others rewrote the bucket `attempts` times."""
    for attempt in range(attempts):
        state = store.latest()
        try:
            edit = _edit(store, state, place, full)
            if edit is None:
                return None
            snapshot = commit_compaction(store, _change(state, {place: edit}))
        except (CommitConflictError, NotFoundError) as err:
            lost = isinstance(err, NotFoundError) and not _is_outdated(store, state)
            if lost or attempt == attempts - 1:
                raise
            continue
        return _compaction(state, place, edit, snapshot)
    raise AssertionError


def commit_compaction(store: TableStore, change: TableChange) -> Snapshot:
    """Commit a compaction; when that is refused, remove the files it has written, but not those it only moved.
    RAISES: CommitConflictError."""
    moved = {placed.file.name for placed in change.removed}
    try:
        return store.committer.commit(change)
    except CommitConflictError:
        discard(store, [placed for placed in change.added if placed.file.name not in moved])
        raise


def _change(state: TableState, edits: dict[Place, VersionEdit]) -> TableChange:
    return TableChange(
        *(Operation.COMPACT, "compactor", uuid.uuid4().hex, state.shape.schema.id),
        added=tuple(PlacedFile(file, place[1], place[0]) for place, edit in edits.items() for file in edit.added),
        removed=tuple(PlacedFile(file, place[1], place[0]) for place, edit in edits.items() for file in edit.removed),
        base=state.snapshot_id,
    )


def _compaction(state: TableState, place: Place, edit: VersionEdit, snapshot: Snapshot) -> Compaction:
    files = len(state.places.get(place, ()))
    return Compaction(*place, files, files - len(edit.removed) + len(edit.added), snapshot.snapshot_id)


def _edit(store: TableStore, state: TableState, place: Place, full: bool) -> VersionEdit | None:
    """Return what a compaction changes in one bucket; its files are written, and belong to nothing yet."""
    shape = state.shape
    if not shape.is_keyed:
        return _pack(store, state, place, full)
    runs = Version(files=state.places.get(place, ())).runs()
    writer = store.writer(shape, *place)
    with store.naming():
        done = compact_bucket(runs, shape.options, full=full, shelf=state.shelf, rule=shape.rule, writer=writer)
    return None if done is None else done[1]


def _pack(store: TableStore, state: TableState, place: Place, full: bool) -> VersionEdit | None:
    """Put small files of a table without a key together, neighbours with neighbours."""
    shape, files = state.shape, state.places.get(place, ())
    small = [file for file in files if _is_small(file, shape)]
    if not full:
        # the newest files, and older ones while they have no more rows than all taken so far. So a row is
        # written anew as often as its file can double, not with every few commits.
        taken, rows = 0, 0
        for file in reversed(small):
            if taken and file.rows > rows:
                break
            taken, rows = taken + 1, rows + file.rows
        small = small[len(small) - taken :]
    if len(small) < (2 if full else shape.options.compaction_trigger):
        return None
    split = Split(shape.schema.id, shape.schema.names, (), *place, tuple(small), KeyBounds())
    opened = (OpenFile(state.shelf, file) for file in small)
    parts = (batch for file in opened for batch in file_batches(file, shape.schema.names))
    added = write_rewritten(store, shape, split, parts, small[0].sequence)
    return VersionEdit(added=tuple(placed.file for placed in added), removed=tuple(small))


def _is_small(file: DataFile, shape: Shape) -> bool:
    return file.size < shape.options.target_file_size // 2


def forget_folder(store: TableStore) -> None:
    """Remove everything of a table that was dropped."""
    for entry in store.files.list(store.paths.folder, deep=True):
        with suppress(NotFoundError):
            store.files.delete(entry.path)


def remove_leftovers(
    files: Files, databases: list[str], owned: Callable[[], set[str]], *, before: float, dry_run: bool
) -> Removal:
    """Find, and without `dry_run` remove, the files of folders that no table owns. Only folders whose newest file is
    older than `before` count, because a table that is being made is not owned yet, and only those that hold nothing
    but files of a table. What tables own is asked last: a table that came while we looked is then among them."""
    found: dict[str, list[FileEntry]] = {}
    for database in databases:
        for folder in files.list(database):
            if folder.is_folder:
                path = folder.path.rstrip("/")
                found[path] = [entry for entry in files.list(path, deep=True) if not entry.is_folder]
    taken = owned()
    gone = [
        entry
        for path, entries in found.items()
        if path not in taken and all(_is_ours(entry, path) and entry.modified <= before for entry in entries)
        for entry in entries
    ]
    if not dry_run:
        for entry in gone:
            files.delete(entry.path)
    return Removal(files=tuple(entry.path for entry in gone), size=sum(entry.size for entry in gone))


def _is_ours(entry: FileEntry, folder: str) -> bool:
    return is_table_file(entry.path.removeprefix(f"{folder}/"))

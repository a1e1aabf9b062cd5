"""Checking, and if wished mending, everything in the folder of a tree or of a table.

- A damaged log of rows keeps its whole records.
- A snapshot or tag that cannot be read, or whose list of files cannot be read, is set aside. The latest state is then
  that of the newest snapshot that can be read, with the later commits whose files are known.
- A damaged data file of the latest state is replaced by one with its whole blocks, by a new snapshot.

Whatever is replaced keeps its bytes: metadata and logs under their name with `.damaged` added (tags with `damaged-`
before it), data files where they are, because older snapshots name them. A data file that only older snapshots need
stays damaged: history is not rewritten.
"""

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from headwater.errors import CommitConflictError, CorruptFileError, HeadwaterError, InputError, NotFoundError
from headwater.files import Files, Locking, open_files
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.lsm import LSMTree
from headwater.lake.metadata.commit import PlacedFile, TableChange
from headwater.lake.metadata.manifest import EntryKind, ManifestEntry, apply_entries
from headwater.lake.metadata.snapshot import Operation, Snapshot, Summary, next_sequence
from headwater.lake.tables.names import TableIdentifier
from headwater.lake.tables.store import TableStore
from headwater.lake.tools.repair import remove_orphans, repair, repair_logs, schema_in, set_aside
from headwater.lake.tools.verify import VerifyReport, read_blocks, verify_table, verify_tree

_USER = "repair"


def repair_table(store: TableStore) -> list[str]:
    """Make a table readable again, and say what was done; an empty list if nothing had to be.
    REQUIRES: a store that has read nothing yet; nobody else writes the table. RAISES: CorruptFileError when a schema
    is damaged: nothing else tells what it said."""
    lock = store.files.lock(store.paths.lock) if isinstance(store.files, Locking) else None
    try:
        for id in store.schemas.list_schemas():
            _require_schema(store, id)
        done = [
            line for id in store.schemas.list_schemas() for line in repair_logs(store.files, store.paths.rows(id))
        ]
        done += _repair_snapshots(store)
        done += _repair_tags(store)
        done += _repair_data(store)
        return done
    finally:
        if lock is not None:
            lock.close()


def _require_schema(store: TableStore, id: int) -> None:
    try:
        store.schemas.get_schema(id)
    except CorruptFileError as err:
        raise CorruptFileError(
            f"{err.message}; a schema cannot be made anew from the data",
            hint=f"put a copy of {store.paths.schema(id)} back; `headwater lake sst-dump FILE --rows` reads the rows"
            " of a data file without it",
        ) from err


def _repair_snapshots(store: TableStore) -> Iterator[str]:
    """Set aside snapshots that cannot be read, and make the newest state that is known the latest."""
    log = store.committer.log
    readable: list[Snapshot] = []
    broken: list[tuple[int, Snapshot | None]] = []
    for id in log.ids():
        snapshot = _read_snapshot(store, id)
        if snapshot is not None and _live(store, snapshot) is not None:
            readable.append(snapshot)
        else:
            broken.append((id, snapshot))
    if not broken:
        return
    newest, highest = readable[-1] if readable else None, log.latest_id()
    state = {} if newest is None else {entry.file.name: entry for entry in store.live(newest)}
    later = [each for each in broken if newest is None or each[0] > newest.snapshot_id]
    lost = [id for id, snapshot in later if snapshot is None or not _advance(store, state, snapshot)]
    for id, _ in broken:
        path = store.paths.snapshot(id)
        set_aside(store.files, path)
        yield f"{path}: set aside, it or its list of files cannot be read"
    if later:
        made = _publish(store, list(state.values()), newest, highest + 1)
        gone = f"what snapshots {', '.join(map(str, lost))} changed is lost" if lost else "nothing is lost"
        yield f"{store.paths.snapshot(made.snapshot_id)}: made from what can be read; {gone}"


def _read_snapshot(store: TableStore, id: int) -> Snapshot | None:
    try:
        return store.committer.log.get(id)
    except CorruptFileError:
        return None


def _live(store: TableStore, snapshot: Snapshot) -> list[ManifestEntry] | None:
    try:
        return store.live(snapshot)
    except (CorruptFileError, NotFoundError):
        return None


def _advance(store: TableStore, state: dict[str, ManifestEntry], snapshot: Snapshot) -> bool:
    """Apply what one commit did to the files that are known; False, and no change, if that cannot be told.
    A commit that removes a file which is not known builds on a state that is lost."""
    try:
        delta = store.committer.delta(snapshot)
    except (CorruptFileError, NotFoundError):
        return False
    if any(entry.kind is EntryKind.DELETE and entry.file.name not in state for entry in delta):
        return False
    apply_entries(state, delta)
    return True


def _publish(store: TableStore, entries: Sequence[ManifestEntry], last: Snapshot | None, id: int) -> Snapshot:
    """Make a snapshot of some files, whatever the one before it says."""
    manifests = store.committer.manifests
    summary = Summary(
        total_records=sum(entry.file.rows for entry in entries),
        total_files=len(entries),
        total_size=sum(entry.file.size for entry in entries),
    )
    snapshot = Snapshot(
        snapshot_id=id,
        schema_id=store.schemas.latest().id,
        commit_user=_USER,
        commit_id=uuid.uuid4().hex,
        timestamp=max(int(time.time() * 1000), last.timestamp if last else 0),
        operation=Operation.ROLLBACK,
        manifest_list=manifests.write_list([manifests.write(entries)] if entries else []),
        summary=summary,
        next_sequence=max([next_sequence(last), *(entry.file.sequence + 1 for entry in entries)]),
    )
    store.committer.log.publish(snapshot)
    return snapshot


def _repair_tags(store: TableStore) -> Iterator[str]:
    for name in store.tags.names():
        path = store.paths.tag(name)
        try:
            readable = _live(store, store.tags.get(name)) is not None
        except CorruptFileError:
            readable = False
        if not readable:
            set_aside(store.files, path, store.paths.damaged_tag(name))
            yield f"{path}: set aside, it or its list of files cannot be read"


def _repair_data(store: TableStore) -> list[str]:
    """Replace the damaged files of the latest state by their whole blocks, in one commit."""
    state = store.latest()
    kept: list[PlacedFile] = []
    added: list[PlacedFile] = []
    done: list[str] = []
    for entry in state.entries:
        placed = PlacedFile(entry.file, entry.bucket, entry.partition)
        salvaged = _salvaged(store, placed)
        if salvaged is None:
            kept.append(placed)
            continue
        added += salvaged
        rows = sum(each.file.rows for each in salvaged)
        done.append(f"{store.paths.data_file(entry.file.name)}: kept {rows} of {entry.file.rows} rows")
    if done:
        change = TableChange(
            *(Operation.ROLLBACK, _USER, uuid.uuid4().hex, state.shape.schema.id),
            added=(*kept, *added),
            replaces=True,
            restores=True,
            base=state.snapshot_id,
            guard=_refuse_others,
        )
        store.committer.commit(change)
    return done


def _salvaged(store: TableStore, placed: PlacedFile) -> list[PlacedFile] | None:
    """The whole blocks of a damaged file in new files of its place; None if the file is sound."""
    shape = store.shape(placed.file.schema_id)
    blocks = list(read_blocks(OpenFile(store.shelf(shape), placed.file)))
    whole = [block for block in blocks if not isinstance(block, HeadwaterError)]
    if len(whole) == len(blocks):
        return None
    file, writer = placed.file, store.writer(shape, placed.partition, placed.bucket)
    written = writer.write(whole, level=0, sequence=file.sequence)
    return [replace(placed, file=msgspec.structs.replace(each, level=file.level)) for each in written]


def _refuse_others(between: Snapshot, entries: Sequence[ManifestEntry]) -> None:
    raise CommitConflictError(
        f"snapshot {between.snapshot_id} was committed during the repair", hint="stop all writers and repair again"
    )


def open_folder(url: str) -> TableStore | Files:
    """Return the table in a folder, or the files of the tree in it. RAISES: InputError when neither is there."""
    files = open_files(url)
    folders = {entry.name for entry in files.list() if entry.is_folder}
    if folders & {"schema", "snapshot", "manifest"}:
        name = url.rstrip("/").rpartition("/")[2]
        return TableStore(TableIdentifier("", name), files, "")
    if folders & {"data", "version", "wal"}:
        return files
    raise InputError(
        f"{url} is neither the folder of a table nor of a tree",
        hint="name a table as database.table, or a folder that holds `schema` or `data`",
    )


def verify(target: TableStore | Files) -> VerifyReport:
    """Check a table or a tree; what cannot be opened is a problem."""
    if isinstance(target, TableStore):
        return verify_table(target)
    try:
        with LSMTree(target, schema_in(target), read_only=True) as tree:
            return verify_tree(tree)
    except HeadwaterError as err:
        return VerifyReport(problems=[err.message])


def mend(target: TableStore | Files) -> list[str]:
    """Repair a table or a tree and say what was done.
    RAISES: StorageError when another process has it open, CorruptFileError when a schema is lost."""
    if isinstance(target, TableStore):
        return repair_table(target)
    held = target.lock(PathFactory("").lock) if isinstance(target, Locking) else None
    try:
        done = repair(target, schema_in(target))
        return [*done, *(f"{name}: removed, it belonged to nothing" for name in remove_orphans(target))]
    finally:
        if held is not None:
            held.close()

"""Checking trees and tables: every checksum, the order of keys, the files that snapshots name, and the logs.
Nothing is changed here; `repair.py` and `repair_table.py` mend."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from headwater.errors import HeadwaterError, NotFoundError
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import as_bytes
from headwater.lake.engine.layout import is_data_file
from headwater.lake.engine.lsm import LSMTree
from headwater.lake.engine.recovery import list_logs
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.version import DataFile
from headwater.lake.engine.wal import read_log
from headwater.lake.metadata.expire import Cleaner
from headwater.lake.metadata.manifest import ManifestEntry
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.metadata.store_clock import store_time
from headwater.lake.tables.maintenance import held
from headwater.lake.tables.store import TableStore

T = TypeVar("T")


@dataclass(slots=True)
class VerifyReport:
    """The amount that was read, and the findings."""

    files: int = 0
    blocks: int = 0
    rows: int = 0
    bytes: int = 0
    problems: list[str] = field(default_factory=list)
    torn_logs: list[str] = field(default_factory=list)  # a crash left them so; the next writer cuts the end off
    orphans: list[str] = field(default_factory=list)  # files that belong to nothing: harmless, but in the way

    @property
    def sound(self) -> bool:
        return not self.problems


def verify_tree(tree: LSMTree) -> VerifyReport:
    """Read and check every block of every live file of a tree."""
    report = VerifyReport()
    version = tree.version
    for file in version.files:
        _count(report, file)
        report.problems += check_file(OpenFile(tree.shelf, file), report)
    report.problems += _overlaps(version.files)
    report.torn_logs = [f"{log.path}: cut at byte {log.torn_at}" for log in tree.recovered if log.torn_at is not None]
    live = {file.name for file in version.files}
    names = (entry.name for entry in tree.files.list(tree.paths.data_folder))
    report.orphans = [name for name in names if is_data_file(name) and name not in live]
    return report


def verify_table(store: TableStore, progress: Callable[[str], None] = lambda name: None) -> VerifyReport:
    """Read and check every schema, snapshot, tag, manifest, log and data file of a table.
    REQUIRES: a store that has read nothing yet, so that nothing is taken from memory."""
    report = VerifyReport()
    for id in store.schemas.list_schemas():
        _tried(report, store.schemas.get_schema, id)
    states = list(_states(store, report))
    found: dict[str, tuple[ManifestEntry, list[str]]] = {}
    for name, entries in states:
        for entry in entries:
            found.setdefault(entry.file.name, (entry, []))[1].append(name)
    for entry, names in found.values():
        progress(entry.file.name)
        _count(report, entry.file)
        opened = _tried(report, _opened, store, entry.file)
        if opened is not None:
            report.problems += (f"{problem} ({_listed(names)})" for problem in check_file(opened, report))
    shape = _tried(report, store.shape)
    if states and shape is not None and shape.is_keyed:
        report.problems += _overlaps_of_buckets(states[-1][1])
    _check_logs(store, report)
    if report.sound:
        now = store_time(store.files, store.paths.manifest_folder)
        cleaner = Cleaner(store.files, store.paths, store.committer)
        report.orphans = list(cleaner.orphans(now=now, held=held(store, now)).files)
    return report


def check_file(opened: OpenFile, report: VerifyReport) -> Iterator[str]:
    """Read one data file; yield every problem in it."""
    file, rows, last, damaged = opened.file, 0, None, False
    for batch in read_blocks(opened):
        if isinstance(batch, HeadwaterError):
            yield f"{file.name}: the file is missing" if isinstance(batch, NotFoundError) else batch.message
            damaged = True
            continue
        report.blocks += 1
        rows += len(batch)
        if not batch.keys.is_increasing() or (last is not None and as_bytes(batch.keys.native(0)) <= last):
            yield f"{file.name}: keys are not in order"
        last = as_bytes(batch.keys.native(-1))
    report.rows += rows
    if not damaged:
        yield from _check_facts(opened, rows)


def read_blocks(opened: OpenFile) -> Iterator[SortedBatch | HeadwaterError]:
    """Every block of a file, or the error that reading it gives; one error if the file cannot be opened."""
    try:
        reader = opened.reader
        if isinstance(reader, SSTableReader):
            reader.check_header()
        numbers = reader.blocks_between(None, None)
    except HeadwaterError as err:
        yield err
        return
    for number in numbers:
        try:
            yield reader.load(number).batch()
        except HeadwaterError as err:
            yield err


def _count(report: VerifyReport, file: DataFile) -> None:
    report.files += 1
    report.bytes += file.size


def _tried(report: VerifyReport, read: Callable[..., T], *given: object) -> T | None:
    """Return what `read` gives; its error becomes a problem."""
    try:
        return read(*given)
    except HeadwaterError as err:
        report.problems.append(err.message)
        return None


def _states(store: TableStore, report: VerifyReport) -> Iterator[tuple[str, list[ManifestEntry]]]:
    """The files of every tag and snapshot that can be read, the latest snapshot last."""
    ids = store.committer.log.ids()
    for before, after in pairwise(ids):
        if after != before + 1:
            report.problems.append(f"snapshots {before + 1} to {after - 1} of {store.paths.folder} are missing")
    named: list[tuple[str, Snapshot | None]] = [
        (f"tag {name}", _tried(report, store.tags.get, name)) for name in store.tags.names()
    ]
    named += [(f"snapshot {id}", _tried(report, store.committer.log.get, id)) for id in ids]
    for name, snapshot in named:
        entries = None if snapshot is None else _tried(report, store.live, snapshot)
        if entries is not None:
            yield name, entries


def _opened(store: TableStore, file: DataFile) -> OpenFile:
    return OpenFile(store.shelf(store.shape(file.schema_id)), file)


def _check_logs(store: TableStore, report: VerifyReport) -> None:
    for id in store.schemas.list_schemas():
        for _, path in list_logs(store.files, store.paths.rows(id)):
            content = _tried(report, read_log, store.files.get(path), path)
            if content is not None and content.torn_at is not None:
                report.torn_logs.append(f"{path}: cut at byte {content.torn_at}")


def _check_facts(opened: OpenFile, rows: int) -> Iterator[str]:
    reader, file = opened.reader, opened.file
    if rows != file.rows:
        yield f"{file.name}: {rows} rows instead of {file.rows}"
    if isinstance(reader, SSTableReader) and (reader.meta.min_key, reader.meta.max_key) != (
        file.min_key,
        file.max_key,
    ):
        yield f"{file.name}: its first and last key are not the recorded ones"


def _overlaps_of_buckets(entries: Iterable[ManifestEntry]) -> Iterator[str]:
    buckets: dict[object, list[DataFile]] = {}
    for entry in entries:
        buckets.setdefault((entry.partition, entry.bucket), []).append(entry.file)
    for files in buckets.values():
        yield from _overlaps(files)


def _overlaps(files: Iterable[DataFile]) -> Iterator[str]:
    levels: dict[int, list[DataFile]] = {}
    for file in files:
        levels.setdefault(file.level, []).append(file)
    for level in sorted(set(levels) - {0}):
        run = sorted(levels[level], key=lambda file: file.min_key)
        for before, after in pairwise(run):
            if before.max_key >= after.min_key:
                yield f"level {level}: {before.name} and {after.name} overlap"


def _listed(names: list[str]) -> str:
    """The states that a file is in, in few words."""
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}, {len(names)} in all"

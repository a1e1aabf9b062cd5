"""Mending a tree that is damaged: keeping what is whole, and losing nothing in silence.
Damaged logs keep their whole records, damaged data files their whole blocks; a lost list of live files is made anew
from the data files. Whatever is replaced keeps its bytes under its name with `.damaged` added, and every step is in
the report."""

from collections.abc import Iterator

import msgspec

from headwater.errors import CorruptFileError, HeadwaterError, InputError
from headwater.files import Files, LocalFiles
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.layout import PathFactory, data_file_facts, is_data_file, wal_sequence
from headwater.lake.engine.options import storage_options
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.version import ONLY, DataFile, FileVersionLog, Version, VersionEdit
from headwater.lake.engine.wal.format import HEADER, read_log, salvage
from headwater.lake.engine.write import FileWriter
from headwater.model.schema import Schema


def schema_in(files: Files, folder: str = "") -> Schema:
    """The schema of the tree in a folder, as its newest data file has it.
    RAISES: InputError when no data file can tell."""
    paths = PathFactory(folder)
    entries = [entry for entry in files.list(paths.data_folder) if entry.name.endswith(".sst")]
    for entry in sorted(entries, key=lambda entry: -entry.modified):
        try:
            return SSTableReader(files, entry.path, entry.size).meta.schema
        except CorruptFileError:
            continue
    raise InputError(
        f"there is no tree with readable data files in {files.url}/{folder}".rstrip("/"),
        hint="name the folder that holds `data` and `version`",
    )


def repair(files: Files, schema: Schema, folder: str = "") -> list[str]:
    """Make a tree readable again, and say what was done. REQUIRES: nobody else has it open."""
    paths = PathFactory(folder)
    done = [*repair_logs(files, paths), *_repair_version(files, paths, schema)]
    log = FileVersionLog(files, paths)
    done += _repair_data(files, paths, schema, log)
    return done


def remove_orphans(files: Files, folder: str = "") -> list[str]:
    """Remove data files that belong to no version, and files that were never published; say which.
    REQUIRES: nobody else has the tree open."""
    paths = PathFactory(folder)
    live = {file.name for file in FileVersionLog(files, paths).latest().files}
    names = [entry.name for entry in files.list(paths.data_folder)]
    gone = [name for name in names if is_data_file(name) and name not in live]
    for name in gone:
        files.delete(paths.data_file(name))
    if isinstance(files, LocalFiles):
        gone += files.sweep(older_than=0)
    return gone


def repair_logs(files: Files, paths: PathFactory) -> Iterator[str]:
    """Keep the whole records of damaged logs, and say how many."""
    for entry in files.list(paths.wal_folder):
        if wal_sequence(entry.name) is None:
            continue
        data = files.get(entry.path)
        try:
            read_log(data, entry.path)
        except CorruptFileError:
            records = salvage(data)
            set_aside(files, entry.path)
            files.put(entry.path, [HEADER, *records])
            lost = len(data) - len(HEADER) - sum(map(len, records))
            yield f"{entry.path}: kept {len(records)} records, {max(0, lost)} bytes were damaged"


def _repair_version(files: Files, paths: PathFactory, schema: Schema) -> Iterator[str]:
    """Yield when the newest version cannot be read: list the data files that can."""
    try:
        FileVersionLog(files, paths).latest()
        return
    except CorruptFileError:
        pass
    entries = files.list(paths.version_folder)
    found: list[DataFile] = []
    for entry in files.list(paths.data_folder):
        if is_data_file(entry.name):
            try:
                found.append(_describe(files, entry.path, entry.size))
            except HeadwaterError as err:
                yield f"{entry.path}: left out: {err}"
    for entry in entries:
        set_aside(files, entry.path)
    FileVersionLog(files, paths).commit({ONLY: VersionEdit(added=tuple(found))})
    yield f"made the list of live files anew from {len(found)} data files; rows deleted before may be back"


def _describe(files: Files, path: str, size: int) -> DataFile:
    """A data file as an entry of level 0: sequences alone give the order, and they are in the names."""
    reader = SSTableReader(files, path, size)
    name = path.rpartition("/")[2]
    _, sequence = data_file_facts(name)
    return DataFile(
        name=name,
        level=0,
        sequence=sequence,
        rows=reader.meta.rows,
        deletes=reader.meta.deletes,
        size=size,
        min_key=reader.meta.min_key,
        max_key=reader.meta.max_key,
        schema_id=reader.meta.schema_id,
        stats=reader.meta.stats,
    )


def _repair_data(files: Files, paths: PathFactory, schema: Schema, log: FileVersionLog) -> Iterator[str]:
    version: Version = log.latest()
    writer = FileWriter(files, paths, schema, storage_options(schema.options))
    present = {entry.name: entry.size for entry in files.list(paths.data_folder)}
    for file in version.files:
        path = paths.data_file(file.name)
        if file.name not in present:
            log.commit({ONLY: VersionEdit(removed=(file,))})
            yield f"{path}: the file is missing; its {file.rows} rows are lost"
            continue
        whole, damaged = _whole_blocks(files, path, file)
        if damaged:
            added = [
                msgspec.structs.replace(new, level=file.level)
                for new in writer.write(whole, level=0, sequence=file.sequence)
            ]
            log.commit({ONLY: VersionEdit(added=tuple(added), removed=(file,))})
            set_aside(files, path)
            kept = sum(len(batch) for batch in whole)
            yield f"{path}: kept {kept} of {file.rows} rows"


def _whole_blocks(files: Files, path: str, file: DataFile) -> tuple[list[SortedBatch], bool]:
    """The blocks of a file that are whole, and whether anything in it is damaged."""
    batches, damaged = [], False
    try:
        reader = SSTableReader(files, path, file.size)
        reader.check_header()
    except CorruptFileError:
        return [], True
    for number in range(len(reader.index)):
        try:
            batches.append(reader.load(number).batch())
        except CorruptFileError:
            damaged = True
    return batches, damaged


def set_aside(files: Files, path: str, to: str | None = None) -> None:
    """Move a damaged file to another name, by default its own with `.damaged` added; its bytes are kept."""
    files.put(to or f"{path}.damaged", files.get(path))
    files.delete(path)

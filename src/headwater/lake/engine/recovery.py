"""Recovery: brings back into memory the rows that a crash left in the write-ahead logs."""

from dataclasses import dataclass

from headwater.files import Files
from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.keys import KeyCodec, RowKey
from headwater.lake.engine.layout import PathFactory, wal_sequence
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.merge import MergeRule
from headwater.lake.engine.row import RowCodec
from headwater.lake.engine.stored import delete_values, stored_values
from headwater.lake.engine.wal import LogContent, RecordType, read_log
from headwater.model.schema import Schema


@dataclass(frozen=True, slots=True)
class RecoveredLog:
    """One log that was replayed: how many records, and where a torn tail was cut, if there was one."""

    path: str
    sequence: int
    records: int
    torn_at: int | None


def list_logs(files: Files, paths: PathFactory) -> list[tuple[int, str]]:
    """The sequences and paths of the logs of a tree, oldest first."""
    entries = ((wal_sequence(entry.name), entry.path) for entry in files.list(paths.wal_folder))
    return sorted((sequence, path) for sequence, path in entries if sequence is not None)


def replay(content: LogContent, *, schema: Schema, rule: MergeRule, sequence: int) -> MemTable:
    """A memtable with the rows of a log, in their order."""
    codec, rows = KeyCodec(schema), RowCodec(schema)
    memtable = MemTable(codec, rule, sequence=sequence)
    memtable.has_log = True
    for record in content.records:
        key = codec.native(RowKey(record.key))
        if record.type is RecordType.DELETE:
            memtable.put(key, RowKind.DELETE, delete_values(codec, key), len(record.key))
        else:
            values = stored_values(codec, rows.decode(record.row))
            memtable.put(key, RowKind.PUT, values, len(record.key) + len(record.row))
    return memtable


def read_logs(
    files: Files, logs: list[tuple[int, str]], *, schema: Schema, rule: MergeRule
) -> tuple[list[MemTable], list[RecoveredLog]]:
    """The memtables that were in memory when the process ended, oldest first.
    RAISES: CorruptFileError for a log damaged other than at its end."""
    memtables, recovered = [], []
    for sequence, path in logs:
        content = read_log(files.get(path), path)
        memtables.append(replay(content, schema=schema, rule=rule, sequence=sequence))
        recovered.append(RecoveredLog(path, sequence, len(content.records), content.torn_at))
    return memtables, recovered

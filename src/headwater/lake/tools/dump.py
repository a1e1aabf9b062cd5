"""The content of an SSTable, for people: a summary, its rows, and its bytes with their meaning."""

import json
from collections.abc import Iterator
from typing import Any

from headwater.errors import InputError
from headwater.files import Files
from headwater.lake.engine.batch import RowKind, to_rows
from headwater.lake.engine.formats.jsonlines import plain
from headwater.lake.engine.keys import KeyCodec, RowKey
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.row import python_rows
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.version import FileVersionLog
from headwater.lake.tables.store import TableStore


def live_tables(target: TableStore | Files) -> tuple[Files, list[tuple[str, int]]]:
    """The store, and path and size of each SSTable of the newest snapshot of a table, or version of a tree.
    RAISES: InputError when the table keeps its rows in another format."""
    if isinstance(target, TableStore):
        files, paths = target.files, target.paths
        live = [entry.file for entry in target.live(target.committer.log.latest())]
    else:
        files, paths = target, PathFactory("")
        live = list(FileVersionLog(files, paths).latest().files)
    found = [(paths.data_file(file.name), file.size) for file in live if file.format == "sst"]
    if live and not found:
        path = paths.data_file(live[0].name)
        raise InputError(
            f"its data files are {live[0].format}, not SSTables",
            hint=f"every tool for {live[0].format} reads them, such as {path}",
        )
    return files, found


def describe_table(files: Files, path: str, size: int) -> dict[str, Any]:
    """Header, meta and one entry per block."""
    table = SSTableReader(files, path, size)
    header, meta = table.check_header(), table.meta
    codec = KeyCodec(meta.schema)
    return {
        "file": path,
        "size": size,
        "created": header.created_millis,
        "compression": meta.compression,
        "schema": f"{meta.schema_id}: " + ", ".join(f"{c.name} {c.type}" for c in meta.columns),
        "key": ", ".join(meta.key),
        "rows": meta.rows,
        "deletes": meta.deletes,
        "first key": codec.values(codec.native(RowKey(meta.min_key))),
        "last key": codec.values(codec.native(RowKey(meta.max_key))),
        "bloom": f"{table.bloom.total_bits} bits, {table.bloom.hash_count} hashes",
        "blocks": [
            {
                "block": number,
                "offset": entry.handle.offset,
                "size": entry.handle.size,
                "rows": entry.rows,
                "first key": str(codec.values(entry.first_key)),
            }
            for number, entry in enumerate(table.index.entries)
        ],
    }


def dump_rows(files: Files, path: str, size: int) -> Iterator[str]:
    """Every row as a JSON object, with what it does as `_kind`."""
    table = SSTableReader(files, path, size)
    schema = table.meta.schema
    codec = KeyCodec(schema)
    for block in table.load_many(range(len(table.index))):
        batch = block.batch()
        rows = python_rows(to_rows(batch, codec, schema.names))
        for at, row in enumerate(rows):
            kind = RowKind.PUT if batch.kinds is None else RowKind(batch.kinds[at])
            yield json.dumps({"_kind": kind.name} | row, default=plain, ensure_ascii=False)

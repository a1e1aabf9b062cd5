"""The worked example of the specification is a real file."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.lake.sst.hexdump import annotate

from headwater.files import LocalFiles, MemoryFiles
from headwater.lake import SSTableReader, SSTableWriter
from headwater.lake.engine.batch import RowKind, SortedBatch
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.keys import KeyCodec
from headwater.lake.engine.row import rows_to_arrow
from headwater.lake.engine.sst.format import Compression
from headwater.lake.engine.types import schema_of

SPEC = Path(__file__).parents[3] / "docs" / "spec" / "sstable.md"
_EXAMPLE = re.compile(r"(## A file, byte by byte\n.*?\n```text\n)(.*?)(```\n)", re.DOTALL)


def example() -> bytes:
    schema = schema_of(pa.schema([("id", pa.int64()), ("name", pa.string())]), ("id",))
    rows = rows_to_arrow([(1, "one"), (2, "two"), (3, None), (500, "many")], schema.fields)
    kinds = np.array([RowKind.PUT, RowKind.PUT, RowKind.DELETE, RowKind.PUT], np.uint8)
    batch = SortedBatch(KeyCodec(schema).encode(rows), kinds, rows.select(["name"]))
    writer = SSTableWriter(FileFacts(schema), compression=Compression.NONE, created_millis=1_700_000_000_000)
    writer.append(batch.slice(0, 3))
    writer.append(batch.slice(3, 4))
    return b"".join(writer.finish()[0])


@pytest.mark.golden
def test_the_specification_shows_a_real_file(request: pytest.FixtureRequest) -> None:
    dump, text = annotate(example()) + "\n", SPEC.read_text()
    if request.config.getoption("--golden"):
        SPEC.write_text(_EXAMPLE.sub(lambda match: match[1] + dump + match[3], text))
    found = _EXAMPLE.search(SPEC.read_text())
    assert found is not None
    assert found[2] == dump


def test_the_dump_covers_every_byte_once() -> None:
    data = example()
    at = 0
    for line in annotate(data).splitlines():
        if line.startswith("--"):
            continue
        offset, rest = int(line[:8], 16), line[10:]
        shown = len(rest[:48].split())
        more = re.search(r"\(and (\d+) bytes more\)", rest)
        assert offset == at
        at += shown + (int(more[1]) if more else 0)
    assert at == len(data)


def test_the_example_is_a_sound_file() -> None:
    files = MemoryFiles()
    files.put("x.sst", example())
    table = SSTableReader(files, "x.sst", len(example()))
    assert table.footer.rows == 4
    assert [block.rows for block in table.load_many(range(1))] == [4]


def test_a_file_of_version_1_stays_readable() -> None:
    """Written once and kept: whatever writes files today, this one must still be read."""
    files = LocalFiles(Path(__file__).parent)
    table = SSTableReader(files, "version-1.sst", (Path(__file__).parent / "version-1.sst").stat().st_size)
    codec = KeyCodec(table.meta.schema)
    found = {}
    for value in (1, 2, 3, 500):
        key = codec.native(value)
        block = table.load(table.block_of(key))
        found[value] = (block.kind(block.find(key)), *block.values(block.find(key)))
    assert found == {
        1: (RowKind.PUT, "one"),
        2: (RowKind.PUT, "two"),
        3: (RowKind.DELETE, None),
        500: (RowKind.PUT, "many"),
    }

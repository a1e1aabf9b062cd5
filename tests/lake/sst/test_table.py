"""SSTables: what is written is read, and no flipped byte goes unnoticed."""

import datetime
import decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import THOROUGH, examples, first_then_slow
from tests.faulty_files import FaultyFiles

from headwater.errors import CorruptFileError
from headwater.files import Files, LocalFiles, MemoryFiles
from headwater.lake import SSTableReader, SSTableWriter
from headwater.lake.engine.batch import RowKind, SortedBatch, concat
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.keys import BytesKeys, KeyCodec, NumberKeys, as_bytes
from headwater.lake.engine.merge import MergeRule, sort_batch
from headwater.lake.engine.row import rows_to_arrow
from headwater.lake.engine.sst.format import Compression
from headwater.lake.engine.sst.index import shortest_separator
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Field, Schema
from headwater.model.types import parse_type

NUMBERS = schema_of(pa.schema([("id", pa.int64()), ("name", pa.string()), ("x", pa.float64())]), ("id",))
TEXTS = schema_of(pa.schema([("k", pa.string()), ("id", pa.int32()), ("x", pa.float64())]), ("k", "id"))
PATH = "0-00001-00.sst"


def sample(schema: Schema, rows: int, *, deletes: bool = True) -> SortedBatch:
    codec = KeyCodec(schema)
    values = [
        (i * 3 - 7, f"name {i % 5}", i / 4) if codec.is_number else (f"user/{i // 7:03d}", i, i / 4)
        for i in range(rows)
    ]
    whole = rows_to_arrow(values, schema.fields)
    kinds = np.array([RowKind.DELETE if deletes and i % 11 == 3 else RowKind.PUT for i in range(rows)], np.uint8)
    columns = whole.select([field.name for field in codec.stored])
    return sort_batch(SortedBatch(codec.encode(whole), kinds if kinds.any() else None, columns), MergeRule())


def store(batch: SortedBatch, schema: Schema, **arguments: object) -> MemoryFiles:
    files = MemoryFiles()
    writer = SSTableWriter(FileFacts(schema), **arguments)  # type: ignore[arg-type]
    writer.append(batch.slice(0, len(batch) // 3))
    writer.append(batch.slice(len(batch) // 3, len(batch)))
    pieces, _ = writer.finish()
    files.put(PATH, pieces)
    return files


def open_table(files: Files) -> SSTableReader:
    size = files.list()[0].size
    return SSTableReader(files, PATH, size)


def read_everything(files: Files) -> list[tuple[object, ...]]:
    """Every row by the scan and by the point read; they must agree."""
    table = open_table(files)
    table.check_header()
    whole = concat([block.batch() for block in table.load_many(range(len(table.index)))])
    rows = []
    for at in range(len(whole)):
        key = whole.keys.native(at)
        block = table.load(table.block_of(key))
        found = block.find(key)
        assert found >= 0
        assert table.might_contain(as_bytes(key))
        scanned = tuple(column[at].as_py() for column in whole.columns.columns)
        assert block.values(found) == scanned
        kind = RowKind.PUT if whole.kinds is None else whole.kinds[at]
        assert block.kind(found) == kind
        rows.append((key, int(kind), *scanned))
    return rows


@pytest.mark.parametrize("schema", [NUMBERS, TEXTS], ids=["numbers", "bytes"])
@pytest.mark.parametrize("compression", Compression)
@pytest.mark.parametrize("block_size", first_then_slow([4096, 64, 32 << 10]))
def test_round_trip(schema: Schema, compression: Compression, block_size: int) -> None:
    batch = sample(schema, 700)
    files = store(batch, schema, compression=compression, block_size=block_size)
    expected = [
        (batch.keys.native(at), int(batch.kinds[at]), *(c[at].as_py() for c in batch.columns.columns))
        for at in range(len(batch))
    ]
    assert read_everything(files) == expected
    assert read_everything(FaultyFiles(files)) == expected  # the same by ranged reads instead of in place


@pytest.mark.parametrize("schema", [NUMBERS, TEXTS], ids=["numbers", "bytes"])
@pytest.mark.parametrize("compression", [Compression.LZ4, Compression.NONE])
def test_every_flipped_byte_is_noticed(schema: Schema, compression: Compression) -> None:
    batch = sample(schema, 60)
    files = store(batch, schema, compression=compression, block_size=512)
    content = files.get(PATH)
    assert len(read_everything(files)) == 60
    for position in range(0, len(content), 1 if THOROUGH else 37):
        for mask in (0xFF, 0x01):
            damaged = bytearray(content)
            damaged[position] ^= mask
            files.put(PATH, bytes(damaged))
            with pytest.raises(CorruptFileError, match="0-00001"):
                read_everything(files)


@pytest.mark.parametrize("compression", Compression)
def test_arrays_lie_where_other_engines_expect_them(compression: Compression, tmp_path: Path) -> None:
    written = store(sample(NUMBERS, 500), NUMBERS, compression=compression, block_size=1000)
    LocalFiles(tmp_path).put(PATH, written.get(PATH))
    table = open_table(LocalFiles(tmp_path))
    for block in table.load_many(range(len(table.index))):
        buffers = [buffer for column in block.batch().columns.columns for buffer in column.buffers()]
        assert all(buffer is None or buffer.address % 8 == 0 for buffer in buffers)


def test_a_cut_or_longer_file_is_noticed() -> None:
    files = store(sample(NUMBERS, 60), NUMBERS)
    content = files.get(PATH)
    for size in (*range(0, len(content), 7), len(content) - 1):
        files.put(PATH, content[:size])
        with pytest.raises(CorruptFileError):
            open_table(files)
    files.put(PATH, content + b"\0")
    with pytest.raises(CorruptFileError):
        open_table(files)


def test_a_file_of_another_size_than_recorded_is_noticed() -> None:
    files = store(sample(NUMBERS, 60), NUMBERS)
    with pytest.raises(CorruptFileError, match="instead of"):
        SSTableReader(files, PATH, len(files.get(PATH)) + 1)


def test_absent_keys_are_not_found() -> None:
    table = open_table(store(sample(NUMBERS, 500), NUMBERS, block_size=256))
    codec = KeyCodec(NUMBERS)
    for value in (-100, -6, 1, 1488, 10**12):
        key = codec.native(value)
        number = table.block_of(key)
        assert number < 0 or table.load(number).find(key) < 0


def test_the_bloom_filter_is_wrong_in_about_one_of_a_hundred() -> None:
    table = open_table(store(sample(NUMBERS, 5000), NUMBERS))
    codec = KeyCodec(NUMBERS)
    absent = [codec.native(3 * value) for value in range(10_000)]
    wrong = sum(table.might_contain(as_bytes(key)) for key in absent)
    assert wrong < 250
    assert (table.bloom.bits_per_key, table.bloom.hash_count) == (10, 7)


def test_blocks_between_bounds() -> None:
    table = open_table(store(sample(TEXTS, 500), TEXTS, block_size=256))
    codec = KeyCodec(TEXTS)
    first, last = codec.native(("user/010", 70)), codec.native(("user/020", 140))
    numbers = table.blocks_between(first, last)
    assert 0 < len(numbers) < len(table.index)
    inside = concat([table.load(number).batch() for number in numbers]).between(first, last)
    assert len(inside) == 71
    assert table.blocks_between(codec.native(("zzz", 0)), None) == range(len(table.index), len(table.index))
    assert len(table.blocks_between(None, codec.native(("", 0)))) == 0


@given(st.binary(min_size=1, max_size=12), st.binary(min_size=1, max_size=12))
@settings(max_examples=examples(300))
def test_a_separator_separates(a: bytes, b: bytes) -> None:
    if a != b:
        last, following = min(a, b), max(a, b)
        separator = shortest_separator(last, following)
        assert last <= separator < following
        assert len(separator) <= len(last)


def test_stats_and_schema_are_in_the_meta_block() -> None:
    meta = open_table(store(sample(NUMBERS, 700), NUMBERS)).meta
    assert (meta.rows, meta.deletes) == (700, 64)
    assert (meta.schema.fields, meta.schema.primary_keys) == (NUMBERS.fields, ("id",))
    assert (meta.stats["x"].min, meta.stats["x"].max) == (0.0, 699 / 4)
    assert meta.stats["name"].max == "name 4"


def test_every_type_survives() -> None:
    types = {
        "a": ("BOOLEAN", True),
        "b": ("TINYINT", -3),
        "c": ("DECIMAL(20, 4)", decimal.Decimal("-12345.6789")),
        "d": ("DATE", datetime.date(1969, 2, 3)),
        "e": ("TIMESTAMP", datetime.datetime(2026, 11, 15, 9, 1, 2, 345)),
        "f": ("BINARY", b"\0\xff"),
        "g": ("ARRAY<STRUCT<x: INT, y: ARRAY<STRING>>>", [{"x": 1, "y": ["p", None]}, None]),
        "h": ("MAP<STRING, DOUBLE>", {"k": 1.5, "l": None}),
        "i": ("FLOAT", 0.5),
        "j": ("STRING", "naïve \U0001f30a"),
    }
    fields = [Field(0, "id", parse_type("INT"), nullable=False)]
    fields += [Field(i + 1, name, parse_type(type)) for i, (name, (type, _)) in enumerate(types.items())]
    schema = Schema(tuple(fields), ("id",))
    full = (1, *(value for _, value in types.values()))
    empty = (2, *(None for _ in types))
    codec = KeyCodec(schema)
    whole = rows_to_arrow([full, empty], schema.fields)
    batch = SortedBatch(codec.encode(whole), None, whole.select([field.name for field in codec.stored]))
    table = open_table(store(batch, schema))
    block = table.load(0)
    assert block.values(block.find(codec.native(1))) == full[1:]
    assert block.values(block.find(codec.native(2))) == empty[1:]


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=60, unique=True))
@settings(max_examples=examples(80))
def test_any_byte_keys(raw: list[bytes]) -> None:
    schema = schema_of(pa.schema([("k", pa.binary())]), ("k",))
    codec = KeyCodec(schema)
    whole = rows_to_arrow([(key,) for key in raw], schema.fields)
    batch = sort_batch(SortedBatch(codec.encode(whole), None, whole), MergeRule())
    rows = read_everything(store(batch, schema, block_size=256))
    assert [row[2] for row in rows] == sorted(raw)


EDGES = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 62) - 1, 1 << 62, 1 << 63, (1 << 63) + 1, (1 << 64) - 2, (1 << 64) - 1]


@given(keys=st.sets(st.integers(0, (1 << 64) - 1) | st.sampled_from(EDGES), min_size=1, max_size=60))
def test_keys_over_the_whole_range_are_read_back(keys):
    values = np.array(sorted(keys), np.uint64)
    rows = pa.RecordBatch.from_arrays(
        [pa.array([f"{key}" for key in values]), pa.array(np.arange(len(values)) / 4)], names=["name", "x"]
    )
    files = store(SortedBatch(NumberKeys(values), None, rows), NUMBERS, block_size=128)
    assert [row[0] for row in read_everything(files)] == values.tolist()


@given(keys=st.sets(st.binary(max_size=20) | st.binary(min_size=12, max_size=12), min_size=1, max_size=60))
def test_keys_of_any_lengths_are_read_back(keys):
    ordered = sorted(key + b"\x00\x00" for key in keys)  # no key is the beginning of another
    ordered = [a for a, b in zip(ordered, [*ordered[1:], b""]) if not b.startswith(a)]
    batch = sample(TEXTS, len(ordered), deletes=False)
    files = store(SortedBatch(BytesKeys(pa.array(ordered, pa.binary())), None, batch.columns), TEXTS, block_size=256)
    assert [row[0] for row in read_everything(files)] == ordered

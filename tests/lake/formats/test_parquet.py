"""Parquet files: those of before are read beside those of now, group by group, and every byte is covered."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import CorruptFileError
from headwater.files import MemoryFiles, open_reader
from headwater.lake.engine.formats.block_checks import BLOCK, read_checks
from headwater.lake.engine.formats.columnar import SCANNED_ROWS, ColumnarReader
from headwater.lake.engine.formats.parquet import GROUP_BYTES
from headwater.lake.tables import Warehouse
from headwater.lake.tables.shape import stored_schema

COLUMNS = {"a": "BIGINT", "b": "STRING"}


def table_of(rows, files=None):
    files = files or MemoryFiles()
    table = Warehouse(files).create_table("t", COLUMNS)
    table.write(rows)
    (entry,) = table.store.latest().entries
    return table, table.store.paths.data_file(entry.file.name)


def reader_of(table, path):
    files = table.store.files
    return ColumnarReader(files, path, len(files.get(path)), stored_schema(table.schema))


def test_a_file_that_was_written_before_has_keys_and_kinds():
    table, path = table_of([(1, "one")])
    old = pa.table(
        {
            "a": [4, 5, 6],
            "b": ["x", None, "z"],
            "_row": pa.array([0, 1, 2], pa.int64()),
            "_kind": pa.array([0, 0, 0], pa.int8()),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(old, sink, row_group_size=2)
    table.store.files.put(path, sink.getvalue().to_pybytes())
    reader = reader_of(table, path)
    assert [block.rows for block in reader.load_many(reader.blocks_between(None, None))] == [2, 1]
    assert [reader.load(0).batch().columns.to_pylist(), reader.load(1).values(0)] == [
        [{"a": 4, "b": "x"}, {"a": 5, "b": None}],
        (6, "z"),
    ]
    assert reader.check_for(["a"], []) is False  # DuckDB does not get it


def test_any_engine_reads_a_file_of_now():
    table, path = table_of([(1, "one"), (2, None)])
    found = pq.read_table(pa.BufferReader(table.store.files.get(path)))
    assert found.to_pylist() == [{"a": 1, "b": "one"}, {"a": 2, "b": None}]


def test_groups_have_a_size_by_rows_and_by_bytes():
    rows = 2 * SCANNED_ROWS + 1_000
    table, path = table_of(pa.table({"a": range(rows), "b": ["x"] * rows}))
    assert reader_of(table, path)._groups.counts == [SCANNED_ROWS, SCANNED_ROWS, 1_000]
    wide = pa.table({"a": range(100), "b": ["x" * (1 << 20)] * 100})
    table, path = table_of(wide)
    counts = reader_of(table, path)._groups.counts
    assert sum(counts) == 100
    assert all(0 < count << 20 <= GROUP_BYTES for count in counts)


def test_rows_are_counted_over_groups():
    count = SCANNED_ROWS + 1_000
    table, path = table_of(pa.table({"a": range(count), "b": ["x"] * count}))
    reader = reader_of(table, path)
    keys, rows = reader.boundaries()
    assert [key - (1 << 63) for key in map(keys.native, range(2))] == [SCANNED_ROWS - 1, count - 1]
    assert rows.tolist() == [SCANNED_ROWS, 1_000]
    assert reader.blocks_between((1 << 63) + SCANNED_ROWS, None) == range(1, 2)


def test_checks_cover_blocks_and_footer():
    table, path = table_of(pa.table({"a": [n * n for n in range(50_000)], "b": [str(n * n) for n in range(50_000)]}))
    files = table.store.files
    data = files.get(path)
    checks = read_checks(open_reader(files, path, len(data)))
    assert checks is not None
    assert checks.damaged([(0, 3 * BLOCK)]) is None
    files.put(path, data[: BLOCK + 9] + bytes([data[BLOCK + 9] ^ 1]) + data[BLOCK + 10 :])
    damaged = read_checks(open_reader(files, path, len(data)))
    assert damaged is not None
    assert damaged.damaged([(0, BLOCK), (2 * BLOCK, 2 * BLOCK + 1)]) is None
    assert damaged.damaged([(0, BLOCK + 1)]) == BLOCK
    for at in range(len(data) - 400, len(data), 7):
        files.put(path, data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(CorruptFileError, match=path):
            reader_of(table, path)


class RangesOnly:
    """A store that cannot map files, as those of objects cannot."""

    def __init__(self, inner):
        self.get, self.get_range, self.url = inner.get, inner.get_range, inner.url
        self.put, self.put_if_absent, self.list, self.delete = (
            inner.put,
            inner.put_if_absent,
            inner.list,
            inner.delete,
        )


def test_a_store_without_mapping_is_read_by_ranges():
    rows = pa.table({"a": [n * n for n in range(50_000)], "b": [str(n * n) for n in range(50_000)]})
    table, path = table_of(rows, RangesOnly(MemoryFiles()))
    assert table.to_arrow(["b"]).column("b").equals(rows.column("b"))
    data = table.store.files.get(path)
    table.store.files.put(path, data[:5000] + bytes([data[5000] ^ 1]) + data[5001:])
    with pytest.raises(CorruptFileError, match=path):
        table.to_arrow()


@pytest.mark.parametrize(
    ("options", "codecs"),
    [({}, ("SNAPPY", "ZSTD", "SNAPPY", "ZSTD")), ({"file.compression": "lz4"}, ("LZ4",) * 4)],
)
def test_text_is_compressed_harder_than_numbers(options, codecs):
    types = {"n": "BIGINT", "text.of": "STRING", "word": "STRING", "many": "ARRAY<STRING>"}
    table = Warehouse(MemoryFiles()).create_table("t", types, options=options)
    table.write([(at, f"line {at}", "on", [f"{at}"]) for at in range(100)])
    (entry,) = table.store.latest().entries
    content = table.store.files.get(table.store.paths.data_file(entry.file.name))
    group = pq.ParquetFile(pa.BufferReader(content)).metadata.row_group(0)
    assert tuple(group.column(at).compression for at in range(4)) == codecs


@pytest.mark.parametrize(("target", "least", "most"), [("256 MB", 1, 1), ("100 KB", 2, 4)])
def test_rows_of_one_write_are_few_files_in_their_order(target, least, most):
    """Rows that come one by one are taken in chunks; the chunks of a write share files up to the target size."""
    table = Warehouse(MemoryFiles()).create_table("t", COLUMNS, options={"target-file-size": target})
    rows = [(at * 7919 % 250_007, None) for at in range(250_000)]
    table.write(iter(rows))
    assert least <= len(table.store.latest().entries) <= most
    assert [(row["a"], row["b"]) for row in table.to_arrow().to_pylist()] == rows

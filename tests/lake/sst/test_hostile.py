"""Files whose checksums hold and whose structure lies: refused in our own words, before memory is taken for them."""

import struct

import pytest
from tests.fuzz.sealed import crc, seal_sst

from headwater import Warehouse
from headwater.errors import CorruptFileError
from headwater.files import MemoryFiles
from headwater.lake.engine.sst.reader import SSTableReader


@pytest.fixture(params=["BIGINT NOT NULL", "STRING NOT NULL"])
def parts(request):
    """The parts of a small file: header, block, meta, index, Bloom filter, rows."""
    files = MemoryFiles()
    options = {"file.compression": "none", "bucket": "1"}
    table = Warehouse(files).create_table(
        "t", {"k": request.param, "s": "STRING", "tags": "ARRAY<STRING>"}, primary_key="k", options=options
    )
    key = int if "BIGINT" in request.param else str
    table.write([(key(at), f"row {at:02}", ["a", "b"]) for at in range(20)])
    (path,) = [entry.path for entry in files.list(deep=True) if entry.path.endswith(".sst")]
    data = files.get(path)
    m_at, _, i_at, _, b_at, b_size, rows = struct.unpack("<QIQIQIQ", data[-48:-4])
    return data[:32], data[32:m_at], data[m_at : i_at - 16], data[i_at : b_at - 4], data[b_at : b_at + b_size], rows


def read(data):
    files = MemoryFiles()
    files.put("f.sst", data)
    reader = SSTableReader(files, "f.sst", len(data))
    for block in reader.load_many(range(len(reader.index))):
        block.keys()
        block.find(reader.index.entries[0].first_key)
        block.batch()
        block.values(0)
    reader.might_contain(b"12345678")


def sealed_block(block, **changes):
    """A block with some of its numbers changed, and a checksum that holds."""
    raw, trailer = bytearray(block[:-16]), bytearray(block[-16:-4])
    places = {"rows": (raw, 0, "<I"), "form": (raw, 4, "<B"), "keys": (raw, 8, "<I"), "columns": (raw, 12, "<I")}
    places |= {"raw_size": (trailer, 0, "<I"), "codec": (trailer, 4, "<B"), "padding": (trailer, 5, "<B")}
    for name, value in changes.items():
        where, at, form = places[name]
        struct.pack_into(form, where, at, value)
    body = bytes(raw + trailer)
    return body + crc(body)


def test_the_file_itself_is_read(parts):
    header, block, meta, index, bloom, rows = parts
    read(seal_sst(header, block, meta, (index, bloom, rows)))


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 21},
        {"rows": 0},
        {"rows": (1 << 32) - 1},
        {"form": 1},
        {"form": 2},
        {"form": 9},
        {"keys": 5},
        {"keys": (1 << 32) - 1},
        {"columns": 0},
        {"columns": (1 << 32) - 1},
        {"codec": 1},
        {"codec": 2, "raw_size": (1 << 32) - 1},
        {"codec": 7},
        {"padding": 255},
    ],
    ids=str,
)
def test_a_block_that_lies_about_itself_is_refused(parts, changes):
    header, block, meta, index, bloom, rows = parts
    is_number = b'"number_keys":true' in meta
    if changes == {"form": 1 if is_number else 2}:
        return  # the truth
    with pytest.raises(CorruptFileError):
        read(seal_sst(header, sealed_block(block, **changes), meta, (index, bloom, rows)))


@pytest.mark.parametrize("count", [0, 2, 1 << 30, (1 << 32) - 1])
def test_an_index_that_lies_about_its_length_is_refused(parts, count):
    header, block, meta, index, bloom, rows = parts
    with pytest.raises(CorruptFileError):
        read(seal_sst(header, block, meta, (struct.pack("<I", count) + index[4:], bloom, rows)))


@pytest.mark.parametrize("count", [0, 65, (1 << 32) - 1])
def test_a_filter_of_countless_hashes_is_refused(parts, count):
    """Every hash is a turn of a loop: a few bytes would hold a reader for minutes."""
    header, block, meta, index, bloom, rows = parts
    endless = bloom[:4] + struct.pack("<IQ", count, 1) + b"\xff" * len(bloom[16:])
    with pytest.raises(CorruptFileError, match="hashes"):
        read(seal_sst(header, block, meta, (index, endless, rows)))


def test_text_that_begins_where_no_text_is_is_refused(parts):
    """The offsets of a string column lead out of its bytes: without a check, memory of others would be read."""
    header, block, meta, index, bloom, rows = parts
    at = block.index(struct.pack("<5i", 0, 6, 12, 18, 24))  # "row 00", "row 01", …
    for lie in (-1, 1 << 30):
        bad = bytearray(block[:-4])
        struct.pack_into("<i", bad, at + 4, lie)
        with pytest.raises(CorruptFileError):
            read(seal_sst(header, bytes(bad) + crc(bytes(bad)), meta, (index, bloom, rows)))


def test_a_codec_and_a_version_that_there_are_not(parts):
    header, block, meta, index, bloom, rows = parts
    for at, value, said in ((8, 77, "header"), (4, 2, "format version 2")):
        bad = bytearray(header[:28])
        struct.pack_into("<I", bad, at, value)
        with pytest.raises(CorruptFileError, match=said):
            read(seal_sst(bytes(bad) + crc(bytes(bad)), block, meta, (index, bloom, rows)))

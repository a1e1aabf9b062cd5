"""Files whose checksums hold and whose structure lies: refused in our own words, before memory is taken for them."""

import struct
import zlib
from contextlib import suppress

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
    """A block with some numbers of its directory changed, and a checksum that holds. `size_1` is that of chunk 1."""
    count = struct.unpack_from("<I", block, len(block) - 12)[0]
    body = bytearray(block[:-4])
    trailer, start = len(body) - 12, len(body) - 12 - 13 * count
    places = {"rows": (trailer, "<I"), "chunks": (trailer + 4, "<I"), "form": (trailer + 8, "<B")}
    places["flags"] = (trailer + 9, "<B")
    for number in range(count):
        places[f"size_{number}"] = (start + 4 * number, "<I")
        places[f"raw_size_{number}"] = (start + 4 * (count + number), "<I")
        places[f"codec_{number}"] = (start + 12 * count + number, "<B")
    for name, value in changes.items():
        at, form = places[name]
        struct.pack_into(form, body, at, value)
    claimed = struct.unpack_from("<I", body, trailer + 4)[0]
    return bytes(body) + crc(bytes(body[max(0, trailer - 13 * claimed) :]))  # of the directory, as a reader finds it


def with_chunk(block, number, edit):
    """A block in which the bytes of one chunk were edited, and all checksums hold."""
    count = struct.unpack_from("<I", block, len(block) - 12)[0]
    directory = len(block) - 16 - 13 * count
    sizes = struct.unpack_from(f"<{count}I", block, directory)
    start = sum(-(-size // 8) * 8 for size in sizes[:number])
    body = bytearray(block[:-4])
    end = start + -(-sizes[number] // 8) * 8
    chunk = body[start : start + sizes[number]]
    edit(chunk)
    body[start : start + sizes[number]] = chunk
    struct.pack_into("<I", body, directory + 4 * (2 * count + number), zlib.crc32(body[start:end]))
    return bytes(body) + crc(bytes(body[directory:]))


def test_the_file_itself_is_read(parts):
    header, block, meta, index, bloom, rows = parts
    read(seal_sst(header, block, meta, (index, bloom, rows)))


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 21},
        {"rows": 19},
        {"rows": 0},
        {"rows": (1 << 32) - 1},
        {"chunks": 0},
        {"chunks": 2},
        {"chunks": (1 << 32) - 1},
        {"form": 1},
        {"form": 2},
        {"form": 9},
        {"flags": 1},
        {"size_0": 8},
        {"size_1": (1 << 32) - 1},
        {"raw_size_1": 5},
        {"raw_size_1": (1 << 32) - 1},
        {"codec_0": 1},
        {"codec_1": 2, "raw_size_1": (1 << 32) - 1},
        {"codec_1": 7},
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


@pytest.mark.parametrize("lie", [0, 5, 7, 1 << 30, (1 << 32) - 1])
def test_text_that_begins_where_no_text_is_is_refused(parts, lie):
    """The lengths of a string column lead out of its bytes: without a check, memory of others would be read."""
    header, block, meta, index, bloom, rows = parts
    column = 1 if b'"number_keys":true' in meta else 2  # after the keys, and a key column that is stored
    bad = with_chunk(block, column, lambda chunk: struct.pack_into("<I", chunk, 8, lie))
    with pytest.raises(CorruptFileError):
        read(seal_sst(header, bad, meta, (index, bloom, rows)))


@pytest.mark.parametrize("lie", [-1, 1 << 30])
def test_lists_that_begin_where_no_item_is_are_refused(parts, lie):
    header, block, meta, index, bloom, rows = parts
    column = 2 if b'"number_keys":true' in meta else 3

    def edit(chunk):
        at = bytes(chunk).index(struct.pack("<4i", 0, 2, 4, 6))  # two tags each
        struct.pack_into("<i", chunk, at + 4, lie)

    with pytest.raises(CorruptFileError):
        read(seal_sst(header, with_chunk(block, column, edit), meta, (index, bloom, rows)))


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("value", [0, 1, 2, 3, 5, 7, 255])
def test_a_chunk_that_lies_about_its_form_never_reads_elsewhere(parts, at, value):
    """Whatever the head of a chunk says, it is a column of that many rows, or refused."""
    header, block, meta, index, bloom, rows = parts
    count = struct.unpack_from("<I", block, len(block) - 12)[0]
    for number in range(1, count):

        def edit(chunk):
            chunk[at] = value

        with suppress(CorruptFileError):
            read(seal_sst(header, with_chunk(block, number, edit), meta, (index, bloom, rows)))


def test_a_codec_and_a_version_that_there_are_not(parts):
    header, block, meta, index, bloom, rows = parts
    for at, value, said in ((8, 77, "header"), (4, 3, "format version 3"), (4, 0, "format version 0")):
        bad = bytearray(header[:28])
        struct.pack_into("<I", bad, at, value)
        with pytest.raises(CorruptFileError, match=said):
            read(seal_sst(bytes(bad) + crc(bytes(bad)), block, meta, (index, bloom, rows)))

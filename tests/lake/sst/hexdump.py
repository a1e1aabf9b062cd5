"""The bytes of an SSTable with their meaning: the worked example of `docs/spec/sstable.md`, made from a real file."""

from collections.abc import Iterator

from headwater.lake.engine.sst.format import FOOTER_SIZE, HEADER_SIZE, Compression, Footer
from headwater.lake.engine.sst.index import IndexBlock, IndexEntry
from headwater.lake.engine.sst.meta import META_TRAILER, TableMeta, decode_meta

Part = tuple[int, int, str]  # offset, length, meaning
_WIDTH = 16


def annotate(data: bytes, path: str = "file") -> str:
    """A dump of a whole SSTable, uncompressed and with number keys, one line per field.
    RAISES: CorruptFileError when it is not a sound one."""
    footer = Footer.decode(data[-FOOTER_SIZE:], path, len(data))
    view = memoryview(data)
    meta, _ = decode_meta(view[footer.meta.offset : footer.meta.end], path, footer.meta.offset)
    index = IndexBlock.decode(
        view[footer.index.offset : footer.index.end], path, footer.index.offset, number_keys=meta.number_keys
    )
    parts = [*_header(data), *(part for entry in index.entries for part in _block(data, entry))]
    parts += [*_meta(footer, meta), *_index(footer, index), *_bloom(data, footer), *_footer(len(data))]
    return "\n".join(line for part in parts for line in _lines(data, part))


def _lines(data: bytes, part: Part) -> Iterator[str]:
    offset, length, meaning = part
    if not length:
        yield f"-- {meaning}"
        return
    shown = data[offset : offset + min(length, _WIDTH)].hex(" ")
    more = f" (and {length - _WIDTH} bytes more)" if length > _WIDTH else ""
    yield f"{offset:08x}  {shown:<{3 * _WIDTH}} {meaning}{more}"


def _number(data: bytes, offset: int, length: int) -> int:
    return int.from_bytes(data[offset : offset + length], "little")


def _header(data: bytes) -> list[Part]:
    return [
        (0, 0, "header"),
        (0, 4, "magic"),
        (4, 4, f"version {_number(data, 4, 4)}"),
        (8, 4, f"compression {Compression(_number(data, 8, 4)).name.lower()}"),
        (12, 8, f"created {_number(data, 12, 8)} ms after 1970"),
        (20, 8, "zeros"),
        (28, 4, "CRC-32 of the 28 bytes before"),
    ]


def _block(data: bytes, entry: IndexEntry) -> list[Part]:
    at, trailer = entry.handle.offset, entry.handle.end - 16
    rows, chunks, flags = _number(data, trailer, 4), _number(data, trailer + 4, 4), data[trailer + 9]
    directory = trailer - 13 * chunks
    parts: list[Part] = [(at, 0, f"data block of {entry.handle.size} bytes")]
    names = ["keys", *(["kinds: 0 put, 1 delete, 2 replace"] if flags & 1 else [])]
    for number in range(chunks):
        size = _number(data, directory + 4 * number, 4)
        columns = number - len(names)
        parts += _chunk(data, at, size, names[number] if columns < 0 else f"column {columns}")
        at += size + -size % 8
    return [
        *parts,
        (directory, 4 * chunks, "directory: stored size of each chunk"),
        (directory + 4 * chunks, 4 * chunks, "raw size of each"),
        (directory + 8 * chunks, 4 * chunks, "CRC-32 of each with the zeros after it"),
        (directory + 12 * chunks, chunks, "codec of each: 0 none"),
        (trailer, 4, f"{rows} rows"),
        (trailer + 4, 4, f"{chunks} chunks"),
        (trailer + 8, 1, "key form 1: numbers"),
        (trailer + 9, 1, f"flags {flags}" + (": kinds follow the keys" if flags & 1 else "")),
        (trailer + 10, 2, "zeros"),
        (trailer + 12, 4, "CRC-32 of the directory up to here"),
    ]


def _chunk(data: bytes, at: int, size: int, what: str) -> list[Part]:
    zeros: list[Part] = [(at + size, -size % 8, "zeros up to a multiple of 8")] if size % 8 else []
    if what == "keys":
        width, step = data[at + 8], _number(data, at + 12, 4)
        apart = f"width 0: all keys are {step} apart" if not width else f"width of a difference: {width} byte"
        head: list[Part] = [
            (at, 8, "keys: base, the first key"),
            (at + 8, 1, apart),
            (at + 9, 3, "zeros"),
            (at + 12, 4, f"step {step}"),
        ]
        return [*head, *([(at + 16, size - 16, "differences to the base")] if size > 16 else []), *zeros]
    if what.startswith("kinds"):
        return [(at, size, what), *zeros]
    forms = ("nothing but nulls", "fixed", "numbers", "text", "arrow", "bits", "narrow numbers")
    return [
        (at, 1, f"{what}, form {data[at]}: {forms[data[at]]}"),
        (at + 1, 1, f"flags {data[at + 1]}" + (": validity follows" if data[at + 1] & 1 else "")),
        (at + 2, 1, f"width {data[at + 2]}"),
        (at + 3, 1, f"{data[at + 3]} high bits"),
        (at + 4, 4, "zeros"),
        *([(at + 8, size - 8, "the values")] if size > 8 else []),
        *zeros,
    ]


def _meta(footer: Footer, meta: TableMeta) -> list[Part]:
    at, sums = footer.meta.offset, footer.meta.end - META_TRAILER
    return [
        (at, 0, f"meta block of {footer.meta.size} bytes"),
        (at, footer.meta.size - META_TRAILER, f"JSON: schema {meta.schema_id}, {meta.rows} rows, statistics"),
        (sums, 4, f"CRC-32 of the header ({HEADER_SIZE} bytes)"),
        (sums + 4, 4, f"CRC-32 of the footer ({FOOTER_SIZE} bytes)"),
        (sums + 8, 4, "CRC-32 of the Bloom block"),
        (sums + 12, 4, "CRC-32 of the meta block up to here"),
    ]


def _index(footer: Footer, index: IndexBlock) -> list[Part]:
    at, count = footer.index.offset, len(index)
    return [
        (at, 0, f"index block of {footer.index.size} bytes"),
        (at, 4, f"{count} data blocks"),
        (at + 4, 8 * count, "their offsets"),
        (at + 4 + 8 * count, 4 * count, "their sizes"),
        (at + 4 + 12 * count, 4 * count, "their rows"),
        (at + 4 + 16 * count, 8 * count, "their separators"),
        (at + 4 + 24 * count, 8 * count, "their first keys"),
        (footer.index.end - 4, 4, "CRC-32 of the index block up to here"),
    ]


def _bloom(data: bytes, footer: Footer) -> list[Part]:
    at = footer.bloom.offset
    return [
        (at, 0, f"Bloom block of {footer.bloom.size} bytes"),
        (at, 4, f"{_number(data, at, 4)} bits per key"),
        (at + 4, 4, f"{_number(data, at + 4, 4)} hashes"),
        (at + 8, 8, f"{_number(data, at + 8, 8)} bits"),
        (at + 16, footer.bloom.size - 16, "the bits"),
    ]


def _footer(size: int) -> list[Part]:
    at = size - FOOTER_SIZE
    names = ("meta", "index", "Bloom")
    handles = [
        part
        for number, name in enumerate(names)
        for part in ((at + 12 * number, 8, f"{name} block: offset"), (at + 12 * number + 8, 4, f"{name} block: size"))
    ]
    return [(at, 0, "footer"), *handles, (at + 36, 8, "rows"), (at + 44, 4, "magic")]

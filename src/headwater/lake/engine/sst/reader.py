"""Reading an SSTable: footer, meta, index and Bloom filter at open, blocks when they are needed."""

import zlib
from collections.abc import Iterator

from headwater.errors import CorruptFileError
from headwater.files import Files, open_reader
from headwater.lake.engine.sst.block import Block
from headwater.lake.engine.sst.block_v1 import BlockV1, open_block
from headwater.lake.engine.sst.bloom import BloomFilter
from headwater.lake.engine.sst.format import FOOTER_SIZE, HEADER_SIZE, Footer, Header, corrupt
from headwater.lake.engine.sst.index import IndexBlock
from headwater.lake.engine.sst.meta import decode_meta
from headwater.lake.engine.types import arrow_schema

_READ_AHEAD = 4 << 20  # bytes asked for at once where every request costs


class SSTableReader:
    """One open file. Safe to share between threads: nothing changes after opening.
    RAISES: CorruptFileError when anything but a data block is damaged; damaged blocks raise when they are read."""

    def __init__(self, files: Files, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self._reader = open_reader(files, path, size)
        if self._reader.size != size or size < HEADER_SIZE + FOOTER_SIZE:
            raise CorruptFileError(f"{path} has {self._reader.size} bytes instead of {size}")
        self.version = Header.decode(self._reader.read(0, HEADER_SIZE), path).version
        tail = self._reader.read(size - FOOTER_SIZE, FOOTER_SIZE)
        self.footer = Footer.decode(tail, path, size)
        rest = self._reader.read(self.footer.meta.offset, size - FOOTER_SIZE - self.footer.meta.offset)
        self._open_parts(rest, zlib.crc32(tail))

    def _open_parts(self, rest: memoryview, footer_checksum: int) -> None:
        meta_at, index_at, bloom_at = self.footer.meta, self.footer.index, self.footer.bloom
        base = meta_at.offset
        self.meta, sums = decode_meta(rest[: meta_at.size], self.path, base)
        if sums.footer != footer_checksum or self.footer.rows != self.meta.rows:
            raise corrupt(self.path, "footer", self.size - FOOTER_SIZE)
        self.index = IndexBlock.decode(
            rest[index_at.offset - base : index_at.end - base],
            self.path,
            index_at.offset,
            number_keys=self.meta.number_keys,
        )
        stored = rest[bloom_at.offset - base : bloom_at.end - base]
        if sums.bloom != zlib.crc32(stored):
            raise corrupt(self.path, "Bloom filter", bloom_at.offset)
        self.bloom = BloomFilter(stored)
        self.block_of, self.blocks_between = self.index.block_of, self.index.between
        self.boundaries, self.firsts = self.index.boundaries, self.index.firsts
        self.fields = self.meta.stored
        self._schema = arrow_schema(self.fields)
        # blocks follow each other from the header to the meta block: then one checks every byte
        if not self.index.fills(HEADER_SIZE, self.footer.meta.offset):
            raise corrupt(self.path, "index", self.footer.index.offset)

    def might_contain(self, key: bytes) -> bool:
        return self.bloom.might_contain(key)

    def load(self, number: int) -> Block | BlockV1:
        """Read, check and open one block."""
        handle = self.index.handle(number)
        return self._open(self._reader.read(handle.offset, handle.size), handle.offset)

    def load_many(self, numbers: range) -> Iterator[Block | BlockV1]:
        """Read several blocks in a row, ahead of their use where every request costs."""
        handles = self.index.handles(numbers)
        at, released = 0, handles[0].offset if handles else 0
        while at < len(handles):
            start, stop = handles[at].offset, at + 1
            limit = start if self._reader.in_place else start + _READ_AHEAD
            while stop < len(handles) and handles[stop].end <= limit:
                stop += 1
            data = self._reader.read(start, handles[stop - 1].end - start)
            for handle in handles[at:stop]:
                begin = handle.offset - start
                yield self._open(data[begin : begin + handle.size], handle.offset)
            at = stop
            if start - released >= _READ_AHEAD:
                self._reader.release(released, start - released)
                released = start

    def check_header(self) -> Header:
        """Read the header."""
        return Header.decode(self._reader.read(0, HEADER_SIZE), self.path)

    def _open(self, stored: memoryview, offset: int) -> Block | BlockV1:
        place, number_keys = (self.path, offset), self.meta.number_keys
        if self.version == 1:
            return BlockV1(open_block(stored, *place), self._schema, place, number_keys=number_keys)
        return Block(stored, self._schema, place, number_keys=number_keys)

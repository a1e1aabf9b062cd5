"""Writing an SSTable: sorted batches in, the pieces of a file out."""

import time
import zlib
from itertools import pairwise

import msgspec
import numpy as np

from headwater.files.protocol import Buffer
from headwater.lake.engine.batch import SortedBatch, concat
from headwater.lake.engine.formats.facts import FileFacts
from headwater.lake.engine.keys import Keys, NativeKey, NumberKeys, concat_keys
from headwater.lake.engine.keys.murmur import Hashes
from headwater.lake.engine.sst.block import encode_block
from headwater.lake.engine.sst.bloom import BloomFilter
from headwater.lake.engine.sst.format import HEADER_SIZE, Compression, Footer, Handle, Header
from headwater.lake.engine.sst.index import IndexBlock, IndexEntry, shortest_separator
from headwater.lake.engine.sst.meta import META_TRAILER, Checksums, TableMeta, seal_meta

DEFAULT_BLOCK_SIZE = 1 << 20
_MOST_ROWS = 32_768
_LEAST_ROWS = 4_096  # of a block of the default size: columns are compressed apart, and short ones not well
_MOST_BYTES = 64 << 20  # but of rows that are very large a block has fewer
_FIRST_CHUNK, _CHUNK = 64 << 10, 4 << 20  # most files of many partitions are small
_WIDE = 4  # blocks


class _Content:
    """The bytes of a growing file in large chunks, which go back to the system as a whole when they are done with.
    Thousands of blocks kept one by one would leave the heap in pieces."""

    def __init__(self) -> None:
        self._full: list[bytearray] = []
        self._chunk = bytearray(_FIRST_CHUNK)
        self._used = 0

    def append(self, data: bytes | memoryview) -> None:
        while len(data) > len(self._chunk) - self._used:
            room = len(self._chunk) - self._used
            self._chunk[self._used :] = data[:room]
            self._full.append(self._chunk)
            self._chunk, self._used = bytearray(_CHUNK), 0
            data = data[room:]
        end = self._used + len(data)
        self._chunk[self._used : end] = data
        self._used = end

    def drain(self) -> list[bytearray]:
        """The chunks that are full, which are given away."""
        full, self._full = self._full, []
        return full

    def rest(self) -> memoryview:
        """Return what is in the chunk that is not full."""
        return memoryview(self._chunk)[: self._used]


class SSTableWriter:
    """Collects one file. REQUIRES: every key appended is above all keys before it."""

    def __init__(
        self,
        facts: FileFacts,
        *,
        compression: Compression = Compression.LZ4,
        block_size: int = DEFAULT_BLOCK_SIZE,
        bits_per_key: int = 10,
        created_millis: int | None = None,
    ) -> None:
        self._facts = facts
        self._compression = compression
        self._block_size = block_size
        self._bits_per_key = bits_per_key
        created = int(time.time() * 1000) if created_millis is None else created_millis
        self._header = Header(compression, created).encode()
        self._content = _Content()
        self._content.append(self._header)
        self._blocks: list[tuple[NativeKey, NativeKey, Handle, int]] = []
        self._hashes: list[Hashes] = []
        self._end = HEADER_SIZE
        self._rest: SortedBatch | None = None  # rows of the block that is not full yet

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._end

    @property
    def rows(self) -> int:
        return self._facts.rows

    def append(self, batch: SortedBatch) -> None:
        if not len(batch):
            return
        self._facts.add(batch)
        self._hashes.append(batch.keys.hashes())
        row = max(1, batch.nbytes // len(batch))
        least = _LEAST_ROWS if self._block_size >= DEFAULT_BLOCK_SIZE else 1
        step = max(1, min(_MOST_ROWS, max(self._block_size // row, least), _MOST_BYTES // row))
        begin = self._fill_up(batch, step)
        gaps = [at for at in _gaps(batch.keys, step) if at > begin]
        ends = (begin, *gaps, len(batch))
        for begin, end in pairwise(ends):
            for start in range(begin, end, step):
                rows = batch.slice(start, min(start + step, end))
                if start + step > end == len(batch):
                    self._rest = rows  # more may follow
                else:
                    self._append_block(rows)

    def drain(self) -> list[Buffer]:
        """The pieces of the file that are done, beyond those given before."""
        return [*self._content.drain()]

    def finish(self) -> tuple[list[Buffer], TableMeta]:
        """The last pieces of the file and what it holds. REQUIRES: at least one row."""
        self._close_rest()
        index = self._index().encode()
        hashes = np.concatenate(self._hashes)
        bloom = BloomFilter.build(hashes, bits_per_key=self._bits_per_key)
        meta = self._facts.meta(compression=self._compression.name.lower(), blocks=len(self._blocks))
        body = msgspec.json.encode(meta)  # without its checksums, which depend on its size
        at_meta = Handle(self._end, len(body) + META_TRAILER)
        at_index = Handle(at_meta.end, len(index))
        at_bloom = Handle(at_index.end, len(bloom))
        footer = Footer(at_meta, at_index, at_bloom, meta.rows).encode()
        sums = Checksums(zlib.crc32(self._header), zlib.crc32(footer), zlib.crc32(bloom))
        return [*self.drain(), self._content.rest(), seal_meta(body, sums), index, bloom, footer], meta

    def _fill_up(self, batch: SortedBatch, step: int) -> int:
        """Bring the block that is not full to `step` rows; returns how many rows of the batch that took."""
        rest = self._rest
        if rest is None:
            return 0
        if len(rest) >= step or _gaps(concat_keys([rest.keys, batch.keys.slice(0, 1)]), step):
            self._close_rest()
            return 0
        taken = min(step - len(rest), len(batch))
        self._rest = concat([rest, batch.slice(0, taken)])
        if len(self._rest) >= step:
            self._close_rest()
        return taken

    def _close_rest(self) -> None:
        if self._rest is not None:
            self._append_block(self._rest)
            self._rest = None

    def _append_block(self, batch: SortedBatch) -> None:
        pieces = encode_block(batch, self._compression)
        handle = Handle(self._end, sum(map(len, pieces)))
        self._blocks.append((batch.keys.native(0), batch.keys.native(-1), handle, len(batch)))
        for piece in pieces:
            self._content.append(piece)
        self._end = handle.end

    def _index(self) -> IndexBlock:
        following = [first for first, _, _, _ in self._blocks[1:]]
        entries = []
        for position, (first, last, handle, rows) in enumerate(self._blocks):
            separator = shortest_separator(last, following[position]) if position < len(following) else last
            entries.append(IndexEntry(first, separator, handle, rows))
        return IndexBlock.of(entries)


def _gaps(keys: Keys, step: int) -> list[int]:
    """The positions before which there is a gap as wide as several blocks of `step` keys.
    A block ends there: one that reached over the gap would overlap with all that other files have in it. There are
    fewer of them than a quarter of the blocks, since all keys and gaps together are as wide as the blocks."""
    if not isinstance(keys, NumberKeys) or len(keys) <= step:
        return []
    wide = _WIDE * (int(keys.values[-1] - keys.values[0]) * step // len(keys))
    if wide >= 1 << 64:
        return []
    found: list[int] = (np.flatnonzero(np.diff(keys.values) > np.uint64(wide)) + 1).tolist()
    return found

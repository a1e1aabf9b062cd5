"""The interface of a data file, whichever format it has.
A file is a sequence of blocks in key order: data blocks of an SSTable, row groups of a Parquet file, stripes of an
ORC file, the whole of a JSON file. Point reads find one row in one block; scans take blocks as sorted batches."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.files.protocol import Buffer
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.keys import Keys, NativeKey
from headwater.lake.engine.sst.meta import TableMeta
from headwater.model.schema import Field


class DataBlock(Protocol):
    """Some rows of a file, in memory."""

    @property
    def rows(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def find(self, key: NativeKey, /) -> int:
        """The position of a key, -1 if it is not there."""
        ...

    def kind(self, index: int) -> int: ...

    def values(self, index: int) -> tuple[Any, ...]:
        """The stored values of one row, in the order of the file's fields."""
        ...

    def select(self, names: Sequence[str]) -> pa.RecordBatch:
        """Some of the stored columns of all rows."""
        ...

    @property
    def has_kinds(self) -> bool:
        """Return whether some rows are not puts."""
        ...

    def live(self) -> npt.NDArray[np.bool_]:
        """For each row, whether it is not a delete; the caller may change it."""
        ...

    def keys(self) -> Keys: ...

    def batch(self, names: Sequence[str] | None = None) -> SortedBatch:
        """All rows, with all stored columns or some of them."""
        ...


class DataReader(Protocol):
    """An open data file."""

    path: str
    size: int
    fields: tuple[Field, ...]

    def might_contain(self, key: bytes) -> bool:
        """Return whether the encoded key may be in the file; False is certain."""
        ...

    def block_of(self, key: NativeKey) -> int:
        """The number of the only block that can hold a key, -1 if there is none."""
        ...

    def blocks_between(self, lower: NativeKey | None, upper: NativeKey | None) -> range:
        """The blocks that can hold keys with `lower` ≤ key ≤ `upper`."""
        ...

    def boundaries(self) -> tuple[Keys, npt.NDArray[np.int64]]:
        """For each block a key not below its last and below the next block's first, and its number of rows."""
        ...

    def firsts(self) -> Keys:
        """The first key of each block."""
        ...

    def load(self, number: int) -> DataBlock: ...

    def load_many(self, numbers: range) -> Iterator[DataBlock]:
        """Several blocks in a row, whose columns may be read when they are asked for."""
        ...


class DataWriter(Protocol):
    """A data file that is being written. REQUIRES: every key appended is above all keys before it."""

    @property
    def size(self) -> int:
        """About how many bytes the file has so far."""
        ...

    def append(self, batch: SortedBatch) -> None: ...

    def drain(self) -> Sequence[Buffer]:
        """The pieces of the file that are done, beyond those given before."""
        ...

    def finish(self) -> tuple[Sequence[Buffer], TableMeta]:
        """The last pieces of the file and what it holds."""
        ...

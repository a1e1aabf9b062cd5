"""Cutting the splits of a plan to a size, so that any number of processes can share a scan.
Files that overlap in keys must be merged, but not all at once: what lies between two keys can be read on its own."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from headwater.lake.engine.bounds import KeyBounds
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import NativeKey, concat_keys
from headwater.lake.engine.options import FileFormat
from headwater.lake.engine.version import DataFile
from headwater.lake.tables.plan import Split, key_sections, packed
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.store import TableStore


def cut_split(store: TableStore, split: Split, size: int) -> Iterator[Split]:
    """Parts of a split of about `size` bytes each; every row of the split is in exactly one of them."""
    if split.bytes <= size + size // 2:
        yield split
        return
    shape = store.shape(split.schema_id)
    if not shape.is_keyed:
        yield from (replace(split, files=files) for files in packed([(file,) for file in split.files], size))
        return
    small: list[tuple[DataFile, ...]] = []
    for section in key_sections(split.files):
        # only the index of an SSTable tells the places to cut at without reading the rows
        is_indexed = shape.options.file_format is FileFormat.SST
        if sum(file.size for file in section) <= size + size // 2 or not is_indexed:
            small.append(section)
        else:
            yield from _by_key(store, shape, replace(split, files=_by_age(section)), size)
    yield from (replace(split, files=_by_age(files)) for files in packed(small, size))


def _by_age(files: tuple[DataFile, ...]) -> tuple[DataFile, ...]:
    return tuple(sorted(files, key=lambda file: file.sequence))


def _by_key(store: TableStore, shape: Shape, split: Split, size: int) -> Iterator[Split]:
    """Parts between keys at which blocks end, of about equal numbers of rows."""
    shelf = store.shelf(shape)
    edges = [OpenFile(shelf, file).boundaries() for file in split.files]
    keys = concat_keys([ends for ends, _ in edges])
    order = keys.boundary_order()
    rows = np.cumsum(np.concatenate([counts for _, counts in edges])[order])
    parts = max(1, round(split.bytes / size))
    at = np.unique(np.searchsorted(rows, [rows[-1] * part // parts for part in range(1, parts)]))
    ends = [keys.native(int(order[each])) for each in at if each < len(rows) - 1]
    lower = split.bounds.lower
    for end in (*dict.fromkeys(ends), None):
        upper = split.bounds.upper if end is None else _least(end, split.bounds.upper)
        bounds = KeyBounds(lower, upper)
        files = tuple(file for file in split.files if not bounds.excludes(file, shape.codec.is_number))
        is_empty = lower is not None and upper is not None and lower > upper  # type: ignore[operator]
        if files and not is_empty:
            yield replace(split, files=files, bounds=bounds)
        if end is not None:
            # the least key above another
            lower = _most(end + 1 if isinstance(end, int) else end + b"\x00", split.bounds.lower)


def _least(key: NativeKey, bound: NativeKey | None) -> NativeKey:
    return key if bound is None else min(key, bound)


def _most(key: NativeKey, bound: NativeKey | None) -> NativeKey:
    return key if bound is None else max(key, bound)

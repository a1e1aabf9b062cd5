"""The check that sums and products of a table with `merge-engine = aggregation` fit the types of their columns.
A write must not take a value out of its range, or no read could show it. To know that, the rows that are there would
have to be read with every write. Most writes need not: the statistics of files bound the values in them, and a sum of
bounds that fits shows that every sum fits."""

import decimal
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.errors import ValueOverflowError
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.home import TreeHome
from headwater.lake.engine.keys import NativeKey, keys_of
from headwater.lake.engine.memtable import MemTable
from headwater.lake.engine.merge import MergeRule, merge_batches, sort_batch
from headwater.lake.engine.merge.aggregates import largest, magnitude
from headwater.lake.engine.reads import Reads
from headwater.lake.engine.row import rows_to_arrow
from headwater.lake.engine.stats import exact_bound
from headwater.lake.engine.types import EXACT, arrow_type
from headwater.lake.engine.upkeep import BucketSource, Upkeep
from headwater.lake.engine.version import DataFile, Place, SortedRun
from headwater.model.schema import Field, Schema
from headwater.model.types import INTEGERS, Decimal

Sizes: TypeAlias = dict[str, int | None]
"""For each column that can overflow, how far from zero the value of a key can be; None if that is not known."""


class Headroom:
    """The columns of a table whose merged values can overflow, and bounds for them."""

    def __init__(self, schema: Schema, rule: MergeRule) -> None:
        self._fields = {
            each.name: each
            for each in schema.fields
            if rule.strict_functions.get(each.name) and (isinstance(each.type, Decimal) or each.type in INTEGERS)
        }
        self._functions = rule.strict_functions
        self._largest = {name: largest(arrow_type(field.type)) for name, field in self._fields.items()}
        self.is_needed = bool(self._fields)

    def suffices(self, parts: Iterable[Sizes]) -> bool:
        """Return whether values of these sizes, merged in any order, fit their columns for certain."""
        known = list(parts)
        for name, most in self._largest.items():
            total: int | None = 0
            for part in known:
                total = self._merged(name, total, part.get(name, 0))
            if total is None or total > most:
                return False
        return True

    def merged(self, one: Sizes, other: Sizes) -> Sizes:
        """The sizes of values that are merged from values of two sizes."""
        return {name: self._merged(name, one.get(name, 0), other.get(name, 0)) for name in self._fields}

    def _merged(self, name: str, one: int | None, other: int | None) -> int | None:
        if one is None or other is None:
            return None
        return one + other if self._functions[name] == "sum" else max(one, 1) * max(other, 1)

    def sizes_of_values(self, names: Iterable[str], values: Iterable[Any]) -> Sizes:
        """The sizes of one row."""
        return {name: self._size(name, value) for name, value in zip(names, values) if name in self._fields}

    def sizes_of_columns(self, columns: pa.RecordBatch) -> Sizes:
        """The sizes in rows of which each has another key."""
        return {name: magnitude(columns.column(name)) for name in self._fields}

    def sizes_of_run(self, run: SortedRun, schema_of: Callable[[int], Schema]) -> Sizes:
        """The sizes in a run, which has one row of a key, by the statistics of its files."""
        sizes: Sizes = dict.fromkeys(self._fields, 0)
        for file in run.files:
            old = {each.id: each for each in schema_of(file.schema_id).fields}
            for name, field in self._fields.items():
                size = self._in_file(file, field, old)
                known = sizes[name]
                sizes[name] = None if size is None or known is None else max(known, size)
        return sizes

    def _in_file(self, file: DataFile, field: Field, old: Mapping[int, Field]) -> int | None:
        if field.id not in old:
            return self._size(field.name, field.default)
        stats = file.stats.get(old[field.id].name)
        if stats is None:
            return None
        if stats.nulls == file.rows:
            return 0
        bounds = [exact_bound(bound, old[field.id].type) for bound in (stats.min, stats.max)]
        if None in bounds:
            return None
        return max(self._size(field.name, bound) for bound in bounds)

    def _size(self, name: str, value: Any) -> int:
        """Return the distance of a value from zero, in units of the last digit of its column."""
        if value is None:
            return 0
        if isinstance(value, int):
            return abs(value)
        type = self._fields[name].type
        scale = type.scale if isinstance(type, Decimal) else 0
        return int(abs(decimal.Decimal(value)).scaleb(scale, EXACT))


class OverflowCheck:
    """Looks at rows that are to be put into a tree. REQUIRES: one thread at a time."""

    def __init__(self, upkeep: Upkeep, home: TreeHome, schema: Schema, rule: MergeRule) -> None:
        self._upkeep = upkeep
        self._home = home
        self._schema = schema
        self._codec = home.shelf.codec
        self._rule = rule.as_strict(self._codec)
        self._headroom = Headroom(schema, rule)
        self._bounds: dict[Place, tuple[int, Sizes]] = {}  # of the files of a version
        self.is_needed = self._headroom.is_needed
        self._names = [field.name for field in self._codec.stored]

    def merged(self, rows: SortedBatch) -> SortedBatch:
        """Rows with one row of a key. RAISES: ValueOverflowError."""
        return sort_batch(rows, self._rule)

    def admits_rows(self, rows: Sequence[tuple[NativeKey, tuple[Any, ...]]]) -> bool:
        """Say whether the active memtable can take rows, given as they are stored; if not, a new one can.
        RAISES: ValueOverflowError when a merged value would not fit its column."""
        sizes: Sizes = {}
        for _, values in rows:
            sizes = self._headroom.merged(sizes, self._headroom.sizes_of_values(self._names, values))
        places = {self._home.place_of(key) for key, _ in rows}
        return self._admits(sizes, places, lambda: self._batch(rows))

    def admits_batch(self, rows: SortedBatch) -> bool:
        """The same for a batch. REQUIRES: one row of a key."""
        places = [place for place, _ in self._home.route(rows)]
        return self._admits(self._headroom.sizes_of_columns(rows.columns), places, lambda: rows)

    def _admits(self, sizes: Sizes, places: Iterable[Place], batch: Callable[[], SortedBatch]) -> bool:
        memtables = self._upkeep.memtables
        in_memory = [memtable.sizes for memtable in memtables]
        fits = all(self._headroom.suffices([self._bound(place), sizes, *in_memory]) for place in places)
        takes_them = fits or self._read_and_check(batch(), memtables[0])
        if takes_them:
            memtables[0].sizes = self._headroom.merged(memtables[0].sizes, sizes)
        return takes_them

    def _batch(self, rows: Sequence[tuple[NativeKey, tuple[Any, ...]]]) -> SortedBatch:
        keys = keys_of([key for key, _ in rows], number_keys=self._codec.is_number)
        return self.merged(SortedBatch(keys, None, rows_to_arrow([values for _, values in rows], self._codec.stored)))

    def _bound(self, place: Place) -> Sizes:
        live = self._upkeep.live
        number, sizes = self._bounds.get(place, (-1, {}))
        if number != live.number:
            sizes = {}
            for run in live.of(place).runs():
                sizes = self._headroom.merged(sizes, self._headroom.sizes_of_run(run, self._home.shelf.schema_of))
            self._bounds[place] = (live.number, sizes)
        return sizes

    def _read_and_check(self, rows: SortedBatch, active: MemTable) -> bool:
        """Merge rows with all that is there, then with what the memtable merges them with before the rest."""
        self._upkeep.refresh()
        for place, part in self._home.route(rows):
            Reads(BucketSource(self._upkeep, place), self._codec, self._schema, self._rule).merged_with(part)
        parts = active.find_many(rows.keys)
        try:
            for start in range(len(parts)):
                merge_batches([*parts[start:], rows], self._rule)
        except ValueOverflowError:
            return False
        return True

"""Refusing rows that would take a sum or product out of the range of its column, before they are acknowledged."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headwater.errors import ValueOverflowError
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.headroom import Headroom, Sizes
from headwater.lake.engine.home import TreeHome
from headwater.lake.engine.keys import NativeKey
from headwater.lake.engine.memtable import MemTable, native_keys
from headwater.lake.engine.merge import MergeRule, merge_batches, sort_batch
from headwater.lake.engine.reads import Reads
from headwater.lake.engine.row import rows_to_arrow
from headwater.lake.engine.upkeep import BucketSource, Upkeep
from headwater.lake.engine.version import Place
from headwater.model.schema import Schema


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

        RAISES: ValueOverflowError when a merged value would not fit its column.
        """
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
        keys = native_keys([key for key, _ in rows], self._codec)
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

"""Refusing rows that would take a sum or product out of the range of its column, before they are acknowledged."""

from collections.abc import Sequence
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
        self._rule = rule.as_strict()
        self._headroom = Headroom(schema, rule)
        self._bounds: dict[Place, tuple[int, Sizes]] = {}  # of the files of a version
        self.is_needed = self._headroom.is_needed
        self._names = [field.name for field in home.shelf.codec.stored]

    def admit(self, keys: Sequence[NativeKey], rows: Sequence[tuple[Any, ...]]) -> bool:
        """Say whether the active memtable can take rows, given as they are stored; if not, a new one can.

        RAISES: ValueOverflowError when a merged value would not fit its column.
        """
        active = self._upkeep.memtables[0]
        sizes: Sizes = {}
        for row in rows:
            sizes = self._headroom.merged(sizes, self._headroom.sizes_of_values(self._names, row))
        takes_them = True
        in_memory = [memtable.sizes for memtable in self._upkeep.memtables]
        places = {self._home.place_of(key) for key in keys}
        if not all(self._headroom.suffices([self._bound(place), sizes, *in_memory]) for place in places):
            takes_them = self._read_and_check(self._batch(keys, rows), active)
        if takes_them:
            active.sizes = self._headroom.merged(active.sizes, sizes)
        return takes_them

    def _batch(self, keys: Sequence[NativeKey], rows: Sequence[tuple[Any, ...]]) -> SortedBatch:
        codec = self._home.shelf.codec
        in_order = SortedBatch(native_keys(keys, codec), None, rows_to_arrow(rows, codec.stored))
        return sort_batch(in_order, self._rule)

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
        """Merge rows with those that are there; then with those of the active memtable, which become one file."""
        self._upkeep.refresh()
        codec = self._home.shelf.codec
        for place, part in self._home.route(rows):
            Reads(BucketSource(self._upkeep, place), codec, self._schema, self._rule).merged_with(part)
        try:
            merge_batches([*active.find_many(rows.keys), rows], self._rule)
        except ValueOverflowError:
            return False
        return True

"""A table without a key against one bag of rows per snapshot."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.effort import examples

from headwater import Warehouse
from headwater.files import MemoryFiles
from headwater.lake.tables import Compare, IsNull

pytestmark = pytest.mark.property

parts = st.none() | st.sampled_from(["a", "b c/d"])
numbers = st.none() | st.integers(-5, 5)
some_rows = st.lists(st.tuples(parts, numbers), max_size=6)
pick = st.integers(0, 1 << 30)


class BagMachine(RuleBasedStateMachine):
    """Appends, deletes, edits, overwrites, compaction, rollback, expiry; then what is there, then, and between."""

    @initialize()
    def begin(self):
        self.table = Warehouse(MemoryFiles()).create_table(
            "t",
            {"part": "STRING", "n": "INT"},
            partition_by="part",
            options={"num-sorted-run.compaction-trigger": "2"},
        )
        self.bag = Counter()
        self.moments = {}

    def landed(self, snapshot):
        self.moments[snapshot.snapshot_id] = Counter(self.bag)

    @rule(rows=some_rows)
    def write(self, rows):
        self.bag.update(rows)
        self.landed(self.table.write(rows))

    @rule(limit=st.integers(-5, 5))
    def delete(self, limit):
        self.bag = Counter({row: n for row, n in self.bag.items() if row[1] is None or row[1] <= limit})
        self.landed(self.table.delete(where=Compare("n", ">", limit)))

    @rule(value=st.integers(-5, 5))
    def fill(self, value):
        """Rows without a number get one."""
        filled = Counter()
        for (part, n), count in self.bag.items():
            filled[part, value if n is None else n] += count
        self.bag = filled
        self.landed(
            self.table.rewrite(
                IsNull("n"), lambda some: some.set_column(1, "n", pa.array([value] * len(some), pa.int32()))
            )
        )

    @rule(rows=some_rows, dynamic=st.booleans())
    def overwrite(self, rows, dynamic):
        gone = {part for part, _ in rows}
        kept = {row: n for row, n in self.bag.items() if dynamic and row[0] not in gone}
        self.bag = Counter(kept) + Counter(rows)
        self.landed(self.table.overwrite(rows, "dynamic" if dynamic else None))

    @rule(full=st.booleans())
    def compact(self, full):
        for done in self.table.compact(full=full):
            self.moments[done.snapshot_id] = Counter(self.bag)

    @rule(which=pick)
    def rollback(self, which):
        if self.moments:
            id = sorted(self.moments)[which % len(self.moments)]
            self.bag = Counter(self.moments[id])
            self.landed(self.table.rollback(id))

    @rule(keep=st.integers(1, 3))
    def expire(self, keep):
        self.table.expire_snapshots(keep_max=keep)
        kept = {snapshot.snapshot_id for snapshot in self.table.snapshots()}
        self.moments = {id: bag for id, bag in self.moments.items() if id in kept}

    def read(self, **how):
        return Counter((row["part"], row["n"]) for row in self.table.to_arrow(**how).to_pylist())

    @invariant()
    def now(self):
        if hasattr(self, "table"):
            assert self.read() == +self.bag

    @rule(which=pick, part=parts, low=st.integers(-5, 5))
    def travel(self, which, part, low):
        if not self.moments:
            return
        id = sorted(self.moments)[which % len(self.moments)]
        bag = self.moments[id]
        assert self.read(at=id) == +bag
        where = IsNull("part") if part is None else Compare("part", "=", part)
        wanted = Counter({row: n for row, n in bag.items() if row[0] == part and row[1] is not None and row[1] < low})
        assert self.read(at=id, where=[where, Compare("n", "<", low)]) == +wanted

    @rule(first=pick, second=pick)
    def changes(self, first, second):
        if not self.moments:
            return
        ids = sorted(self.moments)
        start, end = ids[first % len(ids)], ids[second % len(ids)]
        told = Counter(self.moments[start])
        for row in self.table.changes(start, end).read_all().to_pylist():
            told[row["part"], row["n"]] += 1 if row["_kind"] == "+I" else -1
            assert row["_kind"] in ("+I", "-D")
        assert min(told.values(), default=0) >= 0
        assert +told == +self.moments[end]

    def teardown(self):
        if hasattr(self, "table"):
            assert self.table.remove_orphans(older_than=-10).files == ()


@pytest.mark.slow
def test_a_table_without_a_key_is_one_bag_per_snapshot():
    quiet = settings(max_examples=examples(60), stateful_step_count=25, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(BagMachine, settings=quiet)

"""A tree against a dictionary: whatever is done to it, in whatever order."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.effort import examples
from tests.faulty_files import FaultyFiles

from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree, RowKind
from headwater.lake.engine.types import arrow_schema, schema_of
from headwater.model.schema import Schema

pytestmark = pytest.mark.property

NUMBERS = schema_of(pa.schema([("id", pa.int64()), ("name", pa.string()), ("n", pa.int32())]), ("id",))
TEXTS = schema_of(
    pa.schema([("k", pa.string()), ("n", pa.int32()), ("j", pa.int32()), ("name", pa.string())]), ("k", "j")
)
SMALL = {
    "memtable.size": "4 KB",
    "file.block-size": "128 B",
    "wal.fsync": "none",
    "num-sorted-run.compaction-trigger": "3",
}

small = st.integers(-12, 12)
texts = st.sampled_from(["", "a", "b\0c", "naïve", "x" * 40])
names = st.none() | st.sampled_from(["one", "two", "a longer name", ""])


class TreeMachine(RuleBasedStateMachine):
    """put, delete, batch, flush, compact, reopen, crash; get, multi_get, range and full scan after them."""

    schema: Schema
    variant: dict[str, str]
    steps = 0

    @invariant()
    def count(self) -> None:
        TreeMachine.steps += 1

    def key_of(self, a: int, text: str) -> object:
        return a if self.schema.primary_keys == ("id",) else (text, a)

    def row_of(self, a: int, text: str, name: str | None) -> tuple[object, ...]:
        return (a, name, a * 2) if self.schema.primary_keys == ("id",) else (text, a * 2, a, name)

    @initialize()
    def begin(self) -> None:
        self.disk = MemoryFiles()
        self.model: dict[object, tuple[object, ...]] = {}
        self.crashed = False
        self.open()

    def open(self) -> None:
        options = self.schema.options | SMALL | self.variant
        self.files = FaultyFiles(self.disk)
        schema = Schema(self.schema.fields, self.schema.primary_keys, options=options)
        self.tree = LSMTree(self.files, schema, cache=BlockCache(4096))

    @rule(a=small, text=texts, name=names)
    def put(self, a: int, text: str, name: str | None) -> None:
        self.tree.put(self.row_of(a, text, name))
        self.model[self.key_of(a, text)] = self.row_of(a, text, name)

    @rule(a=small, text=texts)
    def delete(self, a: int, text: str) -> None:
        self.tree.delete(self.key_of(a, text))
        self.model.pop(self.key_of(a, text), None)

    @rule(rows=st.lists(st.tuples(small, texts, names), min_size=1, max_size=30))
    def write_batch(self, rows: list[tuple[int, str, str | None]]) -> None:
        values = [self.row_of(*row) for row in rows]
        columns = {name: [value[i] for value in values] for i, name in enumerate(self.schema.names)}
        self.tree.write_arrow(pa.table(columns, schema=self.arrow()))
        self.model |= {self.key_of(a, text): self.row_of(a, text, name) for a, text, name in rows}
        self.tree.flush()  # a batch is durable by its flush

    @rule(keys=st.lists(st.tuples(small, texts), min_size=1, max_size=8))
    def delete_batch(self, keys: list[tuple[int, str]]) -> None:
        values = [self.row_of(a, text, None) for a, text in keys]
        columns = {name: [value[i] for value in values] for i, name in enumerate(self.schema.names)}
        self.tree.write_arrow(pa.table(columns, schema=self.arrow()), kind=RowKind.DELETE)
        for a, text in keys:
            self.model.pop(self.key_of(a, text), None)
        self.tree.flush()

    def arrow(self) -> pa.Schema:
        return arrow_schema(self.schema.fields)

    @rule()
    def flush(self) -> None:
        self.tree.flush()

    @rule(full=st.booleans())
    def compact(self, full: bool) -> None:
        self.tree.compact(full=full)

    @rule()
    def reopen(self) -> None:
        self.tree.close()
        self.open()

    @rule(kept=st.sampled_from([0.0, 1.0]))
    def crash(self, kept: float) -> None:
        """The process dies; with `wal.fsync = none` what it wrote is with the operating system, and survives."""
        self.tree._upkeep.settle()
        for log in list(self.files._logs):
            self.files.mark_synced(log)
        self.files.recover(kept=kept)
        self.crashed = True
        self.open()

    @rule(a=small, text=texts)
    def get(self, a: int, text: str) -> None:
        row = self.tree.get(self.key_of(a, text))
        assert (None if row is None else row.values) == self.model.get(self.key_of(a, text))

    @rule(keys=st.lists(st.tuples(small, texts), max_size=10))
    def multi_get(self, keys: list[tuple[int, str]]) -> None:
        wanted = [self.key_of(a, text) for a, text in keys]
        found = [None if row is None else row.values for row in self.tree.multi_get(wanted)]
        assert found == [self.model.get(key) for key in wanted]

    @rule(bounds=st.tuples(st.none() | st.tuples(small, texts), st.none() | st.tuples(small, texts)))
    def scan(self, bounds: tuple[tuple[int, str] | None, tuple[int, str] | None]) -> None:
        lower, upper = (None if bound is None else self.key_of(*bound) for bound in bounds)
        rows = [tuple(row.values()) for row in self.tree.to_arrow(lower=lower, upper=upper).to_pylist()]
        inside = [
            key
            for key in sorted(self.model, key=_order)
            if (lower is None or _order(lower) <= _order(key)) and (upper is None or _order(key) <= _order(upper))
        ]
        assert rows == [self.model[key] for key in inside]

    def teardown(self) -> None:
        if hasattr(self, "tree"):
            self.tree.close()
            live = {file.name for file in self.tree._upkeep.state.version.files}
            kept = {entry.name for entry in self.disk.list("data")}
            assert kept >= live
            assert kept == live or self.crashed  # a crash may undo the removal of files that are no longer live


def _order(key: object) -> object:
    return (key[0].encode(), key[1]) if isinstance(key, tuple) else key


@pytest.mark.parametrize(
    ("schema", "variant", "number"),
    [
        (NUMBERS, {}, 250),
        (TEXTS, {}, 150),
        (NUMBERS, {"compaction.style": "leveled", "target-file-size": "300 B"}, 400),
        (TEXTS, {"file.format": "parquet"}, 40),
        (NUMBERS, {"file.format": "json"}, 40),
        (NUMBERS, {"file.format": "orc", "file.compression": "zstd"}, 40),
        (TEXTS, {"file.compression": "none", "flush.threads": "2"}, 80),
        (NUMBERS, {"file.compression": "snappy", "wal.fsync": "interval"}, 80),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) and value else None,
)
def test_a_tree_is_a_sorted_dictionary(schema: Schema, variant: dict[str, str], number: int) -> None:
    class Machine(TreeMachine):
        pass

    Machine.schema, Machine.variant = schema, variant
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(number),
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_the_machine_took_ten_thousand_steps() -> None:
    if not TreeMachine.steps:
        pytest.skip("the machine did not run")
    assert TreeMachine.steps >= 10_000


def test_a_delete_stays_while_a_deeper_level_has_its_row() -> None:
    """Level 1 has deletes of 0 and 1 in one file, the last level has row 1; new deletes of 0 merge with that file."""
    options = SMALL | {"compaction.style": "leveled"}
    tree = LSMTree(MemoryFiles(), Schema(NUMBERS.fields, NUMBERS.primary_keys, options=options))

    def delete(*keys: int) -> None:
        gone = {"id": list(keys), "name": [None] * len(keys), "n": [None] * len(keys)}
        tree.write_arrow(pa.table(gone, schema=arrow_schema(NUMBERS.fields)), kind=RowKind.DELETE)
        tree.flush()

    tree.put((1, "one", 1))
    tree.compact(full=True)
    for keys in ((0,), (0,), (0, 1)):
        delete(*keys)
    assert tree.compact(full=False) is not None
    for _ in range(3):
        delete(0)
    assert tree.compact(full=False) is not None
    assert tree.get(1) is None

"""A table against one dictionary per snapshot: whatever is done to it, in whatever order."""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from headwater import Warehouse
from headwater.files import MemoryFiles
from headwater.lake.metadata.evolution import AddColumn, DropColumn, MoveColumn, RenameColumn, WidenColumn
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Compare, In
from headwater.model.types import BIGINT, INT, STRING

pytestmark = pytest.mark.property

keys = st.integers(-6, 6)
parts = st.sampled_from(["a", "b/c", "ü"])
numbers = st.none() | st.integers(-1000, 1000)
pick = st.integers(0, 1 << 30)


@dataclass
class Moment:
    """What a snapshot must show: rows by key, values by field id, and the schema of the time."""

    schema: object
    rows: dict = field(default_factory=dict)


def shown(rows, schema):
    """Rows as a schema shows them."""
    fields = schema.fields
    return {key: tuple(row.get(f.id, f.default) for f in fields) for key, row in rows.items()}


class TableMachine(RuleBasedStateMachine):
    """Writes, deletes, overwrites, rows one by one, compaction, tags, rollback, ALTER, expiry; then all reads."""

    options: dict
    partitioned: bool
    steps = 0

    @initialize()
    def begin(self):
        self.warehouse = Warehouse(MemoryFiles())
        columns = {"part": "STRING", "id": "INT", "n": "INT", "name": "STRING"}
        key = ["part", "id"] if self.partitioned else ["id"]
        self.table = self.warehouse.create_table(
            "t", columns, primary_key=key, partition_by=["part"] if self.partitioned else [], options=self.options
        )
        self.rows = {}
        self.moments = {}
        self.tags = {}
        self.names = 0

    @property
    def schema(self):
        return self.table.schema

    def key(self, part, id):
        return (part, id) if self.partitioned else id

    def row(self, part, id, n):
        """A row under the latest schema, as a dictionary by name; new columns get a value too."""
        row = {}
        for each in self.schema.fields:
            row[each.name] = {0: part, 1: id}.get(each.id, str(n) if str(each.type) == "STRING" else n)
        return row

    def put(self, part, id, n):
        ids = {each.name: each.id for each in self.schema.fields}
        row = self.row(part, id, n)
        self.rows[self.key(part, id)] = {ids[name]: value for name, value in row.items()}
        return row

    def landed(self, snapshot):
        assert snapshot.schema_id == self.schema.id
        self.moments[snapshot.snapshot_id] = Moment(self.schema, dict(self.rows))
        for id in range(snapshot.snapshot_id + 1, self.table.snapshot().snapshot_id + 1):
            assert self.table.snapshot(id).operation is Operation.COMPACT  # which the write has brought about
            self.moments[id] = Moment(self.schema, dict(self.rows))

    @rule(some=st.lists(st.tuples(parts, keys, numbers), max_size=8))
    def write(self, some):
        self.landed(self.table.write([self.put(*each) for each in some]))

    @rule(some=st.lists(st.tuples(parts, keys), min_size=1, max_size=4))
    def delete(self, some):
        for each in some:
            self.rows.pop(self.key(*each), None)
        self.landed(self.table.delete([self.key(*each) for each in some]))

    @rule(limit=keys)
    def delete_where(self, limit):
        id = self.schema.fields[[f.id for f in self.schema.fields].index(1)].name
        for key in [key for key in self.rows if self.rows[key][1] > limit]:
            del self.rows[key]
        self.landed(self.table.delete(where=Compare(id, ">", limit)))

    @rule(some=st.lists(st.tuples(parts, keys, numbers), min_size=1, max_size=4))
    def overwrite(self, some):
        if self.partitioned:
            gone = {part for part, _, _ in some}
            self.rows = {key: row for key, row in self.rows.items() if key[0] not in gone}
            self.landed(self.table.overwrite([self.put(*each) for each in some], "dynamic"))
        else:
            self.rows = {}
            self.landed(self.table.overwrite([self.put(*each) for each in some]))

    @rule(some=st.lists(st.tuples(parts, keys, numbers), min_size=1, max_size=4), gone=st.tuples(parts, keys))
    def write_rows(self, some, gone):
        with self.table.writer() as writer:
            for each in some:
                writer.put(self.put(*each))
            writer.delete(self.key(*gone))
            self.rows.pop(self.key(*gone), None)
            assert writer.get(self.key(*gone)) is None
            self.landed(writer.flush())

    @rule(full=st.booleans())
    def compact(self, full):
        for done in self.table.compact(full=full):
            self.moments[done.snapshot_id] = Moment(self.schema, dict(self.rows))

    @rule(which=pick)
    def tag(self, which):
        if self.moments:
            id = sorted(self.moments)[which % len(self.moments)]
            self.names += 1
            self.table.create_tag(f"tag-{self.names}", id)
            self.tags[f"tag-{self.names}"] = self.moments[id]

    @rule(which=pick)
    def delete_tag(self, which):
        if self.tags:
            name = sorted(self.tags)[which % len(self.tags)]
            self.table.delete_tag(name)
            del self.tags[name]

    @rule(which=pick)
    def rollback(self, which):
        moments = {**self.moments, **self.tags}
        if moments:
            at = sorted(moments, key=str)[which % len(moments)]
            self.rows = dict(moments[at].rows)
            self.landed(self.table.rollback(at))

    @rule(which=pick)
    def alter(self, which):
        self.names += 1
        others = [each for each in self.schema.fields if each.id > 1]
        one = others[which % len(others)] if others else None
        change = AddColumn(f"c{self.names}", STRING if which % 2 else INT, default="d" if which % 2 else None)
        match which % 5:
            case 0 if one is not None:
                change = RenameColumn(one.name, f"c{self.names}")
            case 1:
                change = RenameColumn(self.schema.primary_keys[-1], f"k{self.names}")
            case 2 if one is not None:
                change = DropColumn(one.name)
            case 3 if one is not None and one.type == INT:
                change = WidenColumn(one.name, BIGINT)
            case 4 if one is not None:
                change = MoveColumn(one.name, "")
        self.table.alter(change)

    @rule(keep=st.integers(1, 4))
    def expire(self, keep):
        self.table.expire_snapshots(keep_max=keep)
        kept = {snapshot.snapshot_id for snapshot in self.table.snapshots()}
        assert len(kept) <= keep
        self.moments = {id: moment for id, moment in self.moments.items() if id in kept}

    @rule()
    def reopen(self):
        self.table = Warehouse(self.warehouse.files).table("t")

    @invariant()
    def now(self):
        TableMachine.steps += 1
        if hasattr(self, "table"):
            assert self.read() == shown(self.rows, self.schema)

    def read(self, at=None, **how):
        table = self.table.to_arrow(at=at, **how)
        schema = self.schema if at is None else self.table.store.schemas.get_schema(self.table.snapshot(at).schema_id)
        found = {}
        for row in table.to_pylist():
            values = tuple(row.values())
            ids = [each.id for each in schema.fields]
            found[self.key(values[ids.index(0)], values[ids.index(1)])] = values
        assert len(found) == table.num_rows
        return found

    @rule(which=pick, part=parts, id=keys)
    def travel(self, which, part, id):
        moments = {**self.moments, **self.tags}
        if moments:
            at = sorted(moments, key=str)[which % len(moments)]
            wanted = shown(moments[at].rows, moments[at].schema)
            assert self.read(at) == wanted
            row = self.table.get(self.key(part, id), at=at)
            assert (None if row is None else row.values) == wanted.get(self.key(part, id))

    @rule(ids=st.lists(keys, max_size=3), low=keys)
    def filtered(self, ids, low):
        wanted = shown(self.rows, self.schema)
        name = next(each.name for each in self.schema.fields if each.id == 1)
        assert self.read(where=Compare(name, ">=", low)) == {
            key: row for key, row in wanted.items() if self.rows[key][1] >= low
        }
        assert self.read(where=In(name, tuple(ids))) == {
            key: row for key, row in wanted.items() if self.rows[key][1] in ids
        }
        n = next((at for at, each in enumerate(self.schema.fields) if each.id == 2), None)
        if n is not None:
            found = self.read(where=Compare(self.schema.fields[n].name, "<", low))
            assert found == {key: row for key, row in wanted.items() if row[n] is not None and row[n] < low}

    @rule(first=pick, second=pick)
    def changes(self, first, second):
        if not self.moments:
            return
        ids = sorted(self.moments)
        start, end = ids[first % len(ids)], ids[second % len(ids)]
        schema = max((self.moments[start].schema, self.moments[end].schema), key=lambda schema: schema.id)
        before, after = (shown(self.moments[id].rows, schema) for id in (start, end))
        told = dict(before)
        place = [[each.id for each in schema.fields].index(id) for id in (0, 1)]
        kinds = {"-D": 0, "-U": 1, "+U": 2, "+I": 2}
        log = self.table.changes(start, end).read_all().to_pylist()
        for *values, kind in sorted((list(row.values()) for row in log), key=lambda row: kinds[row[-1]]):
            key = self.key(values[place[0]], values[place[1]])
            if kind in ("-D", "-U"):
                assert told.pop(key) == tuple(values)
            else:
                assert (key in before) == (kind == "+U")
                told[key] = tuple(values)
        assert told == after
        assert {row["_kind"] for row in self.table.diff(start, end).to_pylist()} <= {"+I", "U", "-D"}

    @rule(part=parts, id=keys)
    def history(self, part, id):
        if not self.moments:
            return
        told, last = [], None
        for at in sorted(self.moments):
            row = shown(self.moments[at].rows, self.schema).get(self.key(part, id))
            if row != last:
                told.append((at, row))
            last = row
        found = self.table.history(self.key(part, id))
        assert [(each.snapshot_id, each.row and each.row.values) for each in found] == told

    def teardown(self):
        if hasattr(self, "table"):
            assert self.table.remove_orphans(older_than=-10).files == ()
            self.table.expire_snapshots(keep_max=1)
            for name in self.tags:
                self.table.delete_tag(name)
            assert self.table.remove_orphans(older_than=-10).files == ()
            assert self.read() == shown(self.rows, self.schema)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("partitioned", "options", "examples"),
    [
        (False, {"bucket": "2"}, 60),
        (True, {"bucket": "2"}, 60),
        (True, {"file.format": "parquet"}, 20),
        (False, {"compaction.style": "leveled", "target-file-size": "300 B"}, 30),
    ],
)
def test_a_table_is_one_dictionary_per_snapshot(partitioned, options, examples):
    small = {"num-sorted-run.compaction-trigger": "3", "file.block-size": "128 B", "wal.fsync": "none"}
    machine = type("Machine", (TableMachine,), {"partitioned": partitioned, "options": small | options})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples, stateful_step_count=25, suppress_health_check=list(HealthCheck)),
    )


@pytest.mark.slow
def test_the_machine_took_two_thousand_steps():
    if not TableMachine.steps:
        pytest.skip("the machine did not run")
    assert TableMachine.steps >= 2_000

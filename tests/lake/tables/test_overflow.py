"""A sum or product that would not fit its column is refused when it is written; nothing is lost, and reads go on."""

import decimal
import itertools
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

import headwater
from headwater import Warehouse
from headwater.errors import SchemaChangeError, ValueOverflowError
from headwater.files import MemoryFiles
from headwater.lake import LSMTree
from headwater.lake.engine.types import arrow_type, from_unscaled
from headwater.lake.metadata.schema_change import AddColumn, SetOption, WidenColumn
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, SMALLINT, Decimal, parse_type

MOST = {
    "TINYINT": 2**7 - 1,
    "SMALLINT": 2**15 - 1,
    "INT": 2**31 - 1,
    "BIGINT": 2**63 - 1,
    "DECIMAL(3, 1)": from_unscaled(10**3 - 1, 1),
    "DECIMAL(38, 10)": from_unscaled(10**38 - 1, 10),
    "DECIMAL(38, 0)": from_unscaled(10**38 - 1, 0),
}
NEGATED = {text: most.copy_negate() if text.startswith("DECIMAL") else -most for text, most in MOST.items()}
CASES = [(text, "sum") for text in MOST] + [(text, "product") for text in MOST if not text.endswith(("1)", "10)"))]


def options(function, **more):
    return {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": function,
        "compaction.auto": "false",
        **more,
    }


def create(warehouse, text, function):
    columns = {"k": "INT", "v": text}
    return warehouse.create_table("t", columns, primary_key="k", options=options(function))


def rows(text, *values):
    return pa.table(
        [[7] * len(values), values], schema=pa.schema([("k", pa.int32()), ("v", arrow_type(parse_type(text)))])
    )


def by_table(table, value, text):
    table.write(rows(text, value))


def by_rows_of_one_commit(table, value, text):
    table.write(rows(text, value, value))


def by_writer(table, value, text):
    with table.writer() as writer:
        writer.put((7, value))


def by_writer_in_memory(table, value, text):
    with table.writer() as writer:
        writer.put((7, None))
        writer.put((7, value))


def by_sql(table, value, text):
    headwater.connect(table.store.files).sql(f"INSERT INTO t VALUES (7, CAST('{value}' AS {text}))")


@pytest.mark.parametrize("write", [by_table, by_rows_of_one_commit, by_writer, by_writer_in_memory, by_sql])
@pytest.mark.parametrize(("text", "function"), CASES)
def test_a_value_that_would_not_fit_is_refused_at_every_door(text, function, write):
    warehouse = Warehouse(MemoryFiles())
    table = create(warehouse, text, function)
    most = MOST[text]
    table.write(rows(text, most))
    with pytest.raises(
        ValueOverflowError, match=f"the {function} of column `v` would not fit .* with the key 7"
    ) as err:
        write(table, most, text)
    assert "wider type" in err.value.hint
    assert err.value.message.startswith("table default.t: ")
    for full in (False, True):
        assert Warehouse(warehouse.files).table("t").get(7)["v"] == most
        table.compact(full=full)
    (row,) = table.to_arrow().to_pylist()
    assert row["v"] == most
    table.write(rows(text, NEGATED[text] if function == "sum" else type(most)(0)))
    assert table.get(7)["v"] == 0
    assert table.remove_orphans(older_than=0).files == ()


def test_an_acknowledged_row_that_another_writer_leaves_no_room_for_waits_until_there_is(tmp_path):
    table = create(Warehouse(tmp_path), "INT", "sum")
    writer = table.writer()
    writer.put((7, MOST["INT"]))
    table.write(rows("INT", 1))
    with pytest.raises(ValueOverflowError, match="with the key 7"):
        writer.flush()
    assert table.get(7)["v"] == 1
    assert writer.get(7)["v"] is not None
    with pytest.raises(ValueOverflowError, match="with the key 7"):
        writer.close()
    with pytest.raises(ValueOverflowError, match="with the key 7"):
        table.writer()
    table.alter(WidenColumn("v", BIGINT))
    table.writer().close()
    assert Warehouse(tmp_path).table("t").get(7)["v"] == MOST["INT"] + 1


def test_a_row_that_is_deleted_makes_room(tmp_path):
    table = create(Warehouse(tmp_path), "INT", "sum")
    with table.writer() as writer:
        writer.put((7, MOST["INT"]))
        table.write(rows("INT", 1))
        with pytest.raises(ValueOverflowError):
            writer.flush()
        table.delete([7])
        writer.flush()
        assert writer.get(7)["v"] == MOST["INT"]
        writer.delete(7)
        writer.put((7, MOST["INT"]))
    assert table.get(7)["v"] == MOST["INT"]


def test_of_two_commits_that_do_not_fit_together_the_second_is_refused():
    warehouse = Warehouse(MemoryFiles())
    table = create(warehouse, "DECIMAL(38, 10)", "sum")
    other = Warehouse(warehouse.files).table("t")
    half = MOST["DECIMAL(38, 10)"]
    table.write(rows("DECIMAL(38, 10)", half))
    with pytest.raises(ValueOverflowError):
        other.write(rows("DECIMAL(38, 10)", half))
    assert other.get(7)["v"] == half


@pytest.mark.parametrize("style", ["universal", "leveled"])
@pytest.mark.parametrize("text", ["TINYINT", "DECIMAL(3, 1)"])
def test_a_part_of_the_runs_that_does_not_fit_is_merged_with_the_rest(text, style):
    made = options("sum", **{"compaction.style": style, "num-sorted-run.compaction-trigger": "2"})
    table = Warehouse(MemoryFiles()).create_table("t", {"k": "INT", "v": text}, primary_key="k", options=made)
    most = MOST[text]
    one = type(most)(1)
    many = pa.array(range(100, 5000), pa.int32())
    nothing = pa.nulls(len(many), arrow_type(parse_type(text)))
    table.write(pa.concat_tables([rows(text, -one), pa.table({"k": many, "v": nothing})]))
    table.compact()
    table.write(rows(text, most))
    table.write(rows(text, one))
    assert table.compact(full=False)
    assert table.get(7)["v"] == most
    table.compact()
    assert table.get(7)["v"] == most


def test_a_table_from_before_the_check_keeps_what_it_has_until_there_is_room(monkeypatch):
    table = create(Warehouse(MemoryFiles()), "INT", "sum")
    with monkeypatch.context() as before:
        before.setattr("headwater.lake.tables.writes.refuse_overflow", lambda store, change: None)
        table.write(rows("INT", MOST["INT"]))
        table.write(rows("INT", 1))
    assert table.get(7)["v"] == -(2**31)  # as it was read before
    with pytest.raises(ValueOverflowError, match=r"table default\.t: .* with the key 7"):
        table.compact()
    table.alter(SetOption("compaction.auto", "true"))
    table.write([(8, 1)])  # its compaction is given up
    table.alter(WidenColumn("v", BIGINT))
    for _ in range(2):
        assert {row["k"]: row["v"] for row in table.to_arrow().to_pylist()} == {7: 2**31, 8: 1}
        table.compact()


def test_another_function_may_need_a_compaction_first():
    table = create(Warehouse(MemoryFiles()), "TINYINT", "last")
    table.write(rows("TINYINT", 100))
    table.write(rows("TINYINT", 101))
    table.alter(SetOption("fields.v.aggregate-function", "max"))
    with pytest.raises(SchemaChangeError, match="does not fit") as err:
        table.alter(SetOption("fields.v.aggregate-function", "sum"))
    assert "compact" in err.value.hint
    table.compact()
    table.alter(SetOption("fields.v.aggregate-function", "sum"))
    table.write(rows("TINYINT", 26))
    assert table.get(7)["v"] == 127


def tree_of_digits(files, function):
    """A tree with one column that holds one digit."""
    schema = Schema(
        (Field(1, "k", SMALLINT, nullable=False), Field(2, "v", Decimal(1, 0))),
        ("k",),
        options=options(function, **{"num-sorted-run.compaction-trigger": "2", "wal.fsync": "none"}),
    )
    return LSMTree(files, schema)


def write(tree, kind, rows):
    digits = [(key, None if value is None else decimal.Decimal(value)) for key, value in rows]
    if kind == "put":
        tree.put_many(digits)
    else:
        schema = pa.schema([("k", pa.int16()), ("v", pa.decimal128(1, 0))])
        tree.write_arrow(pa.table(list(map(list, zip(*digits))), schema=schema))


@pytest.mark.parametrize("kinds", list(itertools.product(["put", "batch"], repeat=4)))
def test_parts_of_a_memtable_that_do_not_fit_alone(kinds):
    tree = tree_of_digits(MemoryFiles(), "sum")
    for kind, digit in zip(kinds, (-9, 8, 6, 2)):
        write(tree, kind, [(0, digit)])
        tree.get(0)
    for end in (lambda: None, tree.flush, tree.compact):
        end()
        assert tree.get(0)["v"] == 7
        assert tree.to_arrow().column("v").to_pylist() == [7]
    tree.close()


# ------------------------------------------------------------------------------------------------- against a model

value = st.sampled_from([9, -9, 5, -5, 1, 0, 2, -1, None])
row = st.tuples(st.sampled_from([0, 0, 0, 1]), value)
operation = st.one_of(
    st.tuples(st.just("put"), st.lists(row, min_size=1, max_size=2)),
    st.tuples(st.just("batch"), st.lists(row, min_size=1, max_size=3)),
    st.tuples(st.just("delete"), st.integers(0, 1)),
    st.tuples(st.sampled_from(["flush", "due", "compact", "read", "reopen"]), st.none()),
)


def folded(function, state, rows):
    """The state after rows, and whether all of it fits one digit; a write has to fit by itself, too."""
    combine = sum if function == "sum" else math.prod
    after, fits = dict(state), True
    for key in {key for key, _ in rows}:
        fresh = [value for at, value in rows if at == key and value is not None]
        old = [after[key]] if after.get(key) is not None else []
        parts = [combine(part) if part else None for part in (fresh, [*old, *fresh])]
        fits &= all(part is None or abs(part) <= 9 for part in parts)
        after[key] = parts[1]
    return after, fits


@pytest.mark.slow
@pytest.mark.parametrize("function", ["sum", "product"])
@given(operations=st.lists(operation, max_size=30))
@settings(max_examples=examples(300), deadline=None)
@pytest.mark.property
def test_overflow_against_a_model(function, operations):
    files = MemoryFiles()
    tree = tree_of_digits(files, function)
    state = {}
    for kind, what in operations:
        if kind in ("put", "batch"):
            after, fits = folded(function, state, what)
            try:
                write(tree, kind, what)
            except ValueOverflowError:
                assert not fits
            else:
                assert fits
                state = after
        elif kind == "delete":
            tree.delete(what)
            state.pop(what, None)
        elif kind == "reopen":
            tree.close()
            tree = tree_of_digits(files, function)
        elif kind == "flush":
            tree.flush()
        elif kind == "read":
            assert {key: row and row["v"] for key in state for row in tree.multi_get([key])} == state
        else:
            tree.compact(full=kind == "compact")
    assert {row["k"]: row["v"] for row in tree.to_arrow().to_pylist()} == state
    tree.close()


def test_the_model_itself():
    assert folded("sum", {0: 9}, [(0, 1)]) == ({0: 10}, False)
    assert folded("sum", {0: 9}, [(0, 1), (0, -1)]) == ({0: 9}, True)
    assert folded("product", {}, [(0, None), (1, 3)]) == ({0: None, 1: 3}, True)


@pytest.mark.parametrize(
    ("text", "default", "function"),
    [("INT", 10, "sum"), ("INT", 3, "product"), ("STRING", "x", "listagg"), ("ARRAY<INT>", [1], "collect")],
)
def test_the_default_of_a_new_column_is_counted_once(text, default, function):
    table = create(Warehouse(MemoryFiles()), "INT", "sum")
    table.write([(1, 1), (2, 1)])
    table.write([(1, 2)])
    changes = AddColumn("c", parse_type(text), default=default), SetOption("fields.c.aggregate-function", function)
    with pytest.raises(SchemaChangeError, match="default counted more than once"):
        table.alter(*changes)
    table.alter(changes[0])
    assert table.to_arrow(["k", "c"]).to_pylist() == [{"k": 1, "c": default}, {"k": 2, "c": default}]
    with pytest.raises(SchemaChangeError, match="default counted more than once"):
        table.alter(changes[1])
    table.compact()
    table.alter(changes[1])
    assert table.to_arrow(["k", "c"]).to_pylist() == [{"k": 1, "c": default}, {"k": 2, "c": default}]


@pytest.mark.parametrize("function", ["min", "max", "first", "last", "last_non_null"])
def test_a_function_to_which_one_default_is_as_good_as_two_is_taken(function):
    table = create(Warehouse(MemoryFiles()), "INT", "sum")
    table.write([(1, 1)])
    table.write([(1, 2)])
    table.alter(AddColumn("c", BIGINT, default=10), SetOption("fields.c.aggregate-function", function))
    assert table.to_arrow(["c"]).to_pylist() == [{"c": 10}]

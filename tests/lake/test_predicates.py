"""Conditions: the rows they keep, and the files they spare."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from headwater.errors import SchemaError
from headwater.files import MemoryFiles
from headwater.lake import BlockCache, Compare, In, IsNull, LSMTree, Predicate, StartsWith
from headwater.lake.engine.predicates import holds, mask_batch
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Schema

ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("n", pa.int32()),
        ("s", pa.string()),
        ("f", pa.float32()),
        ("day", pa.date32()),
        ("price", pa.decimal128(6, 2)),
    ]
)
row = st.tuples(
    st.integers(0, 6),
    st.none() | st.integers(-3, 3),
    st.none() | st.sampled_from(["a", "b", "a" * 20, "a" * 20 + "b"]),
    st.none() | st.sampled_from([float(np.float32(0.1)), 0.1, -2.5, 0.0, -0.0, float("nan")]),
    st.none() | st.sampled_from([datetime.date(2026, 1, 1), datetime.date(999, 1, 1)]),
    st.none() | st.sampled_from([Decimal("9.50"), Decimal("10.25")]),
)
COMPARE = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@st.composite
def predicates(draw: st.DrawFn) -> Predicate:
    at = draw(st.integers(0, len(ARROW) - 1))
    column = ARROW.names[at]
    values = st.tuples(*[row] * 2).map(lambda rows: tuple(r[at] for r in rows if r[at] is not None))
    chosen = draw(values.filter(len))
    choices = [Compare(column, op, chosen[0]) for op in COMPARE]
    choices += [In(column, chosen), IsNull(column), IsNull(column, negated=True)]
    if column == "s":
        choices.append(StartsWith(column, chosen[0][:3]))
    return draw(st.sampled_from(choices))


def meets(values: dict[str, Any], predicate: Predicate) -> bool:
    value = values[predicate.column]
    match predicate:
        case IsNull(_, negated):
            return (value is None) != negated
        case _ if value is None:
            return False
        case Compare(_, op, wanted):
            return COMPARE[op](value, wanted)
        case In(_, wanted):
            return any(value == each or (value != value and each != each) for each in wanted)
        case StartsWith(_, prefix):
            return value.startswith(prefix)


@pytest.mark.property
@pytest.mark.parametrize("engine", ["deduplicate", "partial-update", "first-row"])
@given(batches=st.lists(st.lists(row, min_size=1, max_size=5), max_size=5), where=st.lists(predicates(), max_size=2))
@settings(max_examples=examples(200))
def test_a_condition_keeps_what_it_would_of_all_rows(
    engine: str, batches: list[list[tuple[Any, ...]]], where: list[Predicate]
) -> None:
    plain = schema_of(ARROW, ("id",))
    options = {"merge-engine": engine, "compaction.auto": "false", "wal.enabled": "false"}
    tree = LSMTree(MemoryFiles(), Schema(plain.fields, ("id",), options=options), cache=BlockCache(0))
    for number, rows in enumerate(batches):
        tree.write_arrow(pa.table([list(column) for column in zip(*rows)], schema=ARROW))
        if number % 3:
            tree.flush()
    everything = tree.to_arrow().to_pylist()
    expected = [values["id"] for values in everything if all(meets(values, predicate) for predicate in where)]
    assert tree.to_arrow(["id"], where=where)["id"].to_pylist() == expected
    tree.close()


def test_files_are_spared_only_where_nothing_is_uncovered() -> None:
    plain = schema_of(pa.schema([("id", pa.int64()), ("n", pa.int64())]), ("id",))
    tree = LSMTree(MemoryFiles(), Schema(plain.fields, ("id",), options={"compaction.auto": "false"}))
    for start, value in ((0, 1), (100, 2), (200, 3), (250, 9)):
        ids = np.arange(start, start + 100)
        tree.write_arrow(pa.table({"id": ids, "n": np.full(100, value)}))
        tree.flush()
    plan = tree.explain(where=[Compare("n", "=", 2)])
    assert (plan["files"], plan["files_pruned"]) == (2, 2)  # the newest hides rows of the third, so both may matter
    assert tree.to_arrow(where=[Compare("n", "=", 2)]).num_rows == 100
    assert tree.to_arrow(where=[Compare("n", "=", 3)]).num_rows == 50
    by_key = tree.explain(where=[Compare("id", "<", 50)])
    assert (by_key["files"], by_key["files_pruned"]) == (1, 3)
    tree.close()


@pytest.mark.parametrize(
    "predicate",
    [Compare("m", "=", 1), Compare("n", "=", "x"), StartsWith("n", "x")],
)
def test_conditions_that_make_no_sense(predicate: Predicate) -> None:
    plain = schema_of(pa.schema([("id", pa.int64()), ("n", pa.int64())]), ("id",))
    with LSMTree(MemoryFiles(), plain) as tree, pytest.raises(SchemaError):
        tree.to_arrow(where=[predicate])


@pytest.mark.parametrize("type", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_both_zeros_are_one_value(type, zero):
    batch = pa.RecordBatch.from_arrays([pa.array([0.0, -0.0, None, 1.0], type)], names=["x"])
    for where in (In("x", (zero, 7.0)), Compare("x", "=", zero)):
        assert mask_batch(batch, [where]).tolist() == [True, True, False, False]
        assert [holds(where, value) for value in (0.0, -0.0, None, 1.0)] == [True, True, False, False]

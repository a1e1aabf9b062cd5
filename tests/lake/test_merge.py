"""Merge engines against a row-by-row model."""

from functools import reduce
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from headwater.errors import SchemaError
from headwater.files import MemoryFiles
from headwater.lake import BlockCache, LSMTree
from headwater.lake.engine.merge import MergeEngine, MergeRule, merge_rule
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Schema

pytestmark = pytest.mark.property

ARROW = pa.schema([("id", pa.int64()), ("a", pa.int32()), ("b", pa.string()), ("c", pa.bool_()), ("d", pa.float64())])
FUNCTIONS = {
    "fields.a.aggregate-function": "sum",
    "fields.b.aggregate-function": "listagg",
    "fields.c.aggregate-function": "bool_or",
    "fields.d.aggregate-function": "max",
}
row = st.tuples(
    st.integers(0, 4),
    st.none() | st.integers(-9, 9),
    st.none() | st.sampled_from("xyz"),
    st.none() | st.booleans(),
    st.none() | st.integers(-4, 4).map(float),
)
operation = st.one_of(
    st.tuples(st.just("put"), row),
    st.tuples(st.just("delete"), st.integers(0, 4)),
    st.tuples(st.just("batch"), st.lists(row, min_size=1, max_size=6)),
    st.tuples(st.sampled_from(["flush", "compact", "due"]), st.none()),
)


def fold(engine: MergeEngine, old: tuple[Any, ...] | None, new: tuple[Any, ...]) -> tuple[Any, ...]:
    if old is None or engine is MergeEngine.DEDUPLICATE:
        return new
    if engine is MergeEngine.FIRST_ROW:
        return old
    if engine is MergeEngine.PARTIAL_UPDATE:
        return tuple(o if n is None else n for o, n in zip(old, new))
    combine = (lambda o, n: n, lambda o, n: o + n, lambda o, n: f"{o},{n}", lambda o, n: o or n, max)
    return tuple(n if o is None else o if n is None else f(o, n) for f, o, n in zip(combine, old, new))


def write_model(engine: MergeEngine, model: dict[int, tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> None:
    for values in rows:
        model[values[0]] = fold(engine, model.get(values[0]), values)


def apply(tree: LSMTree, kind: str, what: Any) -> None:
    match kind:
        case "put":
            tree.put(what)
        case "delete":
            tree.delete(what)
        case "batch":
            tree.write_arrow(pa.table(list(map(list, zip(*what))), schema=ARROW))
        case "flush":
            tree.flush()
        case _:
            tree.compact(full=kind == "compact")


@pytest.mark.parametrize("engine", MergeEngine)
@given(operations=st.lists(operation, max_size=25))
@settings(max_examples=examples(120))
def test_engines_against_a_model(engine: MergeEngine, operations: list[tuple[str, Any]]) -> None:
    options = {
        "merge-engine": engine.value,
        "num-sorted-run.compaction-trigger": "2",
        "wal.fsync": "none",
    } | FUNCTIONS
    plain = schema_of(ARROW, ("id",))
    tree = LSMTree(
        MemoryFiles(), Schema(plain.fields, plain.primary_keys, options=options), cache=BlockCache(1 << 16)
    )
    model: dict[int, tuple[Any, ...]] = {}
    for kind, what in operations:
        apply(tree, kind, what)
        if kind == "put":
            write_model(engine, model, [what])
        elif kind == "batch":
            write_model(engine, model, what)
        elif kind == "delete":
            model.pop(what, None)
    expected = [model[key] for key in sorted(model)]
    assert [tuple(found.values()) for found in tree.to_arrow().to_pylist()] == expected
    for key in range(5):
        found = tree.get(key)
        assert (None if found is None else found.values) == model.get(key)
    tree.close()


def test_the_sum_of_small_numbers_keeps_their_type() -> None:
    import numpy as np

    from headwater.lake.engine.merge.aggregates import AGGREGATES, KeyGroups, aggregate

    column = pa.array([100, 27, 5, None], pa.int8())
    groups = KeyGroups(np.array([0, 2]), 4)
    for name in AGGREGATES:
        if name not in ("listagg", "collect", "bool_or", "bool_and"):
            assert aggregate(name, column, groups).type == pa.int8(), name
    assert aggregate("sum", column, groups).to_pylist() == [127, 5]
    assert aggregate("product", column, groups).to_pylist()[1] == 5
    assert aggregate("first", column, groups).to_pylist() == [100, 5]
    assert aggregate("last", column, groups).to_pylist() == [27, None]
    assert aggregate("first_non_null", column, groups).to_pylist() == [100, 5]
    lists = pa.array([[1], None, [2, 3], [4]], pa.list_(pa.int64()))
    assert aggregate("collect", lists, groups).to_pylist() == [[1], [2, 3, 4]]


def test_a_decimal_sum_out_of_range_is_null() -> None:
    from decimal import Decimal

    import numpy as np

    from headwater.lake.engine.merge.aggregates import KeyGroups, aggregate

    column = pa.array([Decimal("99.9"), Decimal("0.1"), Decimal("1.5")], pa.decimal128(3, 1))
    assert aggregate("sum", column, KeyGroups(np.array([0, 2]), 3)).to_pylist() == [None, Decimal("1.5")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"merge-engine": "deduplicat"}, "no merge engine"),
        ({"fields.a.aggregate-function": "summ"}, "no aggregate function"),
        ({"fields.zz.aggregate-function": "sum"}, "no column"),
        ({"fields.id.aggregate-function": "sum"}, "cannot be aggregated"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        merge_rule(schema_of(ARROW, ("id",)), options)


def test_the_model_itself() -> None:
    rows = [(1, 1, "x", None, 2.0), (1, 2, None, False, 1.0)]
    assert reduce(lambda old, new: fold(MergeEngine.AGGREGATION, old, new), rows, None) == (1, 3, "x", False, 2.0)
    assert MergeRule().function("a") == "last"

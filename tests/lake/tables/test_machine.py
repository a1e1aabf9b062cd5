"""Tables of every shape against one dictionary per snapshot: whatever is done, in whatever order, at either door.

`python -m tests.lake.checker` does the same for as long as one likes.
"""

import pytest
from tests.effort import THOROUGH, first_then_slow
from tests.lake.checker.run import run
from tests.lake.checker.shapes import SHAPES
from tests.lake.checker.values import KEYS, KINDS

from headwater.lake.engine.merge import MergeEngine, can_aggregate
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.lake.engine.options import CompactionStyle, FileFormat
from headwater.model.types import PRIMITIVES, Array, Decimal, Map, Struct

pytestmark = pytest.mark.property


@pytest.mark.parametrize(
    "shape",
    first_then_slow(sorted(SHAPES, key=lambda shape: SHAPES.index(shape) % 5), len(SHAPES) // 5),  # of every kind one
    ids=lambda shape: f"{shape.engine if shape.key else 'append'}-{shape.format}",
)
def test_a_table_is_one_dictionary_per_snapshot(shape):
    first = SHAPES.index(shape) * 2  # other steps for every shape
    for seed in range(first, first + (2 if THOROUGH else 1)):
        run(shape, seed)


def test_the_shapes_have_every_engine_format_style_type_and_function():
    assert {shape.engine for shape in SHAPES if shape.key} == {each.value for each in MergeEngine}
    assert {(shape.engine, bool(shape.key), shape.format) for shape in SHAPES} >= {
        (engine.value, True, format.value) for engine in MergeEngine for format in FileFormat
    } | {("deduplicate", False, format.value) for format in FileFormat}
    assert {shape.style for shape in SHAPES if shape.key} == {each.value for each in CompactionStyle}
    assert {type for shape in SHAPES for type in shape.key} == set(KEYS) >= set(PRIMITIVES)
    types = [kind.type for kind in KINDS.values()]
    assert {str(type) for type in types} >= set(PRIMITIVES)
    assert {type(each) for each in types} >= {Decimal, Array, Map, Struct}
    tried = {(shape.options().get(f"fields.{name}.aggregate-function"), name) for shape in SHAPES for name in KINDS}
    assert tried >= {
        (function, name)
        for name, kind in KINDS.items()
        for function in AGGREGATES
        if can_aggregate(function, kind.type)
    }

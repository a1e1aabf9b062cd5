"""The tables that are tried: every merge engine in every file format, and with them every type of key."""

import random
from itertools import product

from tests.lake.checker.checker import Shape

from headwater.lake.engine.options import CompactionStyle, FileFormat

KEYS_OF_SHAPES = (
    *(
        ("INT",),
        ("STRING", "BIGINT"),
        ("DATE", "DECIMAL(38, 0)"),
        ("BINARY", "TIMESTAMP"),
        ("FLOAT",),
        ("TIMESTAMP",),
    ),
    *(("BOOLEAN", "TINYINT", "SMALLINT"), ("TIMESTAMP_LTZ", "STRING"), ("DOUBLE",), ("DECIMAL(5, 2)", "INT")),
    *(("BIGINT", "DECIMAL(38, 38)"), ("DECIMAL(38, 0)",)),
)
_UNPARTITIONED = ("FLOAT", "DOUBLE", "BINARY")
ENGINES = ("deduplicate", "partial-update", "first-row", "aggregation", "aggregation", "append")
FORMATS = [each.value for each in FileFormat]
STYLES = [each.value for each in CompactionStyle]


def _shape(number: int, engine: str, format: str, rotation: int) -> Shape:
    """A shape with the key, partition, buckets and style that are due at its number."""
    key = () if engine == "append" else KEYS_OF_SHAPES[number % len(KEYS_OF_SHAPES)]
    partition = number % 3 if not key else number % 2
    if key and key[0] in _UNPARTITIONED:
        partition = 0
    engine = "deduplicate" if engine == "append" else engine
    style = STYLES[number // 2 % len(STYLES)]
    return Shape(key, partition, engine, format, (1, 2, -1)[number % 3], style, rotation)


SHAPES = tuple(
    _shape(number, engine, format, rotation=number // 6 * 2 + number % 2)
    for number, (format, engine) in enumerate(product(FORMATS, ENGINES))
)


def random_shape(chance: random.Random) -> Shape:
    """A shape for a long run."""
    engine, format = chance.choice(ENGINES), chance.choice(FORMATS)
    return _shape(chance.randrange(1000), engine, format, chance.randrange(12))

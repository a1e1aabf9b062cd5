"""What predicates rule out before a file is looked at: partitions and buckets."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from headwater.errors import SchemaError
from headwater.lake.engine.predicates import Compare, In, Predicate, holds
from headwater.lake.metadata.manifest import Partition
from headwater.lake.tables.partitions import python_values
from headwater.lake.tables.routing import bucket_of
from headwater.lake.tables.shape import Shape

_MOST_KEYS = 1024  # keys that a predicate can name and still be turned into buckets


def partition_matches(partition: Partition, where: Sequence[Predicate], shape: Shape) -> bool:
    """Whether rows of a partition can satisfy the predicates."""
    fields = shape.partition_fields
    if not fields or not where:
        return True
    values = python_values(partition, fields)
    return all(holds(each, values[each.column]) for each in where if each.column in values)


def wanted_buckets(where: Sequence[Predicate], shape: Shape) -> frozenset[int] | None:
    """The buckets that keys named by the predicates are in; None if they do not name keys."""
    if shape.buckets <= 1 or not shape.is_keyed:
        return None
    choices = [_named(where, name) for name in shape.schema.primary_keys]
    count = 1
    for values in choices:
        if values is None:
            return None
        count *= len(values)
    if count > _MOST_KEYS:
        return None
    try:
        keys = [shape.codec.native(key) for key in product(*(values or () for values in choices))]
    except SchemaError:
        return None  # a value that no key can have: the filter finds nothing
    return frozenset(bucket_of(key, shape.buckets) for key in keys)


def _named(where: Sequence[Predicate], column: str) -> tuple[Any, ...] | None:
    """The only values that a column can have, if predicates say so."""
    for predicate in where:
        if isinstance(predicate, Compare) and predicate.column == column and predicate.op == "=":
            return (predicate.value,)
        if isinstance(predicate, In) and predicate.column == column:
            return predicate.values
    return None

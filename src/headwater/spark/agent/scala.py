"""Small words for talking to Scala over Py4J."""

from collections.abc import Iterator
from typing import Any

from headwater.spark.agent.recorded import Recorded


def option(value: Any) -> Any:
    """Return what an Option holds, or None."""
    return value.get() if value is not None and value.isDefined() else None


def present(value: Any) -> Any:
    """A value that some releases of Spark put into an Option and others do not."""
    return option(value) if value is not None and class_name(value) in ("Some", "None") else value


def entries(mapping: Any) -> dict[str, str]:
    """A Scala map of texts."""
    return {str(pair._1()): str(pair._2()) for pair in each(mapping)}


def each(collection: Any) -> Iterator[Any]:
    """The members of a Scala collection, or of one that was written down."""
    if isinstance(collection, Recorded):
        yield from collection.members()
        return
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()


def lookup(mapping: Any, key: str) -> str | None:
    """The text under a key of a Scala map."""
    found = option(mapping.get(key))
    return None if found is None else str(found)


def class_name(value: Any) -> str:
    """The simple name of an object's class, without the sign of a Scala object."""
    name: str = value.getClass().getName()
    return name.rsplit(".", 1)[-1].rstrip("$").rsplit("$", 1)[-1]


def private_field(value: Any, name: str) -> Any:
    """A field that has no method; of what was written down, there are none."""
    field = value.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(value)


def columns_of(schema: Any) -> tuple[tuple[str, str], ...]:
    """Name and type of each field of a StructType."""
    return tuple((field.name(), field.dataType().catalogString()) for field in schema.fields())

"""The parts that every OpenLineage facet has: the key it stands under, the address of its schema, and who made it."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, TypeVar

import msgspec

from headwater.errors import EventError

PRODUCER = "urn:headwater"
SPEC = "https://openlineage.io/spec"
BASE_FACET = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/BaseFacet"  # of facets that are nobody's but ours

Facets: TypeAlias = dict[str, Any]
"""Facets by key: `Facet` values in events we make, plain mappings in events we read."""


def schema_address(name: str, version: str, part: str = "") -> Any:
    """The field `_schemaURL`; by factory, because a plain default would be left out of the JSON."""
    url = f"{SPEC}/facets/{version}/{name}.json#/$defs/{part or name}"
    return msgspec.field(name="_schemaURL", default_factory=lambda: url)


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A piece of a facet; what is absent is not written."""


class Facet(Part, frozen=True, kw_only=True):
    """The parts that all facets have."""

    key: ClassVar[str] = ""
    producer: str = msgspec.field(name="_producer", default_factory=lambda: PRODUCER)


def plain_facet(values: Mapping[str, Any]) -> dict[str, Any]:
    """A facet that has no schema of its own; the key is whatever it is put under."""
    return {"_producer": PRODUCER, "_schemaURL": BASE_FACET, **values}


F = TypeVar("F", bound=Facet)


def by_key(*given: Facet | None) -> Facets:
    """The facets that there are, under their keys."""
    return {one.key: one for one in given if one is not None}


def find_facet(kind: type[F], among: Mapping[str, Any]) -> F | None:
    """The facet of a kind, typed, or None.
    RAISES: EventError for one that does not have the form its specification gives it."""
    value = among.get(kind.key)
    if value is None or isinstance(value, kind):
        return value
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise EventError(f"the facet `{kind.key}` is not well formed: {error}") from error

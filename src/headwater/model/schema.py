"""The schema of a table, by field id.
A field keeps its id for life: renaming changes the name only, a dropped id is never given again, and data files refer
to ids. The names of the attributes are those of the schema files (`docs/spec`)."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headwater.errors import SchemaError
from headwater.model.types import DataType
from headwater.text import suggest


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a table."""

    id: int
    name: str
    type: DataType
    nullable: bool = True
    description: str | None = None
    default: object = None


@dataclass(frozen=True)
class Schema:
    """One version of a table's schema."""

    fields: tuple[Field, ...]
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: dict[str, str] = dataclasses.field(default_factory=dict)
    comment: str | None = None
    id: int = 0
    highest_field_id: int = -1
    time_millis: int = 0

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in reversed(self.fields)}

    def field(self, name: str) -> Field:
        """The field of that name. RAISES: SchemaError with the nearest name when there is none."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        raise no_column(name, self.names)


def check_schema(schema: Schema) -> Schema:
    """Return the schema with `highest_field_id` filled in, if it is sound.
    RAISES: SchemaError naming the first rule it breaks: no columns, a name or id twice, a key column that is missing,
    nullable or of a type that has no order."""
    if not schema.fields:
        raise SchemaError("a table needs at least one column")
    _refuse_twice("column", list(schema.names))
    _refuse_twice("field id", [str(field.id) for field in schema.fields])
    for role, keys in (("primary key", schema.primary_keys), ("partition key", schema.partition_keys)):
        _refuse_twice(f"{role} column", list(keys))
        for name in keys:
            column = schema.field(name)
            if column.nullable and role == "primary key":
                raise SchemaError(f"primary key column `{name}` must be NOT NULL")
    if schema.primary_keys and not set(schema.partition_keys) <= set(schema.primary_keys):
        outside = sorted(set(schema.partition_keys) - set(schema.primary_keys))
        raise SchemaError(
            f"partition column `{outside[0]}` is not part of the primary key",
            hint="a key must live in exactly one partition: add the column to the primary key",
        )
    highest = max(schema.highest_field_id, *(field.id for field in schema.fields))
    return dataclasses.replace(schema, highest_field_id=highest)


def _refuse_twice(what: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"{what} `{name}` is there twice")
        seen.add(name)


def no_column(name: str, known: Sequence[str]) -> SchemaError:
    """The error for a column that a table does not have."""
    return SchemaError(f"there is no column `{name}`", hint=suggest(name, known, f"columns: {', '.join(known)}"))

"""The changes that a table's schema may undergo.

Two doors. `check_evolution` holds a whole new schema to the strict rules: columns may be added if old rows can have a
value for them, comments may change, options may be added, and nothing else. `apply_changes` takes named changes and
allows more (rename, widen, drop, reorder, relax), because a named change says what it means: a column that is gone
from a list may be a slip, a `DropColumn` is not. Either way a field keeps its id for life and a dropped id never
returns, so that data written under any schema can be read under every later one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from headwater.errors import SchemaChangeError, SchemaError
from headwater.lake.engine.merge import aggregated_column, check_new_rule
from headwater.lake.engine.options import check_option_name, storage_options
from headwater.model import types
from headwater.model.schema import Field, Schema, check_schema
from headwater.model.types import Array, DataType, Decimal, Map, Struct

RESERVED = ("_row", "_kind", "_snapshot")
"""Names of columns that Headwater adds to the user's: in data files, changelogs and histories."""


def check_new_columns(columns: Iterable[Field], known: Iterable[str] = ()) -> None:
    """Hold new columns to the rules, beside columns that are there; a table made before a rule stays readable.
    RAISES: SchemaError naming the column: a name that is empty, reserved, or differs from another by its case only
    (SQL could not tell them apart), also of a struct inside it."""
    taken = {name.casefold(): name for name in known}
    for column in columns:
        if column.name.casefold() in RESERVED:
            raise SchemaError(f"column `{column.name}` cannot have that name: it is reserved")
        _take(column.name, taken, "column")
        _check_type(column.type, column.name)


def _check_type(type: DataType, column: str) -> None:
    match type:
        case Array(element):
            _check_type(element, column)
        case Map(key, value):
            _check_type(key, column)
            _check_type(value, column)
        case Struct(members):
            if not members:
                raise SchemaError(f"column `{column}` has a STRUCT without members")
            taken: dict[str, str] = {}
            for member in members:
                _take(member.name, taken, f"member of column `{column}`:")
                _check_type(member.type, column)


def _take(name: str, taken: dict[str, str], what: str) -> None:
    if not name or "\0" in name:
        raise SchemaError(f"{what} {name!r} is not a name", hint="a name has a character, and none of them is NUL")
    same = taken.get(name.casefold())
    if same == name:
        raise SchemaError(f"{what} `{name}` is there twice")
    if same is not None:
        raise SchemaError(
            f"{what} `{name}` differs from `{same}` by its case only", hint="SQL cannot tell them apart"
        )
    taken[name.casefold()] = name


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new column; at the end unless `after` names the column before it ("" for the first place)."""

    name: str
    type: DataType
    nullable: bool = True
    default: object = None
    description: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """Another name for the same field."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class WidenColumn:
    """A type that holds every value of the old one."""

    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column that is no longer there; its data stays in old files, unseen."""

    name: str


@dataclass(frozen=True, slots=True)
class MoveColumn:
    """Another place in the order; `after` "" is the first place."""

    name: str
    after: str


@dataclass(frozen=True, slots=True)
class RelaxColumn:
    """NOT NULL no more."""

    name: str


@dataclass(frozen=True, slots=True)
class DescribeColumn:
    """Another description of a column."""

    name: str
    description: str | None


@dataclass(frozen=True, slots=True)
class SetComment:
    """Another comment on the table."""

    comment: str | None


@dataclass(frozen=True, slots=True)
class SetOption:
    """An option of the table; None removes it."""

    name: str
    value: str | None


SchemaChange: TypeAlias = (
    AddColumn
    | RenameColumn
    | WidenColumn
    | DropColumn
    | MoveColumn
    | RelaxColumn
    | DescribeColumn
    | SetComment
    | SetOption
)

# The place and the meaning of stored rows depend on them.
_FIXED_OPTIONS = ("bucket", "bucket.count", "bucket-key", "merge-engine")


def apply_changes(schema: Schema, changes: Sequence[SchemaChange]) -> Schema:
    """The schema after the changes, in order; the id is that of the old schema until it is committed.
    RAISES: SchemaChangeError naming the rule a change breaks, SchemaError when the outcome is not sound."""
    before = schema = check_schema(schema)
    for change in changes:
        schema = _apply(schema, change)
    if any(isinstance(change, SetOption | WidenColumn) for change in changes):
        storage_options(schema.options)
        check_new_rule(schema, before)
    return check_schema(schema)


def _apply(schema: Schema, change: SchemaChange) -> Schema:
    match change:
        case AddColumn():
            if change.name in schema.names:
                raise SchemaChangeError(f"there is a column `{change.name}` already")
            id = schema.highest_field_id + 1
            new = Field(id, change.name, change.type, change.nullable, change.description, change.default)
            _check_added(new)
            check_new_columns([new], schema.names)
            fields = _inserted(list(schema.fields), new, change.after)
            return replace(schema, fields=fields, highest_field_id=id)
        case RenameColumn(name, new_name):
            return _rename(schema, name, new_name)
        case WidenColumn(name, wider):
            _refuse_key(schema, name, "given another type")
            return _change_field(schema, name, lambda field: _widened(field, wider))
        case DropColumn(name):
            _refuse_key(schema, name, "dropped")
            kept = tuple(field for field in schema.fields if field.name != schema.field(name).name)
            return replace(schema, fields=kept, options=_options_without(schema.options, name))
        case MoveColumn(name, after):
            moved = schema.field(name)
            rest = [field for field in schema.fields if field is not moved]
            return replace(schema, fields=_inserted(rest, moved, after))
        case RelaxColumn(name):
            _refuse_key(schema, name, "made nullable")
            return _change_field(schema, name, lambda field: replace(field, nullable=True))
        case DescribeColumn(name, description):
            return _change_field(schema, name, lambda field: replace(field, description=description))
        case SetComment(comment):
            return replace(schema, comment=comment)
        case SetOption(name, value):
            return _set_option(schema, name, value)
    assert_never(change)


def _rename(schema: Schema, name: str, new_name: str) -> Schema:
    others = [other for other in schema.names if other != name]
    check_new_columns([replace(schema.field(name), name=new_name)], others)
    schema = _change_field(schema, name, lambda field: replace(field, name=new_name))

    def renamed(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new_name if key == name else key for key in keys)

    options = {
        f"fields.{new_name}.aggregate-function" if aggregated_column(key) == name else key: value
        for key, value in schema.options.items()
    }
    return replace(
        schema,
        primary_keys=renamed(schema.primary_keys),
        partition_keys=renamed(schema.partition_keys),
        options=options,
    )


def _options_without(options: dict[str, str], column: str) -> dict[str, str]:
    return {key: value for key, value in options.items() if aggregated_column(key) != column}


def _set_option(schema: Schema, name: str, value: str | None) -> Schema:
    if value is not None:
        check_option_name(name)
    if name in _FIXED_OPTIONS and schema.options.get(name) != value:
        raise SchemaChangeError(
            f"option `{name}` cannot change while the table has rows",
            hint="create a table with the new option and insert from this one",
        )
    options = {key: text for key, text in schema.options.items() if key != name}
    return replace(schema, options=options if value is None else options | {name: value})


def _inserted(fields: list[Field], new: Field, after: str | None) -> tuple[Field, ...]:
    if after is None:
        return (*fields, new)
    if after == "":
        return (new, *fields)
    names = [field.name for field in fields]
    if after not in names:
        raise SchemaChangeError(f"there is no column `{after}` to put `{new.name}` after")
    at = names.index(after) + 1
    return (*fields[:at], new, *fields[at:])


def _change_field(schema: Schema, name: str, change: Callable[[Field], Field]) -> Schema:
    old = schema.field(name)
    return replace(schema, fields=tuple(change(field) if field is old else field for field in schema.fields))


def _refuse_key(schema: Schema, name: str, verb: str) -> None:
    schema.field(name)
    for role, keys in (("primary", schema.primary_keys), ("partition", schema.partition_keys)):
        if name in keys:
            raise SchemaChangeError(f"`{name}` is part of the {role} key and cannot be {verb}")


def _check_added(field: Field) -> None:
    if not field.nullable and field.default is None:
        raise SchemaChangeError(
            f"new column `{field.name}` must be nullable or have a default",
            hint="rows written before it need a value for it",
        )


# ------------------------------------------------------------------------------------------------- widening

_WIDER = {
    types.TINYINT: (types.SMALLINT, types.INT, types.BIGINT, types.FLOAT, types.DOUBLE),
    types.SMALLINT: (types.INT, types.BIGINT, types.FLOAT, types.DOUBLE),
    types.INT: (types.BIGINT, types.DOUBLE),
    types.FLOAT: (types.DOUBLE,),
    types.DATE: (types.TIMESTAMP,),
}
_DIGITS = {type: facts.digits for type, facts in types.TYPES.items() if facts.digits is not None}


def is_widening(old: DataType, new: DataType) -> bool:
    """Return whether every value of `old` is a value of `new`, unchanged.

    >>> is_widening(types.INT, types.BIGINT), is_widening(types.BIGINT, types.DOUBLE)
    (True, False)
    """
    if isinstance(new, Decimal):
        if isinstance(old, Decimal):
            whole = new.precision - new.scale >= old.precision - old.scale
            return whole and new.scale >= old.scale
        return isinstance(old, types.Primitive) and new.precision - new.scale >= _DIGITS.get(old, 99)
    return isinstance(old, types.Primitive) and new in _WIDER.get(old, ())


def _widened(field: Field, wider: DataType) -> Field:
    if field.type != wider and not is_widening(field.type, wider):
        raise SchemaChangeError(
            f"`{field.name}` cannot become {wider}: not every {field.type} fits",
            hint="add a column of the new type and fill it, where a cast that fails can be seen",
        )
    return replace(field, type=wider)


# ------------------------------------------------------------------------------------------ the strict rules


def check_evolution(old: Schema, new: Schema) -> Schema:
    """Hold a new schema to the strict rules and give its new fields their ids.
    Fields are matched by id; a new field carries an id that the old schema never had (any, for example -1).
    RAISES: SchemaChangeError naming the first rule that is broken."""
    for role, before, after in (
        ("primary", old.primary_keys, new.primary_keys),
        ("partition", old.partition_keys, new.partition_keys),
    ):
        if before != after:
            raise SchemaChangeError(f"the {role} key cannot change ({', '.join(before)} to {', '.join(after)})")
    by_name = {field.name: field for field in new.fields}
    by_id = {field.id: field for field in new.fields}
    for field in old.fields:
        same_id = by_id.get(field.id)
        same_name = by_name.get(field.name)
        if same_id is None:
            if same_name is not None:
                raise SchemaChangeError(f"the id of `{field.name}` cannot change ({field.id} to {same_name.id})")
            raise SchemaChangeError(f"column `{field.name}` cannot be dropped", hint="use ALTER TABLE … DROP COLUMN")
        if same_id.type != field.type:
            raise SchemaChangeError(f"the type of `{field.name}` cannot change ({field.type} to {same_id.type})")
        if field.nullable and not same_id.nullable:
            raise SchemaChangeError(f"`{field.name}` is nullable and cannot become NOT NULL")
    for name, value in old.options.items():
        if new.options.get(name) != value:
            raise SchemaChangeError(f"option `{name}` cannot be changed or removed", hint="use ALTER to set options")
    return check_schema(_with_ids(old, new))


def _with_ids(old: Schema, new: Schema) -> Schema:
    known = {field.id for field in old.fields}
    highest = check_schema(old).highest_field_id
    fields: list[Field] = []
    for field in new.fields:
        if field.id not in known:
            _check_added(field)
            check_new_columns([field], [other.name for other in new.fields if other is not field])
            highest += 1
            field = replace(field, id=highest)
        fields.append(field)
    return replace(new, fields=tuple(fields), highest_field_id=highest)

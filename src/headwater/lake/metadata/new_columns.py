"""Rules for columns that are new: those of a new table, and those that an ALTER adds or renames.

A table that was made before a rule stays readable; only what is new is held to it.
"""

from collections.abc import Iterable

from headwater.errors import SchemaError
from headwater.model.schema import Field
from headwater.model.types import Array, DataType, Map, Struct

RESERVED = ("_row", "_kind", "_snapshot")
"""Names of columns that Headwater adds to the user's: in data files, changelogs and histories."""


def check_new_columns(columns: Iterable[Field], known: Iterable[str] = ()) -> None:
    """Hold new columns to the rules, beside columns that are there already.

    RAISES: SchemaError naming the column: a name that is empty, reserved, or differs from another by its case only
    (SQL could not tell them apart), also of a struct inside it.
    """
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

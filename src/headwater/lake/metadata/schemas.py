"""The versions of a table's schema, one JSON file each: `schema/schema-{id}`, never changed once written.
`latest-schema` is a hint that saves a listing; it may be stale or missing without harm."""

import base64
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from time import time
from typing import Any

import msgspec
import pyarrow as pa

from headwater.errors import AlreadyExistsError, CorruptFileError, NotFoundError, SchemaChangeError, SchemaError
from headwater.files import Files, Probing
from headwater.lake.engine.layout import PathFactory, schema_id
from headwater.lake.engine.row import python_type
from headwater.lake.engine.stored_json import check_format_version, decode_json, encode_json
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import SchemaChange, apply_changes, check_evolution
from headwater.model.schema import Field, Schema, check_schema
from headwater.model.types import parse_type

FORMAT_VERSION = 1
_ATTEMPTS = 20


class _FieldFile(msgspec.Struct, rename="camel", omit_defaults=True):
    id: int
    name: str
    type: str
    nullable: bool = True
    description: str | None = None
    default_value: Any = None


class _SchemaFile(msgspec.Struct, rename="camel", omit_defaults=True):
    version: int
    id: int
    fields: list[_FieldFile]
    highest_field_id: int
    primary_keys: list[str]
    partition_keys: list[str]
    options: dict[str, str]
    time_millis: int
    comment: str | None = None


def encode_schema(schema: Schema) -> bytes:
    """A schema as its file has it."""
    file = _SchemaFile(
        version=FORMAT_VERSION,
        id=schema.id,
        fields=[
            _FieldFile(f.id, f.name, str(f.type), f.nullable, f.description, _plain(f.default)) for f in schema.fields
        ],
        highest_field_id=schema.highest_field_id,
        primary_keys=list(schema.primary_keys),
        partition_keys=list(schema.partition_keys),
        options=schema.options,
        time_millis=schema.time_millis,
        comment=schema.comment,
    )
    return encode_json(file)


def decode_schema(data: bytes, path: str) -> Schema:
    """Read a schema file.
    RAISES: CorruptFileError when it is damaged or of a later version than this program knows."""
    file = decode_json(data, _SchemaFile, path, what="a schema file")
    check_format_version(path, file.version, FORMAT_VERSION)
    fields = tuple(_field(f, path) for f in file.fields)
    return Schema(
        fields,
        tuple(file.primary_keys),
        tuple(file.partition_keys),
        file.options,
        file.comment,
        file.id,
        file.highest_field_id,
        file.time_millis,
    )


def _field(file: _FieldFile, path: str) -> Field:
    type = parse_type(file.type)
    default = file.default_value
    if default is not None:
        try:
            default = msgspec.convert(default, python_type(type), strict=False)  # "nan", and keys of maps
        except msgspec.ValidationError as err:
            raise CorruptFileError(f"{path}: the default of `{file.name}` is not {type}: {err}") from err
    return Field(file.id, file.name, type, file.nullable, file.description, default)


def _plain(value: object) -> object:
    """A default as JSON has it: dates, times, decimals, binaries, NaN and infinity as text."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {
            str(key).lower() if isinstance(key, bool) else _plain(key): _plain(each) for key, each in value.items()
        }
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else str(value)


def _check_defaults(schema: Schema) -> None:
    """RAISES: SchemaError naming the column whose default would not be the same when the schema is read again."""
    for field in schema.fields:
        if field.default is not None:
            try:
                again = msgspec.json.decode(msgspec.json.encode(_plain(field.default)))
                kept = msgspec.convert(again, python_type(field.type), strict=False)
                kept = pa.scalar(kept, arrow_type(field.type)), pa.scalar(field.default, arrow_type(field.type))
            except (msgspec.MsgspecError, pa.ArrowException, TypeError, ValueError, OverflowError) as err:
                raise _no_default(field) from err
            if kept[0] != kept[1] and str(kept[0]) != str(kept[1]):  # NaN is not itself
                raise _no_default(field)


def _no_default(field: Field) -> SchemaError:
    return SchemaError(f"column `{field.name}` cannot have the default {field.default!r}: it is {field.type}")


class SchemaManager:
    """The schemas of one table."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths
        self._cache: dict[int, Schema] = {}
        self._newest: tuple[Schema, Callable[[], bool]] | None = None  # and whether there is a newer one by now

    def create_schema(self, schema: Schema) -> Schema:
        """Write the first schema of a table, its fields numbered in order, and return it as it was written.
        RAISES: SchemaError when it is not sound, AlreadyExistsError when the table has a schema."""
        fields = tuple(replace(field, id=at) for at, field in enumerate(schema.fields))
        first = check_schema(replace(schema, fields=fields, highest_field_id=-1, id=0))
        return self._write(first)

    def commit_schema(self, new: Schema, old_id: int) -> Schema:
        """Make `new` the next schema if the strict rules allow it and nobody changed the schema since `old_id`.
        RAISES: SchemaChangeError for a rule that is broken or a change in between."""
        checked = check_evolution(self.get_schema(old_id), new)
        if self.latest().id != old_id:
            raise SchemaChangeError(
                f"the schema was changed by somebody else (version {self.latest().id}, not {old_id})",
                hint="read the new schema and apply the change to it",
            )
        try:
            return self._write(replace(checked, id=old_id + 1))
        except AlreadyExistsError as err:
            raise SchemaChangeError("the schema was changed by somebody else just now") from err

    def alter(self, *changes: SchemaChange) -> Schema:
        """Apply named changes to the latest schema; changes that others make at the same time are kept.
        RAISES: SchemaChangeError naming the rule a change breaks."""
        for _ in range(_ATTEMPTS):
            latest = self.latest()
            changed = apply_changes(latest, changes)
            if replace(changed, id=latest.id) == latest:
                return latest
            try:
                return self._write(replace(changed, id=latest.id + 1))
            except AlreadyExistsError:
                continue
        raise SchemaChangeError(f"the schema kept changing during {_ATTEMPTS} attempts", hint="try again")

    def get_schema(self, id: int) -> Schema:
        """The schema of one version. RAISES: NotFoundError."""
        if id not in self._cache:
            path = self._paths.schema(id)
            self._cache[id] = decode_schema(self._files.get(path), path)
        return self._cache[id]

    def list_schemas(self) -> list[int]:
        """The ids of all versions, in order."""
        names = (entry.name for entry in self._files.list(self._paths.schema_folder))
        return sorted(id for id in map(schema_id, names) if id is not None)

    def latest(self) -> Schema:
        """The newest schema. RAISES: NotFoundError when the table has none."""
        if self._newest is not None and not self._newest[1]():
            return self._newest[0]
        id = self._hinted()
        while True:  # the hint may be behind; versions have no gaps
            try:
                self.get_schema(id + 1)
            except NotFoundError:
                break
            id += 1
        if id < 0:
            raise NotFoundError(f"there is no table at {self._paths.folder}")
        schema = self.get_schema(id)
        if isinstance(self._files, Probing):
            here, following = self._files.probe(self._paths.schema(id)), self._files.probe(self._paths.schema(id + 1))
            self._newest = schema, lambda: following() or not here()
        return schema

    def _hinted(self) -> int:
        try:
            hinted = int(self._files.get(self._paths.latest_schema))
            self.get_schema(hinted)
        except (NotFoundError, ValueError):
            return max(self.list_schemas(), default=-1)
        return hinted

    def _write(self, schema: Schema) -> Schema:
        schema = replace(schema, time_millis=int(time() * 1000))
        _check_defaults(schema)
        self._files.put_if_absent(self._paths.schema(schema.id), encode_schema(schema))
        self._files.put(self._paths.latest_schema, str(schema.id).encode(), synced=False)
        self._cache[schema.id] = schema
        return schema

"""The storage form of a schema: which columns are stored, by which key, in how many buckets.
A table without a primary key has a hidden one, `_row`: the position of a row in its file. Its files never merge and
are never read by key, so they are Parquet, which every engine reads, unless an option says otherwise."""

from dataclasses import dataclass, replace

from headwater.errors import SchemaError
from headwater.lake.engine.formats.positions import ROW_COLUMN
from headwater.lake.engine.keys import KeyCodec
from headwater.lake.engine.merge import MergeEngine, MergeRule, check_new_rule, merge_rule
from headwater.lake.engine.options import StorageOptions, check_option_name, storage_options
from headwater.lake.metadata.schema_change import check_new_columns
from headwater.model.schema import Field, Schema
from headwater.model.types import BIGINT, BINARY, DOUBLE, FLOAT, Decimal, Primitive

_ROW_FIELD = Field((1 << 31) - 1, ROW_COLUMN, BIGINT, nullable=False)
UNDECIDED = 0
"""The number of buckets of a table with `bucket = -1` that nothing was written to."""


_SCANNED = {"file.format": "parquet", "target-file-size": "256 MB"}
"""Defaults of a table without a key: its rows are never looked up one by one, nor its files rewritten by merging."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One version of a table's schema, ready for reading and writing."""

    schema: Schema  # as people see it
    stored: Schema  # as data files have it
    codec: KeyCodec
    rule: MergeRule
    options: StorageOptions
    partition_fields: tuple[Field, ...]
    buckets: int

    @property
    def is_keyed(self) -> bool:
        return bool(self.schema.primary_keys)

    @property
    def keeps_rows_whole(self) -> bool:
        """Return whether a row that is read is always one that was written, not put together from several."""
        return self.rule.engine in (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


def shape_of(schema: Schema) -> Shape:
    """Return what a schema means for storage. RAISES: SchemaError when it cannot be stored."""
    stored = stored_schema(schema)
    return Shape(
        schema=schema,
        stored=stored,
        codec=KeyCodec(stored),
        rule=merge_rule(schema, schema.options) if schema.primary_keys else MergeRule(),
        options=storage_options(schema.options if schema.primary_keys else _SCANNED | schema.options),
        partition_fields=tuple(schema.field(name) for name in schema.partition_keys),
        buckets=_buckets(schema),
    )


def stored_schema(schema: Schema) -> Schema:
    """The schema of the data files: with the hidden key, if the table has none."""
    if schema.primary_keys:
        return schema
    return replace(schema, fields=(*schema.fields, _ROW_FIELD), primary_keys=(ROW_COLUMN,), partition_keys=())


def check_new(schema: Schema) -> Schema:
    """Return the schema of a table that is to be made, if it can be stored. RAISES: SchemaError."""
    check_new_columns(schema.fields)
    for name in schema.partition_keys:
        type = schema.field(name).type
        if not isinstance(type, Primitive | Decimal) or type in (FLOAT, DOUBLE, BINARY):
            raise SchemaError(f"a table cannot be partitioned by `{name}`, which is {type}")
    if set(schema.partition_keys) >= set(schema.names):
        raise SchemaError("a table needs a column that it is not partitioned by")
    if "bucket-key" in schema.options:
        raise SchemaError("there is no option `bucket-key`", hint="rows are placed by the hash of the primary key")
    for name in schema.options:
        check_option_name(name)
    check_new_rule(schema)
    shape_of(schema)
    return schema


def _buckets(schema: Schema) -> int:
    text = schema.options.get("bucket", "1")
    try:
        number = int(text)
    except ValueError:
        number = UNDECIDED
    if number == -1:
        return int(schema.options.get("bucket.count", UNDECIDED)) if schema.primary_keys else 1
    if not 1 <= number <= 1 << 16:
        raise SchemaError(
            f"option `bucket` cannot be `{text}`", hint="a number from 1, or -1: decided by the first write"
        )
    return number if schema.primary_keys else 1

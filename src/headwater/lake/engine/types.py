"""Model types ↔ Arrow types, and bringing foreign Arrow data to a table's schema."""

import decimal

import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lazy import arrow_compute as pc
from headwater.model import types as dt
from headwater.model.schema import Field, Schema, no_column

_PRIMITIVES: dict[dt.Primitive, pa.DataType] = {
    type: getattr(pa, facts.arrow[0])(*facts.arrow[1:]) for type, facts in dt.TYPES.items()
}
_FROM_ARROW: dict[pa.DataType, dt.DataType] = {arrow: model for model, arrow in _PRIMITIVES.items()}
_FROM_ARROW |= {
    pa.large_string(): dt.STRING,
    pa.large_binary(): dt.BINARY,
    pa.string_view(): dt.STRING,
    pa.binary_view(): dt.BINARY,
    pa.date64(): dt.DATE,
    pa.uint8(): dt.SMALLINT,
    pa.uint16(): dt.INT,
    pa.uint32(): dt.BIGINT,
    pa.uint64(): dt.Decimal(20, 0),
    pa.float16(): dt.FLOAT,
}

EXACT = decimal.Context(prec=80)  # Python's own context rounds to 28 digits; a decimal has up to 38


def unscaled(value: decimal.Decimal, scale: int) -> int:
    """Return the digits of a decimal as a whole number: 1.25 at scale 2 is 125."""
    return int(value.scaleb(scale, EXACT))


def from_unscaled(digits: int, scale: int) -> decimal.Decimal:
    """Return the decimal with these digits: 125 at scale 2 is 1.25."""
    return decimal.Decimal(digits).scaleb(-scale, EXACT)


def arrow_type(type: dt.DataType) -> pa.DataType:
    """The Arrow type a lake column of a model type is stored as.
    RAISES: SchemaError for a type of another engine, which the lake cannot store."""
    match type:
        case dt.Primitive():
            return _PRIMITIVES[type]
        case dt.Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case dt.Array(element):
            return pa.list_(arrow_type(element))
        case dt.Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case dt.Struct(members):
            return pa.struct([pa.field(member.name, arrow_type(member.type)) for member in members])
        case dt.Foreign(text):
            raise SchemaError(f"a lake table cannot store the type {text}")


def model_type(type: pa.DataType) -> dt.DataType:
    """The model type of Arrow data. RAISES: SchemaError when the lake has no such type."""
    if type in _FROM_ARROW:
        return _FROM_ARROW[type]
    if pa.types.is_dictionary(type):
        return model_type(type.value_type)
    if pa.types.is_timestamp(type):
        return dt.TIMESTAMP if type.tz is None else dt.TIMESTAMP_LTZ
    if pa.types.is_decimal(type) and type.precision <= 38:
        return dt.Decimal(type.precision, type.scale)
    if pa.types.is_map(type):
        return dt.Map(model_type(type.key_type), model_type(type.item_type))
    if pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type):
        return dt.Array(model_type(type.value_type))
    if pa.types.is_struct(type):
        return dt.Struct(tuple(dt.Member(field.name, model_type(field.type)) for field in type))
    raise SchemaError(f"a lake table cannot store the Arrow type {type}")


def arrow_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """The Arrow schema of lake columns."""
    return pa.schema([pa.field(field.name, arrow_type(field.type), nullable=field.nullable) for field in fields])


def schema_of(arrow: pa.Schema, primary_keys: tuple[str, ...] = ()) -> Schema:
    """A table schema for Arrow data, with field ids in order."""
    fields = tuple(
        Field(index, field.name, model_type(field.type), field.nullable and field.name not in primary_keys)
        for index, field in enumerate(arrow)
    )
    return Schema(fields, primary_keys, highest_field_id=len(fields) - 1)


def conform(data: pa.Table | pa.RecordBatch, schema: Schema) -> pa.Table:
    """Bring foreign Arrow data to the columns, order and types of a schema.
    A missing nullable column is filled with its default. RAISES: SchemaError naming the column that is unknown,
    missing, null where it must not be, or cannot be cast."""
    known = set(schema.names)
    unknown = [name for name in data.schema.names if name not in known]
    if unknown:
        raise no_column(unknown[0], schema.names)
    columns = [_conform_column(data, field) for field in schema.fields]
    return pa.table(columns, schema=arrow_schema(schema.fields))


def _conform_column(data: pa.Table | pa.RecordBatch, field: Field) -> pa.Array | pa.ChunkedArray:
    wanted = arrow_type(field.type)
    index = data.schema.get_field_index(field.name)
    if index < 0:
        if not field.nullable and field.default is None:
            raise SchemaError(f"column `{field.name}` is missing and may not be null")
        return pa.repeat(pa.scalar(field.default, wanted), data.num_rows)
    column = data.column(index)
    if column.type != wanted:
        try:
            column = pc.cast(column, wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as err:
            raise SchemaError(f"column `{field.name}` cannot be stored as {field.type}: {err}") from err
    if not field.nullable and column.null_count:
        raise SchemaError(f"column `{field.name}` may not be null, and {column.null_count} of its values are")
    return column

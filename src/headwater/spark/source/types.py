"""Lake types ↔ Spark types, and Arrow batches in exactly the form that Spark asks for.

Spark takes a batch only if its schema equals the one it derives from the DataFrame's, nullability and the names
inside lists included. Most columns already have that form and are handed on without a copy.
"""

import inspect
from typing import Any, assert_never

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.errors import SchemaError
from headwater.lake.engine.types import schema_of
from headwater.model.schema import Field, Schema
from headwater.model.types import (
    TYPES,
    Array,
    DataType,
    Decimal,
    Foreign,
    Map,
    Primitive,
    Struct,
)

_PRIMITIVES: dict[Primitive, spark.DataType] = {type: getattr(spark, facts.spark)() for type, facts in TYPES.items()}

# Before 4.2 PySpark takes no zone here, and means UTC.
_UTC: dict[str, Any] = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}


def spark_type(type: DataType) -> spark.DataType:
    """The Spark type of a lake column."""
    match type:
        case Primitive():
            return _PRIMITIVES[type]
        case Decimal(precision, scale):
            return spark.DecimalType(precision, scale)
        case Array(element):
            return spark.ArrayType(spark_type(element))
        case Map(key, value):
            return spark.MapType(spark_type(key), spark_type(value))
        case Struct(members):
            return spark.StructType([spark.StructField(member.name, spark_type(member.type)) for member in members])
        case Foreign(text):
            raise SchemaError(f"Spark cannot read the type {text}")
    assert_never(type)


def spark_schema(schema: Schema) -> spark.StructType:
    """The Spark schema of a table."""
    return spark.StructType([_spark_field(field) for field in schema.fields])


def lake_schema(schema: spark.StructType) -> Schema:
    """The table schema that can hold the rows of a Spark schema.

    RAISES: SchemaError naming the type that the lake does not have.
    """
    found = schema_of(arrow_of(schema))
    described = [dict(field.metadata or {}).get("comment") for field in schema.fields]
    fields = tuple(
        Field(field.id, field.name, field.type, field.nullable, text) for field, text in zip(found.fields, described)
    )
    return Schema(fields, highest_field_id=found.highest_field_id)


def arrow_of(schema: spark.StructType) -> pa.Schema:
    """The Arrow schema in which Spark takes the rows of a Spark schema.

    RAISES: SchemaError when there is none.
    """
    try:
        return to_arrow_schema(schema, **_UTC)
    except Exception as err:  # PySpark raises several kinds, none of them documented
        raise SchemaError(f"Spark's schema {schema.simpleString()} has no Arrow form: {err}") from err


def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of `schema`, in its order and types. REQUIRES: it has columns of these names."""
    if not schema:
        return counted(batch.num_rows)
    arrays = [_fitted(batch.column(field.name), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def counted(rows: int) -> pa.RecordBatch:
    """A batch of so many rows without columns: what Spark asks for when it only counts."""
    return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), rows, [None]))


def _fitted(column: Any, type: pa.DataType) -> Any:
    return column if column.type == type else column.cast(type)


def _spark_field(field: Field) -> spark.StructField:
    metadata = {"comment": field.description} if field.description else None
    return spark.StructField(field.name, spark_type(field.type), field.nullable, metadata)

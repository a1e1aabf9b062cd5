"""Planning a read in the driver's own Python, in the form in which Spark's workers take it.

Spark would start a Python worker to ask a data source for its partitions. The driver has one running; what the worker
would have sent is written by the same function of PySpark's, into memory.
"""

import base64
import inspect
import io
from collections.abc import Mapping
from typing import Any

import msgspec
from pyspark.serializers import read_int
from pyspark.sql.types import StructType

from headwater.spark.source import HeadwaterSource
from headwater.spark.source.python_sources import CaseInsensitiveDict, plan_data_source_read

_write: Any = plan_data_source_read.write_read_func_and_partitions
_KNOWN = ("outfile", "reader", "data_source", "schema", "max_arrow_batch_size", "binary_as_bytes")
_ROWS = 10_000  # in a batch that PySpark makes of rows; ours come as batches


def plan_read(options: Mapping[str, str], schema_text: str) -> dict[str, Any]:
    """The function that tasks call and what each calls it with; empty where this PySpark plans in another way."""
    if tuple(inspect.signature(_write).parameters) != _KNOWN:
        return {}
    schema = StructType.fromJson(msgspec.json.decode(schema_text))
    source = HeadwaterSource(CaseInsensitiveDict(options))
    buffer = io.BytesIO()
    _write(
        buffer,
        reader=source.reader(schema),
        data_source=source,
        schema=schema,
        max_arrow_batch_size=_ROWS,
        binary_as_bytes=True,
    )
    buffer.seek(0)
    function = _framed(buffer)
    return {"function": function, "partitions": [_framed(buffer) for _ in range(_count(buffer))]}


def _framed(buffer: io.BytesIO) -> str:
    return base64.b64encode(buffer.read(_count(buffer))).decode()


def _count(buffer: io.BytesIO) -> int:
    number: int = read_int(buffer)  # type: ignore[no-untyped-call]
    return number

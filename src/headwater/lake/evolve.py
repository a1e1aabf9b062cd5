"""Reading rows written under an older schema, by field id.

A column the file does not have reads as its default; one of another type is cast; one the schema no longer has is
left out. Names play no part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SchemaError
from headwater.lake.batch import SortedBatch
from headwater.lake.row import python_value
from headwater.lake.types import arrow_type
from headwater.model.schema import Field


@dataclass(frozen=True, slots=True)
class Adapter:
    """Brings stored columns of one file to the stored columns of the table."""

    sources: tuple[int | None, ...]  # for each wanted column, the position of the file's column
    fields: tuple[Field, ...]

    def values(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """One row."""
        pairs = zip(self.sources, self.fields)
        return tuple(field.default if at is None else _cast_value(stored[at], field) for at, field in pairs)

    def batch(self, stored: SortedBatch) -> SortedBatch:
        """Many rows."""
        names = [field.name for field in self.fields]
        arrays = [_adapted(stored.columns, len(stored), at, field) for at, field in zip(self.sources, self.fields)]
        return SortedBatch(stored.keys, stored.kinds, pa.RecordBatch.from_arrays(arrays, names=names))

    def column(self, name: str, stored: pa.Table, rows: int) -> Any:
        """One column of many rows."""
        at, field = next((at, field) for at, field in zip(self.sources, self.fields) if field.name == name)
        return _adapted(stored, rows, at, field)


def adapter(file_fields: tuple[Field, ...], wanted: tuple[Field, ...]) -> Adapter | None:
    """What a file's rows need to become the table's; None if nothing."""
    same = [(f.id, f.name, f.type) for f in file_fields] == [(f.id, f.name, f.type) for f in wanted]
    if same:
        return None
    positions = {field.id: at for at, field in enumerate(file_fields)}
    return Adapter(tuple(positions.get(field.id) for field in wanted), wanted)


def _adapted(stored: Any, rows: int, at: int | None, field: Field) -> Any:
    """One column of a batch or table."""
    wanted = arrow_type(field.type)
    if at is None:
        return pa.repeat(pa.scalar(field.default, wanted), rows)
    return _cast(stored.column(at), field, wanted)


def _cast(column: Any, field: Field, wanted: pa.DataType) -> Any:
    if column.type == wanted:
        return column
    try:
        return pc.cast(column, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as err:
        raise SchemaError(f"older rows of column `{field.name}` cannot be read as {field.type}: {err}") from err


def _cast_value(value: Any, field: Field) -> Any:
    convert: Callable[[Any], Any] | None = _PLAIN.get(str(field.type))
    if value is None or (convert is not None and isinstance(value, int | float)):
        return value if value is None or convert is None else convert(value)
    wanted = arrow_type(field.type)
    return python_value(_cast(pa.array([value]), field, wanted)[0])


_PLAIN: dict[str, Callable[[Any], Any]] = {"BIGINT": int, "INT": int, "SMALLINT": int, "DOUBLE": float}

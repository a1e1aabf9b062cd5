"""Reading rows written under an older schema, by field id.

A column the file does not have reads as its default; one of another type is cast; one the schema no longer has is
left out. Names play no part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import SchemaError
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.row import python_value
from headwater.lake.engine.types import arrow_type
from headwater.model.schema import Field
from headwater.model.types import DataType


@dataclass(frozen=True, slots=True)
class Adapter:
    """Brings stored columns of one file to the stored columns of the table."""

    sources: tuple[int | None, ...]  # for each wanted column, the position of the file's column
    fields: tuple[Field, ...]
    types: tuple[DataType | None, ...]  # for each wanted column, the type the file has it in
    names: tuple[str | None, ...]  # for each wanted column, the name the file has it by

    def values(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """One row."""
        return tuple(
            field.default if at is None or type is None else _cast_value(stored[at], type, field)
            for at, field, type in zip(self.sources, self.fields, self.types)
        )

    def batch(self, stored: SortedBatch) -> SortedBatch:
        """Many rows."""
        names = [field.name for field in self.fields]
        arrays = [_adapted(stored.columns, len(stored), old, field) for old, field in zip(self.names, self.fields)]
        return SortedBatch(stored.keys, stored.kinds, pa.RecordBatch.from_arrays(arrays, names=names))

    def column(self, name: str, stored: pa.Table, rows: int) -> Any:
        """One column of many rows."""
        old, field = next((old, field) for old, field in zip(self.names, self.fields) if field.name == name)
        return _adapted(stored, rows, old, field)

    def stored_names(self, names: Sequence[str]) -> list[str]:
        """The columns of the file that columns of the table are read from."""
        return [old for old, field in zip(self.names, self.fields) if old is not None and field.name in names]


def adapter(file_fields: tuple[Field, ...], wanted: tuple[Field, ...]) -> Adapter | None:
    """What a file's rows need to become the table's; None if nothing."""
    same = [(f.id, f.name, f.type) for f in file_fields] == [(f.id, f.name, f.type) for f in wanted]
    if same:
        return None
    positions = {field.id: at for at, field in enumerate(file_fields)}
    sources = tuple(positions.get(field.id) for field in wanted)
    found = [None if at is None else file_fields[at] for at in sources]
    types = tuple(None if field is None else field.type for field in found)
    return Adapter(sources, wanted, types, tuple(None if field is None else field.name for field in found))


def _adapted(stored: Any, rows: int, old: str | None, field: Field) -> Any:
    """One column of a batch or table, which has it by its old name."""
    wanted = arrow_type(field.type)
    if old is None:
        return pa.repeat(pa.scalar(field.default, wanted), rows)
    return _cast(stored.column(old), field, wanted)


def _cast(column: Any, field: Field, wanted: pa.DataType) -> Any:
    if column.type == wanted:
        return column
    try:
        return pc.cast(column, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as err:
        raise SchemaError(f"older rows of column `{field.name}` cannot be read as {field.type}: {err}") from err


def _cast_value(value: Any, type: DataType, field: Field) -> Any:
    if value is None or type == field.type:
        return value
    return python_value(_cast(pa.array([value], arrow_type(type)), field, arrow_type(field.type))[0])

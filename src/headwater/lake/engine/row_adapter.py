"""Reading rows written under an older schema, by field id. A column the file does not have reads as its default; one
of another type is cast; one the schema no longer has is left out. Names play no part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.engine.batch import SortedBatch
from headwater.lake.engine.formats.protocol import DataBlock
from headwater.lake.engine.row import python_value
from headwater.lake.engine.types import arrow_type
from headwater.lazy import arrow_compute as pc
from headwater.model.schema import Field
from headwater.model.types import DataType


@dataclass(frozen=True, slots=True)
class Adapter:
    """Brings stored columns of one file to the stored columns of the table."""

    sources: tuple[int | None, ...]  # for each wanted column, the position of the file's column
    fields: tuple[Field, ...]
    types: tuple[DataType | None, ...]  # for each wanted column, the type the file has it in
    names: tuple[str, ...]  # of the file's columns

    def values(self, stored: tuple[Any, ...]) -> tuple[Any, ...]:
        """One row."""
        return tuple(
            field.default if at is None or type is None else _cast_value(stored[at], type, field)
            for at, field, type in zip(self.sources, self.fields, self.types)
        )

    def batch(self, stored: SortedBatch) -> SortedBatch:
        """Many rows."""
        names = [field.name for field in self.fields]
        arrays = [_adapted(stored.columns, len(stored), at, field) for at, field in zip(self.sources, self.fields)]
        return SortedBatch(stored.keys, stored.kinds, pa.RecordBatch.from_arrays(arrays, names=names))

    def select(self, block: DataBlock, names: Sequence[str]) -> pa.RecordBatch:
        """Some columns of a block. REQUIRES: at least one."""
        wanted = [next(each for each in zip(self.sources, self.fields) if each[1].name == name) for name in names]
        read = list(dict.fromkeys(self.names[at] for at, _ in wanted if at is not None))
        stored = block.select(read) if read else None
        arrays = []
        for at, field in wanted:
            place = None if at is None else read.index(self.names[at])
            arrays.append(_adapted(stored, block.rows, place, field))
        return pa.RecordBatch.from_arrays(arrays, names=list(names))


def adapter(file_fields: tuple[Field, ...], wanted: tuple[Field, ...]) -> Adapter | None:
    """Return what a file's rows need to become the table's; None if nothing."""
    same = [(f.id, f.name, f.type) for f in file_fields] == [(f.id, f.name, f.type) for f in wanted]
    if same:
        return None
    positions = {field.id: at for at, field in enumerate(file_fields)}
    sources = tuple(positions.get(field.id) for field in wanted)
    types = tuple(None if at is None else file_fields[at].type for at in sources)
    return Adapter(sources, wanted, types, tuple(field.name for field in file_fields))


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


def _cast_value(value: Any, type: DataType, field: Field) -> Any:
    if value is None or type == field.type:
        return value
    return python_value(_cast(pa.array([value], arrow_type(type)), field, arrow_type(field.type))[0])

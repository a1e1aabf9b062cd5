"""Columns of every type with their extremes, and the forms that a value has at each door.

A value is held as a *cell*: what Python has for it, but days for a DATE, microseconds for a TIMESTAMP (both reach
further than Python's own), and pairs for a MAP.
"""

import decimal
import math
import random
import struct
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.lake.engine.temporal import in_numbers, with_numbers
from headwater.lake.engine.types import arrow_schema, arrow_type
from headwater.model.schema import Field
from headwater.model.types import Array, DataType, Decimal, Map, Struct, parse_type
from headwater.query.types import duckdb_type

DAY = 86_400_000_000
LARGEST_FLOAT, SMALLEST_FLOAT = struct.unpack("<ff", b"\xff\xff\x7f\x7f\1\0\0\0")
NAN, INFINITY = math.nan, math.inf
FAR = [9_223_372_036_854_776, -62_135_596_800_000_001, 253_402_300_800_000_000, 2**63 - 2, -9_223_372_022_400_000_000]
NEAR = [0, -1, 1_711_848_600_123_456, -62_135_596_800_000_000, 253_402_300_799_999_999, -11_676_096_000_000_000]


def digits(precision: int, scale: int) -> list[Any]:
    most = 10**precision - 1
    return [decimal.Decimal(each).scaleb(-scale, decimal.Context(prec=80)) for each in (0, 1, -1, most, -most)]


def integers(bits: int) -> list[Any]:
    return [0, 1, -1, 7, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]


@dataclass(frozen=True)
class Kind:
    """A type, values of it for a column, and values that may be summed and multiplied without leaving the type."""

    type: DataType
    cells: list[Any]
    calm: tuple[Any, ...] = ()
    wider: tuple[str, ...] = ()


def _kind(text: str, cells: list[Any], calm: tuple[Any, ...] = (), wider: tuple[str, ...] = ()) -> Kind:
    return Kind(parse_type(text), cells, calm, wider)


_ONE = decimal.Decimal(1)
KINDS = {
    "flag": _kind("BOOLEAN", [True, False]),
    "tiny": _kind("TINYINT", integers(8), (0, 1, -1), ("SMALLINT", "FLOAT", "DECIMAL(9, 0)")),
    "small": _kind("SMALLINT", integers(16), (0, 1, -1), ("INT", "DOUBLE")),
    "whole": _kind("INT", integers(32), (0, 1, -1), ("BIGINT", "DOUBLE", "DECIMAL(38, 0)")),
    "big": _kind("BIGINT", integers(64), (0, 1, -1), ("DECIMAL(19, 0)",)),
    "real": _kind("FLOAT", [0.0, 1.5, SMALLEST_FLOAT, -LARGEST_FLOAT, NAN, INFINITY], (0.5, -1.0, 1.0), ("DOUBLE",)),
    "double": _kind("DOUBLE", [0.0, -0.0, 1.5, 5e-324, 1.7976931348623157e308, NAN, -INFINITY], (2.0, -0.5, 1.0)),
    "text": _kind("STRING", ["a", "", "\0", "a\0b", "ü", "日本\U0001f600", "null", "'q'", "%_\\", "x" * 300]),
    "bytes": _kind("BINARY", [b"a", b"", b"\0", b"\0\xff\1", b"\0\1", bytes(range(256))]),
    "day": _kind("DATE", [0, -1, -719_162, 2_932_896, 19_813], wider=("TIMESTAMP",)),
    "far_day": _kind("DATE", [0, -719_163, 2_932_897, 2**31 - 2, -(2**31) + 2]),
    "moment": _kind("TIMESTAMP", NEAR),
    "instant": _kind("TIMESTAMP_LTZ", NEAR),
    "far_moment": _kind("TIMESTAMP", NEAR[:2] + FAR),
    "price": _kind("DECIMAL(5, 2)", digits(5, 2), (_ONE, -_ONE), ("DECIMAL(12, 2)", "DECIMAL(38, 10)")),
    "huge": _kind("DECIMAL(38, 0)", digits(38, 0), (_ONE, -_ONE)),
    "fine": _kind("DECIMAL(38, 38)", digits(38, 38), (decimal.Decimal("1e-38"),)),
    "tags": _kind("ARRAY<STRING>", [[], ["a"], [None, "ü\0", ""], ["x"] * 9]),
    "days": _kind("ARRAY<DATE>", [[0], [], [None, 2_932_896, -1]]),
    "pairs": _kind("MAP<STRING, BIGINT>", [[], [("a", 2**63 - 1)], [("b", None), ("", 0)]]),
    "nested": _kind(
        "STRUCT<a: INT, `b b`: ARRAY<DECIMAL(38, 0)>>",
        [{"a": 1, "b b": []}, {"a": None, "b b": None}, {"a": -(2**31), "b b": [None, digits(38, 0)[3]]}],
    ),
}
KEYS = {
    "BOOLEAN": [True, False],
    "TINYINT": [0, -128, 127],
    "SMALLINT": [0, -(2**15), 2**15 - 1],
    "INT": [0, 1, -1, 5, 2**31 - 1, -(2**31)],
    "BIGINT": [0, 1, -1, 2**63 - 1, -(2**63)],
    "FLOAT": [0.0, 1.5, -LARGEST_FLOAT, SMALLEST_FLOAT, INFINITY],
    "DOUBLE": [0.0, -1.5, 5e-324, 1.7976931348623157e308, NAN, -INFINITY],
    "STRING": ["a", "", "a\0b", "a\0", "ü", "b/c", "日本"],
    "BINARY": [b"a", b"", b"\0", b"\0\xff", b"\0\1", b"\xff"],
    "DATE": [0, -1, -719_162, 2_932_896],
    "TIMESTAMP": NEAR,
    "TIMESTAMP_LTZ": NEAR,
    "DECIMAL(38, 0)": [*digits(38, 0), decimal.Decimal(10**37 + 1), decimal.Decimal(10**37 + 2)],
    "DECIMAL(38, 38)": digits(38, 38),
    "DECIMAL(5, 2)": digits(5, 2),
}


def cell_of(cells: list[Any], chance: random.Random, *, null: float = 0.2) -> Any:
    """One of some cells, or null; the simple ones at the beginning more often."""
    if chance.random() < null:
        return None
    return cells[min(chance.randrange(len(cells)), chance.randrange(len(cells)))]


def to_arrow(fields: tuple[Field, ...], rows: list[dict[str, Any]]) -> pa.Table:
    """Rows of cells by name, as Arrow."""
    arrays = []
    for field in fields:
        wanted = arrow_type(field.type)
        arrays.append(pa.array([row[field.name] for row in rows], with_numbers(wanted)).cast(wanted))
    return pa.table(arrays, schema=arrow_schema(fields))


def frozen(cell: Any) -> Any:
    """A cell that can be compared and counted: one NaN, one zero; tuples for what is nested."""
    match cell:
        case float():
            return "NaN" if cell != cell else cell + 0.0
        case list() | tuple():
            return tuple(frozen(each) for each in cell)
        case dict():
            return tuple((name, frozen(each)) for name, each in cell.items())
    return cell


def from_arrow(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table, frozen."""
    columns = [[frozen(cell) for cell in column.to_pylist()] for column in in_numbers(table).columns]
    return list(zip(*columns)) if columns else []


def python_value(cell: Any, type: DataType) -> Any:
    """A cell as Python's own value. RAISES: OverflowError or ValueError when Python has none."""
    wanted = arrow_type(type)
    value = pa.array([cell], with_numbers(wanted)).cast(wanted)[0].as_py()
    return dict(value) if isinstance(type, Map) and value is not None else value


def from_python(value: Any, type: DataType) -> Any:
    """A value of Python as a frozen cell."""
    given = list(value.items()) if isinstance(value, dict) and isinstance(type, Map) else value
    return from_arrow(pa.table({"v": pa.array([given], arrow_type(type))}))[0][0]


def sql_text(cell: Any, type: DataType) -> str:
    """A cell as an expression of SQL."""
    return f"CAST({_bare(cell, type)} AS {duckdb_type(type)})"


def _bare(cell: Any, type: DataType) -> str:
    if cell is None:
        return "NULL"
    match type:
        case Array(element):
            return f"[{', '.join(sql_text(each, element) for each in cell)}]"
        case Map(key, value):
            sides = (sql_text(each, key) for each, _ in cell), (sql_text(each, value) for _, each in cell)
            return f"MAP([{', '.join(sides[0])}], [{', '.join(sides[1])}])"
        case Struct(members):
            parts = (f"'{each.name}': {sql_text(cell[each.name], each.type)}" for each in members)
            return f"{{{', '.join(parts)}}}"
        case Decimal():
            return f"'{decimal.Decimal(cell):f}'"
    match str(type):
        case "STRING":
            parts = [f"'{each}'" for each in cell.replace("'", "''").split("\0")]
            return f"({' || chr(0) || '.join(parts)})"
        case "BINARY":
            return "'" + "".join(f"\\x{byte:02X}" for byte in cell) + "'"
        case "DATE":
            return f"DATE '1970-01-01' + ({cell})::INT"
        case "TIMESTAMP":
            return f"make_timestamp({cell})"
        case "TIMESTAMP_LTZ":
            return f"make_timestamptz({cell})"
        case "FLOAT" | "DOUBLE":
            return f"'{cell!r}'"
    return str(cell)

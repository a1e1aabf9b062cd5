"""Every type with its extremes, in every file format, through every door: what goes in comes out.

A value that a door cannot show (a date of the year 10000 as a Python row) is an error of ours at that door.
"""

import struct
from contextlib import suppress

import pyarrow as pa
import pytest
from tests.effort import one_in

import headwater
from headwater import Warehouse
from headwater.errors import SchemaError
from headwater.files import MemoryFiles
from headwater.lake.engine.options import FileFormat
from headwater.lake.engine.row import python_value
from headwater.lake.engine.temporal import in_numbers
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import AddColumn, WidenColumn
from headwater.lake.tables import Compare, IsNull
from headwater.model.types import PRIMITIVES, STRING, TIMESTAMP, parse_type

SPECIAL = [float("inf"), -float("inf"), float("nan")]
DAYS = [-(2**31), -(2**31) + 1, -719_163, -719_162, -1, 0, 2_932_896, 2_932_897, 2**31 - 1]
MICROS = [
    *(-(2**63), -(2**63) + 1, -62_135_596_800_000_001, -62_135_596_800_000_000, -11_676_096_000_000_000, -1, 0),
    *(9_223_372_036_854_775, 9_223_372_036_854_776, 253_402_300_799_999_999, 253_402_300_800_000_000, 2**63 - 1),
]


def numbers(values, integer):
    return lambda type: pa.array(values, integer).cast(type)


def integers(bits):
    return lambda type: pa.array([-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1], type)


def floats(smallest, largest):
    return lambda type: pa.array([0.0, -0.0, 1.5, smallest, largest, -largest, *SPECIAL], type)


def digits(type):
    most = 10**type.precision - 1
    raw = b"".join(value.to_bytes(16, "little", signed=True) for value in (-most, -1, 0, 1, most))
    return pa.Array.from_buffers(type, 5, [None, pa.py_buffer(raw)])


EXTREMES = {
    "BOOLEAN": lambda type: pa.array([True, False], type),
    "TINYINT": integers(8),
    "SMALLINT": integers(16),
    "INT": integers(32),
    "BIGINT": integers(64),
    "FLOAT": floats(1e-45, struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]),
    "DOUBLE": floats(5e-324, 1.7976931348623157e308),
    "STRING": lambda type: pa.array(["", "\0", "a\0b", "ü", "日本\U0001f600", "x" * 5000, "null", "nan"], type),
    "BINARY": lambda type: pa.array([b"", b"\0", b"\xff\x00\x01", bytes(range(256)) * 20], type),
    "DATE": numbers(DAYS, pa.int32()),
    "TIMESTAMP": numbers(MICROS, pa.int64()),
    "TIMESTAMP_LTZ": numbers(MICROS, pa.int64()),
    **{f"DECIMAL({precision}, {scale})": digits for precision, scale in ((1, 0), (9, 9), (18, 3), (38, 0), (38, 38))},
}
PLAIN = list(EXTREMES)
NESTED = ("ARRAY<{}>", "MAP<STRING, {}>", "MAP<{}, INT>", "STRUCT<größe: {}, `a b`: INT>")
TYPES = PLAIN + [shape.format(name) for shape in NESTED for name in PLAIN]


def test_the_extremes_of_every_type_are_here():
    assert set(PRIMITIVES) == {name for name in EXTREMES if not name.startswith("DECIMAL")}


def extremes(type):
    """The extremes of a type, and null."""
    arrow = arrow_type(parse_type(type))
    if type in EXTREMES:
        found = EXTREMES[type](arrow)
    elif type.startswith("ARRAY"):
        inner = extremes(type[6:-1])
        found = pa.ListArray.from_arrays(pa.array([0, len(inner), len(inner)], pa.int32()), inner)
    elif type.startswith("STRUCT"):
        inner = extremes(type[len("STRUCT<größe: ") : -len(", `a b`: INT>")])
        found = pa.StructArray.from_arrays([inner, pa.array(range(len(inner)), pa.int32())], names=["größe", "a b"])
    else:
        keyed = type.startswith("MAP<STRING")
        inner = extremes(type[len("MAP<STRING, ") : -1]) if keyed else extremes(type[4 : -len(", INT>")])
        inner = inner if keyed else inner.drop_null()
        others = pa.array(
            [str(at) if keyed else at for at in range(len(inner))], pa.string() if keyed else pa.int32()
        )
        ends = pa.array([0, 1, 1, len(inner)], pa.int32())
        found = pa.MapArray.from_arrays(ends, *((others, inner) if keyed else (inner, others)))
    return pa.concat_arrays([found.cast(arrow), pa.nulls(1, arrow)])


def shown(table):
    """The rows of a table, to be compared: far dates as numbers, NaN as text."""
    rows = (
        in_numbers(table).sort_by("id").to_pylist() if "id" in table.column_names else in_numbers(table).to_pylist()
    )
    return repr(rows).replace("-0.0", "0.0")


def rows_of(type, begin=0):
    values = extremes(type)
    return pa.table({"id": pa.array(range(begin, begin + len(values)), pa.int32()), "v": values})


@pytest.mark.parametrize("file_format", [each.value for each in FileFormat])
@pytest.mark.parametrize("type", [*PLAIN, *one_in(7, TYPES[len(PLAIN) :])])
def test_what_goes_in_comes_out(type, file_format):
    warehouse = Warehouse(MemoryFiles())
    columns = {"id": "INT", "v": type}
    table = warehouse.create_table("t", columns, primary_key="id", options={"file.format": file_format})
    rows = rows_of(type)
    table.write(rows)
    assert shown(table.to_arrow()) == shown(rows)
    _check_gets(table, rows)
    table.write(rows.slice(0, 2))
    table.compact()
    assert shown(table.to_arrow()) == shown(table.to_arrow(at=1)) == shown(rows)
    assert table.to_arrow(where=IsNull("v")).num_rows == rows.column("v").null_count
    assert shown(table.changes(0).read_all().drop_columns(["_kind"])) == shown(rows)
    assert table.diff(1, table.snapshot().snapshot_id).num_rows == 0
    _check_puts(table, rows)
    table.alter(AddColumn("more", STRING))
    assert shown(table.to_arrow(["id", "v"])) == shown(rows)


def same(found, wanted):
    return found == wanted or repr(found) == repr(wanted)  # of the second kind is NaN


def _check_gets(table, rows):
    """Every row comes by its key, or there is an error of ours because Python has no such value."""
    for at, row in enumerate(rows.column("v")):
        try:
            wanted = python_value(row)
        except SchemaError:
            with pytest.raises(SchemaError, match="outside of what Python can show"):
                table.get(at)
            with pytest.raises(SchemaError, match="outside of what Python can show"):
                table.history(at)
        else:
            assert same(table.get(at)["v"], wanted)
            assert same(table.history(at)[-1].row["v"], wanted)


def _check_puts(table, rows):
    """Rows with values that Python has can be put one by one."""
    with table.writer() as writer:
        for at, value in enumerate(rows.column("v")):
            with suppress(SchemaError):
                wanted = python_value(value)
                writer.put((at, wanted))
                assert same(writer.get(at)["v"], wanted)
    assert shown(table.to_arrow()) == shown(rows)


@pytest.mark.parametrize("type", [*PLAIN, *one_in(7, TYPES[len(PLAIN) :])])
def test_sql_takes_and_gives_them(type):
    warehouse = Warehouse(MemoryFiles())
    table, rows = warehouse.create_table("t", {"id": "INT", "v": type}, primary_key="id"), rows_of(type)
    if "TIMESTAMP" in type:  # the smallest number of all is no timestamp of DuckDB's
        rows = rows.filter(pa.array([at != 0 for at in range(rows.num_rows)])) if type in PLAIN else rows.slice(0, 0)
    table.write(rows)
    with headwater.connect(warehouse) as session:
        assert len(session.sql("SELECT * FROM t").fetchall()) == rows.num_rows
        session.sql("CREATE TABLE u AS SELECT * FROM t; CREATE TABLE a (id INT, v " + _sql(type) + ")")
        session.sql("INSERT INTO a SELECT * FROM t")
        for name in ("u", "a"):
            assert shown(session.table(name).to_arrow()) == shown(rows)
        session.sql("UPDATE a SET id = id + 100 WHERE id = 1; UPDATE a SET id = id - 100 WHERE id > 99")
        assert shown(session.table("a").to_arrow()) == shown(rows)
        assert session.table("a").changes(1).read_all().num_rows == 0


def _sql(type):
    return type.replace("`a b`", '"a b"').replace("größe", '"größe"')


@pytest.mark.parametrize("file_format", [each.value for each in FileFormat])
@pytest.mark.parametrize("type", PLAIN)
def test_they_are_keys_and_partitions(type, file_format):
    values = extremes(type).drop_null().unique()
    rows = pa.table({"k": values, "id": pa.array(range(len(values)), pa.int32())})
    partitioned = type not in ("FLOAT", "DOUBLE", "BINARY")
    for partition in ([], ["k"]) if partitioned else ([],):
        key = ["k"] if not partition else ["k", "id"]
        table = Warehouse(MemoryFiles()).create_table(
            "t", {"k": type, "id": "INT"}, primary_key=key, partition_by=partition,
            options={"file.format": file_format, "bucket": "2"},
        )  # fmt: skip
        table.write(rows)
        table.write(rows.slice(0, 3))
        table.compact()
        assert shown(table.to_arrow()) == shown(rows.filter(_one_zero(rows)))
        for at, value in enumerate(values):
            with suppress(SchemaError):
                found = table.get((python_value(value), at) if partition else python_value(value))
                assert found is not None


def _one_zero(rows):
    """As a key, 0.0 and -0.0 are one: the later row stays."""
    floating = pa.types.is_floating(rows.column("k").type)
    return pa.array([not (floating and repr(value) == "0.0") for value in in_numbers(rows).column("k").to_pylist()])


def test_a_date_too_far_for_a_timestamp_keeps_its_column_a_date():
    table = Warehouse(MemoryFiles()).create_table("t", {"id": "INT", "v": "DATE"})
    table.write(rows_of("DATE"))
    with pytest.raises(SchemaError, match="3 of 10 rows would break"):
        table.alter(WidenColumn("v", TIMESTAMP))
    table.overwrite(rows_of("DATE").slice(2, 6))
    table.alter(WidenColumn("v", TIMESTAMP))
    assert table.to_arrow().num_rows == 6


@pytest.mark.parametrize("type", ["DATE", "TIMESTAMP", "TIMESTAMP_LTZ"])
def test_predicates_find_what_is_beside_far_values(type):
    rows, warehouse = rows_of(type), Warehouse(MemoryFiles())
    table = warehouse.create_table("t", {"id": "INT", "v": type}, primary_key="id")
    table.write(rows)
    near = [(at, value) for at, value in enumerate(rows.column("v")) if _has_python(value)]
    for at, value in near:
        assert at in table.to_arrow(where=Compare("v", "=", value.as_py())).column("id").to_pylist()
        below = table.to_arrow(where=Compare("v", "<", value.as_py())).column("id").to_pylist()
        assert sorted(below) == list(range(at))
    with headwater.connect(warehouse) as session:  # the smallest and the largest number are -infinity and infinity
        assert session.sql("SELECT count(*) FROM t WHERE v < 'infinity'").scalar() == rows.num_rows - 2


def _has_python(value):
    try:
        return python_value(value) is not None
    except SchemaError:
        return False

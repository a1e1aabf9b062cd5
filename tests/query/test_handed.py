"""Files that DuckDB reads itself give what our own scans of them give; what is damaged is noticed all the same.

A session with bounds never hands files over, so it is the other way to read the same table.
"""

import datetime
from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.effort import THOROUGH, one_in
from tests.query.test_select import QUERIES, ROWS

import headwater
from headwater.errors import CorruptFileError, HeadwaterError, NotFoundError
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SetOption,
    WidenColumn,
    is_widening,
)
from headwater.model import types
from headwater.model.types import Primitive, parse_type
from headwater.query.dataset import LakeTable
from headwater.query.sandbox import ReadLimits
from headwater.query.select import mentioned_names

UTC = datetime.UTC
PRIMITIVES = [each for each in vars(types).values() if isinstance(each, Primitive)]
VALUES = {
    "BOOLEAN": [True, False, None],
    "TINYINT": [-128, 127, 0, None],
    "SMALLINT": [-(2**15), 2**15 - 1, None],
    "INT": [-(2**31), 2**31 - 1, None],
    "BIGINT": [-(2**63), 2**63 - 1, None],
    "FLOAT": [0.5, -0.0, float("nan"), float("inf"), float("-inf"), None],
    "DOUBLE": [1e308, -0.0, 5e-324, float("nan"), float("inf"), None],
    "STRING": ["", "a'b\"c", "ü" * 40, "\0", None],
    "BINARY": [b"", b"\0\xff", None],
    "DATE": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None],
    "TIMESTAMP": [datetime.datetime(1600, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None],
    "TIMESTAMP_LTZ": [datetime.datetime(1970, 1, 1, tzinfo=UTC), datetime.datetime(2026, 11, 1, 9, tzinfo=UTC), None],
    "DECIMAL(4,2)": [Decimal("-99.99"), Decimal("0.01"), None],
    "DECIMAL(18,3)": [Decimal("999999999999999.999"), None],
    "DECIMAL(38,0)": [Decimal(10**37 + 1), -Decimal(10**37 + 1), None],
    "DECIMAL(38,38)": [Decimal("0." + "9" * 38), None],
    "ARRAY<INT>": [[1, None, 2], [], None],
    "ARRAY<ARRAY<STRING>>": [[["a"], [], None], None],
    "MAP<STRING, DOUBLE>": [{"a": 1.5, "b": None}, {}, None],
    "MAP<INT, STRUCT<a: DATE>>": [{1: {"a": datetime.date(2026, 1, 1)}}, None],
    "STRUCT<a: INT, b: STRUCT<c: STRING, d: TIMESTAMP_LTZ>>": [{"a": 1, "b": {"c": "x", "d": None}}, None],
    "STRUCT<m: MAP<STRING, ARRAY<DECIMAL(10,2)>>>": [{"m": {"k": [Decimal("1.25"), None]}}, None],
}


def both_ways(folder, query):
    """The table of a query with files handed over, and the one of our own scans."""
    found = []
    for bounds in (None, ReadLimits()):
        with headwater.connect(folder, bounds=bounds) as session:
            found.append(session.sql(query).table)
    return found


def assert_alike(folder, query):
    handed, scanned = both_ways(folder, query)
    assert handed.schema == scanned.schema
    assert sorted(map(repr, handed.to_pylist())) == sorted(map(repr, scanned.to_pylist()))


def is_handed(folder, table="t"):
    with headwater.connect(folder) as session:
        return any("by DuckDB" in line for (line,) in session.sql(f"EXPLAIN SELECT * FROM {table}"))


def data_files(folder):
    return sorted(Path(folder).rglob("data/**/*.parquet"))


def test_every_primitive_type_is_tried():
    assert {each.name for each in PRIMITIVES} <= set(VALUES)


@pytest.mark.parametrize("text", one_in(3, VALUES))
def test_every_type_reads_alike(tmp_path, text):
    type = parse_type(text)
    table = headwater.Warehouse(tmp_path).create_table("t", {"n": "INT", "v": text})
    values = VALUES[text]
    rows = {"n": pa.array(range(len(values)), pa.int32()), "v": pa.array(values, arrow_type(type))}
    table.write(pa.table(rows))
    assert is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT n, v, typeof(v) AS kind FROM t")
    assert_alike(tmp_path, "SELECT count(*), count(v), min(n) FROM t WHERE v IS NOT NULL")
    if isinstance(type, Primitive | types.Decimal):
        for op in ("=", "<>", "<", "<=", ">", ">="):
            assert_alike(tmp_path, f"SELECT a.n AS x, b.n AS y FROM t a JOIN t b ON a.v {op} b.v")
        assert_alike(tmp_path, "SELECT min(v) AS low, max(v) AS high FROM t")


@pytest.mark.parametrize("bound", [-5, 3, 5])
def test_a_number_that_is_none_is_above_all(tmp_path, bound):
    table = headwater.Warehouse(tmp_path).create_table("t", {"f": "FLOAT", "d": "DOUBLE"})
    table.write(pa.table({"f": pa.array([1.0, float("nan"), 4.0], pa.float32()), "d": [1.0, float("nan"), None]}))
    for column, op in product(("f", "d"), ("=", "<>", "<", "<=", ">", ">=")):
        assert_alike(tmp_path, f"SELECT f FROM t WHERE {column} {op} {bound}")


WIDENINGS = [
    (old, new)
    for old, new in product([*PRIMITIVES, parse_type("DECIMAL(5,2)")], [*PRIMITIVES, parse_type("DECIMAL(30,5)")])
    if is_widening(old, new)
]


@pytest.mark.parametrize("step", one_in(3, WIDENINGS), ids=str)
def test_every_widening_reads_alike(tmp_path, step):
    old, new = step
    table = headwater.Warehouse(tmp_path).create_table("t", {"v": str(old), "n": "INT"})
    key = "DECIMAL(4,2)" if isinstance(old, types.Decimal) else str(old)
    values = [value for value in VALUES[key] if str(old) != "DATE" or value != datetime.date(1, 1, 1)]
    table.write(pa.table({"v": pa.array(values, arrow_type(old)), "n": pa.array(range(len(values)), pa.int32())}))
    table.alter(WidenColumn("v", new))
    assert is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT *, typeof(v) AS kind FROM t")


def test_columns_are_found_by_field_id(tmp_path):
    table = headwater.Warehouse(tmp_path).create_table("t", {"a": "INT", "b": "STRING", "c": "DOUBLE"})
    table.write([(1, "one", 1.5)])
    table.alter(RenameColumn("a", "x"), RenameColumn("b", "a"), DropColumn("c"))
    table.alter(AddColumn("c", types.INT, default=7), AddColumn('od"d', types.STRING, default="it's"))
    table.write([{"x": 2, "a": "two"}])
    assert is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT * FROM t")
    with headwater.connect(tmp_path) as session:
        assert session.sql("SELECT * FROM t ORDER BY x").fetchall() == [(1, "one", 7, "it's"), (2, "two", 7, "it's")]
        assert session.sql("SELECT * FROM t FOR VERSION AS OF 1").fetchall() == [(1, "one", 1.5)]


def test_a_default_that_sql_may_say_otherwise_is_left_to_us(tmp_path):
    table = headwater.Warehouse(tmp_path).create_table("t", {"a": "INT"})
    table.write([(1,)])
    table.alter(AddColumn("price", parse_type("DECIMAL(6,2)"), default=Decimal("1.5")))
    assert not is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT *, typeof(price) AS kind FROM t")


def test_formats_can_be_mixed(tmp_path):
    table = headwater.Warehouse(tmp_path).create_table("t", {"a": "INT"}, options={"compaction.auto": "false"})
    for number, name in enumerate(("sst", "parquet", "orc", "json", None)):
        table.alter(SetOption("file.format", name))
        table.write([(number,)])
    assert not is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT * FROM t")
    assert [file.name.rpartition(".")[2] for file in table.store.latest().places[(), 0]][-1] == "parquet"
    assert sorted(table.to_arrow().column("a").to_pylist()) == [0, 1, 2, 3, 4]
    table.compact()
    assert is_handed(tmp_path)
    assert_alike(tmp_path, "SELECT * FROM t")


@pytest.mark.parametrize("name", ["it's", "a [b] c", "a*b", "x=1", 'ünï "q" ;'])
def test_whatever_the_folder_is_called(tmp_path, name):
    with headwater.connect(tmp_path / name) as session:
        session.sql('CREATE TABLE t (k INT, filename STRING, "x" INT) PARTITIONED BY (k)')
        session.sql("INSERT INTO t VALUES (1, 'f', 10), (NULL, 'g', 20)")
        assert sorted(session.sql("SELECT * FROM t").fetchall(), key=str) == [(1, "f", 10), (None, "g", 20)]


def test_a_partition_named_as_hive_does_keeps_its_type(tmp_path):
    with headwater.connect(tmp_path) as session:
        session.sql("CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)")
        session.sql("INSERT INTO t VALUES (1, '007'), (2, '2026-01-01'), (3, '%_a''b')")
        assert session.sql("SELECT * FROM t ORDER BY v").fetchall() == [(1, "007"), (2, "2026-01-01"), (3, "%_a'b")]
        assert session.sql("SELECT v FROM t WHERE p = '007'").fetchall() == [(1,)]


def made(folder):
    table = headwater.Warehouse(folder).create_table("t", {"a": "INT", "b": "STRING", "c": "DOUBLE"})
    table.write([(n, f"text {n % 3}", n / 3) for n in range(50)])
    (path,) = data_files(folder)
    return table, path


def test_every_flipped_byte_is_noticed(tmp_path):
    _, path = made(tmp_path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 3 if THOROUGH else 101):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        for read in (_handed, _scanned) if at % 4 == 0 else (_scanned,):
            with pytest.raises(CorruptFileError) as caught:
                read(tmp_path)
            assert path.name in caught.value.message


def _handed(folder):
    with headwater.connect(folder) as session:
        session.sql("SELECT sum(a), max(b), sum(c) FROM t")


def _scanned(folder):
    headwater.Warehouse(folder).table("t").to_arrow()


def test_damage_elsewhere_does_not_matter(tmp_path):
    table = headwater.Warehouse(tmp_path).create_table("t", {"a": "BIGINT", "b": "BIGINT"})
    rows = 100_000  # several blocks of checksums for each column
    table.write(pa.table({"a": [n * n for n in range(rows)], "b": [n * n * 7 for n in range(rows)]}))
    (path,) = data_files(tmp_path)
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data[start + chunk.total_compressed_size // 2] ^= 1
    path.write_bytes(bytes(data))
    assert table.to_arrow(["a"]).num_rows == rows
    with headwater.connect(tmp_path) as session:
        assert session.sql("SELECT max(a) FROM t").scalar() == (rows - 1) ** 2
        for text in ("SELECT max(b) FROM t", "SELECT * FROM t ORDER BY a", "SELECT t FROM t ORDER BY a"):
            with pytest.raises(CorruptFileError, match="checksum"):
                session.sql(text)
    with pytest.raises(CorruptFileError, match="checksum"):
        table.to_arrow(["b"])


@pytest.mark.parametrize("bounds", [None, ReadLimits()])
def test_missing_and_short_files_are_named(tmp_path, bounds):
    _, path = made(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with headwater.connect(tmp_path, bounds=bounds) as session, pytest.raises(CorruptFileError, match=path.name):
        session.sql("SELECT a FROM t")
    path.unlink()
    with headwater.connect(tmp_path, bounds=bounds) as session, pytest.raises(NotFoundError, match=path.name):
        session.sql("SELECT a FROM t")


def test_a_file_that_goes_while_a_session_is_open_is_named(tmp_path):
    _, path = made(tmp_path)
    with headwater.connect(tmp_path) as session:
        session.sql("SELECT a FROM t")
        path.unlink()
        with pytest.raises(NotFoundError, match=path.name):
            session.sql("SELECT sum(a) FROM t")


def test_strangers_see_no_files(tmp_path):
    _, path = made(tmp_path)
    with headwater.connect(tmp_path, bounds=ReadLimits()) as session:
        assert session.sql("SELECT sum(a) FROM t").scalar() == 1225
        assert not any("by DuckDB" in line for (line,) in session.sql("EXPLAIN SELECT * FROM t"))
        for text in (f"SELECT * FROM read_parquet('{path}')", f"SELECT * FROM '{path}'"):
            with pytest.raises(HeadwaterError):
                session.sql(text)


def test_what_a_query_left_behind_is_not_seen_by_the_next(tmp_path):
    table, _ = made(tmp_path)
    with headwater.connect(tmp_path) as session:
        assert session.sql("SELECT count(a) FROM t").scalar() == 50
        for name in ('"default.t"', 'memory."default.t"', 'temp."default.t"'):
            with pytest.raises(HeadwaterError):
                session.sql(f"SELECT * FROM {name}")
        table.write([(1, "more", 0.5)])
        assert session.sql("SELECT count(a) FROM t").scalar() == 51
        assert session.sql("SELECT count(a) FROM t FOR VERSION AS OF 1").scalar() == 50
        session.sql("ALTER TABLE t SET ('file.format' = 'sst')")
        table.write([(2, "more", 0.5)])
        assert session.sql("SELECT count(a) FROM t").scalar() == 52
        session.sql("DROP TABLE t; CREATE TABLE t (b INT)")
        assert session.sql("SELECT * FROM t").columns == ["b"]


@pytest.mark.parametrize("query", one_in(3, QUERIES))
def test_no_column_is_read_that_is_not_mentioned(tmp_path_factory, query, monkeypatch):
    with headwater.connect(tmp_path_factory.mktemp("w")) as session:
        session._cache.capacity = 0
        session.warehouse.create_table("t", ROWS.schema, primary_key="id").write(ROWS)
        asked, named = set(), []
        original, prepare = LakeTable.scanned, mentioned_names

        def scanned(self, names):
            asked.update(names)
            return original(self, names)

        def mentioned(tree, refs):
            named.append(prepare(tree, refs))
            return named[-1]

        monkeypatch.setattr(LakeTable, "scanned", scanned)
        monkeypatch.setattr("headwater.query.select.mentioned_names", mentioned)
        session.sql(query)
        assert all(names is None or {name.casefold() for name in asked} <= names for names in named)

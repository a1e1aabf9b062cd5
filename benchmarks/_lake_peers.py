"""The stores that `lake.py` compares with, each behind the same verbs: write, upsert, get, scan, range, size, close.

Those that take rows one by one have `put` too, and sync each to disk as ours are. Key-value stores get the key as
eight bytes and the row packed by `struct`, which is the cheapest honest encoding; lake formats get Arrow.
Every store is used with its defaults, batched where it can batch.
"""

import sqlite3
import struct
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_KEY = struct.Struct(">Q")
_ROW = struct.Struct("<20sdi")


def size_of(folder: Path) -> int:
    files = [folder] if folder.is_file() else [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)


class Parquet:
    """Plain PyArrow: sort and write one file with zstd; an upsert rewrites it."""

    name = "parquet"

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_suffix(".parquet")

    def write(self, table: pa.Table) -> None:
        pq.write_table(table.sort_by("id"), self.path, compression="zstd")

    def upsert(self, table: pa.Table) -> None:
        old = pq.read_table(self.path)
        kept = old.filter(pc.invert(pc.is_in(old["id"], value_set=table["id"])))
        self.write(pa.concat_tables([kept, table]))

    def get(self, key: int) -> Any:
        return pq.read_table(self.path, filters=[("id", "=", key)]).to_pylist()[0]

    def scan(self) -> pa.Table:
        return pq.read_table(self.path)

    def range(self, low: int, high: int) -> pa.Table:
        return pq.read_table(self.path, filters=[("id", ">=", low), ("id", "<=", high)])

    def size(self) -> int:
        return size_of(self.path)

    def close(self) -> None:
        pass


class _KeyValue:
    """What the key-value stores share: packing, and building Arrow from rows."""

    def rows(self, table: pa.Table) -> Any:
        return zip(*(column.to_pylist() for column in table.columns))

    def packed(self, table: pa.Table) -> Any:
        return ((_KEY.pack(i), _ROW.pack(s.encode(), d, n)) for i, s, d, n in self.rows(table))

    def unpacked(self, pairs: Any) -> pa.Table:
        columns: tuple[list[Any], ...] = ([], [], [], [])
        for key, value in pairs:
            text, d, n = _ROW.unpack(value)
            for column, item in zip(columns, (_KEY.unpack(key)[0], text.decode(), d, n)):
                column.append(item)
        return pa.table(dict(zip("isdn", columns)))


class RocksDict(_KeyValue):
    name = "rocksdict"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: pa.Table) -> None:
        from rocksdict import Options, Rdict

        self.db = Rdict(str(self.folder), Options(raw_mode=True))
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        from rocksdict import WriteBatch

        batch = WriteBatch(raw_mode=True)
        for number, (key, value) in enumerate(self.packed(table), 1):
            batch.put(key, value)
            if number % 10_000 == 0:
                self.db.write(batch)
                batch = WriteBatch(raw_mode=True)
        self.db.write(batch)
        self.db.flush()

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        from rocksdict import WriteOptions

        synced = WriteOptions()
        synced.sync = True
        for i, s, d, n in rows:
            self.db.put(_KEY.pack(i), _ROW.pack(s.encode(), d, n), synced)

    def get(self, key: int) -> Any:
        return _ROW.unpack(self.db[_KEY.pack(key)])

    def scan(self) -> pa.Table:
        return self.unpacked(self.db.items())

    def range(self, low: int, high: int) -> pa.Table:
        def pairs() -> Any:
            end = _KEY.pack(high)
            for key, value in self.db.items(from_key=_KEY.pack(low)):
                if key > end:
                    return
                yield key, value

        return self.unpacked(pairs())

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        self.db.close()


class LevelDB(_KeyValue):
    name = "plyvel"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: pa.Table) -> None:
        import plyvel

        self.db = plyvel.DB(str(self.folder), create_if_missing=True)
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        pairs = list(self.packed(table))
        for start in range(0, len(pairs), 10_000):
            with self.db.write_batch() as batch:
                for key, value in pairs[start : start + 10_000]:
                    batch.put(key, value)

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        for i, s, d, n in rows:
            self.db.put(_KEY.pack(i), _ROW.pack(s.encode(), d, n), sync=True)

    def get(self, key: int) -> Any:
        return _ROW.unpack(self.db.get(_KEY.pack(key)))

    def scan(self) -> pa.Table:
        return self.unpacked(self.db.iterator())

    def range(self, low: int, high: int) -> pa.Table:
        return self.unpacked(self.db.iterator(start=_KEY.pack(low), stop=_KEY.pack(high), include_stop=True))

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        self.db.close()


class SQLite(_KeyValue):
    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_suffix(".db")

    def write(self, table: pa.Table) -> None:
        self.db = sqlite3.connect(self.path)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, s TEXT, d REAL, n INTEGER)")
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        with self.db:
            self.db.executemany("INSERT OR REPLACE INTO t VALUES (?, ?, ?, ?)", self.rows(table))

    def put(self, rows: list[tuple[Any, ...]]) -> None:
        self.db.execute("PRAGMA synchronous = FULL")
        for row in rows:
            with self.db:
                self.db.execute("INSERT OR REPLACE INTO t VALUES (?, ?, ?, ?)", row)

    def get(self, key: int) -> Any:
        return self.db.execute("SELECT * FROM t WHERE id = ?", (key,)).fetchone()

    def scan(self) -> pa.Table:
        return pa.table(dict(zip("isdn", map(list, zip(*self.db.execute("SELECT * FROM t ORDER BY id"))))))

    def range(self, low: int, high: int) -> pa.Table:
        rows = self.db.execute("SELECT * FROM t WHERE id BETWEEN ? AND ?", (low, high))
        return pa.table(dict(zip("isdn", map(list, zip(*rows)))))

    def size(self) -> int:
        return size_of(self.path)

    def close(self) -> None:
        self.db.close()


class DuckDB:
    name = "duckdb"

    def __init__(self, folder: Path) -> None:
        self.path = folder.with_suffix(".duckdb")

    def write(self, table: pa.Table) -> None:
        self.db = duckdb.connect(str(self.path))
        self.db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, s VARCHAR, d DOUBLE, n INTEGER)").fetchall()
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        self.db.register("incoming", table)
        self.db.execute("INSERT OR REPLACE INTO t SELECT * FROM incoming").fetchall()
        self.db.unregister("incoming")

    def get(self, key: int) -> Any:
        return self.db.execute("SELECT * FROM t WHERE id = ?", [key]).fetchall()[0]

    def scan(self) -> pa.Table:
        return _arrow(self.db.sql("SELECT * FROM t"))

    def range(self, low: int, high: int) -> pa.Table:
        return _arrow(self.db.sql(f"SELECT * FROM t WHERE id BETWEEN {low} AND {high}"))

    def size(self) -> int:
        self.db.execute("CHECKPOINT").fetchall()
        return size_of(self.path)

    def close(self) -> None:
        self.db.close()


def _arrow(result: Any) -> pa.Table:
    return result.to_arrow_table() if hasattr(result, "to_arrow_table") else result.fetch_arrow_table()


class Delta:
    name = "deltalake"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: pa.Table) -> None:
        from deltalake import write_deltalake

        write_deltalake(str(self.folder), table)

    def upsert(self, table: pa.Table) -> None:
        from deltalake import DeltaTable

        merge = DeltaTable(str(self.folder)).merge(table, "s.id = t.id", source_alias="s", target_alias="t")
        merge.when_matched_update_all().when_not_matched_insert_all().execute()

    def _read(self, filters: Any = None) -> pa.Table:
        from deltalake import DeltaTable

        dataset = DeltaTable(str(self.folder)).to_pyarrow_dataset()
        return dataset.to_table(filter=filters)

    def get(self, key: int) -> Any:
        return self._read(pc.field("id") == key).to_pylist()[0]

    def scan(self) -> pa.Table:
        return self._read()

    def range(self, low: int, high: int) -> pa.Table:
        return self._read((pc.field("id") >= low) & (pc.field("id") <= high))

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        pass


class Paimon:
    """Pure Python by default; `native` turns on every option of pypaimon-rust."""

    name = "pypaimon"
    options: ClassVar[dict[str, str]] = {}

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, table: pa.Table) -> None:
        from pypaimon import CatalogFactory, Schema

        catalog = CatalogFactory.create({"warehouse": str(self.folder)})
        catalog.create_database("db", True)
        schema = pa.schema([table.schema.field(0).with_nullable(False), *list(table.schema)[1:]])
        options = {"bucket": "1"} | self.options
        catalog.create_table("db.t", Schema.from_pyarrow_schema(schema, primary_keys=["id"], options=options), False)
        self.table = catalog.get_table("db.t")
        self.upsert(table)

    def upsert(self, table: pa.Table) -> None:
        builder = self.table.new_batch_write_builder()
        write, commit = builder.new_write(), builder.new_commit()
        schema = pa.schema([table.schema.field(0).with_nullable(False), *list(table.schema)[1:]])
        write.write_arrow(table.cast(schema))
        commit.commit(write.prepare_commit())
        write.close()
        commit.close()

    def _read(self, predicate: Any = None) -> pa.Table:
        builder = self.table.new_read_builder()
        if predicate is not None:
            builder = builder.with_filter(predicate(builder.new_predicate_builder()))
        return builder.new_read().to_arrow(builder.new_scan().plan().splits())

    def get(self, key: int) -> Any:
        return self._read(lambda p: p.equal("id", key)).to_pylist()[0]

    def scan(self) -> pa.Table:
        return self._read()

    def range(self, low: int, high: int) -> pa.Table:
        return self._read(lambda p: p.between("id", low, high))

    def size(self) -> int:
        return size_of(self.folder)

    def close(self) -> None:
        pass


class PaimonRust(Paimon):
    name = "pypaimon-rust"
    options: ClassVar[dict[str, str]] = {
        "write.native.enabled": "true",
        "read.native.enabled": "true",
        "commit.native.enabled": "true",
        "scan.native-plan.enabled": "true",
    }

"""Makes the warehouse that every later version must be able to read: `python tests/upgrade/make.py`.

Run it once for each version of a format, never again for the same one: `v1.zip` is what version 1 wrote. It holds one
of everything that is stored: keys and none, partitions, buckets, file formats, changed schemas, deletes, tags,
compacted levels, a log that nobody finished, a view, origins, lineage. From version 2 on, every file format, sums,
numbers of every width, and a tree alone in a folder are there too (`fill_more`).
"""

import sys
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

import headwater
from headwater.analysis.analyze import Request
from headwater.graph import GraphChange, GraphStore
from headwater.graph.collect import collect
from headwater.lake import LSMTree
from headwater.lake.engine.types import schema_of
from headwater.lake.metadata.schema_change import AddColumn, RenameColumn
from headwater.lake.tables import Warehouse
from headwater.model.types import STRING
from headwater.text import Source

HERE = Path(__file__).parent
DAY = date(2026, 11, 15)
TYPES = {
    "day": "DATE NOT NULL",
    "id": "BIGINT NOT NULL",
    "name": "STRING",
    "price": "DECIMAL(12, 2)",
    "at": "TIMESTAMP",
    "moment": "TIMESTAMP_LTZ",
    "ok": "BOOLEAN",
    "ratio": "DOUBLE",
    "raw": "BINARY",
    "tags": "ARRAY<STRING>",
    "place": "STRUCT<city: STRING, zip: INT>",
    "counts": "MAP<STRING, BIGINT>",
}


def row(id: int) -> dict[str, object]:
    """A row with something in every type."""
    return {
        "day": DAY.replace(day=1 + id % 3),
        "id": id,
        "name": f"name {id}" if id % 5 else None,
        "price": Decimal(id) / 4,
        "at": datetime(2026, 1, 1, 12, 0, id % 60),
        "moment": datetime(2026, 1, 1, 12, 0, id % 60, tzinfo=UTC),
        "ok": id % 2 == 0,
        "ratio": id / 3,
        "raw": bytes([id % 256]) * (id % 7),
        "tags": ["a", None][: id % 3],
        "place": {"city": f"city {id}", "zip": id},
        "counts": {"x": id} if id % 2 else {},
    }


def fill(folder: Path) -> None:
    """Write one of everything below a folder."""
    lake = Warehouse(folder)
    lake.create_database("shop", comment="made for later versions")
    for name, options in (("sst", {"bucket": "2"}), ("parquet", {"file.format": "parquet"})):
        keyed = lake.create_table(
            f"shop.{name}", TYPES, primary_key=["day", "id"], partition_by="day", options=options, comment=name
        )
        keyed.write([row(id) for id in range(120)])
        keyed.create_tag("first")
        keyed.write([row(id) | {"name": "again"} for id in range(0, 120, 10)])
        keyed.delete([(row(7)["day"], 7)])
        keyed.compact()
        keyed.alter(RenameColumn("name", "title"), AddColumn("currency", STRING, default="EUR"))
        later = [row(id) for id in range(118, 125)]
        keyed.write([{"title": each.pop("name"), "currency": "CHF", **each} for each in later])
    log = lake.create_table("shop.log", {"n": "INT", "text": "STRING"})
    for start in range(3):
        log.write(pa.table({"n": pa.array([start, start + 1], pa.int32()), "text": ["a", "b"]}))
    kept = lake.create_table("shop.kept", {"k": "INT NOT NULL", "v": "STRING"}, primary_key="k")
    kept.write([(1, "in a snapshot")])
    writer = kept.writer()
    writer.put({"k": 2, "v": "in the log only"})  # and never closed
    session = headwater.connect(str(folder))
    session.sql("CREATE TABLE shop.gold AS SELECT day, sum(price) AS total FROM shop.sst GROUP BY day")
    session.sql("CREATE VIEW shop.seen AS SELECT * FROM shop.gold")
    sql = "CREATE TABLE d AS SELECT a + 1 AS b FROM t WHERE c > 0;"
    facts = collect([Source(sql, "a.sql")], Request(dialect="postgres", schema={"t": ["a", "c"]}))
    GraphStore(lake).apply(GraphChange(facts, record={"kind": "harvest", "sources": ["a.sql"]}))


def numbers(count: int) -> pa.Table:
    """Numbers of every width, some of them missing; the same in every run."""
    chance = np.random.default_rng(2)
    columns: dict[str, object] = {"id": pa.array(chance.permutation(count) * 3)}
    for bits in (1, 2, 4, 7, 8, 10, 16, 20, 33, 62):
        columns[f"b{bits}"] = pa.array(chance.integers(0, 1 << bits, count) - 5, mask=chance.random(count) < 0.1)
    columns["text"] = pa.array([f"value {number % 17}" for number in range(count)])
    return pa.table(columns)


def fill_more(folder: Path) -> None:
    """Write what version 2 has besides."""
    lake = Warehouse(folder)
    for file_format in ("sst", "parquet", "orc", "json"):
        rows = numbers(600)
        table = lake.create_table(
            f"shop.numbers_{file_format}", rows.schema, primary_key="id", options={"file.format": file_format}
        )
        table.write(rows)
        table.delete([3])
    sums = {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}
    table = lake.create_table("shop.sums", {"k": "STRING NOT NULL", "n": "BIGINT"}, primary_key="k", options=sums)
    for n in (1, 20, 300):
        table.write([("a", n), (f"b{n}", n)])
    with LSMTree(folder / "tree", schema_of(pa.schema([("id", pa.int64()), ("s", pa.string())]), ("id",))) as tree:
        tree.put_many((id, f"row {id}") for id in range(50))
        tree.flush()
        tree.delete(7)


def main() -> None:
    target = HERE / f"{sys.argv[1]}.zip"
    if target.exists():
        sys.exit(f"{target} is there: what a version wrote is not written again")
    with TemporaryDirectory() as folder:
        fill(Path(folder))
        fill_more(Path(folder))
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file() and path.name != "LOCK":
                    archive.write(path, path.relative_to(folder))
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""Files of a table that somebody else has written, with the worst of intentions and checksums that hold."""

import json
import random
import zlib
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from headwater import Warehouse
from headwater.files import MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.merge import merge_rule
from headwater.lake.engine.options import storage_options
from headwater.lake.engine.recovery import replay
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.version import FileVersionLog
from headwater.lake.engine.wal import read_log
from headwater.lake.metadata.entries import read_database_entry, read_metadata, read_table_entry
from headwater.lake.metadata.leases import Leases
from headwater.lake.metadata.manifest import ManifestFile, Manifests
from headwater.lake.metadata.schemas import decode_schema
from headwater.lake.metadata.snapshot import Snapshot, decode_snapshot
from headwater.lake.metadata.tags import Tags
from headwater.lake.tables.shape import shape_of
from headwater.lake.tables.views import Views
from headwater.model.schema import check_schema
from tests.fuzz import mutate, sealed
from tests.fuzz.target import Make, Take, target

COLUMNS = {
    "id": "BIGINT NOT NULL",
    "name": "STRING",
    "price": "DECIMAL(12, 2)",
    "day": "DATE",
    "tags": "ARRAY<STRING>",
    "place": "STRUCT<city: STRING, zip: INT>",
    "counts": "MAP<STRING, BIGINT>",
    "raw": "BINARY",
}


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": at,
            "name": f"name {at}" * (at % 4),
            "price": Decimal(at) / 4,
            "day": date(2026, 1, 1 + at % 28),
            "tags": ["a", None, "b"][: at % 4],
            "place": {"city": f"city {at}", "zip": at},
            "counts": {"x": at} if at % 2 else {},
            "raw": bytes([at % 256]) * (at % 5),
        }
        for at in range(count)
    ]


def some_lake() -> MemoryFiles:
    """A warehouse with one of everything that is stored."""
    files = MemoryFiles()
    lake = Warehouse(files)
    lake.create_database("d", comment="c")
    small = {"file.block-size": "1024", "bucket": "1"}
    for name, key in (("numbers", "id"), ("texts", "name")):
        schema = COLUMNS | ({"name": "STRING NOT NULL"} if key == "name" else {})
        for compression in ("none", "lz4", "zstd"):
            options = small | {"file.compression": compression}
            table = lake.create_table(f"d.{name}_{compression}", schema, primary_key=key, options=options)
            table.write(rows(40), deletes=[(100,)] if key == "id" else None)
    table = lake.table("d.numbers_none")
    table.write(rows(3), origin=None)
    table.create_tag("t")
    with lake.table("d.texts_none").writer() as writer:
        writer.put_many(rows(5))
        writer.delete("name 1")
        for entry in files.list("d/texts_none/rows", deep=True):
            files.put("kept.log", files.get(entry.path))
    table.store.leases.grant(table.snapshot())
    return files


def found(files: MemoryFiles, part: str) -> list[bytes]:
    return [files.get(entry.path) for entry in files.list(deep=True) if part in entry.path]


@target("sst", quick=600)
def sst() -> tuple[Make, Take]:
    seeds = found(some_lake(), ".sst")

    def take(data: bytes) -> None:
        files = MemoryFiles()
        files.put("f.sst", data)
        reader = SSTableReader(files, "f.sst", len(data))
        reader.check_header()
        reader.boundaries()
        for number, block in enumerate(reader.load_many(range(len(reader.index)))):
            keys = block.keys()
            first = reader.index.entries[number].first_key
            block.find(first)
            reader.block_of(first)
            batch = block.batch().without_deletes()
            batch.columns.validate(full=True)
            if block.rows:
                block.values(0)
                block.kind(block.rows - 1)
                keys.native(0)
        reader.might_contain(b"12345678")

    return lambda chance: sealed.mutate_sst(chance.choice(seeds), chance), take


@target("wal")
def wal() -> tuple[Make, Take]:
    files = some_lake()
    seed = files.get("kept.log")
    schema = Warehouse(files).table("d.texts_none").schema
    rule = merge_rule(schema, schema.options)

    def take(data: bytes) -> None:
        replay(read_log(data, "w.log"), schema=schema, rule=rule, sequence=1)

    return lambda chance: sealed.mutate_wal(seed, chance), take


@target("manifest")
def manifest() -> tuple[Make, Take]:
    files = some_lake()
    manifests = [json.loads(each) for each in found(files, "/manifest/manifest-") if b"entries" in each[:20]]
    lists = [json.loads(each.rsplit(b"\n", 2)[0]) for each in found(files, "/manifest/manifest-list-")]

    def make(chance: random.Random) -> tuple[bytes, bytes]:
        data = mutate.mutate_json(chance.choice(manifests), chance)
        body = {
            "manifests": [
                {"name": "manifest-a", "size": len(data), "checksum": zlib.crc32(data), "added": 1, "removed": 0}
            ]
        }
        body["version"] = 1
        listed = sealed.mutate_lines(chance.choice(lists), chance) if chance.random() < 0.4 else None
        plain = mutate.to_json(body)
        return data, listed or plain + b"\n%08x\n" % zlib.crc32(plain)

    def take(given: tuple[bytes, bytes]) -> None:
        files = MemoryFiles()
        files.put("t/manifest/manifest-a", given[0])
        files.put("t/manifest/list", given[1])
        reader = Manifests(files, PathFactory("t"))
        reader.live("list")
        reader.compact(reader.read_list("list"))
        reader.read(ManifestFile("manifest-a", len(given[0]), zlib.crc32(given[0]), 1, 0))

    return make, take


@target("snapshot")
def snapshot() -> tuple[Make, Take]:
    seeds = [json.loads(each) for each in found(some_lake(), "/snapshot/snapshot-")]
    seeds[0] |= {"origin": {"runId": "r", "inputs": [{"dataset": "d", "snapshotId": 1, "columns": ["a"]}]}}

    def encode(data: bytes) -> int | None:
        try:
            return zlib.crc32(msgspec.json.encode(msgspec.json.decode(data, type=Snapshot)))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def take(data: bytes) -> None:
        decode_snapshot(data, "snapshot-1")

    return lambda chance: sealed.mutate_snapshot(chance.choice(seeds), chance, encode), take


@target("schema")
def schema() -> tuple[Make, Take]:
    seeds = [json.loads(each) for each in found(some_lake(), "/schema/schema-")]
    seeds[0]["fields"][1]["defaultValue"] = "x"

    def take(data: bytes) -> None:
        shape_of(check_schema(decode_schema(data, "schema-0")))

    return lambda chance: mutate.mutate_json(chance.choice(seeds), chance), take


@target("options")
def options() -> tuple[Make, Take]:
    """The properties of a table."""
    from headwater.lake.engine.options import all_options

    names = (*(option.name for option in all_options()), "bucket-key")
    values = (
        "16 MB",
        "true",
        "always",
        "zstd",
        "5",
        "-1",
        "0",
        "nan",
        "1e400",
        "inf KB",
        "99999999999999999999",
        "",
        "parquet",
    )
    base = json.loads(found(some_lake(), "/schema/schema-0")[0])

    def make(chance: random.Random) -> bytes:
        chosen = {
            chance.choice(names): chance.choice((*values, *mutate.TEXTS)).replace("\udcff", "?") for _ in range(3)
        }
        return mutate.to_json(base | {"options": chosen})

    def take(data: bytes) -> None:
        decoded = decode_schema(data, "schema-0")
        storage_options(decoded.options)
        shape_of(decoded)

    return make, take


@target("entries")
def entries() -> tuple[Make, Take]:
    """The small files that say where things are: entries, metadata, views, leases, versions of a tree."""
    files = some_lake()
    seeds = [json.loads(found(files, part)[0]) for part in (".table", "database.json", "/metadata", "/lease/")]
    view = {"sql": "SELECT 1", "columns": ["a"], "comment": "c", "createdMillis": 1, "version": 1}
    version = {
        "number": 1,
        "files": json.loads(found(files, "/manifest/manifest-")[0]).get("entries", []),
        "wal_floor": 0,
    }
    version["files"] = [each["file"] for each in version["files"]]

    def make(chance: random.Random) -> tuple[int, bytes]:
        kind = chance.randrange(6)
        if kind == 5:
            return kind, sealed.mutate_lines(version, chance)
        return kind, mutate.mutate_json((*seeds, view)[kind], chance)

    def take(given: tuple[int, bytes]) -> None:
        kind, data = given
        files, paths = MemoryFiles(), PathFactory("t")
        files.put(
            (
                "d/t.table",
                "d/database.json",
                "t/metadata",
                "t/lease/lease-1",
                "d/v.view",
                "t/version/version-00000001",
            )[kind],
            data,
        )
        if kind == 0:
            entry = read_table_entry(files, "d/t.table")
            files.list(PathFactory(entry.folder).data_folder)  # no folder leads out of the warehouse
        elif kind == 1:
            read_database_entry(files, "d/database.json")
        elif kind == 2:
            read_metadata(files, paths)
        elif kind == 3:
            Leases(files, paths, Tags(files, paths)).held(0.0)
        elif kind == 4:
            from headwater.lake.tables.names import TableIdentifier

            Views(files).get(TableIdentifier("d", "v"))
        else:
            FileVersionLog(files, paths).latest()

    return make, take


@target("paimon", quick=600)
def paimon() -> tuple[Make, Take]:
    """The metadata of a Paimon table that is to be imported."""
    from headwater.lake.paimon import publish
    from headwater.lake.paimon.read import open_paimon, read_paimon

    published = MemoryFiles()
    table = Warehouse(some_lake()).table("d.numbers_none")
    publish(table, published)
    seed = {entry.path.split("/", 2)[2]: published.get(entry.path) for entry in published.list(deep=True)}
    names = sorted(seed)
    parsed = {
        name: json.loads(seed[name]) for name in names if name.startswith(("schema/schema", "snapshot/snapshot"))
    }

    def make(chance: random.Random) -> dict[str, bytes]:
        changed = dict(seed)
        name = chance.choice(names)
        if name in parsed and chance.random() < 0.9:
            changed[name] = mutate.mutate_json(parsed[name], chance)
        else:
            changed[name] = mutate.mutate_bytes(seed[name], chance)
        return changed

    def take(given: dict[str, bytes]) -> None:
        files = MemoryFiles()
        for name, data in given.items():
            files.put(name, data)
        for _ in read_paimon(open_paimon(files)):
            pass

    return make, take

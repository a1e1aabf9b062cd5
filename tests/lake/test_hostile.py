"""Small files of a table that somebody has damaged or made up: refused in our own words."""

import struct
import zlib

import pytest

from headwater import Warehouse
from headwater.errors import CorruptFileError, HeadwaterError, SchemaError, UsageError
from headwater.files import LocalFiles, MemoryFiles
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.merge import merge_rule
from headwater.lake.engine.options import storage_options
from headwater.lake.engine.recovery import replay
from headwater.lake.engine.row import RowCodec
from headwater.lake.engine.types import schema_of
from headwater.lake.engine.version import FileVersionLog
from headwater.lake.engine.wal import read_log
from headwater.lake.metadata.entries import read_table_entry
from headwater.lake.metadata.leases import Leases
from headwater.lake.metadata.manifest import Manifests
from headwater.lake.metadata.schemas import decode_schema
from headwater.lake.metadata.snapshot import decode_snapshot
from headwater.lake.metadata.tags import Tags
from headwater.lake.tables.names import TableIdentifier
from headwater.lake.tables.views import Views
from headwater.model.schema import Schema

DAMAGED = [b"", b"{", b"\xff\xfe", b'{"a": "\xed\xb3\xbf"}', b"[" * 20_000, b"5", b"null", b'{"version": 1}']
DAMAGED.append(b'{"deep":' + b"[" * 20_000 + b"]" * 20_000 + b"}")


def listed(body):
    return body + b"\n%08x\n" % zlib.crc32(body)


@pytest.mark.parametrize("data", DAMAGED, ids=lambda data: repr(data[:8]))
def test_json_of_every_kind(data):
    files, paths = MemoryFiles(), PathFactory("t")
    for name in ("t/lease/lease-1", "d/v.view", "d/t.table"):
        files.put(name, data)
    files.put("t/version/version-00000001", listed(data))
    files.put("t/manifest/list", listed(data))
    doors = [
        lambda: decode_snapshot(data, "snapshot-1"),
        lambda: decode_schema(data, "schema-0"),
        lambda: Leases(files, paths, Tags(files, paths)).held(0.0),
        lambda: Views(files).get(TableIdentifier("d", "v")),
        lambda: read_table_entry(files, "d/t.table"),
        lambda: FileVersionLog(files, paths).latest(),
        lambda: Manifests(files, paths).read_list("list"),
    ]
    for door in doors[:5] + doors[6:]:
        with pytest.raises(CorruptFileError):
            door()
    if not data.startswith((b'{"v', b'{"a')):  # every member of a version has a default, and others are ignored
        with pytest.raises(CorruptFileError):
            doors[5]()


def record(key, row, type=1):
    body = struct.pack("<BI", type, len(key)) + key + row
    framed = struct.pack("<I", len(body)) + body
    return framed + zlib.crc32(framed).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("key", "row", "type"),
    [
        (b"no end", b"", 2),
        (b"\xff\x00\x01", b"", 2),
        (b"a\x00\x01", b"\x92\xa1\xff\xc0", 1),
        (b"a\x00\x01", b"\x93\x01", 1),
        (b"a\x00\x01", b"", 1),
    ],
)
def test_records_of_a_log_that_are_no_rows(key, row, type):
    import pyarrow as pa

    plain = schema_of(pa.schema([("k", pa.string()), ("v", pa.int64())]), ("k",))
    schema = Schema(plain.fields, ("k",))
    log = b"HWAL\x01\x00\x00\x00" + record(key, row, type)
    with pytest.raises(HeadwaterError):
        replay(read_log(log, "w"), schema=schema, rule=merge_rule(schema, {}), sequence=1)


def test_a_date_that_python_has_not():
    import pyarrow as pa

    from headwater.lake.engine.row import python_value

    with pytest.raises(SchemaError, match="outside of what Python can show"):
        python_value(pa.scalar(2**30, pa.int32()).cast(pa.date32()))
    with pytest.raises(SchemaError):
        RowCodec(schema_of(pa.schema([("a", pa.int64())]))).decode(b"\x91\xa1\xff")


@pytest.mark.parametrize("text", ["inf KB", "nan MB", "1e999 GB", "-", ""])
def test_sizes_that_are_none(text):
    with pytest.raises(SchemaError):
        storage_options({"memtable.size": text})


@pytest.mark.parametrize("folder", ["../other", "/etc", "d/../../x", "d\\x", "d/\x00", ""])
def test_no_entry_leads_out_of_the_warehouse(folder, tmp_path):
    files = LocalFiles(tmp_path / "lake")
    lake = Warehouse(files)
    lake.create_table("default.t", {"k": "INT"}).write([(1,)])
    entry = files.get("default/t.table").decode()
    changed = entry.replace('"default/t"', '"' + folder.replace("\\", "\\\\").replace("\0", "\\u0000") + '"')
    assert changed != entry
    files.put("default/t.table", changed.encode())
    with pytest.raises((UsageError, CorruptFileError, HeadwaterError)):
        lake.table("default.t").to_arrow()
    with pytest.raises((UsageError, CorruptFileError, HeadwaterError)):
        lake.table("default.t").write([(2,)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake"]


def test_a_sweep_minds_no_folder_that_vanishes(tmp_path, monkeypatch):
    import os

    files = LocalFiles(tmp_path)
    files.put("a/b/data", b"x")
    (tmp_path / "a" / ".unpublished-1").write_bytes(b"half")
    scan = os.scandir

    def vanishing(path):
        if str(path).endswith("/b"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert files.sweep(older_than=0) == ["a/.unpublished-1"]

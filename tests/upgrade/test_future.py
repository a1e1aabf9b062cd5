"""A file of every kind, written by a program that is to come: refused by number, with what to do about it."""

import json
import struct
import zlib

import pytest
from tests.fuzz.sealed import crc, seal_sst

from headwater import Warehouse
from headwater.errors import CorruptFileError
from headwater.files import MemoryFiles
from headwater.lake import LSMTree
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.sst.reader import SSTableReader
from headwater.lake.engine.types import schema_of
from headwater.lake.engine.version import FileVersionLog
from headwater.lake.engine.wal import read_log
from headwater.lake.metadata.entries import read_database_entry, read_metadata, read_table_entry
from headwater.lake.metadata.manifest import ManifestFile, Manifests
from headwater.lake.metadata.schemas import decode_schema
from headwater.lake.metadata.snapshot import Snapshot, decode_snapshot, encode_snapshot
from headwater.lake.tables.names import TableIdentifier
from headwater.lake.tables.views import View, Views
from headwater.lineage.effects_wire import decode_effects, encode_effects


@pytest.fixture(scope="module")
def files():
    """A warehouse with one file of every kind."""
    import pyarrow as pa

    files = MemoryFiles()
    lake = Warehouse(files)
    lake.create_database("d")
    table = lake.create_table("d.t", {"k": "INT NOT NULL"}, primary_key="k", options={"bucket": "1"})
    table.write([(1,)])
    writer = table.writer()
    writer.put((2,))
    lake.views.create(TableIdentifier("d", "v"), View(sql="SELECT 1"))
    tree = LSMTree(files, schema_of(pa.schema([("id", pa.int64())]), ("id",)))
    tree.put((1,))
    tree.flush()
    return files


def only(files, part, but="\0"):
    found = [entry.path for entry in files.list(deep=True) if part in entry.path and but not in entry.path]
    return files.get(sorted(found)[0])


def later(data, member="version"):
    return json.dumps(json.loads(data) | {member: 99}).encode()


def listed(data, member="version"):
    body = later(data.rsplit(b"\n", 2)[0], member)
    return body + b"\n%08x\n" % zlib.crc32(body)


def at(path, data):
    """A store with one file."""
    files = MemoryFiles()
    files.put(path, data)
    return files


def later_sst(data):
    m_at, _, i_at, _, b_at, b_size, rows = struct.unpack("<QIQIQIQ", data[-48:-4])
    header = data[:4] + struct.pack("<I", 99) + data[8:28]
    parts = (data[i_at : b_at - 4], data[b_at : b_at + b_size], rows)
    return seal_sst(header + crc(header), data[32:m_at], data[m_at : i_at - 16], parts)


def later_snapshot(data):
    import msgspec

    known = decode_snapshot(data, "s")
    assert isinstance(known, Snapshot)
    return encode_snapshot(msgspec.structs.replace(known, version=99))


def read_sst(data):
    return SSTableReader(at("f.sst", data), "f.sst", len(data))


def read_manifest(data):
    manifests = Manifests(at("t/manifest/m", data), PathFactory("t"))
    return manifests.read(ManifestFile("m", len(data), zlib.crc32(data), 1, 0))


KINDS = {
    "data file": ("d/t/data", "\0", later_sst, read_sst),
    "log": (".log", "\0", lambda data: data[:4] + b"\x63\0\0\0" + data[8:], lambda data: read_log(data, "w.log")),
    "manifest": ("manifest/manifest-", "list", later, read_manifest),
    "manifest list": (
        "manifest/manifest-list-",
        "\0",
        listed,
        lambda data: Manifests(at("t/manifest/l", data), PathFactory("t")).read_list("l"),
    ),
    "snapshot": ("snapshot/snapshot-", "\0", later_snapshot, lambda data: decode_snapshot(data, "snapshot-1")),
    "schema": ("schema/schema-", "\0", later, lambda data: decode_schema(data, "schema-0")),
    "table": (".table", "\0", later, lambda data: read_table_entry(at("d/t.table", data), "d/t.table")),
    "database": ("database.json", "\0", later, lambda data: read_database_entry(at("d/d.json", data), "d/d.json")),
    "metadata": ("/metadata", "\0", later, lambda data: read_metadata(at("t/metadata", data), PathFactory("t"))),
    "view": (".view", "\0", later, lambda data: Views(at("d/v.view", data)).get(TableIdentifier("d", "v"))),
    "version of a tree": (
        "version/version-",
        "\0",
        lambda data: listed(data, "format_version"),
        lambda data: FileVersionLog(at("version/version-00000001", data), PathFactory("")).latest(),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_the_future_is_refused_by_number(files, kind):
    part, but, change, read = KINDS[kind]
    now = only(files, part, but)
    read(now)
    known = 2 if kind in ("data file", "manifest", "manifest list", "version of a tree") else 1
    with pytest.raises(CorruptFileError, match=f"format version 99, this program knows up to {known}") as caught:
        read(change(now))
    assert caught.value.hint == "install a later Headwater"


def test_what_a_later_harvest_keeps_is_refused_too():
    from headwater.lineage.effects import UseNamespace

    kept = encode_effects([UseNamespace("shop")]).replace(b"UseNamespace", b"UseSomething")
    with pytest.raises(CorruptFileError, match="UseSomething") as caught:
        decode_effects(kept)
    assert caught.value.hint == "install a later Headwater"


def test_a_journal_of_another_form_is_left_alone(tmp_path):
    """Events that a later server keeps in files of another name are not ours to bring in, nor to remove."""
    from headwater.graph import GraphStore
    from headwater.server.intake import Intake, journal_folder

    store = GraphStore(str(tmp_path / "lake"))
    folder = journal_folder(store)
    folder.mkdir(parents=True)
    (folder / "events-1.v2").write_bytes(b"later")
    intake = Intake(store)
    intake.start()
    intake.drain()
    intake.stop()
    assert [path.name for path in folder.iterdir()] == ["events-1.v2"]


def test_a_version_of_a_tree_with_the_first_names_is_read():
    file = {"name": "0-00001-a.sst", "level": 0, "sequence": 1, "rows": 3, "deletes": 1, "size": 9}
    file |= {"min_key": "YQ==", "max_key": "eg==", "schema_id": 4, "stats": {"a": {"nulls": 2}}, "created_millis": 5}
    body = json.dumps(
        {"number": 1, "files": [file], "wal_floor": 2, "next_sequence": 2, "format_version": 1}
    ).encode()
    data = body + b"\n%08x\n" % zlib.crc32(body)
    version = FileVersionLog(at("version/version-00000001", data), PathFactory("")).latest()
    assert (version.number, version.wal_floor, version.next_sequence) == (1, 2, 2)
    (found,) = version.files
    assert (found.rows, found.min_key, found.max_key, found.schema_id, found.created_millis) == (3, b"a", b"z", 4, 5)
    assert found.stats["a"].nulls == 2


@pytest.mark.parametrize("broken", [{"rows": "three"}, {"min_key": None}, {}])
def test_a_manifest_with_the_first_names_and_a_broken_file_is_damaged(broken):
    data = json.dumps({"entries": [{"kind": "ADD", "file": broken}], "version": 1}).encode()
    with pytest.raises(CorruptFileError, match="not of the expected form"):
        read_manifest(data)

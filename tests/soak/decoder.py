"""The table format read from its specification alone (`docs/spec`), without a line of Headwater.

Slow and plain on purpose: it is the second opinion of the soak.
"""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import mmh3
import pyarrow as pa
import pyarrow.parquet

Row = dict[int, Any]
"""The values of a row by field id."""
_TYPES = {
    "BOOLEAN": pa.bool_(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "TIMESTAMP_LTZ": pa.timestamp("us", "UTC"),
    "ARRAY<STRING>": pa.list_(pa.string()),
}
_CODECS = {1: "lz4_raw", 2: "zstd", 3: "snappy"}
_PUT, _DELETE = 0, 1


class BrokenError(Exception):
    """A file is not what the specification says."""


@dataclass(frozen=True)
class Store:
    """Bytes by path, and the paths below a folder."""

    read: Callable[[str], bytes]
    list: Callable[[str], list[str]]


def need(truth: object, what: str) -> None:
    if not truth:
        raise BrokenError(what)


def read_snapshot(data: bytes, name: str) -> dict[str, Any]:
    """A snapshot whose checksum holds: CRC-32 of its compact JSON without the checksum."""
    snapshot: dict[str, Any] = json.loads(data)
    checksum = snapshot.pop("checksum")
    body = json.dumps(snapshot, separators=(",", ":"), ensure_ascii=False).encode()
    need(zlib.crc32(body) == checksum, f"{name}: the checksum does not hold")
    need(snapshot.get("version", 1) == 1, f"{name}: version")
    return snapshot


class SpecTable:
    """A table folder as its specification describes it."""

    def __init__(self, store: Store, folder: str) -> None:
        self.store = store
        self.folder = folder

    def snapshot_ids(self) -> list[int]:
        names = [path.rpartition("/")[2] for path in self.store.list(f"{self.folder}/snapshot")]
        return sorted(int(name[9:]) for name in names if name.startswith("snapshot-"))

    def snapshot(self, id: int) -> dict[str, Any]:
        name = f"{self.folder}/snapshot/snapshot-{id}"
        return read_snapshot(self.store.read(name), name)

    def schemas(self) -> dict[int, dict[str, Any]]:
        found = {}
        for path in self.store.list(f"{self.folder}/schema"):
            if path.rpartition("/")[2].startswith("schema-"):
                schema = json.loads(self.store.read(path))
                found[schema["id"]] = schema
        need(sorted(found) == list(range(len(found))), f"{self.folder}: schema ids {sorted(found)}")
        return found

    def manifests(self, snapshot: dict[str, Any]) -> list[dict[str, Any]]:
        path = f"{self.folder}/manifest/{snapshot['manifestList']}"
        body, checksum, _ = self.store.read(path).rsplit(b"\n", 2)
        need(zlib.crc32(body) == int(checksum, 16), f"{path}: the checksum does not hold")
        return list(json.loads(body)["manifests"])

    def live(self, snapshot: dict[str, Any]) -> list[dict[str, Any]]:
        """The manifest entries of the files of a snapshot."""
        found: dict[str, dict[str, Any]] = {}
        for manifest in self.manifests(snapshot):
            path = f"{self.folder}/manifest/{manifest['name']}"
            body = self.store.read(path)
            need(
                len(body) == manifest["size"] and zlib.crc32(body) == manifest["checksum"],
                f"{path}: is not its list's",
            )
            for entry in json.loads(body)["entries"]:
                if entry["kind"] == "ADD":
                    found[entry["file"]["name"]] = entry
                else:
                    need(found.pop(entry["file"]["name"], None), f"{path}: removes what is not there")
        need(
            len(found) == snapshot["summary"]["totalFiles"], f"{self.folder}: totalFiles of {snapshot['snapshotId']}"
        )
        return list(found.values())

    def paths(self, snapshot: dict[str, Any]) -> set[str]:
        """Every file that a snapshot needs."""
        names = {snapshot["manifestList"], *(each["name"] for each in self.manifests(snapshot))}
        data = {f"{self.folder}/data/{entry['file']['name']}" for entry in self.live(snapshot)}
        return data | {f"{self.folder}/manifest/{name}" for name in names}

    def rows(self, snapshot: dict[str, Any], key: tuple[str, ...]) -> list[Row]:
        """The rows of a snapshot: merged by key, or all of them where there is none."""
        schemas = self.schemas()
        last = schemas[max(schemas)]
        fields = {field["id"]: field for field in last["fields"]}
        key_ids = [field["id"] for field in last["fields"] if field["name"] in key]
        merged: dict[object, Row | None] = {}
        everything: list[Row] = []
        # oldest first: higher levels, then lower sequences; what comes later wins
        entries = sorted(self.live(snapshot), key=lambda entry: (-entry["file"]["level"], entry["file"]["sequence"]))
        for entry in entries:
            need(
                not key or last["options"].get("merge-engine", "deduplicate") == "deduplicate", "another merge engine"
            )
            path = f"{self.folder}/data/{entry['file']['name']}"
            data = self.store.read(path)
            need(len(data) == entry["file"]["size"], f"{path}: size")
            count = 0
            names = {each["name"]: each["id"] for each in schemas[entry["file"].get("schema_id", 0)]["fields"]}
            for kind, row in read_file(data, path, key, names):
                count += 1
                whole = {id: row.get(id, field.get("defaultValue")) for id, field in fields.items()}
                if not key:
                    everything.append(whole)
                else:
                    merged[tuple(row[id] for id in key_ids)] = None if kind == _DELETE else whole
            need(count == entry["file"]["rows"], f"{path}: rows")
        return everything if not key else [row for row in merged.values() if row is not None]


def read_file(data: bytes, path: str, key: tuple[str, ...], names: dict[str, int]) -> Iterator[tuple[int, Row]]:
    """Kind and values of every row of a data file, in its order. `names` are the ids of its schema's fields."""
    if path.endswith(".parquet"):
        yield from _read_parquet(data, names)
        return
    need(path.endswith(".sst"), f"{path}: a format this decoder does not know")
    yield from _read_sst(data, path, key)


def _read_parquet(data: bytes, names: dict[str, int]) -> Iterator[tuple[int, Row]]:
    table = pyarrow.parquet.read_table(BytesIO(data))
    for row in table.to_pylist():
        yield row.pop("_kind"), {names[name]: value for name, value in row.items() if name in names}


def _read_sst(data: bytes, path: str, key: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    need(data[:4] == b"HWST" == data[-4:] and struct.unpack_from("<I", data, 4) == (1,), f"{path}: magic or version")
    need(zlib.crc32(data[:28]) == struct.unpack_from("<I", data, 28)[0], f"{path}: header")
    footer = data[-48:]
    m_at, m_size, i_at, i_size, b_at, b_size, rows = struct.unpack("<QIQIQIQ", footer[:44])
    need((m_at + m_size, i_at + i_size, b_at + b_size) == (i_at, b_at, len(data) - 48), f"{path}: a gap")
    meta_block, index, bloom = data[m_at:i_at], data[i_at:b_at], data[b_at : b_at + b_size]
    need(zlib.crc32(meta_block[:-4]) == struct.unpack("<I", meta_block[-4:])[0], f"{path}: meta")
    sums = struct.unpack("<III", meta_block[-16:-4])
    need(sums == (zlib.crc32(data[:32]), zlib.crc32(footer), zlib.crc32(bloom)), f"{path}: checksums in meta")
    need(zlib.crc32(index[:-4]) == struct.unpack("<I", index[-4:])[0], f"{path}: index")
    meta = json.loads(meta_block[:-16])
    stored = [each for each in meta["columns"] if not (meta["number_keys"] and each["name"] in meta["key"])]
    schema = pa.schema([(each["name"], _TYPES[each["type"]]) for each in stored])
    key_id = next(
        (each["id"] for each in meta["columns"] if meta["number_keys"] and each["name"] in meta["key"]), None
    )
    need(not key or list(key) == meta["key"], f"{path}: key {meta['key']}")
    (count,) = struct.unpack_from("<I", index)
    offsets = struct.unpack_from(f"<{count}Q", index, 4)
    sizes = struct.unpack_from(f"<{count}I", index, 4 + 8 * count)
    at, seen, previous = 32, 0, -1
    for offset, size in zip(offsets, sizes):
        need(offset == at, f"{path}: blocks do not follow each other")
        at += size
        for number, kind, values in _read_block(data[offset : offset + size], schema, f"{path}@{offset}"):
            row = {each["id"]: value for each, value in zip(stored, values)}
            if key_id is not None:
                need(number > previous, f"{path}: keys are not in order")
                need(_may_contain(bloom, number.to_bytes(8, "big")), f"{path}: the Bloom filter misses a key")
                previous = number
                row[key_id] = number - (1 << 63)
            seen += 1
            yield kind, row
    need(at == m_at and seen == rows == meta["rows"], f"{path}: {seen} rows, {rows} promised")
    if key_id is not None and seen:
        need(base64.b64decode(meta["max_key"]) == previous.to_bytes(8, "big"), f"{path}: max_key")


def _read_block(data: bytes, schema: pa.Schema, name: str) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    raw_size, codec, padding, _, rows, checksum = struct.unpack("<IBBHII", data[-16:])
    need(zlib.crc32(data[:-4]) == checksum, f"{name}: the checksum does not hold")
    raw = data[: len(data) - 16 - padding]
    if codec:
        raw = pa.decompress(raw, raw_size, _CODECS[codec], asbytes=True)
    need(len(raw) == raw_size, f"{name}: raw size")
    count, form, flags, _, key_size, columns_at = struct.unpack_from("<IBBHII", raw)
    need(count == rows, f"{name}: rows")
    keys = raw[16 : 16 + key_size]
    if form == 1:
        base, width = struct.unpack_from("<QB", keys)
        numbers = [base + int.from_bytes(keys[16 + width * at :][:width], "little") for at in range(rows)]
    else:
        numbers = [0] * rows
    kinds = raw[16 + key_size : 16 + key_size + rows] if flags & 1 else bytes(rows)
    batch = pa.ipc.read_record_batch(pa.py_buffer(raw[columns_at:]), schema)
    need(batch.num_rows == rows, f"{name}: columns")
    columns = [column.to_pylist() for column in batch.columns]
    for at in range(rows):
        yield numbers[at], kinds[at], tuple(column[at] for column in columns)


def _may_contain(bloom: bytes, key: bytes) -> bool:
    _, hashes, n = struct.unpack_from("<IIQ", bloom)
    h = mmh3.hash64(key, signed=False)[0]
    a, b = (h % 2**32) * n // 2**32, ((h >> 32) * n // 2**32) | 1
    positions = ((a + turn * b) % n for turn in range(hashes))
    return all(bloom[16 + p // 8] >> p % 8 & 1 for p in positions)

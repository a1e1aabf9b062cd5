"""The metadata files of a Paimon table: schemas and snapshots in JSON, manifests and their lists in Avro.
Paimon's readers need every field that is in these Avro schemas; values we have no use for are null."""

import io
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import msgspec

from headwater.errors import AlreadyExistsError, CommitConflictError, CorruptFileError
from headwater.extras import need
from headwater.files import Files
from headwater.lake.engine.stored_json import decode_json, encode_json
from headwater.lake.metadata.entries import now_millis
from headwater.lake.paimon.binary_row import encode_row
from headwater.lake.paimon.types import highest_id, model_type_of, paimon_type
from headwater.model.schema import Field, Schema, check_schema

ADD, DELETE = 0, 1
EMPTY_ROW = encode_row([], [])
BATCH_COMMIT = (1 << 63) - 1  # Paimon's commit identifier of batch jobs
CODEC = "zstandard"

_STATS = [
    {"name": "_MIN_VALUES", "type": "bytes"},
    {"name": "_MAX_VALUES", "type": "bytes"},
    {"name": "_NULL_COUNTS", "type": ["null", {"type": "array", "items": ["null", "long"]}], "default": None},
]


def _optional(name: str, type: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type], "default": None}


def _required(**types: Any) -> list[dict[str, Any]]:
    return [{"name": name, "type": type} for name, type in types.items()]


def _stats(name: str) -> dict[str, Any]:
    return {"name": name, "type": {"type": "record", "name": f"record{name}", "fields": _STATS}}


_STRINGS = {"type": "array", "items": "string"}
_FILE = {
    "type": "record",
    "name": "record__FILE",
    "fields": [
        *_required(_FILE_NAME="string", _FILE_SIZE="long", _ROW_COUNT="long", _MIN_KEY="bytes", _MAX_KEY="bytes"),
        _stats("_KEY_STATS"),
        _stats("_VALUE_STATS"),
        *_required(_MIN_SEQUENCE_NUMBER="long", _MAX_SEQUENCE_NUMBER="long", _SCHEMA_ID="long", _LEVEL="int"),
        {"name": "_EXTRA_FILES", "type": _STRINGS},
        _optional("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
        _optional("_DELETE_ROW_COUNT", "long"),
        _optional("_EMBEDDED_FILE_INDEX", "bytes"),
        _optional("_FILE_SOURCE", "int"),
        _optional("_VALUE_STATS_COLS", _STRINGS),
        _optional("_EXTERNAL_PATH", "string"),
        _optional("_FIRST_ROW_ID", "long"),
        _optional("_WRITE_COLS", _STRINGS),
    ],
}
MANIFEST = {
    "type": "record",
    "name": "record",
    "fields": [
        *_required(_VERSION="int", _KIND="int", _PARTITION="bytes", _BUCKET="int", _TOTAL_BUCKETS="int"),
        {"name": "_FILE", "type": _FILE},
    ],
}
MANIFEST_LIST = {
    "type": "record",
    "name": "record",
    "fields": [
        *_required(_VERSION="int", _FILE_NAME="string", _FILE_SIZE="long", _NUM_ADDED_FILES="long"),
        *_required(_NUM_DELETED_FILES="long"),
        _stats("_PARTITION_STATS"),
        *_required(_SCHEMA_ID="long"),
        *(_optional(name, "int") for name in ("_MIN_BUCKET", "_MAX_BUCKET", "_MIN_LEVEL", "_MAX_LEVEL")),
        *(_optional(name, "long") for name in ("_MIN_ROW_ID", "_MAX_ROW_ID")),
    ],
}


J = TypeVar("J")


class PaimonField(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    id: int
    name: str
    type: Any
    description: str | None = None
    default_value: str | None = None


class PaimonSchema(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `schema/schema-{id}`."""

    version: int = 3
    id: int
    fields: tuple[PaimonField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: dict[str, str] = {}
    comment: str | None = None
    time_millis: int = 0


class PaimonSnapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The content of `snapshot/snapshot-{id}`."""

    version: int = msgspec.field(default_factory=lambda: 3)
    id: int
    uuid: str | None = None
    schema_id: int
    base_manifest_list: str
    base_manifest_list_size: int | None = None
    delta_manifest_list: str
    delta_manifest_list_size: int | None = None
    changelog_manifest_list: str | None = None
    index_manifest: str | None = None
    commit_user: str
    commit_identifier: int
    commit_kind: str
    time_millis: int
    total_record_count: int | None = None
    delta_record_count: int | None = None
    properties: dict[str, str] | None = None


def paimon_schema(schema: Schema, options: dict[str, str]) -> PaimonSchema:
    """Our schema as Paimon has it: field ids stay."""
    fields = tuple(
        PaimonField(
            id=field.id,
            name=field.name,
            type=paimon_type(field.type, field.nullable, field.id),
            description=field.description,
            default_value=_default_text(field.default),
        )
        for field in schema.fields
    )
    return PaimonSchema(
        id=schema.id,
        fields=fields,
        highest_field_id=highest_id([field.id for field in fields], [field.type for field in fields]),
        partition_keys=schema.partition_keys,
        primary_keys=schema.primary_keys,
        options=options,
        comment=schema.comment,
        time_millis=schema.time_millis or now_millis(),
    )


def _default_text(value: object) -> str | None:
    """A default as Paimon casts it from text; None for one that has no such text."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None or isinstance(value, bytes | list | dict) else str(value)


def model_schema(schema: PaimonSchema) -> Schema:
    """A Paimon schema as ours. RAISES: SchemaError for a column that the lake cannot store."""
    fields = []
    for number, field in enumerate(schema.fields):
        type, nullable = model_type_of(field.type, field.name)
        required = field.name in schema.primary_keys
        fields.append(Field(number, field.name, type, nullable and not required, field.description))
    partitions = schema.partition_keys
    if schema.primary_keys and not set(partitions) <= set(schema.primary_keys):
        partitions = ()  # Paimon's keys may wander between partitions; ours may not
    return check_schema(Schema(tuple(fields), schema.primary_keys, partitions, comment=schema.comment))


class PaimonFiles:
    """The metadata of one Paimon table, in a folder of a store."""

    def __init__(self, files: Files, folder: str) -> None:
        self.files, self.folder = files, folder.strip("/")

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}" if self.folder else name

    # ------------------------------------------------------------------------------------------------- JSON

    def schema_ids(self) -> list[int]:
        return sorted(self._numbers("schema", "schema-"))

    def schema(self, id: int) -> PaimonSchema:
        return self._json(f"schema/schema-{id}", PaimonSchema)

    def put_schema(self, schema: PaimonSchema) -> None:
        try:
            self.files.put_if_absent(self.path(f"schema/schema-{schema.id}"), encode_json(schema))
        except AlreadyExistsError:  # from an earlier try, or another publisher of the same table
            there = self.schema(schema.id)
            if there.fields != schema.fields:
                raise CommitConflictError(
                    f"the Paimon table at {self.folder} has another schema {schema.id} than this table",
                    hint="publish into an empty folder: somebody else changes this one",
                ) from None

    def snapshot_ids(self) -> list[int]:
        return sorted(self._numbers("snapshot", "snapshot-"))

    def snapshot(self, id: int) -> PaimonSnapshot:
        return self._json(f"snapshot/snapshot-{id}", PaimonSnapshot)

    def tag(self, name: str) -> PaimonSnapshot:
        return self._json(f"tag/tag-{name}", PaimonSnapshot)

    def commit(self, snapshot: PaimonSnapshot) -> None:
        """Make a snapshot the latest one. RAISES: CommitConflictError when somebody else was faster."""
        try:
            self.files.put_if_absent(self.path(f"snapshot/snapshot-{snapshot.id}"), encode_json(snapshot))
        except AlreadyExistsError as error:
            raise CommitConflictError(
                f"somebody else committed snapshot {snapshot.id} to the Paimon table at {self.folder}",
                hint="publish again: it starts from the table as it is then",
            ) from error
        self.files.put(self.path("snapshot/LATEST"), str(snapshot.id).encode())
        if snapshot.id == 1:
            self.files.put(self.path("snapshot/EARLIEST"), b"1")

    def _numbers(self, folder: str, prefix: str) -> Iterator[int]:
        for entry in self.files.list(self.path(folder)):
            rest = entry.name.removeprefix(prefix)
            if entry.name.startswith(prefix) and rest.isdigit():
                yield int(rest)

    def _json(self, name: str, kind: type[J]) -> J:
        path = self.path(name)
        return decode_json(self.files.get(path), kind, path, what="what Paimon writes there")

    # ------------------------------------------------------------------------------------------------- Avro

    def read_list(self, name: str | None) -> list[dict[str, Any]]:
        return [] if not name else self._avro(name)

    def read_manifest(self, name: str) -> list[dict[str, Any]]:
        return self._avro(name)

    def _avro(self, name: str) -> list[dict[str, Any]]:
        fastavro = need_fastavro()
        path = self.path(f"manifest/{name}")
        data = self.files.get(path)
        try:
            return list(fastavro.reader(io.BytesIO(data)))
        except Exception as error:  # fastavro raises whatever it stumbles over
            raise CorruptFileError(f"{path} is not a Paimon manifest: {type(error).__name__}: {error}") from error

    def write_avro(self, name: str, schema: Any, records: Iterable[dict[str, Any]]) -> int:
        """Write a manifest or list; returns its size."""
        buffer = io.BytesIO()
        need_fastavro().writer(buffer, schema, list(records), codec=CODEC)
        self.files.put(self.path(f"manifest/{name}"), buffer.getvalue())
        return buffer.tell()


def need_fastavro() -> Any:
    """Return the reader and writer of manifests. RAISES: MissingDependencyError without it."""
    return need("fastavro")


FileKey: TypeAlias = tuple[bytes, int, int, str]
Entry: TypeAlias = dict[str, Any]


def live_files(store: PaimonFiles, snapshot: PaimonSnapshot) -> dict[FileKey, Entry]:
    """The manifest entries of the files that are part of a snapshot.
    RAISES: CorruptFileError when an entry lacks what Paimon writes there."""
    live: dict[FileKey, Entry] = {}
    for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list):
        try:
            for manifest in store.read_list(name):
                for entry in store.read_manifest(manifest["_FILE_NAME"]):
                    apply_entry(live, entry)
        except (KeyError, TypeError) as error:
            raise CorruptFileError(f"{name} is not a Paimon manifest list: {error!r} is missing") from error
    return live


def apply_entry(live: dict[FileKey, Entry], entry: Entry) -> None:
    """Let an entry add its file or take it away."""
    file = entry["_FILE"]
    key = (entry["_PARTITION"], entry["_BUCKET"], file["_LEVEL"], file["_FILE_NAME"])
    if entry["_KIND"] == ADD:
        live[key] = entry
    else:
        live.pop(key, None)

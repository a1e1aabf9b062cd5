"""One table on disk: its schemas, its snapshots, and the states they stand for."""

from collections import OrderedDict
from contextlib import AbstractContextManager, suppress
from threading import Lock

import msgspec

from headwater.errors import NotFoundError, StorageError
from headwater.files import Files
from headwater.lake.engine.cache import BlockCache, shared_cache
from headwater.lake.engine.data_files import Readers, Shelf
from headwater.lake.engine.layout import PathFactory
from headwater.lake.engine.stored_json import encode_json
from headwater.lake.engine.write import FileWriter
from headwater.lake.metadata.commit import Committer
from headwater.lake.metadata.entries import TableMetadata, new_metadata, now_millis, read_metadata
from headwater.lake.metadata.leases import Leases
from headwater.lake.metadata.manifest import ManifestEntry, Partition
from headwater.lake.metadata.schemas import SchemaManager
from headwater.lake.metadata.snapshot import NO_SNAPSHOT, Snapshot
from headwater.lake.metadata.tags import Tags
from headwater.lake.tables.names import TableIdentifier, naming
from headwater.lake.tables.partitions import partition_folder
from headwater.lake.tables.shape import Shape, shape_of, stored_schema
from headwater.lake.tables.state import TableState
from headwater.model.schema import Field, Schema

_STATES = 8  # kept open, most recently used last


class TableStore:
    """Everything of one table that is on disk. Any thread may use it."""

    def __init__(self, name: TableIdentifier, files: Files, folder: str, *, readers: Readers | None = None) -> None:
        """`readers` keeps data files open beyond the states that read them."""
        self.name = name
        self.files = files
        self.paths = PathFactory(folder)
        self.schemas = SchemaManager(files, self.paths)
        self.committer = Committer(files, self.paths)
        self.tags = Tags(files, self.paths)
        self.leases = Leases(files, self.paths, self.tags)
        self.given_up = 0  # compactions that others crossed
        self._readers = readers
        self._own_cache: BlockCache | None = None
        self._shapes: dict[int, Shape] = {}
        self._states: OrderedDict[tuple[int, int], TableState] = OrderedDict()
        self._last: TableState | None = None  # that was asked for as the newest
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["TableStore"], tuple[TableIdentifier, Files, str]]:
        """A pickle says where the table is; what is known of it is read again."""
        return TableStore, (self.name, self.files, self.paths.folder)

    def shape(self, schema_id: int | None = None) -> Shape:
        """The table by one of its schemas, the latest by default."""
        schema = self.schemas.latest() if schema_id is None else self.schemas.get_schema(schema_id)
        if schema.id not in self._shapes:
            self._shapes[schema.id] = shape_of(schema)
        return self._shapes[schema.id]

    def latest(self) -> TableState:
        """The newest state, by the latest schema."""
        snapshot, shape = self.committer.log.latest(), self.shape()
        last = self._last
        if last is not None and last.snapshot is snapshot and last.shape is shape:
            return last
        self._last = self.state(snapshot, shape)
        return self._last

    def state(self, snapshot: Snapshot | None, shape: Shape) -> TableState:
        """The state of a snapshot, None for the empty one."""
        key = (snapshot.snapshot_id if snapshot else NO_SNAPSHOT, shape.schema.id)
        with self._lock:
            state = self._states.get(key)
            if state is None:
                state = self._states[key] = TableState(
                    snapshot, shape, self.shelf(shape), lambda: self.live(snapshot)
                )
                if len(self._states) > _STATES:
                    self._states.popitem(last=False)
            self._states.move_to_end(key)
        return state

    def live(self, snapshot: Snapshot | None) -> list[ManifestEntry]:
        """The files of a snapshot."""
        return [] if snapshot is None else self.committer.manifests.live(snapshot.manifest_list)

    def shelf(self, shape: Shape) -> Shelf:
        """Return how data files are read by a schema."""
        return Shelf(
            files=self.files,
            path_of=self.paths.data_file,
            codec=shape.codec,
            cache=self._cache(shape.options.cache_size),
            schema_of=self._stored_schema,
            readers=self._readers,
        )

    def _cache(self, size: int) -> BlockCache:
        """The cache of the table's own if it asks for one, else the one that tables share."""
        if not size:
            return shared_cache
        own = self._own_cache
        if own is None or own.capacity != size:
            own = self._own_cache = BlockCache(size)
        return own

    def writer(self, shape: Shape, partition: Partition, bucket: int) -> FileWriter:
        """A writer of data files of one bucket."""
        folder = partition_folder(partition, shape.partition_fields, bucket)
        return FileWriter(self.files, self.paths, shape.stored, shape.options, folder=folder)

    def fields_of(self, schema_id: int) -> dict[int, Field]:
        """The fields of a schema by their ids."""
        return {field.id: field for field in self.schemas.get_schema(schema_id).fields}

    def metadata(self) -> TableMetadata:
        """Identity and progress of the table: the file has the first, schemas and snapshots tell the second."""
        known = read_metadata(self.files, self.paths) or new_metadata()
        schema, snapshot = self.schemas.latest(), self.committer.log.latest()
        return msgspec.structs.replace(
            known,
            modified_millis=max(known.modified_millis, snapshot.timestamp if snapshot else 0),
            current_schema_id=schema.id,
            snapshot_id=snapshot.snapshot_id if snapshot else NO_SNAPSHOT,
        )

    @property
    def table_uuid(self) -> str | None:
        """The identity of the table; None if its metadata file is lost."""
        known = read_metadata(self.files, self.paths)
        return None if known is None else known.table_uuid

    def note_schema(self) -> None:
        """Say in the metadata file which schema is the newest; it is a hint, and may fail."""
        with suppress(StorageError):
            said = msgspec.structs.replace(self.metadata(), modified_millis=now_millis())
            self.files.put(self.paths.metadata, encode_json(said))

    def naming(self) -> AbstractContextManager[None]:
        """Put the name of the table into errors about its columns."""
        return naming(self.name)

    def require(self) -> Schema:
        """The latest schema. RAISES: NotFoundError when the table is gone."""
        try:
            return self.schemas.latest()
        except NotFoundError as err:
            raise NotFoundError(f"there is no table {self.name} any more") from err

    def _stored_schema(self, schema_id: int) -> Schema:
        return stored_schema(self.schemas.get_schema(schema_id))

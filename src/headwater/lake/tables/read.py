"""Reading a table: splits to batches, keys to rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from headwater.errors import NotFoundError, SchemaError, UsageError
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.reads import ScanRequest
from headwater.lake.engine.row import Row
from headwater.lake.engine.types import arrow_schema
from headwater.lake.engine.unmerged_scan import plain_rows
from headwater.lake.tables.plan import ScanPlan, Split
from headwater.lake.tables.routing import place_of
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.state import Place, TableState, reads_of
from headwater.lake.tables.store import TableStore

T = TypeVar("T")
_LOOKS = 5  # at a latest state that another process may be expiring


def result_schema(shape: Shape, columns: Sequence[str]) -> pa.Schema:
    """The Arrow schema of some columns of a table."""
    return arrow_schema(tuple(shape.schema.field(name) for name in columns))


def read_split(store: TableStore, split: Split) -> Iterator[pa.RecordBatch]:
    """The rows of a split that satisfy its predicates."""
    shape = store.shape(split.schema_id)
    schema = result_schema(shape, split.columns)
    batches = _merged(store, shape, split) if shape.is_keyed else _appended(store, shape, split)
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema) if split.columns else batch


def read_plan(
    store: TableStore, plan: ScanPlan, state: TableState, limit: int | None = None, *, past: bool = False
) -> Iterator[pa.RecordBatch]:
    """All rows of a plan, or the first `limit`; the snapshot, of the `past` or not, stays while somebody reads."""
    left = limit
    with store.leases.reading(state.snapshot, past=past) as step:
        for split in plan.splits:
            for batch in read_split(store, split):
                step()
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= len(batch)
                if len(batch):
                    yield batch
                if left == 0:
                    return


def read_latest(
    store: TableStore, plan: Callable[[TableState], ScanPlan], limit: int | None = None
) -> Iterator[pa.RecordBatch]:
    """All rows of a plan of the latest state, or the first `limit`.
    When another process expires that state before a row is given, the newer one is read instead."""
    state = store.latest()
    return _read_newest(store, state, plan(state), plan, limit)


def _read_newest(
    store: TableStore,
    state: TableState,
    planned: ScanPlan,
    plan: Callable[[TableState], ScanPlan],
    limit: int | None,
) -> Iterator[pa.RecordBatch]:
    given = False
    while True:
        try:
            for batch in read_plan(store, planned, state, limit):
                given = True
                yield batch
            return
        except NotFoundError:
            newer = store.latest()
            if given or newer.snapshot_id == state.snapshot_id:
                raise
            state, planned = newer, plan(newer)


def of_latest(store: TableStore, read: Callable[[TableState], T]) -> T:
    """The result of `read` for the latest state; for a newer one when another process expires it meanwhile."""
    looks = 0
    while True:
        state = store.latest()
        try:
            return read(state)
        except NotFoundError:
            looks += store.latest().snapshot_id == state.snapshot_id
            if looks == _LOOKS:
                raise


def get_row(store: TableStore, state: TableState, key: Any) -> Row | None:
    """The row of one key.
    RAISES: SchemaError when the key does not fit, UsageError when the table has no primary key."""
    shape = state.shape
    if not shape.is_keyed:
        require_key(store, shape, "get a row by its key")
    try:
        native = shape.codec.native(key)
    except SchemaError:
        with store.naming():
            raise
    reads = state.reads(place_of(native, shape) if shape.buckets else ((), 0))
    return None if reads is None else reads.get(native)


def get_rows(store: TableStore, state: TableState, keys: Iterable[Any]) -> list[Row | None]:
    """The rows of many keys, in their order.
    RAISES: SchemaError when a key does not fit, UsageError when the table has no primary key."""
    shape = state.shape
    require_key(store, shape, "get a row by its key")
    wanted: dict[Place, list[tuple[int, Any]]] = {}
    found: list[Row | None] = []
    with store.naming():
        for at, key in enumerate(keys):
            native = shape.codec.native(key)
            place = place_of(native, shape) if shape.buckets else ((), 0)
            wanted.setdefault(place, []).append((at, native))
            found.append(None)
    for place, asked in wanted.items():
        reads = state.reads(place)
        if reads is not None:
            rows = reads.multi_get([native for _, native in asked])
            for (at, _), row in zip(asked, rows):
                found[at] = row
    return found


def require_key(store: TableStore, shape: Shape, wish: str) -> None:
    """RAISES: UsageError when the table has no primary key."""
    if not shape.is_keyed:
        raise UsageError(f"cannot {wish}: table {store.name} has no primary key", hint="scan it with a predicate")


def _merged(store: TableStore, shape: Shape, split: Split) -> Iterator[pa.RecordBatch]:
    reads = reads_of(split.files, shape, store.shelf(shape))
    return reads.scan(ScanRequest(list(split.columns), split.bounds.lower, split.bounds.upper, split.where))


def _appended(store: TableStore, shape: Shape, split: Split) -> Iterator[pa.RecordBatch]:
    shelf = store.shelf(shape)
    return plain_rows([OpenFile(shelf, file) for file in split.files], split.columns, where=split.where)


def file_batches(file: OpenFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file of a table without a key, in order, in batches of some size."""
    return plain_rows([file], names)

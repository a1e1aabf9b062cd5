"""Changes of rows in a table with a primary key: UPDATE and MERGE write the rows that change, and delete old keys.
A row that keeps its key replaces the row that was read. A row with a new key is *fresh*: its key must be free, that
is, no other row of the statement has it, and no row of the table has it that the statement does not delete. Otherwise
one of two rows would be lost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import SchemaError
from headwater.lake.engine.batch import RowKind
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import Keys, NativeKey, concat_keys
from headwater.lake.metadata.commit import Guard, PlacedFile, TableChange
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables.conflicts import keys_unchanged
from headwater.lake.tables.convert import conforming
from headwater.lake.tables.shape import UNDECIDED, Shape
from headwater.lake.tables.state import Place, TableState
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.writes import CommitFacts, add_files, commit, decide_buckets, discard, key_tables


@dataclass(frozen=True, slots=True)
class EditFiles:
    """The files of one part of a statement: deletes of keys, rows that keep their key, rows with a new key."""

    deletes: tuple[PlacedFile, ...] = ()
    kept: tuple[PlacedFile, ...] = ()
    fresh: tuple[PlacedFile, ...] = ()

    def all(self) -> tuple[PlacedFile, ...]:
        return (*self.deletes, *self.kept, *self.fresh)


def write_edits(store: TableStore, shape: Shape, *, deletes: Any, kept: pa.Table, fresh: pa.Table) -> EditFiles:
    """Write one part of a statement to files that no snapshot has yet; on failure they are removed.
    RAISES: SchemaError when a row does not fit, or two rows have one key."""
    files: tuple[list[PlacedFile], list[PlacedFile], list[PlacedFile]] = ([], [], [])
    try:
        with store.naming():
            add_files(store, shape, key_tables(deletes, shape), files[0], kind=RowKind.DELETE)
            for rows, added in ((kept, files[1]), (fresh, files[2])):
                add_files(store, shape, conforming(rows, shape.schema), added)
                if sum(placed.file.rows for placed in added) < rows.num_rows:
                    raise _shared(_first_repeated(rows, shape), shape)
    except BaseException:
        discard(store, [placed for each in files for placed in each])
        raise
    return EditFiles(*map(tuple, files))


def change_rows(
    store: TableStore,
    base: TableState,
    *,
    deletes: Any,
    kept: pa.Table,
    fresh: pa.Table,
    facts: CommitFacts,
    guard: Guard | None = None,
) -> Snapshot:
    """Commit the changes that a statement made from one state: deleted keys, rows that keep their key, fresh rows.
    `guard` refuses more than commits that touch the same keys.
    RAISES: SchemaError when two rows would have one key, CommitConflictError when others changed one of the rows
    since they were read; then nothing is changed."""
    shape = base.shape
    if shape.buckets == UNDECIDED:
        shape = decide_buckets(store, fresh.num_rows)
    files = write_edits(store, shape, deletes=deletes, kept=kept, fresh=fresh)
    try:
        refuse_shared_keys(store, base, [files])
    except BaseException:
        discard(store, files.all())
        raise
    change = TableChange(
        *(facts.operation, facts.user, facts.id, shape.schema.id),
        added=files.all(),
        base=max(0, base.snapshot_id),
        guard=guard or keys_unchanged(store, shape, files.all()),
        origin=facts.origin,
    )
    return commit(store, change)


def refuse_shared_keys(store: TableStore, base: TableState, parts: Sequence[EditFiles]) -> None:
    """Check that every fresh row has a key of its own. REQUIRES: `base` is the state that the statement read.
    RAISES: SchemaError naming a key that two rows would have."""
    shape = base.shape
    fresh = _by_place(placed for part in parts for placed in part.fresh)
    if not fresh:
        return
    kept = _by_place(placed for part in parts for placed in part.kept)
    deletes = _by_place(placed for part in parts for placed in part.deletes)
    with store.naming():
        for place, files in fresh.items():
            keys = concat_keys([batch.keys for file in _opened(files, base) for batch in file.batches(None, None)])
            keys = keys.take(keys.sort_order())
            repeated = ~keys.differ_from_next()
            if repeated.any():
                raise _shared(keys.native(int(repeated.argmax())), shape)
            for file in _opened(kept.get(place, ()), base):
                for batch in file.find_many(keys):
                    raise _shared(batch.keys.native(0), shape)
            reads = base.reads(place)
            taken = reads.rows_of(keys) if reads is not None else None
            if taken is not None:
                gone = {key for file in _opened(deletes.get(place, ()), base) for key in _found(file, taken.keys)}
                for key in _natives(taken.keys):
                    if key not in gone:
                        raise _shared(key, shape)


def _by_place(files: Iterable[PlacedFile]) -> dict[Place, list[PlacedFile]]:
    found: dict[Place, list[PlacedFile]] = {}
    for placed in files:
        found.setdefault((placed.partition, placed.bucket), []).append(placed)
    return found


def _opened(files: Iterable[PlacedFile], base: TableState) -> Iterator[OpenFile]:
    return (OpenFile(base.shelf, placed.file) for placed in files)


def _found(file: OpenFile, keys: Keys) -> Iterator[NativeKey]:
    for batch in file.find_many(keys):
        yield from _natives(batch.keys)


def _natives(keys: Keys) -> Iterator[NativeKey]:
    return (keys.native(at) for at in range(len(keys)))


def _first_repeated(rows: pa.Table, shape: Shape) -> NativeKey:
    keys = concat_keys(
        [shape.codec.encode(batch) for part in conforming(rows, shape.schema) for batch in part.to_batches()]
    )
    keys = keys.take(keys.sort_order())
    return keys.native(int((~keys.differ_from_next()).argmax()))


def _shared(key: NativeKey, shape: Shape) -> SchemaError:
    values = zip(shape.schema.primary_keys, shape.codec.values(key))
    shown = ", ".join(f"{name} = {value}" for name, value in values)
    return SchemaError(
        f"two rows would have the key {shown}", hint="nothing was changed; give each row a key of its own"
    )

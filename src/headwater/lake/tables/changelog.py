"""The changelog between two snapshots, by comparing their rows.
A changelog has the columns of the table and `_kind`: +I a row that is new, -U and +U a row before and after a change,
-D a row that is gone. Only buckets whose files differ are read, and of those only the keys that the commits between
wrote, when they are few, or the range of keys that these files span, a piece at a time: memory is bounded by the size
of a piece. A table without a key has no updates: rows are
counted, and those there are more of came, those there are fewer of went."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import NotFoundError
from headwater.lake.engine.batch import to_rows
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.keys import Keys, NativeKey, concat_keys, keys_of
from headwater.lake.engine.reads import ScanRequest
from headwater.lake.engine.scan import cut_points
from headwater.lake.engine.temporal import with_numbers
from headwater.lake.engine.version import DataFile
from headwater.lake.metadata.manifest import EntryKind
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables.read import file_batches, result_schema
from headwater.lake.tables.shape import Shape
from headwater.lake.tables.state import Place, TableState, reads_of
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.uncommon import uncommon_rows
from headwater.lazy import arrow_compute as pc

KIND = "_kind"
_FEW = 10  # keys are looked up one by one when at most one row in so many was written
Positions = npt.NDArray[np.int64]


def changes(
    store: TableStore, before: TableState, after: TableState, places: Sequence[Place] | None = None
) -> Iterator[pa.RecordBatch]:
    """The changelog from one state to another, of some buckets or all, read by the schema of the later."""
    schema = changelog_schema(after.shape)
    for place in changed_places(before, after) if places is None else places:
        tables: Iterator[pa.Table]
        if after.shape.is_keyed:
            tables = (_keyed_changes(compared(store, piece)) for piece in pieces(store, before, after, place))
        else:
            tables = _counted_changes(store, before, after, place)
        for table in tables:
            if table.num_rows:
                yield from table.cast(schema).to_batches()


def changelog_schema(shape: Shape) -> pa.Schema:
    """The Arrow schema of a changelog."""
    return result_schema(shape, shape.schema.names).append(pa.field(KIND, pa.string(), nullable=False))


def diff(store: TableStore, before: TableState, after: TableState) -> pa.Table:
    """Every key whose row differs: the key, `_kind` (+I, U, -D), and the row `before` and `after`."""
    rows = result_schema(after.shape, after.shape.schema.names)
    image = pa.struct([field.with_nullable(True) for field in rows])
    keys = [rows.field(name) for name in after.shape.schema.primary_keys]
    schema = pa.schema([*keys, pa.field(KIND, pa.string()), pa.field("before", image), pa.field("after", image)])
    parts = []
    for place in changed_places(before, after):
        for piece in pieces(store, before, after, place):
            old, new, (gone, changed, came) = compared(store, piece)
            for kind, left, right in (("-D", gone, None), ("U", changed[0], changed[1]), ("+I", None, came)):
                count = len(left if left is not None else right)  # type: ignore[arg-type]
                if count:
                    parts.append(_images(kind, (old, left), (new, right), schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def changed_places(before: TableState, after: TableState) -> list[Place]:
    """The buckets whose files differ."""

    def names(state: TableState, place: Place) -> set[str]:
        return {file.name for file in state.places.get(place, ())}

    places = {**before.places, **after.places}
    return sorted((place for place in places if names(before, place) != names(after, place)), key=repr)


@dataclass(frozen=True, slots=True)
class ComparedRange:
    """A range of keys of one bucket, in two states."""

    shape: Shape
    names: tuple[str, ...]  # of the columns that are compared; the key is among them
    before: tuple[DataFile, ...]
    after: tuple[DataFile, ...]
    lower: NativeKey | None = None
    upper: NativeKey | None = None
    keys: Keys | None = None  # the only keys that can differ, where they are known


def pieces(
    store: TableStore, before: TableState, after: TableState, place: Place, columns: Sequence[str] | None = None
) -> Iterator[ComparedRange]:
    """The range of keys in which a bucket can differ, cut into pieces of some size. REQUIRES: a table with a key."""
    shape, shelf = after.shape, store.shelf(after.shape)
    needed = {*(shape.schema.names if columns is None else columns), *shape.schema.primary_keys}
    names = tuple(name for name in shape.schema.names if name in needed)
    old, new = ({file.name: file for file in state.places.get(place, ())} for state in (before, after))
    written = _written_keys(store, before, after, place)
    if written is not None:
        if len(written):
            yield ComparedRange(shape, names, tuple(old.values()), tuple(new.values()), keys=written)
        return
    differ = [OpenFile(shelf, file) for name, file in (old | new).items() if (name in old) != (name in new)]
    if not differ:
        return
    lower, upper = min(file.min_key for file in differ), max(file.max_key for file in differ)
    inside = [OpenFile(shelf, file) for file in (old | new).values()]
    inside = [file for file in inside if file.min_key <= upper and file.max_key >= lower]  # type: ignore[operator]
    files = tuple(old.values()), tuple(new.values())
    for cut in (*cut_points(inside, lower, upper), upper):
        if lower <= cut:  # type: ignore[operator]
            yield ComparedRange(shape, names, *files, lower, cut)
            lower = cut + 1 if isinstance(cut, int) else cut + b"\0"


def _written_keys(store: TableStore, before: TableState, after: TableState, place: Place) -> Keys | None:
    """The keys that commits between two states wrote to a bucket, sorted; None when they are many, or not known."""
    log, rows, files = store.committer.log, 0, []
    if before.snapshot is None or before.snapshot_id > after.snapshot_id:
        return None
    most = sum(file.rows for file in after.places.get(place, ())) // _FEW
    try:
        for id in range(before.snapshot_id + 1, after.snapshot_id + 1):
            snapshot = log.get(id)
            if snapshot.operation is Operation.COMPACT:
                continue  # the same rows in other files
            for entry in store.committer.delta(snapshot):
                if (entry.partition, entry.bucket) != place:
                    continue
                rows += entry.file.rows
                if entry.kind is EntryKind.DELETE or rows > most:
                    return None
                files.append(entry.file)
        shelf = store.shelf(after.shape)
        found = [batch.keys for file in files for batch in OpenFile(shelf, file).batches(None, None, ())]
    except NotFoundError:  # expired meanwhile
        return None
    if not found:
        return keys_of([], number_keys=after.shape.codec.is_number)
    keys = concat_keys(found)
    keys = keys.take(keys.sort_order())
    return keys.take(np.flatnonzero(keys.differ_from_next()))


def _images(
    kind: str, old: tuple[pa.Table, Positions | None], new: tuple[pa.Table, Positions | None], schema: pa.Schema
) -> pa.Table:
    taken = [None if at is None else rows.take(pa.array(at)) for rows, at in (old, new)]
    known = taken[1] if taken[1] is not None else taken[0]
    assert known is not None
    images = [_image(rows, known.num_rows, schema.field("before").type) for rows in taken]
    keys = [known.column(name) for name in schema.names[: schema.names.index(KIND)]]
    kinds = pa.array([kind] * known.num_rows, pa.string())
    return pa.table([*keys, kinds, *images], schema=schema)


def _image(rows: pa.Table | None, count: int, type: pa.DataType) -> pa.Array:
    return pa.nulls(count, type) if rows is None else rows.to_struct_array().combine_chunks().cast(type)


Compared: TypeAlias = tuple[pa.Table, pa.Table, tuple[Positions, tuple[Positions, Positions], Positions]]


def _keyed_changes(compared: Compared) -> pa.Table:
    old, new, (gone, changed, came) = compared
    parts = [
        _labelled(old.take(pa.array(gone)), "-D"),
        _labelled(old.take(pa.array(changed[0])), "-U"),
        _labelled(new.take(pa.array(changed[1])), "+U"),
        _labelled(new.take(pa.array(came)), "+I"),
    ]
    return pa.concat_tables(parts)


def _labelled(rows: pa.Table, kind: str) -> pa.Table:
    return rows.append_column(KIND, pa.array([kind] * rows.num_rows, pa.string()))


def compared(store: TableStore, piece: ComparedRange) -> Compared:
    """The rows of a piece in both states, and where those are that went, changed in its columns, and came."""
    old, new = (_rows(store, piece, files) for files in (piece.before, piece.after))
    old_keys, new_keys = _keys(old, piece.shape), _keys(new, piece.shape)
    if old_keys is None or new_keys is None:
        nothing = np.zeros(0, np.int64)
        return old, new, (np.arange(old.num_rows), (nothing, nothing), np.arange(new.num_rows))
    at = new_keys.find(old_keys)  # for each old row, where its key is in the new state
    gone = np.flatnonzero(at < 0)
    both_old = np.flatnonzero(at >= 0)
    both_new = at[both_old]
    came = np.flatnonzero(np.bincount(both_new, minlength=new.num_rows) == 0)
    differ = _differ(old.take(pa.array(both_old)), new.take(pa.array(both_new)))
    return old, new, (gone, (both_old[differ], both_new[differ]), came)


def _rows(store: TableStore, piece: ComparedRange, files: tuple[DataFile, ...]) -> pa.Table:
    """The merged rows of a piece, by a schema that may be later than the state's own."""
    shape = piece.shape
    reads, names = reads_of(files, shape, store.shelf(shape)), list(piece.names)
    schema = pa.schema([field.with_nullable(True) for field in result_schema(shape, names)])
    if not files:
        return schema.empty_table()
    if piece.keys is not None:
        found = reads.rows_of(piece.keys, names)
        batches = [to_rows(found, shape.codec, names)] if found is not None else []
    else:
        batches = list(reads.scan(ScanRequest(names, piece.lower, piece.upper)))
    return pa.Table.from_batches(batches, schema).combine_chunks()


def _keys(rows: pa.Table, shape: Shape) -> Keys | None:
    return shape.codec.encode(rows.to_batches()[0]) if rows.num_rows else None


def _differ(old: pa.Table, new: pa.Table) -> npt.NDArray[np.bool_]:
    """For each row, whether a column has another value; two nulls are the same, and so are two NaNs."""
    differ = np.zeros(old.num_rows, np.bool_)
    for a, b in zip(old.columns, new.columns):
        differ |= column_differs(a.combine_chunks(), b.combine_chunks())
    return differ


def column_differs(a: pa.Array, b: pa.Array) -> npt.NDArray[np.bool_]:
    """For each pair of values, whether they differ; two nulls are the same, and so are two NaNs."""
    if pa.types.is_nested(a.type):
        plain = [each.cast(with_numbers(each.type)).to_pylist() for each in (a, b)]
        return np.array([repr(left) != repr(right) for left, right in zip(*plain)], np.bool_)  # NaN equals itself
    unequal = pc.fill_null(pc.not_equal(a, b), False).to_numpy(zero_copy_only=False)
    nulls = [each.is_null().to_numpy(zero_copy_only=False) for each in (a, b)]
    result: npt.NDArray[np.bool_] = unequal | (nulls[0] != nulls[1])
    if pa.types.is_floating(a.type):
        nans = pc.and_(pc.is_nan(a), pc.is_nan(b))
        result &= ~pc.fill_null(nans, False).to_numpy(zero_copy_only=False)
    return result


def _counted_changes(store: TableStore, before: TableState, after: TableState, place: Place) -> Iterator[pa.Table]:
    """The changes of a bucket without keys: file by file while files only came, else all of them counted."""
    shape = after.shape
    went, arrived = differing_files(before, after, place)
    if not went:
        yield from (_labelled(file_rows(store, shape, [file]), "+I") for file in arrived)
        return
    gone, came = uncommon_rows(file_rows(store, shape, went), file_rows(store, shape, arrived))
    yield pa.concat_tables([_labelled(gone, "-D"), _labelled(came, "+I")])


def differing_files(before: TableState, after: TableState, place: Place) -> tuple[list[DataFile], list[DataFile]]:
    """The files of a bucket that are gone, and those that came."""
    old, new = ({file.name: file for file in state.places.get(place, ())} for state in (before, after))
    return tuple([some[name] for name in some if name not in other] for some, other in ((old, new), (new, old)))  # type: ignore[return-value]


def file_rows(
    store: TableStore, shape: Shape, files: Sequence[DataFile], columns: Sequence[str] | None = None
) -> pa.Table:
    """The rows of files of a table without a key, with some columns or all."""
    names = list(shape.schema.names) if columns is None else list(columns)
    schema = pa.schema([field.with_nullable(True) for field in result_schema(shape, names)])
    shelf = store.shelf(shape)
    batches = [batch for file in files for batch in file_batches(OpenFile(shelf, file), names)]
    return pa.Table.from_batches(batches, schema)

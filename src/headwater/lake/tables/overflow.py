"""Refusing a commit, or another function, that would take a sum or product out of the range of its column.
The check looks at the state that the commit is to be added to, in every attempt anew, so that of two writers which
bring a value near its end only the first succeeds."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import msgspec

from headwater.errors import SchemaChangeError
from headwater.lake.engine.data_files import OpenFile
from headwater.lake.engine.headroom import Headroom
from headwater.lake.engine.merge import aggregated_column
from headwater.lake.engine.reads import Reads
from headwater.lake.engine.version import DataFile, Version
from headwater.lake.metadata.commit import TableChange
from headwater.lake.metadata.schema_change import SchemaChange, SetOption, apply_changes
from headwater.lake.metadata.snapshot import Snapshot
from headwater.lake.tables.shape import Shape, shape_of
from headwater.lake.tables.state import Place, Still, TableState
from headwater.lake.tables.store import TableStore
from headwater.model.schema import Field


def refuse_overflow(store: TableStore, change: TableChange) -> Callable[[Snapshot | None], None] | None:
    """The check of a change, None for a table where nothing can overflow."""
    if not change.added or not _headroom(store.shape()).is_needed:
        return None

    def check(latest: Snapshot | None) -> None:
        """RAISES: ValueOverflowError."""
        shape = store.shape()  # the latest: a wider column has room for rows of older schemas, too
        state = store.state(latest, shape)
        for added, kept in _by_place(change, state):
            _check_place(added, kept, shape, state)

    return check


def refuse_new_sums(store: TableStore, changes: Sequence[SchemaChange]) -> None:
    """Refuse a function whose result would depend on whether rows of one key were merged before.
    RAISES: SchemaChangeError when it might take rows not merged yet out of their range, or would count the default of
    a column once for every row that was written before the column."""
    named = {change.name for change in changes if isinstance(change, SetOption)}
    if not any(aggregated_column(name) for name in named):
        return
    state = store.latest()
    shape = shape_of(apply_changes(state.shape.schema, changes))
    headroom = _headroom(shape)
    added = _counted_defaults(shape, named)
    for files in state.places.values():
        runs = Version(files=files).runs()
        for column in added:
            if sum(any(column.id not in _ids(file, state) for file in run.files) for run in runs) > 1:
                raise SchemaChangeError(
                    f"rows older than column `{column.name}` would have its default counted more than once",
                    hint="compact the table first: then each key has one row",
                )
        if not headroom.suffices(headroom.sizes_of_run(run, state.shelf.schema_of) for run in runs):
            raise SchemaChangeError(
                "by the new function, rows of one key might be merged to a value that does not fit",
                hint="compact the table first: then each key has one row",
            )


def _counted_defaults(shape: Shape, named: set[str]) -> list[Field]:
    """The columns with a default whose function was named, and makes of two defaults something else than one."""
    functions = {column: shape.rule.functions.get(column) for name in named if (column := aggregated_column(name))}
    return [
        each
        for each in shape.schema.fields
        if each.default is not None and functions.get(each.name) in ("sum", "product", "listagg", "collect")
    ]


def _ids(file: DataFile, state: TableState) -> set[int]:
    return {each.id for each in state.shelf.schema_of(file.schema_id).fields}


def _headroom(shape: Shape) -> Headroom:
    return Headroom(shape.stored, shape.rule)


def _by_place(change: TableChange, state: TableState) -> Iterator[tuple[list[DataFile], list[DataFile]]]:
    """For each bucket, the files that come, newest last, and those that stay."""
    gone = {placed.file.name for placed in change.removed}
    places: dict[Place, list[DataFile]] = {}
    for placed in change.added:
        places.setdefault((placed.partition, placed.bucket), []).append(placed.file)
    for place, files in places.items():
        is_replaced = change.replaces and (change.replaced is None or place[0] in change.replaced)
        there = () if is_replaced else state.places.get(place, ())
        newest = max((file.sequence for file in there), default=0)
        added = [msgspec.structs.replace(file, sequence=newest + at) for at, file in enumerate(files, 1)]
        yield added, [file for file in there if file.name not in gone]


def _check_place(added: list[DataFile], kept: list[DataFile], shape: Shape, state: TableState) -> None:
    headroom, files = _headroom(shape), (*kept, *added)
    runs = Version(files=files).runs()
    if headroom.suffices(headroom.sizes_of_run(run, state.shelf.schema_of) for run in runs):
        return
    reads = Reads(Still(state.shelf, files), shape.codec, shape.stored, shape.rule.as_strict(shape.codec))
    opened = (OpenFile(state.shelf, file) for file in added)
    for batch in chain.from_iterable(file.batches(None, None) for file in opened):
        reads.rows_of(batch.keys)

"""Tables that DuckDB reads itself: those whose files are local Parquet and need no merge.
A query gets a view over the files that its plan leaves, with their columns found by field id. DuckDB takes the bytes
of a file as they are, so what a query can read of it is compared with our checksums first, once in a session."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread

import pyarrow as pa

from headwater.errors import HeadwaterError
from headwater.files import LocalFiles
from headwater.lake.engine.data_files import Readers, open_data
from headwater.lake.engine.file_stats import on_statistics
from headwater.lake.engine.formats.columnar import ColumnarReader
from headwater.lake.engine.version import DataFile
from headwater.lake.tables.plan import ScanPlan
from headwater.lake.tables.read import result_schema
from headwater.model import types as dt
from headwater.model.schema import Field
from headwater.query.names import Pinned
from headwater.query.parse import quoted
from headwater.query.types import duckdb_type
from headwater.query.values import default_text

MOST_OPEN = 512
_PATTERN = frozenset("*?[]{}\0")  # that DuckDB would take for a pattern of file names
_WRITTEN: dict[dt.DataType, type] = {
    dt.BOOLEAN: bool,
    dt.TINYINT: int,
    dt.SMALLINT: int,
    dt.INT: int,
    dt.BIGINT: int,
    dt.DOUBLE: float,
    dt.STRING: str,
}
_STEP = 10.0  # seconds between two looks at the lease of a long query


@dataclass(frozen=True)
class ParquetView:
    """A table of a query as a view over files."""

    pinned: Pinned
    text: str
    files: tuple[DataFile, ...]

    @property
    def schema(self) -> pa.Schema:
        return result_schema(self.pinned.state.shape, self.pinned.schema.names)

    def recheck(self) -> None:
        """Read all files again. RAISES: NotFoundError or CorruptFileError for the first that cannot be."""
        shelf = self.pinned.state.shelf
        for file in self.files:
            reader = open_data(shelf, file)
            for block in reader.blocks_between(None, None):
                reader.load(block)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the snapshot while DuckDB reads it, however long that takes."""
        with self.pinned.table.store.leases.reading(self.pinned.snapshot, past=self.pinned.is_past) as step:
            _renewals.begin(step)
            try:
                yield
            finally:
                _renewals.end(step)


class _Renewals:
    """Looks after the leases of queries that DuckDB runs, from one thread for all of them."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []
        self._lock = Lock()
        self._thread: Thread | None = None

    def begin(self, step: Callable[[], None]) -> None:
        with self._lock:
            self._steps.append(step)
            if self._thread is None or not self._thread.is_alive():  # a process that was forked has none
                self._thread = Thread(target=self._run, daemon=True)
                self._thread.start()

    def end(self, step: Callable[[], None]) -> None:
        with self._lock:
            self._steps.remove(step)

    def _run(self) -> None:
        while True:
            time.sleep(_STEP)
            with self._lock:
                for step in self._steps:
                    with suppress(HeadwaterError):  # the query goes on without a lease
                        step()


_renewals = _Renewals()


def hand_over(
    pinned: Pinned, plan: ScanPlan, mentioned: Collection[str] | None, readers: Readers
) -> ParquetView | None:
    """A view over the files of a plan; None if DuckDB cannot read them as we would.
    `mentioned` has the names in the query, folded; None stands for all columns. RAISES: NotFoundError,
    CorruptFileError when a file is missing, or damaged where the query reads it."""
    files = tuple(file for split in plan.splits for file in split.files)
    store = pinned.table.store
    if not files or not _are_plain(pinned, files):
        return None
    parts = []
    for schema_id in sorted({file.schema_id for file in files}):
        group = [file for file in files if file.schema_id == schema_id]
        columns = _projection(pinned.schema.fields, store.fields_of(schema_id))
        if columns is None or not _is_checked(pinned, plan, group, mentioned, readers):
            return None
        paths = (f"{store.files.url}/{store.paths.data_file(file.name)}" for file in group)
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        nan = str(_can_have_nan(group, store.fields_of(schema_id))).lower()
        settings = f"hive_partitioning = false, can_have_nan = {nan}"
        parts.append(f"SELECT {', '.join(columns)} FROM read_parquet([{listed}], {settings})")
    return ParquetView(pinned, " UNION ALL ".join(parts), files)


def _are_plain(pinned: Pinned, files: Sequence[DataFile]) -> bool:
    """Return whether DuckDB can open the files by their names, and tell their columns apart."""
    store, names = pinned.table.store, pinned.schema.names
    if pinned.state.shape.is_keyed or not isinstance(store.files, LocalFiles):
        return False
    if any(file.format != "parquet" or file.deletes for file in files):
        return False
    paths = set(store.files.url).union(store.paths.folder, *(file.name for file in files))
    clear = len({name.casefold() for name in names}) == len(names) and not any("\0" in name for name in names)
    return clear and not paths & _PATTERN


def _can_have_nan(files: Sequence[DataFile], written: dict[int, Field]) -> bool:
    """Return whether a number may be NaN, which statistics of Parquet leave out, and DuckDB then would."""
    for field in written.values():
        if field.type in (dt.FLOAT, dt.DOUBLE):
            known = [(file.stats.get(field.name), file.rows) for file in files]
            if any(stats is None or (stats.max is None and stats.nulls < rows) for stats, rows in known):
                return True
        elif not isinstance(field.type, dt.Primitive | dt.Decimal):
            return True
    return False


def _is_checked(
    pinned: Pinned, plan: ScanPlan, files: Sequence[DataFile], mentioned: Collection[str] | None, readers: Readers
) -> bool:
    """Return whether all files of one schema have checksums, and what the query reads of them matches."""
    store, schema = pinned.table.store, pinned.schema
    written = store.fields_of(files[0].schema_id)
    asked = [field for field in schema.fields if mentioned is None or field.name.casefold() in mentioned]
    names = [written[field.id].name for field in asked if field.id in written]
    where = on_statistics(plan.where, schema, written)
    for file in files:
        reader = readers.get(file.name, partial(open_data, pinned.state.shelf, file))
        if not isinstance(reader, ColumnarReader) or not reader.check_for(names, where):
            return False
    return True


def _projection(wanted: Sequence[Field], written: dict[int, Field]) -> list[str] | None:
    """The columns of a table out of files with other fields; None where DuckDB's cast may not be ours."""
    columns = []
    for field in wanted:
        old = written.get(field.id)
        name = quoted(field.name)
        if old is None:
            if field.default is not None and type(field.default) is not _WRITTEN.get(field.type):
                return None
            columns.append(f"{default_text(field)} AS {name}")
        elif old.type == field.type:
            columns.append(name if old.name == field.name else f"{quoted(old.name)} AS {name}")
        elif isinstance(old.type, dt.Primitive | dt.Decimal) and isinstance(field.type, dt.Primitive | dt.Decimal):
            columns.append(f"CAST({quoted(old.name)} AS {duckdb_type(field.type)}) AS {name}")
        else:
            return None
    return columns

"""The options of `format("headwater")`, by the names people write them with.

Spark hands options over as text, in lower case or as written: names are compared without case. Options that begin
with `storage.` go to the object store (`storage.endpoint`, `storage.region`, …).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import msgspec

from headwater.config import load
from headwater.errors import HeadwaterError, UsageError
from headwater.lake.engine.data_files import Readers
from headwater.lake.metadata.snapshot import Origin
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.names import parse_name
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.time_travel import At
from headwater.text import nearest

STORAGE = "storage."
SPLIT_BYTES = 256 << 20

_READ: tuple[str, ...] = (
    "columns",
    "snapshot",
    "timestamp",
    "tag",
    "at",
    "from",
    "to",
    "changelog",
    "ignore-deletes",
    "pushdown",
)
_READ += (
    "filters",
    "aggregates",
    "schema-id",
    "group",
    "split-bytes",
    "parallelism",
    "columnar",
    "max-snapshots-per-trigger",
    "lease-seconds",
)
_WRITE: tuple[str, ...] = (
    "create",
    "primary-key",
    "partition-by",
    "overwrite",
    "replaces",
    "base",
    "operation",
    "kinds",
)
_WRITE += ("commit-user", "commit-id", "headwater.origin", "expected-rows", "plan", "folder")
NAMES = ("warehouse", "table", "path", *_READ, *_WRITE)


@dataclass(frozen=True, slots=True)
class TablePlace:
    """The address of a table: a warehouse, how to reach it, and a name in it. Picklable."""

    warehouse: str
    table: str
    storage: tuple[tuple[str, str], ...] = ()

    def open_warehouse(self) -> Warehouse:
        return Warehouse(self.warehouse, dict(self.storage) or None)

    def open(self) -> Table:
        """RAISES: NotFoundError with the nearest name."""
        return self.open_warehouse().table(self.table)


@dataclass(frozen=True, slots=True)
class StoredAt:
    """The location of a table's files; with its identity, so that a table of the same name made later is another."""

    place: TablePlace
    folder: str
    identity: str

    def open(self) -> TableStore:
        """The table's files, opened once per process: a Python worker of Spark lives for many tasks."""
        return _open_store(self)


def stored_at(place: TablePlace, table: Table) -> StoredAt:
    """Return where the files of an open table are."""
    return StoredAt(place, table.store.paths.folder, table.metadata.table_uuid)


_readers = Readers(64)


@lru_cache(maxsize=64)
def _open_store(at: StoredAt) -> TableStore:
    return TableStore(parse_name(at.place.table), at.place.open_warehouse().files, at.folder, readers=_readers)


class Options:
    """Options without regard to case.

    RAISES: UsageError for one that there is not, with the nearest.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = {name.lower(): str(value) for name, value in given.items()}
        for name in self._given:
            if name not in NAMES and not name.startswith((STORAGE, "checkpointlocation", "__")):
                close = nearest(name, NAMES)
                raise UsageError(
                    f"`{name}` is not an option of headwater tables",
                    hint=f"did you mean `{close}`?" if close else f"options: {', '.join(NAMES)}, storage.*",
                )

    def text(self, name: str) -> str | None:
        return self._given.get(name)

    def flag(self, name: str) -> bool:
        value = self._given.get(name, "false").lower()
        if value not in ("true", "false"):
            raise UsageError(f"option `{name}` cannot be `{value}`", hint="true or false")
        return value == "true"

    def number(self, name: str, default: int) -> int:
        try:
            return int(self._given.get(name, default))
        except ValueError as err:
            raise UsageError(f"option `{name}` cannot be `{self._given[name]}`: it is a number") from err

    def names(self, name: str) -> tuple[str, ...]:
        """A list of names with commas between them."""
        return tuple(each.strip() for each in self._given.get(name, "").split(",") if each.strip())

    def place(self) -> TablePlace:
        """The table that the options name. `path` may stand for both: `WAREHOUSE/DATABASE/TABLE`.

        Without a warehouse it is that of the settings (`HEADWATER_WAREHOUSE`, `headwater.toml`).
        """
        warehouse, table = self._given.get("warehouse"), self._given.get("table")
        if table is None and "path" in self._given:
            parts = self._given["path"].rstrip("/").rsplit("/", 2)
            if len(parts) == 3:
                warehouse, table = parts[0], f"{parts[1]}.{parts[2]}"
        if not table:
            raise UsageError("no table is named", hint='.option("table", "db.name")')
        storage = {name: value for name, value in self._given.items() if name.startswith(STORAGE)}
        pairs = tuple(sorted((name.removeprefix(STORAGE), value) for name, value in storage.items()))
        return TablePlace(whole_url(warehouse or load().settings.warehouse), str(parse_name(table)), pairs)

    def at(self) -> At | None:
        """The moment of the table that is asked for."""
        said = [name for name in ("snapshot", "timestamp", "tag", "at") if name in self._given]
        if len(said) > 1:
            raise UsageError(f"options `{said[0]}` and `{said[1]}` both say when")
        if not said:
            return None
        text = self._given[said[0]]
        return int(text) if said[0] == "snapshot" and text.isdigit() else text

    def origin(self) -> Origin | None:
        """Return what the rows to write were made from, as JSON."""
        text = self._given.get("headwater.origin")
        if text is None:
            return None
        try:
            return msgspec.json.decode(text, type=Origin)
        except msgspec.DecodeError as err:
            raise UsageError(f"option `headwater.origin` is not an origin: {err}") from err


@contextmanager
def hinted() -> Iterator[None]:
    """Put the hint of an error into its message: of what happens in a Python worker, Spark shows the message only."""
    try:
        yield
    except HeadwaterError as err:
        if err.hint is None:
            raise
        raise type(err)(f"{err.message} ({err.hint})") from err


def whole_url(location: str) -> str:
    """A location that means the same in every process, whatever its working folder."""
    return location if "://" in location else str(Path(location).absolute())

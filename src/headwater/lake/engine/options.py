"""The options of a table's storage, by the names tables write them with."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import Enum
from typing import Any

from headwater.errors import SchemaError
from headwater.lake.engine.sst.format import Compression
from headwater.text import suggest


class Fsync(Enum):
    """The moments at which the write-ahead log is forced to disk."""

    ALWAYS = "always"  # before a put returns
    INTERVAL = "interval"  # some milliseconds later
    NONE = "none"  # when the operating system sees fit


class FileFormat(Enum):
    """The formats of data files."""

    SST = "sst"
    PARQUET = "parquet"
    ORC = "orc"
    JSON = "json"


class CompactionStyle(Enum):
    """The rule that chooses sorted runs for compaction."""

    UNIVERSAL = "universal"
    LEVELED = "leveled"


def _option(default: Any, name: str, doc: str, used_by: str) -> Any:
    return field(default=default, metadata={"name": name, "doc": doc, "used_by": used_by})


_ROWS = "rows put one by one"
_WRITES = "all writes"
_UPKEEP = "compaction"
_READS = "reads by key"


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """The storage options of one tree. Sizes are in bytes."""

    memtable_size: int = _option(64 << 20, "memtable.size", "Memory for rows that are not in a data file yet.", _ROWS)
    flush_threshold: float = _option(
        0.8, "memtable.flush-threshold", "The part of `memtable.size` at which rows are flushed.", _ROWS
    )
    max_memtables: int = _option(3, "memtable.max", "Memtables at once; a write waits for one more.", _ROWS)
    flush_threads: int = _option(1, "flush.threads", "Memtables that are written at the same time.", _ROWS)
    wal_enabled: bool = _option(
        True, "wal.enabled", "Keep a write-ahead log; without one, rows are durable when they are flushed.", _ROWS
    )
    wal_fsync: Fsync = _option(Fsync.ALWAYS, "wal.fsync", "When the write-ahead log is forced to disk.", _ROWS)
    wal_interval_millis: int = _option(
        100, "wal.fsync-interval", "Milliseconds between two syncs, with `wal.fsync = interval`.", _ROWS
    )
    file_format: FileFormat = _option(
        FileFormat.SST,
        "file.format",
        "The format of new data files; of a table without a primary key, `parquet`.",
        _WRITES,
    )
    block_size: int = _option(
        1 << 20, "file.block-size", "Bytes of a block before compression; by default at least 4,096 rows.", _WRITES
    )
    compression: Compression = _option(
        Compression.ZSTD,
        "file.compression",
        "The codec of blocks; with `zstd`, Parquet files have `snappy` for all but text.",
        _WRITES,
    )
    top_compression: Compression = _option(
        Compression.ZSTD, "file.compression.top", "The codec of blocks of the last level.", _UPKEEP
    )
    bits_per_key: int = _option(10, "file.bloom.bits-per-key", "Bits of a Bloom filter for each key.", _WRITES)
    cache_size: int = _option(
        0,
        "cache.size",
        "Memory for blocks of this table that were read; 0 is the cache that the tables of a process share.",
        _READS,
    )
    target_file_size: int = _option(
        128 << 20,
        "target-file-size",
        "Bytes at which a data file ends and the next begins; of a table without a primary key, `256 MB`.",
        _WRITES,
    )
    compaction: CompactionStyle = _option(
        CompactionStyle.UNIVERSAL, "compaction.style", "How sorted runs are chosen for compaction.", _UPKEEP
    )
    compaction_trigger: int = _option(
        5, "num-sorted-run.compaction-trigger", "Sorted runs of a bucket that make a compaction due.", _UPKEEP
    )
    stop_trigger: int = _option(
        0, "num-sorted-run.stop-trigger", "Sorted runs at which writes wait; 0 is three more than the trigger.", _ROWS
    )
    num_levels: int = _option(0, "num-levels", "Levels of a bucket; 0 is one more than the trigger.", _UPKEEP)
    size_ratio: int = _option(
        1, "compaction.size-ratio", "Percent by which runs may differ and still be merged (universal).", _UPKEEP
    )
    max_size_amplification: int = _option(
        200,
        "compaction.max-size-amplification-percent",
        "Size of newer runs, in percent of the oldest, that makes a full compaction due (universal).",
        _UPKEEP,
    )
    auto_compaction: bool = _option(True, "compaction.auto", "Compact after a commit that makes it due.", _WRITES)
    write_only: bool = _option(False, "write-only", "Leave compaction to other processes.", _WRITES)

    @property
    def levels(self) -> int:
        return self.num_levels or self.compaction_trigger + 1

    @property
    def most_runs(self) -> int:
        return self.stop_trigger or self.compaction_trigger + 3


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """An option of a table, as documentation and checks see it."""

    name: str
    type: str
    default: str
    doc: str
    used_by: str


_STORAGE = {each.metadata["name"]: each for each in fields(StorageOptions)}
_OF_TABLES = (
    OptionFacts("bucket", "number", "1", "Buckets of a partition; -1 lets the first write decide.", _WRITES),
    OptionFacts("bucket.count", "number", "", "Buckets that the first write has decided on.", _WRITES),
    OptionFacts(
        "merge-engine",
        "`deduplicate`, `partial-update`, `aggregation` or `first-row`",
        "deduplicate",
        "What becomes of several rows of one key.",
        "reads and compaction",
    ),
    OptionFacts(
        "fields.<column>.aggregate-function",
        "`first`, `last`, `first_non_null`, `last_non_null`, `sum`, `product`, `min`, `max`, `bool_or`, `bool_and`, "
        "`listagg` or `collect`",
        "last_non_null",
        "How the values of a column become one, with `merge-engine = aggregation`.",
        "reads and compaction",
    ),
    OptionFacts(
        "definition", "a query", "", "The query that a materialized view is refreshed by.", "REFRESH and `rebuild`"
    ),
)
USERS_OWN = "user."
"""Options whose names begin so are the user's: Headwater keeps them and gives them no meaning."""


def all_options() -> list[OptionFacts]:
    """Return every option that a table can have."""
    return [*_OF_TABLES, *(_facts(name, each) for name, each in _STORAGE.items())]


def check_option_name(name: str) -> None:
    """RAISES: SchemaError when there is no such option, naming the nearest."""
    if name.startswith(USERS_OWN) or (name.startswith("fields.") and name.endswith(".aggregate-function")):
        return
    known = [option.name for option in all_options()]
    if name in known:
        return
    hint = suggest(name, known, "docs/reference/options.md lists them")
    raise SchemaError(f"there is no option `{name}`", hint=f"{hint} (names of your own begin with `{USERS_OWN}`)")


_UNITS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "ms": 1, "b": 1}


def storage_options(options: Mapping[str, str]) -> StorageOptions:
    """Read storage options out of a table's options; others are left to those they concern.

    >>> storage_options({"memtable.size": "16 MB", "wal.fsync": "none"}).memtable_size
    16777216

    RAISES: SchemaError when a value is not one the option can have.
    """
    values = {}
    for name, text in options.items():
        if name in _STORAGE:
            option = _STORAGE[name]
            values[option.name] = _parse(name, str(text).strip(), option.type)
    return StorageOptions(**values)


def _parse(name: str, text: str, kind: Any) -> Any:
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind is int:
            lowered = text.lower()
            for unit, factor in _UNITS.items():
                if lowered.endswith(unit):
                    return int(float(lowered.removesuffix(unit)) * factor)
            return int(text)
        if kind is Compression:
            return Compression[text.upper()]
        return kind(text.lower() if issubclass(kind, Enum) else text)
    except (KeyError, ValueError, OverflowError) as err:
        raise SchemaError(f"option `{name}` cannot be `{text}`", hint=_choices(text, kind)) from err


def _choices(text: str, kind: Any) -> str:
    if kind is bool:
        return "true or false"
    if kind in (int, float):
        return "a number; sizes may end with KB, MB or GB"
    names = [_text(item) for item in kind]
    return suggest(text, names, f"one of {', '.join(names)}")


def _facts(name: str, option: "Field[Any]") -> OptionFacts:
    kind: Any = option.type
    default = option.default
    if isinstance(kind, type) and issubclass(kind, Enum):
        shown = ", ".join(f"`{_text(item)}`" for item in kind)
    else:
        shown = {bool: "`true` or `false`", int: "number or size", float: "number"}[kind]
    return OptionFacts(name, shown, _text(default), option.metadata["doc"], option.metadata["used_by"])


def _text(value: Any) -> str:
    match value:
        case Compression():
            return value.name.lower()
        case Enum():
            return str(value.value)
        case bool():
            return str(value).lower()
        case int() if value >= 1 << 10 and value % (1 << 10) == 0:
            unit, factor = ("MB", 1 << 20) if value % (1 << 20) == 0 else ("KB", 1 << 10)
            return f"{value // factor} {unit}"
    return str(value)

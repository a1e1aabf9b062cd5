"""The options of a table's storage, by the names tables write them with."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from headwater.errors import SchemaError
from headwater.lake.sst.format import Compression
from headwater.text import nearest


class Fsync(Enum):
    """When the write-ahead log is forced to disk."""

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
    """How sorted runs are chosen for compaction."""

    UNIVERSAL = "universal"
    LEVELED = "leveled"


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """How one tree keeps its rows. Sizes are in bytes."""

    memtable_size: int = 64 << 20
    flush_threshold: float = 0.8
    max_memtables: int = 3
    flush_threads: int = 1
    wal_enabled: bool = True
    wal_fsync: Fsync = Fsync.ALWAYS
    wal_interval_millis: int = 100
    file_format: FileFormat = FileFormat.SST
    block_size: int = 32 << 10
    compression: Compression = Compression.LZ4
    top_compression: Compression = Compression.ZSTD  # of the last level
    bits_per_key: int = 10
    cache_size: int = 256 << 20
    target_file_size: int = 128 << 20
    compaction: CompactionStyle = CompactionStyle.UNIVERSAL
    compaction_trigger: int = 5
    stop_trigger: int = 0  # 0: trigger + 3
    num_levels: int = 0  # 0: trigger + 1
    size_ratio: int = 1
    max_size_amplification: int = 200
    auto_compaction: bool = True
    write_only: bool = False  # leave compaction to others

    @property
    def levels(self) -> int:
        return self.num_levels or self.compaction_trigger + 1

    @property
    def most_runs(self) -> int:
        return self.stop_trigger or self.compaction_trigger + 3


_NAMES: dict[str, tuple[str, Any]] = {
    "memtable.size": ("memtable_size", int),
    "memtable.flush-threshold": ("flush_threshold", float),
    "memtable.max": ("max_memtables", int),
    "flush.threads": ("flush_threads", int),
    "wal.enabled": ("wal_enabled", bool),
    "wal.fsync": ("wal_fsync", Fsync),
    "wal.fsync-interval": ("wal_interval_millis", int),
    "file.format": ("file_format", FileFormat),
    "file.block-size": ("block_size", int),
    "file.compression": ("compression", Compression),
    "file.compression.top": ("top_compression", Compression),
    "file.bloom.bits-per-key": ("bits_per_key", int),
    "cache.size": ("cache_size", int),
    "target-file-size": ("target_file_size", int),
    "compaction.style": ("compaction", CompactionStyle),
    "num-sorted-run.compaction-trigger": ("compaction_trigger", int),
    "num-sorted-run.stop-trigger": ("stop_trigger", int),
    "num-levels": ("num_levels", int),
    "compaction.size-ratio": ("size_ratio", int),
    "compaction.max-size-amplification-percent": ("max_size_amplification", int),
    "compaction.auto": ("auto_compaction", bool),
    "write-only": ("write_only", bool),
}
_UNITS = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "ms": 1, "b": 1}


def storage_options(options: Mapping[str, str]) -> StorageOptions:
    """Read storage options out of a table's options; others are left to those they concern.

    >>> storage_options({"memtable.size": "16 MB", "wal.fsync": "none"}).memtable_size
    16777216

    RAISES: SchemaError when a value is not one the option can have.
    """
    values = {}
    for name, text in options.items():
        if name in _NAMES:
            attribute, kind = _NAMES[name]
            values[attribute] = _parse(name, str(text).strip(), kind)
    return StorageOptions(**values)


def _parse(name: str, text: str, kind: Any) -> Any:
    try:
        if kind is bool:
            return {"true": True, "false": False}[text.lower()]
        if kind is int:
            return _parse_size(text)
        if kind is Compression:
            return Compression[text.upper()]
        return kind(text.lower() if issubclass(kind, Enum) else text)
    except (KeyError, ValueError, OverflowError) as err:
        raise SchemaError(f"option `{name}` cannot be `{text}`", hint=_choices(text, kind)) from err


def _parse_size(text: str) -> int:
    lowered = text.lower()
    for unit, factor in _UNITS.items():
        if lowered.endswith(unit):
            return int(float(lowered.removesuffix(unit)) * factor)
    return int(text)


def _choices(text: str, kind: Any) -> str:
    if kind is bool:
        return "true or false"
    if kind in (int, float):
        return "a number; sizes may end with KB, MB or GB"
    names = [item.name.lower() if kind is Compression else str(item.value) for item in kind]
    close = nearest(text, names)
    return f"did you mean `{close}`?" if close else f"one of {', '.join(names)}"

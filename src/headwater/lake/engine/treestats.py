"""How a tree stands: levels, memory, amplification."""

from dataclasses import dataclass

from headwater.lake.engine.cache import BlockCache, CacheStats
from headwater.lake.engine.state import TreeState


@dataclass(frozen=True, slots=True)
class LevelStats:
    """The runs of one level."""

    level: int
    runs: int
    files: int
    rows: int
    deletes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TreeStats:
    """A tree at one moment."""

    version: int
    levels: tuple[LevelStats, ...]
    memtables: int
    memory_rows: int
    memory_bytes: int
    write_amplification: float  # bytes written by flushes and compactions for each byte flushed
    read_amplification: int  # sorted runs a scan reads, memory included
    space_amplification: float  # bytes on disk for each byte of the oldest run
    stalls: int  # writes that had to wait
    stalled_seconds: float
    cache: CacheStats


def tree_stats(state: TreeState, cache: BlockCache, stalls: int, stalled_seconds: float) -> TreeStats:
    """The statistics of a state."""
    version, runs = state.version, state.version.runs()
    levels = []
    for level in sorted({run.level for run in runs}):
        files = [file for run in runs if run.level == level for file in run.files]
        levels.append(
            LevelStats(
                level=level,
                runs=sum(run.level == level for run in runs),
                files=len(files),
                rows=sum(file.rows for file in files),
                deletes=sum(file.deletes for file in files),
                bytes=sum(file.size for file in files),
            )
        )
    filled = [table for table in state.memtables if len(table)]
    return TreeStats(
        version=version.number,
        levels=tuple(levels),
        memtables=len(state.memtables),
        memory_rows=sum(len(table) for table in filled),
        memory_bytes=sum(table.memory for table in filled),
        write_amplification=version.written_bytes / version.flushed_bytes if version.flushed_bytes else 0.0,
        read_amplification=len(runs) + len(filled),
        space_amplification=sum(run.size for run in runs) / runs[-1].size if runs else 0.0,
        stalls=stalls,
        stalled_seconds=stalled_seconds,
        cache=cache.stats,
    )

"""Which runs are picked: tables of sizes and levels, newest first."""

import pytest

from headwater.lake.engine.compaction import pick_compaction
from headwater.lake.engine.options import CompactionStyle, StorageOptions
from headwater.lake.engine.version import DataFile, SortedRun

UNIVERSAL = StorageOptions()
LEVELED = StorageOptions(compaction=CompactionStyle.LEVELED, memtable_size=10)


def data_file(size: int, level: int = 0, low: int = 0, high: int = 99, sequence: int = 1) -> DataFile:
    name = f"{level}-{size}-{low}-{high}"
    return DataFile(name, level, sequence, size, 0, size, b"%02d" % low, b"%02d" % high)


def runs_of(*pairs: tuple[int, int]) -> list[SortedRun]:
    """Runs as (level, size)."""
    return [SortedRun(level, (data_file(size, level),)) for level, size in pairs]


@pytest.mark.parametrize(
    ("runs", "picked", "level", "reason"),
    [
        ([], None, None, None),
        ([(0, 1)], None, None, None),
        ([(0, 1)] * 4, None, None, None),
        ([(0, 1)] * 5, 5, 5, "space amplification"),
        ([(0, 1), (0, 1), (0, 1), (0, 1), (5, 100)], 4, 4, "size ratio"),
        ([(0, 1), (0, 2), (0, 4), (0, 8), (5, 100)], None, None, None),
        ([(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (5, 100)], 5, 4, "number of runs"),
        ([(0, 1), (0, 3), (0, 9), (3, 27), (4, 81), (5, 243)], 3, 2, "number of runs"),
        ([(0, 1), (0, 1), (0, 1), (0, 1), (1, 30), (5, 100)], 5, 4, "number of runs"),
        ([(0, 1), (0, 1), (3, 80), (4, 80), (5, 100)], 2, 2, "size ratio"),
        ([(0, 80), (0, 80), (3, 80), (4, 80), (5, 100)], 5, 5, "space amplification"),
    ],
)
def test_universal(runs: list[tuple[int, int]], picked: int | None, level: int | None, reason: str | None) -> None:
    pick = pick_compaction(runs_of(*runs), UNIVERSAL)
    if picked is None:
        assert pick is None
        return
    assert pick is not None
    assert (len(pick.runs), pick.level, pick.reason) == (picked, level, reason)
    assert pick.last == (picked == len(runs))
    assert [run.level for run in pick.runs] == [run_level for run_level, _ in runs[:picked]]


def test_universal_leaves_room_for_the_rest() -> None:
    """The result must lie above every run that is left, whatever was picked."""
    for first in range(1, 6):
        runs = [(0, 1)] * 6 + [(level, 1000 * 4**level) for level in range(first, 6)]
        pick = pick_compaction(runs_of(*runs), UNIVERSAL)
        assert pick is not None
        rest = runs[len(pick.runs) :]
        assert all(level > pick.level for level, _ in rest)


def test_levels_take_only_what_overlaps() -> None:
    zero = [SortedRun(0, (data_file(5, 0, 20, 40),)) for _ in range(5)]
    one = SortedRun(1, (data_file(9, 1, 0, 19), data_file(9, 1, 30, 50), data_file(9, 1, 60, 99)))
    pick = pick_compaction([*zero, one], LEVELED)
    assert pick is not None
    assert (pick.level, pick.last, len(pick.files)) == (1, True, 6)
    deeper = SortedRun(2, (data_file(9, 2, 0, 99),))
    pick = pick_compaction([*zero, one, deeper], LEVELED)
    assert pick is not None
    assert not pick.last


def test_a_full_level_gives_its_oldest_file() -> None:
    one = SortedRun(1, (data_file(40, 1, 0, 49, sequence=7), data_file(40, 1, 50, 99, sequence=3)))
    two = SortedRun(2, (data_file(9, 2, 40, 60), data_file(9, 2, 61, 99)))
    pick = pick_compaction([one, two], LEVELED)
    assert pick is not None
    assert pick.level == 2
    assert [(file.level, file.min_key) for file in pick.files] == [(1, b"50"), (2, b"40"), (2, b"61")]
    assert pick_compaction([two], LEVELED) is None

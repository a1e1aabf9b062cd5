"""The number of rows that changed between two states in some columns, and in which: no other column is read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwater.lake.tables.changelog import (
    changed_places,
    column_differs,
    compared,
    differing_files,
    file_rows,
    pieces,
)
from headwater.lake.tables.state import Place, TableState
from headwater.lake.tables.store import TableStore
from headwater.lake.tables.uncommon import uncommon_rows


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """The rows that came, went or changed, and the columns in which rows that stayed have other values."""

    rows: int
    columns: tuple[str, ...] = ()


def count_changes(store: TableStore, before: TableState, after: TableState, columns: Sequence[str]) -> ChangeCount:
    """Count the rows that differ in some columns. Rows of a table without a key come and go, and never change.
    REQUIRES: columns of the later state. RAISES: NotFoundError when a state has expired."""
    rows, found = 0, set[str]()
    for place in changed_places(before, after):
        if not after.shape.is_keyed:
            rows += _uncounted(store, before, after, place, columns)
            continue
        for piece in pieces(store, before, after, place, columns):
            old, new, (gone, changed, came) = compared(store, piece)
            rows += len(gone) + len(changed[0]) + len(came)
            kept = [side.take(at) for side, at in zip((old, new), changed)]
            found |= {name for name in set(columns) - found if _differs(kept[0].column(name), kept[1].column(name))}
    return ChangeCount(rows, tuple(name for name in columns if name in found))


def _differs(old: object, new: object) -> bool:
    pairs = [each.combine_chunks() for each in (old, new)]  # type: ignore[attr-defined]
    return bool(np.any(column_differs(*pairs)))


def _uncounted(store: TableStore, before: TableState, after: TableState, place: Place, columns: Sequence[str]) -> int:
    """The rows of a bucket without keys that one of two states has more of."""
    went, arrived = differing_files(before, after, place)
    if not went or not arrived:
        return sum(file.rows for file in (*went, *arrived))
    sides = (file_rows(store, after.shape, files, columns) for files in (went, arrived))
    gone, came = uncommon_rows(*sides)
    return int(gone.num_rows + came.num_rows)

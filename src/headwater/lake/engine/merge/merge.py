"""Merging sorted batches, oldest first, into one.
The keys of all batches are put one after the other, oldest first, and sorted by a stable sort, which recognises that
they are sorted runs; rows of one key then stand together, oldest first. No row is touched by Python."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headwater.errors import SchemaError, ValueOverflowError
from headwater.lake.engine.batch import RowKind, SortedBatch, concat
from headwater.lake.engine.keys import Keys
from headwater.lake.engine.merge.aggregates import KeyGroups, Overflow, aggregate
from headwater.lake.engine.merge.engines import MergeEngine, MergeRule


def merge_batches(batches: Sequence[SortedBatch], rule: MergeRule) -> SortedBatch:
    """One row per key from batches given oldest first. REQUIRES: at least one batch.
    Deletes stay in the result, because they must hide rows of batches that were not part of this merge."""
    filled = [batch for batch in batches if len(batch)]
    if not filled:
        return batches[0]
    if len(filled) == 1:
        return filled[0]
    # whether each batch begins after the end of the one before
    if all(a.keys.native(-1) < b.keys.native(0) for a, b in pairwise(filled)):  # type: ignore[operator]
        return concat(filled)
    whole = concat(filled)
    return _sorted(whole, whole.keys, rule)


def sort_batch(rows: SortedBatch, rule: MergeRule, positions: npt.NDArray[np.int64] | None = None) -> SortedBatch:
    """One row per key, in key order, from rows in order of arrival: all of them, or those at some positions.
    Values are moved once, from where they are to where they belong."""
    keys = rows.keys if positions is None else rows.keys.take(positions)
    if len(keys) < 2 or keys.is_increasing():
        return rows if positions is None else rows.take(positions)
    return _sorted(rows, keys, rule, positions)


def _sorted(
    rows: SortedBatch, keys: Keys, rule: MergeRule, positions: npt.NDArray[np.int64] | None = None
) -> SortedBatch:
    """The same, of rows that are not in order. REQUIRES: `keys` are those of the positions."""
    order = keys.sort_order()  # for each row of the result, its place among `keys`; equal keys stay oldest first
    keys = keys.take(order)
    last = keys.differ_from_next()  # for each row, whether it is the newest of its key
    source = order if positions is None else positions[order]  # and its place among `rows`
    if last.all():
        kinds = None if rows.kinds is None else rows.kinds[source]
        return SortedBatch(keys, kinds, rows.columns.take(pa.array(source)))
    if rule.engine is MergeEngine.DEDUPLICATE:
        return rows.take(source[last])
    return _fold(rows.take(source), last, rule)


def _fold(rows: SortedBatch, last: npt.NDArray[np.bool_], rule: MergeRule) -> SortedBatch:
    """Combine the rows of each key from its last delete or replacement on."""
    # one group of rows for each key: group i is the rows starts[i] up to stops[i]
    stops = np.flatnonzero(last) + 1
    starts = np.append(0, stops[:-1])
    kinds = np.zeros(len(stops), np.uint8)  # of the row that each group becomes
    if rows.kinds is not None:
        starts, kinds = _after_resets(rows.kinds, starts, stops)
    alive = kinds != RowKind.DELETE
    merged_positions = stops - 1
    keys = rows.keys.take(merged_positions)
    columns = _combine(rows.columns, starts, stops, rule, keys)
    return SortedBatch(keys, None if alive.all() and not kinds.any() else kinds, columns)


def _after_resets(
    kinds: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return where the rows that still count begin in each group, and what the group becomes."""
    positions = np.arange(len(kinds))
    # for each group, the position of its last row that is no put, -1 if all are; nothing before that row counts
    reset = np.maximum.reduceat(np.where(kinds != RowKind.PUT, positions, -1), starts)
    was_reset = reset >= 0
    ended = kinds[stops - 1] == RowKind.DELETE
    deleted = was_reset & (kinds[np.maximum(reset, 0)] == RowKind.DELETE)
    begin = np.where(was_reset, reset, starts)
    begin = np.where(deleted & ~ended, begin + 1, begin)  # a delete itself contributes no values
    outcome = np.where(ended, RowKind.DELETE, np.where(was_reset, RowKind.REPLACE, RowKind.PUT))
    return begin, outcome.astype(np.uint8)


def _combine(
    columns: pa.RecordBatch, starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64], rule: MergeRule, keys: Keys
) -> pa.RecordBatch:
    """Aggregate the rows `starts[i]:stops[i]` of each group; rows between groups are left out."""
    rows = len(columns)
    if int((stops - starts).sum()) != rows:
        # +1 where a group begins and -1 where it ends: the running sum is 1 inside of groups and 0 between them
        inside = np.zeros(rows + 1, np.int64)
        np.add.at(inside, starts, 1)
        np.add.at(inside, stops, -1)
        columns = columns.take(pa.array(np.flatnonzero(np.cumsum(inside)[:rows])))
        starts = np.append(0, np.cumsum(stops - starts)[:-1])  # the groups are one after the other now
    groups = KeyGroups(starts, len(columns))
    arrays = [_aggregated(columns.column(name), name, groups, rule, keys) for name in columns.schema.names]
    return pa.RecordBatch.from_arrays(arrays, names=columns.schema.names)


def _aggregated(column: pa.Array, name: str, groups: KeyGroups, rule: MergeRule, keys: Keys) -> pa.Array:
    """RAISES: ValueOverflowError by a strict rule, when a value does not fit the column.
    SchemaError for a function that the type of the column does not have, in a table from before that was refused."""
    function = rule.function(name)
    try:
        return aggregate(function, column, groups, strict=rule.strict is not None)
    except Overflow as err:
        assert rule.strict is not None
        type = next(field.type for field in rule.strict.stored if field.name == name)
        key = ", ".join(map(str, rule.strict.values(keys.native(err.group))))
        raise ValueOverflowError(
            f"the {function} of column `{name}` would not fit {type} in the row with the key {key}",
            hint="give the column a wider type, or delete the row and begin anew",
        ) from err
    except (TypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as err:
        raise SchemaError(
            f"column `{name}` has values that `{function}` does not work for",
            hint=f"give it another function: ALTER TABLE … SET ('fields.{name}.aggregate-function' = 'last')",
        ) from err

"""The rows of an input that changed since a table was made from it, in the columns that its query reads."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Table
from headwater.lake.tables.changelog import KIND
from headwater.query.names import Pinned
from headwater.query.parse import quoted
from headwater.query.select import StatementExecution


@dataclass(frozen=True)
class InputChange:
    """An input in the state that was read and in the one that is there now, and the rows that differ."""

    before: Pinned
    after: Pinned
    gone: pa.Table
    came: pa.Table

    @property
    def rows(self) -> int:
        return int(self.gone.num_rows + self.came.num_rows)


def is_moved(before: Pinned, after: Pinned) -> bool:
    """Return whether any commit between two states may have changed rows; upkeep only moves them."""
    return not is_upkeep_only(after.table, max(0, before.state.snapshot_id), after.state.snapshot_id)


def is_upkeep_only(table: Table, start: int, end: int) -> bool:
    """Return whether the commits between two snapshots only moved files. RAISES: NotFoundError when one is gone."""
    log = table.store.committer.log
    return all(log.get(id).operation is Operation.COMPACT for id in range(start + 1, end + 1))


_kept: OrderedDict[tuple[str, str | None, int, int, int], pa.Table] = OrderedDict()
_lock = Lock()
_ROOM = 256 << 20  # bytes of changelogs that are kept: tables of one rebuild share their inputs


def _changelog(before: Pinned, after: Pinned) -> pa.Table:
    """The changelog between two states, which never changes, and so is kept for the next table that asks."""
    ids = max(0, before.state.snapshot_id), after.state.snapshot_id
    key = (after.table.store.paths.folder, after.table.store.table_uuid, *ids, after.schema.id)
    with _lock:
        found = _kept.get(key)
    if found is None:
        found = after.table.changes(*ids).read_all()
        with _lock:
            _kept[key] = found
            while sum(each.nbytes for each in _kept.values()) > _ROOM:
                _kept.popitem(last=False)
    return found


def find_change(run: StatementExecution, before: Pinned, after: Pinned, columns: list[str]) -> InputChange:
    """The rows of an input that differ in some columns, as multisets. RAISES: NotFoundError when a state is gone."""
    table = after.table
    names = list(dict.fromkeys([*after.schema.primary_keys, *columns])) or list(after.schema.names)
    if not is_moved(before, after):
        nothing = table.arrow_schema.empty_table().select(names)
        return InputChange(before, after, nothing, nothing)
    log = _changelog(before, after)
    listed = ", ".join(map(quoted, names))
    sides = {
        "gone": f"SELECT {listed} FROM log WHERE {quoted(KIND)} IN ('-D', '-U')",
        "came": f"SELECT {listed} FROM log WHERE {quoted(KIND)} IN ('+I', '+U')",
    }
    gone = run.generated(f"{sides['gone']} EXCEPT ALL {sides['came']}", {"log": log})
    came = run.generated(f"{sides['came']} EXCEPT ALL {sides['gone']}", {"log": log})
    return InputChange(before, after, gone, came)

"""The rows that one commit changed, and the table without one of these changes."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import CannotTellError, NotFoundError
from headwater.provenance.commits import Commit, rows_before
from headwater.provenance.matching import without


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row before and after a commit; None where there is none."""

    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values changed; all of a row that came or went."""
        if self.before is None or self.after is None:
            return tuple(self.after or self.before or ())
        return tuple(name for name, value in self.after.items() if self.before.get(name) != value)


def row_changes(commit: Commit) -> list[RowChange]:
    """The rows that a commit changed. RAISES: CannotTellError when the state before it has expired."""
    after, before = _states(commit)
    key = commit.table.store.shape(commit.snapshot.schema_id).schema.primary_keys
    names = tuple(name for name in after.column_names if name in before.column_names)
    came, went = without(after, before, names).to_pylist(), without(before, after, names).to_pylist()
    if not key:
        return [RowChange(None, row) for row in came] + [RowChange(row, None) for row in went]
    old = {tuple(row[name] for name in key): row for row in went}
    found = [RowChange(old.pop(tuple(row[name] for name in key), None), row) for row in came]
    return found + [RowChange(row, None) for row in old.values()]


def undone(commit: Commit, change: RowChange) -> pa.Table:
    """The rows of a table after a commit, one change of a row undone."""
    after, before = _states(commit)
    if change.after is not None:
        gone = pa.Table.from_pylist([change.after], after.schema)
        rest = without(after, gone, tuple(after.column_names))
        more = max(after.num_rows - rest.num_rows - 1, 0)  # equal rows of a table without a key stay
        after = pa.concat_tables([rest, *([gone] * more)])
    if change.before is not None:
        back = pa.Table.from_pylist([change.before], before.schema)
        after = pa.concat_tables([after, back], promote_options="permissive").select(after.column_names)
    return after


def _states(commit: Commit) -> tuple[pa.Table, pa.Table]:
    table, id = commit.table, commit.snapshot.snapshot_id
    after = table.to_arrow(at=id)
    if commit.base is None:
        return after, after.slice(0, 0)
    try:
        return after, rows_before(commit)
    except NotFoundError as err:
        raise CannotTellError(f"{table.name}@{commit.base} has expired: what {commit} changed is not known") from err

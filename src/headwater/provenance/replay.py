"""`replay`: run the recipe of a snapshot again on the states that it read, and compare what it gives with what is
kept."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from headwater.errors import CannotTellError, NotFoundError
from headwater.lake.metadata.snapshot import InputVersion, Operation
from headwater.lake.tables import Warehouse
from headwater.lake.tables.time_travel import At
from headwater.provenance.commits import Commit, Versions, find_commit, table_read
from headwater.provenance.compare import Comparison, compare_rows
from headwater.provenance.files import check_files
from headwater.provenance.sessions import RecipeSession
from headwater.query.doubts import doubts, floating

_ENGINES = ("DuckDB", "Spark")


@dataclass(frozen=True, slots=True)
class Replay:
    """A snapshot and what running its recipe again gave."""

    dataset: str
    snapshot_id: int
    comparison: Comparison | None  # None: it could not be run again
    reasons: tuple[str, ...] = ()  # why it differs, or cannot be run
    hint: str | None = None

    @property
    def identical(self) -> bool:
        return self.comparison is not None and self.comparison.identical


RowsOf = Callable[[Warehouse, Commit], pa.Table]
"""Runs the recipe of a commit. RAISES: CannotTellError when that cannot be."""


def replay(
    warehouse: Warehouse, table: str, at: At | None = None, *, deep: bool = False, spark: RowsOf | None = None
) -> list[Replay]:
    """Run the recipe of a snapshot again; with `deep` those of its inputs too, and theirs: the snapshot first.
    DuckDB runs it, or the function that is given for Spark.
    RAISES: NotFoundError when there is no such table or moment."""
    queue, found = [find_commit(warehouse, table, at)], {}
    for commit in queue:
        key = str(commit)
        if key in found:
            continue
        found[key] = _replayed(warehouse, commit, spark)
        if deep:
            queue += _inputs(warehouse, commit)
    return list(found.values())


def replay_rows(warehouse: Warehouse, commit: Commit, versions: Versions | None = None) -> pa.Table:
    """The rows of a table as its recipe gives them, `versions` read in place of the states that it is pinned to.
    RAISES: CannotTellError naming what is missing."""
    check_files(commit)
    with RecipeSession(warehouse, commit, versions) as session:
        return session.again().to_arrow()


def _replayed(warehouse: Warehouse, commit: Commit, spark: RowsOf | None) -> Replay:
    name, id = str(commit.table.name), commit.snapshot.snapshot_id
    kept = commit.table.to_arrow(at=id)
    key = commit.table.store.shape(commit.snapshot.schema_id).schema.primary_keys
    try:
        if commit.snapshot.operation is Operation.ROLLBACK:
            return Replay(name, id, compare_rows(kept, _restored(commit), tuple(key)))
        rows = (spark or replay_rows)(warehouse, commit)
        comparison = compare_rows(kept, rows, tuple(key))
    except CannotTellError as err:
        return Replay(name, id, None, (err.message,), err.hint)
    if comparison.identical:
        return Replay(name, id, comparison)
    with RecipeSession(warehouse, commit) as session:
        reasons = doubts(session.statement.tree)
    if comparison.close:
        reasons.append(floating(sorted({name for each in comparison.shown for name in each.columns})))
    made_by, run_by = (_ENGINES[each] for each in (commit.recipe.engine == "spark", spark is not None))
    if made_by != run_by:
        reasons.append(f"it was made by {made_by} and run again by {run_by}")
    return Replay(name, id, comparison, tuple(reasons))


def _restored(commit: Commit) -> pa.Table:
    (restored,) = commit.origin.inputs
    try:
        return commit.table.to_arrow(at=restored.snapshot_id)
    except NotFoundError as err:
        raise CannotTellError(f"{commit} restored snapshot {restored.snapshot_id}, which has expired") from err


def _inputs(warehouse: Warehouse, commit: Commit) -> list[Commit]:
    """The commits behind a commit: of the states that it read, and of the state that it changed."""
    read = list(commit.origin.inputs)
    if commit.snapshot.operation not in (Operation.OVERWRITE, Operation.ROLLBACK):
        read.append(InputVersion(dataset=str(commit.table.name), snapshot_id=commit.base))
    found = []
    for each in read:
        try:
            if each.snapshot_id is not None and each.snapshot_id > 0:
                found.append(find_commit(warehouse, table_read(warehouse, each).name, each.snapshot_id))
        except (NotFoundError, CannotTellError):
            continue  # the replay of what read it says so
    return found

"""`bisect`: the commits that moved a figure of a table, and how much each of them did.

A figure is an expression over a table. The snapshots in which it moves are found by asking each; then the recipe of
such a snapshot is run with one input at its older state at a time, and what the figure then is tells how much that
input did. The same is asked of the commits of that input, and of their inputs, until no recipe explains a commit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headwater.errors import CannotTellError, HeadwaterError, NotFoundError, UsageError
from headwater.lake.metadata.snapshot import InputVersion, Operation
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.time_travel import At
from headwater.provenance.changed_rows import RowChange, row_changes
from headwater.provenance.commits import Commit, table_read
from headwater.provenance.figures import Chain, Figure, difference, is_same
from headwater.provenance.files import Lines
from headwater.provenance.why import first_hop

_MOST_ROWS = 20  # whose share is measured one by one


@dataclass(frozen=True, slots=True)
class RowShare:
    """A row that a commit changed, and how much of the figure's move it made; None when it was not measured."""

    change: RowChange
    share: Any = None


@dataclass(frozen=True, slots=True)
class Move:
    """A commit in which a figure moved, and the commits of its inputs that moved it."""

    dataset: str
    snapshot_id: int
    before: Any
    after: Any
    share: Any  # how much it moved the figure that was asked for; None for what is no number
    operation: str
    job: str | None
    run: str | None
    time: int
    place: str | None = None  # file and line of the job
    causes: tuple["Move", ...] = ()
    rows: tuple[RowShare, ...] = ()
    changed_rows: int = 0
    lines: tuple[Lines, ...] = ()
    reason: str | None = None  # why no more can be told


def bisect(
    warehouse: Warehouse,
    table: str,
    expression: str,
    *,
    where: str | None = None,
    start: At | None = None,
    end: At | None = None,
) -> list[Move]:
    """The snapshots of a table in which a figure moved, oldest first, each with the commits that moved it.
    RAISES: NotFoundError, UsageError when there are not two snapshots to compare, SqlError for what is no expression.
    """
    source = warehouse.table(table)
    figure = Figure(expression, where)
    commits = _between(source, start, end)
    if len(commits) < 2:
        raise UsageError(
            f"{table} has no two snapshots to compare", hint="`headwater lake snapshots TABLE` lists them"
        )
    values = [figure.of_table(source, commit.snapshot.snapshot_id) for commit in commits]
    moves = []
    for at in range(1, len(commits)):
        if not is_same(values[at - 1], values[at]):
            moves.append(_explain(warehouse, Chain(figure), commits[at], values[at - 1], values[at]))
    return moves


def _between(source: Table, start: At | None, end: At | None) -> list[Commit]:
    """The commits of a table from one moment to another that changed rows."""
    first = source.snapshot(start).snapshot_id if start is not None else 0  # type: ignore[union-attr]
    last = source.snapshot(end)
    found = [
        each for each in source.snapshots() if last is not None and first <= each.snapshot_id <= last.snapshot_id
    ]
    return [Commit(source, each) for each in found if each.operation is not Operation.COMPACT]


def _explain(warehouse: Warehouse, chain: Chain, commit: Commit, before: Any, after: Any) -> Move:
    causes: tuple[Move, ...] = ()
    reason = None
    try:
        causes, reason = _causes(warehouse, chain, commit)
    except CannotTellError as err:
        reason = err.message
    rows: tuple[RowShare, ...] = ()
    count = 0
    lines: tuple[Lines, ...] = ()
    if not causes:
        try:
            changes = row_changes(commit)
            count = len(changes)
            rows = tuple(_shares(chain, commit, changes, after))
            lines = _lines(warehouse, commit, rows)
        except HeadwaterError as err:
            reason = reason or err.message
    snapshot, origin = commit.snapshot, commit.origin
    return Move(
        *(str(commit.table.name), snapshot.snapshot_id, before, after, difference(before, after)),
        *(snapshot.operation.value, origin.job or snapshot.commit_user, origin.run_id, snapshot.timestamp),
        place=origin.recipe.place if origin.recipe is not None else None,
        causes=causes,
        rows=rows,
        changed_rows=count,
        lines=lines,
        reason=reason,
    )


def _causes(warehouse: Warehouse, chain: Chain, commit: Commit) -> tuple[tuple[Move, ...], str | None]:
    """The commits of inputs that moved the figure, measured with the recipe of a commit, and why not all are known.
    RAISES: CannotTellError when the recipe cannot be run, NotFoundError never."""
    earlier = _earlier_run(commit)
    older = {each.dataset: each for each in earlier.origin.inputs} if earlier is not None else {}
    uuid, found, reasons = commit.table.store.table_uuid, list[Move](), dict[str, None]()
    for read in commit.origin.inputs:
        was = older.get(read.dataset)
        if was is None or read.dataset == str(commit.table.name) or read.table_uuid == uuid:
            continue
        try:
            if read.table_uuid != was.table_uuid:
                raise CannotTellError(f"{read.dataset} was another table when {earlier} read it")
            found += _steps(warehouse, chain, commit, was, read)
        except CannotTellError as err:
            reasons[err.message] = None
    return tuple(found), "; ".join(reasons) or None


def _steps(
    warehouse: Warehouse, chain: Chain, commit: Commit, was: InputVersion, read: InputVersion
) -> Iterator[Move]:
    """The commits of one input between two states of it that moved the figure."""
    first, last = was.snapshot_id or 0, read.snapshot_id or 0
    if first >= last:
        return
    table = table_read(warehouse, read)
    below = chain.through(warehouse, commit, read.dataset)
    before = below.at(first)
    if is_same(before, below.at(last)):
        return
    for step in _between(table, None, last):
        if step.snapshot.snapshot_id <= first:
            continue
        after = below.at(step.snapshot.snapshot_id)
        if not is_same(before, after):
            yield _explain(warehouse, below, step, before, after)
        before = after


def _earlier_run(commit: Commit) -> Commit | None:
    """The run of the same statement before a commit, None if there is none that is kept.
    RAISES: CannotTellError when the commit has no recipe to run."""
    text = commit.text
    for snapshot in reversed(commit.table.snapshots()):
        known = Commit(commit.table, snapshot)
        recipe = known.origin.recipe
        if snapshot.snapshot_id >= commit.snapshot.snapshot_id or recipe is None:
            continue
        if _shape(recipe.sql or known.origin.sql or "") == _shape(text):
            return known
    return None


def _shape(text: str) -> str:
    """A statement without the numbers that Spark gives to columns, and without the files that it reads."""
    words = [word for word in text.replace("(", " ").replace(")", " ").replace(",", " ").split() if "`/" not in word]
    return " ".join(word for word in words if not (word[0] == "c" and word[1:].isdigit()))


def _shares(chain: Chain, commit: Commit, changes: list[RowChange], after: Any) -> Iterator[RowShare]:
    """The rows that a commit changed, those that moved the figure most first."""
    if len(changes) > _MOST_ROWS or not isinstance(after, int | float):
        yield from (RowShare(change) for change in changes[:_MOST_ROWS])
        return
    found = []
    for change in changes:
        share = difference(chain.without_change(commit, change), after)
        if share is None or not is_same(share, 0):
            found.append(RowShare(change, share))
    yield from sorted(found, key=lambda each: -abs(each.share or 0))


def _lines(warehouse: Warehouse, commit: Commit, rows: tuple[RowShare, ...]) -> tuple[Lines, ...]:
    """The lines of CSV files that the changed rows were loaded from, where the commit read some."""
    made = [each.change.after for each in rows if each.change.after is not None]
    if not made or commit.origin.recipe is None or not commit.origin.recipe.files:
        return ()
    table = commit.table.to_arrow(at=commit.snapshot.snapshot_id)
    wanted = {repr(row) for row in made}
    places = [at for at, row in enumerate(table.to_pylist()) if repr(row) in wanted]
    try:
        return first_hop(warehouse, commit, table.take(places)).lines
    except (CannotTellError, NotFoundError):
        return ()

"""`why`: the rows behind a row, hop by hop, down to the commits that brought rows in from outside.

A hop asks one commit for some rows of its table: which rows of the states that it read are they made of, and which of
them were there before it. The answer is checked: the query of the commit over these rows alone must give the rows.
"""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from headwater.errors import CannotTellError, NotFoundError, UsageError
from headwater.lake.engine.merge import MergeEngine
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Table, Warehouse
from headwater.lake.tables.time_travel import At
from headwater.model.schema import Schema
from headwater.provenance.commits import Commit, find_commit, rows_before
from headwater.provenance.files import Lines, check_files, lines_of
from headwater.provenance.matching import condition_of, matched_by, without
from headwater.provenance.new_rows import NewRows, new_rows, only_rows
from headwater.provenance.sessions import RecipeSession
from headwater.provenance.tagging import Tagged, fetch_rows, run_tagged, tag_rows, tags_of
from headwater.query.parse import quoted
from headwater.query.sandbox import ReadLimits
from headwater.query.session import connect

MOST_COMMITS = 10_000
Columns = frozenset[str] | None


@dataclass(frozen=True, slots=True)
class InputRows:
    """Rows of one state of a table."""

    dataset: str
    snapshot_id: int
    rows: pa.Table
    schema: Schema  # whose names the rows have


@dataclass(frozen=True, slots=True)
class Hop:
    """Rows of a table that one commit made, and the rows that it made them of."""

    dataset: str
    snapshot_id: int
    rows: pa.Table
    operation: str
    job: str | None = None
    run: str | None = None
    time: int = 0  # milliseconds since 1970
    sql: str | None = None
    inputs: tuple[InputRows, ...] = ()
    absent: tuple[str, ...] = ()  # what is not there, and decided
    lines: tuple[Lines, ...] = ()  # of CSV files outside of the lake
    verified: bool | None = None  # the query over these rows alone gives the rows; None: there was nothing to check
    reason: str | None = None  # why no more can be told

    @property
    def is_loaded(self) -> bool:
        """Return whether the rows came from outside: no commit before this one had them."""
        return not self.inputs and self.reason is None


@dataclass
class _Walk:
    warehouse: Warehouse
    bounds: ReadLimits | None = None
    hops: list[Hop] = field(default_factory=list)
    queue: list[tuple[InputRows, Columns]] = field(default_factory=list)
    seen: dict[tuple[str, int], pa.Table] = field(default_factory=dict)


def why_rows(
    warehouse: Warehouse,
    table: str,
    at: At | None = None,
    *,
    where: str,
    column: str | None = None,
    deep: bool = True,
    bounds: ReadLimits | None = None,
) -> list[Hop]:
    """The rows behind the rows of a table for which a predicate holds, the commit that made them first.

    `column` leaves out rows that neither make nor decide its value; without `deep`, only one hop is told. With
    `bounds`, queries are limited, and files outside of the lake are not read.
    RAISES: NotFoundError for a table or moment that is not there, UsageError when no row meets the predicate,
    SqlError for a predicate that is none."""
    source = warehouse.table(table)
    snapshot = source.snapshot(at)
    if snapshot is None:
        raise NotFoundError(f"{table} has no snapshot yet")
    schema = schema_at(source, at)
    if column is not None and column.casefold() not in [name.casefold() for name in schema.names]:
        raise UsageError(f"`{column}` is not a column of {table}", hint=f"columns: {', '.join(schema.names)}")
    version = f"{quoted(source.name.database)}.{quoted(source.name.table)}"
    if at is not None or snapshot.schema_id == schema.id:
        version += f" VERSION AS OF {snapshot.snapshot_id}"
    with connect(warehouse, bounds=bounds) as session:
        rows = session.sql(f"SELECT * FROM {version} WHERE {where}").to_arrow()
    if not rows.num_rows:
        raise UsageError(f"no row of {source.name}@{snapshot.snapshot_id} meets {where}")
    walk = _Walk(warehouse, bounds)
    columns = None if column is None else frozenset((column.casefold(),))
    walk.queue.append((InputRows(str(source.name), snapshot.snapshot_id, rows, schema), columns))
    for wanted, asked in walk.queue:
        _follow(walk, wanted, asked)
        if not deep:
            break
    return walk.hops


def schema_at(table: Table, at: At | None) -> Schema:
    """The schema whose names a question about a table uses: that of the moment, without one that of now."""
    snapshot = None if at is None else table.snapshot(at)
    return table.schema if snapshot is None else table.store.shape(snapshot.schema_id).schema


def _fresh(walk: _Walk, dataset: str, id: int, wanted: pa.Table) -> pa.Table:
    """The rows that were not asked for before."""
    known = walk.seen.get((dataset, id))
    if known is None:
        walk.seen[dataset, id] = wanted
        return wanted
    fresh = without(wanted, known, tuple(name for name in wanted.column_names if name in known.column_names))
    walk.seen[dataset, id] = pa.concat_tables([known, fresh], promote_options="permissive")
    return fresh


def _follow(walk: _Walk, start: InputRows, asked: Columns) -> None:
    """Tell which commits of a table made some of its rows, newest first."""
    dataset, wanted, schema = start.dataset, start.rows, start.schema
    number: int | None = start.snapshot_id
    for _ in range(MOST_COMMITS):
        try:
            commit = find_commit(walk.warehouse, dataset, number)
        except (NotFoundError, CannotTellError):
            told = f"{dataset}@{number} has expired; `headwater lake tag` keeps a snapshot"
            walk.hops.append(Hop(dataset, number or 0, wanted, "expired", reason=told))
            return
        wanted, asked = _as_then(wanted, asked, schema, commit)
        schema = commit.schema
        wanted = _fresh(walk, dataset, commit.snapshot.snapshot_id, wanted)
        if not wanted.num_rows:
            return
        if commit.snapshot.operation is Operation.ROLLBACK:
            number = commit.origin.inputs[0].snapshot_id
            continue
        try:
            hop, rest = _hop(walk.warehouse, commit, wanted, asked, walk.bounds)
        except CannotTellError as err:
            hop, rest = _told(commit, wanted, reason=err.message), wanted.slice(0, 0)
        if hop is not None:
            walk.hops.append(hop)
            for each in hop.inputs:
                walk.queue.append((each, _asked(commit, each, asked)))
        number = commit.base
        if not rest.num_rows:
            return
        wanted = rest
        if number is None:
            walk.hops.append(_told(commit, rest, reason=f"the recipe of {commit} does not give these rows"))
            return
    raise CannotTellError(f"the rows are older than {MOST_COMMITS} commits of {dataset}")


def _asked(commit: Commit, read: InputRows, asked: Columns) -> Columns:
    """The columns of an input that matter for some columns of a table, by the lineage of the commit."""
    if asked is None:
        return None
    edges = [each for each in commit.origin.columns if each.dataset == read.dataset]
    found = {each.source.casefold() for each in edges if each.column == "*" or each.column.casefold() in asked}
    return frozenset(found - {"*"}) or None


def _hop(
    warehouse: Warehouse, commit: Commit, wanted: pa.Table, asked: Columns, bounds: ReadLimits | None = None
) -> tuple[Hop | None, pa.Table]:
    """The rows that a commit made, if it made some of those wanted, and the others, which were there before."""
    if commit.origin.recipe is None:
        return _by_hand(warehouse, commit, wanted)
    if bounds is not None and commit.recipe.files:
        raise CannotTellError(f"{commit} read files, which only `headwater why` on the command line does")
    check_files(commit)
    shape = commit.table.store.shape(commit.snapshot.schema_id)
    key = shape.schema.primary_keys
    if shape.is_keyed and shape.rule.engine in (MergeEngine.AGGREGATION, MergeEngine.PARTIAL_UPDATE):
        raise CannotTellError(f"rows of {commit.table.name} are merged of several by `{shape.rule.engine.value}`")
    with RecipeSession(warehouse, commit, bounds=bounds) as session:
        new = new_rows(session)
        if new is None:
            return None, wanted
        names = tuple(key) or new.columns
        tagged = tag_rows(new, asked)
        found = run_tagged(new, tagged, condition_of(wanted, names), {"#wanted": wanted.select(list(names))})
        made, rest = _written_here(commit, wanted, found, names)
        if not made.num_rows:
            return None, wanted
        tags = tags_of(matched_by(found, made, names), tagged.column)
        kept = {
            name: fetch_rows(new, tagged, name, tags.rows.get(source.number, []))
            for name, source in tagged.sources.items()
        }
        verified = None if asked is not None else _gives(new, _plain(tagged, kept), made)
        if verified and session.statement.tree.key == "merge":
            kept = _without_target(new, tagged, kept, made, commit)
        lines = tuple(lines_of(tagged.files[at], records) for at, records in tags.records.items())
        absent = tuple(tagged.notes[at] for at in sorted(tags.notes))
        hop = _told(commit, made, inputs=_inputs(new, kept), absent=absent, verified=verified, lines=lines)
        return hop, rest


def _written_here(
    commit: Commit, wanted: pa.Table, found: pa.Table, names: tuple[str, ...]
) -> tuple[pa.Table, pa.Table]:
    """The rows that a commit wrote, of those that its query gives by their key, and the others. A row with other
    values than the query gives was there before if the state before has it: a newer sequence number may have won."""
    made, rest = matched_by(wanted, found, names), without(wanted, found, names)
    every = tuple(name for name in made.column_names if name in found.column_names)
    other = without(made, found, every)
    if not other.num_rows or commit.base is None:
        return made, rest
    try:
        before = rows_before(commit)
    except NotFoundError:
        return made, rest
    kept = matched_by(other, before, tuple(name for name in every if name in before.column_names))
    return without(made, kept, every), pa.concat_tables([rest, kept])


def _plain(tagged: Tagged, kept: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """Rows without the columns that only tell them apart."""
    hidden = {name: source.hidden for name, source in tagged.sources.items()}
    return {name: rows if (row := hidden[name]) is None else rows.drop_columns([row]) for name, rows in kept.items()}


def _without_target(
    new: NewRows, tagged: Tagged, kept: dict[str, pa.Table], made: pa.Table, commit: Commit
) -> dict[str, pa.Table]:
    """The rows without those of the table that a MERGE changed, if it would have inserted what it updated."""
    target = [name for name, pinned in new.pins.items() if pinned.name == commit.table.name]
    fewer = kept | {name: kept[name].slice(0, 0) for name in target}
    return fewer if _gives(new, _plain(tagged, fewer), made) else kept


def _inputs(new: NewRows, kept: dict[str, pa.Table]) -> tuple[InputRows, ...]:
    """The rows of each state together, whatever the places that the query names it at.

    A row that several places have is there once; equal rows of a table without a key are told apart by their number.
    """
    found: dict[tuple[str, int], pa.Table] = {}
    for name, rows in kept.items():
        if rows.num_rows:
            version = str(new.pins[name].name), new.pins[name].state.snapshot_id
            known = found.get(version)
            fresh = rows if known is None else without(rows, known, tuple(rows.column_names))
            found[version] = fresh if known is None else pa.concat_tables([known, fresh])
    schemas = {str(pinned.name): pinned.schema for pinned in new.pins.values()}
    told = []
    for (name, id), rows in found.items():
        kept_names = [each for each in rows.column_names if each in schemas[name].names]
        told.append(InputRows(name, id, rows.select(kept_names), schemas[name]))
    return tuple(told)


def _gives(new: NewRows, kept: dict[str, pa.Table], made: pa.Table) -> bool:
    """Return whether the query over some rows alone gives rows that were made."""
    given = new.run.generated(new.text, only_rows(new, kept)).rename_columns(list(new.columns))
    every = tuple(name for name in new.columns if name in made.column_names)
    return not without(made, given, every).num_rows


def _as_then(wanted: pa.Table, asked: Columns, schema: Schema, commit: Commit) -> tuple[pa.Table, Columns]:
    """Rows, and columns that are asked for, by the names that the table had when a commit wrote it instead of those
    of a schema: columns added since are left out."""
    then = {each.id: each.name for each in commit.schema.fields}
    names = {
        each.name: then[each.id] for each in schema.fields if each.id in then and each.name in wanted.column_names
    }
    folded = {name.casefold(): each.casefold() for name, each in names.items()}
    columns = None if asked is None else frozenset(folded[name] for name in asked if name in folded)
    return wanted.select(list(names)).rename_columns(list(names.values())), columns


def _by_hand(warehouse: Warehouse, commit: Commit, wanted: pa.Table) -> tuple[Hop | None, pa.Table]:
    """The rows that a commit without a recipe brought: those that the state before it does not have."""
    if commit.base is None or commit.snapshot.operation is Operation.OVERWRITE:
        return _told(commit, wanted), wanted.slice(0, 0)
    try:
        before = rows_before(commit)
    except NotFoundError:
        return _told(commit, wanted, reason=f"{commit.table.name}@{commit.base} has expired"), wanted.slice(0, 0)
    names = tuple(name for name in wanted.column_names if name in before.column_names)
    made = without(wanted, before, names)
    rest = matched_by(wanted, before, names)
    return (_told(commit, made) if made.num_rows else None), rest


def _told(commit: Commit, rows: pa.Table, **more: Any) -> Hop:
    snapshot, origin = commit.snapshot, commit.origin
    sql = (origin.recipe.sql if origin.recipe is not None else None) or origin.sql
    return Hop(
        *(str(commit.table.name), snapshot.snapshot_id, rows, snapshot.operation.value),
        job=origin.job or snapshot.commit_user,
        run=origin.run_id,
        time=snapshot.timestamp,
        sql=sql,
        **more,
    )


def first_hop(warehouse: Warehouse, commit: Commit, rows: pa.Table) -> Hop:
    """The rows behind some rows that a commit made, one hop down.
    RAISES: CannotTellError when that cannot be told."""
    hop, rest = _hop(warehouse, commit, rows, None)
    if hop is None or rest.num_rows:
        raise CannotTellError(f"the recipe of {commit} does not give these rows")
    return hop

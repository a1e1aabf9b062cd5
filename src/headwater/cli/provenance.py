"""`headwater replay | bisect`: the past of a table, asked by its recipes."""

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.lake_tables import open_warehouse, time_text
from headwater.cli.on_spark import pop_spark, session, spark_options
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json
from headwater.cli.terminal import say, say_lines
from headwater.errors import UsageError
from headwater.events.titles import job_owner
from headwater.fit import number_text, row_text, value_text
from headwater.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.lake.tables import Warehouse
    from headwater.provenance.bisect import Move, RowShare
    from headwater.provenance.replay import Replay, RowsOf

_SHOWN = 5  # rows that differ


def split_moment(table: str) -> tuple[str, Any]:
    """The name and the moment of `TABLE[@MOMENT]`; `-1` counts back from the newest."""
    name, _, moment = table.partition("@")
    return name, None if not moment else f"@{moment}" if moment.startswith("-") else moment


@command(
    "replay",
    examples=(
        "headwater replay gold.revenue",
        "headwater replay gold.revenue@3 --deep --json",
        "headwater replay gold.revenue --master 'local[2]'",
    ),
)
@click.argument("table", metavar="TABLE[@MOMENT]")
@click.option("--deep", is_flag=True, help="Also run the recipes of the inputs again, and of theirs.")
@click.option(
    "--as-table", "kept", metavar="DATABASE.TABLE", help="Keep the rows that the recipe gives in a new table."
)
@spark_options
@click.pass_obj
def replay(flags: Flags, /, table: str, deep: bool, kept: str | None, **how: Any) -> int:
    """Run the query that made a snapshot again, on the states that it read, and compare the rows.

    Exit code 1 when a row differs, or the query cannot be run again: the reasons are shown.
    """
    from headwater.provenance.replay import replay as run_again

    name, moment = split_moment(table)
    warehouse = open_warehouse(flags)
    with _spark_rows(*pop_spark(how)) as spark:
        found = run_again(warehouse, name, moment, deep=deep, spark=spark)
        if kept is not None:
            _keep(warehouse, name, moment, kept, spark)
    if flags.json:
        print_json([_replay_json(each) for each in found])
    else:
        for each in found:
            _say_replay(each)
    return 0 if all(each.identical for each in found) else 1


@contextmanager
def _spark_rows(master: str | None, conf: dict[str, str]) -> "Iterator[RowsOf | None]":
    """The function that runs recipes on a master; None without one: then DuckDB runs them."""
    if master is None:
        yield None
        return
    with session(master, conf) as spark:
        from headwater.spark.rerun import rows_by

        yield rows_by(spark)


def _keep(warehouse: "Warehouse", name: str, moment: Any, kept: str, spark: "RowsOf | None") -> None:
    from headwater.provenance.commits import find_commit
    from headwater.provenance.replay import replay_rows

    if warehouse.has_table(kept):
        raise UsageError(f"there is a table {kept} already", hint="name one that is not there")
    commit = find_commit(warehouse, name, moment)
    rows = (spark or replay_rows)(warehouse, commit)
    schema = commit.table.store.shape(commit.snapshot.schema_id).schema
    warehouse.create_database(kept.rpartition(".")[0] or "default", if_not_exists=True)
    warehouse.create_table(kept, schema).write(rows)


def _replay_json(each: "Replay") -> dict[str, Any]:
    return {**dataclasses.asdict(each), "identical": each.identical}


def _say_replay(each: "Replay") -> None:
    version, compared = f"{each.dataset}@{each.snapshot_id}", each.comparison
    if compared is None:
        say(f"{version}  cannot be told: {each.reasons[0]}")
        if each.hint:
            say(f"  {each.hint}")
        return
    if compared.identical:
        say(f"{version}  identical: {counted(compared.rows, 'row')}, content {compared.content}")
        return
    differ = f"{counted(compared.different, 'row')} {'differs' if compared.different == 1 else 'differ'}"
    say(f"{version}  {differ}: {compared.rows:,} kept, {compared.replayed_rows:,} replayed")
    for row in compared.shown[:_SHOWN]:
        if row.kept is None:
            say(f"  only replayed  {row.replayed}")
        elif row.replayed is None:
            say(f"  only kept      {row.kept}")
        else:
            changed = ", ".join(f"{name}: {row.kept[name]!r} → {row.replayed[name]!r}" for name in row.columns)
            say(f"  differs        {changed}   in {row.kept}")
    for reason in each.reasons:
        say(f"  it may, since {reason}")


@command(
    "bisect",
    examples=(
        "headwater bisect gold.revenue --expr 'sum(revenue)'",
        "headwater bisect gold.revenue --expr 'sum(revenue)' --where \"country = 'DE'\" --from 3 --to 5 --json",
    ),
)
@click.argument("table", metavar="TABLE")
@click.option("--expr", "expression", required=True, metavar="FIGURE", help="One value, such as sum(revenue).")
@click.option("--where", metavar="PREDICATE", help="Of the rows for which a condition holds.")
@click.option("--from", "start", metavar="MOMENT", help="The oldest snapshot to compare; the first by default.")
@click.option("--to", "end", metavar="MOMENT", help="The newest snapshot to compare; the last by default.")
@click.pass_obj
def bisect(flags: Flags, table: str, expression: str, where: str | None, start: Any, end: Any) -> int:
    """Find the commits that moved a figure of a table, down to the rows of the inputs, and how much each did.

    The query that made a snapshot is run again with one input at its older state at a time. Exit code 1 when the
    figure moved.
    """
    from headwater.provenance.bisect import bisect as find_moves

    moves = find_moves(open_warehouse(flags), table, expression, where=where, start=start, end=end)
    if flags.json:
        print_json(moves)
    elif not moves:
        say(f"{expression} of {table} did not move")
    else:
        say_lines(flags, "\n".join(line for move in moves for line in _move_lines(move, expression, "")))
    return 1 if moves else 0


def _move_lines(move: "Move", expression: str, indent: str) -> "Iterator[str]":
    about = about_commit(move.operation, move.job, move.place, move.time)
    share = "" if move.share is None else f" ({_signed(move.share)})"
    told = f"{number_text(move.before)} → {number_text(move.after)}{share}"
    head = (
        f"{expression} of {move.dataset}@{move.snapshot_id}"
        if not indent
        else f"by {move.dataset}@{move.snapshot_id}"
    )
    yield f"{indent}{head}  {told}  ({about})"
    for each in move.rows[:_SHOWN]:
        yield f"{indent}  {_change_text(each)}"
    if move.changed_rows > _SHOWN:
        yield f"{indent}  {counted(move.changed_rows, 'row')} changed"
    for lines in move.lines:
        numbers = ", ".join(map(str, lines.lines[:_SHOWN]))
        yield f"{indent}  from {lines.path}, line{'s' if len(lines.lines) > 1 else ''} {numbers}"
    if move.reason is not None:
        yield f"{indent}  cannot be told further: {move.reason}"
    for cause in move.causes:
        yield from _move_lines(cause, expression, indent + "  ")


def _change_text(each: "RowShare") -> str:
    before, after, names = each.change.before, each.change.after, each.change.columns
    share = "" if each.share is None else f"  ({_signed(each.share)})"
    if before is None or after is None:
        row = row_text(after or before or {})
        return f"{'came' if before is None else 'went'}: {row}{share}"
    same = row_text({name: value for name, value in after.items() if name not in names})
    changed = ", ".join(f"{name} {value_text(before.get(name))} → {value_text(after[name])}" for name in names)
    return f"{same}: {changed}{share}"


def about_commit(operation: str | None, job: str | None, place: str | None, time: int | None) -> str:
    """Say how a commit was made, by whom, and when."""
    by = f"{operation or 'written'} by {job_owner(job)}" if job else operation
    return ", ".join(part for part in (by, place, time_text(time) if time else None) if part)


def _signed(share: Any) -> str:
    return f"{round(share, 6):+,}" if isinstance(share, float) else f"{share:+,}"

"""`headwater lake history | diff | tag | rollback | compact | expire | orphans`: a table through time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.lake_tables import open_table, open_warehouse, size_text, time_text
from headwater.cli.on_spark import place_of, pop_spark, session, spark_bar, spark_options
from headwater.cli.options import Flags, command
from headwater.cli.progress import progress_over
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say
from headwater.errors import UsageError
from headwater.fit import row_text, value_text
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.lake.metadata.expire import Delete


@command(
    "history", examples=("headwater lake history sales.orders 42", "headwater lake history db.t 2026-11-01,7 --json")
)
@click.argument("table")
@click.argument("key")
@click.pass_obj
def history(flags: Flags, table: str, key: str) -> None:
    """Show every kept version of one row. A key of several columns is separated by commas."""
    from headwater.cli.where import parse_key

    source = open_table(flags, table)
    versions = source.history(parse_key(key, source.schema))
    if flags.json:
        print_json(
            [
                {
                    "snapshot": each.snapshot_id,
                    "time": each.timestamp,
                    "operation": each.operation,
                    "kind": each.kind,
                    "row": dict(each.row.items()) if each.row is not None else None,
                }
                for each in versions
            ]
        )
        return
    names = source.schema.names
    rows = [
        (
            each.snapshot_id,
            time_text(each.timestamp),
            each.kind,
            *(each.row.values if each.row else [""] * len(names)),
        )
        for each in versions
    ]
    print_table(("snapshot", "time (UTC)", "", *names), rows)


@command("diff", examples=("headwater lake diff sales.orders @-1", "headwater lake diff sales.orders v1 v2 --json"))
@click.argument("table")
@click.argument("start")
@click.argument("end", required=False)
@click.pass_obj
def diff(flags: Flags, table: str, start: str, end: str | None) -> int:
    """Show the keys whose rows differ between two moments, before and after. Exit code 1 when there are any."""
    from headwater.lake.engine.row import python_rows

    source = open_table(flags, table)
    found = python_rows(source.diff(start, end))
    if flags.json:
        print_json(found)
        return 1 if found else 0
    keys = list(source.schema.primary_keys)
    for row in found:
        changed = _changed(row["before"], row["after"])
        both = row["before"] is not None and row["after"] is not None
        name = f"{row_text({key: row[key] for key in keys if key in row})}: " if both else ""
        say(f"{row['_kind']:<3}{name}{changed}")
    return 1 if found else 0


def _changed(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str:
    """Return what differs between two images of a row."""
    if before is None or after is None:
        return row_text(before or after or {})
    return ", ".join(
        f"{name} {value_text(before[name])} → {value_text(value)}"
        for name, value in after.items()
        if value != before[name]
    )


@command(
    "tag",
    examples=("headwater lake tag sales.orders release-1 --as-of @-1", "headwater lake tag sales.orders --json"),
)
@click.argument("table")
@click.argument("name", required=False)
@click.option("--as-of", "at", metavar="MOMENT", help="The snapshot to name; the latest by default.")
@click.option("--delete", "gone", is_flag=True, help="Remove the tag instead.")
@click.pass_obj
def tag(flags: Flags, table: str, name: str | None, at: str | None, gone: bool) -> None:
    """Name a snapshot so that it stays; without a name, list the tags."""
    source = open_table(flags, table)
    if gone and name is None:
        raise UsageError("which tag?", hint="headwater lake tag TABLE NAME --delete")
    if name is not None and gone:
        source.delete_tag(name)
    elif name is not None:
        source.create_tag(name, at)
    tags = source.tags()
    if flags.json:
        print_json({name: each.snapshot_id for name, each in tags.items()})
    else:
        print_table(
            ("tag", "snapshot", "time (UTC)"), [(n, s.snapshot_id, time_text(s.timestamp)) for n, s in tags.items()]
        )


@command("rollback", examples=("headwater lake rollback sales.orders @-1", "headwater lake rollback sales.orders v1"))
@click.argument("table")
@click.argument("moment")
@click.pass_obj
def rollback(flags: Flags, table: str, moment: str) -> None:
    """Make a table what it was, by a new snapshot; what came between stays in its history."""
    snapshot = open_table(flags, table).rollback(moment)
    say_done(flags, {"snapshot": snapshot.snapshot_id}, f"snapshot {snapshot.snapshot_id} is as {moment} was")


@command(
    "compact",
    examples=(
        "headwater lake compact sales.orders",
        "headwater lake compact sales.orders sales.lines --due --master spark://host:7077",
    ),
)
@click.argument("tables", nargs=-1, required=True)
@click.option("--due", is_flag=True, help="Only the buckets where it is due.")
@spark_options
@click.pass_obj
def compact(flags: Flags, /, tables: tuple[str, ...], due: bool, **how: Any) -> None:
    """Merge the sorted runs of each bucket into one; on Spark, each bucket in a task."""
    master, conf = pop_spark(how)
    done = []
    if master is not None:
        from headwater.jobs import upkeep

        places = [place_of(flags, table) for table in tables]
        with session(master, conf) as spark:
            bar = spark_bar(flags, "compacting")
            done = upkeep.compact(spark.sparkContext, places, full=not due, progress=bar)
    for table in tables if master is None else ():
        source = open_table(flags, table)
        with progress_over(source.store.latest().places, "compacting", flags) as step:
            done += source.compact(full=not due, progress=step)
    before, after = sum(each.files_before for each in done), sum(each.files_after for each in done)
    say_done(flags, done, f"{counted(len(done), 'bucket')}: {counted(before, 'file')} became {after:,}")


@command(
    "expire",
    examples=(
        "headwater lake expire sales.orders --keep 10 --older-than 3600",
        "headwater lake expire sales.orders --dry-run",
        "headwater lake expire sales.orders --keep-max 100 --master 'local[8]'",
    ),
)
@click.argument("table")
@click.option("--keep", "keep_min", default=10, show_default=True, help="Keep at least so many snapshots.")
@click.option("--keep-max", type=int, help="Keep at most so many snapshots.")
@click.option("--older-than", default=3600.0, show_default=True, help="Expire only those older than so many seconds.")
@click.option("--dry-run", is_flag=True, help="Show what would go.")
@spark_options
@click.pass_obj
def expire(flags: Flags, /, table: str, **how: Any) -> None:
    """Remove old snapshots and what only they need; tags and running readers keep theirs.

    On Spark, files are removed in tasks.
    """
    with _deleting(flags, table, how) as delete:
        removal = open_table(flags, table).expire_snapshots(**how, delete=delete)
    verb = "would go" if how["dry_run"] else "went"
    snapshots, files = counted(len(removal.snapshots), "snapshot"), counted(len(removal.files), "file")
    say_done(flags, removal, f"{snapshots} and {files} {verb}")


@command(
    "orphans",
    examples=(
        "headwater lake orphans sales.orders",
        "headwater lake orphans --remove",
        "headwater lake orphans sales.orders --remove --master spark://host:7077 --conf spark.cores.max=8",
    ),
)
@click.argument("table", required=False)
@click.option("--older-than", default=86_400.0, show_default=True, help="Only files older than so many seconds.")
@click.option("--remove", is_flag=True, help="Remove them.")
@spark_options
@click.pass_obj
def orphans(flags: Flags, /, table: str | None, older_than: float, remove: bool, **how: Any) -> None:
    """Find files of a table that nothing refers to: what writers that died left behind.

    Without a table, find folders of the warehouse that belong to none. On Spark, files are removed in tasks.
    """
    if table is None:
        if pop_spark(how)[0] is not None:
            raise UsageError("folders of a warehouse are not removed on Spark", hint="name a table")
        removal = open_warehouse(flags).remove_orphans(older_than=older_than, dry_run=not remove)
    else:
        with _deleting(flags, table, how) as delete:
            source = open_table(flags, table)
            removal = source.remove_orphans(older_than=older_than, dry_run=not remove, delete=delete)
    verb = "removed" if remove else "found"
    told = f"{counted(len(removal.files), 'file')} {verb}, {size_text(removal.size)}"
    say_done(flags, removal, "\n".join((*removal.files, told)))


@contextmanager
def _deleting(flags: Flags, table: str, how: dict[str, Any]) -> "Iterator[Delete | None]":
    """The function that removes files: by tasks if the options name a master; None leaves it to this process."""
    master, conf = pop_spark(how)
    if master is None:
        yield None
        return
    from headwater.jobs.upkeep import delete_in_tasks

    with session(master, conf) as spark:
        yield delete_in_tasks(spark.sparkContext, place_of(flags, table), spark_bar(flags, "removing"))


def say_done(flags: Flags, facts: Any, text: str) -> None:
    """Print what was done: as JSON if that is asked for, else as a sentence."""
    if flags.json:
        print_json(facts)
    else:
        say(text)


COMMANDS = (history, diff, tag, rollback, compact, expire, orphans)

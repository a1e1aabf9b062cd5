"""`headwater rebuild`: bring the tables that queries define up to date, for the least work."""

import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.lake_tables import open_warehouse, size_text
from headwater.cli.on_spark import pop_spark, session, spark_options
from headwater.cli.options import Flags, command
from headwater.cli.progress import progress_over
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.graph.rebuild import Rebuilt
    from headwater.lake.tables import Warehouse

_PLANNED = ("rows to read", "bytes", "time expected")
_UP_TO_DATE = "every table is up to date with what it is made of"
_DONE = ("removed", "written", "snapshot", "time")


@command(
    "rebuild",
    examples=(
        "headwater rebuild --dry-run",
        "headwater rebuild stale",
        "headwater rebuild +gold.revenue --verify",
        "headwater rebuild --adopt gold.revenue",
        "headwater rebuild +gold.revenue --master 'local[*]'",
    ),
)
@click.argument("selector", required=False)
@click.option("--dry-run", is_flag=True, help="Show the plan: each table, what changed, and how it would be done.")
@click.option("--full", is_flag=True, help="Run each query whole, whatever has changed.")
@click.option("--verify", is_flag=True, help="Compare each table with a full run of its query afterwards.")
@click.option("--adopt", is_flag=True, help="Declare the query that made SELECTOR as its definition, and no more.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Tables at a time.")
@click.option(
    "--watch", type=click.FloatRange(min=0.1), metavar="SECONDS", help="Do it again, so often, until Ctrl-C."
)
@spark_options
@click.pass_obj
def rebuild(
    flags: Flags,
    /,
    selector: str | None,
    dry_run: bool,
    full: bool,
    verify: bool,
    adopt: bool,
    jobs: int,
    watch: float | None,
    **how: Any,
) -> int:
    """Bring tables up to date with their inputs: those declared by CREATE MATERIALIZED VIEW, or those that SELECTOR
    names and a query made. `stale` names those that are behind and what is made of them, `tag:pii` those with that
    tag on them or on a column.

    Nothing is done where no column that is read has changed. Otherwise only what changed is computed where that is
    known to give the rows of a full run, and the reason is given where it is not. Tables that a statement of Spark
    made are made anew by Spark, with --master. Exit code 1 when a table fails, or with --verify differs.
    """
    from headwater.graph.rebuild import adopt_table

    master, conf = pop_spark(how)
    warehouse = open_warehouse(flags)
    if adopt:
        if selector is None:
            raise click.UsageError("--adopt needs the name of a table")
        definition = adopt_table(warehouse, selector)
        say(f"{definition.table.name} is declared as: {definition.query}")
        return 0
    options = {"full": full} if dry_run else {"full": full, "verify": verify, "jobs": jobs}
    with nullcontext() if master is None or dry_run else session(master, conf) as spark:
        while True:
            found = _rebuilt(flags, warehouse, selector, spark, dry_run=dry_run, options=options)
            if flags.json:
                print_json(found)
            else:
                none = f"no table of {warehouse.url} is declared by CREATE MATERIALIZED VIEW"
                _say(flags, found, none if selector is None else _UP_TO_DATE, dry_run=dry_run)
            if watch is None:
                return 1 if any(each.error is not None or each.differs for each in found) else 0
            time.sleep(watch)


def _rebuilt(
    flags: Flags, warehouse: "Warehouse", selector: str | None, spark: Any, *, dry_run: bool, options: dict[str, Any]
) -> "list[Rebuilt]":
    """Plan or do one rebuild; statements of Spark run on `spark`, if there is one."""
    from headwater.graph.rebuild import find_tables, plan_rebuild
    from headwater.graph.rebuild import rebuild as bring_up_to_date

    tables = find_tables(warehouse, selector)
    if dry_run:
        return plan_rebuild(warehouse, tables, **options)
    if spark is not None:
        from headwater.spark.rerun import rows_now

        options = options | {"spark": rows_now(spark)}
    with progress_over(tables, "rebuilding", flags) as step:
        step("")
        return bring_up_to_date(warehouse, tables, progress=lambda done: step(done.table), **options)


def _say(flags: Flags, found: "list[Rebuilt]", nothing: str, *, dry_run: bool) -> None:
    work = [each for each in found if each.way != "nothing"]
    if not work and not flags.quiet:
        say(_UP_TO_DATE if found else nothing)
    if work:
        heads = ("table", "how", "because", *(_PLANNED if dry_run else _DONE))
        print_table(heads, [_row(each, dry_run=dry_run) for each in work])
    for each in work:
        for reason in each.reasons if each.way in ("full", "keys") else ():
            say(f"{each.table}: {reason}")
        if each.error is not None:
            say(f"{each.table} failed: {each.error}", err=True)
        if each.differs is not None:
            differs = f"differs from a full run in {counted(each.differs, 'row')}"
            say(f"{each.table} {differs if each.differs else 'is what a full run gives'}")


def _row(each: "Rebuilt", *, dry_run: bool) -> tuple[object, ...]:
    because = "; ".join(
        f"{one.dataset} {one.read}→{one.latest}: {counted(one.gone, 'row')} gone, {one.came:,} came"
        for one in each.inputs
    )
    because = because or (each.reasons[0] if each.reasons else "")
    if dry_run:
        return each.table, each.way, because, *_cost(each)
    snapshot = "" if each.snapshot_id is None else str(each.snapshot_id)
    return each.table, each.way, because, f"{each.gone:,}", f"{each.came:,}", snapshot, f"{each.seconds:.1f} s"


def _cost(each: "Rebuilt") -> tuple[str, str, str]:
    """The rows and bytes to read, those that changed of those that a full run reads, and the time expected."""
    assert each.cost is not None
    cost = each.cost
    rows, size = f"{cost.input_rows:,}", size_text(cost.input_bytes)
    if cost.changed_rows is not None and cost.changed_bytes is not None:
        rows, size = f"{cost.changed_rows:,} of {rows}", f"{size_text(cost.changed_bytes)} of {size}"
    elif each.way == "waits":
        rows, size = f"at most {rows}", f"at most {size}"
    return rows, size, "" if cost.seconds is None else f"{cost.seconds:.1f} s"

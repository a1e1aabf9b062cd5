"""`headwater jobs compact | expire | orphans | rescale | import | export`: work on tables that runs on Spark."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.options import Command, Flags, command, global_options, split_options
from headwater.cli.render import print_json
from headwater.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.spark.source.options import Place

master = click.option(
    "--master",
    default="local[*]",
    show_default=True,
    help="The Spark master to run on: local[*], spark://…, yarn, k8s://…",
)
settings = click.option(
    "--conf", "conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark, as `spark-submit` takes it."
)


class JobsGroup(click.Group):
    """The group, with the global options last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        split_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group("jobs", cls=JobsGroup, params=global_options())
def jobs() -> None:
    """Keep tables in shape, and move data in and out of them, on Spark."""


def job(name: str, *, examples: tuple[str, ...]) -> Callable[[Callable[..., Any]], Command]:
    """A command of this group that takes a master and settings of Spark."""

    def decorate(function: Callable[..., Any]) -> Command:
        made = command(name, examples=examples)(master(settings(function)))
        jobs.add_command(made)
        return made

    return decorate


@contextmanager
def _spark(how: dict[str, Any]) -> Iterator["SparkSession"]:
    from headwater.jobs.session import spark_session

    pairs = [text.partition("=") for text in how.pop("conf")]
    wrong = [name for name, equals, _ in pairs if not equals]
    if wrong:
        raise UsageError(f"--conf {wrong[0]} has no value", hint="--conf NAME=VALUE")
    with spark_session(how.pop("master"), settings={name: value for name, _, value in pairs}) as spark:
        yield spark


def _place(flags: Flags, table: str) -> "Place":
    from headwater.spark.source.options import Options

    return Options({"warehouse": flags.settings.warehouse, "table": table}).place()


def _bar(flags: Flags, title: str) -> Callable[[int, int], None]:
    """A line on a terminal that says how far the work is."""
    if not flags.show_progress:
        return lambda done, total: None
    return lambda done, total: click.echo(f"\r{title}: {done} of {total}", err=True, nl=done == total)


def _say(flags: Flags, facts: Any, text: str) -> None:
    if flags.json:
        print_json(facts)
    else:
        click.echo(text)


@job(
    "compact",
    examples=(
        "headwater jobs compact sales.orders",
        "headwater jobs compact sales.orders sales.lines --due --master 'local[8]'",
    ),
)
@click.argument("tables", nargs=-1, required=True)
@click.option("--due", is_flag=True, help="Only the buckets where it is due.")
@click.pass_obj
def compact(flags: Flags, /, tables: tuple[str, ...], due: bool, **how: Any) -> None:
    """Merge the sorted runs of each bucket into one, each bucket in a task."""
    from headwater.jobs import upkeep

    with _spark(how) as spark:
        places = [_place(flags, table) for table in tables]
        done = upkeep.compact(spark, places, full=not due, progress=_bar(flags, "compacting"))
    before, after = sum(each.files_before for each in done), sum(each.files_after for each in done)
    _say(flags, done, f"{len(done)} buckets: {before} files became {after}")


@job(
    "expire",
    examples=(
        "headwater jobs expire sales.orders --keep 10",
        "headwater jobs expire sales.orders --keep-max 100 --older-than 86400",
    ),
)
@click.argument("table")
@click.option("--keep", default=10, show_default=True, help="Keep at least so many snapshots.")
@click.option("--keep-max", type=int, help="Keep at most so many snapshots.")
@click.option("--older-than", default=3600.0, show_default=True, help="Expire only those older than so many seconds.")
@click.pass_obj
def expire(flags: Flags, /, table: str, keep: int, keep_max: int | None, older_than: float, **how: Any) -> None:
    """Remove old snapshots, and in tasks the files that only they need."""
    from headwater.jobs import upkeep
    from headwater.lake.metadata.expire import Retention

    most = keep_max if keep_max is not None else 1 << 60
    retention = Retention(min(keep, most), most, int(older_than * 1000))
    with _spark(how) as spark:
        gone = upkeep.expire_snapshots(spark, _place(flags, table), retention, progress=_bar(flags, "removing"))
    _say(flags, gone, f"{len(gone.snapshots)} snapshots and {len(gone.files)} files went")


@job(
    "orphans",
    examples=(
        "headwater jobs orphans sales.orders",
        "headwater jobs orphans sales.orders --older-than 3600 --conf spark.cores.max=8",
    ),
)
@click.argument("table")
@click.option("--older-than", default=86_400.0, show_default=True, help="Only files older than so many seconds.")
@click.pass_obj
def orphans(flags: Flags, /, table: str, older_than: float, **how: Any) -> None:
    """Remove files that nothing refers to: what writers and tasks that died left behind."""
    from headwater.jobs import upkeep

    with _spark(how) as spark:
        place = _place(flags, table)
        gone = upkeep.clean_orphans(spark, place, older_than=older_than, progress=_bar(flags, "removing"))
    _say(flags, gone, f"{len(gone.files)} files removed")


@job(
    "rescale",
    examples=(
        "headwater jobs rescale sales.orders --buckets 8",
        "headwater jobs rescale sales.orders --buckets 64 --master yarn",
    ),
)
@click.argument("table")
@click.option("--buckets", type=click.IntRange(1, 1 << 16), required=True, help="How many buckets there will be.")
@click.pass_obj
def rescale(flags: Flags, /, table: str, buckets: int, **how: Any) -> None:
    """Give a table another number of buckets. Its history begins again; nobody may write to it meanwhile."""
    from headwater.jobs.rescale import rescale as run

    with _spark(how) as spark:
        run(spark, _place(flags, table), buckets, progress=_bar(flags, "writing"))
    _say(flags, {"table": table, "buckets": buckets}, f"{table} has {buckets} buckets")


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    wrong = [name for name, equals, _ in pairs if not equals]
    if wrong:
        raise UsageError(f"--option {wrong[0]} has no value", hint="--option NAME=VALUE")
    return {name: value for name, _, value in pairs}


outside = (
    click.option("--format", "format", help="parquet, csv, json, orc, avro, text or jdbc; else by the ending."),
    click.option(
        "-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of Spark's format."
    ),
)


@job(
    "import",
    examples=(
        "headwater jobs import sales.orders orders.parquet --key id",
        "headwater jobs import sales.orders --format jdbc -o url=jdbc:… -o dbtable=orders",
    ),
)
@click.argument("table")
@click.argument("path", required=False)
@outside[0]
@outside[1]
@click.option("--key", default="", metavar="COLUMNS", help="The primary key, if the table is made.")
@click.option("--id", help="Names the import: run again, it does not bring its rows twice.")
@click.option("--overwrite", is_flag=True, help="Put the rows in the place of those there are.")
@click.pass_obj
def import_(flags: Flags, /, table: str, path: str | None, **how: Any) -> None:
    """Bring rows of Parquet, CSV, JSON, ORC or JDBC into a table, in one commit."""
    from headwater.jobs.exchange import Outside, import_rows

    source = Outside(path, how.pop("format"), _pairs(how.pop("options")))
    key, id, overwrite = how.pop("key"), how.pop("id"), how.pop("overwrite")
    with _spark(how) as spark:
        import_rows(spark, _place(flags, table), source, primary_key=key, id=id, overwrite=overwrite)
    rows = _place(flags, table).open().stats()
    _say(flags, rows, f"{table} has {rows.rows:,} rows")


@job(
    "export",
    examples=(
        "headwater jobs export sales.orders out.parquet",
        "headwater jobs export sales.orders out.csv --as-of @-1",
    ),
)
@click.argument("table")
@click.argument("path")
@outside[0]
@outside[1]
@click.option("--as-of", "at", metavar="MOMENT", help="The table as it was at a moment.")
@click.pass_obj
def export(flags: Flags, /, table: str, path: str, at: str | None, **how: Any) -> None:
    """Write a table as Parquet, CSV, JSON or ORC files, by many tasks at once."""
    from headwater.jobs.exchange import Outside, export_rows

    target = Outside(path, how.pop("format"), _pairs(how.pop("options")))
    with _spark(how) as spark:
        export_rows(spark, _place(flags, table), target, at=at)
    _say(flags, {"table": table, "path": path}, f"{table} is in {path}")

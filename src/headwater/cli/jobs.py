"""`headwater jobs rescale | export`: work that only Spark does. What it does as well is a command with `--master`."""

from collections.abc import Callable
from typing import Any

import click

from headwater.cli.lake_time import say_done
from headwater.cli.on_spark import MASTERS, pairs, place_of, session, settings, spark_bar
from headwater.cli.options import Command, Flags, SubGroup, command, global_options
from headwater.text import counted


@click.group("jobs", cls=SubGroup, params=global_options())
def jobs() -> None:
    """Write tables anew, or out, on Spark."""


def job(name: str, *, examples: tuple[str, ...]) -> Callable[[Callable[..., Any]], Command]:
    """A command of this group that takes a master and settings of Spark."""
    master = click.option("--master", default="local[*]", show_default=True, help=f"The Spark to run on: {MASTERS}")

    def decorate(function: Callable[..., Any]) -> Command:
        made = command(name, examples=examples)(master(settings(function)))
        jobs.add_command(made)
        return made

    return decorate


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
def rescale(flags: Flags, /, table: str, buckets: int, master: str, conf: tuple[str, ...]) -> None:
    """Give a table another number of buckets. Its history begins again; nobody may write to it meanwhile."""
    from headwater.jobs.rescale import rescale as run

    with session(master, pairs("--conf", conf)) as spark:
        run(spark, place_of(flags, table), buckets, progress=spark_bar(flags, "writing"))
    say_done(flags, {"table": table, "buckets": buckets}, f"{table} has {counted(buckets, 'bucket')}")


@job(
    "export",
    examples=(
        "headwater jobs export sales.orders out.parquet",
        "headwater jobs export sales.orders out.csv --as-of @-1",
    ),
)
@click.argument("table")
@click.argument("path")
@click.option("--format", "format", help="parquet, csv, json, orc, avro or text; else by the ending.")
@click.option("-o", "--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of Spark's format.")
@click.option("--as-of", "at", metavar="MOMENT", help="The table as it was at a moment.")
@click.pass_obj
def export(flags: Flags, /, table: str, path: str, at: str | None, master: str, **how: Any) -> None:
    """Write a table as Parquet, CSV, JSON or ORC files, by many tasks at once."""
    from headwater.jobs.exchange import Outside, export_rows

    target = Outside((path,), how["format"], pairs("--option", how["options"]))
    with session(master, pairs("--conf", how["conf"])) as spark:
        export_rows(spark, place_of(flags, table), target, at=at)
    say_done(flags, {"table": table, "path": path}, f"{table} is in {path}")

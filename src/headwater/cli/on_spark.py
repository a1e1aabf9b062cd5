"""Options of commands that can run on Spark, and the session that they ask for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.options import Flags
from headwater.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.spark.source.options import TablePlace

MASTERS = "local[*], spark://…, yarn, k8s://…"


def spark_options(function: Any) -> Any:
    """Let a command take `--master` and `--conf`; without a master it runs in this process."""
    master = click.option("--master", metavar="URL", help=f"Run on this Spark: {MASTERS} Default: this process.")
    return master(settings(function))


settings = click.option(
    "--conf", "conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark, as `spark-submit` takes it."
)


def pop_spark(how: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    """Take the master and the settings out of the options of a command.

    RAISES: UsageError for settings without a master or without a value.
    """
    master, conf = how.pop("master"), how.pop("conf")
    if conf and master is None:
        raise UsageError("--conf is for Spark, and no --master says on which", hint="--master 'local[*]'")
    return master, pairs("--conf", conf)


def pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE texts of an option. RAISES: UsageError for one without a value."""
    parts = [text.partition("=") for text in texts]
    wrong = [name for name, equals, _ in parts if not equals]
    if wrong:
        raise UsageError(f"{option} {wrong[0]} has no value", hint=f"{option} NAME=VALUE")
    return {name: value for name, _, value in parts}


@contextmanager
def session(master: str, conf: dict[str, str]) -> Iterator["SparkSession"]:
    """A session on a master. RAISES: JavaNotFoundError, EngineError when Spark fails."""
    from headwater.jobs.session import spark_failures, spark_session

    with spark_failures(), spark_session(master, settings=conf) as spark:
        yield spark


def place_of(flags: Flags, table: str) -> "TablePlace":
    """Return where a table is, for tasks."""
    from headwater.spark.source.options import Options

    return Options({"warehouse": flags.settings.warehouse, "table": table}).place()


def spark_bar(flags: Flags, title: str) -> Callable[[int, int], None]:
    """A line on a terminal that says how many tasks are done."""
    if not flags.show_progress:
        return lambda done, total: None
    return lambda done, total: click.echo(f"\r{title}: {done} of {total}", err=True, nl=done == total)

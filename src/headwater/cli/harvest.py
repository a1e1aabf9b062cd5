"""`headwater harvest`: a whole SQL estate into the graph."""

import dataclasses
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.graph import open_graph_store
from headwater.cli.inputs import complete_dialect, parse_variables, say_warning
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say, say_lines
from headwater.errors import UsageError
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.jobs.harvest.harvest import HarvestSummary
    from headwater.jobs.harvest.plan import HarvestOptions, Progress
    from headwater.jobs.harvest.sources import Estate


@command(
    "harvest",
    examples=(
        "headwater harvest models/ --dialect snowflake --schema schema.sql",
        "headwater harvest bigquery=sql/bq snowflake=sql/sf target/manifest.json",
        "headwater harvest query_log.parquet --dialect redshift --master local[4]",
        "headwater harvest . -d bigquery --target 'sql/{project}/{dataset}/{table}/query.sql' --dry-run",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="[DIALECT=]PATH...")
@click.option("-d", "--dialect", shell_complete=complete_dialect, help="The SQL dialect of paths that name none.")
@click.option("-s", "--schema", metavar="FILE", help="Known tables: a schema file, a folder of them, a warehouse.")
@click.option(
    "-t",
    "--target",
    "targets",
    metavar="PATTERN",
    multiple=True,
    help="Which table a file makes, by its path: sql/{dataset}/{table}.sql. The first that matches counts.",
)
@click.option("--exclude", metavar="GLOB", multiple=True, help="Paths to leave out, for example tests/*.")
@click.option(
    "--engine", type=click.Choice(["auto", "zetasql", "sqlglot"]), default="auto", help="Who reads GoogleSQL."
)
@click.option("--ask-bigquery", is_flag=True, help="Ask BigQuery for tables that the schema does not have.")
@click.option("--master", metavar="URL", help="Run on this Spark. Default: local[*], and only if it is worth it.")
@click.option("--no-spark", is_flag=True, help="Stay in this process, however much there is to do.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="Use so many cores of this machine; 1 is --no-spark.")
@click.option("--dry-run", is_flag=True, help="Show the files in order, with what each makes, and harvest nothing.")
@click.option("--var", "variables", metavar="NAME=VALUE", multiple=True, help="A variable of a template.")
@click.option("--strict", is_flag=True, help="Exit code 1 if there are errors or warnings.")
@click.pass_obj
def harvest(flags: Flags, /, paths: tuple[str, ...], dialect: str | None, strict: bool, **options: Any) -> int:
    """Bring the lineage of SQL files, dbt and SQLMesh projects and query logs into the warehouse.

    A path is a folder of SQL files, a SQLMesh project, a dbt project or its manifest.json, a query log (Parquet, CSV
    or JSON with a column `query`), or a file of OpenLineage events. What a bare SELECT gives is named after its file,
    or by --target. Only what has changed since the last harvest is analysed; what is gone loses its lineage.
    `headwater trace`, `impact` and `diff` then answer questions.
    """
    from headwater.analysis.template import TemplateOptions
    from headwater.jobs.harvest.plan import HarvestOptions
    from headwater.jobs.harvest.sources import Rules, read_estate
    from headwater.jobs.harvest.targets import Patterns
    from headwater.zetasql.warehouse import BigQueryTables

    gc.set_threshold(50_000, 20, 50)  # an estate is millions of objects that stay: seldom look for garbage among them
    master, spark = _place(**{name: options.pop(name) for name in ("master", "no_spark", "jobs")})
    settings = flags.settings
    rules = Rules(
        Patterns(options["targets"] or settings.harvest_target),
        (*options["exclude"], *settings.harvest_exclude),
        parse_variables(options["variables"]),
    )
    estate = read_estate(paths, dialect or settings.dialect, rules)
    for warning in estate.warnings:
        say_warning(warning)
    if options["dry_run"]:
        _show_plan(flags, estate)
        return 0
    wish = HarvestOptions(
        schema=options["schema"] or flags.settings.schema,
        engine=options["engine"],
        tables=BigQueryTables() if options["ask_bigquery"] else None,
        template=TemplateOptions(rules.variables),
        master=master,
        spark=spark,
    )
    summary = harvest_estate(flags, estate, wish)
    refused = _ingest(flags, estate)
    if flags.json:
        print_json(summary_fields(summary, estate))
    return 1 if strict and (summary.findings or refused or estate.warnings) else 0


def harvest_estate(flags: Flags, estate: "Estate", options: "HarvestOptions") -> "HarvestSummary":
    """Harvest an estate with progress on the terminal, and print what it came to, unless JSON is to be printed."""
    from headwater.jobs.harvest.harvest import harvest as run_harvest

    with _shown(flags) as progress:
        wish = dataclasses.replace(options, progress=progress, warn=say_warning)
        summary = run_harvest(open_graph_store(flags), estate, wish)
    if not flags.json and not flags.quiet:
        say_lines(flags, "\n".join(summary.report.lines))
        say(
            f"{counted(summary.analysed, 'statement')} analysed in {counted(summary.waves, 'wave')}"
            f"{' on Spark' if summary.used_spark else ''}, "
            f"{summary.removed:,} removed, {counted(summary.edges, 'edge')} written, {summary.seconds:.1f} s"
        )
    return summary


def summary_fields(summary: "HarvestSummary", estate: "Estate") -> dict[str, Any]:
    """Return what a harvest came to, for JSON."""
    events = [str(file) for file in estate.events]
    return dataclasses.asdict(summary) | {"events": events, "warnings": estate.warnings}


def _place(master: str | None, no_spark: bool, jobs: int | None) -> tuple[str | None, bool]:
    """The master of Spark, and whether Spark may be used."""
    given = [name for name, value in (("--no-spark", no_spark), ("--master", master), ("--jobs", jobs)) if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} contradict each other", hint="give one of them")
    return (f"local[{jobs}]" if jobs is not None and jobs > 1 else master), not no_spark and jobs != 1


def _show_plan(flags: Flags, estate: "Estate") -> None:
    """The files in the order in which they would be read: what each makes, and its dialect."""
    from headwater.jobs.harvest.order import in_order

    rows = [
        {"file": script.name, "makes": script.makes, "dialect": script.dialect or "generic"}
        for script in in_order(estate.scripts)
    ]
    if flags.json:
        print_json({"files": rows, "events": [str(file) for file in estate.events], "warnings": estate.warnings})
    else:
        cells = [(row["file"], row["makes"] or "", row["dialect"]) for row in rows]
        print_table(("file", "makes", "dialect"), cells)


def _ingest(flags: Flags, estate: "Estate") -> int:
    """Bring in the files of events; returns how many events are refused."""
    from headwater.graph.observed import ingest_file

    return sum(len(ingest_file(open_graph_store(flags), file)[1]) for file in estate.events)


@contextmanager
def _shown(flags: Flags) -> Iterator[Callable[["Progress"], None]]:
    """A function to call with the progress; it draws a bar if somebody can see it."""
    if not flags.show_progress:
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = Bar(console=Console(stderr=True, no_color=not flags.use_color(sys.stderr)), transient=True)
    task = bar.add_task("harvesting")
    begun = time.monotonic()

    def show(progress: "Progress") -> None:
        if time.monotonic() - begun > _PATIENCE:
            bar.start()
        text = (
            f"{counted(progress.scripts, 'script')}, {counted(progress.statements, 'statement')}, "
            f"wave {progress.wave}, {counted(progress.findings, 'finding')}"
        )
        bar.update(task, total=progress.units, completed=progress.done, description=text)

    try:
        yield show
    finally:
        bar.stop()


_PATIENCE = 0.5  # seconds before a bar is drawn

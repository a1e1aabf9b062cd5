"""`headwater diff | stale | drift | why | ingest`: lineage through time, and events into it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from headwater.cli.graph import open_graph_store
from headwater.cli.inputs import sources_of
from headwater.cli.lake_tables import open_warehouse, size_text
from headwater.cli.lineage import analysis_options, request_of
from headwater.cli.on_spark import pop_spark, session, spark_options
from headwater.cli.options import Flags, command
from headwater.cli.provenance_rows import asks_for_rows, row_options, tell_rows
from headwater.cli.render import print_json, print_table
from headwater.cli.terminal import say, say_lines
from headwater.errors import UsageError
from headwater.text import counted

if TYPE_CHECKING:
    from headwater.errors import EventError
    from headwater.graph.compare import Drift
    from headwater.graph.diff import GraphDiff
    from headwater.graph.facts import Facts
    from headwater.graph.logged import TableDrift
    from headwater.graph.store import GraphStore
    from headwater.graph.versions import DatasetVersion, Made, Stale

    IngestFile: TypeAlias = Callable[[GraphStore, Path], tuple[int, list[EventError]]]
    IngestOrigins: TypeAlias = Callable[[GraphStore], int]


@command(
    "diff",
    examples=(
        "headwater diff @-1..@0",
        "headwater diff main/sql branch/sql --dialect snowflake --format github",
    ),
)
@click.argument("before", metavar="STATE..STATE | FOLDER")
@click.argument("after", required=False, metavar="[FOLDER]")
@analysis_options
@click.option(
    "-f",
    "--format",
    type=click.Choice(["text", "json", "markdown", "github", "csv"]),
    default="text",
    show_default=True,
    help="`github`: for a comment on a pull request.",
)
@click.pass_obj
def diff(flags: Flags, /, before: str, after: str | None, format: str, **options: Any) -> int:
    """Show what changed in the lineage: tables, columns and edges that came, went or are computed in another way.

    Between two states of the graph, by the numbers of `headwater harvests` or by time (`3..7`, `@-1..@0`,
    `2026-11-01..`), or between two folders of SQL: what a pull request does to lineage. Exit code 1 when there are
    differences.
    """
    from headwater.graph.diff_formats import render_diff

    found = _diff_folders(flags, before, after, options) if after is not None else _diff_states(flags, before)
    text = render_diff(found, "json" if flags.json else format)
    say_lines(flags, text) if format == "text" and not flags.json else click.echo(text)
    return 1 if found else 0


def _diff_states(flags: Flags, text: str) -> "GraphDiff":
    from headwater.graph import diff_states

    start, dots, end = text.partition("..")
    if not dots:
        raise UsageError(
            f"`{text}` is one state or folder; a comparison needs two", hint="STATE..STATE, or two folders"
        )
    store = open_graph_store(flags)
    return diff_states(store.state(start) if start else store.first_state(), store.state(end or None))


def _diff_folders(flags: Flags, before: str, after: str, options: dict[str, Any]) -> "GraphDiff":
    from headwater.graph import diff_facts

    return diff_facts(*(_facts_in(flags, folder, options) for folder in (before, after)))


def _facts_in(flags: Flags, folder: str, options: dict[str, Any]) -> "Facts":
    from headwater.graph.collect import collect
    from headwater.text import Source

    base = Path(folder)
    sources = [
        Source(each.text, str(Path(each.name or "").relative_to(base)) if base.is_dir() else base.name)
        for each in sources_of([folder], None)
    ]
    return collect(sources, request_of(flags, **options))


_STALE = ("table", "input", "read at", "now at", "changed columns", "changed rows", "bytes of all")


@command("stale", examples=("headwater stale", "headwater stale --json"))
@click.pass_obj
def stale(flags: Flags) -> int:
    """List lake tables made from an older state of an input, where a column they read has changed since.

    Beside it: what a rebuild reads of the input, between the rows that changed and all, and the time that the last
    refresh took. `headwater rebuild --dry-run` says how each table would be made. Exit code 1 when there are any.
    """
    from headwater.graph import stale as find_stale

    warehouse = open_warehouse(flags)
    found = find_stale(warehouse)
    if flags.json:
        print_json(found)
    elif found:
        timed = any(each.seconds is not None for each in found)
        rows = [_stale_row(each, timed) for each in found]
        print_table((*_STALE, "last refresh") if timed else _STALE, rows)
    elif not flags.quiet:
        any_table = any(map(warehouse.list_tables, warehouse.list_databases(own=False)))
        say(
            "every table is up to date with what it was made from"
            if any_table
            else f"there are no tables in the warehouse {warehouse.url}"
        )
    return 1 if found else 0


def _stale_row(each: "Stale", timed: bool) -> tuple[object, ...]:
    rows = f"{each.changed_rows:,} of {each.input_rows:,}"
    seconds = ["" if each.seconds is None else f"{each.seconds:.1f} s"] * timed
    versions = each.table, each.input, each.read, each.latest
    return *versions, ", ".join(each.columns), rows, size_text(each.input_bytes), *seconds


@command("drift", examples=("headwater drift", "headwater drift --json"))
@click.pass_obj
def drift(flags: Flags) -> int:
    """List what SQL text says otherwise than runs and warehouses: sources of columns, tables of logged statements.

    Sources of columns are compared with observed runs, the tables that a statement of a query log reads and writes
    with those that the warehouse names in the log. Exit code 1 when something differs.
    """
    from headwater.graph import drift as find_drift
    from headwater.graph import table_drift

    state = open_graph_store(flags).state()
    found: list[Drift | TableDrift] = [*find_drift(state), *table_drift(state)]
    if flags.json:
        print_json(found)
    elif found:
        for each in found:
            say(each.title)
            for node in each.only_said:
                say(f"  only in SQL   {node}")
            for node in each.only_done:
                say(f"  only in {each.other:<4}  {node}")
    elif not flags.quiet:
        say("SQL, runs and logs agree wherever they are known")
    return 1 if found else 0


@command(
    "why",
    examples=("headwater why shop.gold@7 --json", "headwater why gold.revenue --row country=DE --column revenue"),
)
@click.argument("table", metavar="TABLE[@MOMENT]")
@row_options
@click.pass_obj
def why(flags: Flags, /, table: str, **rows: Any) -> None:
    """Show what a snapshot was made from: the snapshots behind it, or with --row or --where the rows behind rows.

    Rows are followed from table to table down to the commits that brought them in from outside, with the lines of CSV
    files where they are known. What was decided by the absence of rows is told with the condition.
    """
    from headwater.cli.provenance import split_moment
    from headwater.graph import why as explain
    from headwater.graph.formats import made_json
    from headwater.graph.marks import Marks

    if asks_for_rows(rows):
        tell_rows(flags, table, rows)
        return
    found = explain(open_warehouse(flags), *split_moment(table))
    store = open_graph_store(flags)
    marks = Marks(store.state()) if store.states() else None
    failed = {made.version: marks.of_version(made.version) if marks is not None else {} for made in found}
    if flags.json:
        print_json([made_json(made, failed[made.version]) for made in found])
        return
    say_lines(flags, "\n".join(_made_lines(found[0], {made.version: made for made in found}, failed, "", set())))


def _made_lines(
    made: "Made", known: "dict[DatasetVersion, Made]", failed: dict[Any, Any], indent: str, shown: set[Any]
) -> Iterator[str]:
    """A version, the checks that it failed, and below it the versions that it was made from, each of them once."""
    from headwater.cli.provenance import about_commit

    again = made.version in shown
    shown.add(made.version)
    about = about_commit(made.operation, made.job, None, made.time)
    yield f"{indent}{made.version}" + (f"  ({about})" if about and not again else "")
    if again:
        return
    for column, each in failed[made.version].items():
        yield f"{indent}  ✗ {column}: {'; '.join(map(str, each))}"
    for version, columns in made.inputs:
        yield f"{indent}  reads {', '.join(columns)} of" if columns else f"{indent}  reads"
        yield from _made_lines(known[version], known, failed, indent + "    ", shown)


@command(
    "ingest",
    examples=(
        "headwater ingest events.ndjson",
        "headwater ingest --origins",
        "headwater ingest events.ndjson --origins --master spark://host:7077",
    ),
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--origins", is_flag=True, help="Also what the snapshots of the warehouse say of themselves.")
@click.option("--table", metavar="NAME", help="The table that results of checks are of, if the file cannot tell.")
@click.option("--strict", is_flag=True, help="Exit code 1 if some line is no event.")
@spark_options
@click.option("--no-spark", is_flag=True, help="Stay in this process, however much there is to read.")
@click.pass_obj
def ingest(
    flags: Flags, /, files: tuple[Path, ...], origins: bool, table: str | None, strict: bool, **how: Any
) -> int:
    """Bring OpenLineage events into the graph, one a line, and with --origins what lake snapshots were made from.

    A file may also hold the results of checks: `run_results.json` of dbt, with the manifest beside it, a validation
    result of Great Expectations, or a scan result of Soda; a folder, any number of such files. Events and results may
    come twice and in any order. Files of more than 256 MB are read on Spark, on all cores of this machine or on the
    --master, with the same rows in the end.
    """
    from headwater.graph.results import ingest_results

    if not files and not origins:
        raise UsageError("there is nothing to ingest", hint="name files of events, or --origins")
    store = open_graph_store(flags)
    results = {file: result for file in _files(files) if (result := ingest_results(store, file, table)) is not None}
    events = tuple(file for file in files if file not in results and not file.is_dir())
    with _ingestion(events, how) as (ingest_file, ingest_origins):
        told = ingest_origins(store) if origins else 0
        found = [ingest_file(store, file) for file in events]
    count, bad = sum(each for each, _ in found), [error for _, errors in found for error in errors]
    for error in bad[:20]:
        say(f"{error.place or 'event'}: {error.message}", err=True)
    if len(bad) > 20:
        say(f"… and {len(bad) - 20:,} more", err=True)
    not_run = sum(result.left_out for result in results.values())
    checks = sum(len(result.checks) for result in results.values()) - not_run
    if flags.json:
        print_json({"events": count, "refused": len(bad), "origins": told, "checks": checks, "not_run": not_run})
    elif not flags.quiet:
        said = [f"{counted(count, 'event')}, {len(bad):,} refused"] if events or not results else []
        said += [
            f"{counted(checks, 'result')} of checks" + (f", {not_run:,} were not run" if not_run else "")
        ] * bool(results)
        say(", ".join(said + [f"{counted(told, 'origin')} of snapshots"] * origins))
    return 1 if bad and strict else 2 if bad and not count else 0


def _files(paths: tuple[Path, ...]) -> Iterator[Path]:
    """The files that are named, and those of JSON in the folders."""
    for path in paths:
        yield from sorted(path.rglob("*.json")) if path.is_dir() else (path,)


@contextmanager
def _ingestion(files: tuple[Path, ...], how: dict[str, Any]) -> "Iterator[tuple[IngestFile, IngestOrigins]]":
    """The function that brings in a file, and the one for origins: on Spark if it is asked for or worth it, else in
    this process."""
    from headwater.graph import observed, origins

    no_spark = how.pop("no_spark")
    master, conf = pop_spark(how)
    if no_spark and master is not None:
        raise UsageError("--no-spark and --master contradict each other", hint="give one of them")
    if master is None and not no_spark and _is_worth_spark(files):
        master = "local[*]"
    if master is None:
        yield observed.ingest_file, lambda store: origins.ingest_origins(store)[1]
        return
    from headwater.jobs import ingest as jobs

    with session(master, conf) as spark:
        yield partial(jobs.ingest_on_spark, spark), partial(jobs.origins_on_spark, spark)


def _is_worth_spark(files: tuple[Path, ...]) -> bool:
    sizes = (file.stat().st_size for file in files if file.is_file())
    return sum(sizes) > _WORTH_SPARK


_WORTH_SPARK = 256 << 20  # bytes of events

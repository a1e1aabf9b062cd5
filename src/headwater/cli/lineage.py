"""`headwater lineage`: where the columns of SQL text come from."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.inputs import complete_dialect, parse_variables, sources_of
from headwater.cli.issues import print_issues
from headwater.cli.options import Flags, command
from headwater.cli.progress import progress_over
from headwater.cli.terminal import say_lines
from headwater.view.formats import RESULT_FORMATS

if TYPE_CHECKING:
    from headwater.analysis.analyze import Request


def analysis_options(function: Any) -> Any:
    """The options of every command that analyses SQL text."""
    for option in (
        click.option(
            "-d", "--dialect", shell_complete=complete_dialect, help="The SQL dialect, e.g. bigquery, spark."
        ),
        click.option("-s", "--schema", metavar="FILE", help="Known tables: a schema file or a folder of them."),
        click.option(
            "--engine",
            type=click.Choice(["auto", "zetasql", "sqlglot"]),
            default="auto",
            show_default=True,
            help="Who resolves the SQL. `auto`: ZetaSQL for GoogleSQL, sqlglot for the rest.",
        ),
        click.option("--ask-bigquery", is_flag=True, help="Ask BigQuery for tables that the schema does not have."),
        click.option("--var", "variables", metavar="NAME=VALUE", multiple=True, help="A variable of a template."),
    ):
        function = option(function)
    return function


expression_option = click.option("-e", "--expression", metavar="SQL", help="SQL from the command line.")


@command(
    "lineage",
    examples=(
        "headwater lineage models/ --dialect snowflake --schema schema.sql",
        "headwater lineage -e 'INSERT INTO d SELECT a + b AS c FROM t' --format mermaid",
        "cat etl.sql | headwater lineage - --reading value --json",
    ),
)
@click.argument("paths", nargs=-1, metavar="[FILE|FOLDER|-]...", type=click.Path())
@analysis_options
@expression_option
@click.option(
    "-f", "--format", type=click.Choice(RESULT_FORMATS), default="tree", show_default=True, help="How to show it."
)
@click.option(
    "--reading",
    type=click.Choice(["value", "full"]),
    default="full",
    show_default=True,
    help="`value`: what values are made of. `full`: also what decides values and rows.",
)
@click.option("--level", type=click.Choice(["column", "table"]), default="column", show_default=True)
@click.option("--collapse", is_flag=True, help="Leave out paths inside structs and arrays.")
@click.pass_obj
def lineage(flags: Flags, /, paths: tuple[str, ...], format: Any, level: Any, **options: Any) -> int:
    """Show where the columns of SQL text come from.

    Statements are read in order and each sees the tables that those before it have made. What could not be resolved
    is said on stderr; the rest is shown all the same. Exit code 2 when nothing could be read at all.
    """
    result = run_analysis(flags, paths, **options)
    print_issues(result.issues, result.sources, flags)
    text = result.to_text("json" if flags.json else format, level=level, namespace=options["dialect"] or "headwater")
    say_lines(flags, text) if format == "tree" and not flags.json else click.echo(text)
    return 2 if result.has_errors and not result.edges and not result.tables else 0


def run_analysis(
    flags: Flags,
    paths: tuple[str, ...],
    *,
    expression: str | None,
    reading: str = "full",
    collapse: bool = False,
    **options: Any,
) -> Any:
    """Analyse what a command line names, with the settings as defaults."""
    from headwater.analysis.analyze import analyze_sources
    from headwater.lineage.readings import Reading

    sources = sources_of(paths, expression)
    request = replace(request_of(flags, **options), reading=Reading(reading), collapse=collapse)
    with progress_over(sources, "analysing", flags) as step:
        return analyze_sources(sources, request, progress=lambda source: step(source.name or ""))


def request_of(
    flags: Flags,
    *,
    dialect: str | None,
    schema: str | None,
    engine: Any,
    ask_bigquery: bool,
    variables: tuple[str, ...],
) -> "Request":
    """Return what `analysis_options` ask for, with the settings as defaults."""
    from headwater.analysis.analyze import Request
    from headwater.analysis.template import TemplateOptions
    from headwater.zetasql.warehouse import BigQueryTables

    return Request(
        dialect=dialect or flags.settings.dialect,
        schema=schema or flags.settings.schema,
        engine=engine,
        tables=BigQueryTables() if ask_bigquery else None,
        template=TemplateOptions(parse_variables(variables)),
    )

"""`headwater sql`: SQL on the tables of a warehouse, from a string, a file, or a shell."""

import sys
from typing import Any

import click

from headwater.cli.inputs import sources_of
from headwater.cli.options import Flags, command
from headwater.cli.rows import FORMATS, write_result


@command(
    "sql",
    examples=(
        "headwater sql -e 'SELECT * FROM shop.orders VERSION AS OF 3'",
        "headwater sql load.sql --warehouse s3://bucket/lake",
        "headwater sql                       (a shell: .help)",
    ),
)
@click.argument("paths", nargs=-1, metavar="[FILE|-]...", type=click.Path())
@click.option("-e", "--expression", metavar="SQL", help="SQL from the command line.")
@click.option("-d", "--database", default=None, help="The database of unqualified names.")
@click.option("-f", "--format", type=click.Choice(FORMATS), default=None, help="How to show rows.  [default: table]")
@click.pass_obj
def sql(flags: Flags, paths: tuple[str, ...], expression: str | None, database: str | None, format: Any) -> int:
    """Run SQL on the tables of the warehouse, or open a shell.

    Statements are carried out in order; the first that fails ends the run with exit code 2, and those before it stay
    done. Rows go to stdout, word of changes to stderr.
    """
    from headwater.query.session import connect

    shown = "json" if flags.json else format or "table"
    with connect(flags.settings.warehouse, database=database or "default") as session:
        if expression is None and not paths and sys.stdin.isatty():
            from headwater.cli.shell import Shell

            return Shell(session, flags, shown).run()
        for source in sources_of(paths or (() if expression is not None else ("-",)), expression):
            for result in session.stream(source.text, name=source.name):
                write_result(result, shown, quiet=flags.quiet)
    return 0

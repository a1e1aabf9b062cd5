"""`headwater describe`: say what a table or column is."""

import click

from headwater.cli.graph import open_graph_store
from headwater.cli.options import Flags, command
from headwater.cli.render import print_json
from headwater.cli.terminal import say


@command(
    "describe",
    examples=(
        "headwater describe raw.orders 'One row for each order, from the shop' --owner sales",
        "headwater describe raw.orders.amount 'What was paid, in EUR'",
    ),
)
@click.argument("name", metavar="TABLE[.COLUMN]")
@click.argument("text", required=False)
@click.option("--owner", metavar="NAME", help="Whose the table is.")
@click.pass_obj
def describe(flags: Flags, /, name: str, text: str | None, owner: str | None) -> None:
    """Say what a table or column is, for the page and the search. Harvests keep it."""
    from headwater.errors import UsageError
    from headwater.graph.tags import describe as put

    if text is None and owner is None:
        raise UsageError("say what it is, or whose", hint="headwater describe TABLE 'what it is' --owner NAME")
    node = put(open_graph_store(flags), name, text, owner=owner)
    if flags.json:
        print_json({"dataset": node.dataset, "column": None if node.column == "*" else node.column})
    elif not flags.quiet:
        say(f"{name} is described", err=True)

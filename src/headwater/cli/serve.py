"""`headwater serve`: the page and the API of a warehouse."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.graph import open_graph_store
from headwater.cli.inputs import complete_dialect
from headwater.cli.options import Flags, command
from headwater.cli.terminal import say

if TYPE_CHECKING:
    from headwater.server.options import ServerOptions


@command(
    "serve",
    examples=(
        "headwater serve --open",
        "headwater serve --watch models/ --dialect snowflake",
        "HEADWATER_TOKEN=… headwater serve --host 0.0.0.0 --port 80",
    ),
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; other machines need a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8420, show_default=True, help="0 takes any free port.")
@click.option("--token", help="What callers must show. Better: the variable HEADWATER_TOKEN.")
@click.option(
    "--watch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Harvest the SQL of this folder, and again whenever something changes.",
)
@click.option("-d", "--dialect", shell_complete=complete_dialect, help="The SQL dialect of the watched files.")
@click.option("-s", "--schema", metavar="FILE", help="Known tables, for the watched files.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.pass_obj
def serve(
    flags: Flags,
    /,
    host: str,
    port: int,
    token: str | None,
    watch: Path | None,
    dialect: str | None,
    schema: str | None,
    open_page: bool,
) -> None:
    """Show the lineage and the tables of the warehouse in a browser, and take in OpenLineage events.

    Events are posted to /api/v1/lineage; /api/v1/openapi.json describes the rest of the API.
    """
    from headwater.server.app import serve as run
    from headwater.server.options import ServerOptions

    settings = flags.settings
    options = ServerOptions(
        settings.warehouse,
        host=host,
        port=port,
        token=token or settings.token,
    )
    beside = []
    if watch is not None:
        from headwater.server.watch import Watch

        store = open_graph_store(flags)
        beside.append(Watch(store, watch, dialect=dialect or settings.dialect, schema=schema or settings.schema))

    def started(at: "ServerOptions") -> None:
        if not flags.quiet:
            say(f"{at.warehouse} is served on {at.url}  (Ctrl-C ends it)", err=True)
        if open_page:
            webbrowser.open(f"{at.url}?token={at.token}" if at.token else at.url)

    run(options, *beside, started=started)

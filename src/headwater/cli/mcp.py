"""`headwater mcp`: the questions of the warehouse as tools of an assistant."""

from typing import TYPE_CHECKING

import click

from headwater.cli.options import Flags, command
from headwater.cli.terminal import say
from headwater.extras import need

if TYPE_CHECKING:
    from headwater.server.options import ServerOptions


@command(
    "mcp",
    examples=(
        "headwater mcp --warehouse lake",
        "HEADWATER_TOKEN=… headwater mcp --http --host 0.0.0.0 --port 8422",
    ),
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; other machines need a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8422, show_default=True, help="0 takes any free port.")
@click.option("--token", help="What callers must show. Better: the variable HEADWATER_TOKEN.")
@click.option("--allow-write", is_flag=True, help="Offer the tools that change tables: `rebuild`.")
@click.pass_obj
def mcp(flags: Flags, /, http: bool, host: str, port: int, token: str | None, allow_write: bool) -> None:
    """Serve the questions of the warehouse as tools of an assistant, by the Model Context Protocol.

    On stdio, for the program that starts it; with --http, for programs that show the token. Tools only read, unless
    --allow-write is given. It needs the extra `mcp` (`headwater doctor`).
    """
    need("mcp_types")  # version 1 of the package mcp has no such module
    from headwater.mcp.protocol import PATH, serve_http, serve_stdio
    from headwater.server.options import ServerOptions

    def started(at: "ServerOptions") -> None:
        if not flags.quiet:
            say(f"{at.warehouse} is served to assistants on {at.url}{PATH[1:]}  (Ctrl-C ends it)", err=True)

    warehouse = flags.settings.warehouse
    if http:
        options = ServerOptions(warehouse, host=host, port=port, token=token or flags.settings.token)
        serve_http(options, allow_write=allow_write, started=started)
    else:
        serve_stdio(ServerOptions(warehouse), allow_write=allow_write)

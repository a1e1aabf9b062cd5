"""`headwater play`: paste SQL, see its lineage, with no warehouse at all."""

import webbrowser
from typing import TYPE_CHECKING

import click

from headwater.cli.options import Flags, command
from headwater.cli.terminal import say

if TYPE_CHECKING:
    from headwater.server.options import ServerOptions


@command("play", examples=("headwater play", "headwater play --port 0 --no-open"))
@click.option("--port", type=click.IntRange(0, 65535), default=8421, show_default=True, help="0 takes any free port.")
@click.option(
    "--open/--no-open", "open_page", default=True, help="Open the page in a browser, or only say where it is."
)
@click.pass_obj
def play(flags: Flags, /, port: int, open_page: bool) -> None:
    """Show the lineage of SQL as you type it, in a browser on this machine.

    Nothing is kept: what is typed stands in the address, for those who share it. `headwater serve` has the same page.
    """
    from headwater.server.options import ServerOptions
    from headwater.server.play_app import create_play_app
    from headwater.server.serve import serve_app

    def started(at: "ServerOptions") -> None:
        if not flags.quiet:
            say(f"Paste SQL at {at.url}play  (Ctrl-C ends it)", err=True)
        if open_page:
            webbrowser.open(f"{at.url}play")

    options = ServerOptions(warehouse="", port=port)
    serve_app(lambda: create_play_app(options), options, started)

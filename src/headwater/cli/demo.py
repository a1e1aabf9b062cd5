"""`headwater demo`: a small shop, from raw files to answers."""

import os
import shutil
import sys
from pathlib import Path

import click

from headwater.cli.options import Flags, command
from headwater.cli.render import print_json


@command("demo", examples=("headwater demo", "headwater demo shop --files"))
@click.argument("folder", default="demo", type=click.Path(path_type=Path))
@click.option("--files", is_flag=True, help="Only put the shop's files there, to try things on.")
@click.pass_obj
def demo(flags: Flags, folder: Path, files: bool) -> None:
    """Show what Headwater does, on a small shop: a Spark pipeline, SQL in two dialects, and questions about both.

    Everything goes into one folder, `demo` by default, which the next demo replaces. It takes about a minute.
    """
    if files:
        from headwater.demo.files import put_files

        put_files(folder)
        _next(flags, folder, ("lineage snowflake -d snowflake -s schemas/shop.sql",))
        return
    from headwater.demo.story import Story

    color = flags.use_color(sys.stdout)
    silent = flags.json or flags.quiet

    def say(line: str) -> None:
        if not silent:
            click.echo(line, color=color)

    def title(text: str) -> None:
        say(click.style(f"\n{text}", bold=True) if color else f"\n{text}")

    Story(folder, say, title).tell()
    say(f"{folder / 'report.html'} is the picture of it\n")
    _next(flags, folder, ("serve --open", "impact bronze.orders.status", "sql"))


def _next(flags: Flags, folder: Path, commands: tuple[str, ...]) -> None:
    if flags.json:
        print_json({"folder": str(folder)})
    elif not flags.quiet:
        name = _spelling(folder)
        click.echo("\n".join((f"Try next\n  cd {folder}", *(f"  {name} {words}" for words in commands))))


def _spelling(folder: Path) -> str:
    """Return what to type, in a folder, to call the `headwater` that is running: its name, unless that finds
    another."""
    script = Path(sys.executable).with_name("headwater")
    found = shutil.which("headwater")
    if not script.exists() or (found is not None and Path(found).samefile(script)):
        return "headwater"
    return os.path.relpath(script, folder)

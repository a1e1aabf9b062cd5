"""`headwater warmup`: do now what would otherwise make the first use slow."""

import sys
import time

import click

from headwater.cli.options import Flags, command
from headwater.cli.render import print_json

_PAUSE = 15.0  # seconds between two lines where nobody watches


@command("warmup", examples=("headwater warmup", "HEADWATER_CACHE=/srv/cache headwater warmup"))
@click.pass_obj
def warmup(flags: Flags) -> None:
    """Compile the ZetaSQL engine, once per machine.

    It takes about a minute of CPU and a gigabyte of memory; afterwards every process starts it in half a second. A
    second call finds the work done. Made for images, CI and the moment after installing.
    """
    from headwater.zetasql.compiled import warmup as compile_engine

    shown = -_PAUSE

    def show(seconds: float) -> None:
        nonlocal shown
        live = sys.stderr.isatty()
        if not flags.quiet and not flags.json and (live or seconds - shown >= _PAUSE):
            shown = seconds
            end = "\r" if live else "\n"
            click.echo(f"compiling ZetaSQL, once per machine … {seconds:.0f} s{end}", nl=False, err=True)

    begun = time.monotonic()
    place = compile_engine(show)
    seconds = time.monotonic() - begun
    if flags.json:
        print_json({"zetasql": str(place) if place else None, "seconds": round(seconds, 3)})
    elif not flags.quiet:
        click.echo(f"ZetaSQL is ready in {place or 'memory only: no cache folder can be written'} ({seconds:.1f} s)")

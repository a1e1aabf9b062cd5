"""`headwater warmup`: do now what would otherwise make the first use slow, or every start."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from headwater.cache import Progress
from headwater.cli.options import Flags, command, is_terminal
from headwater.cli.render import print_json
from headwater.cli.terminal import say
from headwater.errors import EngineError, MissingDependencyError
from headwater.extras import need

_PAUSE = 15.0  # seconds between two lines where nobody watches
_NOWHERE = "no cache folder can be written"


def _zetasql(flags: Flags, progress: Progress) -> Path | None:
    from headwater.zetasql.compiled import warmup as compile_engine

    place = compile_engine(progress)
    if place is None:
        _say(flags, f"ZetaSQL is compiled by every process: {_NOWHERE}")
    return place


def _spark(flags: Flags, progress: Progress) -> Path | None:
    try:
        need("pyspark")
        from headwater.spark.class_archive import make_archive
        from headwater.spark.java import find_java

        place = make_archive(find_java(), progress)
        reason = _NOWHERE
    except (EngineError, MissingDependencyError) as err:
        place, reason = None, err.message
    if place is None:
        _say(flags, f"Spark starts as slowly as before: {reason}")
    return place


def _say(flags: Flags, text: str) -> None:
    if not flags.quiet and not flags.json:
        say(text, err=True)


_STEPS: dict[str, tuple[str, str, Callable[[Flags, Progress], Path | None]]] = {
    "zetasql": ("compiling ZetaSQL", "ZetaSQL is ready", _zetasql),
    "spark": ("archiving Spark's Java classes", "Spark's classes are ready", _spark),
}


@command(
    "warmup", examples=("headwater warmup", "headwater warmup zetasql", "HEADWATER_CACHE=/srv/cache headwater warmup")
)
@click.argument("what", nargs=-1, type=click.Choice([*_STEPS]), metavar="[zetasql|spark]...")
@click.pass_obj
def warmup(flags: Flags, what: tuple[str, ...]) -> None:
    """Compile ZetaSQL and archive Spark's Java classes, once per machine.

    Compiling takes about a minute of CPU and a gigabyte of memory; afterwards every process starts ZetaSQL in half a
    second. With the archive, which takes half a minute and 170 MB, Spark answers its first query in half the time. A
    second call finds the work done. Made for images, CI and the moment after installing. Where there is no Spark
    or Java, or one that keeps no archive, that is said and is no failure: nothing needs the archive.
    """
    found: dict[str, str | None] = {}
    begun = time.monotonic()
    for name in what or _STEPS:
        doing, done, step = _STEPS[name]
        started = time.monotonic()
        place = step(flags, _shown(flags, doing))
        found[name] = str(place) if place else None
        if place is not None and not flags.json and not flags.quiet:
            say(f"{done} in {place} ({time.monotonic() - started:.1f} s)")
    if flags.json:
        print_json(found | {"seconds": round(time.monotonic() - begun, 3)})


def _shown(flags: Flags, doing: str) -> Progress:
    shown = -_PAUSE

    def show(seconds: float) -> None:
        nonlocal shown
        live = is_terminal(sys.stderr)
        if not flags.quiet and not flags.json and (live or seconds - shown >= _PAUSE):
            shown = seconds
            end = "\r" if live else "\n"
            click.echo(f"{doing}, once per machine … {seconds:.0f} s{end}", nl=False, err=True)

    return show

"""Text for a person at a terminal: no line longer than it is wide, and in colour. A pipe gets everything as it is."""

import os
import re
import sys
from typing import IO

import click

from headwater.cli.options import Flags, is_terminal
from headwater.fit import fit_lines, wrapped

_STYLES = (
    (re.compile(r"^(\+ .*)$", re.M), "green"),
    (re.compile(r"^(- .*)$", re.M), "red"),
    (re.compile(r"^(~ .*)$", re.M), "yellow"),
    (re.compile(r"(?<=  )([A-Z_]{3,}(?:/[A-Z_]+)*)(?= |$)", re.M), "cyan"),
    (re.compile(r"(?<=  )([^\s]+\.\w+:\d+)(?= |$)", re.M), "blue"),
)


def width_of(stream: IO[str]) -> int | None:
    """The columns of the terminal that a stream goes to; None when it goes elsewhere."""
    if not is_terminal(stream):
        return None
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def say(text: str, *, err: bool = False) -> None:
    """Print sentences on stdout or stderr; on a terminal, lines break between words."""
    width = width_of(sys.stderr if err else sys.stdout)
    click.echo(text if width is None else wrapped(text, width), err=err)


def say_lines(flags: Flags, text: str) -> None:
    """Print lines on stdout; on a terminal, fitted to its width and coloured."""
    width = width_of(sys.stdout)
    text = text if width is None else fit_lines(text, width)
    color = flags.use_color(sys.stdout)
    click.echo(paint(text) if color else text, color=color)


def paint(text: str) -> str:
    """Lines with kinds, places and changes in colour."""
    for pattern, color in _STYLES:
        text = pattern.sub(lambda found, color=color: click.style(found.group(1), fg=color), text)  # type: ignore[misc]
    return text

"""Lines for a person at a terminal: no longer than it is wide, and in colour."""

import re
import shutil
import sys

import click

from headwater.cli.options import Flags, is_terminal

_PARTS = re.compile(r"(  +)")
_FEWEST = 12  # characters that a part keeps
_STYLES = (
    (re.compile(r"^(\+ .*)$", re.M), "green"),
    (re.compile(r"^(- .*)$", re.M), "red"),
    (re.compile(r"^(~ .*)$", re.M), "yellow"),
    (re.compile(r"(?<=  )([A-Z_]{3,}(?:/[A-Z_]+)*)(?= |$)", re.M), "cyan"),
    (re.compile(r"(?<=  )([^\s]+\.\w+:\d+)(?= |$)", re.M), "blue"),
)


def say_lines(flags: Flags, text: str) -> None:
    """Print lines on stdout; on a terminal, fitted to its width and coloured."""
    if is_terminal(sys.stdout):
        text = fit(text, shutil.get_terminal_size().columns)
    if flags.use_color(sys.stdout):
        text = paint(text)
    click.echo(text, color=flags.use_color(sys.stdout))


def fit(text: str, width: int) -> str:
    """Lines with their longest parts shortened in the middle until they fit. Two blanks end a part.

    >>> fit("├─ a_schema_with_a_long_name.orders.amount  SUM sum(amount)  models/staging/finance/orders.sql:12", 70)
    '├─ a_schema_…rders.amount  SUM sum(amount)  models/stagin…rders.sql:12'
    """
    return "\n".join(_fit_line(line, width) for line in text.split("\n"))


def _fit_line(line: str, width: int) -> str:
    parts = _PARTS.split(line)
    while (over := sum(map(len, parts)) - width) > 0:
        longest = max(range(0, len(parts), 2), key=lambda at: len(parts[at]))
        length = len(parts[longest])
        if length <= _FEWEST:
            break
        second = max((len(parts[at]) for at in range(0, len(parts), 2) if at != longest), default=0)
        parts[longest] = shorten(parts[longest], max(length - over, min(second, length - 1), _FEWEST))
    return "".join(parts)


def shorten(text: str, length: int) -> str:
    """A text with its middle left out.

    >>> shorten("warehouse/raw/2026/orders.csv", 20)
    'warehouse/…rders.csv'
    """
    if len(text) <= length:
        return text
    head = length // 2
    return f"{text[:head]}…{text[len(text) - (length - head) + 1 :]}"


def paint(text: str) -> str:
    """Lines with kinds, places and changes in colour."""
    for pattern, color in _STYLES:
        text = pattern.sub(lambda found, color=color: click.style(found.group(1), fg=color), text)  # type: ignore[misc]
    return text

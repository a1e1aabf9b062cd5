"""The SQL a command is given: files, folders, standard input or a string."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from headwater.cli.terminal import say
from headwater.errors import InputError, UsageError
from headwater.text import Source


def sources_of(paths: Sequence[str], expression: str | None) -> list[Source]:
    """The texts named on the command line, in order; a folder stands for the .sql files beneath it, sorted.

    RAISES: UsageError when nothing was named, InputError when something cannot be read.
    """
    sources = [Source(expression, "<expression>")] if expression is not None else []
    for path in paths:
        sources += [Source(sys.stdin.read(), "<stdin>")] if path == "-" else list(_sources_at(Path(path)))
    if not sources:
        raise UsageError("no SQL was given", hint="name files or folders, `-` for standard input, or -e 'SELECT …'")
    return sources


def _sources_at(path: Path) -> Iterator[Source]:
    from headwater.analysis.texts import read_sql, sql_files

    if not os.path.isdir(path):  # also for what is no path at all: SQL without -e
        yield Source(read_sql(path, say_warning), str(path))
        return
    found = sql_files(path)
    if not found:
        raise InputError(
            f"there are no files of SQL in {path}", hint="their names end in .sql, .hql, .ddl and the like"
        )
    for file in found:
        yield Source(read_sql(file, say_warning), str(file))


def say_warning(text: str) -> None:
    """Tell people what was guessed."""
    say(f"warning: {text}", err=True)


def parse_variables(pairs: Sequence[str]) -> dict[str, object]:
    """`NAME=VALUE` options as a dictionary.

    RAISES: UsageError for one without `=`.
    """
    values: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"`{pair}` is not NAME=VALUE")
        values[name] = value
    return values


def complete_dialect(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Dialect names that begin like this."""
    from headwater.sql.dialects import dialect_names

    return [name for name in dialect_names() if name.startswith(incomplete.lower())]

"""Files outside of the lake that a commit read: whether they are still as they were, and which lines rows are."""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import CannotTellError
from headwater.lake.metadata.snapshot import FileVersion
from headwater.provenance.commits import Commit


def check_files(commit: Commit) -> None:
    """RAISES: CannotTellError for a file that is gone or has changed since the commit read it."""
    for file in commit.recipe.files:
        check_file(commit, file)


def check_file(commit: Commit, file: FileVersion) -> None:
    """RAISES: CannotTellError when a file is gone or has changed since a commit read it."""
    try:
        known = os.stat(file.path)
    except OSError as err:
        raise CannotTellError(f"{commit} read {file.path}, which is gone") from err
    if (known.st_size, known.st_mtime_ns) != (file.size, file.modified):
        raise CannotTellError(f"{commit} read {file.path}, which has changed since")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file that rows were loaded from; numbers count from 1, None when the line is not known."""

    path: str
    lines: tuple[int, ...] | None
    reason: str | None = None


def lines_of(commit: Commit, rows: pa.Table) -> Iterator[Lines]:
    """The files that a commit read, and the lines of CSV files that have the values of some rows.

    A line is told when it has the text of every value of a row that came from the file unchanged."""
    recipe = commit.origin.recipe
    for file in recipe.files if recipe is not None else ():
        try:
            check_file(commit, file)
        except CannotTellError as err:
            yield Lines(file.path, None, err.message)
            continue
        yield Lines(file.path, tuple(_csv_lines(file.path, rows)) if file.path.endswith(".csv") else None)


def _csv_lines(path: str, rows: pa.Table) -> Iterator[int]:
    """The lines of a CSV file with a header in which every shared column has the value of one of the rows."""
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.DictReader(file)
        names = [name for name in reader.fieldnames or () if name in rows.column_names]
        if not names:
            return
        wanted = {tuple(map(_plain, row)) for row in zip(*(rows.column(name).to_pylist() for name in names))}
        before = reader.line_num
        for line in reader:
            if tuple(_plain(line[name]) for name in names) in wanted:
                yield before + 1
            before = reader.line_num


def _plain(value: Any) -> str:
    """A value as text that is the same for a number however it is written; NULL and the empty text are one."""
    text = "" if value is None else str(value)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)

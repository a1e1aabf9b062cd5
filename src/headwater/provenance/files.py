"""Files outside of the lake that a commit read: whether they are still as they were, and which lines rows are."""

import csv
import os
from dataclasses import dataclass

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
    """Lines of a CSV file that rows were loaded from, counted from 1."""

    path: str
    lines: tuple[int, ...]


def lines_of(path: str, records: list[int]) -> Lines:
    """The lines at which some records of a CSV file with a header begin; the first record after it is 1."""
    wanted, found = set(records), []
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        reader = csv.reader(file)
        begins = 1
        for number, _ in enumerate(reader):
            if number in wanted:
                found.append(begins)
            begins = reader.line_num + 1
    return Lines(path, tuple(found))

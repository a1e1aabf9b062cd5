"""Files outside of the lake that a commit read: whether they are still as they were, and which lines rows are."""

import csv
import os
from dataclasses import dataclass

from headwater.errors import CannotTellError
from headwater.lake.metadata.snapshot import FileVersion
from headwater.provenance.commits import Commit
from headwater.provenance.sessions import read_statement
from headwater.query.recipes import ENGINE, file_paths, file_versions


def check_files(commit: Commit) -> None:
    """RAISES: CannotTellError for a file that is gone or has changed since the commit read it, or that is not found
    from the current folder."""
    files = commit.recipe.files
    for file in files:
        check_file(commit, file)
    if not files or commit.recipe.engine != ENGINE:
        return
    known = {file.path for file in files}
    for path in file_paths(read_statement(commit)):
        found = {each.path for each in file_versions(path)}
        if not os.path.isabs(path) and "://" not in path and (not found or not found <= known):
            read = next((each for each in known if each.endswith(os.sep + path)), None)
            hint = None if read is None else f"run this in {read.removesuffix(path)}"
            raise CannotTellError(f"{commit} read {path} in another folder than this one", hint=hint)


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

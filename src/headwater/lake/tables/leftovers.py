"""Folders that belong to no table: what a process leaves that dies while it makes, replaces or drops one."""

from collections.abc import Callable

from headwater.files import FileEntry, Files
from headwater.lake.engine.layout import is_table_file
from headwater.lake.metadata.expire import Removal


def remove_leftovers(
    files: Files, databases: list[str], owned: Callable[[], set[str]], *, before: float, dry_run: bool
) -> Removal:
    """Find, and without `dry_run` remove, the files of folders that no table owns.

    Only folders whose newest file is older than `before` count, because a table that is being made is not owned yet,
    and only those that hold nothing but files of a table. What tables own is asked last: a table that came while we
    looked is then among them.
    """
    found: dict[str, list[FileEntry]] = {}
    for database in databases:
        for folder in files.list(database):
            if folder.is_folder:
                path = folder.path.rstrip("/")
                found[path] = [entry for entry in files.list(path, deep=True) if not entry.is_folder]
    taken = owned()
    gone = [
        entry
        for path, entries in found.items()
        if path not in taken and all(_is_ours(entry, path) and entry.modified <= before for entry in entries)
        for entry in entries
    ]
    if not dry_run:
        for entry in gone:
            files.delete(entry.path)
    return Removal(files=tuple(entry.path for entry in gone), size=sum(entry.size for entry in gone))


def _is_ours(entry: FileEntry, folder: str) -> bool:
    return is_table_file(entry.path.removeprefix(f"{folder}/"))

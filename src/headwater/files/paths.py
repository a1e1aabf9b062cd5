"""What a path is: the name of a file below the root of a store, in the form `a/b/c`.

A path never leaves its store: no leading slash, no empty, `.` or `..` part, no backslash, no control character.
"""

import re

from headwater.errors import UsageError

_FORBIDDEN = re.compile(r"[\x00-\x1f\\]")


def check_path(path: str) -> str:
    """Return the path if it names a file below the root.

    >>> check_path("db/table/data/0-00001-a1b2c3d4.sst")
    'db/table/data/0-00001-a1b2c3d4.sst'

    RAISES: UsageError for anything that could leave the root or mean another file elsewhere.
    """
    if any(part in ("", ".", "..") for part in path.split("/")) or _FORBIDDEN.search(path):
        raise UsageError(
            f"`{path!a}` is not a path inside a store",
            hint="paths look like `a/b/c`: no leading slash, no empty, `.` or `..` part, no backslash",
        )
    return path


def check_folder(folder: str) -> str:
    """Return the folder without a trailing slash, if it is the root (`""`) or below it.

    RAISES: UsageError as `check_path` does.
    """
    folder = folder.removesuffix("/")
    return check_path(folder) if folder else ""

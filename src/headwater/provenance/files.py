"""Files outside of the lake that a commit read: whether they are still as they were."""

import os

from headwater.errors import CannotTellError
from headwater.provenance.commits import Commit


def check_files(commit: Commit) -> None:
    """RAISES: CannotTellError for a file that is gone or has changed since the commit read it."""
    for file in commit.recipe.files:
        try:
            known = os.stat(file.path)
        except OSError as err:
            raise CannotTellError(f"{commit} read {file.path}, which is gone") from err
        if (known.st_size, known.st_mtime_ns) != (file.size, file.modified):
            raise CannotTellError(f"{commit} read {file.path}, which has changed since")

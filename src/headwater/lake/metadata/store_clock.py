"""The clock by which the age of files is told: that of their store, not that of the machine that asks.
A cleaner whose own clock is hours ahead would take the files of a writer at work for leftovers of yesterday, and the
leases of readers for ended. So it asks the store what time it is, by writing a file and looking at its date."""

import time
import uuid
from contextlib import suppress

from headwater.errors import NotWritableError, StorageError
from headwater.files import Files

PROBE = "clock-"
"""How the names of such files begin. One that a crash leaves behind is an orphan like others."""


def store_time(files: Files, folder: str) -> float:
    """Seconds since 1970 by the store's clock, found by a file in `folder`.
    Where nothing can be written, the date of the newest file there, which is never too late."""
    path = f"{folder}/{PROBE}{uuid.uuid4().hex}".removeprefix("/")
    try:
        files.put(path, b"")
        return next(entry.modified for entry in files.list(folder) if entry.path == path)
    except (NotWritableError, StopIteration):
        newest = max((entry.modified for entry in files.list(folder) if not entry.is_folder), default=0.0)
        return min(time.time(), newest)
    finally:
        with suppress(StorageError):
            files.delete(path)

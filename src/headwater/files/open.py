"""From a URL to a store."""

import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.errors import UsageError
from headwater.files.local import LocalFiles
from headwater.files.memory import MemoryFiles
from headwater.files.objects import ObjectFiles
from headwater.files.protocol import Files
from headwater.text import nearest

_OBJECT_STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss", "adl", "azure")
_memories: dict[str, MemoryFiles] = {}
_memories_lock = threading.Lock()


def open_files(url: str | Path, options: dict[str, str] | None = None) -> Files:
    """Open the store at a local path, `file://`, `memory://name`, `s3://`, `gs://` or `az://` URL.

    One name of a memory store is one store everywhere in the process.

    >>> open_files("memory://scratch") is open_files("memory://scratch")
    True

    RAISES: UsageError for any other scheme, MissingDependencyError when obstore is needed and missing.
    """
    scheme, separator, rest = str(url).partition("://")
    if not separator:
        return LocalFiles(url)
    match scheme:
        case "file":
            return LocalFiles(unquote(urlsplit(str(url)).path))
        case "memory":
            with _memories_lock:
                return _memories.setdefault(rest, MemoryFiles(rest))
        case _ if scheme in _OBJECT_STORES and ":" in rest.partition("/")[0].rpartition("@")[0]:
            raise UsageError(
                f"an address of {scheme}:// takes no password",
                hint="options of the store and variables (AWS_SECRET_ACCESS_KEY, …) do, and nobody prints them",
            )
        case _ if scheme in _OBJECT_STORES:
            return ObjectFiles(str(url), options)
    close = nearest(scheme, ["file", "memory", *_OBJECT_STORES])
    raise UsageError(
        f"`{scheme}://` is not a kind of store",
        hint=f"did you mean `{close}://`?" if close else "stores: a path, file://, memory://, s3://, gs://, az://",
    )

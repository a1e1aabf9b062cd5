"""From a URL to a store. A new kind of store is a line of `STORES`."""

import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.errors import UsageError
from headwater.files.local import LocalFiles
from headwater.files.memory import MemoryFiles
from headwater.files.objects import ObjectFiles
from headwater.files.protocol import Files
from headwater.text import suggest

_memories: dict[str, MemoryFiles] = {}
_memories_lock = threading.Lock()


def open_files(url: str | Path, options: dict[str, str] | None = None) -> Files:
    """Open the store at a local path, `file://`, `memory://name`, `s3://`, `gs://` or `az://` URL.

    One name of a memory store is one store everywhere in the process.

    >>> open_files("memory://scratch") is open_files("memory://scratch")
    True

    RAISES: UsageError for any other scheme, MissingDependencyError when obstore is needed and missing.
    """
    scheme, separator, _ = str(url).partition("://")
    if not separator:
        return LocalFiles(url)
    if scheme not in STORES:
        hint = suggest(scheme, STORES, "stores: a path, file://, memory://, s3://, gs://, az://", "`{}://`")
        raise UsageError(f"`{scheme}://` is not a kind of store", hint=hint)
    return STORES[scheme](str(url), options)


def _memory(url: str, options: dict[str, str] | None) -> Files:
    name = url.removeprefix("memory://")
    with _memories_lock:
        return _memories.setdefault(name, MemoryFiles(name))


def _objects(url: str, options: dict[str, str] | None) -> Files:
    scheme, _, rest = url.partition("://")
    if ":" in rest.partition("/")[0].rpartition("@")[0]:
        raise UsageError(
            f"an address of {scheme}:// takes no password",
            hint="options of the store and variables (AWS_SECRET_ACCESS_KEY, …) do, and nobody prints them",
        )
    return ObjectFiles(url, options)


STORES: dict[str, Callable[[str, dict[str, str] | None], Files]] = {
    "file": lambda url, options: LocalFiles(unquote(urlsplit(url).path)),
    "memory": _memory,
    **dict.fromkeys(("s3", "s3a", "gs", "az", "abfs", "abfss", "adl", "azure"), _objects),
}
"""For each scheme, the function that opens a store from a URL and options."""

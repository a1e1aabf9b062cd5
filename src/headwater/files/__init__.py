"""Bytes behind six verbs: local disk, memory, object stores."""

from headwater.files.local import LocalFiles
from headwater.files.memory import MemoryFiles
from headwater.files.objects import ObjectFiles
from headwater.files.open import open_files
from headwater.files.protocol import Appender, Appending, Data, FileEntry, Files, Held, Locking, Mapping, Probing
from headwater.files.reading import RangeReader, open_reader

__all__ = [
    "Appender",
    "Appending",
    "Data",
    "FileEntry",
    "Files",
    "Held",
    "LocalFiles",
    "Locking",
    "Mapping",
    "MemoryFiles",
    "ObjectFiles",
    "Probing",
    "RangeReader",
    "open_files",
    "open_reader",
]

"""Texts of files, whatever encoding they are in."""

import codecs
from collections.abc import Callable
from pathlib import Path

from headwater.errors import InputError


def read_text(path: Path) -> str:
    """The text of a file. RAISES: InputError when it cannot be read or is not UTF-8."""
    try:
        return _bytes_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise InputError(f"{path} is not UTF-8 text (byte {err.start})") from err


SQL_SUFFIXES = frozenset(
    {
        *(".sql", ".hql", ".ddl", ".dml", ".tsql", ".psql", ".bteq", ".btq", ".bq", ".hive"),
        *(".plsql", ".pls", ".pks", ".pkb", ".prc", ".fnc", ".trg", ".vw"),
    }
)
"""The endings of files of SQL, in lower case."""


def sql_files(folder: Path) -> list[Path]:
    """The files of SQL below a folder, by their endings, in order."""
    return sorted(file for file in folder.rglob("*") if file.suffix.lower() in SQL_SUFFIXES and file.is_file())


def read_sql(path: Path, warn: Callable[[str], None]) -> str:
    """The text of a file of SQL: UTF-8, or UTF-16 with its mark; what is neither is read as Latin-1, with a warning.
    RAISES: InputError when it cannot be read or is no text."""
    data = _bytes_of(path)
    try:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        if b"\0" in data:
            raise InputError(f"{path} is not text: neither UTF-8 nor UTF-16") from err
        warn(f"{path} is not UTF-8 (byte {err.start}); it was read as Latin-1")
        return data.decode("latin-1")


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise InputError(f"cannot read {path}: {err.strerror}") from err

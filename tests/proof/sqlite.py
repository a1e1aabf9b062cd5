"""Worlds in SQLite: one small database in memory for each variant."""

import contextlib
import hashlib
import re
import sqlite3
from collections.abc import Callable

from tests.proof.engine import Row, Variant, World, plain
from tests.proof.tables import Table


def _on_texts(function: Callable[..., object]) -> Callable[..., object]:
    """A function of texts that gives NULL for NULL."""
    return lambda *given: None if None in given else function(*map(str, given))


_FUNCTIONS = (
    ("md5", 1, _on_texts(lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest())),
    ("ascii", 1, _on_texts(lambda text: ord(text[0]) if text else 0)),
    ("lpad", 3, _on_texts(lambda text, width, fill: text[: int(width)].rjust(int(width), fill[0]))),
    ("concat", 2, lambda *given: "".join(str(each) for each in given if each is not None)),
    ("regexp_replace", 3, _on_texts(lambda text, pattern, new: re.sub(pattern, lambda _: new, text))),
)
"""Functions of other engines that SQLite does not have."""


class SqliteWorld(World):
    """Tables in databases in memory; those of named variants are kept."""

    __slots__ = ("kept",)

    def __init__(self, tables: dict[str, Table], seed: str) -> None:
        super().__init__(tables, seed)
        self.kept: dict[str, sqlite3.Connection] = {}

    def close(self) -> None:
        for connection in self.kept.values():
            connection.close()

    def interrupt(self) -> None:
        for connection in list(self.kept.values()):
            with contextlib.suppress(sqlite3.Error):  # closed meanwhile
                connection.interrupt()

    def run(self, sql: str, variant: Variant | None = None, *, then: str | None = None) -> list[Row] | None:
        name = "" if variant is None else ",".join(variant.names.get(table, "?") for table in variant.values)
        connection = self.kept.get(name) or self._open(variant)
        self.kept[name] = connection
        try:
            rows = [tuple(map(plain, row)) for row in connection.execute(sql).fetchall()]
        except sqlite3.Error:
            rows = None
        if "?" in name:
            self.kept.pop(name).close()
        return rows

    def _open(self, variant: Variant | None) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        for called, arguments, function in _FUNCTIONS:
            connection.create_function(called, arguments, function, deterministic=True)
        for name, columns in self.tables.items():
            values = (variant.values.get(name) if variant else None) or self.base(name)
            lines = ", ".join(f"({', '.join(line)})" for line in zip(*values.values(), strict=True))
            typed = ", ".join(f'"{column}" {held.type}' for column, held in columns.items())
            connection.execute(f'CREATE TABLE "{name}" ({typed})')
            connection.execute(f'INSERT INTO "{name}" VALUES {lines}')
        return connection

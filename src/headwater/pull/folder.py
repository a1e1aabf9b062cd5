"""The folder that a database is pulled into.

    pull.json            the address, the moment, and a digest of each object: what the next pull compares with
    schema.json          tables with columns, types, keys and comments
    sql/SCHEMA/KIND/…    one file for each view, function, procedure and trigger
    history.jsonl        the statements that ran, each once

`headwater harvest` reads all of it.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from headwater.errors import InputError, NotWritableError, UsageError
from headwater.lineage.slices import digest
from headwater.pull.catalog import DatabaseCatalog, LoggedQuery

SCHEMA, SQL, HISTORY, RECORD = "schema.json", "sql", "history.jsonl", "pull.json"
TARGET = f"{SQL}/{{schema}}/*/*.sql"
"""The pattern of paths that tells `headwater harvest` the schema of short names in a definition."""


class Object(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table or definition as it was pulled."""

    name: str  # with its schema
    digest: str
    file: str | None = None  # in the folder


class PullRecord(msgspec.Struct, frozen=True):
    """The record of a pull: its content and its time."""

    address: str
    pulled: datetime
    objects: dict[str, Object] = {}  # by what people are shown


@dataclass(frozen=True, slots=True)
class PullChanges:
    """The differences between a pull and the one before it."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: dict[str, str]  # with their names
    new_queries: int
    queries: int  # all that are known


@dataclass(slots=True)
class PullFolder:
    """A folder for the database of one address.

    RAISES: UsageError when another database was pulled into it, InputError when its files cannot be read.
    """

    path: Path
    address: str
    before: dict[str, Object] = field(init=False)
    record: PullRecord = field(init=False)

    def __post_init__(self) -> None:
        (record,) = self._read(RECORD, PullRecord) or [PullRecord(self.address, datetime.now(UTC))]
        self.before = record.objects
        if record.address != self.address:
            hint = "name another folder with --into, or remove this one"
            raise UsageError(f"{self.path} holds {record.address}", hint=hint)

    def _read(self, name: str, type: type) -> list[Any]:
        file = self.path / name
        try:
            data = file.read_bytes() if file.exists() else b""
            decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(type)
            return decoder.decode_lines(data) if name == HISTORY else [decoder.decode(data)] if data else []
        except (OSError, msgspec.DecodeError) as err:
            raise InputError(f"{file} cannot be read: {err}", hint="remove it to pull everything anew") from err

    def update(self, catalog: DatabaseCatalog, *, dry_run: bool = False) -> PullChanges:
        """Make the folder what a database says, and tell what has changed. `settle` ends it.

        RAISES: NotWritableError.
        """
        objects, files = _objects_of(catalog)
        known: dict[str, LoggedQuery] = {row.id: row for row in self._read(HISTORY, LoggedQuery)}
        history = _merged(known, catalog.history)
        if not dry_run:
            if history:
                files[HISTORY] = b"".join(msgspec.json.encode(row) + b"\n" for row in history.values())
            files[SCHEMA] = msgspec.json.format(msgspec.json.encode(catalog.schema), indent=1)
            for old in self.before.values():
                if old.file is not None and old.file not in files:
                    (self.path / old.file).unlink(missing_ok=True)
            self._write(files)
        self.record = PullRecord(self.address, datetime.now(UTC), objects)
        return PullChanges(
            tuple(label for label in objects if label not in self.before),
            tuple(label for label, each in objects.items() if self.before.get(label, each) != each),
            {label: each.name for label, each in self.before.items() if label not in objects},
            len(history) - len(known),
            len(history),
        )

    def settle(self) -> None:
        """Remember what was pulled. Until then the next pull finds the same changes, and a harvest that died is made.

        RAISES: NotWritableError.
        """
        self._write({RECORD: msgspec.json.format(msgspec.json.encode(self.record), indent=1)})

    def _write(self, files: dict[str, bytes]) -> None:
        """Write the files that are not as they should be: what has not changed keeps its time."""
        try:
            (self.path / SQL).mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                file = self.path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                if not file.exists() or file.read_bytes() != data:
                    file.write_bytes(data)
        except OSError as err:
            raise NotWritableError(f"{self.path} cannot be written: {err.strerror}") from err


def _objects_of(catalog: DatabaseCatalog) -> tuple[dict[str, Object], dict[str, bytes]]:
    """Everything that there is, and the files of definitions. A view counts once, with its definition.

    Paths differ also where the case of letters does not count. Functions of one name are numbered.
    """
    objects: dict[str, Object] = {}
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for each in catalog.definitions:
        name = ".".join(part for part in (each.schema, each.name) if part)
        steps = [SQL, *([_step(each.schema)] if each.schema else []), each.kind.replace(" ", "_"), _step(each.name)]
        path, number = "/".join(steps), ""
        while f"{path}{number}".lower() in taken or f"{each.kind} {name}{number}" in objects:
            number = f"~{int(number[1:] or 1) + 1}"
        taken.add(f"{path}{number}".lower())
        files[f"{path}{number}.sql"] = each.text.rstrip(" ;\n").encode(errors="replace") + b";\n"
        objects[f"{each.kind} {name}{number}"] = Object(name, digest(each.text.encode()), f"{path}{number}.sql")
    for table in catalog.tables:
        name = ".".join(table.parts)
        objects[f"table {name}"] = Object(name, digest(msgspec.json.encode(table)))
    return objects, files


def _step(name: str) -> str:
    """A name as one step of a path."""
    safe = name.replace("%", "%25").replace("/", "%2F").encode()[:200].decode(errors="ignore")
    return f"%2E{safe[1:]}" if safe.startswith(".") else safe


def _merged(known: dict[str, LoggedQuery], found: tuple[LoggedQuery, ...]) -> dict[str, LoggedQuery]:
    """The history with what ran since it was known last; a time that the server does not know is now."""
    now = datetime.now(UTC)
    ran = {}
    for row in found:
        old = known.get(row.id)
        if old is None or (old.calls != row.calls if row.time is None else old.time != row.time):
            ran[row.id] = row if row.time is not None else replace(row, time=now)
    return known | ran

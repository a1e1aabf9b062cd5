"""Views: queries with a name. `{database}/{view}.view` holds the text, in which every table has its full name."""

import msgspec

from headwater.errors import AlreadyExistsError, NotFoundError
from headwater.files import Files
from headwater.lake.engine.stored_json import check_format_version, decode_json, encode_json
from headwater.lake.metadata.entries import now_millis
from headwater.lake.tables.names import TableIdentifier, check_name
from headwater.text import suggest

FORMAT_VERSION = 1
_ENTRY = ".view"


class View(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A query that tables stand in for, and the names of its columns if they were given."""

    sql: str
    columns: tuple[str, ...] = ()
    comment: str | None = None
    created_millis: int = msgspec.field(default_factory=now_millis)
    version: int = FORMAT_VERSION


class Views:
    """The views of a warehouse."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def create(self, name: TableIdentifier, view: View, *, replace: bool = False) -> None:
        """RAISES: AlreadyExistsError unless `replace`."""
        if replace:
            self._files.put(_path(name), encode_json(view))
            return
        try:
            self._files.put_if_absent(_path(name), encode_json(view))
        except AlreadyExistsError as err:
            raise AlreadyExistsError(f"there is a view {name} already") from err

    def get(self, name: TableIdentifier) -> View:
        """RAISES: NotFoundError with the nearest name, CorruptFileError."""
        path = _path(name)
        try:
            view = decode_json(self._files.get(path), View, path)
        except NotFoundError as err:
            names = self.list(name.database)
            hint = suggest(name.table, names, f"views: {', '.join(names) or 'none'}", f"`{name.database}.{{}}`")
            raise NotFoundError(f"there is no view {name}", hint=hint) from err
        check_format_version(path, view.version, FORMAT_VERSION)
        return view

    def list(self, database: str) -> list[str]:
        """The names of the views of a database, in order."""
        entries = self._files.list(check_name(database, "database"))
        return [entry.name.removesuffix(_ENTRY) for entry in entries if entry.name.endswith(_ENTRY)]

    def drop(self, name: TableIdentifier) -> None:
        """RAISES: NotFoundError."""
        self.get(name)
        self._files.delete(_path(name))


def _path(name: TableIdentifier) -> str:
    return f"{name.database}/{name.table}{_ENTRY}"

"""Tags: names for snapshots that must stay.
A tag is a copy of its snapshot, `tag/tag-{name}`, so it outlives the expiry of the snapshot itself."""

import re

from headwater.errors import NotFoundError, UsageError
from headwater.files import Files
from headwater.lake.engine.layout import PathFactory
from headwater.lake.metadata.snapshot import Snapshot, decode_snapshot, encode_snapshot
from headwater.text import suggest

_PREFIX = "tag-"
_NAME = re.compile(r"(?=.*[^\W\d])\w[\w.-]*")


class Tags:
    """The tags of one table."""

    def __init__(self, files: Files, paths: PathFactory) -> None:
        self._files = files
        self._paths = paths

    def create(self, name: str, snapshot: Snapshot) -> None:
        """Give a snapshot a name.
        RAISES: AlreadyExistsError when the name is taken, UsageError when it could be mistaken for something else."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"`{name}` cannot be the name of a tag", hint="a letter, then letters, digits, . _ -")
        self._files.put_if_absent(self._paths.tag(name), encode_snapshot(snapshot))

    def get(self, name: str) -> Snapshot:
        """The snapshot of a tag. RAISES: NotFoundError with the nearest name."""
        try:
            path = self._paths.tag(name)
            return decode_snapshot(self._files.get(path), path)
        except (NotFoundError, UsageError) as err:
            names = list(self.names())
            hint = suggest(name, names, f"tags: {', '.join(names) or 'none'}")
            raise NotFoundError(f"there is no tag `{name}`", hint=hint) from err

    def names(self) -> list[str]:
        """The names of all tags, in order."""
        entries = self._files.list(self._paths.tag_folder)
        return [entry.name.removeprefix(_PREFIX) for entry in entries if entry.name.startswith(_PREFIX)]

    def all(self) -> dict[str, Snapshot]:
        """Every tag and its snapshot."""
        return {name: self.get(name) for name in self.names()}

    def delete(self, name: str) -> Snapshot:
        """Remove a tag and return the snapshot it named. RAISES: NotFoundError."""
        snapshot = self.get(name)
        self._files.delete(self._paths.tag(name))
        self._files.put(self._paths.removed_tag, name.encode())  # makes the removal durable, with its folder
        return snapshot

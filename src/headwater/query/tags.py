"""ALTER TABLE t CREATE TAG, DROP TAG: names for snapshots that must stay."""

import re

from headwater.errors import AlreadyExistsError, NotFoundError
from headwater.lake.tables import Table
from headwater.query.result import Result, done

_NAME = r"""(?P<tag>"[^"]+"|'[^']+'|\S+)"""
_MOMENT = r"(?:version\s+as\s+of|timestamp\s+as\s+of|as\s+of(?:\s+version|\s+timestamp)?)"
_CREATE = re.compile(
    rf"create\s+tag\s+(?P<quietly>if\s+not\s+exists\s+)?{_NAME}(?:\s+{_MOMENT}\s+(?P<at>\d+|'[^']+'))?",
    re.IGNORECASE,
)
_DROP = re.compile(rf"drop\s+tag\s+(?P<quietly>if\s+exists\s+)?{_NAME}", re.IGNORECASE)


def alter_tag(table: Table, action: str) -> Result | None:
    """Carry out a CREATE TAG or DROP TAG; None if the action is neither.

    RAISES: AlreadyExistsError, NotFoundError.
    """
    if create := _CREATE.fullmatch(action):
        name, at = _plain(create["tag"]), create["at"]
        if create["quietly"] and name in table.tags():
            return done(f"tag {name} of {table.name} is there already")
        try:
            moment = int(at) if at and at.isdigit() else _plain(at) if at else None
            snapshot = table.create_tag(name, moment)
        except AlreadyExistsError as err:
            raise AlreadyExistsError(f"{table.name} has a tag `{name}` already", hint="DROP TAG it first") from err
        return done(f"tag {name} of {table.name} is snapshot {snapshot.snapshot_id}")
    if drop := _DROP.fullmatch(action):
        name = _plain(drop["tag"])
        try:
            table.delete_tag(name)
        except NotFoundError:
            if not drop["quietly"]:
                raise
        return done(f"tag {name} of {table.name} dropped")
    return None


def _plain(text: str) -> str:
    return text.strip("\"'")

"""Time travel: finds the snapshot that a text means, by id, tag, time, or distance from now.

5, "5"                       the snapshot with that id
"release-1"                  the snapshot of a tag
"@-1"                        the one before the latest change; "@0" is the latest. Compactions change nothing
"2 hours ago"                the latest at that time; s, m, h, d, w and longer names
"2026-11-01", a date         the latest at the beginning of that day, UTC
"2026-11-01 09:30", ISO 8601 the latest at that time, UTC unless it says otherwise
"""

import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, assert_never

from headwater.errors import NotFoundError, UsageError
from headwater.lake.metadata.snapshot import NO_SNAPSHOT, Operation, Snapshot
from headwater.lake.tables.store import TableStore

At: TypeAlias = int | str | datetime.date | datetime.datetime

_ID = re.compile(r"[0-9]{1,18}")  # what is longer is no id, and int() has a limit of its own
_BACK = re.compile(r"@(-?[0-9]{1,18})")
_AGO = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)\s*([a-z]+)\s+ago", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][\w.-]*")
_UNITS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86400, "week": 604800}
_LETTERS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True, slots=True)
class ById:
    """The snapshot with an id."""

    id: int


@dataclass(frozen=True, slots=True)
class Back:
    """The latest change (0), or the one so many before it."""

    distance: int

    @property
    def text(self) -> str:
        return f"@{-self.distance}"


@dataclass(frozen=True, slots=True)
class ByTime:
    """The latest at a time."""

    millis: int
    text: str


@dataclass(frozen=True, slots=True)
class ByTag:
    """The snapshot that a tag names."""

    name: str


Wanted: TypeAlias = ById | Back | ByTime | ByTag


def parse_at(at: At, *, now: float, tags: Collection[str] = ()) -> Wanted:
    """Return what `at` means, where `tags` are the names that are in use.
    RAISES: UsageError when it cannot be understood."""
    if isinstance(at, bool):
        raise UsageError(f"{at!r} is not a moment of a table")
    if isinstance(at, int):
        return ById(at)
    if isinstance(at, datetime.date):
        return ByTime(_millis(at), str(at))
    text = at.strip()
    if _ID.fullmatch(text):
        return ById(int(text))
    if match := _BACK.fullmatch(text):
        distance = int(match[1])
        if distance > 0:
            raise UsageError(f"`@{distance}` is in the future", hint="`@-1` is the snapshot before the latest")
        return Back(-distance)
    if text in tags:
        return ByTag(text)
    if match := _AGO.fullmatch(text):
        unit = match[2]
        word = unit.lower()
        known = _LETTERS.get(word) or _UNITS.get(word.removesuffix("s"))
        if known is None:
            raise UsageError(f"`{unit}` is not a unit of time", hint="seconds, minutes, hours, days, weeks")
        return ByTime(int((now - float(match[1]) * known) * 1000), text)
    moment = _parse_time(text)
    if moment is not None:
        return ByTime(_millis(moment), text)
    if _WORD.fullmatch(text):
        return ByTag(text)
    raise UsageError(
        f"`{text}` is not a moment of a table",
        hint="a snapshot id, a tag, `@-1`, `2 hours ago`, `2026-11-01` or `2026-11-01 09:30`",
    )


def snapshot_at(store: TableStore, at: At, *, now: float) -> Snapshot:
    """The snapshot that `at` names.
    RAISES: NotFoundError when there is none, UsageError when it cannot be understood."""
    wanted = parse_at(at, now=now, tags=store.tags.names() if isinstance(at, str) else ())
    match wanted:
        case ById(id):
            return _by_id(store, id)
        case Back():
            return _back(store, wanted)
        case ByTime(millis, text):
            return _by_time(store, millis, text)
        case ByTag(name):
            return store.tags.get(name)
        case _:
            assert_never(wanted)


def _by_id(store: TableStore, id: int) -> Snapshot:
    try:
        return store.committer.log.get(id)
    except NotFoundError as err:
        for snapshot in store.tags.all().values():
            if snapshot.snapshot_id == id:
                return snapshot
        raise NotFoundError(f"there is no snapshot {id} of {store.name}", hint=err.hint) from err


def _back(store: TableStore, back: Back) -> Snapshot:
    latest = store.committer.log.latest_id()
    if latest == NO_SNAPSHOT:
        raise NotFoundError(f"{store.name} has no snapshots yet")
    if back.distance == 0:
        return _by_id(store, latest)
    changes = (each for each in store.committer.log.newest_first() if each.operation is not Operation.COMPACT)
    found = next(islice(changes, back.distance, None), None)
    if found is None:
        raise NotFoundError(
            f"{store.name} has no snapshot `{back.text}`",
            hint=f"snapshots {store.committer.log.earliest_id()} to {latest} are kept",
        )
    return found


def _by_time(store: TableStore, millis: int, text: str) -> Snapshot:
    """The newest snapshot that is not younger than a moment; times in the log never decrease."""
    log = store.committer.log
    low, high = log.earliest_id(), log.latest_id()
    if low == NO_SNAPSHOT:
        raise NotFoundError(f"{store.name} has no snapshots yet")
    first = log.get(low)
    if first.timestamp > millis:
        begin = datetime.datetime.fromtimestamp(first.timestamp / 1000, datetime.UTC)
        raise NotFoundError(
            f"{store.name} has no snapshot as old as {text}", hint=f"the oldest kept is {low}, of {begin:%F %T} UTC"
        )
    while low < high:
        middle = (low + high + 1) // 2
        if log.get(middle).timestamp <= millis:
            low = middle
        else:
            high = middle - 1
    return log.get(low)


def _parse_time(text: str) -> datetime.datetime | datetime.date | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def _millis(moment: datetime.date) -> int:
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp() * 1000)

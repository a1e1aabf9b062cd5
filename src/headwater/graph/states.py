"""The states of the graph: one for every change, with a number that stays.
The number is kept in the record of the change (`lineage.harvests`). It does not count snapshots: compactions make
snapshots without a change, and expiry removes them. A state can be read as long as the lake keeps the snapshots of
the tables that its record names."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from headwater.errors import NotFoundError
from headwater.graph.facts import Row
from headwater.graph.lock import keeps_rows
from headwater.lake.tables import Table
from headwater.lake.tables.time_travel import Back, ById, ByTime


@dataclass(frozen=True, slots=True)
class State:
    """One state: its number, the change that made it, when that ended, and the snapshot of each table.
    `until` has the snapshot at which each table next shows another state, where there is one."""

    number: int
    harvest: str
    ended: datetime.datetime
    pins: Mapping[str, int]
    until: Mapping[str, int]


def list_states(records: Iterable[Row]) -> list[State]:
    """The states that some records tell of, oldest first. Records of versions that kept no number stand in the order
    of their snapshots, which only grow, and get the number after the one before them."""
    found: list[State] = []
    pins: dict[str, int] = {}
    for record in sorted(records, key=_order):
        for name, id in record["snapshots"] or ():
            pins[name] = max(id, pins.get(name, 0))
        following = found[-1].number + 1 if found else 1
        number = max(record.get("number") or 0, following)
        found.append(State(number, record["harvest"], record["ended"], dict(pins), {}))
    until: dict[str, int] = {}
    for at in range(len(found) - 2, -1, -1):
        for name, pin in found[at + 1].pins.items():
            if found[at].pins.get(name) != pin:
                until[name] = pin
        found[at] = replace(found[at], until=dict(until))
    return found


def _order(record: Row) -> tuple[int, int, datetime.datetime, str]:
    named = sum(id for _, id in record["snapshots"] or ())
    return record.get("number") or 0, named, record["ended"], record["harvest"]


class KeptSnapshots:
    """The snapshots of the graph's tables that the lake still has."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._ids: dict[str, list[int]] = {}

    def readable(self, states: Iterable[State]) -> list[State]:
        """The states of which every snapshot is there, or a compaction of it."""
        states = list(states)
        for name in {name for state in states for name in state.pins}:
            self._listed(name)
        return [found for state in states if (found := self.find(state)) is not None]

    def find(self, state: State) -> State | None:
        """A state with snapshots that are there, None when one of them has expired.
        A compaction of an expired snapshot has its rows, so the state is read there."""
        pins: dict[str, int] = {}
        for name, pin in state.pins.items():
            found = pin if self._has(name, pin) else self._compacted(name, pin, state.until.get(name))
            if found is None:
                return None
            pins[name] = found
        return replace(state, pins=pins)

    def _compacted(self, name: str, pin: int, until: int | None) -> int | None:
        following = next((id for id in self._listed(name) if id > pin), None)
        if following is None or (until is not None and following >= until):
            return None
        snapshot = self._tables[name].snapshot(following)
        return following if snapshot is not None and keeps_rows(snapshot) else None

    def _has(self, name: str, id: int) -> bool:
        if name in self._ids:
            return id in self._ids[name]
        try:
            return name in self._tables and self._tables[name].snapshot(id) is not None
        except NotFoundError:
            return False

    def _listed(self, name: str) -> list[int]:
        known = self._ids.get(name)
        if known is None and name not in self._tables:  # it was dropped meanwhile
            return []
        if known is None:
            store = self._tables[name].store
            tagged = [each.snapshot_id for each in store.tags.all().values()]
            known = self._ids[name] = sorted({*store.committer.log.ids(), *tagged})
        return known


def choose(states: Sequence[State], kept: KeptSnapshots, wanted: ById | Back | ByTime) -> State:
    """The state that somebody means, with snapshots that are there.
    REQUIRES: at least one state. RAISES: NotFoundError when it cannot be read, naming those that can."""
    match wanted:
        case ById(number):
            found = next((each for each in states if each.number == number), None)
            name = f"state {number}"
        case Back(distance):
            found = states[-1 - distance] if distance < len(states) else None
            name = f"state `{wanted.text}`"
        case ByTime(millis, text):
            found = next((each for each in reversed(states) if each.ended.timestamp() * 1000 < millis + 1), None)
            name = f"state as old as {text}"
        case _:
            assert_never(wanted)
    readable = kept.find(found) if found is not None else None
    if readable is not None:
        return readable
    message = f"the graph has no {name}" if found is None else f"state {found.number} of the graph has expired"
    there = spans(each.number for each in kept.readable(states)) or "none"
    hint = f"states that can be read: {there} (`headwater harvests` lists them); `@0` is the latest"
    raise NotFoundError(message, hint=hint)


def spans(numbers: Iterable[int]) -> str:
    """Numbers in order, with stretches written short.

    >>> spans([3, 4, 5, 9])
    '3 to 5, 9'
    """
    stretches: list[list[int]] = []
    for number in sorted(numbers):
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1][1:] = [number]
        else:
            stretches.append([number])
    return ", ".join(" to ".join(map(str, each)) for each in stretches)

"""The tables of logged statements: those of the text's lineage, and those that the warehouse names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from headwater.errors import SchemaError
from headwater.graph.facts import Row
from headwater.graph.store import GraphState
from headwater.graph.tables import STATEMENTS

_OBSERVED = ("observed_reads", "observed_writes")


@dataclass(frozen=True, slots=True)
class TableDrift:
    """A logged statement whose tables by its text and by the warehouse are not the same."""

    statement: str
    role: str  # reads or writes
    only_said: tuple[str, ...]  # by the text
    only_done: tuple[str, ...]  # by the warehouse

    other: ClassVar[str] = "log"

    @property
    def title(self) -> str:
        return f"{self.statement} {self.role}"


def table_drift(state: GraphState) -> list[TableDrift]:
    """Return where lineage and warehouse disagree about what a logged statement reads or writes.

    A statement that reads a view may be said to read the view, the tables beneath it, or both.
    """
    columns = ["statement", "source", "number", "type", "target", "reads", *_OBSERVED]
    try:
        rows = state.read(STATEMENTS, columns).to_pylist()
    except SchemaError:  # an earlier version wrote the statements
        return []
    beneath: dict[str, list[str]] = {}
    scripts: dict[str, list[Row]] = {}
    for row in rows:
        scripts.setdefault(row["source"], []).append(row)
        if row["target"] is not None and "VIEW" in (row["type"] or "").upper():
            beneath.setdefault(row["target"], []).extend(row["reads"] or ())
    found: list[TableDrift] = []
    for each in scripts.values():
        first = min(each, key=lambda row: row["number"])
        if any(first[name] for name in _OBSERVED):
            found += _compared(first, each, beneath)
    return sorted(found, key=lambda each: (each.statement, each.role))


def _compared(first: Row, statements: list[Row], beneath: Mapping[str, list[str]]) -> Iterable[TableDrift]:
    written = {row["target"] for row in statements if row["target"] is not None and row["type"] != "SELECT"}
    # what it makes itself does not count
    read = {name for row in statements for name in row["reads"] or ()} - written
    reached = {name: _closure(name, beneath) for name in read if "information_schema" not in name.lower()}
    for role, known in (("reads", reached), ("writes", {name: {name} for name in written})):
        seen = first[f"observed_{role}"] or []
        said = [name for name, names in known.items() if not any(_is_among(each, seen) for each in names)]
        done = [name for name in seen if not _is_among(name, written.union(*known.values()))]
        if seen and (said or done):
            yield TableDrift(first["statement"], role, tuple(sorted(said)), tuple(sorted(done)))


def _closure(name: str, beneath: Mapping[str, list[str]]) -> set[str]:
    """A table, or a view with all that it reads in turn."""
    found, waiting = {name}, [name]
    while waiting:
        new = set(beneath.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _is_among(name: str, others: Iterable[str]) -> bool:
    """Return whether a name means one of some tables.

    Case does not count, one may have more parts than the other, and `*` stands for any ending, as in BigQuery.
    """
    parts = name.lower().split(".")
    pairs = (zip(reversed(parts), reversed(other.lower().split("."))) for other in others)
    return any(all(fnmatchcase(a, b) or fnmatchcase(b, a) for a, b in each) for each in pairs)

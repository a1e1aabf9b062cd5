"""Counting rows: from the manifests wherever they know, and by reading as little as possible where they do not.
A file knows its rows and its deletes. Where no other file of its bucket overlaps it in keys, every put in it is a
row, and a delete hides nothing; in a table without a key that is so everywhere. Files that overlap are merged, by
their keys alone."""

from dataclasses import dataclass, replace

from headwater.lake.engine.predicates import Predicate, Where
from headwater.lake.tables.plan import ScanPlan, Split, key_sections, plan_scan
from headwater.lake.tables.read import read_plan
from headwater.lake.tables.state import TableState
from headwater.lake.tables.store import TableStore


@dataclass(frozen=True, slots=True)
class CountPlan:
    """The rows that manifests know of, and the scan that counts the rest."""

    known: int
    rest: ScanPlan


def plan_count(store: TableStore, state: TableState, where: Where = None) -> CountPlan:
    """Divide a count into what is known and what is not. RAISES: SchemaError naming a column that is not there."""
    plan = plan_scan(store, state, (), where)
    if not decides_by_partition(plan.where, state):
        return CountPlan(0, plan)
    known = 0
    rest: list[Split] = []
    for split in plan.splits:
        counted, left = _counted(split, keyed=state.shape.is_keyed)
        known += counted
        rest += left
    return CountPlan(known, replace(plan, where=(), splits=tuple(rest)))


def count_rows(store: TableStore, state: TableState, where: Where = None, *, past: bool = False) -> int:
    """The number of rows for which predicates hold. RAISES: SchemaError naming a column that is not there."""
    plan = plan_count(store, state, where)
    return plan.known + sum(len(batch) for batch in read_plan(store, plan.rest, state, past=past))


def decides_by_partition(where: tuple[Predicate, ...], state: TableState) -> bool:
    """Return whether predicates hold for all rows of a partition or for none. REQUIRES: checked predicates."""
    names = {field.name for field in state.shape.partition_fields}
    return all(predicate.column in names for predicate in where)


def _counted(split: Split, *, keyed: bool) -> tuple[int, list[Split]]:
    """The rows of files that nothing overlaps, and what is left to be merged."""
    if not keyed:
        return sum(file.rows for file in split.files), []
    sections = key_sections(split.files)
    alone = [section[0] for section in sections if len(section) == 1]
    names = {file.name for file in alone}
    others = tuple(file for file in split.files if file.name not in names)
    return sum(file.rows - file.deletes for file in alone), [replace(split, files=others, where=())] if others else []

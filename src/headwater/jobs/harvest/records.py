"""The records of earlier harvests: units that need not be analysed again, and rows that are to go.

A harvest that died has left rows that no reader sees, until the next change shows the tables as they then are. So
what is to be written and removed is worked out against the tables as they are, not as readers see them; and a unit
counts as known only if its record is the one that readers see.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.errors import NotFoundError
from headwater.graph.facts import Key, Row, statement_id
from headwater.graph.store import GraphStore
from headwater.graph.tables import COLUMNS, DATASETS, EDGES, ISSUES, RUN_INPUTS, STATEMENTS, UNITS, WHOLE, TableSpec
from headwater.jobs.harvest.unit_analysis import Outcome
from headwater.lake.engine.predicates import In
from headwater.lazy import arrow_compute as pc
from headwater.lineage.schema import TableOrigin


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """A unit as an earlier harvest left it."""

    unit: str
    root: str
    source: str
    number: int
    outcome: Outcome
    harvest: str

    @property
    def statements(self) -> list[str]:
        return statement_ids(self.source, self.number, self.outcome.count)


def statement_ids(source: str, number: int, count: int) -> list[str]:
    """The ids under which the rows of a unit stand; those of the script itself are under the name of the script."""
    own = [statement_id(source, number + at) for at in range(count)]
    return [*own, source] if number == 0 else own


@dataclass(frozen=True, slots=True)
class Memory:
    """The units of some roots: those in the tables, and of those the ones to go by."""

    there: dict[str, UnitRecord]
    known: dict[str, Outcome]


def recall(store: GraphStore, roots: Iterable[str]) -> Memory:
    """Return what is known of units under some roots."""
    wanted = tuple(sorted(set(roots)))
    if not store.exists or not store.warehouse.has_table(UNITS.full_name):
        return Memory({}, {})
    store.settle()
    there = _records(store.table(UNITS).to_arrow(where=In("root", wanted)))
    try:
        pins = store.state().pins
    except NotFoundError:  # not one harvest has come to its end
        pins = {}
    seen = pins.get(UNITS.name)
    latest = store.table(UNITS).snapshot()
    if latest is None or seen == latest.snapshot_id:
        return Memory(there, {id: record.outcome for id, record in there.items()})
    shown = _records(store.table(UNITS).to_arrow(where=In("root", wanted), at=seen)) if seen is not None else {}
    return Memory(there, {id: record.outcome for id, record in there.items() if shown.get(id) == record})


def _records(table: pa.Table) -> dict[str, UnitRecord]:
    found = {}
    for row in table.to_pylist():
        outcome = Outcome(row["fingerprint"], row["sight"], row["effects"], row["count"], row["findings"])
        place = row["unit"], row["root"], row["source"], row["number"]
        found[row["unit"]] = UnitRecord(*place, outcome, row["harvest"])
    return found


def unit_rows(units: Iterable[tuple[Any, Outcome]], harvest: str) -> Iterable[Row]:
    """The rows of units that were analysed."""
    for unit, outcome in units:
        yield {
            "unit": unit.id,
            "root": unit.script.root,
            "source": unit.script.name,
            "number": unit.number,
            "count": outcome.count,
            "fingerprint": outcome.fingerprint,
            "sight": outcome.sight,
            "effects": outcome.effects,
            "findings": outcome.findings,
            "harvest": harvest,
        }


def gone(store: GraphStore, spec: TableSpec, statements: Iterable[str], written: pa.Table) -> list[Key]:
    """The keys of rows that some statements had and that are not written anew."""
    ids = tuple(sorted(set(statements)))
    if not ids or not store.exists:
        return []
    there = store.table(spec).to_arrow(list(spec.key), where=In("statement", ids))
    return sorted(_keys(there, spec) - _keys(written, spec))


def _keys(table: pa.Table, spec: TableSpec) -> set[Key]:
    return set(zip(*(table.column(name).to_pylist() for name in spec.key)))


@dataclass(frozen=True, slots=True)
class DatasetKinds:
    """The datasets that statements name, with their kind: those of this harvest, before and after, and of others.

    `alone` says that there are no others: then what nobody names is nobody's. `made` are those that its
    statements write.
    """

    before: dict[str, str]
    after: dict[str, str]
    others: dict[str, str]
    alone: bool
    made: Set[str] = frozenset()

    def are_ours(self, dataset: str) -> bool:
        """Return whether this harvest alone has a say in a dataset that SQL text named."""
        return self.alone or (dataset not in self.others and (dataset in self.before or dataset in self.after))


def names_of(
    store: GraphStore, memory: Memory, statements: pa.Table, kept: Iterable[str], gone: Iterable[str] = ()
) -> DatasetKinds:
    """The datasets that statements name; `statements` are those written now, `kept` the ids of those that stay.

    `gone` are the datasets that the schema has no more.
    """
    after = _named(statements)
    if not store.exists:
        return DatasetKinds({}, after, {}, alone=True)
    present = store.table(STATEMENTS).to_arrow(["statement", "type", "target", "reads"])
    ours = pa.array(sorted({id for record in memory.there.values() for id in record.statements}), pa.string())
    stays = pa.array(sorted(kept), pa.string())
    mine = pc.is_in(present.column("statement"), ours)
    others = present.filter(pc.invert(mine))
    kept_rows = present.filter(pc.is_in(present.column("statement"), stays))
    before = dict.fromkeys(gone, "table") | _named(present.filter(mine))
    made = {name for each in (statements, kept_rows) for name in each.column("target").unique().to_pylist()}
    return DatasetKinds(before, _merged(after, _named(kept_rows)), _named(others), alone=not len(others), made=made)


def _named(statements: pa.Table) -> dict[str, str]:
    reads = statements.column("reads").combine_chunks()
    names = [reads.flatten() if len(reads) else pa.array([], pa.string()), statements.column("target").unique()]
    types = pc.fill_null(pc.utf8_upper(statements.column("type")), "")
    kinds = {name: "table" for each in names for name in each.unique().to_pylist() if name is not None}
    for kind, those in (("query", pc.equal(types, "SELECT")), ("view", pc.match_substring(types, "VIEW"))):
        made = statements.filter(those).column("target").unique().to_pylist()
        kinds |= {name: kind for name in made if name is not None}
    return kinds


def _merged(*kinds: dict[str, str]) -> dict[str, str]:
    """One of several, in which a view is a view, and a query a query."""
    whole = {name: "table" for each in kinds for name in each}
    return whole | {name: kind for each in kinds for name, kind in each.items() if kind != "table"}


def changed_columns(store: GraphStore, rows: list[Row], names: DatasetKinds) -> tuple[list[Row], list[Key]]:
    """Of the columns of the resolved schema, those that are new or different; and the keys of those to remove first:
    those that are no more, and those of which less is known than was. What others know of a table stays, unless it is
    made here or its schema was given: whoever only reads it names few of its columns."""
    if not store.exists:
        return rows, []
    blank = dict.fromkeys(COLUMNS.names)  # a table of an earlier version has fewer columns
    there = {(row["dataset"], row["column"]): blank | row for row in store.table(COLUMNS).to_arrow().to_pylist()}
    now = {(row["dataset"], row["column"]): row for row in rows}
    known_here = names.made | {row["dataset"] for row in rows if row["origin"] == TableOrigin.IMPORTED.value}
    changed, removed = [], []
    for key, row in now.items():
        known = there.get(key)
        if known is not None and key[0] not in known_here and not names.are_ours(key[0]):
            continue
        if known is not None:  # what is not said now stays
            kept = {"tags": known["tags"], "words": known["words"]}
            row = row | {"description": row["description"] or known["description"], **kept}
        if known != row:
            changed.append(row)
            if known is not None and any(row[name] is None and known[name] is not None for name in row):
                removed.append(key)
    for key, known in there.items():
        mine = (key[0] in known_here and key[1] != WHOLE) or names.are_ours(key[0])
        if key not in now and mine and known["origin"] in ("imported", "implied", "described"):
            removed.append(key)
            if known["origin"] == "described" and (known["words"] or known["tags"]):  # what people have said stays
                changed.append(known | {"description": None, "owner": None, "origin": None})
    return changed, sorted(removed)


def changed_datasets(store: GraphStore, names: DatasetKinds, known: Iterable[str]) -> tuple[list[Row], list[Key]]:
    """The datasets that are new or of another kind, and the keys of those that nobody names any more.

    `known` are those of the resolved schema. What events have told of a dataset stays as it is.
    """
    wanted = _merged(names.after, dict.fromkeys(known, "table"), names.others)
    there: dict[str, Row] = {}
    used: set[str] = set()
    if store.exists:
        there = {row["dataset"]: row for row in store.table(DATASETS).to_arrow().to_pylist()}
        used = set(store.table(RUN_INPUTS).to_arrow(["dataset"]).column(0).to_pylist())
    rows: list[Row] = [{"dataset": name, "namespace": None, "kind": kind} for name, kind in sorted(wanted.items())]
    changed = [row for row in rows if (old := there.get(row["dataset"])) is None or _differs(old, row)]
    gone = [name for name, row in there.items() if name not in wanted and row["namespace"] is None]
    return changed, sorted((name,) for name in gone if names.are_ours(name) and name not in used)


def _differs(old: Row, new: Row) -> bool:
    return old["namespace"] is None and old["kind"] in ("table", "view", "query") and old["kind"] != new["kind"]


REPLACED = (STATEMENTS, EDGES, ISSUES)
"""The tables whose rows belong to statements."""

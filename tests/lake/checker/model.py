"""The model of a table: one dictionary per snapshot, and what each verb does to it.

A row is a dictionary from field ids to cells, so that it outlives renames. What several rows of a key become is told
by `FOLDS`: every engine is a way to fold a new row into the one that is there.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.lake.checker.values import DAY, frozen

from headwater.model.schema import Field, Schema

Row = dict[int, Any]
Key = tuple[Any, ...]


def _known(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A fold that leaves out nulls."""
    return lambda old, new: new if old is None else old if new is None else function(old, new)


def _least(pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The smaller or larger of two; NaN only when there is nothing else."""
    return lambda old, new: new if old != old else old if new != new else pick(old, new)


FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "first": lambda old, new: old,
    "last": lambda old, new: new,
    "first_non_null": _known(lambda old, new: old),
    "last_non_null": _known(lambda old, new: new),
    "sum": _known(lambda old, new: old + new),
    "product": _known(lambda old, new: math.prod((old, new))),
    "min": _known(_least(min)),
    "max": _known(_least(max)),
    "bool_or": _known(lambda old, new: old or new),
    "bool_and": _known(lambda old, new: old and new),
    "listagg": _known(lambda old, new: f"{old},{new}"),
    "collect": _known(lambda old, new: [*old, *new]),
}
_ENGINES = {"deduplicate": "last", "partial-update": "last_non_null", "first-row": "first"}


@dataclass(frozen=True)
class Moment:
    """The rows by key that a snapshot must show, and the schema of the time."""

    schema: Schema
    rows: dict[Key, Row]


@dataclass
class Model:
    """A table as a dictionary. A table without a key numbers its rows."""

    keyed: bool
    rows: dict[Key, Row] = field(default_factory=dict)
    defaults: dict[tuple[int, str], Any] = field(default_factory=dict)  # of added columns, by their type of the time
    moments: dict[int, Moment] = field(default_factory=dict)
    tags: dict[str, Moment] = field(default_factory=dict)
    numbers: int = 0

    def key_of(self, row: Row, schema: Schema) -> Key:
        if not self.keyed:
            self.numbers += 1
            return (self.numbers,)
        return tuple(frozen(row[schema.field(name).id]) for name in schema.primary_keys)

    def put(self, row: Row, schema: Schema) -> None:
        """Write one row over what is there, by the merge engine of the table."""
        key = self.key_of(row, schema)
        old = self.rows.get(key)
        if old is None:
            self.rows[key] = row
            return
        keys = {schema.field(name).id for name in schema.primary_keys}
        self.rows[key] = {
            each.id: row[each.id]
            if each.id in keys
            else FOLDS[function_of(schema, each)](self.cell(old, each), row[each.id])
            for each in schema.fields
        }

    def cell(self, row: Row, column: Field) -> Any:
        """The value of a row: a column that came later has its default."""
        return row.get(column.id, self.defaults.get((column.id, str(column.type))))

    def shown(self, schema: Schema, rows: dict[Key, Row] | None = None) -> dict[Key, tuple[Any, ...]]:
        """Rows as a schema shows them."""
        rows = self.rows if rows is None else rows
        return {key: tuple(frozen(self.cell(row, each)) for each in schema.fields) for key, row in rows.items()}

    def keep(self, snapshot_id: int, schema: Schema, latest: Schema) -> None:
        """Note what a new snapshot must show; rows that a log kept for long may come under an older schema."""
        if {each.id for each in schema.fields} <= {each.id for each in latest.fields}:  # nothing was dropped since
            self.moments[snapshot_id] = Moment(schema, moved(self.rows, latest, schema))

    def known(self) -> dict[int | str, Moment]:
        """All that can be travelled to."""
        return {**self.moments, **self.tags}

    def go_back(self, moment: Moment, schema: Schema) -> None:
        """Make the rows those of a moment, under the schema of now."""
        self.rows = moved(moment.rows, moment.schema, schema)


def function_of(schema: Schema, column: Field) -> str:
    """The rule by which the values of a column become one."""
    engine = schema.options.get("merge-engine", "deduplicate")
    named = schema.options.get(f"fields.{column.name}.aggregate-function", "last_non_null")
    return _ENGINES.get(engine, named)


def moved(rows: dict[Key, Row], before: Schema, after: Schema) -> dict[Key, Row]:
    """Rows of one schema under another: numbers stay what they are in a wider type, days become microseconds."""
    old = {each.id: str(each.type) for each in before.fields}
    types = {each.id: (old.get(each.id), str(each.type)) for each in after.fields}
    wider = [id for id, pair in types.items() if pair == ("DATE", "TIMESTAMP")]
    back = [id for id, pair in types.items() if pair == ("TIMESTAMP", "DATE")]
    result = {}
    for key, row in rows.items():
        late = {id: row[id] * DAY for id in wider if row.get(id) is not None}
        early = {id: row[id] // DAY for id in back if row.get(id) is not None}
        result[key] = {**row, **late, **early}
    return result


def same_rows(found: Iterable[tuple[Any, ...]], wanted: Iterable[tuple[Any, ...]], names: Sequence[str]) -> None:
    """Compare rows without their order; what differs is told by its columns."""
    found, wanted = Counter(found), Counter(wanted)
    if found == wanted:
        return
    extra, missing = list((found - wanted).elements()), list((wanted - found).elements())
    told = [
        {name: (a, b) for name, a, b in zip(names, one, other) if a != b}
        for one, other in zip(sorted(extra, key=repr), sorted(missing, key=repr))
    ]
    raise AssertionError(
        f"{len(extra)} rows too many, {len(missing)} missing; found and wanted: {told or extra or missing}"
    )

"""A table and its model, and every step that can be taken: the verb at a door, the same in the model, then compare.

Steps choose what they do by a random source, so that a run is told by the seeds of its steps.
"""

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.lake.checker.doors import PythonDoor
from tests.lake.checker.model import Key, Model, Row, same_rows
from tests.lake.checker.values import KEYS, KINDS, Kind, cell_of, from_arrow, frozen, python_value

from headwater import Warehouse
from headwater.errors import SqlError
from headwater.lake.engine.merge import can_aggregate
from headwater.lake.engine.merge.aggregates import AGGREGATES
from headwater.lake.engine.types import arrow_schema
from headwater.lake.metadata.snapshot import Operation
from headwater.lake.tables import Table
from headwater.model.schema import Field, Schema
from headwater.model.types import Array, Map, Struct, parse_type

SMALL = {
    "num-sorted-run.compaction-trigger": "3",
    "file.block-size": "128 B",
    "target-file-size": "2 KB",
    "wal.fsync": "none",
}
OPERATORS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Shape:
    """A table to try: its key (none: rows are appended), how many of its first columns are the partition, options."""

    key: tuple[str, ...] = ("INT",)
    partition: int = 0
    engine: str = "deduplicate"
    format: str = "sst"
    buckets: int = 1
    style: str = "universal"
    rotation: int = 0  # with `aggregation`: which function a column begins with

    def columns(self) -> dict[str, str]:
        keys = {f"k{at}": type for at, type in enumerate(self.key or ("STRING", "DATE"))}
        return keys | {name: str(kind.type) for name, kind in KINDS.items()}

    def options(self) -> dict[str, str]:
        options = {"file.format": self.format, "bucket": str(self.buckets), "compaction.style": self.style}
        if self.key:
            options["merge-engine"] = self.engine
        if self.engine == "aggregation":
            for at, (name, kind) in enumerate(KINDS.items()):
                working = [each for each in AGGREGATES if can_aggregate(each, kind.type)]
                options[f"fields.{name}.aggregate-function"] = working[(at + self.rotation) % len(working)]
        return SMALL | options

    def create(self, warehouse: Warehouse, name: str = "t") -> Table:
        columns = self.columns()
        keys = list(columns)[: len(self.key)]
        partition = list(columns)[: self.partition]
        return warehouse.create_table(name, columns, primary_key=keys, partition_by=partition, options=self.options())


class Checker:
    """One table, its model, and its doors."""

    def __init__(self, shape: Shape, warehouse: Warehouse, doors: Callable[[Warehouse], list[Any]]) -> None:
        self.shape = shape
        self.open = doors
        self.model = Model(keyed=bool(shape.key))
        shape.create(warehouse)
        self.kinds = {at: KINDS.get(name) or self._key_kind(at) for at, name in enumerate(shape.columns())}
        self.latest = 0
        self.names = 0
        self.pending: list[tuple[str, Any]] = []  # puts and deletes in the log of a writer that died
        self.pending_schema: Schema | None = None
        self.reopen(warehouse)

    def _key_kind(self, at: int) -> Kind:
        types = self.shape.key or ("STRING", "DATE")
        return Kind(parse_type(types[at]), KEYS[types[at]])

    def reopen(self, warehouse: Warehouse | None = None) -> None:
        """Begin anew with what is stored."""
        files = (warehouse or self.python.warehouse).files
        self.python = PythonDoor(Warehouse(files))
        self.doors = [self.python, *self.open(Warehouse(files))]

    # ------------------------------------------------------------------------------------------------ choosing

    @property
    def table(self) -> Table:
        return self.python.table

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key, or of the partition of a table without one."""
        return self.schema.primary_keys or self.schema.partition_keys

    def row(self, chance: random.Random) -> dict[str, Any]:
        """A row under the latest schema, by name."""
        schema, row = self.schema, {}
        for each in schema.fields:
            kind = self.kinds[each.id]
            function = schema.options.get(f"fields.{each.name}.aggregate-function")
            cells = list(kind.calm) if function in ("sum", "product") else kind.cells
            row[each.name] = cell_of(cells, chance, null=0 if each.name in schema.primary_keys else 0.2)
        return row

    def some(self, chance: random.Random, most: int = 4, least: int = 1) -> list[dict[str, Any]]:
        return [self.row(chance) for _ in range(chance.randint(least, most))]

    def some_keys(self, chance: random.Random) -> list[tuple[Any, ...]]:
        """Keys, most of them of rows that are there."""
        rows = [self.row(chance) for _ in range(chance.randint(1, 3))]
        keys = [tuple(row[name] for name in self.schema.primary_keys) for row in rows]
        ids = [self.schema.field(name).id for name in self.schema.primary_keys]
        there = [tuple(row[id] for id in ids) for row in self.model.rows.values()]
        return [chance.choice(there) if there and chance.random() < 0.7 else key for key in keys]

    def column(self, chance: random.Random, fits: Callable[[Field], bool]) -> Field | None:
        found = [each for each in self.schema.fields if fits(each)]
        return chance.choice(found) if found else None

    def by_id(self, row: dict[str, Any]) -> Row:
        return {each.id: row[each.name] for each in self.schema.fields}

    def near(self, column: Field) -> list[Any]:
        """The cells of a column that Python has values for."""
        return [cell for cell in self.kinds[column.id].cells if is_near(cell, column)]

    def condition(
        self, chance: random.Random, *, floats: bool = False
    ) -> tuple[Field, str, Any, Callable[[Row], bool]]:
        """A comparison with a plain column. One of a float means another in SQL, where NaN is above all numbers."""

        def plain(column: Field) -> bool:
            allowed = floats or str(column.type) not in ("FLOAT", "DOUBLE")
            return allowed and not isinstance(column.type, Array | Map | Struct)

        of_key = bool(self.keys) and chance.random() < 0.4
        column = self.column(chance, lambda each: plain(each) and each.name in self.keys) if of_key else None
        column = column or self.column(chance, plain)
        assert column is not None
        op = chance.choice(list(OPERATORS))
        there = [self.model.cell(row, column) for row in self.model.rows.values()] if of_key else []
        cells = [cell for cell in there if cell is not None and cell == cell]
        cells = cells or [cell for cell in self.near(column) if cell == cell]
        cell = chance.choice([*cells, *[max(cells)] * len(cells), *[min(cells)] * len(cells)])  # where files end

        def holds(row: Row) -> bool:
            value = self.model.cell(row, column)
            return value is not None and bool(OPERATORS[op](value, cell))

        return column, op, cell, holds

    # ---------------------------------------------------------------------------------------------- comparing

    def landed(self, schema: Schema | None = None) -> None:
        """Note the snapshots of a step: one of its own at the most, and compactions that it has brought about.

        `schema` is that of rows that come from a log, if it is not the latest.
        """
        latest = self.table.snapshot()
        new = range(self.latest + 1, (latest.snapshot_id if latest else 0) + 1)
        made = [self.table.snapshot(id) for id in new]
        assert sum(each.operation is not Operation.COMPACT for each in made) <= 1, made
        for each in made:
            assert (schema or self.schema).id <= each.schema_id <= self.schema.id
            self.model.keep(each.snapshot_id, self.table.schemas()[each.schema_id], self.schema)
        self.latest = new.stop - 1

    def agrees(self, door: Any = None) -> None:
        """Compare the rows that a door shows with those of the model."""
        table = (door or self.python).read()
        wanted = self.model.shown(self.schema)
        assert table.schema.names == list(self.schema.names)
        if door is None or door is self.python:
            assert table.schema == arrow_schema(self.schema.fields)
        same_rows(from_arrow(table), wanted.values(), self.schema.names)

    def refused(self, door: Any, act: Callable[[], None]) -> bool:
        """Carry out a change of rows in place; True if the door refuses that for the engine of the table."""
        if door.changes_all_engines or self.shape.engine == "deduplicate":
            act()
            return False
        with pytest.raises(SqlError, match="cannot be changed in place"):
            act()
        return True

    def ends(self) -> None:
        """Nothing is left over, neither now nor when all of the past is gone, and the rows are still there."""
        assert self.table.remove_orphans(older_than=-10).files == ()
        self.table.expire_snapshots(keep_max=1)
        for name in self.model.tags:
            self.table.delete_tag(name)
        assert self.table.remove_orphans(older_than=-10).files == ()
        for door in self.doors:
            self.agrees(door)


def is_near(cell: Any, column: Field) -> bool:
    """Say whether Python has a value for a cell."""
    try:
        python_value(cell, column.type)
    except (OverflowError, ValueError):
        return False
    return True


def gone(model: Model, keys: list[Key]) -> None:
    for key in keys:
        model.rows.pop(tuple(map(frozen, key)), None)

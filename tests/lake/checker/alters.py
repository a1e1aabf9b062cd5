"""The step that changes the schema: add, rename, widen, drop and reorder columns."""

import random
from dataclasses import replace
from typing import Any

from tests.lake.checker.checker import Checker
from tests.lake.checker.model import moved
from tests.lake.checker.values import DAY, KINDS, cell_of, python_value

from headwater.lake.metadata.schema_change import AddColumn, DropColumn, MoveColumn, RenameColumn, WidenColumn
from headwater.model.schema import Field
from headwater.model.types import parse_type


def alter(run: Checker, door: Any, chance: random.Random) -> None:
    run.names += 1
    before = run.schema
    one = run.column(chance, lambda each: each.name not in (*before.primary_keys, *before.partition_keys))
    verb = chance.choice((_add, _add, _rename, _widen, _widen, _drop, _move))
    wanted = verb(run, door, one or run.column(chance, lambda each: True), chance)
    assert list(run.schema.names) == wanted
    run.model.rows = moved(run.model.rows, before, run.schema)


def _add(run: Checker, door: Any, one: Field, chance: random.Random) -> list[str]:
    name, kind = f"c {run.names}", chance.choice([each for key, each in KINDS.items() if "far" not in key])
    cell = cell_of(kind.cells, chance, null=0.4)
    names = list(run.schema.names)
    after = chance.choice([None, "", one.name])
    door.alter(AddColumn(name, kind.type, default=python_value(cell, kind.type), after=after), cell)
    id = run.schema.field(name).id
    run.kinds[id], run.model.defaults[(id, str(kind.type))] = kind, cell
    names.insert(len(names) if after is None else 0 if after == "" else names.index(after) + 1, name)
    return names


def _rename(run: Checker, door: Any, one: Field, chance: random.Random) -> list[str]:
    old = chance.choice([one.name, *run.keys]) if run.keys else one.name
    door.alter(RenameColumn(old, f"r{run.names}"))
    return [f"r{run.names}" if name == old else name for name in run.table.schemas()[-2].names]


def _widen(run: Checker, door: Any, one: Field, chance: random.Random) -> list[str]:
    """Give a column that has a wider type that type; no other is named on purpose."""
    found = run.column(chance, lambda each: bool(run.kinds[each.id].wider) and each.name not in run.keys)
    names = list(run.schema.names)
    if found is None:
        return names
    kind = run.kinds[found.id]
    type = parse_type(chance.choice(kind.wider))
    door.alter(WidenColumn(found.name, type))
    cells = list(kind.cells)
    default = run.model.defaults.get((found.id, str(found.type)))
    if str(type) == "TIMESTAMP":
        cells = [cell * DAY for cell in cells]
        default = default and default * DAY
    elif str(type) == "BIGINT":
        cells.append(2**40 + 1)
    run.model.defaults[(found.id, str(type))] = default
    run.kinds[found.id] = replace(kind, type=type, cells=cells, wider=())
    return names


def _drop(run: Checker, door: Any, one: Field, chance: random.Random) -> list[str]:
    names = list(run.schema.names)
    if one.name in run.keys or len(names) < 12:
        return names
    door.alter(DropColumn(one.name))
    names.remove(one.name)
    return names


def _move(run: Checker, door: Any, one: Field, chance: random.Random) -> list[str]:
    names = [name for name in run.schema.names if name != one.name]
    after = chance.choice(["", *names])
    door.alter(MoveColumn(one.name, after))
    names.insert(names.index(after) + 1 if after else 0, one.name)
    return names

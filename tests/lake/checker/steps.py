"""The steps of a run. Each takes the checker, a door and a random source, and leaves table and model alike."""

import random
from collections.abc import Callable
from typing import Any

from tests.lake.checker.alters import alter
from tests.lake.checker.checker import Checker, gone, is_near
from tests.lake.checker.model import moved, same_rows
from tests.lake.checker.values import from_arrow, from_python, frozen, python_value

from headwater.errors import SchemaError
from headwater.lake.tables import Compare, In, IsNull

Step = Callable[[Checker, Any, random.Random], None]


# ------------------------------------------------------------------------------------------------------- writes


def insert(run: Checker, door: Any, chance: random.Random) -> None:
    rows = run.some(chance, least=0)
    door.insert(rows)
    for row in rows:
        run.model.put(run.by_id(row), run.schema)
    run.landed()


def merge(run: Checker, door: Any, chance: random.Random) -> None:
    """Rows and deletes in one commit, all of different keys."""
    if not run.shape.key:
        return
    names = run.schema.primary_keys
    rows = {tuple(frozen(row[name]) for name in names): row for row in run.some(chance)}
    keys = {tuple(map(frozen, key)): key for key in run.some_keys(chance)}
    deleted = [key for name, key in keys.items() if name not in rows]
    if run.refused(door, lambda: door.merge(list(rows.values()), deleted)):
        return
    gone(run.model, [*deleted, *(rows if door.replaces else ())])
    for row in rows.values():
        run.model.put(run.by_id(row), run.schema)
    run.landed()


def delete(run: Checker, door: Any, chance: random.Random) -> None:
    if not run.shape.key:
        return
    keys = run.some_keys(chance)
    if not run.refused(door, lambda: door.delete(keys)):
        gone(run.model, keys)
        run.landed()


def delete_where(run: Checker, door: Any, chance: random.Random) -> None:
    column, op, cell, holds = run.condition(chance)
    if not run.refused(door, lambda: door.delete_where(column, op, cell)):
        run.model.rows = {key: row for key, row in run.model.rows.items() if not holds(row)}
        run.landed()


def update_where(run: Checker, door: Any, chance: random.Random) -> None:
    if run.shape.engine != "deduplicate":
        return
    column, op, cell, holds = run.condition(chance)
    changed = run.column(chance, lambda each: each.name not in run.keys)
    if changed is None:
        return
    new = run.row(chance)[changed.name]
    door.update_where((column, op, cell), changed, new)
    run.model.rows = {key: {**row, changed.id: new} if holds(row) else row for key, row in run.model.rows.items()}
    run.landed()


def overwrite(run: Checker, door: Any, chance: random.Random) -> None:
    rows = run.some(chance)
    door.overwrite(rows)
    ids = [run.schema.field(name).id for name in run.schema.partition_keys]
    replaced = {tuple(frozen(run.by_id(row)[id]) for id in ids) for row in rows}
    run.model.rows = {
        key: row for key, row in run.model.rows.items() if tuple(frozen(row[id]) for id in ids) not in replaced
    }
    for row in rows:
        run.model.put(run.by_id(row), run.schema)
    run.landed()


# ------------------------------------------------------------------------------------------------ rows one by one


def _near_row(run: Checker, chance: random.Random) -> dict[str, Any]:
    """A row that Python can show."""
    row = run.row(chance)
    return {each.name: row[each.name] if is_near(row[each.name], each) else None for each in run.schema.fields}


def _recovered(run: Checker) -> None:
    """Note what the log of a dead writer has brought, by the writer that was just opened."""
    if run.pending and run.pending_schema is not None:
        for verb, what in run.pending:
            if verb == "put":
                (row,) = moved({(): what}, run.pending_schema, run.schema).values()
                run.model.put({each.id: run.model.cell(row, each) for each in run.schema.fields}, run.schema)
            else:
                gone(run.model, [what])
        run.pending = []
    run.landed(run.pending_schema)


def _write_rows(run: Checker, chance: random.Random) -> tuple[Any, list[tuple[str, Any]]]:
    """A writer with some rows that are in its log only, and what these are."""
    writer = run.table.writer()
    _recovered(run)
    written: list[tuple[str, Any]] = []
    fields = run.schema.fields
    for _ in range(chance.randint(1, 4)):
        if chance.random() < 0.3:
            key = run.some_keys(chance)[0]
            writer.delete(_python_key(run, key))
            written.append(("delete", key))
            assert writer.get(_python_key(run, key)) is None
        else:
            row = _near_row(run, chance)
            writer.put({each.name: python_value(row[each.name], each.type) for each in fields})
            written.append(("put", run.by_id(row)))
    return writer, written


def _python_key(run: Checker, key: tuple[Any, ...]) -> tuple[Any, ...]:
    types = [run.schema.field(name).type for name in run.schema.primary_keys]
    return tuple(python_value(cell, type) for cell, type in zip(key, types))


def write_rows(run: Checker, door: Any, chance: random.Random) -> None:
    if not run.shape.key:
        return
    writer, written = _write_rows(run, chance)
    run.pending, run.pending_schema = written, run.schema
    if chance.random() < 0.5:
        writer.flush()
    writer.close()
    _recovered(run)


def kill(run: Checker, door: Any, chance: random.Random) -> None:
    """A writer dies with rows in its log; the next writer brings them, whatever has happened in between."""
    if not run.shape.key:
        return
    writer, written = _write_rows(run, chance)
    writer._release()  # what the system does when a process ends
    run.pending, run.pending_schema = written, run.schema
    run.reopen()


# ---------------------------------------------------------------------------------------------------------- time


def compact(run: Checker, door: Any, chance: random.Random) -> None:
    run.table.compact(full=chance.random() < 0.5)
    run.landed()


def tag(run: Checker, door: Any, chance: random.Random) -> None:
    if run.model.moments:
        id = chance.choice(sorted(run.model.moments))
        run.names += 1
        run.table.create_tag(f"tag-{run.names}", id)
        run.model.tags[f"tag-{run.names}"] = run.model.moments[id]


def delete_tag(run: Checker, door: Any, chance: random.Random) -> None:
    if run.model.tags:
        name = chance.choice(sorted(run.model.tags))
        run.table.delete_tag(name)
        del run.model.tags[name]


def rollback(run: Checker, door: Any, chance: random.Random) -> None:
    known = run.model.known()
    if known:
        at = chance.choice(sorted(known, key=str))
        run.table.rollback(at)
        run.model.go_back(known[at], run.schema)
        run.landed()


def expire(run: Checker, door: Any, chance: random.Random) -> None:
    keep = chance.randint(1, 4)
    run.table.expire_snapshots(keep_max=keep)
    kept = {each.snapshot_id for each in run.table.snapshots()}
    assert len(kept) <= keep or run.pending
    run.model.moments = {id: moment for id, moment in run.model.moments.items() if id in kept}


def reopen(run: Checker, door: Any, chance: random.Random) -> None:
    run.reopen()


# --------------------------------------------------------------------------------------------------------- reads


def travel(run: Checker, door: Any, chance: random.Random) -> None:
    known = run.model.known()
    if known:
        at = chance.choice(sorted(known, key=str))
        wanted = run.model.shown(known[at].schema, known[at].rows)
        same_rows(from_arrow(door.read(at)), wanted.values(), known[at].schema.names)
        if run.shape.key:
            _get(run, chance, at, wanted)


def get(run: Checker, door: Any, chance: random.Random) -> None:
    if run.shape.key:
        _get(run, chance, None, run.model.shown(run.schema))


def _get(run: Checker, chance: random.Random, at: Any, wanted: dict[Any, tuple[Any, ...]]) -> None:
    for key in run.some_keys(chance):
        row = wanted.get(tuple(map(frozen, key)))
        schema = run.schema if at is None else run.model.known()[at].schema
        try:
            found = run.table.get(_python_key(run, key), at=at)
        except SchemaError as err:
            if "outside of what Python can show" not in str(err):
                raise
            continue
        values = found and tuple(from_python(cell, each.type) for cell, each in zip(found.values, schema.fields))
        assert values == row


def filtered(run: Checker, door: Any, chance: random.Random) -> None:
    shown = run.model.shown(run.schema)

    def agree(where: Any, fits: Callable[[Any], bool]) -> None:
        names = chance.sample(list(run.schema.names), chance.choice([3, len(run.schema.names)]))
        places = [run.schema.names.index(name) for name in names]
        wanted = (shown[key] for key, row in run.model.rows.items() if fits(row))
        found = from_arrow(run.table.to_arrow(names, where=where))
        same_rows(found, (tuple(row[at] for at in places) for row in wanted), names)

    for _ in range(3):
        column, op, cell, holds = run.condition(chance, floats=True)
        agree(Compare(column.name, op, python_value(cell, column.type)), holds)
    some = (cell, chance.choice([each for each in run.near(column) if each == each]))
    chosen = [frozen(each) for each in some]
    values = tuple(python_value(each, column.type) for each in some)
    agree(In(column.name, values), lambda row: frozen(run.model.cell(row, column)) in chosen)
    agree(IsNull(column.name), lambda row: run.model.cell(row, column) is None)


def changes(run: Checker, door: Any, chance: random.Random) -> None:
    if not run.model.moments or not run.shape.key:
        return
    ids = sorted(run.model.moments)
    start, end = chance.choice(ids), chance.choice(ids)
    first, last = run.model.moments[start], run.model.moments[end]
    schema = max((first.schema, last.schema), key=lambda schema: schema.id)
    before, after = (run.model.shown(schema, moved(each.rows, each.schema, schema)) for each in (first, last))
    told = dict(before)
    kinds = {"-D": 0, "-U": 1, "+U": 2, "+I": 2}
    place = [schema.names.index(name) for name in schema.primary_keys]
    for *values, kind in sorted(from_arrow(run.table.changes(start, end).read_all()), key=lambda row: kinds[row[-1]]):
        key = tuple(values[at] for at in place)
        assert before.get(key) != after.get(key)
        if kind in ("-D", "-U"):
            assert told.pop(key) == tuple(values)
        else:
            assert (key in before) == (kind == "+U")
            told[key] = tuple(values)
    assert told == after
    assert set(run.table.diff(start, end).column("_kind").to_pylist()) <= {"+I", "U", "-D"}


def history(run: Checker, door: Any, chance: random.Random) -> None:
    kept = {each.snapshot_id for each in run.table.snapshots()}
    if not run.shape.key or kept != set(run.model.moments):
        return
    key = run.some_keys(chance)[0]
    told, last = [], None
    for at in sorted(run.model.moments):
        moment = run.model.moments[at]
        rows = moved(moment.rows, moment.schema, run.schema)
        row = run.model.shown(run.schema, rows).get(tuple(map(frozen, key)))
        if row != last:
            told.append((at, row))
        last = row
    try:
        found = run.table.history(_python_key(run, key))
    except SchemaError as err:
        if "outside of what Python can show" not in str(err):
            raise
        return
    types = [each.type for each in run.schema.fields]
    shown = [(each.snapshot_id, each.row and tuple(map(from_python, each.row.values, types))) for each in found]
    assert shown == told, (key, shown, told)


WRITES: tuple[Step, ...] = (
    *(insert, insert, insert, merge, merge, delete, delete_where, update_where, overwrite, write_rows, write_rows),
    *(kill, compact, compact, alter, alter, rollback, expire, reopen),
)
READS: tuple[Step, ...] = (tag, delete_tag, travel, travel, get, filtered, changes, history)
STEPS = WRITES + READS

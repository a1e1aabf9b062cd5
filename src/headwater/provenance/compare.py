"""The content of two tables compared, in any order: a hash of all rows first, the rows that differ only then."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from headwater.provenance.matching import scratch
from headwater.query.parse import quoted
from headwater.query.target import own_prefix

_MOST = 100  # rows that differ and are shown


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that two tables do not share: by its key in both, or in one of them alone."""

    kept: dict[str, Any] | None
    replayed: dict[str, Any] | None
    columns: tuple[str, ...]  # that differ; all of them when one side has no such row


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two tables compared. They are identical when no row differs, however often it is there."""

    rows: int
    replayed_rows: int
    content: str  # an order-free hash of the rows that are kept
    different: int
    shown: tuple[RowDifference, ...] = ()
    close: bool = False  # every difference is in the last digits of floating numbers

    @property
    def identical(self) -> bool:
        return self.different == 0


def compare_rows(kept: pa.Table, replayed: pa.Table, key: tuple[str, ...]) -> Comparison:
    """Compare the rows that a table has with those that its recipe gives, by columns of the same names."""
    names = kept.column_names
    replayed = replayed.select(names).cast(kept.schema)
    with scratch() as run:
        run.register("kept", kept)
        run.register("replayed", replayed)
        one, two = (_content(run, table, names) for table in ("kept", "replayed"))
        if one == two:
            return Comparison(kept.num_rows, replayed.num_rows, one, 0)
        differences = _by_key(run, names, key) if key else _by_rows(run, names)
        count = len(differences)
        close = all(_is_close(each) for each in differences)
        return Comparison(kept.num_rows, replayed.num_rows, one, count, tuple(differences[:_MOST]), close)


def _content(run: Any, table: str, names: list[str]) -> str:
    row = ", ".join(map(quoted, names))
    (found,) = run.sql(
        f"SELECT count(*), sum(CAST(hash({row}) AS HUGEINT)), bit_xor(hash({row})) FROM {table}"
    ).fetchall()
    return f"{found[0]}-{(found[1] or 0) & (2**64 - 1):016x}{found[2] or 0:016x}"


def _by_key(run: Any, names: list[str], key: tuple[str, ...]) -> list[RowDifference]:
    one, two = (quoted(own_prefix(names) + each) for each in "kr")
    on = " AND ".join(f"{one}.{quoted(name)} = {two}.{quoted(name)}" for name in key)
    differs = " OR ".join(f"{one}.{quoted(name)} IS DISTINCT FROM {two}.{quoted(name)}" for name in names)
    text = f"SELECT {one}, {two} FROM kept AS {one} FULL JOIN replayed AS {two} ON {on} WHERE {differs}"
    found = []
    for old, new in run.sql(text).fetchall():
        before = old if old is not None and old[key[0]] is not None else None
        after = new if new is not None and new[key[0]] is not None else None
        columns = (
            names if before is None or after is None else [n for n in names if repr(before[n]) != repr(after[n])]
        )
        found.append(RowDifference(before, after, tuple(columns)))
    return found


def _by_rows(run: Any, names: list[str]) -> list[RowDifference]:
    gone = run.sql("SELECT * FROM kept EXCEPT ALL SELECT * FROM replayed").fetchall()
    came = run.sql("SELECT * FROM replayed EXCEPT ALL SELECT * FROM kept").fetchall()
    found = [RowDifference(dict(zip(names, row)), None, tuple(names)) for row in gone]
    return found + [RowDifference(None, dict(zip(names, row)), tuple(names)) for row in came]


def _is_close(each: RowDifference) -> bool:
    if each.kept is None or each.replayed is None:
        return False
    pairs = [(each.kept[name], each.replayed[name]) for name in each.columns]
    return all(
        isinstance(one, float) and isinstance(two, float) and abs(one - two) <= 1e-9 * max(abs(one), abs(two))
        for one, two in pairs
    )

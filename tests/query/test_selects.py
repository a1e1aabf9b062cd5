"""Generated SELECTs over tables of every kind: what native DuckDB says of the same rows is what we say.

`HEADWATER_SELECTS=100000 pytest tests/query/test_selects.py` tries more of them.
"""

import datetime
import decimal
import math
import os
import random
import re

import duckdb
import pyarrow as pa
import pytest
from tests.effort import first_then_slow
from tests.query.generator import DAY, DOUBLE, FLAG, INT, MONEY, TEXT, TIME, Generator

import headwater
from headwater.errors import HeadwaterError
from headwater.files import MemoryFiles
from headwater.lake.engine.types import arrow_type
from headwater.lake.metadata.schema_change import AddColumn, RenameColumn, WidenColumn
from headwater.model.types import BIGINT, STRING, parse_type

pytestmark = [pytest.mark.property, pytest.mark.slow]
COUNT = int(os.environ.get("HEADWATER_SELECTS", "2000"))
PIECES = 8
KINDS = {"id": INT, "n": INT, "price": DOUBLE, "name": TEXT, "day": DAY, "at": TIME, "ok": FLAG, "cost": MONEY}
TYPES = {
    "id": "BIGINT",
    "n": "INT",
    "price": "DOUBLE",
    "name": "STRING",
    "day": "DATE",
    "at": "TIMESTAMP",
    "ok": "BOOLEAN",
    "cost": "DECIMAL(12, 2)",
}
TABLES = {
    **dict.fromkeys(("k", "k@2", "a", "p", "z"), KINDS),
    "e": KINDS | {"extra": TEXT, "more": MONEY},
    "e@1": {"id": INT, "number": INT} | {name: kind for name, kind in KINDS.items() if name not in ("id", "n")},
}


def row(id, chance):
    """A row whose numbers can be added exactly."""

    def maybe(value):
        return None if chance.random() < 0.15 else value

    text = chance.choice([f"name {chance.randrange(13)}", "", "ü", "na'me", "Name 1"])
    return (
        id,
        maybe(chance.choice([chance.randrange(-10, 40), 2**31 - 1, -(2**31), 0])),
        maybe(chance.choice([chance.randrange(-64, 64) / 4, math.nan, 0.0])),
        maybe(text),
        maybe(datetime.date(2026, 1, 1) + datetime.timedelta(chance.randrange(60))),
        maybe(datetime.datetime(2026, 1, 1 + chance.randrange(3), chance.randrange(24), 0, 0, chance.randrange(2))),
        maybe(chance.random() < 0.4),
        maybe(decimal.Decimal(chance.randrange(-5000, 20000)).scaleb(-2)),
    )


def arrow(rows, types=TYPES):
    columns = list(zip(*rows)) if rows else [[] for _ in types]
    return pa.table(
        {name: pa.array(column, arrow_type(parse_type(type))) for (name, type), column in zip(types.items(), columns)}
    )


class Lake:
    """The tables in the lake, and their rows as plain Python beside them."""

    def __init__(self):
        self.chance = random.Random(7)
        self.files = MemoryFiles()
        self.warehouse = headwater.Warehouse(self.files)
        self.rows = {}
        self.keyed("k", {"bucket": "2"}, [], kept="k@2")
        self.keyed("p", {"file.format": "parquet"}, ["name"])
        self.appended()
        self.evolved()
        self.warehouse.create_table("z", TYPES, primary_key="id")
        self.rows["z"] = arrow([])

    def keyed(self, name, options, partition, kept=None):
        key = ["id", *partition]
        small = {"file.block-size": "1 KB", "target-file-size": "4 KB", "compaction.auto": "false"}
        table = self.warehouse.create_table(
            name, TYPES, primary_key=key, partition_by=partition, options=options | small
        )
        rows = {}
        for begin in (0, 30, 15):
            new = [row(id, self.chance) for id in range(begin, begin + 45)]
            new = [(*each[:3], each[3] or "none", *each[4:]) for each in new] if partition else new
            place = [list(TYPES).index(column) for column in key]
            rows |= {tuple(each[at] for at in place): each for each in new}
            table.write(arrow(new))
            gone = self.chance.sample(sorted(rows), 6)
            table.delete(gone)
            for each in gone:
                del rows[each]
            if kept and table.snapshot().snapshot_id == 2:
                self.rows[kept] = arrow(list(rows.values()))
        self.rows[name] = arrow(list(rows.values()))

    def appended(self):
        table = self.warehouse.create_table("a", TYPES, partition_by=["ok"])
        rows = []
        for begin in (0, 20, 20, 60):
            new = [row(id, self.chance) for id in range(begin, begin + 20)]
            rows += new
            table.write(arrow(new))
        self.rows["a"] = arrow(rows)

    def evolved(self):
        """A table that got columns, a wider one and another name; half of its rows are older than that."""
        old = {"id": "INT", "number": "INT"} | {name: TYPES[name] for name in list(TYPES)[2:]}
        table = self.warehouse.create_table("e", old, options={"compaction.auto": "false"})
        first = [row(id, self.chance) for id in range(40)]
        table.write(arrow(first, old))
        money = decimal.Decimal("12.50")
        table.alter(
            *(RenameColumn("number", "n"), WidenColumn("id", BIGINT), AddColumn("extra", STRING, default="name 1")),
            AddColumn("more", parse_type("DECIMAL(12, 2)"), default=money),
        )
        types = TYPES | {"extra": "STRING", "more": "DECIMAL(12, 2)"}
        later = [(*row(id, self.chance), None, money) for id in range(30, 70)]
        table.write(arrow(later, types))
        self.rows["e"] = arrow([(*each, "name 1", money) for each in first] + later, types)
        self.rows["e@1"] = arrow(first, old)


@pytest.fixture(scope="module")
def both():
    lake = Lake()
    with duckdb.connect(config={"threads": 1}) as peer, headwater.connect(lake.files) as session:
        for name, rows in lake.rows.items():
            peer.register("given", rows)
            peer.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given').fetchall()
        yield session, peer


def ours(text):
    """The text of a query for the lake: another state of a table is a version of it."""
    return re.sub(r"\{(\w+)(?:@(\w+))?\}", lambda m: m[1] + (f" VERSION AS OF {m[2]}" if m[2] else ""), text)


def theirs(text):
    return re.sub(r"\{([\w@]+)\}", r'"\1"', text)


def cells(table, ordered):
    """Rows to be compared; NaN as text, zero without a sign."""
    columns = [
        [repr(cell + 0.0 if isinstance(cell, float) else cell) for cell in column.to_pylist()]
        for column in table.columns
    ]
    rows = list(zip(*columns))
    return rows if ordered else sorted(rows)


def answer(run, text, ordered):
    """The columns and rows, or None for a query that is refused."""
    try:
        table = run(text)
    except (duckdb.Error, HeadwaterError):
        return None
    return table.column_names, cells(table, ordered)


@pytest.mark.parametrize("piece", first_then_slow(range(PIECES), 2))
def test_every_select_gives_what_duckdb_gives(both, piece, monkeypatch):
    session, peer = both
    if piece % 4 == 3:
        monkeypatch.setattr(session._cache, "capacity", 0)  # as for tables that are too large to be kept
        session._cache.clear()
    generator = Generator(TABLES, seed=piece)
    refused = 0
    for _ in range(COUNT // PIECES):
        text = generator.query()
        ordered = "ORDER BY 1" in text
        wanted = answer(lambda query: peer.sql(query).to_arrow_table(), theirs(text), ordered)
        found = answer(lambda query: session.sql(query).to_arrow(), ours(text), ordered)
        assert found == wanted, ours(text)
        refused += wanted is None
    assert refused < COUNT // PIECES // 20  # a query that neither runs tries nothing

"""The rows that `why` reports, checked by brute force in a DuckDB of its own.

*Sufficient*: the query over the reported rows alone gives the row. *Complete*: a row that is not reported can be
deleted from all of the input and the row stays; asked only where nothing was decided by absence. *Tight*: a row that
is reported belongs to some smallest set that gives the row; asked of queries without aggregates, windows and OFFSET,
whose rows are made of all of a group, also of those that happen to change nothing (a zero in a sum), and without
tables that stand twice and values that may not matter."""

import random
import re
from collections import Counter
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from headwater.errors import CannotTellError
from headwater.provenance.commits import find_commit
from headwater.provenance.matching import matched_by
from headwater.provenance.why import first_hop

_OF_GROUPS = re.compile(
    r"\b(group by|over|offset|distinct on|qualify|limit)\b|(sum|count|max|min|avg|list|any_value|"
    r"string_agg|first|last|bool_\w+|arg_\w+|mode|median|quantile\w*|stddev\w*|array_agg)\(",
    re.I,
)


_NOT_TIGHT = re.compile(r"\b(left|right|full|case|coalesce|nullif|exists|pivot|unpivot)\b", re.I)


def _names_once(query):
    """Return whether no table stands twice: of two uses of one row, one may make the other needless."""
    return all(len(re.findall(rf"\b{name} AS", query)) <= 1 for name in "tuw")


def _names_twice(query, tables):
    return any(len(re.findall(rf"(?:from|join|,)\s+{name}\b", query, re.I)) > 1 for name in tables)


@dataclass
class Verdicts:
    """What became of the rows that were asked about."""

    told: int = 0
    refused: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)
    deleted: int = 0
    tight: int = 0


class Peer:
    """A DuckDB with the input tables, each row with a number."""

    def __init__(self, tables):
        self.tables = tables
        self.run = duckdb.connect()

    def gives(self, query, kept, row):
        """Return whether the query over some rows of each table, by number, gives the row."""
        return self.gives_rows(
            query,
            {name: table.take(pa.array(sorted(kept[name]), pa.int64())) for name, table in self.tables.items()},
            row,
        )

    def gives_without(self, query, name, place, row):
        """Return whether the query over all rows but one gives the row."""
        whole = self.tables[name]
        places = pa.array([at for at in range(whole.num_rows) if at != place], pa.int64())
        return self.gives_rows(query, self.tables | {name: whole.take(places)}, row)

    def gives_in_some_order(self, query, rows, row):
        """Return whether the query gives the row when the rows stand in another order.

        Rows that tie in the ORDER BY of a window come in any order: the same query over the same rows may give
        another row in another session.
        """
        if max(table.num_rows for table in rows.values()) > 1000 or not re.search(r"\bover\b", query, re.I):
            return False
        chance = random.Random(1)
        return any(
            self.gives_rows(query, {name: _shuffled(table, chance) for name, table in rows.items()}, row)
            for _ in range(50)
        )

    def gives_rows(self, query, rows, row):
        """Return whether the query over some rows of each table gives the row."""
        for name, table in rows.items():
            self.run.register(name, table)
        try:
            found = self.run.sql(query).to_arrow_table()
        except duckdb.Error:
            return False
        found = found.rename_columns(row.column_names)
        return matched_by(row, found.cast(row.schema), tuple(row.column_names)).num_rows > 0


def _shuffled(table, chance):
    return table.take(pa.array(chance.sample(range(table.num_rows), table.num_rows), pa.int64()))


def positions(table, rows):
    """The numbers of rows of a table, one for each that is reported; equal rows are taken in order."""
    places = {}
    for at, row in enumerate(map(repr, table.to_pylist())):
        places.setdefault(row, []).append(at)
    return {places[row].pop(0) for row in map(repr, rows.to_pylist())}


def check(session, query, name, peer, chance, verdicts, *, rows=5, brute=0):
    """Make a table of a query, ask for the rows behind some of its rows, and check what is told.
    `brute`: so many rows of each table that are not reported are deleted, one at a time."""
    session.sql(f"CREATE OR REPLACE TABLE {name} AS {query}")
    made = find_commit(session.warehouse, f"default.{name}")
    check_commit(session.warehouse, made, query, peer, chance, verdicts, rows=rows, brute=brute)


def check_commit(warehouse, commit, query, peer, chance, verdicts, *, rows, brute=0):
    """Ask for the rows behind some of the rows that a commit made, and check what is told."""
    made = commit.table.to_arrow()
    for at in chance.sample(range(made.num_rows), min(rows, made.num_rows)):
        row = made.take([at])  # DuckDB does not read structs of structs of a slice
        try:
            hop = first_hop(warehouse, commit, row)
        except CannotTellError as err:
            verdicts.refused[re.sub(r"[`'\"].*", "…", err.message)] += 1
            continue
        _judge(query, peer, hop, row, verdicts, brute and (brute, chance))


def _judge(query, peer, hop, row, verdicts, brute):
    found = {name: [table.slice(0, 0)] for name, table in peer.tables.items()}
    for each in hop.inputs:
        name = each.dataset.rpartition(".")[2]
        found[name].append(each.rows.cast(peer.tables[name].schema))
    told = {name: pa.concat_tables(parts) for name, parts in found.items()}
    for name, table in peer.tables.items():
        if table.num_rows <= 1000:  # in the order of the table: some queries take the first row that they find
            told[name] = table.take(pa.array(sorted(positions(table, told[name])), pa.int64()))
    if not (peer.gives_rows(query, told, row) or peer.gives_in_some_order(query, told, row)):
        if hop.verified and hop.absent and _names_twice(query, peer.tables):
            # The answer holds for each place of a table that is named twice; here the places share their rows, and
            # one place's rows pass the other's NOT EXISTS, whose rows are not there.
            verdicts.refused["sufficient by place only"] += 1
        elif hop.verified is not False:
            counts = {name: rows.num_rows for name, rows in told.items()}
            verdicts.wrong.append(("not sufficient", query, row.to_pylist(), counts))
        else:
            verdicts.refused["not sufficient, and said so"] += 1
        return
    verdicts.told += 1
    if brute:
        reported = {name: positions(peer.tables[name], rows) for name, rows in told.items()}
        _check_by_deletion(query, peer, hop, row, verdicts, reported, *brute)


def _check_by_deletion(query, peer, hop, row, verdicts, reported, most, chance):
    named = {name: table for name, table in peer.tables.items() if re.search(rf"\b{name}\b", query, re.I)}
    for name, table in named.items() if not hop.absent else ():
        others = sorted(set(range(table.num_rows)) - reported[name])
        for place in chance.sample(others, min(most, len(others))):
            verdicts.deleted += 1
            if not peer.gives_without(query, name, place, row):
                verdicts.wrong.append(("not complete", query, row.to_pylist(), (name, place)))
    if not _OF_GROUPS.search(query) and not _NOT_TIGHT.search(query) and _names_once(query):
        for name, places in reported.items():
            for place in places:
                _check_tight(query, peer, reported, (name, place), row, verdicts)


def _check_tight(query, peer, reported, one, row, verdicts):
    """Leave out reported rows, this one last: it must stay in what is then left.

    Other rows of its table go first: each may stand for it, with rows of other tables that it does not need.
    """
    kept = {name: set(places) for name, places in reported.items()}
    others = [(name, place) for name, places in reported.items() for place in places if (name, place) != one]
    for name, place in [*sorted(others, key=lambda other: other[0] != one[0]), one]:
        kept[name].discard(place)
        if not peer.gives(query, kept, row):
            kept[name].add(place)
    if one[1] in kept[one[0]]:
        verdicts.tight += 1
    else:
        verdicts.wrong.append(("not minimal", query, row.to_pylist(), one))

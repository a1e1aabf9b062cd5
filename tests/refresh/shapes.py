"""Random queries of the shapes that a refresh may follow: joins on keys, groups, subqueries, CTEs, set operations.

`tests/proof` makes queries of all shapes, most of which are made anew; those here are made so that every way of a
refresh is taken often, and that small differences of the text decide whether it may be.
"""

import random

import sqlglot
from sqlglot import exp

TABLES = {
    "o": {"oid": "INTEGER", "c": "INTEGER", "p": "INTEGER", "amt": "DECIMAL(12,2)", "qty": "INTEGER", "day": "DATE"},
    "c": {"cid": "INTEGER", "name": "VARCHAR", "r": "INTEGER", "score": "DOUBLE"},
    "i": {"o": "INTEGER", "line": "INTEGER", "p": "INTEGER", "price": "DECIMAL(10,2)", "s": "VARCHAR"},
}
KEYS = {"o": "oid", "c": "cid", "i": "o, line"}
ODD_NAMES = {
    "oid": "Id",
    "c": "value",
    "p": "KEY",
    "amt": "copy",
    "qty": 'a "b" c',
    "day": "Order",
    "cid": "ID 2",
    "name": "rows",
    "r": "#r",
    "score": "g0",
    "line": "T",
    "price": "a0",
    "s": "it's",
}
"""Names that need quotes, or that parts of a refresh give to columns of their own."""
_AGGREGATES = (
    "count(*)",
    "count({})",
    "sum({})",
    "avg({})",
    "min({})",
    "max({})",
    "count(DISTINCT {})",
    "sum({} * 2)",
)
_NUMBERS = {"o": ("o.amt", "o.qty", "o.c"), "c": ("c.r", "c.cid"), "i": ("i.price", "i.line")}
_TEXTS = {"o": ("o.day", "o.p"), "c": ("c.name", "c.r"), "i": ("i.s", "i.p")}


def with_odd_names(query: str) -> str:
    """A query with odd names in the place of those of its columns."""
    tree = sqlglot.parse_one(query, dialect="duckdb")
    held = [node.this for node in tree.find_all(exp.Column)]
    held += [node.args["alias"] for node in tree.find_all(exp.Alias)]
    for name in held:
        if isinstance(name, exp.Identifier) and name.name in ODD_NAMES:
            name.replace(exp.to_identifier(ODD_NAMES[name.name], quoted=True))
    return str(tree.sql(dialect="duckdb"))


class Shapes:
    """One random query."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def query(self) -> str:
        kinds = (self.flat, self.grouped, self.grouped, self.nested, self.union, self.windowed, self.distinct)
        return self.chance.choice(kinds)()

    def pick(self, *options: str) -> str:
        return self.chance.choice(options)

    def tables(self) -> tuple[str, list[str]]:
        """A FROM clause, and the tables whose columns it gives."""
        left = self.pick("", "", "LEFT ")
        forms = [
            ("d.o", ["o"]),
            (f"d.o {left}JOIN d.c ON o.c = c.cid", ["o", "c"]),
            (f"d.o {left}JOIN d.i ON i.o = o.oid", ["o", "i"]),
            (f"d.c {left}JOIN d.o ON o.c = c.cid {self.pick('', 'AND o.qty > 2')}", ["c", "o"]),
            ("d.o, d.c, d.i WHERE o.c = c.cid AND i.o = o.oid", ["o", "c", "i"]),
            (
                f"d.c JOIN (FROM d.o WHERE qty > {self.chance.randrange(4)}) AS o ON o.c = c.cid",
                ["c", "o"],
            ),
            ("d.o JOIN d.o AS o2 ON o2.c = o.c", ["o"]),
            ("d.i SEMI JOIN d.o ON i.o = o.oid", ["i"]),
            ("d.c ANTI JOIN d.o ON o.c = c.cid AND o.qty > 1", ["c"]),
            ("d.c FULL JOIN d.o ON o.c = c.cid", ["c", "o"]),
        ]
        return self.chance.choice(forms)

    def where(self, source: str, names: list[str]) -> str:
        name = self.chance.choice(names)
        number = self.pick(*_NUMBERS[name])
        conditions = [
            "",
            "",
            f"{number} > {self.chance.randrange(4)}",
            f"{number} IS NOT NULL",
        ]
        if "o" in names:
            conditions += [
                "EXISTS (SELECT 1 FROM d.i AS x WHERE x.o = o.oid AND x.price > 1)",
                "NOT EXISTS (SELECT 1 FROM d.i AS x WHERE x.o = o.oid)",
                "o.c IN (SELECT cid FROM d.c AS y WHERE y.r > 1)",
                "o.oid NOT IN (SELECT x.o FROM d.i AS x WHERE x.o IS NOT NULL)",
                "o.oid IN (SELECT x.o FROM d.i AS x GROUP BY x.o HAVING sum(x.price) > 3)",
                "o.amt > (SELECT avg(z.amt) FROM d.o AS z WHERE z.c = o.c)",
                "o.amt >= (SELECT min(z.amt) FROM d.o AS z)",
            ]
        if "c" in names:
            conditions += ["NOT EXISTS (SELECT 1 FROM d.o AS x WHERE x.c = c.cid AND x.qty > 2)"]
        condition = self.chance.choice(conditions)
        if not condition:
            return source
        return f"{source} {'AND' if ' WHERE ' in source.split('AS o ON')[-1] else 'WHERE'} {condition}"

    def columns(self, names: list[str]) -> list[str]:
        pool = [column for name in names for column in (*_NUMBERS[name], *_TEXTS[name])]
        keys = [f"{name}.{KEYS[name].split(', ')[0]}" for name in names]
        chosen = self.chance.sample(pool, min(len(pool), self.chance.randint(1, 3)))
        return list(dict.fromkeys([*chosen, *self.chance.sample(keys, self.chance.randint(0, len(keys)))]))

    def flat(self) -> str:
        source, names = self.tables()
        items = [f"{column} AS c{at}" for at, column in enumerate(self.columns(names))]
        if self.chance.random() < 0.3:
            items.append(f"{self.pick(*_NUMBERS[names[0]])} + 1 AS more")
        if "c" in names and self.chance.random() < 0.2:
            items.append("(SELECT max(z.amt) FROM d.o AS z WHERE z.c = c.cid) AS highest")
        return f"SELECT {', '.join(items)} FROM {self.where(source, names)}"

    def aggregates(self, names: list[str]) -> list[str]:
        found = []
        for at in range(self.chance.randint(1, 3)):
            text = self.chance.choice(_AGGREGATES).format(self.pick(*_NUMBERS[self.chance.choice(names)]))
            if self.chance.random() < 0.2:
                text += f" FILTER (WHERE {self.pick(*_NUMBERS[names[0]])} > 1)"
            found.append(f"{text} AS a{at}")
        return found

    def grouped(self) -> str:
        source, names = self.tables()
        keys = self.columns(names)[: self.chance.randint(0, 2)]
        items = [*(f"{key} AS k{at}" for at, key in enumerate(keys)), *self.aggregates(names)]
        text = f"SELECT {', '.join(items)} FROM {self.where(source, names)}"
        if keys:
            text += (
                f" GROUP BY {self.pick('ALL', ', '.join(keys), ', '.join(str(at + 1) for at in range(len(keys))))}"
            )
            if self.chance.random() < 0.3:
                text += " HAVING count(*) > 1"
            if self.chance.random() < 0.2:
                text += f" ORDER BY {', '.join(str(at + 1) for at in range(len(items)))} LIMIT 3"
        return text

    def nested(self) -> str:
        inner = "SELECT o.c AS c, sum(o.amt) AS s, count(*) AS n FROM d.o GROUP BY o.c"
        return self.pick(
            f"WITH g AS ({inner}) SELECT c.name, g.s FROM d.c JOIN g ON g.c = c.cid",
            f"WITH g AS ({inner}) SELECT * FROM g WHERE s = (SELECT max(s) FROM g)",
            f"SELECT n, count(*) AS how_many FROM ({inner}) AS g GROUP BY n",
            f"SELECT c.cid, coalesce(g.s, 0) AS s FROM d.c LEFT JOIN ({inner}) AS g ON g.c = c.cid",
            f"SELECT count(*) AS n, min(s) AS m FROM ({inner}) AS g",
            "WITH a AS (SELECT oid, c FROM d.o), b AS (SELECT x.oid FROM a AS x JOIN a AS y ON x.c = y.c) "
            "SELECT oid, count(*) AS n FROM b GROUP BY oid",
        )

    def union(self) -> str:
        kind = self.pick("UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL")
        return f"SELECT c AS v, qty AS w FROM d.o {kind} SELECT cid, r FROM d.c"

    def windowed(self) -> str:
        part = self.pick("PARTITION BY o.c", "PARTITION BY o.c", "")
        return self.pick(
            f"SELECT o.c, o.oid, sum(o.qty) OVER ({part} ORDER BY o.oid) AS s FROM d.o",
            f"SELECT o.c, o.oid, rank() OVER ({part} ORDER BY o.qty) AS s FROM d.o JOIN d.c ON c.cid = o.c",
            f"SELECT o.c, max(o.qty) OVER ({part}) AS s FROM d.o QUALIFY s > 1",
        )

    def distinct(self) -> str:
        source, names = self.tables()
        items = ", ".join(f"{column} AS c{at}" for at, column in enumerate(self.columns(names)))
        return f"SELECT DISTINCT {items} FROM {self.where(source, names)}"

"""SELECTs by the thousand: a grammar over tables whose columns are known, with answers that are determined.

A query says `{k}` or `{k@2}` where it names a table, so that it can be written for either engine. Sums are of numbers
that binary fractions hold exactly; whatever depends on an order names all columns in it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

INT, DOUBLE, TEXT, DAY, TIME, FLAG, MONEY = "int", "double", "text", "day", "time", "flag", "money"
NUMBERS = (INT, DOUBLE, MONEY)
LITERALS: dict[str, tuple[str, ...]] = {
    INT: (
        *("0", "1", "-3", "7", "12", "40", "2147483647", "-2147483648", "-9223372036854775808", "NULL"),
        *("2.5", "7.0", "-0.5", "1e1", "'7'", "12::SMALLINT", "3 + 4", "2147483648", "9223372036854775808"),
    ),
    DOUBLE: ("0.5", "-2.25", "1e3", "'nan'::DOUBLE", "0", "-0.0", "'inf'::DOUBLE", "7", "0.1::FLOAT", "NULL"),
    TEXT: ("'name 3'", "'name 1'", "''", "'ü'", "'zz'", "'na''me'", "'name' || ' 2'", "NULL"),
    DAY: (
        *("DATE '2026-01-05'", "DATE '2026-02-01'", "DATE '1600-01-01'", "'2026-01-09'", "NULL", "'infinity'::DATE"),
        *("TIMESTAMP '2026-01-05 12:00:00'", "TIMESTAMP '2026-01-07'", "DATE '2026-01-01' + 12"),
    ),
    TIME: (
        *("TIMESTAMP '2026-01-01 05:00:00'", "TIMESTAMP '2026-01-03 00:00:00.000001'", "'2026-01-02 07:00:00'"),
        *("DATE '2026-01-02'", "'2026-01-02'::TIMESTAMP", "TIMESTAMP '2026-01-01' + INTERVAL 1 DAY", "NULL"),
        "TIMESTAMPTZ '2026-01-01 05:00:00+00'",
    ),
    FLAG: ("true", "false", "NULL", "(NOT true)"),
    MONEY: ("12.50::DECIMAL(12,2)", "0::DECIMAL(12,2)", "99.995", "12", "150.5", "1e2", "'12.50'", "NULL"),
}
PATTERNS = ("'name%'", "'%3'", "'na_e 1'", "'%'", "''", "'%e 1%'", "'ü%'", "'name 1_'", "'Name%'")


@dataclass(frozen=True)
class Column:
    """An expression with the kind of its values."""

    text: str
    kind: str


Columns = list[Column]


class Generator:
    """Makes one query after the other from a random source. REQUIRES: every table has a column `id`, an INT."""

    def __init__(self, tables: dict[str, dict[str, str]], seed: int) -> None:
        self.tables = tables
        self.chance = random.Random(seed)
        self.aliases = 0

    def query(self) -> str:
        """A whole SELECT."""
        self.aliases = 0
        forms: list[Callable[[], str]] = [
            *(self.plain, self.plain, self.plain, self.ordered, self.grouped, self.grouped, self.rolled_up),
            *(self.windowed, self.united, self.with_clause, self.distinct, self.counted),
        ]
        return self.chance.choice(forms)()

    # ------------------------------------------------------------------------------------------------- sources

    def alias(self) -> str:
        self.aliases += 1
        return f"x{self.aliases}"

    def table(self) -> tuple[str, Columns]:
        """A table, or now and then a subquery, with its alias."""
        if self.chance.random() < 0.15:
            return self.subquery()
        name, alias = self.chance.choice(list(self.tables)), self.alias()
        columns = [Column(f"{alias}.{column}", kind) for column, kind in self.tables[name].items()]
        return f"{{{name}}} AS {alias}", columns

    def subquery(self) -> tuple[str, Columns]:
        name, inner, alias = self.chance.choice(list(self.tables)), self.alias(), self.alias()
        known = [Column(f"{inner}.{column}", kind) for column, kind in self.tables[name].items()]
        where = f" WHERE {self.condition(known)}" if self.chance.random() < 0.7 else ""
        items = ", ".join(each.text for each in known)
        columns = [Column(f"{alias}.{column}", kind) for column, kind in self.tables[name].items()]
        return f"(SELECT {items} FROM {{{name}}} AS {inner}{where}) AS {alias}", columns

    def source(self) -> tuple[str, Columns]:
        """Return the text after FROM: a table, or two joined in any way."""
        left, known = self.table()
        if self.chance.random() < 0.6:
            return left, known
        right, others = self.table()
        kind = self.chance.choice(
            ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS JOIN"]
        )
        if kind == "CROSS JOIN":
            small = f"(SELECT * FROM {right} WHERE {others[0].text} < 4) AS {self.alias()}"
            name = f"x{self.aliases}"
            moved = [Column(f"{name}.{each.text.partition('.')[2]}", each.kind) for each in others]
            return f"{left} CROSS JOIN {small}", known + moved
        on = self.joined_on(known, others)
        return f"{left} {kind} {right} ON {on}", known if kind in ("SEMI JOIN", "ANTI JOIN") else known + others

    def joined_on(self, known: Columns, others: Columns) -> str:
        kind = self.chance.choice([INT, INT, INT, TEXT, DAY, FLAG])
        on = f"{self.column(known, kind).text} = {self.column(others, kind).text}"
        if kind in (TEXT, DAY, FLAG):  # with equal values on both sides there would be many rows
            on += f" AND {known[0].text} = {others[0].text}"
        if self.chance.random() < 0.3:
            on += f" AND {self.condition(self.chance.choice([known, others]))}"
        return on

    # --------------------------------------------------------------------------------------------- expressions

    def column(self, known: Columns, kind: str) -> Column:
        return self.chance.choice([each for each in known if each.kind == kind])

    def literal(self, kind: str) -> str:
        return self.chance.choice(LITERALS[kind])

    def expression(self, known: Columns, kind: str | None = None) -> Column:
        """A value of some kind."""
        kind = kind or self.chance.choice(list(LITERALS))
        one = self.column(known, kind).text
        made = {
            INT: lambda: [f"{one} % 7", f"abs({one} % 1000)", f"coalesce({one}, 0) % 5"],
            DOUBLE: lambda: [f"{one} * 2", f"-{one}", f"coalesce({one}, 0.25)"],
            TEXT: lambda: [f"upper({one})", f"substr({one}, 2, 3)", f"{one} || '!'", f"replace({one}, 'a', 'ü')"],
            DAY: lambda: [f"({one} + 3)", f"date_trunc('month', {one})::DATE"],
            TIME: lambda: [f"date_trunc('day', {one})", f"{one} + INTERVAL 1 HOUR"],
            FLAG: lambda: [f"NOT {one}", f"({one} OR {self.column(known, INT).text} > 3)"],
            MONEY: lambda: [f"({one} + 1)", f"round({one}, 1)"],
        }[kind]()
        case = f"CASE WHEN {self.condition(known, 1)} THEN {one} ELSE {self.column(known, kind).text} END"
        chosen = self.chance.choices([one, self.chance.choice(made), case, self.scalar(known, kind)], [6, 3, 2, 0.5])[
            0
        ]
        return Column(chosen, kind)

    def scalar(self, known: Columns, kind: str) -> str:
        """A subquery that is one value; now and then one that depends on the row outside."""
        name, alias = self.chance.choice(list(self.tables)), self.alias()
        inner = [Column(f"{alias}.{column}", each) for column, each in self.tables[name].items()]
        where = f"{alias}.id = {known[0].text}" if self.chance.random() < 0.5 else self.condition(inner, 1)
        function = self.chance.choice(["min", "max"]) if kind != FLAG else "bool_or"
        return f"(SELECT {function}({self.column(inner, kind).text}) FROM {{{name}}} AS {alias} WHERE {where})"

    def condition(self, known: Columns, depth: int = 0) -> str:
        if depth < 2 and self.chance.random() < 0.35:
            parts = [self.condition(known, depth + 1) for _ in range(2)]
            joined = f" {self.chance.choice(['AND', 'AND', 'OR'])} ".join(parts)
            return f"({joined})" if self.chance.random() < 0.8 else f"NOT ({joined})"
        kind = self.chance.choice(list(LITERALS))
        one = self.column(known, kind).text
        forms = [
            f"{one} {self.operator()} {self.literal(kind)}",
            f"{self.literal(kind)} {self.operator()} {one}",
            f"{one} {self.operator()} {self.column(known, kind).text}",
            f"{one} {self.chance.choice(['IN', 'NOT IN'])} ({', '.join(self.literal(kind) for _ in range(3))})",
            f"{one} {self.chance.choice(['', 'NOT '])}BETWEEN {self.literal(kind)} AND {self.literal(kind)}",
            f"{one} IS {self.chance.choice(['', 'NOT '])}NULL",
            f"{one} IS {self.chance.choice(['', 'NOT '])}DISTINCT FROM {self.literal(kind)}",
        ]
        if kind == TEXT:
            word = self.chance.choice(["LIKE", "NOT LIKE", "ILIKE"])
            forms = [*forms, *[f"{one} {word} {self.chance.choice(PATTERNS)}"] * 3, f"starts_with({one}, 'name')"]
        if depth == 0 and self.chance.random() < 0.15:
            forms = [self.exists(known), self.within(known, kind)]
        return self.chance.choice(forms)

    def operator(self) -> str:
        return self.chance.choice(["=", "<>", "<", "<=", ">", ">="])

    def exists(self, known: Columns) -> str:
        name, alias = self.chance.choice(list(self.tables)), self.alias()
        inner = [Column(f"{alias}.{column}", kind) for column, kind in self.tables[name].items()]
        more = self.condition(inner, 2)
        no = self.chance.choice(["", "NOT "])
        return f"{no}EXISTS (SELECT 1 FROM {{{name}}} AS {alias} WHERE {alias}.id = {known[0].text} AND {more})"

    def within(self, known: Columns, kind: str) -> str:
        name, alias = self.chance.choice(list(self.tables)), self.alias()
        inner = [Column(f"{alias}.{column}", each) for column, each in self.tables[name].items()]
        values = f"SELECT {self.column(inner, kind).text} FROM {{{name}}} AS {alias} WHERE {self.condition(inner, 2)}"
        return f"{self.column(known, kind).text} {self.chance.choice(['IN', 'NOT IN'])} ({values})"

    def where(self, known: Columns) -> str:
        return f" WHERE {self.condition(known)}" if self.chance.random() < 0.75 else ""

    def items(self, known: Columns, most: int = 4) -> str:
        some = (self.expression(known).text for _ in range(self.chance.randint(1, most)))
        return ", ".join(f"{text} AS c{at}" for at, text in enumerate(some))

    # --------------------------------------------------------------------------------------------------- forms

    def plain(self) -> str:
        source, known = self.source()
        items = "*" if self.chance.random() < 0.15 else self.items(known)
        return f"SELECT {items} FROM {source}{self.where(known)}"

    def distinct(self) -> str:
        source, known = self.source()
        return f"SELECT DISTINCT {self.items(known, 2)} FROM {source}{self.where(known)}"

    def counted(self) -> str:
        source, known = self.table()
        some = [f"count(*) AS c{at}" for at in range(self.chance.randint(1, 2))]
        if self.chance.random() < 0.5:
            some.append(f"{self.aggregate(known)} AS c2")
        return f"SELECT {', '.join(some)} FROM {source}" + (self.where(known) if self.chance.random() < 0.5 else "")

    def ordered(self) -> str:
        source, known = self.source()
        items = self.items(known, 3)
        places = list(range(1, items.count(" AS c") + 1))
        order = ", ".join(f"{at} {self.direction()}" for at in places)
        limit = f" LIMIT {self.chance.randint(0, 12)}" if self.chance.random() < 0.8 else ""
        skip = f" OFFSET {self.chance.randint(0, 5)}" if limit and self.chance.random() < 0.3 else ""
        return f"SELECT {items} FROM {source}{self.where(known)} ORDER BY {order}{limit}{skip}"

    def direction(self) -> str:
        return self.chance.choice(["", "DESC", "ASC NULLS FIRST", "DESC NULLS LAST"])

    def aggregate(self, known: Columns) -> str:
        one, number = self.expression(known).text, self.column(known, self.chance.choice(NUMBERS)).text
        whole = self.column(known, INT).text
        return self.chance.choice(
            [
                *("count(*)", f"count({one})", f"count(DISTINCT {one})", f"min({one})", f"max({one})"),
                *(f"sum({number})", f"sum({whole}::HUGEINT) FILTER ({self.condition(known, 1)})"),
                *(f"avg({whole} % 8)", f"string_agg({one}::VARCHAR, '|' ORDER BY {one}::VARCHAR)"),
            ]
        )

    def grouped(self, wrap: str = "{}") -> str:
        source, known = self.source()
        keys = [self.expression(known, self.chance.choice([INT, TEXT, DAY, FLAG])).text for _ in range(2)]
        keys = keys[: self.chance.randint(1, 2)]
        found = [self.aggregate(known) for _ in range(self.chance.randint(1, 3))]
        items = ", ".join(f"{text} AS c{at}" for at, text in enumerate([*keys, *found]))
        places = wrap.format(", ".join(str(at + 1) for at in range(len(keys))))
        having = f" HAVING count(*) > {self.chance.randint(0, 3)}" if self.chance.random() < 0.4 else ""
        return f"SELECT {items} FROM {source}{self.where(known)} GROUP BY {places}{having}"

    def rolled_up(self) -> str:
        source, known = self.table()
        keys = [each.text for each in self.chance.sample([each for each in known if each.kind != DOUBLE], 2)]
        sets = self.chance.choice(["ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"]).format(", ".join(keys))
        items = ", ".join(f"{text} AS c{at}" for at, text in enumerate([*keys, self.aggregate(known)]))
        return f"SELECT {items} FROM {source}{self.where(known)} GROUP BY {sets}"

    def windowed(self) -> str:
        source, known = self.table()
        over = f"PARTITION BY {self.expression(known, self.chance.choice([FLAG, TEXT, INT])).text}"
        order = f"ORDER BY {self.column(known, self.chance.choice([INT, DAY])).text}"
        every = "ORDER BY " + ", ".join(each.text for each in known)
        one = self.column(known, self.chance.choice(list(LITERALS))).text
        whole = self.column(known, INT).text
        window = self.chance.choice(
            [
                *(f"rank() OVER ({over} {order})", f"dense_rank() OVER ({order})", f"count({one}) OVER ({over})"),
                *(f"sum({whole}::HUGEINT) OVER ({over} {order})", f"row_number() OVER ({over} {every})"),
                *(
                    f"lag({one}) OVER ({every})",
                    f"max({one}) OVER ({every} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
                ),
            ]
        )
        qualify = f" QUALIFY row_number() OVER ({over} {every}) <= 3" if self.chance.random() < 0.3 else ""
        return f"SELECT {known[0].text} AS id, {window} AS w FROM {source}{self.where(known)}{qualify}"

    def united(self) -> str:
        word = self.chance.choice(["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"])
        kinds = [self.chance.choice(list(LITERALS)) for _ in range(self.chance.randint(1, 2))]
        parts = []
        for _ in range(2):
            source, known = self.table()
            items = ", ".join(f"{self.expression(known, kind).text} AS c{at}" for at, kind in enumerate(kinds))
            parts.append(f"SELECT {items} FROM {source}{self.where(known)}")
        return f" {word} ".join(parts)

    def with_clause(self) -> str:
        name = self.chance.choice(list(self.tables))
        inner = [Column(f"w.{column}", kind) for column, kind in self.tables[name].items()]
        first = f"SELECT * FROM {{{name}}} AS w{self.where(inner)}"
        alias = self.alias()
        known = [Column(f"{alias}.{column}", kind) for column, kind in self.tables[name].items()]
        other, others = self.table()
        on = f"{alias}.id = {others[0].text}"
        items = self.items(known + others)
        return (
            f"WITH part AS ({first}) SELECT {items} FROM part AS {alias} LEFT JOIN {other} ON {on}{self.where(known)}"
        )

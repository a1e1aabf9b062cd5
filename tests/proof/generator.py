"""Random SELECTs over all clauses: joins, subqueries, windows, set operations, grouping, pivots, recursion."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.proof.expressions import DATE, INT, LIST, SCHEMA, STRUCT, TEXT, Expressions, Field, Scope


@dataclass(frozen=True, slots=True)
class Made:
    """A query and the columns that come out of it."""

    sql: str
    columns: tuple[Field, ...]


class Generator(Expressions):
    """Queries from one stream of random numbers; aliases are numbered over the whole query."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))
        self.aliases = 0
        self.budget = 6
        """Subqueries in expressions that may still be made: without a bound queries grow very long."""

    def alias(self) -> str:
        self.aliases += 1
        return f"r{self.aliases}"

    def subquery(self, around: Scope, kind: str, *, one: bool) -> str:
        self.budget -= 1
        name = self.chance.choice(("t", "u", "w"))
        alias = self.alias()
        inner = [Field(f"{alias}.{column}", type_) for column, type_ in SCHEMA[name].items()]
        value = self.field(inner, kind)
        value = f"max({value})" if one else value
        if self.budget <= 0:
            return f"SELECT {value} FROM {name} AS {alias}"
        correlated = self.chance.random() < 0.5 and any(field.type == INT for field in around)
        where = self.predicate(inner, 0)
        if correlated:
            where = f"{alias}.k = {self.field(around, INT)}" + (f" AND {where}" if self.chance.random() < 0.4 else "")
        return f"SELECT {value} FROM {name} AS {alias} WHERE {where}"

    def query(self, depth: int) -> Made:
        """A query of any shape; its columns are called c1, c2, …"""
        if depth <= 0:
            return self.plain(depth)
        shapes = [
            self.plain, self.plain, self.grouped, self.grouped, self.windowed, self.distinct, self.distinct_on,
            self.set_operation, self.with_ctes, self.pivoted, self.unpivoted, self.recursive, self.lateral,
            self.unnested, self.starred, self.limited,
        ]  # fmt: skip
        return self.chance.choice(shapes)(depth)

    def named(self, fields: list[Field]) -> tuple[str, tuple[Field, ...]]:
        """A select list, and its columns."""
        text = ", ".join(f"{field.text} AS c{at}" for at, field in enumerate(fields, 1))
        return text, tuple(Field(f"c{at}", field.type) for at, field in enumerate(fields, 1))

    def some(self, scope: Scope, depth: int, least: int = 1) -> list[Field]:
        kinds = [self.chance.choice((INT, INT, TEXT)) for _ in range(self.chance.randint(least, 3))]
        rare = [field.type for field in scope if field.type in (LIST, STRUCT, DATE)]
        if rare and self.chance.random() < 0.3:
            kinds.append(self.chance.choice(rare))
        return [Field(self.expression(scope, kind, min(depth, 2)), kind) for kind in kinds]

    # FROM

    def source(self, depth: int) -> tuple[str, list[Field]]:
        """An item of FROM, with the columns it brings."""
        alias = self.alias()
        if depth > 0 and self.chance.random() < 0.3:
            made = self.query(depth - 1)
            return f"({made.sql}) AS {alias}", [Field(f"{alias}.{field.text}", field.type) for field in made.columns]
        name = self.chance.choice(("t", "t", "u", "w"))
        return f"{name} AS {alias}", [Field(f"{alias}.{column}", kind) for column, kind in SCHEMA[name].items()]

    def from_clause(self, depth: int) -> tuple[str, list[Field]]:
        """FROM with up to three items, joined in any way."""
        text, scope = self.source(depth)
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            text, scope = self.join(text, scope, depth)
        return text, scope

    def join(self, left: str, scope: list[Field], depth: int) -> tuple[str, list[Field]]:
        kind = self.chance.choice(
            ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS", "USING", "ASOF")
        )
        right, more = self.source(depth - 1)
        if kind == "CROSS":
            return f"{left}{self.chance.choice((' CROSS JOIN ', ', '))}{right}", scope + more
        one, two = self.field(scope, INT), self.field(more, INT)
        if kind == "USING":
            return self._using(left, scope, right, more)
        of_left, of_right = ([field.text for field in side if field.type == INT] for side in (scope, more))
        if kind == "ASOF" and of_left and of_right:
            order = f"{self.chance.choice(of_left)} >= {self.chance.choice(of_right)}"
            return f"{left} ASOF JOIN {right} ON {one} = {two} AND {order}", scope + more
        kind = kind.replace("ASOF", "JOIN")
        condition = f"{one} = {two}"
        if self.chance.random() < 0.3:
            condition += f" AND {self.predicate([*scope, *more], 0)}"
        seen = scope if kind in ("SEMI JOIN", "ANTI JOIN") else scope + more
        return f"{left} {kind} {right} ON {condition}", seen

    def _using(self, left: str, scope: list[Field], right: str, more: list[Field]) -> tuple[str, list[Field]]:
        """A join by a name that both sides have once; its column is named without an alias."""
        of_left = [field.text.rpartition(".")[2] for field in scope]
        of_right = {field.text.rpartition(".")[2]: field.type for field in more}
        kinds = {field.text.rpartition(".")[2]: field.type for field in scope}
        both = [
            name
            for name in of_left
            if kinds[name] == of_right.get(name) and of_left.count(name) == 1 and kinds[name] in (INT, TEXT)
        ]
        if not both or any("." not in field.text for field in scope):
            return f"{left}, {right}", scope + more
        name = self.chance.choice(both)
        kind = self.chance.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
        return f"{left} {kind} {right} USING ({name})", [
            *scope,
            *more,
            Field(name, kinds[name]),
            Field(name, kinds[name]),
        ]

    def where(self, scope: Scope, depth: int) -> str:
        return f" WHERE {self.predicate(scope, min(depth, 1))}" if self.chance.random() < 0.5 else ""

    # SELECT

    def plain(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        text, columns = self.named(self.some(scope, depth + 1))
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}", columns)

    def starred(self, depth: int) -> Made:
        name = self.chance.choice(("t", "u", "w"))
        gone, new = self.chance.sample(sorted(SCHEMA[name]), 2)
        fields = [Field(column, kind) for column, kind in SCHEMA[name].items()]
        other = self.expression(fields, SCHEMA[name][new], 1)
        star = self.chance.choice(
            ("*", f"* EXCLUDE ({gone})", f"* REPLACE ({other} AS {new})", f"* RENAME ({gone} AS other)")
        )
        columns = [
            Field("other", field.type) if "RENAME" in star and field.text == gone else field for field in fields
        ]
        columns = [field for field in columns if "EXCLUDE" not in star or field.text != gone]
        return Made(f"SELECT {star} FROM {name}{self.where(fields, depth)}", tuple(columns))

    def limited(self, depth: int) -> Made:
        made = self.query(depth - 1)
        order = ", ".join(f"{field.text}{self.chance.choice((' DESC', ''))}" for field in made.columns)
        text, columns = self.named(list(made.columns))
        limit = self.chance.choice((" LIMIT 3", " LIMIT 2 OFFSET 1", ""))
        return Made(f"SELECT {text} FROM ({made.sql}) AS {self.alias()} ORDER BY {order}{limit}", columns)

    def grouped(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        keys = [
            Field(self.expression(scope, kind, 1), kind)
            for kind in self.chance.sample((INT, TEXT), self.chance.randint(0, 2))
        ]
        keys = [key for key in keys if "SELECT" not in key.text]
        made = [self.aggregate(scope, depth) for _ in range(self.chance.randint(1, 2))]
        made = [field for field in made if "SELECT" not in field.text] or [Field("CAST(count(*) AS INTEGER)", INT)]
        text, columns = self.named(keys + made)
        listed = ", ".join(key.text for key in keys)
        numbers = ", ".join(str(at) for at in range(1, len(keys) + 1))
        ways = (
            listed,
            listed,
            numbers,
            "ALL",
            f"ROLLUP ({listed})",
            f"CUBE ({listed})",
            f"GROUPING SETS (({listed}), ())",
        )
        group = f" GROUP BY {self.chance.choice(ways)}" if keys else ""
        having = f" HAVING {self.aggregate_condition(scope)}" if self.chance.random() < 0.25 else ""
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}{group}{having}", columns)

    def aggregate_condition(self, scope: Scope) -> str:
        return self.chance.choice(
            (f"count({self.field(scope, TEXT)}) > 0", f"max({self.field(scope, INT)}) > 2", "count(*) > 1")
        )

    def windowed(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        made = self.some(scope, 1) + [self.window(scope) for _ in range(self.chance.randint(1, 2))]
        text, columns = self.named(made)
        qualify = ""
        if self.chance.random() < 0.3:
            qualify = f" QUALIFY {self.chance.choice((self.window(scope).text, columns[-1].text))} IS NOT NULL"
            if columns[-1].type == INT:
                qualify = f" QUALIFY {columns[-1].text} <= 2"
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}{qualify}", columns)

    def distinct(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        text, columns = self.named(self.some(scope, depth))
        return Made(f"SELECT DISTINCT {text} FROM {source}{self.where(scope, depth)}", columns)

    def distinct_on(self, depth: int) -> Made:
        source, scope = self.source(depth)
        key = self.field(scope, INT)
        text, columns = self.named(self.some(scope, 1, 2))
        order = ", ".join([key, *(field.text for field in scope if field.type in (INT, TEXT))])
        return Made(
            f"SELECT DISTINCT ON ({key}) {text} FROM {source}{self.where(scope, 0)} ORDER BY {order}", columns
        )

    def set_operation(self, depth: int) -> Made:
        kinds = [self.chance.choice((INT, TEXT)) for _ in range(self.chance.randint(1, 3))]
        branches: list[str] = []
        for _ in range(self.chance.choice((2, 2, 3))):
            source, scope = self.from_clause(depth - 1)
            text, columns = self.named([Field(self.expression(scope, kind, 1), kind) for kind in kinds])
            branches.append(f"SELECT {text} FROM {source}{self.where(scope, depth - 1)}")
        word = self.chance.choice(
            ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION ALL BY NAME")
        )
        return Made(f" {word} ".join(branches), columns)

    def with_ctes(self, depth: int) -> Made:
        inner = self.query(depth - 1)
        names = [f"n{at}" for at in range(1, len(inner.columns) + 1)]
        cte, one = self.alias(), self.alias()
        columns = [Field(f"{one}.{name}", field.type) for name, field in zip(names, inner.columns, strict=True)]
        source = f"{cte} AS {one}"
        if self.chance.random() < 0.4:
            right, more = self.source(0)
            source, columns = (
                self.join(source, columns, 0)
                if self.chance.random() < 0.5
                else (f"{source}, {right}", columns + more)
            )
        text, out = self.named(self.some(columns, depth))
        return Made(
            f"WITH {cte}({', '.join(names)}) AS ({inner.sql}) SELECT {text} FROM {source}{self.where(columns, 1)}",
            out,
        )

    def pivoted(self, depth: int) -> Made:
        how = self.chance.choice(("sum(v)", "max(v)", "count(h)"))
        where = self.where([Field(column, kind) for column, kind in SCHEMA["w"].items()], 0)
        inner = f"(SELECT k, g, v, h FROM w{where})"
        out = "SELECT k, CAST(p1 AS INTEGER) AS p1, CAST(p2 AS INTEGER) AS p2"
        if self.chance.random() < 0.5:
            sql = f"{out} FROM (PIVOT {inner} ON g IN (1, 2) USING {how} GROUP BY k) AS z(k, p1, p2)"
        else:
            sql = f"{out} FROM {inner} PIVOT ({how} FOR g IN (1 AS p1, 2 AS p2) GROUP BY k)"
        return Made(sql, (Field("k", INT), Field("p1", INT), Field("p2", INT)))

    def unpivoted(self, depth: int) -> Made:
        inner = (
            "(SELECT k, x, y FROM u"
            + self.where([Field(column, kind) for column, kind in SCHEMA["u"].items()], 0)
            + ")"
        )
        return Made(
            f"SELECT k, n, val FROM {inner} UNPIVOT (val FOR n IN (x, y))",
            (Field("k", INT), Field("n", TEXT), Field("val", INT)),
        )

    def recursive(self, depth: int) -> Made:
        name, word = self.alias(), self.chance.choice(("UNION ALL", "UNION"))
        start = [Field(column, kind) for column, kind in SCHEMA["t"].items()]
        step = [Field(f"u.{column}", kind) for column, kind in SCHEMA["u"].items()] + [Field(f"{name}.m", INT)]
        value, next_ = self.expression(start, INT, 1), self.expression(step, INT, 1)
        link = self.chance.choice(("k", "id", "x"))
        sql = (
            f"WITH RECURSIVE {name}(n, m, o) AS (SELECT k, {value}, s FROM t{self.where(start, 0)} {word} "
            f"SELECT {name}.n + 1, {next_}, u.s FROM {name} JOIN u ON u.{link} = {name}.n WHERE {name}.n < 3) "
            f"SELECT n AS c1, m AS c2, o AS c3 FROM {name}"
        )
        return Made(sql, (Field("c1", INT), Field("c2", INT), Field("c3", TEXT)))

    def lateral(self, depth: int) -> Made:
        left, scope = self.source(0)
        inner, alias, word = (
            self.alias(),
            self.alias(),
            self.chance.choice((", LATERAL", " LEFT JOIN LATERAL", " CROSS JOIN LATERAL")),
        )
        name = self.chance.choice(("u", "w"))
        own = [Field(f"{inner}.{column}", kind) for column, kind in SCHEMA[name].items()]
        value = self.aggregate(own, 0).text if self.chance.random() < 0.5 else self.field([*own, *scope], INT)
        body = f"SELECT {value} AS m FROM {name} AS {inner} WHERE {inner}.k = {self.field(scope, INT)}"
        kind = TEXT if value.startswith(("min", "string", "arg")) else LIST if value.startswith("list") else INT
        seen = [*scope, Field(f"{alias}.m", kind), Field(f"{alias}.m", kind)]
        text, columns = self.named([Field(f"{alias}.m", kind), *self.some(seen, 1)])
        on = " ON true" if "LEFT" in word else ""
        return Made(f"SELECT {text} FROM {left}{word} ({body}) AS {alias}{on}{self.where(seen, 0)}", columns)

    def unnested(self, depth: int) -> Made:
        one, two = self.alias(), self.alias()
        scope = [Field(f"{one}.{column}", kind) for column, kind in SCHEMA["t"].items()]
        if self.chance.random() < 0.3:
            text, columns = self.named([Field(f"unnest({self.field(scope, LIST)})", INT), *self.some(scope, 1)])
            return Made(f"SELECT {text} FROM t AS {one}{self.where(scope, 0)}", columns)
        seen = [*scope, Field(f"{two}.e", INT), Field(f"{two}.e", INT)]
        text, columns = self.named([Field(f"{two}.e", INT), *self.some(seen, 1)])
        listed = self.field(scope, LIST)
        return Made(f"SELECT {text} FROM t AS {one}, UNNEST({listed}) AS {two}(e){self.where(seen, 0)}", columns)


def generate(seed: int) -> Iterator[str]:
    """Queries without end, always the same ones for a seed; short ones come often."""
    at = 0
    while True:
        at += 1
        made = Generator(seed * 1_000_003 + at)
        yield made.query(made.chance.choice((1, 1, 2, 2, 3))).sql

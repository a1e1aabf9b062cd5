"""Random SELECTs: FROM with joins of all kinds, WHERE, grouping, windows, set operations, WITH."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.proof.expressions import DATE, INT, LIST, MAP, SCHEMA, STRUCT, TEXT, Field, Scope, of_type
from tests.proof.functions import Functions


@dataclass(frozen=True, slots=True)
class Made:
    """A query and the columns that come out of it."""

    sql: str
    columns: tuple[Field, ...]


def named(fields: list[Field]) -> tuple[str, tuple[Field, ...]]:
    """A select list whose columns are called c1, c2, …, and those columns."""
    text = ", ".join(f"{field.text} AS c{at}" for at, field in enumerate(fields, 1))
    return text, tuple(Field(f"c{at}", field.type) for at, field in enumerate(fields, 1))


def columns_of(table: str, alias: str = "") -> list[Field]:
    """The columns of a table as a scope."""
    return [Field(f"{alias}.{column}" if alias else column, kind) for column, kind in SCHEMA[table].items()]


class Generator(Functions):
    """Queries from one stream of random numbers; aliases are numbered over the whole query."""

    def __init__(self, seed: str) -> None:
        super().__init__(random.Random(seed))
        self.aliases = 0
        self.budget = 3
        """Subqueries in expressions that may still be made: without a bound queries grow very long."""

    def alias(self) -> str:
        self.aliases += 1
        return f"r{self.aliases}"

    def shapes(self) -> list[Callable[[int], Made]]:
        """The kinds of queries."""
        return [
            *(self.plain, self.grouped, self.windowed, self.set_operation) * 4,
            *(self.distinct, self.distinct_on, self.with_ctes, self.limited) * 2,
        ]  # fmt: skip

    def query(self, depth: int) -> Made:
        """A query of any shape."""
        return self.plain(depth) if depth <= 0 else self.chance.choice(self.shapes())(depth)

    def subquery(self, around: Scope, kind: str, *, one: bool, tied: bool = False) -> str:
        self.budget -= 1
        name = self.chance.choice(("t", "u", "w"))
        alias = self.alias()
        inner = columns_of(name, alias)
        value = self.field(inner, kind)
        value = f"max({value})" if one else value
        if self.budget <= 0 and not tied:
            return f"SELECT {value} FROM {name} AS {alias}"
        where = self.predicate(inner, 0)
        if (tied or self.chance.random() < 0.5) and of_type(around, INT):
            also = f" AND {where}" if self.chance.random() < 0.3 else ""
            where = f"{alias}.k = {self.field(around, INT)}{also}"
        return f"SELECT {value} FROM {name} AS {alias} WHERE {where}"

    def some(self, scope: Scope, depth: int, least: int = 1) -> list[Field]:
        kinds = [self.chance.choice((INT, INT, TEXT)) for _ in range(self.chance.randint(least, 3))]
        rare = [field.type for field in scope if field.type in (LIST, STRUCT, DATE, MAP)]
        if rare and self.chance.random() < 0.3:
            kinds.append(self.chance.choice(rare))
        kinds = [kind for kind in kinds if of_type(scope, kind)] or [scope[0].type]
        return [Field(self.expression(scope, kind, min(depth, 2)), kind) for kind in kinds]

    # FROM

    def source(self, depth: int) -> tuple[str, list[Field]]:
        """An item of FROM, with the columns it brings."""
        alias = self.alias()
        if depth > 0 and self.chance.random() < 0.25:
            made = self.query(depth - 1)
            return f"({made.sql}) AS {alias}", [Field(f"{alias}.{field.text}", field.type) for field in made.columns]
        if self.chance.random() < 0.04:
            rows = self.chance.choice(("(1, 'a'), (2, 'b')", "(1, 'b'), (3, NULL), (2, 'a')"))
            return f"(VALUES {rows}) AS {alias}(n, o)", [Field(f"{alias}.n", INT), Field(f"{alias}.o", TEXT)]
        name = self.chance.choice(("t", "t", "u", "w"))
        return f"{name} AS {alias}", columns_of(name, alias)

    def from_clause(self, depth: int) -> tuple[str, list[Field]]:
        """FROM with up to three items, joined in any way."""
        text, scope = self.source(depth)
        for _ in range(self.chance.choice((0, 0, 0, 1, 1, 1, 2))):
            text, scope = self.join(text, scope, depth)
        return text, scope

    def join(self, left: str, scope: list[Field], depth: int) -> tuple[str, list[Field]]:
        kind = self.chance.choice((
            *("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN", "CROSS", "USING") * 2,
            "JOIN", "JOIN", "USING", "ASOF JOIN", "ASOF LEFT JOIN", "POSITIONAL",
        ))  # fmt: skip
        right, more = self.source(depth - 1)
        if kind == "CROSS" or not of_type(scope, INT) or not of_type(more, INT):
            return f"{left}{self.chance.choice((' CROSS JOIN ', ', '))}{right}", scope + more
        if kind == "POSITIONAL":
            if "(" not in left + right and " " not in left.replace(" AS ", ""):  # of others the order is the engine's
                return f"{left} POSITIONAL JOIN {right}", scope + more
            kind = "JOIN"
        if kind == "USING":
            return self._using(left, scope, right, more)
        one, two = self.field(scope, INT), self.field(more, INT)
        condition = f"{one} = {two}"
        if "ASOF" in kind:
            order = f"{self.chance.choice(of_type(scope, INT))} >= {self.chance.choice(of_type(more, INT))}"
            return f"{left} {kind} {right} ON {condition} AND {order}", scope + more
        if self.chance.random() < 0.25:
            others = [field for field in [*scope, *more] if field.text not in (one, two)]
            condition += f" AND {self.predicate(others, 0)}"
        seen = scope if kind in ("SEMI JOIN", "ANTI JOIN") else scope + more
        return f"{left} {kind} {right} ON {condition}", seen

    def _using(self, left: str, scope: list[Field], right: str, more: list[Field]) -> tuple[str, list[Field]]:
        """A join by a name that both sides have once; its column is named without an alias."""
        of_left = [field.text.rpartition(".")[2] for field in scope]
        of_right = {field.text.rpartition(".")[2]: field.type for field in more}
        kinds = {field.text.rpartition(".")[2]: field.type for field in scope}
        shared = [name for name in of_left if name in of_right]
        both = [name for name in shared if kinds[name] == of_right[name] and kinds[name] in (INT, TEXT)]
        plain = all("." in field.text for field in scope) and len(set(of_left)) == len(of_left)
        if not both or not plain:
            return f"{left}, {right}", scope + more
        kind = self.chance.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
        if len(both) == len(shared) < 3 and self.chance.random() < 0.5:
            text, names = f"{left} NATURAL {kind} {right}", both
        else:
            names = [self.chance.choice(both)]
            text = f"{left} {kind} {right} USING ({names[0]})"
        own = [field for field in [*scope, *more] if field.text.rpartition(".")[2] not in names]
        return text, [*own, *(Field(name, kinds[name]) for name in names for _ in range(2))]

    def where(self, scope: Scope, depth: int) -> str:
        return f" WHERE {self.predicate(scope, min(depth, 1))}" if self.chance.random() < 0.4 else ""

    # SELECT

    def plain(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        text, columns = named(self.some(scope, depth + 1))
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}", columns)

    def limited(self, depth: int) -> Made:
        made = self.query(depth - 1)
        order = ", ".join(f"{field.text}{self.chance.choice((' DESC', ''))}" for field in made.columns)
        order = self.chance.choice((order, order, "ALL"))
        text, columns = named(list(made.columns))
        limit = self.chance.choice((" LIMIT 3", " LIMIT 3 OFFSET 1", ""))
        return Made(f"SELECT {text} FROM ({made.sql}) AS {self.alias()} ORDER BY {order}{limit}", columns)

    def grouped(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        kinds = [kind for kind in (INT, TEXT) if of_type(scope, kind)]
        wanted = self.chance.sample(kinds, self.chance.randint(0, len(kinds)))
        keys = [Field(self.expression(scope, kind, 1), kind) for kind in wanted]
        keys = [key for key in keys if "SELECT" not in key.text]
        made = [self.aggregate(scope, depth) for _ in range(self.chance.randint(1, 2))]
        made = [field for field in made if "SELECT" not in field.text] or [Field("CAST(count(*) AS INTEGER)", INT)]
        text, columns = named(keys + made)
        listed = ", ".join(key.text for key in keys)
        numbers = ", ".join(str(at) for at in range(1, len(keys) + 1))
        ways = (listed, listed, numbers, "ALL", f"ROLLUP ({listed})", f"CUBE ({listed})")
        ways += (f"GROUPING SETS (({listed}), ())",)
        group = f" GROUP BY {self.chance.choice(ways)}" if keys else ""
        having = f" HAVING {self.aggregate_condition(scope)}" if self.chance.random() < 0.2 else ""
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}{group}{having}", columns)

    def aggregate_condition(self, scope: Scope) -> str:
        number = self.field(scope, INT)
        return self.chance.choice((f"count({number}) > 1", f"max({number}) > 2", "count(*) > 1"))

    def windowed(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        name = self.alias() if self.chance.random() < 0.2 else ""
        made = self.some(scope, 1) + [self.window(scope, name) for _ in range(self.chance.randint(1, 2))]
        text, columns = named(made)
        clause = f" WINDOW {name} AS ({self.window_clause(scope)})" if name else ""
        qualify = ""
        if self.chance.random() < 0.25:
            kept = f"{columns[-1].text} <= 2" if columns[-1].type == INT else f"{columns[-1].text} IS NOT NULL"
            qualify = f" QUALIFY {self.chance.choice((kept, f'{self.window(scope).text} IS NOT NULL'))}"
        return Made(f"SELECT {text} FROM {source}{self.where(scope, depth)}{clause}{qualify}", columns)

    def distinct(self, depth: int) -> Made:
        source, scope = self.from_clause(depth)
        text, columns = named(self.some(scope, depth))
        return Made(f"SELECT DISTINCT {text} FROM {source}{self.where(scope, depth)}", columns)

    def distinct_on(self, depth: int) -> Made:
        source, scope = self.source(depth)
        key = self.field(scope, INT)
        text, columns = named(self.some(scope, 1, 2))
        order = ", ".join(dict.fromkeys([key, *of_type(scope, INT), *of_type(scope, TEXT)]))
        return Made(
            f"SELECT DISTINCT ON ({key}) {text} FROM {source}{self.where(scope, 0)} ORDER BY {order}", columns
        )

    def set_operation(self, depth: int) -> Made:
        word = self.chance.choice((
            "UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL", "UNION ALL BY NAME",
            "UNION BY NAME",
        ))  # fmt: skip
        compared = word.startswith(("INTERSECT", "EXCEPT"))
        kinds = [self.chance.choice((INT, TEXT)) for _ in range(1 if compared else self.chance.randint(1, 3))]
        branches: list[str] = []
        for _ in range(self.chance.choice((2, 2, 2, 3))):
            source, scope = self.from_clause(depth - 1)
            fields = [Field(self.expression(scope, kind, 0 if compared else 1), kind) for kind in kinds]
            text, columns = named(fields)
            branches.append(f"SELECT {text} FROM {source}{'' if compared else self.where(scope, depth - 1)}")
        if "NAME" in word:  # a column that only one branch has
            branches[-1] = branches[-1].replace("SELECT ", f"SELECT {self.field(scope, INT)} AS c9, ", 1)
            columns = (*columns, Field("c9", INT))
        return Made(f" {word} ".join(branches), columns)

    def with_ctes(self, depth: int) -> Made:
        inner = self.query(depth - 1)
        names = [f"n{at}" for at in range(1, len(inner.columns) + 1)]
        cte, one = self.alias(), self.alias()
        scope = [Field(f"{one}.{name}", field.type) for name, field in zip(names, inner.columns, strict=True)]
        source = f"{cte} AS {one}"
        if self.chance.random() < 0.4:
            source, scope = self.join(source, scope, 0)
        text, out = named(self.some(scope, depth))
        said = self.chance.choice((f"{cte}({', '.join(names)}) AS", f"{cte}({', '.join(names)}) AS MATERIALIZED"))
        return Made(f"WITH {said} ({inner.sql}) SELECT {text} FROM {source}{self.where(scope, 1)}", out)

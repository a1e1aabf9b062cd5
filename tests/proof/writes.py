"""Random INSERT, UPDATE, DELETE and MERGE; their result is what the target holds afterwards."""

from collections.abc import Iterator

from headwater.model.edges import InfluenceClass
from tests.proof.engine import World
from tests.proof.expressions import INT, SCHEMA, TEXT, Field
from tests.proof.generator import Generator
from tests.proof.judge import Query, Result

TARGET = "t"


class Write(Query):
    """A statement that changes the target. A column of the target keeps its values, so it may follow itself."""

    def __init__(self, sql: str) -> None:
        super().__init__(sql, SCHEMA)
        self.edges.columns = list(SCHEMA[TARGET])
        self.tables = sorted({*self.tables, TARGET})
        for column in SCHEMA[TARGET]:
            self.edges.by_source[f"{TARGET}.{column}"][column].add(InfluenceClass.VALUE)

    def run(self, world: World, schema: str = "main") -> Result | None:
        rows = world.run(self.sql, schema, then=f"FROM {TARGET}")
        return None if rows is None else Result(rows, None)


class Writes(Generator):
    """Statements that change `t` by what they find in it and in other tables."""

    def statement(self) -> str:
        return self.chance.choice((self.insert, self.update, self.update_from, self.delete, self.merge))()

    def insert(self) -> str:
        source, scope = self.from_clause(1)
        values = (
            f"{self.expression(scope, INT, 1)}, {self.expression(scope, TEXT, 1)}, {self.expression(scope, INT, 1)}"
        )
        return f"INSERT INTO t (a, s, id) SELECT {values} FROM {source}{self.where(scope, 1)}"

    def update(self) -> str:
        scope = self._of("t", "t")
        change = f"a = {self.expression(scope, INT, 2)}, s = {self.expression(scope, TEXT, 1)}"
        return f"UPDATE t SET {change}{self.where(scope, 1)}"

    def update_from(self) -> str:
        scope = [*self._of("t", "t"), *self._of("g", "g", k=INT, m=INT, o=TEXT)]
        change = f"b = {self.expression(scope, INT, 1)}, s = {self.expression(scope, TEXT, 1)}"
        more = f" AND {self.predicate(scope, 0)}" if self.chance.random() < 0.4 else ""
        return f"UPDATE t SET {change} FROM {self._grouped()} AS g WHERE t.k = g.k{more}"

    def delete(self) -> str:
        return f"DELETE FROM t WHERE {self.predicate(self._of('t', 't'), 1)}"

    def merge(self) -> str:
        target, source = self._of("t", "t"), self._of("g", "g", k=INT, m=INT, o=TEXT)
        both = [*target, *source]
        when = f" AND {self.predicate(both, 0)}" if self.chance.random() < 0.4 else ""
        matched = self.chance.choice(("DELETE", f"UPDATE SET a = {self.expression(both, INT, 1)}, s = g.o"))
        new = f"({self.expression(source, INT, 1)}, {self.expression(source, TEXT, 1)}, g.k)"
        return (
            f"MERGE INTO t USING {self._grouped()} AS g ON t.k = g.k WHEN MATCHED{when} THEN {matched} "
            f"WHEN NOT MATCHED THEN INSERT (a, s, k) VALUES {new}"
        )

    def _grouped(self) -> str:
        """One row per key, so that a row of the target is changed once."""
        value, text = self.chance.choice((("x", "s"), ("y", "s")))
        return f"(SELECT k, max({value}) AS m, min({text}) AS o FROM u GROUP BY k)"

    def _of(self, name: str, alias: str, **columns: str) -> list[Field]:
        return [Field(f"{alias}.{column}", kind) for column, kind in (columns or SCHEMA[name]).items()]


def generate_writes(seed: int) -> Iterator[str]:
    """Statements without end, always the same ones for a seed."""
    at = 0
    while True:
        at += 1
        yield Writes(seed * 1_000_003 + at).statement()

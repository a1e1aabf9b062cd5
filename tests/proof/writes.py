"""Random INSERT, UPDATE, DELETE and MERGE; their result is what the target holds afterwards."""

from tests.proof.engine import Variant, World
from tests.proof.expressions import INT, SCHEMA, TEXT, Field
from tests.proof.generator import columns_of
from tests.proof.judge import Query, Result
from tests.proof.shapes import Shapes

TARGET = "t"


class Write(Query):
    """A statement that changes the target. A column of the target keeps its values, so it may follow itself."""

    def __init__(self, sql: str, seed: str = "") -> None:
        super().__init__(sql, SCHEMA, seed=seed)
        self.edges.columns = list(SCHEMA[TARGET])
        self.apart = True
        self.tables = sorted({*self.tables, TARGET})
        for column in SCHEMA[TARGET]:
            self.edges.by_source[f"{TARGET}.{column}"].add(column)

    def run(self, world: World, variant: Variant | None = None) -> Result | None:
        rows = world.run(self.sql, variant, then=f"FROM {TARGET}")
        return None if rows is None else Result(rows, None)


class Writes(Shapes):
    """Statements that change `t` by what they find in it and in other tables."""

    def statement(self) -> str:
        ways = (
            self.insert,
            self.insert_of,
            self.update,
            self.update_from,
            self.delete,
            self.delete_using,
            self.merge,
        )
        return self.chance.choice((*ways, self.merge))()

    def insert(self) -> str:
        source, scope = self.from_clause(1)
        value = self.expression(scope, INT, 1), self.expression(scope, TEXT, 1), self.expression(scope, INT, 1)
        if self.chance.random() < 0.3:
            names = f"{value[0]} AS a, {value[1]} AS s, {value[2]} AS id"
            return f"INSERT INTO t BY NAME SELECT {names} FROM {source}{self.where(scope, 1)}"
        return f"INSERT INTO t (a, s, id) SELECT {', '.join(value)} FROM {source}{self.where(scope, 1)}"

    def insert_of(self) -> str:
        """An insert of a query of any shape, or of a row with a subquery in it."""
        if self.chance.random() < 0.3:
            return f"INSERT INTO t (a, b) VALUES (({self.subquery([], INT, one=True)}), 2)"
        made = self.query(1)
        kinds = {INT: ["id", "k", "a", "b"], TEXT: ["s"]}
        taken = [(kinds[field.type].pop(0), field.text) for field in made.columns if kinds.get(field.type)]
        if not taken:
            return self.insert()
        names, values = (", ".join(each) for each in zip(*taken, strict=True))
        # QUALIFY waits for all rows: DuckDB lets the second part of a UNION ALL see what the first has inserted.
        rows = f"SELECT {values} FROM q QUALIFY count(*) OVER () > 0"
        return f"INSERT INTO t ({names}) WITH q AS MATERIALIZED ({made.sql}) {rows}"

    def update(self) -> str:
        scope = columns_of("t", "t")
        change = f"a = {self.expression(scope, INT, 2)}, s = {self.expression(scope, TEXT, 1)}"
        if self.chance.random() < 0.3:
            change += f", b = ({self.subquery(scope, INT, one=True, tied=True)})"
        return f"UPDATE t SET {change}{self.where(scope, 1)}"

    def update_from(self) -> str:
        scope = [*columns_of("t", "t"), *GROUPED]
        change = f"b = {self.expression(scope, INT, 1)}, s = {self.expression(scope, TEXT, 1)}"
        more = f" AND {self.predicate(scope, 0)}" if self.chance.random() < 0.3 else ""
        return f"UPDATE t SET {change} FROM {self._grouped()} AS g WHERE t.k = g.k{more}"

    def delete(self) -> str:
        return f"DELETE FROM t WHERE {self.predicate(columns_of('t', 't'), 1)}"

    def delete_using(self) -> str:
        return f"DELETE FROM t USING {self._grouped()} AS g WHERE t.k = g.k AND {self.predicate(GROUPED, 0)}"

    def merge(self) -> str:
        both = [*columns_of("t", "t"), *GROUPED]
        when = f" AND {self.predicate(both, 0)}" if self.chance.random() < 0.4 else ""
        matched = self.chance.choice(("DELETE", f"UPDATE SET a = {self.expression(both, INT, 1)}, s = g.o"))
        new = f"({self.expression(GROUPED, INT, 1)}, {self.expression(GROUPED, TEXT, 1)}, g.k)"
        clauses = [f"WHEN MATCHED{when} THEN {matched}", f"WHEN NOT MATCHED THEN INSERT (a, s, k) VALUES {new}"]
        if self.chance.random() < 0.3:
            old = columns_of("t", "t")
            kept = self.chance.choice(("DELETE", f"UPDATE SET b = {self.expression(old, INT, 1)}"))
            clauses.append(f"WHEN NOT MATCHED BY SOURCE AND {self.predicate(old, 0)} THEN {kept}")
        return f"MERGE INTO t USING {self._grouped()} AS g ON t.k = g.k {' '.join(clauses)}"

    def _grouped(self) -> str:
        """One row per key, so that a row of the target is changed once."""
        value = self.chance.choice(("x", "y"))
        return f"(SELECT k, max({value}) AS m, min(s) AS o FROM u GROUP BY k)"


GROUPED = [Field("g.k", INT), Field("g.m", INT), Field("g.o", TEXT)]


def generated_write(seed: int, number: int) -> str:
    """The statement of a seed and a number, always the same."""
    return Writes(f"{seed}w:{number}").statement()

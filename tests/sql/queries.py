"""Random queries over a small schema, as hypothesis strategies."""

from dataclasses import dataclass

from hypothesis import strategies as st

SCHEMA = {"t": ["a", "b", "c"], "u": ["x", "y", "z"], "v": ["k", "m"]}
ALIASES = ("r1", "r2", "r3")

_KEYWORDS = """
    SELECT FROM WHERE GROUP BY ORDER HAVING QUALIFY JOIN LEFT ON USING WITH AS RECURSIVE UNION ALL EXCEPT INSERT
    INTO VALUES UPDATE SET DELETE MERGE WHEN MATCHED THEN NOT CREATE TABLE VIEW REPLACE TEMP DROP ALTER ADD
    COLUMN RENAME TO CASE END ELSE OVER PARTITION PIVOT UNPIVOT FOR IN EXISTS UNNEST LATERAL EXPLODE STRUCT
    ARRAY INTERVAL CAST BEGIN IF LOOP DECLARE COPY CLONE LIKE SUM COUNT ROW_NUMBER
"""
_SIGNS = "t u a b x y 1 'q' * , , ( ) ( ) . = + ; -> : [ ]"
WORDS = [*_KEYWORDS.split(), *_SIGNS.split()]
"""What SQL is made of, for texts that are nearly SQL."""


@dataclass(frozen=True)
class Select:
    """One SELECT: outputs (expression, alias) over tables (name, alias), with conditions."""

    outputs: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, str], ...]
    join: str | None
    where: str | None
    group: tuple[str, ...]

    def sql(self) -> str:
        outputs = ", ".join(f"{expression} AS {alias}" for expression, alias in self.outputs)
        first, *rest = [f"{table} AS {alias}" for table, alias in self.tables]
        text = f"SELECT {outputs} FROM {first}"
        for table in rest[:-1]:
            text += f" CROSS JOIN {table}"
        for table in rest[-1:]:
            text += f" JOIN {table} ON {self.join}"
        if self.where:
            text += f" WHERE {self.where}"
        if self.group:
            text += f" GROUP BY {', '.join(self.group)}"
        return text


@st.composite
def columns(draw: st.DrawFn, tables: tuple[tuple[str, str], ...]) -> str:
    table, alias = draw(st.sampled_from(tables))
    return f"{alias}.{draw(st.sampled_from(SCHEMA[table]))}"


def expressions(tables: tuple[tuple[str, str], ...]) -> st.SearchStrategy[str]:
    leaf = columns(tables) | st.sampled_from(["1", "'s'", "NULL"])

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(inner, inner)
        return (
            pair.map(lambda two: f"({two[0]} + {two[1]})")
            | pair.map(lambda two: f"COALESCE({two[0]}, {two[1]})")
            | inner.map(lambda one: f"UPPER({one})")
            | st.tuples(inner, inner, inner).map(lambda by: f"CASE WHEN {by[0]} > 1 THEN {by[1]} ELSE {by[2]} END")
            | pair.map(lambda two: f"SUM({two[0]}) OVER (PARTITION BY {two[1]})")
            | inner.map(lambda one: f"(SELECT MAX(s.y) FROM u AS s WHERE s.x = {one})")
            | inner.map(lambda one: f"CAST({one} AS VARCHAR)")
        )

    return st.recursive(leaf, extend, max_leaves=5)


@st.composite
def selects(draw: st.DrawFn) -> Select:
    names = draw(st.lists(st.sampled_from(sorted(SCHEMA)), min_size=1, max_size=3))
    tables = tuple(zip(names, ALIASES))
    made = draw(st.lists(expressions(tables), min_size=1, max_size=4))
    outputs = tuple((expression, f"o{at}") for at, expression in enumerate(made))
    join = None
    if len(tables) > 1:
        join = f"{draw(columns(tables))} = {draw(columns(tables))}"
    where = draw(st.none() | columns(tables).map(lambda column: f"{column} > 3"))
    group = tuple(draw(st.lists(columns(tables), max_size=2, unique=True)))
    return Select(outputs, tables, join, where, group)

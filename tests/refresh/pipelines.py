"""A generated pipeline: base tables, and materialized views over them and over each other, of mixed shapes.

Every table, base or view, has the columns id, grp, amount and note. A view of a shape reads some of them, so a change
of `note` alone reaches only the views that carry it.
"""

import random
from dataclasses import dataclass

BASES = 4
ROWS = 40


@dataclass(frozen=True)
class View:
    """One materialized view: its query, and the columns that it reads."""

    name: str
    query: str
    inputs: tuple[str, ...]
    reads: frozenset[tuple[str, str]]  # table and column


class Pipeline:
    """The views of one seed, inputs before what is made of them."""

    def __init__(self, seed: int, views: int) -> None:
        self.chance = random.Random(seed)
        self.bases = [f"b{number}" for number in range(BASES)]
        self.views: list[View] = []
        for number in range(views):
            self.views.append(self._view(f"v{number}"))

    def _view(self, name: str) -> View:
        known = [*self.bases, *(view.name for view in self.views)]
        left, right = self.chance.choice(known[-12:]), self.chance.choice(known)
        number = self.chance.randrange(3, 30)
        shapes = {
            "filtered": (
                f"SELECT id, grp, amount, note FROM {left} WHERE amount > {number}",
                "id grp amount note",
                "",
            ),
            "plain": (f"SELECT id, grp, amount + {number} AS amount, '' AS note FROM {left}", "id grp amount", ""),
            "joined": (
                f"SELECT a.id, b.grp, a.amount, a.note FROM {left} AS a JOIN {right} AS b ON a.grp = b.id",
                "id grp amount note",
                "id grp",
            ),
            "grouped": (
                f"SELECT grp AS id, min(grp) AS grp, sum(amount) AS amount, '' AS note FROM {left} GROUP BY grp",
                "grp amount",
                "",
            ),
            "existing": (
                f"SELECT id, grp, amount, '' AS note FROM {left} AS a "
                f"WHERE EXISTS (SELECT 1 FROM {right} AS b WHERE b.id = a.id AND b.amount > {number})",
                "id grp amount",
                "id amount",
            ),
            "ranked": (
                "SELECT id, grp, rank() OVER (PARTITION BY grp ORDER BY amount, id) AS amount, '' AS note "
                f"FROM {left}",
                "id grp amount",
                "",
            ),
            "top": (
                f"SELECT id, grp, amount, note FROM {left} ORDER BY amount DESC, id, grp, note LIMIT {number}",
                "id grp amount note",
                "",
            ),
            "either": (
                f"SELECT id, grp FROM {left} UNION SELECT id, grp FROM {right}",
                "id grp",
                "id grp",
            ),
        }
        kind = self.chance.choice([*shapes])
        query, of_left, of_right = shapes[kind]
        if kind == "either":
            query = f"SELECT id, grp, id + grp AS amount, '' AS note FROM ({query}) AS u"
        reads = {(left, column) for column in of_left.split()} | {(right, column) for column in of_right.split()}
        inputs = (left, right) if of_right else (left,)
        return View(name, f"SELECT {_typed(query)}", inputs, frozenset(reads))

    def create(self, session) -> None:
        """Make the base tables with rows, and the views."""
        for base in self.bases:
            session.sql(f"CREATE TABLE {base} (id INT PRIMARY KEY, grp INT, amount BIGINT, note STRING)")
            rows = ", ".join(self.row(number) for number in range(ROWS))
            session.sql(f"INSERT INTO {base} VALUES {rows}")
        for view in self.views:
            session.sql(f"CREATE MATERIALIZED VIEW {view.name} AS {view.query}")

    def row(self, id: int) -> str:
        return f"({id}, {self.chance.randrange(8)}, {self.chance.randrange(60)}, 'n{self.chance.randrange(9)}')"

    def night(self, session) -> None:
        """Change one base in all columns, and only the notes of another."""
        changed, noted = self.chance.sample(self.bases, 2)
        first = self.chance.randrange(1_000, 1_000_000)
        rows = ", ".join(self.row(first + number) for number in range(3))
        session.sql(f"INSERT INTO {changed} VALUES {rows}")
        session.sql(f"DELETE FROM {changed} WHERE id = {self.chance.randrange(ROWS)}")
        session.sql(f"UPDATE {changed} SET amount = amount + 7 WHERE id % 9 = {self.chance.randrange(9)}")
        session.sql(f"UPDATE {noted} SET note = 'x{first}' WHERE id % 2 = 0")
        self.last = (changed, noted)


def _typed(query: str) -> str:
    return (
        "CAST(id AS INTEGER) AS id, CAST(grp AS INTEGER) AS grp, CAST(amount AS BIGINT) AS amount, "
        f"CAST(note AS VARCHAR) AS note FROM ({query}) AS q"
    )

"""Random aggregates and window functions."""

from tests.proof.expressions import INT, LIST, TEXT, Expressions, Field, Scope, of_type


class Functions(Expressions):
    """Expressions, aggregates and window functions."""

    def aggregate(self, scope: Scope, depth: int) -> Field:
        """An aggregate over columns of the scope."""
        number, text = self.expression(scope, INT, depth - 1), self.expression(scope, TEXT, depth - 1)
        shapes = [
            (f"sum({number})", INT), (f"max({number})", INT), (f"min({text})", TEXT), (f"count({text})", INT),
            (f"count(DISTINCT {number})", INT), ("count(*)", INT), (f"sum(DISTINCT {number})", INT),
            (f"string_agg({text}, ',' ORDER BY {number}, {text})", TEXT), (f"avg({number})", INT),
            (f"arg_max({text}, {number})", TEXT), (f"list({number} ORDER BY {number})", LIST),
            (f"bit_xor({number})", INT), (f"quantile_disc({number}, 0.5)", INT),
        ]  # fmt: skip
        made, kind = self.chance.choice(shapes)
        if self.chance.random() < 0.2:
            made += f" FILTER (WHERE {self.predicate(scope, 0)})"
        elif self.chance.random() < 0.05:
            made, kind = f"CAST(bool_or({self.predicate(scope, 0)}) AS INTEGER)", INT
        return Field(f"CAST({made} AS INTEGER)" if kind == INT else made, kind)

    def window(self, scope: Scope, name: str = "") -> Field:
        """A window function over columns of the scope, or over a window with a name."""
        number = self.field(scope, INT)
        text, key = self.field(scope, TEXT), self.field(scope, INT, number)
        kind = self.chance.choice([kind for kind in (INT, TEXT) if of_type(scope, kind)] or [INT])
        part = f"PARTITION BY {self.field(scope, kind, number, key)} " if self.chance.random() < 0.6 else ""
        order = f"ORDER BY {key}{self.chance.choice(('', ' DESC'))} NULLS LAST"
        where = f"FILTER (WHERE {self.predicate(scope, 0)}) " if self.chance.random() < 0.3 else ""
        over, ties = f"({part}{order})", f"({part}{order}, {number})"
        if name:
            over = ties = name
        frame = self.chance.choice((
            "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
            "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING", "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
            "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
        ))  # fmt: skip
        framed = f"({part}{order}{f', {number}' if 'RANGE' not in frame else ''} {frame})"
        last = f"({part}{order}, {number} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
        shapes = [
            (f"sum({number}) OVER ({part})", INT), (f"sum({number}) {where}OVER {over}", INT),
            (f"rank() OVER {over}", INT), (f"dense_rank() OVER {over}", INT), (f"row_number() OVER {ties}", INT),
            (f"max({text}) OVER ({part})", TEXT), (f"lag({number}) OVER {ties}", INT),
            (f"count(*) {where}OVER {over}", INT), (f"first_value({number}) OVER {ties}", INT),
            (f"ntile(2) OVER {ties}", INT), (f"lead({number}, 1, {key}) OVER {ties}", INT),
            (f"sum({number}) {where}OVER {framed}", INT), (f"min({number}) OVER {framed}", INT),
            (f"nth_value({number}, 2) OVER {ties}", INT), (f"last_value({number} IGNORE NULLS) OVER {last}", INT),
        ]  # fmt: skip
        if name:  # its order leaves ties, among which chance decides for the others
            alike = ("sum(", "rank(", "dense_rank(", "count(")
            shapes = [shape for shape in shapes if name in shape[0] and shape[0].startswith(alike)]
        made, kind = self.chance.choice(shapes)
        return Field(f"CAST({made} AS INTEGER)" if kind == INT else made, kind)

    def window_clause(self, scope: Scope) -> str:
        """The definition of a window with a name."""
        part, key = self.field(scope, INT), self.field(scope, TEXT)
        return f"PARTITION BY {part} ORDER BY {self.field(scope, INT, part)} NULLS LAST, {key}"

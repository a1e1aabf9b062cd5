"""Random expressions and predicates of DuckDB's SQL over the columns of a scope."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

INT, TEXT, LIST, STRUCT, DATE = "INTEGER", "VARCHAR", "INTEGER[]", "STRUCT(p INTEGER, q VARCHAR)", "DATE"

SCHEMA: dict[str, dict[str, str]] = {
    "t": {"id": INT, "k": INT, "a": INT, "b": INT, "s": TEXT, "l": LIST, "st": STRUCT, "d": DATE},
    "u": {"id": INT, "k": INT, "x": INT, "y": INT, "s": TEXT},
    "w": {"k": INT, "g": INT, "v": INT, "h": TEXT},
}

LITERALS = {INT: ("1", "2", "3"), TEXT: ("'a'", "'b'"), LIST: ("[1, 2]",), DATE: ("DATE '2000-02-12'",)}


@dataclass(frozen=True, slots=True)
class Field:
    """A column that an expression may name: its text and its type."""

    text: str
    type: str


Scope = Sequence[Field]


class Expressions:
    """Expressions by type; `subquery` makes a SELECT of one column that may look at a scope around it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def subquery(self, around: Scope, kind: str, *, one: bool) -> str:
        raise NotImplementedError

    def field(self, scope: Scope, kind: str) -> str:
        """A column of a type, or a literal if there is none."""
        fitting = [field.text for field in scope if field.type == kind]
        if fitting and (self.chance.random() < 0.93 or kind == STRUCT):
            return self.chance.choice(fitting)
        return self.chance.choice(LITERALS.get(kind, ("NULL",)))

    def expression(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression of a type over columns of the scope."""
        if depth <= 0 or self.chance.random() < 0.4:
            return self.field(scope, kind)
        makers: dict[str, tuple[Callable[[Scope, int], str], ...]] = {
            INT: (self._arithmetic, self._number_of, self._nested_number),
            TEXT: (self._text,),
            LIST: (self._list,),
        }
        choices = [self._chosen, self._chosen, *(2 * makers.get(kind, ()))]
        maker = self.chance.choice(choices)
        if maker == self._chosen:
            return self._chosen_of(scope, kind, depth)
        return maker(scope, depth - 1)

    def _chosen(self, scope: Scope, depth: int) -> str:
        return self._chosen_of(scope, INT, depth)

    def _chosen_of(self, scope: Scope, kind: str, depth: int) -> str:
        """A value that a condition chooses, in any type."""
        one, two = (self.expression(scope, kind, depth - 1) for _ in range(2))
        shape = self.chance.randrange(6)
        if shape == 0:
            return f"CASE WHEN {self.predicate(scope, depth - 1)} THEN {one} ELSE {two} END"
        if shape == 1:
            return f"COALESCE({one}, {two})"
        if shape == 2:
            return f"IF({self.predicate(scope, depth - 1)}, {one}, {two})"
        if shape == 3 and kind != STRUCT:
            return f"NULLIF({one}, {two})"
        if shape == 4:
            return f"CASE {self.field(scope, INT)} WHEN 1 THEN {one} WHEN 2 THEN {two} END"
        if kind in (INT, TEXT):
            return f"({self.subquery(scope, kind, one=True)})"
        return one

    def _arithmetic(self, scope: Scope, depth: int) -> str:
        one, two = (self.expression(scope, INT, depth) for _ in range(2))
        shape = self.chance.choice(
            ("({} + {})", "({} - {})", "({} * {})", "greatest({}, {})", "least({}, {})", "({} % {})")
        )
        return shape.format(one, two)

    def _number_of(self, scope: Scope, depth: int) -> str:
        text = self.expression(scope, TEXT, depth)
        shapes = (
            "length({})",
            "CAST({} IS NULL AS INTEGER)",
            "ascii({})",
            "strpos({}, 'b')",
            "TRY_CAST({} AS INTEGER)",
        )
        return self.chance.choice(shapes).format(text)

    def _nested_number(self, scope: Scope, depth: int) -> str:
        kinds = {field.type for field in scope}
        shapes = [
            "abs({i} - 2)",
            "CAST({i} > 1 AS INTEGER)",
            "CAST({i} IN ({sub}) AS INTEGER)",
            "CAST(EXISTS ({sub}) AS INTEGER)",
        ]
        if LIST in kinds:
            shapes += ["{l}[1]", "len({l})", "list_sum({l})", "{l}[{i}]", "list_position({l}, {i})"]
            shapes += ["list_sum(list_transform({l}, lambda e: e + {i}))", "len(list_filter({l}, lambda e: e > {i}))"]
        if STRUCT in kinds:
            shapes += ["{st}.p", "struct_extract({st}, 'p')"]
        if DATE in kinds:
            shapes += ["month({d})", "date_diff('day', DATE '2000-01-01', {d})"]
        shape = self.chance.choice(shapes)
        return shape.format(
            i=self.expression(scope, INT, depth),
            l=self.field(scope, LIST),
            st=self.field(scope, STRUCT),
            d=self.field(scope, DATE),
            sub=self.subquery(scope, INT, one=False) if "{sub}" in shape else "",
        )

    def _text(self, scope: Scope, depth: int) -> str:
        shapes = ["{s} || {t}", "upper({s})", "substr({s}, 1, {i})", "concat({s}, {t})", "replace({s}, 'a', {t})"]
        shapes += ["CAST({i} AS VARCHAR)", "regexp_replace({s}, 'b', {t})", "md5({s})", "lpad({s}, 3, 'x')"]
        if any(field.type == STRUCT for field in scope):
            shapes.append("{st}.q")
        return self.chance.choice(shapes).format(
            s=self.expression(scope, TEXT, depth),
            t=self.field(scope, TEXT),
            i=self.expression(scope, INT, depth),
            st=self.field(scope, STRUCT),
        )

    def _list(self, scope: Scope, depth: int) -> str:
        shapes = (
            "[{i}, {j}]",
            "list_append({l}, {i})",
            "{l}[1:{i}]",
            "list_transform({l}, lambda e: e * {i})",
            "list_sort({l})",
        )
        return self.chance.choice(shapes).format(
            l=self.field(scope, LIST), i=self.expression(scope, INT, depth), j=self.field(scope, INT)
        )

    def predicate(self, scope: Scope, depth: int) -> str:
        """A condition over columns of the scope; it holds for a good part of the rows."""
        if depth > 0 and self.chance.random() < 0.25:
            one, two = (self.predicate(scope, depth - 1) for _ in range(2))
            return self.chance.choice(("({} AND {})", "({} OR {})", "(NOT {} OR {})")).format(one, two)
        shapes = [
            "{i} > {j}",
            "{i} <= {j}",
            "{i} <> {j}",
            "{s} IS NOT NULL",
            "{i} IN (1, 2)",
            "{s} LIKE '%a%'",
            "{s} >= {t}",
        ]
        shapes += ["{i} BETWEEN {j} AND 3", "{i} IS DISTINCT FROM {j}"]
        if depth > 0:
            shapes += [
                "{i} IN ({sub})",
                "EXISTS ({sub})",
                "{i} >= ANY ({sub})",
                "{i} NOT IN ({sub})",
                "{i} = ({one})",
            ]
        shape = self.chance.choice(shapes)
        return (
            "("
            + shape.format(
                i=self.expression(scope, INT, depth - 1),
                j=self.field(scope, INT),
                s=self.expression(scope, TEXT, depth - 1),
                t=self.field(scope, TEXT),
                sub=self.subquery(scope, INT, one=False) if "{sub}" in shape else "",
                one=self.subquery(scope, INT, one=True) if "{one}" in shape else "",
            )
            + ")"
        )

    def aggregate(self, scope: Scope, depth: int) -> Field:
        """An aggregate over columns of the scope."""
        number, text = self.expression(scope, INT, depth - 1), self.expression(scope, TEXT, depth - 1)
        shapes = [
            (f"sum({number})", INT), (f"max({number})", INT), (f"min({text})", TEXT), (f"count({text})", INT),
            (f"count(DISTINCT {number})", INT), ("count(*)", INT), (f"sum(DISTINCT {number})", INT),
            (f"string_agg({text}, ',' ORDER BY {number}, {text})", TEXT), (f"CAST(avg({number}) AS INTEGER)", INT),
            (f"arg_max({text}, {number})", TEXT), (f"list({number} ORDER BY {number})", LIST),
            (f"bit_xor({number})", INT),
            (f"CAST(bool_or({self.predicate(scope, 0)}) AS INTEGER)", INT),
        ]  # fmt: skip
        made, kind = self.chance.choice(shapes)
        if self.chance.random() < 0.2:
            made += f" FILTER (WHERE {self.predicate(scope, 0)})"
            made = made if "CAST(" not in made[:5] else shapes[0][0]
        return Field(f"CAST({made} AS INTEGER)" if kind == INT else made, kind)

    def window(self, scope: Scope) -> Field:
        """A window function over columns of the scope."""
        number, text, key = self.field(scope, INT), self.field(scope, TEXT), self.field(scope, INT)
        part = (
            f"PARTITION BY {self.field(scope, self.chance.choice((INT, TEXT)))} "
            if self.chance.random() < 0.7
            else ""
        )
        order = f"ORDER BY {key}{self.chance.choice(('', ' DESC'))} NULLS LAST"
        shapes = [
            (f"sum({number}) OVER ({part})", INT), (f"sum({number}) OVER ({part}{order})", INT),
            (f"rank() OVER ({part}{order})", INT), (f"dense_rank() OVER ({part}{order})", INT),
            (f"row_number() OVER ({part}{order}, {number}, {text})", INT), (f"max({text}) OVER ({part})", TEXT),
            (f"lag({number}) OVER ({part}{order}, {number})", INT), (f"count(*) OVER ({part}{order})", INT),
            (f"first_value({number}) OVER ({part}{order}, {number})", INT),
            (f"ntile(2) OVER ({part}{order}, {number})", INT),
            (f"lead({number}, 1, {key}) OVER ({part}{order}, {number})", INT),
            (f"sum({number}) OVER ({part}{order}, {number} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", INT),
        ]  # fmt: skip
        made, kind = self.chance.choice(shapes)
        return Field(f"CAST({made} AS INTEGER)" if kind == INT else made, kind)

"""Random expressions and predicates of DuckDB's SQL over the columns of a scope.

A condition that never holds, or a value that cancels out, hides edges; so two operands are different columns, and
columns are compared with values that the tables hold.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

INT, TEXT, LIST, DATE = "INTEGER", "VARCHAR", "INTEGER[]", "DATE"
STRUCT, MAP = "STRUCT(p INTEGER, q VARCHAR)", "MAP(VARCHAR, INTEGER)"

SCHEMA: dict[str, dict[str, str]] = {
    "t": {"id": INT, "k": INT, "a": INT, "b": INT, "s": TEXT, "l": LIST, "st": STRUCT, "d": DATE},
    "u": {"id": INT, "k": INT, "x": INT, "y": INT, "s": TEXT, "m": MAP},
    "w": {"k": INT, "g": INT, "v": INT, "h": TEXT},
}

LITERALS = {
    INT: ("1", "2", "3"),
    TEXT: ("'a'", "'b'"),
    LIST: ("[1, 2]",),
    DATE: ("DATE '2000-02-12'",),
    STRUCT: ("{'p': 1, 'q': 'a'}",),
    MAP: ("MAP {'a': 1}",),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column that an expression may name: its text and its type."""

    text: str
    type: str


Scope = Sequence[Field]


def of_type(scope: Scope, kind: str) -> list[str]:
    """The columns of a type, each once."""
    return list(dict.fromkeys(field.text for field in scope if field.type == kind))


class Expressions:
    """Expressions by type; `subquery` makes a SELECT of one column that may look at a scope around it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def subquery(self, around: Scope, kind: str, *, one: bool, tied: bool = False) -> str:
        """A SELECT of one column; `one`: of one row; `tied`: it looks at the scope around it."""
        raise NotImplementedError

    def field(self, scope: Scope, kind: str, *others: str) -> str:
        """A column of a type, if possible none of the others; a literal if there is none."""
        fitting = of_type(scope, kind)
        better = [text for text in fitting if not any(text in other for other in others)]
        return self.chance.choice(better or [text for text in LITERALS[kind] if text not in others] or fitting)

    def expression(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression of a type over columns of the scope."""
        if depth <= 0 or not of_type(scope, kind) or self.chance.random() < 0.4:
            return self.field(scope, kind)
        makers: dict[str, tuple[Callable[[Scope, int], str], ...]] = {
            INT: (self._arithmetic, self._number_of, self._nested_number),
            TEXT: (self._text,),
            LIST: (self._list,),
            STRUCT: (self._struct,),
            MAP: (self._map,),
        }
        if self.chance.random() < 0.35 or kind not in makers:
            return self._chosen(scope, kind, depth)
        return self.chance.choice(makers[kind])(scope, depth - 1)

    def two(self, scope: Scope, kind: str, depth: int) -> tuple[str, str]:
        """An expression, and a column that it does not name."""
        one = self.expression(scope, kind, depth)
        return one, self.field(scope, kind, one)

    def _chosen(self, scope: Scope, kind: str, depth: int) -> str:
        """A value that a condition chooses, in any type."""
        one, two = self.two(scope, kind, depth - 1)
        shape = self.chance.randrange(6)
        if shape == 0:
            return f"CASE WHEN {self.predicate(scope, depth - 1)} THEN {one} ELSE {two} END"
        if shape == 1:
            return f"COALESCE({one}, {two})"
        if shape == 2:
            return f"IF({self.predicate(scope, depth - 1)}, {one}, {two})"
        if shape == 3 and kind in (INT, TEXT, DATE):
            return f"NULLIF({one}, {two})"
        if shape == 4 and of_type(scope, INT):
            return f"CASE {self.field(scope, INT)} WHEN 1 THEN {one} WHEN 2 THEN {two} END"
        if kind in (INT, TEXT):
            return f"({self.subquery(scope, kind, one=True)})"
        return one

    def _arithmetic(self, scope: Scope, depth: int) -> str:
        one, two = self.two(scope, INT, depth)
        shapes = ("({} + {})", "({} - {})", "({} * {})", "greatest({}, {})", "least({}, {})", "({} * 10 + {})")
        return self.chance.choice(shapes).format(one, two)

    def _number_of(self, scope: Scope, depth: int) -> str:
        if not of_type(scope, TEXT):
            return self._arithmetic(scope, depth)
        text = self.expression(scope, TEXT, depth)
        shapes = ("length({s})", "ascii({s})", "strpos({s}, 'b')", "CAST({f} IS NULL AS INTEGER)")
        return self.chance.choice(shapes).format(s=text, f=self.field(scope, TEXT))

    def _nested_number(self, scope: Scope, depth: int) -> str:
        kinds = {field.type for field in scope}
        shapes = ["abs({i} - 2)", "CAST({i} > 2 AS INTEGER)", "CAST({i} IN ({sub}) AS INTEGER)"]
        shapes += ["CAST(EXISTS ({sub}) AS INTEGER)", "({i} // 2)"]
        if LIST in kinds:
            shapes += ["{l}[1]", "len({l})", "list_sum({l})", "{l}[{f}]", "list_position({l}, {f})", "list_max({l})"]
            shapes += ["list_sum(list_transform({l}, lambda e: e + {f}))", "len(list_filter({l}, lambda e: e > {f}))"]
            shapes += ["[{i}, {f}][1]", "[{f}, {i}][2]"]
            shapes += ["list_reduce({l}, lambda p, e: p + e, {f})", "list_sum([e * {f} FOR e IN {l} IF e > 1])"]
        if STRUCT in kinds:
            shapes += ["{st}.p", "struct_extract({st}, 'p')", "row({i}, {f})[1]", "struct_pack(x := {f}, y := {i}).y"]
        if DATE in kinds:
            shapes += ["month({d})", "date_diff('day', DATE '2000-01-01', {d})"]
        if MAP in kinds:
            shapes += ["{m}['a']", "cardinality({m})", "list_sum(map_values({m}))", "MAP {{1: {f}, 2: {i}}}[2]"]
        shape = self.chance.choice(shapes)
        return shape.format(
            i=self.expression(scope, INT, depth),
            f=self.field(scope, INT),
            l=self.field(scope, LIST),
            st=self.field(scope, STRUCT),
            d=self.field(scope, DATE),
            m=self.field(scope, MAP),
            sub=self.subquery(scope, INT, one=False) if "{sub}" in shape else "",
        )

    def _text(self, scope: Scope, depth: int) -> str:
        shapes = ["{s} || {t}", "upper({s})", "substr({s}, 1, {i})", "concat({s}, {t})", "replace({s}, 'c', {t})"]
        shapes += ["CAST({i} AS VARCHAR)", "regexp_replace({s}, '^c', {t})", "md5({s})", "lpad({s}, 3, 'x')"]
        if of_type(scope, STRUCT):
            shapes.append("{st}.q")
        one, two = self.two(scope, TEXT, depth)
        return self.chance.choice(shapes).format(
            s=one, t=two, i=self.expression(scope, INT, depth), st=self.field(scope, STRUCT)
        )

    def _list(self, scope: Scope, depth: int) -> str:
        shapes = ("[{i}, {j}]", "list_append({l}, {i})", "{l}[1:{j}]", "list_sort({l})", "list_concat({l}, [{i}])")
        shapes += ("list_transform({l}, lambda e: e * {i})", "list_filter({l}, lambda e: e <> {j})")
        one, two = self.two(scope, INT, depth)
        return self.chance.choice(shapes).format(l=self.field(scope, LIST), i=one, j=two)

    def _struct(self, scope: Scope, depth: int) -> str:
        number, text = self.expression(scope, INT, depth), self.expression(scope, TEXT, depth)
        return f"{{'p': {number}, 'q': {text}}}"

    def _map(self, scope: Scope, depth: int) -> str:
        return f"MAP {{'a': {self.expression(scope, INT, depth)}, 'b': {self.field(scope, INT)}}}"

    def predicate(self, scope: Scope, depth: int) -> str:
        """A condition over columns of the scope; it holds for a good part of the rows."""
        if depth > 0 and self.chance.random() < 0.25:
            one, two = (self.predicate(scope, depth - 1) for _ in range(2))
            return self.chance.choice(("({} AND {})", "({} OR {})", "(NOT {} OR {})")).format(one, two)
        shapes: list[str] = []
        if of_type(scope, INT):
            shapes += ["{i} > 1", "{i} <= {j}", "{i} <> {j}", "{i} IN (1, 2, 3)", "{i} BETWEEN 1 AND 3"]
            shapes += ["{i} IS DISTINCT FROM {j}", "{i} >= {j}"]
        if of_type(scope, TEXT):
            shapes += ["{f} IS NOT NULL", "{f} LIKE '%a%'", "{s} >= {t}", "{f} IN ('a', 'b', 'c')"]
        if depth > 0 and of_type(scope, INT):
            shapes += ["{i} IN ({sub})", "EXISTS ({sub})", "{i} >= ANY ({sub})", "{i} <= ALL ({sub})"]
            shapes += ["{i} NOT IN ({sub})", "{i} <= ({one})", "NOT EXISTS ({tied})"]
        shape = self.chance.choice(shapes or ["1 = 1"])
        number, other = self.two(scope, INT, depth - 1)
        text, more = self.two(scope, TEXT, depth - 1)
        sub = self.subquery(scope, INT, one=False) if "{sub}" in shape else ""
        one = self.subquery(scope, INT, one=True) if "{one}" in shape else ""
        tied = self.subquery(scope, INT, one=False, tied=True) if "{tied}" in shape else ""
        found = shape.format(
            i=number, j=other, s=text, t=more, f=self.field(scope, TEXT), sub=sub, one=one, tied=tied
        )
        return f"({found})"

"""Random SELECTs of rarer shapes: stars, pivots, recursion, LATERAL, UNNEST, built structs and maps."""

from collections.abc import Callable

from tests.proof.expressions import INT, LIST, SCHEMA, STRUCT, TEXT, Field
from tests.proof.generator import Generator, Made, columns_of, named


class Shapes(Generator):
    """Queries of all shapes."""

    def shapes(self) -> list[Callable[[int], Made]]:
        return [
            *super().shapes(), self.pivoted, self.unpivoted, self.recursive,
            *(self.starred, self.lateral, self.unnested, self.built) * 2,
        ]  # fmt: skip

    def starred(self, depth: int) -> Made:
        name = self.chance.choice(("t", "u", "w"))
        fields = columns_of(name)
        gone, new = self.chance.sample(sorted(SCHEMA[name]), 2)
        other = self.expression(fields, SCHEMA[name][new], 1)
        ways = {
            "*": fields,
            f"* EXCLUDE ({gone})": [field for field in fields if field.text != gone],
            f"* REPLACE ({other} AS {new})": fields,
            f"* RENAME ({gone} AS other)": [
                Field("other", field.type) if field.text == gone else field for field in fields
            ],
            f"COLUMNS('^[{gone[0]}{new[0]}]')": [field for field in fields if field.text[0] in (gone[0], new[0])],
            f"COLUMNS(* EXCLUDE ({gone}))": [field for field in fields if field.text != gone],
        }
        star = self.chance.choice(list(ways))
        return Made(f"SELECT {star} FROM {name}{self.where(fields, depth)}", tuple(ways[star]))

    def pivoted(self, depth: int) -> Made:
        how = self.chance.choice(("sum(v)", "max(v)", "count(h)"))
        inner = f"(SELECT k, g, v, h FROM w{self.where(columns_of('w'), 0)})"
        out = "SELECT k, CAST(p1 AS INTEGER) AS p1, CAST(p2 AS INTEGER) AS p2"
        if self.chance.random() < 0.5:
            sql = f"{out} FROM (PIVOT {inner} ON g IN (1, 2) USING {how} GROUP BY k) AS z(k, p1, p2)"
        else:
            sql = f"{out} FROM {inner} PIVOT ({how} FOR g IN (1 AS p1, 2 AS p2) GROUP BY k)"
        return Made(sql, (Field("k", INT), Field("p1", INT), Field("p2", INT)))

    def unpivoted(self, depth: int) -> Made:
        inner = f"(SELECT k, x, y FROM u{self.where(columns_of('u'), 0)})"
        nulls = self.chance.choice(("", "", "INCLUDE NULLS "))
        if self.chance.random() < 0.3 and not nulls:
            sql = f"SELECT k, n, val FROM (UNPIVOT {inner} ON x, y INTO NAME n VALUE val)"
        else:
            sql = f"SELECT k, n, val FROM {inner} UNPIVOT {nulls}(val FOR n IN (x, y))"
        return Made(sql, (Field("k", INT), Field("n", TEXT), Field("val", INT)))

    def recursive(self, depth: int) -> Made:
        name, word = self.alias(), self.chance.choice(("UNION ALL", "UNION"))
        start, step = columns_of("t"), [*columns_of("u", "u"), Field(f"{name}.m", INT), Field(f"{name}.m", INT)]
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
        inner, alias = self.alias(), self.alias()
        word = self.chance.choice((", LATERAL", " LEFT JOIN LATERAL", " CROSS JOIN LATERAL"))
        name = self.chance.choice(("u", "w"))
        own = columns_of(name, inner)
        value = self.aggregate(own, 0) if self.chance.random() < 0.5 else Field(self.field([*own, *scope], INT), INT)
        body = f"SELECT {value.text} AS m FROM {name} AS {inner} WHERE {inner}.k = {self.field(scope, INT)}"
        seen = [*scope, Field(f"{alias}.m", value.type), Field(f"{alias}.m", value.type)]
        text, columns = named([Field(f"{alias}.m", value.type), *self.some(seen, 1)])
        on = " ON true" if "LEFT" in word else ""
        return Made(f"SELECT {text} FROM {left}{word} ({body}) AS {alias}{on}{self.where(seen, 0)}", columns)

    def unnested(self, depth: int) -> Made:
        one, two = self.alias(), self.alias()
        scope = columns_of("t", one)
        if self.chance.random() < 0.4:
            made = self.chance.choice((f"unnest({one}.l)", f"unnest({one}.l)", f"unnest([{one}.a, {one}.b])"))
            text, columns = named([Field(made, INT), *self.some(scope, 1)])
            return Made(f"SELECT {text} FROM t AS {one}{self.where(scope, 0)}", columns)
        seen = [*scope, Field(f"{two}.e", INT), Field(f"{two}.e", INT)]
        text, columns = named(self.some(seen, 1))
        word = self.chance.choice((",", " CROSS JOIN", " LEFT JOIN"))
        listed = self.chance.choice((f"{one}.l", f"{one}.l", f"list_append({one}.l, {one}.a)", f"range({one}.b)"))
        on = " ON true" if "LEFT" in word else ""
        return Made(
            f"SELECT {text} FROM t AS {one}{word} UNNEST({listed}) AS {two}(e){on}{self.where(seen, 0)}", columns
        )

    def built(self, depth: int) -> Made:
        """Structs, lists and maps that are built, and taken apart again a level higher."""
        source, scope = self.source(0)
        alias = self.alias()
        number, text = self.two(scope, INT, 1)[0], self.expression(scope, TEXT, 1)
        key = self.field(scope, INT, number)
        if self.chance.random() < 0.5:
            inner = f"SELECT {key} AS c1, {{'p': {number}, 'q': {text}}} AS c2, [{key}, {number}] AS c3 FROM {source}"
            taken = [Field(f"{alias}.c2.p", INT), Field(f"{alias}.c2.q", TEXT), Field(f"list_sum({alias}.c3)", INT)]
        else:
            gathered = f"list({{'p': {number}, 'q': {text}}} ORDER BY {number}, {text})"
            inner = f"SELECT {key} AS c1, {gathered} AS c2, list({number} ORDER BY {number}) AS c3 FROM {source}"
            inner += f" GROUP BY {key}"
            taken = [Field(f"{alias}.c2[1].p", INT), Field(f"{alias}.c2[1].q", TEXT), Field(f"{alias}.c3", LIST)]
        seen = [Field(f"{alias}.c1", INT), *taken, Field(f"{alias}.c3", LIST)]
        if "list(" not in inner:
            seen.append(Field(f"{alias}.c2", STRUCT))
        out, columns = named([*self.chance.sample(taken, 2), *self.some(seen, 1)])
        return Made(f"SELECT {out} FROM ({inner}) AS {alias}{self.where(seen, 0)}", columns)


def generated(seed: int, number: int) -> str:
    """The query of a seed and a number, always the same; short ones come often."""
    made = Shapes(f"{seed}:{number}")
    return made.query(made.chance.choice((0, 1, 1, 1, 1, 1, 1, 2, 2, 3))).sql

"""The computation of texts: concatenation, quoting and the other functions that strings to execute are made with."""

import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence

from sqlglot import exp

from headwater.sql.branches import Path
from headwater.sql.dialects import MICROSOFT
from headwater.sql.texts import FIRST_HOLE, LONGEST, NULL, Node, Texts, Values, inlined, is_hole, reads, variable_name

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?\Z")
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_$]*\Z")
_SPECIFIER = re.compile(r"%(?:(\d+)\$)?(-?\d*)([A-Za-z%])")
_TEXTS = (exp.DType.TEXT, exp.DType.CHAR, exp.DType.NCHAR, exp.DType.VARCHAR, exp.DType.NVARCHAR, exp.DType.NAME)


class Evaluation:
    """The computation of one expression on one path of a script."""

    def __init__(
        self, texts: Texts, variables: Mapping[str, Node | None], bare: Container[str], path: Path, dialect: str
    ) -> None:
        self._texts = texts
        self._variables, self._bare = variables, bare
        self._path = path
        self._dialect = dialect

    def values(self, node: Node) -> Values:
        """The texts that an expression may give."""
        if isinstance(node, exp.Literal | exp.National | exp.RawString | exp.UnicodeString):
            return (str(node.this),)
        if isinstance(node, exp.ByteString) and not node.args.get("is_bytes"):  # PostgreSQL's E'…'
            return (str(node.this),)
        compute = next((_COMPUTED[base] for base in type(node).__mro__ if base in _COMPUTED), None)
        found = compute(self, node) if compute is not None else None
        return self._texts.bounded(found) if found is not None else (self._hole(node),)

    def _hole(self, node: Node) -> str:
        read = reads(self._variables, node)
        return self._texts.hole(node, inlined(self._variables, node, self._bare) if read else None)

    def joined(self, parts: Sequence[Node], between: str = "", *, ignores_null: bool = False) -> Values:
        """The parts one after another, in every combination of their alternatives."""
        result: Values = ("",)
        for number, part in enumerate(parts):
            values = self.values(part)
            if ignores_null:
                values = tuple("" if each == NULL else each for each in values)
            join = between if number else ""
            result = self._texts.bounded(one + join + other for one in result for other in values)
        return result

    # ------------------------------------------------------------------------------------------ functions

    def variable(self, node: Node) -> Values | None:
        if isinstance(node, exp.Column) and node.args.get("table") is not None:
            return None
        name = variable_name(node)
        if not self._texts.knows(name):
            return None
        values = self._texts.of(name, self._path)
        return tuple(self._hole(node) if _is_unknown(each) else each for each in values)

    def sum(self, node: Node) -> Values | None:
        """`+` joins texts in T-SQL; of numbers it is a sum, and that is not followed."""
        if self._dialect not in MICROSOFT:
            return None
        parts: list[Node] = []
        while isinstance(node, exp.Add):
            parts.append(node.expression)
            node = node.this
        parts.append(node)
        parts.reverse()
        if any(isinstance(part, exp.Literal) and not part.is_string for part in parts):
            return None
        values = self.joined(parts)
        return None if any(map(is_number, values)) else values

    def pipes(self, node: Node) -> Values:
        parts: list[Node] = []
        while isinstance(node, exp.DPipe):
            parts.append(node.expression)
            node = node.this
        return self.joined([node, *reversed(parts)])

    def concat(self, node: Node) -> Values:
        return self.joined(node.expressions, ignores_null=bool(node.args.get("coalesce")))

    def concat_ws(self, node: Node) -> Values | None:
        between = self.values(node.expressions[0])
        return self.joined(node.expressions[1:], between[0]) if len(between) == 1 else None

    def cast(self, node: Node) -> Values | None:
        kind = node.args.get("to") or (node.this if isinstance(node, exp.Convert) else None)
        inner = node.expression if isinstance(node, exp.Convert) else node.this
        if not isinstance(kind, exp.DataType) or kind.this not in _TEXTS or node.args.get("style") is not None:
            return None
        values = self.values(inner)
        sizes = [each.name for each in kind.expressions]
        longest = int(sizes[0]) if sizes and sizes[0].isdigit() else LONGEST
        return values if all(len(each) <= longest for each in values) else None

    def inner(self, node: Node) -> Values:
        return self.values(node.this)

    def to_char(self, node: Node) -> Values | None:
        return self.values(node.this) if node.args.get("format") is None else None

    def upper(self, node: Node) -> Values:
        return tuple(each.upper() for each in self.values(node.this))

    def lower(self, node: Node) -> Values:
        return tuple(each.lower() for each in self.values(node.this))

    def trim(self, node: Node) -> Values | None:
        if node.expression is not None:
            return None
        side = str(node.args.get("position") or "").upper()
        strip = str.lstrip if side == "LEADING" else str.rstrip if side == "TRAILING" else str.strip
        return tuple(strip(each, " ") for each in self.values(node.this))

    def coalesce(self, node: Node) -> Values:
        found: list[str] = []
        for part in (node.this, *node.expressions):
            values = self.values(part)
            found += [each for each in values if each != NULL]
            if not any(each == NULL or _is_unknown(each) for each in values):
                break
        return tuple(found) or (NULL,)

    def case(self, node: Node) -> Values:
        """The results of all branches, but for those whose condition is known to be false."""
        operand = node.this
        found: list[str] = []
        for each in node.args.get("ifs") or ():
            holds = self.truth(each.this) if operand is None else None
            found += self.values(each.args["true"]) if holds is not False else ()
            if holds:
                return tuple(found)
        default = node.args.get("default")
        return (*found, *(self.values(default) if default is not None else (NULL,)))

    def choice(self, node: Node) -> Values:
        holds, other = self.truth(node.this), node.args.get("false")
        found = self.values(node.args["true"]) if holds is not False else ()
        if holds:
            return found
        return (*found, *(self.values(other) if other is not None else (NULL,)))

    def truth(self, node: Node) -> bool | None:
        """Return whether a comparison of texts holds; None when that is not known."""
        if isinstance(node, exp.Paren):
            return self.truth(node.this)
        if not isinstance(node, exp.EQ | exp.NEQ):
            return None
        one, other = self.values(node.this), self.values(node.expression)
        if len(one) != 1 or len(other) != 1 or _is_unsure(one[0]) or _is_unsure(other[0]):
            return None
        if one[0] != other[0] and one[0].strip().lower() == other[0].strip().lower():
            return None  # whether case and blanks count is a matter of the collation
        return (one[0] == other[0]) is isinstance(node, exp.EQ)

    def replace(self, node: Node) -> Values | None:
        wanted = self.values(node.expression)
        instead = self.values(node.args["replacement"]) if node.args.get("replacement") is not None else ("",)
        if len(wanted) != 1 or not wanted[0] or any(map(_is_unsure, wanted)):
            return None
        texts = self.values(node.this)
        if self._dialect in MICROSOFT and any(
            each.lower().count(wanted[0].lower()) != each.count(wanted[0]) for each in texts
        ):
            return None  # whether case counts is a matter of the collation
        return tuple(text.replace(wanted[0], other) for text in texts for other in instead)

    def character(self, node: Node) -> Values | None:
        numbers = [each.name for each in node.expressions]
        if not all(each.isdigit() and int(each) < FIRST_HOLE for each in numbers):
            return None
        return ("".join(chr(int(each)) for each in numbers),)

    def null(self, node: Node) -> Values:
        return (NULL,)

    def repeat(self, node: Node) -> Values | None:
        times = node.args.get("times")
        if not isinstance(times, exp.Literal) or not times.name.isdigit() or int(times.name) > 1000:
            return None
        return tuple(each * int(times.name) for each in self.values(node.this))

    def space(self, node: Node) -> Values | None:
        return (" " * min(int(node.this.name), 1000),) if node.this.name.isdigit() else None

    def formatted(self, node: Node) -> Values | None:
        """format('… %I …', x): PostgreSQL's, and `%s` of GoogleSQL."""
        forms = self.values(node.this)
        if len(forms) != 1:
            return None
        parts: list[Values] = []
        at, number = 0, 0
        for found in _SPECIFIER.finditer(forms[0]):
            parts.append((forms[0][at : found.start()],))
            at = found.end()
            if found[3] == "%":
                parts.append(("%",))
                continue
            number = int(found[1]) if found[1] else number + 1
            if found[2] or not 0 < number <= len(node.expressions) or found[3] not in "sIL":
                return None
            parts.append(tuple(_QUOTES[found[3]](each) for each in self.values(node.expressions[number - 1])))
        parts.append((forms[0][at:],))
        result: Values = ("",)
        for values in parts:
            result = self._texts.bounded(one + other for one, other in itertools.product(result, values))
        return result

    def named(self, node: Node) -> Values | None:
        """Functions that the parser has no class for."""
        name, arguments = node.name.lower(), node.expressions
        if name in ("nchar", "char", "chr", "unichar"):
            return self.character(node)
        quote = _QUOTING.get(name)
        if quote is None or not arguments or (name == "quotename" and len(arguments) > 1):
            return None
        return tuple(quote(each) for each in self.values(arguments[0]))

    def member(self, node: Node) -> Values | None:
        """DBMS_ASSERT.SIMPLE_SQL_NAME(x) and its kind give their argument."""
        inner = node.expression
        if node.this.name.upper() != "DBMS_ASSERT" or not isinstance(inner, exp.Anonymous) or not inner.expressions:
            return None
        values = self.values(inner.expressions[0])
        return tuple(map(_quote_literal, values)) if inner.name.upper() == "ENQUOTE_LITERAL" else values


def _quote_ident(text: str) -> str:
    return text if text == NULL or _PLAIN_NAME.match(text) else '"' + text.replace('"', '""') + '"'


def _quote_literal(text: str) -> str:
    return text if text == NULL else "'" + text.replace("'", "''") + "'"


def _quote_nullable(text: str) -> str:
    return "NULL" if text == NULL else _quote_literal(text)


_QUOTES: dict[str, Callable[[str], str]] = {
    "s": lambda text: "" if text == NULL else text,
    "I": _quote_ident,
    "L": _quote_nullable,
}
_QUOTING: dict[str, Callable[[str], str]] = {
    "quotename": lambda text: text if text == NULL else "[" + text.replace("]", "]]") + "]",
    "quote_ident": _quote_ident,
    "quote_literal": _quote_literal,
    "quote_nullable": _quote_nullable,
}


def is_number(text: str) -> bool:
    """Return whether a text is a number, so that `+` adds to it."""
    return _NUMBER.match(text) is not None


def _is_unsure(text: str) -> bool:
    return NULL in text or any(map(is_hole, text))


def _is_unknown(text: str) -> bool:
    """Return whether nothing at all is known of a text."""
    return len(text) == 1 and is_hole(text)


_COMPUTED: dict[type, Callable[[Evaluation, Node], Values | None]] = {
    exp.Parameter: Evaluation.variable,
    exp.Placeholder: Evaluation.variable,
    exp.Column: Evaluation.variable,
    exp.Var: Evaluation.variable,
    exp.Identifier: Evaluation.variable,
    exp.Add: Evaluation.sum,
    exp.DPipe: Evaluation.pipes,
    exp.Concat: Evaluation.concat,
    exp.ConcatWs: Evaluation.concat_ws,
    exp.Cast: Evaluation.cast,
    exp.Convert: Evaluation.cast,
    exp.Paren: Evaluation.inner,
    exp.Alias: Evaluation.inner,
    exp.Collate: Evaluation.inner,
    exp.ToChar: Evaluation.to_char,
    exp.Upper: Evaluation.upper,
    exp.Lower: Evaluation.lower,
    exp.Trim: Evaluation.trim,
    exp.Coalesce: Evaluation.coalesce,
    exp.Case: Evaluation.case,
    exp.If: Evaluation.choice,
    exp.Replace: Evaluation.replace,
    exp.Chr: Evaluation.character,
    exp.Null: Evaluation.null,
    exp.Repeat: Evaluation.repeat,
    exp.Space: Evaluation.space,
    exp.Format: Evaluation.formatted,
    exp.Anonymous: Evaluation.named,
    exp.Dot: Evaluation.member,
}

"""Data types: those of the lake, and a carrier for types of other engines.
Text ↔ value is here; Arrow, Spark and ZetaSQL types are mapped where those libraries are used."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from headwater.errors import SchemaError
from headwater.text import suggest

_WORD = re.compile(r"[^\W\d]\w*")  # a name that `parse_type` reads without quotes


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    """An exact number of `precision` digits, `scale` of them after the point."""

    precision: int = 38
    scale: int = 0

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    """A list of values of one type."""

    element: "DataType"

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type to values of another."""

    key: "DataType"
    value: "DataType"

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a struct type."""

    name: str
    type: "DataType"

    def __str__(self) -> str:
        name = self.name if _WORD.fullmatch(self.name) else "`" + self.name.replace("`", "``") + "`"
        return f"{name}: {self.type}"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named values of various types."""

    members: tuple[Member, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(map(str, self.members))}>"


@dataclass(frozen=True, slots=True)
class Foreign:
    """A type of some other engine, carried as its text and never interpreted (GEOGRAPHY, VARIANT, …)."""

    text: str

    def __str__(self) -> str:
        return self.text


DataType: TypeAlias = Primitive | Decimal | Array | Map | Struct | Foreign

BOOLEAN = Primitive("BOOLEAN")
TINYINT = Primitive("TINYINT")
SMALLINT = Primitive("SMALLINT")
INT = Primitive("INT")
BIGINT = Primitive("BIGINT")
FLOAT = Primitive("FLOAT")
DOUBLE = Primitive("DOUBLE")
STRING = Primitive("STRING")
BINARY = Primitive("BINARY")
DATE = Primitive("DATE")
TIMESTAMP = Primitive("TIMESTAMP")  # a wall-clock time without a zone, in microseconds
TIMESTAMP_LTZ = Primitive("TIMESTAMP_LTZ")  # a point in time, in microseconds


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """A primitive type in every engine. `arrow` is a function of pyarrow with its arguments, `spark` a PySpark class,
    `width` the bytes of a value in a key (None: any number), `digits` those of the largest integer."""

    type: Primitive
    arrow: tuple[str, ...]
    duckdb: str
    spark: str
    paimon: str
    google: str
    width: int | None = None
    digits: int | None = None
    aliases: tuple[str, ...] = ()


TYPES = {
    facts.type: facts
    for facts in (
        TypeFacts(BOOLEAN, ("bool_",), "BOOLEAN", "BooleanType", "BOOLEAN", "BOOL", 1, aliases=("BOOL",)),
        TypeFacts(TINYINT, ("int8",), "TINYINT", "ByteType", "TINYINT", "INT64", 1, 3, ("BYTE",)),
        TypeFacts(SMALLINT, ("int16",), "SMALLINT", "ShortType", "SMALLINT", "INT64", 2, 5, ("SHORT",)),
        TypeFacts(INT, ("int32",), "INT", "IntegerType", "INT", "INT64", 4, 10, ("INTEGER", "INT32")),
        TypeFacts(BIGINT, ("int64",), "BIGINT", "LongType", "BIGINT", "INT64", 8, 19, ("LONG", "INT64")),
        TypeFacts(FLOAT, ("float32",), "FLOAT", "FloatType", "FLOAT", "FLOAT64", 4, aliases=("REAL", "FLOAT32")),
        TypeFacts(
            *(DOUBLE, ("float64",), "DOUBLE", "DoubleType", "DOUBLE", "FLOAT64", 8),
            aliases=("FLOAT64", "DOUBLE PRECISION"),
        ),
        TypeFacts(
            *(STRING, ("string",), "VARCHAR", "StringType", "STRING", "STRING"),
            aliases=("TEXT", "VARCHAR", "CHAR"),
        ),
        TypeFacts(BINARY, ("binary",), "BLOB", "BinaryType", "BYTES", "BYTES", aliases=("BYTES", "VARBINARY")),
        TypeFacts(DATE, ("date32",), "DATE", "DateType", "DATE", "DATE", 4),
        TypeFacts(
            *(TIMESTAMP, ("timestamp", "us"), "TIMESTAMP", "TimestampNTZType", "TIMESTAMP(6)", "DATETIME", 8),
            aliases=("TIMESTAMP_NTZ", "DATETIME"),
        ),
        TypeFacts(
            *(TIMESTAMP_LTZ, ("timestamp", "us", "UTC"), "TIMESTAMP WITH TIME ZONE", "TimestampType"),
            *("TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP", 8),
            aliases=("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"),
        ),
    )
}
"""The one table of primitive types: what all engines call them. A new type is a line here, and its codec."""

PRIMITIVES = {type.name: type for type in TYPES}
INTEGERS = tuple(type for type, facts in TYPES.items() if facts.digits is not None)
NUMBERS = (*INTEGERS, FLOAT, DOUBLE)
_ALIASES = {alias: type for type, facts in TYPES.items() for alias in facts.aliases}

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|\"[^\"]*\"|[\w$]+|[<>(),:])")
_MAX_DEPTH = 64


def parse_type(text: str, *, foreign: bool = False) -> DataType:
    """Read a type as SQL writes it; with `foreign`, carry what we do not know instead of refusing it.

    >>> str(parse_type("struct<a int64, tags array<varchar(20)>>"))
    'STRUCT<a: BIGINT, tags: ARRAY<STRING>>'
    >>> parse_type("geography", foreign=True)
    Foreign(text='GEOGRAPHY')

    RAISES: SchemaError when the text is not a type.
    """
    return _parsed(text, foreign)


@lru_cache(1024)  # a wide table says one type ten thousand times
def _parsed(text: str, foreign: bool) -> DataType:
    return _Parser(text, foreign).whole()


class _Parser:
    """Recursive descent over the tokens of one type."""

    def __init__(self, text: str, foreign: bool) -> None:
        self.text = text
        self.foreign = foreign
        tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error(f"`{text[at]}` has no meaning here")
            tokens.append(match.group(1))
            at = match.end()
        self.tokens = tokens
        self.at = 0

    def error(self, detail: str, hint: str | None = None) -> SchemaError:
        return SchemaError(f"`{self.text}` is not a type: {detail}", hint=hint)

    def whole(self) -> DataType:
        result = self.type(0)
        if self.at < len(self.tokens):
            raise self.error(f"`{self.tokens[self.at]}` is too much")
        return result

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted is not None and token != wanted):
            raise self.error(
                f"expected {f'`{wanted}`' if wanted else 'a type'} {f'before `{token}`' if token else 'at the end'}"
            )
        self.at += 1
        return token

    def type(self, depth: int) -> DataType:
        if depth > _MAX_DEPTH:
            raise self.error(f"nested deeper than {_MAX_DEPTH} levels")
        name = self.take().upper()
        if name in ("ARRAY", "LIST") and self.peek() in ("<", "("):
            return Array(self.bracketed(depth, 1)[0])
        if name == "MAP" and self.peek() in ("<", "("):
            key, value = self.bracketed(depth, 2)
            return Map(key, value)
        if name in ("STRUCT", "ROW") and self.peek() in ("<", "("):
            return self.struct(depth)
        while self.peek().isalpha() and self.peek().upper() in ("PRECISION", "WITH", "WITHOUT", "TIME", "ZONE"):
            name += " " + self.take().upper()
        return self.plain(name.removesuffix(" WITHOUT TIME ZONE"), self.parameters())

    def bracketed(self, depth: int, count: int) -> list[DataType]:
        close = {"<": ">", "(": ")"}[self.take()]
        types = [self.type(depth + 1)]
        for _ in range(count - 1):
            self.take(",")
            types.append(self.type(depth + 1))
        self.take(close)
        return types

    def struct(self, depth: int) -> Struct:
        close = {"<": ">", "(": ")"}[self.take()]
        members: list[Member] = []
        while self.peek() != close:
            if members:
                self.take(",")
            name = self.take()
            if self.peek() == ":":
                self.take()
            name = name[1:-1].replace("``", "`") if name[0] in '`"' else name
            members.append(Member(name, self.type(depth + 1)))
        self.take(close)
        return Struct(tuple(members))

    def parameters(self) -> list[str]:
        if self.peek() != "(":
            return []
        self.take("(")
        values = [self.take()]
        while self.peek() == ",":
            self.take()
            values.append(self.take())
        self.take(")")
        return values

    def plain(self, name: str, parameters: list[str]) -> DataType:
        if name in ("DECIMAL", "NUMERIC", "DEC"):
            return self.decimal(parameters)
        known = PRIMITIVES.get(name) or _ALIASES.get(name)
        if known is not None:
            return known
        if self.foreign:
            return Foreign(name + (f"({', '.join(parameters)})" if parameters else ""))
        names = [*PRIMITIVES, *_ALIASES, "DECIMAL", "ARRAY", "MAP", "STRUCT"]
        raise self.error("no such type", suggest(name, names, f"types: {', '.join(PRIMITIVES)}", "{}"))

    def decimal(self, parameters: list[str]) -> Decimal:
        if not all(value.isdigit() for value in parameters) or len(parameters) > 2:
            raise self.error("DECIMAL takes a precision and a scale")
        result = Decimal(*map(int, parameters)) if parameters else Decimal(38, 0)
        if not 1 <= result.precision <= 38 or result.scale > result.precision:
            raise self.error("precision goes from 1 to 38, scale from 0 to the precision")
        return result


def google_type(type: DataType) -> str:
    """A type as GoogleSQL spells it; a map, which it does not have, is an array of pairs.

    >>> google_type(Array(Primitive("DOUBLE")))
    'ARRAY<FLOAT64>'
    """
    match type:
        case Primitive(name):
            facts = TYPES.get(type)
            return facts.google if facts is not None else name
        case Decimal(precision, scale):
            return "NUMERIC" if precision - scale <= 29 and scale <= 9 else "BIGNUMERIC"
        case Array(element):
            return f"ARRAY<{google_type(element)}>"
        case Map(key, value):
            return f"ARRAY<STRUCT<key {google_type(key)}, value {google_type(value)}>>"
        case Struct(members):
            return f"STRUCT<{', '.join(f'`{member.name}` {google_type(member.type)}' for member in members)}>"
        case _:
            return str(type)

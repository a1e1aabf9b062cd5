"""BigQuery's types: text ↔ ZetaSQL's TypeProto. Types of other engines are read too, as the nearest type that
GoogleSQL has: what matters for lineage is that names resolve, not how many bits an integer has."""

import re
from functools import lru_cache
from typing import Any

from headwater.errors import SchemaError
from headwater.zetasql.messages import types

_NAMES = {
    types.TYPE_INT64: "INT64 INT INTEGER BIGINT SMALLINT TINYINT BYTEINT LONG SHORT BYTE INT32 INT16 INT8 UINT64",
    types.TYPE_DOUBLE: "FLOAT64 FLOAT DOUBLE REAL DOUBLE_PRECISION",
    types.TYPE_FLOAT: "FLOAT32",
    types.TYPE_BOOL: "BOOL BOOLEAN",
    types.TYPE_STRING: "STRING VARCHAR CHAR TEXT NVARCHAR CHARACTER",
    types.TYPE_BYTES: "BYTES BINARY VARBINARY",
    types.TYPE_DATE: "DATE",
    types.TYPE_TIMESTAMP: "TIMESTAMP TIMESTAMP_LTZ TIMESTAMPTZ",
    types.TYPE_DATETIME: "DATETIME TIMESTAMP_NTZ",
    types.TYPE_TIME: "TIME",
    types.TYPE_NUMERIC: "NUMERIC DECIMAL DEC",
    types.TYPE_BIGNUMERIC: "BIGNUMERIC BIGDECIMAL",
    types.TYPE_GEOGRAPHY: "GEOGRAPHY",
    types.TYPE_JSON: "JSON VARIANT",
    types.TYPE_INTERVAL: "INTERVAL",
    types.TYPE_UUID: "UUID",
    types.TYPE_TOKENLIST: "TOKENLIST",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_SPELLING = {kind: names.split()[0] for kind, names in _NAMES.items()}
_TOKEN = re.compile(r"\s*(`[^`]*`|\"[^\"]*\"|[\w$]+|[<>(),:\[\]])")
_MAX_DEPTH = 15  # as deep as BigQuery nests records


@lru_cache(4096)
def type_bytes(text: str | None) -> bytes:
    """The serialized TypeProto of a type; a column whose type is not known is taken for a STRING.
    RAISES: SchemaError when the text is not a type."""
    return bytes(parse_type(text or "STRING").SerializeToString())


def parse_type(text: str) -> Any:
    """Read a type as BigQuery or another engine writes it.

    >>> type_text(parse_type("ARRAY<STRUCT<sku STRING(20), price NUMERIC(10, 2)>>"))
    'ARRAY<STRUCT<sku STRING, price NUMERIC>>'
    >>> type_text(parse_type("map<varchar, bigint>"))
    'ARRAY<STRUCT<key STRING, value INT64>>'

    RAISES: SchemaError when the text is not a type.
    """
    return _Reader(text).whole()


def type_text(proto: Any) -> str:
    """Write a type as BigQuery does."""
    kind = proto.type_kind
    if kind == types.TYPE_ARRAY:
        return f"ARRAY<{type_text(proto.array_type.element_type)}>"
    if kind == types.TYPE_RANGE:
        return f"RANGE<{type_text(proto.range_type.element_type)}>"
    if kind == types.TYPE_STRUCT:
        fields = (f"{_quoted(field.field_name)} {type_text(field.field_type)}" for field in proto.struct_type.field)
        return f"STRUCT<{', '.join(field.strip() for field in fields)}>"
    return _SPELLING.get(kind) or types.TypeKind.Name(kind).removeprefix("TYPE_")


def _quoted(name: str) -> str:
    return name if not name or re.fullmatch(r"[A-Za-z_]\w*", name) else f"`{name}`"


class _Reader:
    """Recursive descent over the tokens of one type."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _TOKEN.findall(text)
        if "".join(self.tokens) != re.sub(r"\s+", "", re.sub(r"`[^`]*`|\"[^\"]*\"", lambda m: m.group(), text)):
            self.tokens = self.tokens or []
        self.at = 0

    def whole(self) -> Any:
        result = self.type(0)
        self.skip_words()
        if self.at < len(self.tokens):
            raise self.error()
        return result

    def error(self) -> SchemaError:
        return SchemaError(
            f"`{self.text}` is not a type", hint="types are written as BigQuery does: ARRAY<STRUCT<a INT64>>"
        )

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted is not None and token != wanted):
            raise self.error()
        self.at += 1
        return token

    def type(self, depth: int) -> Any:
        if depth > 2 * _MAX_DEPTH:
            raise self.error()
        proto = types.TypeProto()
        name = self.take().upper()
        if name in ("ARRAY", "LIST"):
            self.bracketed(proto, types.TYPE_ARRAY, "array_type", depth)
        elif name == "RANGE":
            self.bracketed(proto, types.TYPE_RANGE, "range_type", depth)
        elif name in ("STRUCT", "RECORD", "ROW"):
            self.struct(proto, depth)
        elif name == "MAP":
            self.map(proto, depth)
        else:
            proto.type_kind = self.plain(name)
        if self.peek() == "[":  # INT[]
            self.take()
            self.take("]")
            array = types.TypeProto(type_kind=types.TYPE_ARRAY)
            array.array_type.element_type.CopyFrom(proto)
            return array
        return proto

    def plain(self, name: str) -> int:
        if name == "DOUBLE" and self.peek().upper() == "PRECISION":
            self.take()
        if name in ("TIMESTAMP", "TIME") and self.peek().upper() in ("WITH", "WITHOUT"):
            without = self.take().upper() == "WITHOUT"
            self.at += 2
            name = "DATETIME" if without and name == "TIMESTAMP" else name
        if self.peek() == "(":
            while self.take() != ")":
                pass
        kind: int | None = _KINDS.get(name)
        if kind is None:
            raise self.error()
        return kind

    def bracketed(self, proto: Any, kind: int, part: str, depth: int) -> None:
        proto.type_kind = kind
        self.take("<")
        getattr(proto, part).element_type.CopyFrom(self.type(depth + 1))
        self.skip_words()
        self.take(">")

    def struct(self, proto: Any, depth: int) -> None:
        proto.type_kind = types.TYPE_STRUCT
        proto.struct_type.SetInParent()  # a struct without fields is one, too
        close = {"<": ">", "(": ")"}.get(self.take(), "")
        while self.peek() != close:
            if proto.struct_type.field:
                self.take(",")
            field = proto.struct_type.field.add()
            following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
            if following not in (",", close, "<", "("):
                field.field_name = self.take().strip('`"')
                if self.peek() == ":":
                    self.take()
            field.field_type.CopyFrom(self.type(depth + 1))
            self.skip_words()
        self.take(close)

    def map(self, proto: Any, depth: int) -> None:
        proto.type_kind = types.TYPE_ARRAY
        entry = proto.array_type.element_type
        entry.type_kind = types.TYPE_STRUCT
        for name, mark in (("key", "<"), ("value", ",")):
            self.take(mark)
            field = entry.struct_type.field.add(field_name=name)
            field.field_type.CopyFrom(self.type(depth + 1))
        self.take(">")

    def skip_words(self) -> None:
        """NOT NULL, OPTIONS (…) and the like inside a struct."""
        while self.peek() and self.peek() not in "<>(),:[]":
            self.at += 1
            if self.peek() == "(":
                while self.take() != ")":
                    pass

"""The values that dbt's functions give to templates: relations, columns, results of queries, and a few modules."""

import datetime
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

from sqlglot import exp

from headwater.sql.dialects import sqlglot_dialect

_WORD = re.compile(r"[A-Za-z_][\w$]*")
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """all and any as asc between by case cast check column constraint create cross current_date current_time
        current_timestamp default delete desc distinct drop else end except exists false fetch for foreign from full
        grant group having in inner insert intersect into is join left like limit natural not null offset on or order
        outer primary qualify references right row rows select set table then to true union unique update user using
        values view when where window with""",
    )
)
START = datetime.datetime(datetime.date.today().year, 1, 1, tzinfo=datetime.UTC)
"""The time of a run. It is the same all the year, so that what has not changed renders as it did."""


@cache
def written(name: str, dialect: str) -> str:
    """A name as SQL has it: quoted unless it is a plain word. Databases differ in the case of quoted names."""
    quoted = not _WORD.fullmatch(name) or name.lower() in _RESERVED
    text: str = exp.to_identifier(name, quoted=quoted).sql(dialect=sqlglot_dialect(dialect))
    return text


@dataclass(frozen=True)
class Relation:
    """A table, a view or a schema by its parts."""

    database: str | None
    schema: str | None
    identifier: str | None
    dialect: str = ""
    type: str | None = "table"
    origin: Any = field(default=None, compare=False, repr=False)  # the node or source that it is of
    is_cte = False

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.database, self.schema, self.identifier) if part)

    def __str__(self) -> str:
        return ".".join(written(part, self.dialect) for part in self.parts)

    def __add__(self, other: object) -> str:
        return f"{self}{other}"

    def __radd__(self, other: object) -> str:
        return f"{other}{self}"

    def render(self) -> str:
        return str(self)

    def get(self, name: str, default: Any = None) -> Any:
        """A field: packages know a relation by its `metadata`."""
        return {"type": "Relation"} if name == "metadata" else getattr(self, name, default)

    @property
    def name(self) -> str | None:
        return self.identifier

    table = alias = name
    is_table = property(lambda self: self.type == "table")
    is_view = property(lambda self: self.type == "view")

    def include(self, database: bool = True, schema: bool = True, identifier: bool = True) -> "Relation":
        """The same relation, of which only some parts are written."""
        return replace(
            self,
            database=self.database if database else None,
            schema=self.schema if schema else None,
            identifier=self.identifier if identifier else None,
        )

    def quote(self, **parts: bool) -> "Relation":
        return self

    def without_identifier(self) -> "Relation":
        return self.include(identifier=False)

    def replace_path(self, **parts: Any) -> "Relation":
        return replace(self, **parts)

    def incorporate(self, path: Mapping[str, Any] | None = None, **parts: Any) -> "Relation":
        known = {name: value for name, value in parts.items() if name in ("type",)}
        return replace(self, **{**(path or {}), **known})


Mapping.register(Relation)


def _names_type(*words: str) -> Callable[["DbtColumn"], bool]:
    return lambda column: any(word in column.data_type.lower() for word in words)


@dataclass(frozen=True)
class DbtColumn:
    """A column of a relation."""

    name: str
    data_type: str
    dialect: str = ""

    column = property(lambda self: self.name)
    dtype = property(lambda self: self.data_type)
    quoted = property(lambda self: written(self.name, self.dialect))

    is_string = _names_type("char", "text", "string")
    is_number = _names_type("numeric", "decimal", "number", "int", "float", "double", "real")
    is_numeric = _names_type("numeric", "decimal", "number")
    is_integer = _names_type("int")
    is_float = _names_type("float", "double", "real")

    def string_size(self) -> int:
        return 256

    char_size = numeric_precision = numeric_scale = None


class Nothing:
    """The answer of a database that is not there: it has no rows, and a value of it is NULL."""

    def __getattr__(self, name: str) -> "Nothing":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def _same(self, *args: object, **kwargs: object) -> "Nothing":
        return self

    __getitem__ = __call__ = _same

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    __int__ = __len__

    def __str__(self) -> str:
        return "NULL"

    def __float__(self) -> float:
        return 0.0

    def _never(self, *other: object) -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _never


class _Datetime(datetime.datetime):
    """A datetime whose clock stands still."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Datetime":
        return cls(START.year, 1, 1, tzinfo=tz)

    today = utcnow = now


class _Date(datetime.date):
    """A date whose clock stands still."""

    @classmethod
    def today(cls) -> "_Date":
        return cls(START.year, 1, 1)


def _named_of(module: Any, *names: str) -> SimpleNamespace:
    return SimpleNamespace(**{name: getattr(module, name) for name in names})


MODULES = SimpleNamespace(
    datetime=SimpleNamespace(
        datetime=_Datetime,
        date=_Date,
        time=datetime.time,
        timedelta=datetime.timedelta,
        timezone=datetime.timezone,
        tzinfo=datetime.tzinfo,
    ),
    pytz=SimpleNamespace(timezone=lambda name: ZoneInfo(str(name)), utc=datetime.UTC, UTC=datetime.UTC),
    re=_named_of(
        re, "match", "fullmatch", "search", "sub", "findall", "split", "compile", "escape", "IGNORECASE", "I"
    ),
    itertools=_named_of(itertools, "chain", "zip_longest", "islice", "groupby", "accumulate", "product"),
)
"""Of the modules that dbt lends to templates, what reaches no file and comes to an end."""

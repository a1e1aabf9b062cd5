"""Names of tables and columns: parts, quoting, and the case rules of each dialect."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import msgspec

from headwater.errors import InputError

LINEAGE_DATABASE = "lineage"
"""The database of the tables that lineage is kept in."""


class TableName(msgspec.Struct, frozen=True, gc=False):
    """A table's name as its parts, outermost first: (catalog, schema, table), fewer, or more.

    A path or URI that stands for a table (`s3://bucket/x`) is a name of one part.

    >>> TableName.of("shop", "orders").schema
    'shop'
    """

    parts: tuple[str, ...]

    @classmethod
    def of(cls, *parts: str) -> "TableName":
        return cls(parts)

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def schema(self) -> str | None:
        return self.parts[-2] if len(self.parts) > 1 else None

    @property
    def catalog(self) -> str | None:
        return ".".join(self.parts[:-2]) if len(self.parts) > 2 else None

    def __str__(self) -> str:
        return ".".join(self.parts)


_FILE = re.compile(
    r"\.(?:parquet|csv|tsv|json|jsonl|ndjson|avro|orc|txt|arrow|feather|xlsx)(?:\.(?:gz|zst|bz2|snappy))?\Z", re.I
)


def is_path(name: str) -> bool:
    """Return whether a name of one part is that of a file, a folder or a stage rather than a table's.

    >>> [is_path(name) for name in ("s3://b/x", "./x", "a/b", "t.parquet", "@stage", "t", "odd.name")]
    [True, True, True, True, True, False, False]
    """
    return "/" in name or name.startswith("@") or ("." in name and _FILE.search(name) is not None)


def renamed(table: TableName, to: TableName) -> TableName:
    """The full name of a table that is renamed: a new name with fewer parts stays in the schema of the old one.

    >>> str(renamed(TableName.of("shop", "t_new"), TableName.of("t")))
    'shop.t'
    """
    missing = len(table.parts) - len(to.parts)
    return TableName(table.parts[:missing] + to.parts) if missing > 0 else to


class CaseFolding(Enum):
    """The treatment of an identifier's case when an engine looks it up."""

    LOWER = "lower"  # unquoted names are folded to lower case; quoted ones are exact
    UPPER = "upper"  # unquoted names are folded to upper case; quoted ones are exact
    INSENSITIVE = "insensitive"  # never distinguished, quoted or not
    EXACT = "exact"  # always distinguished


@dataclass(frozen=True, slots=True)
class CaseRule:
    """The rule by which one dialect compares table and column names."""

    tables: CaseFolding
    columns: CaseFolding


_FOLDS_LOWER = CaseRule(CaseFolding.LOWER, CaseFolding.LOWER)
_FOLDS_UPPER = CaseRule(CaseFolding.UPPER, CaseFolding.UPPER)
_INSENSITIVE = CaseRule(CaseFolding.INSENSITIVE, CaseFolding.INSENSITIVE)
_EXACT = CaseRule(CaseFolding.EXACT, CaseFolding.EXACT)
_EXACT_TABLES = CaseRule(CaseFolding.EXACT, CaseFolding.INSENSITIVE)

_CASE_RULES = {
    "postgres": _FOLDS_LOWER,
    "materialize": _FOLDS_LOWER,
    "risingwave": _FOLDS_LOWER,
    "snowflake": _FOLDS_UPPER,
    "oracle": _FOLDS_UPPER,
    "exasol": _FOLDS_UPPER,
    "bigquery": _EXACT_TABLES,
    "spanner": _INSENSITIVE,
    "mysql": _EXACT_TABLES,
    "doris": _EXACT_TABLES,
    "starrocks": _EXACT_TABLES,
    "clickhouse": _EXACT,
}


def case_rule(dialect: str | None) -> CaseRule:
    """The case rule of a dialect; engines that ignore case, and unknown ones, do not distinguish it."""
    return _CASE_RULES.get(dialect or "", _INSENSITIVE)


FOLDS: dict[CaseFolding, tuple[Callable[[str], str], Callable[[str], str]]] = {
    CaseFolding.INSENSITIVE: (str.lower, str.lower),
    CaseFolding.EXACT: (str, str),
    CaseFolding.LOWER: (str.lower, str),
    CaseFolding.UPPER: (str.upper, str),
}
"""How a name is folded, and how one in quotes is."""


def fold(name: str, case: CaseFolding, *, quoted: bool = False) -> str:
    """The form of an identifier under which two spellings of one thing are equal.

    >>> upper = CaseFolding.UPPER
    >>> fold("Id", upper), fold("Id", upper, quoted=True), fold("Id", CaseFolding.INSENSITIVE, quoted=True)
    ('ID', 'Id', 'id')
    """
    return FOLDS[case][quoted](name)


_PART = re.compile(r'\s*(?:`([^`]*)`|"((?:[^"]|"")*)"|\[([^\]]*)\]|([^.`"\[\s]+))\s*(?:(\.)|$)')


def parse_parts(text: str) -> tuple[str, ...]:
    """Split a dotted name into its parts, honouring the quotes of any dialect.

    >>> parse_parts('shop."odd.name".[x]'), parse_parts("`p-1.ds.t`")
    (('shop', 'odd.name', 'x'), ('p-1.ds.t',))

    RAISES: InputError when the text is not a name.
    """
    parts, at = [], 0
    while True:
        match = _PART.match(text, at)
        if match is None:
            raise InputError(f"`{text}` is not a name", hint="write schema.table, quoting parts that hold a dot")
        parts.append(next(group for group in match.groups()[:4] if group is not None).replace('""', '"'))
        at = match.end()
        if match.group(5) is None:
            return tuple(parts)


def parse_table_name(text: str) -> TableName:
    """Parse `catalog.schema.table`, quoted or not; a URI stays whole.

    >>> str(parse_table_name("shop.orders")), len(parse_table_name("s3://b/x.csv").parts)
    ('shop.orders', 1)
    """
    return TableName((text,)) if "://" in text else TableName(parse_parts(text))

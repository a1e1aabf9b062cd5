"""Scripts cut into units: the stretches of text that are analysed on their own.

A unit is one statement where its script is plain: statements of the usual kinds, one after another. Where statements
share more than the schema (variables, functions, blocks, a template), the unit is the whole script. Cutting looks at
the text alone, quickly; should a unit turn out to be other than one statement, its script becomes one unit.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from headwater.analysis.template import Rendered, is_template
from headwater.lineage.slices import digest


@dataclass(frozen=True, slots=True)
class Script:
    """A text that is harvested: a file, an entry of a query log, a model."""

    name: str
    text: str
    dialect: str | None
    root: str  # what was named on the command line
    makes: str | None = None  # the table that its last query makes, as SQL names it
    is_model: bool = False  # one query and nothing else, which makes a view
    namespace: tuple[str | None, str | None] = (None, None)  # catalog and schema of names that have none
    user: str | None = None
    time: datetime | None = None
    rendered: Rendered | None = None  # how the text was made of a template, if it was
    reads: tuple[str, ...] | None = None  # the tables it reads, where somebody knows them
    observed_reads: tuple[str, ...] = ()  # the tables that the warehouse says were read, from a log
    observed_writes: tuple[str, ...] = ()
    is_rough: bool = False  # the text stands for something that cannot be read: of it only the tables count


@dataclass(frozen=True, slots=True)
class Shift:
    """From places in a unit's text to places in its script."""

    start: int = 0
    line: int = 0
    column: int = 0  # on the first line
    at: int = 0  # where in the unit's text there is something that the script does not have …
    at_line: int = 1
    size: int = 0  # … and how long it is; there is no line break in it

    def place(self, position: int) -> int:
        """A position in the script."""
        inserted = min(self.size, max(0, position - self.at))
        return max(0, position - inserted + self.start)


@dataclass(frozen=True, slots=True)
class Prelude:
    """A text that defines functions, and what short names in it are short for."""

    text: str
    namespace: tuple[str | None, str | None] = (None, None)
    level: int = 0  # greater than those of the texts whose functions it calls

    @property
    def names(self) -> frozenset[str]:
        """The names of the functions that it defines."""
        return frozenset(routine_names(self.text))


@dataclass(frozen=True)
class Unit:
    """A stretch of a script that is analysed on its own."""

    script: Script
    number: int  # of its first statement in the script
    text: str
    shift: Shift = field(default_factory=Shift)
    whole: bool = True
    prelude: tuple[Prelude, ...] = ()  # texts before it that define functions it calls, or that those call
    is_only: bool = True  # no other unit of the script is a query
    defines: Prelude | None = None  # the functions that it defines itself

    @property
    def id(self) -> str:
        return f"{self.script.name}#{self.number}"

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the text, in lower case: the tables it names are among them."""
        return frozenset(_WORD.findall(self.text.lower()))

    @cached_property
    def names(self) -> Counter[str]:
        """Every name of the text with its dots, without quotes and in lower case, and how often it is there."""
        found = _NAMES.findall(self.text.translate(_QUOTES).lower())
        return Counter("".join(name.split()) for name in found)  # there may be blanks around a dot

    @cached_property
    def creates(self) -> frozenset[str]:
        """The names of tables whose columns it seems to define or change."""
        if not has_word(self.text, "create", "alter", "drop", "rename", "swap", "into"):
            return frozenset()
        made = [match[1] for match in _CREATES.finditer(self.text)]
        return frozenset(plain_name(name) for name in made)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of tables it may look up: all of its names, but for one that it only creates."""
        if self.whole or len(self.creates) != 1 or _KEEPS.match(self.text):
            return frozenset(self.names)
        (name,) = self.creates
        return frozenset(self.names) if self.names[name] > 1 else frozenset(self.names) - self.creates

    def may_call(self, function: str) -> bool:
        """Return whether the text has the name of a function behind that of its dataset, or alone in this dataset."""
        dataset, dot, name = ".".join(function.split(".")[-2:]).rpartition(".")
        if not dot:
            return name in self.words
        is_own = dataset == (self.script.namespace[1] or "").lower()
        return f"{dataset}.{name}" in self._tails or (is_own and name in self._tails)

    @cached_property
    def _tails(self) -> frozenset[str]:
        return frozenset(".".join(name.split(".")[-2:]) for name in self.names)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that its analysis depends on, but for the schema."""
        script = self.script
        parts = (script.dialect or "", script.user or "", str(script.time or ""), repr(script.namespace))
        place = f"{self.number}:{self.shift.start}:{self.shift.line}:{self.shift.column}:{self.whole}:{self.is_only}"
        prelude = (part for each in self.prelude for part in (each.text, repr(each.namespace)))
        made = (script.rendered.template.text, str(script.rendered.issues)) if script.rendered is not None else ()
        if script.observed_reads or script.observed_writes:
            made = (*made, repr((script.observed_reads, script.observed_writes)))
        return digest(self.text.encode(), place.encode(), *(part.encode() for part in (*parts, *prelude, *made)))


_WORD = re.compile(r"[\w$]+")
_NAMES = re.compile(r"[\w$]+(?:\s*\.\s*[\w$]+)*")
_QUOTES = str.maketrans("", "", '`"[]')
_NAME = r"((?:[`\"\[]?[\w$#@-]+[`\"\]]?\s*\.\s*)*[`\"\[]?[\w$#@.-]+[`\"\]]?)"
_CREATES = re.compile(
    rf"""\b(?:
      CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:GLOBAL|LOCAL)\s+)?(?:TEMP(?:ORARY)?|TRANSIENT|VOLATILE|UNLOGGED|EXTERNAL
        |MATERIALIZED|SECURE|RECURSIVE|SNAPSHOT|DYNAMIC|FOREIGN|STREAMING|LIVE)?\s*(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?
      | ALTER\s+(?:TABLE|VIEW)\s+(?:IF\s+EXISTS\s+)? | DROP\s+(?:TABLE|VIEW|MATERIALIZED\s+VIEW)\s+(?:IF\s+EXISTS\s+)?
      | RENAME\s+(?:TABLE\s+)?(?:TO\s+)? | SWAP\s+WITH\s+ | SELECT\b[^;]{{0,2000}}?\bINTO\s+
    ){_NAME}""",
    re.IGNORECASE | re.VERBOSE,
)
_KEEPS = re.compile(r"\s*(?:CREATE\s[^;(]*\bIF\s+NOT\s+EXISTS\b|ALTER|DROP)", re.IGNORECASE)
_PLAIN = re.compile(
    r"""(?: \( | (?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|TRUNCATE|DROP\s+(?:TABLE|VIEW)|ALTER\s+TABLE)\b
      | CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+|TRANSIENT\s+)?
        (?:TABLE(?!\s+FUNCTION)|VIEW|MATERIALIZED\s+VIEW)\b )""",
    re.IGNORECASE | re.VERBOSE,
)
_QUERY = re.compile(r"(?:\(\s*)*(?:SELECT|WITH|FROM)\b", re.IGNORECASE)
_PARTS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\{#.*?#\}|\{%.*?%\}|;", re.DOTALL)
_BEFORE_QUERY = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\})*", re.DOTALL)
_BLANK = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_ODD = re.compile(
    r"\\|\$\$|\$\w+\$|#|'''|\"\"\"|:=|\bDELIMITER\b|\bINTO\s+(?:OUTFILE|@)|\bRESULT_SCAN\b", re.IGNORECASE
)
_HASHES = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL)
_HASH_DIALECTS = frozenset({"bigquery", "spanner", "mysql", "mariadb"})  # in which # begins a comment
_WHOLE_DIALECTS = frozenset({"tsql", "fabric", "oracle", "mysql"})  # batches, blocks and session variables
ROUTINE = re.compile(
    r"\bCREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:AGGREGATE\s+)?(?:TABLE\s+)?(?:FUNCTION|PROCEDURE|MACRO)\s+"
    rf"(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}",
    re.IGNORECASE,
)


def plain_name(name: str) -> str:
    """A name with its dots, without quotes and in lower case.

    >>> plain_name('Shop."Orders"')
    'shop.orders'
    """
    found = _NAMES.findall(name.translate(_QUOTES).lower())
    return found[-1] if found else ""


def routine_names(text: str) -> list[str]:
    """The names of the functions, macros and procedures that a text defines."""
    if not has_word(text, "function", "procedure", "macro"):
        return []
    return [plain_name(match[1]) for match in ROUTINE.finditer(text)]


def has_word(text: str, *words: str) -> bool:
    """Return whether a text has one of some words of lower case. A pattern that begins with them takes far longer."""
    lower = text.lower()
    return any(word in lower for word in words)


def may_mean(name: str, other: str) -> bool:
    """Return whether two names can mean the same table: one may have more parts than the other.

    >>> may_mean("orders", "shop.orders"), may_mean("raw.orders", "shop.orders")
    (True, False)
    """
    return name == other or name.endswith(f".{other}") or other.endswith(f".{name}")


def last_part(name: str) -> str:
    """A name without what it is in."""
    return name.rpartition(".")[2]


def cut_units(script: Script) -> list[Unit]:
    """The units of a script, in order."""
    if script.rendered is not None:
        return [whole_unit(script)]
    if script.makes is not None:
        return [_making_unit(script)]
    if (script.dialect or "") in _WHOLE_DIALECTS or is_template(script.text) or _ODD.search(script.text):
        return [whole_unit(script)]
    parts = list(pieces(script.text))
    if not parts or not all(_PLAIN.match(script.text, start, end) for start, end in parts):
        return [whole_unit(script)]
    units = []
    line, at = 0, 0
    is_only = sum(_QUERY.match(script.text, start, end) is not None for start, end in parts) < 2
    for number, (start, end) in enumerate(parts):
        line += script.text.count("\n", at, start)
        at = start
        column = start - (script.text.rfind("\n", 0, start) + 1)
        shift = Shift(start, line, column)
        units.append(Unit(script, number, script.text[start:end].rstrip(), shift, whole=False, is_only=is_only))
    return units


def _blank_of(match: re.Match[str]) -> str:
    """A comment as blanks of the same length; what is quoted stays."""
    return " " * len(match[0]) if match[0].startswith("#") else match[0]


def _making_unit(script: Script) -> Unit:
    """A script as one unit in which its last query makes a table; a last statement of another kind stays as it is."""
    prefix = f"CREATE {'VIEW' if script.is_model else 'TABLE'} {script.makes} AS "
    at = 0
    if not script.is_model:
        text = _HASHES.sub(_blank_of, script.text) if script.dialect in _HASH_DIALECTS else script.text
        at = max((start for start, _ in pieces(text)), default=0)
        before = _BEFORE_QUERY.match(text, at)
        if before is None or not _QUERY.match(script.text, before.end()):
            return whole_unit(script)
    text = script.text[:at] + prefix + script.text[at:]
    return Unit(script, 0, text, Shift(at=at, at_line=script.text.count("\n", 0, at) + 1, size=len(prefix)))


def whole_unit(script: Script) -> Unit:
    """A script as one unit."""
    return Unit(script, 0, script.text)


def is_query(text: str, start: int, end: int) -> bool:
    """Return whether a range of a text is a query, as far as its first words tell."""
    before = _BEFORE_QUERY.match(text, start, end)
    return _QUERY.match(text, before.end() if before is not None else start, end) is not None


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """The ranges between semicolons that hold more than blanks and comments."""
    begin = 0
    for end in (*(match.start() for match in _PARTS.finditer(text) if match.group() == ";"), len(text)):
        blank = _BLANK.match(text, begin, end)
        start = blank.end() if blank else begin
        if start < end:
            yield start, end
        begin = end + 1


def with_preludes(units: list[Unit]) -> list[Unit]:
    """The same units, each knowing the texts before it that define functions it names, in the order of the scripts.

    Functions outlive the script that makes them.
    """
    makers: dict[str, dict[str, int]] = {}  # by the last part and by the whole of a name: who defines it last
    needs: dict[int, set[int]] = {}  # by the unit that defines functions: the others that it and those need
    result: list[Unit] = []
    for number, unit in enumerate(units):
        needed = _makers_of(unit, makers, needs)
        prelude = tuple(own for at in sorted(needed) if (own := result[at].defines) is not None)
        level = 1 + max((each.level for each in prelude), default=-1)
        own = Prelude(unit.text, unit.script.namespace, level) if unit.whole else None
        for name in own.names if own is not None else ():
            makers.setdefault(last_part(name), {})[name] = number
            needs[number] = needed
        result.append(replace(unit, prelude=prelude, defines=own if number in needs else None))
    return result


def _makers_of(unit: Unit, makers: dict[str, dict[str, int]], needs: dict[int, set[int]]) -> set[int]:
    """The units that define functions which a unit names, and those that these need."""
    named = {
        number for word in unit.words & makers.keys() for name, number in makers[word].items() if unit.may_call(name)
    }
    return named.union(*(needs[each] for each in named))

"""The routines of a script: procedures, functions and triggers with a body, as their text defines them."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.sql.control_flow import routine_at
from headwater.sql.split import Piece
from headwater.sql.tokens import cut_list, group_end, read_name, word_at
from headwater.text import Source

_KINDS = ("PROCEDURE", "PROC", "FUNCTION", "TRIGGER")
_MODES = frozenset({"IN", "OUT", "INOUT", "VARIADIC"})
_ENDS = frozenset({"AS", "IS", "BEGIN", "RETURNS", "RETURN", "LANGUAGE", "FOR", "WITH"})

_TRIGGER_FUNCTION = re.compile(
    r"\bTRIGGER\b[^;]*?\bEXECUTE\s+(?:FUNCTION|PROCEDURE)\s+(?:[\w\"]+\s*\.\s*)*\"?(\w+)", re.IGNORECASE
)
_FUNCTION = re.compile(r"\bFUNCTION\s+(?:[\w\"]+\s*\.\s*)*\"?(\w+)\"?\s*\(\s*\)\s*RETURNS\s+TRIGGER\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a routine: its name without `@`, in lower case, and the tokens of its default."""

    name: str
    default: tuple[Any, ...] = ()
    out: bool = False


@dataclass(frozen=True, slots=True)
class Trigger:
    """The table of a trigger, and the names under which its body sees rows and sets of rows of that table."""

    table: tuple[str, ...]
    rows: tuple[str, ...] = ("new", "old")
    tables: tuple[str, ...] = ()
    function: str | None = None  # PostgreSQL: the function that is its body


@dataclass(slots=True)
class Routine:
    """A procedure, function or trigger, with the statements of its body as far as they have been read."""

    name: str
    kind: str
    parameters: tuple[Parameter, ...]
    head: Piece
    trigger: Trigger | None = None
    for_triggers: bool = False  # PostgreSQL: a function that triggers call
    source: Source | None = None  # the text that it stands in
    pieces: list[Piece] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)  # its variables
    owner: str = ""  # its schema or package, in lower case

    @property
    def full_name(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def runs(self) -> bool:
        """Return whether it can be called: a function is seen through where it is used."""
        return self.kind == "PROC"


class Code:
    """The declarations of procedural code so far: names of variables and parameters, and routines."""

    def __init__(
        self,
        declared: Callable[[Iterable[str], bool], None] = lambda names, given: None,
        ended: Callable[[Iterable[str]], None] = lambda names: None,
    ) -> None:
        self.names: set[str] = set()
        self._outside: frozenset[str] = frozenset()  # the names around the current routine
        self.routines: dict[str, Routine] = {}
        self.held: frozenset[str] = frozenset()  # functions whose bodies are taken up by triggers further down
        self.current: Routine | None = None
        self._declared, self._ended = declared, ended

    def declare(self, names: Iterable[str], *, given: bool = False) -> None:
        """Variables begin to exist, without a value, or parameters, which are `given` one."""
        self.names.update(names)
        if self.current is not None and not given:
            self.current.declared += names
        self._declared(names, given)

    def leave(self, names: frozenset[str]) -> None:
        """A block ends: of its variables, only those with these names existed before it."""
        if inner := self.names - names:
            self._ended(inner)
            self.names -= inner

    @property
    def holds(self) -> bool:
        """Return whether the statements that come now are only kept: they run where a trigger calls them."""
        return self.current is not None and self.current.for_triggers and self.current.name in self.held

    def begin(self, piece: Piece, source: Source) -> None:
        """A routine begins with the header that a piece of a text holds."""
        routine = self.current = read_routine(piece)
        self._outside = frozenset(self.names)
        if routine is not None:
            routine.source = source
            self.declare([each.name for each in routine.parameters], given=True)

    def end(self) -> None:
        """The body of the current routine has been read."""
        routine, self.current = self.current, None
        if routine is not None:
            self.leave(self._outside)
            self.routines[routine.name] = self.routines[routine.full_name] = routine

    def find(self, owner: str, name: str) -> Routine | None:
        """The routine of a name, of the owner that is named if one is; None when only another owner has it."""
        found = self.routines.get(f"{owner}.{name}") or self.routines.get(name)
        differs = found is not None and owner and found.owner and found.owner != owner
        return None if differs else found


def functions_of_triggers(text: str) -> frozenset[str]:
    """The functions that the triggers of a text call, in lower case."""
    return _names(_TRIGGER_FUNCTION, text)


def functions_for_triggers(text: str) -> frozenset[str]:
    """The functions for triggers that a text defines, in lower case."""
    return _names(_FUNCTION, text)


def _names(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(name.lower() for name in pattern.findall(text)) if "trigger" in text.lower() else frozenset()


def read_routine(piece: Piece) -> Routine | None:
    """The routine whose header a piece begins with; None when it has none or it cannot be read."""
    tokens = piece.tokens
    at = routine_at(tokens)
    if at is None or word_at(tokens, at) not in _KINDS:
        return None
    kind = word_at(tokens, at).removesuffix("EDURE")
    at += 1
    while word_at(tokens, at) in ("IF", "NOT", "EXISTS"):
        at += 1
    name, end = read_name(tokens, at)
    if not name:
        return None
    if kind == "TRIGGER":
        return Routine(name[-1].lower(), kind, (), piece, trigger=read_trigger(tokens, end))
    returns = [word_at(tokens, at) for at in range(end, len(tokens))]
    for_triggers = any(pair == ("RETURNS", "TRIGGER") for pair in itertools.pairwise(returns))
    owner = name[-2].lower() if len(name) > 1 else ""
    parameters = tuple(read_parameters(tokens, end))
    return Routine(name[-1].lower(), kind, parameters, piece, for_triggers=for_triggers, owner=owner)


def read_trigger(tokens: Sequence[Any], at: int) -> Trigger | None:
    """The table and the names of rows in the header of a trigger, behind its name."""
    stop = next((stop for stop in range(at, len(tokens)) if word_at(tokens, stop) in ("BEGIN", "AS")), len(tokens))
    words = [word_at(tokens, each) for each in range(len(tokens))]
    on = next((each for each in range(at, len(tokens)) if words[each] == "ON"), None)
    name = read_name(tokens, on + 1)[0] if on is not None else []
    if not name or [part.upper() for part in name] in (["DATABASE"], ["ALL"], ["SCHEMA"]):
        return None
    rows, tables = {"new", "old"}, set[str]()
    for each in range(at, len(tokens)):
        if words[each] in ("NEW", "OLD") and "REFERENCING" in words[at:each]:
            after = each + 1
            is_table = words[after : after + 1] in (["TABLE"], ["_TABLE"])
            after += is_table
            after += words[after : after + 1] == ["AS"]
            if after < len(tokens) and after - each > is_table:
                (tables if is_table else rows).add(str(tokens[after].text).lower())
        if words[each] in ("FOR", "BEGIN", "AS") and each > (on or 0) and words[each + 1 : each + 2] == ["EACH"]:
            break
    if "BEFORE" not in words[at:stop] and words[at] == "ON":  # T-SQL: CREATE TRIGGER x ON t AFTER INSERT AS
        rows, tables = set(), {"inserted", "deleted"}
    runs = next((each for each in range(at, len(tokens)) if words[each] == "EXECUTE"), None)
    called = words[runs + 1 : runs + 2] in (["FUNCTION"], ["PROCEDURE"]) if runs is not None else False
    function = read_name(tokens, runs + 2)[0] if called and runs is not None else []
    return Trigger(
        tuple(name), tuple(sorted(rows)), tuple(sorted(tables)), function[-1].lower() if function else None
    )


def read_parameters(tokens: Sequence[Any], at: int) -> Iterator[Parameter]:
    """The parameters behind the name of a routine, in brackets or (T-SQL) without."""
    if word_at(tokens, at) == "(":
        inside = tokens[at + 1 : (group_end(tokens, at) or len(tokens)) - 1]
    else:
        words = [word_at(tokens, each) for each in range(len(tokens))]
        ends = (each for each in range(at, len(tokens)) if words[each] in _ENDS)
        end = next((each for each in ends if words[each] != "AS" or words[each - 2] != "@"), len(tokens))
        inside = tokens[at:end]
    for part in cut_list(inside):
        found = _parameter(part)
        if found is not None:
            yield found


def _parameter(tokens: Sequence[Any]) -> Parameter | None:
    """`IN x INT DEFAULT 1`, `@x INT = 1 OUTPUT`, `x IN OUT NUMBER`."""
    words = [word_at(tokens, at) for at in range(len(tokens))]
    at = next((at for at, word in enumerate(words) if word not in (*_MODES, "@")), None)
    if at is None:
        return None
    out = not {"OUT", "INOUT", "OUTPUT"}.isdisjoint(words)
    given = next((at for at, word in enumerate(words) if word in ("=", ":=", "DEFAULT")), None)
    value = tokens[given + 1 :] if given is not None else ()
    default = tuple(token for token in value if token.text.upper() not in ("OUT", "OUTPUT", "READONLY"))
    return Parameter(str(tokens[at].text).lower(), default, out)

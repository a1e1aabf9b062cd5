"""The texts that the variables of a script may hold: what a string that is executed can be computed from.
A value is a set of alternatives, one for each way through the branches before it. A part of a text that is not known
is a hole: one sign of Unicode's private area, which remembers the expression it stands for. Where there are too many
alternatives, the whole value is a hole."""

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from sqlglot import exp

from headwater.sql.branches import Path, encloses, excludes

Node: TypeAlias = Any
Values = tuple[str, ...]  # alternatives

NULL = "\uf8ff"
"""The sign of NULL: a text that has it does not exist."""

FIRST_HOLE, _LAST_HOLE = 0xE000, 0xF000
_MOST = 8  # alternatives
LONGEST = 1_000_000
_MAX_NODES = 2000  # a variable that grows by itself in a long script is let go


def is_hole(sign: str) -> bool:
    """Return whether a sign of a text stands for a part that is not known."""
    return FIRST_HOLE <= ord(sign) < _LAST_HOLE


class Texts:
    """The texts of a script's variables at a point of the script."""

    def __init__(self) -> None:
        self._given: dict[str, list[tuple[Path, Values]]] = {}
        self._holes: list[tuple[Node | None, Node | None]] = []  # as it is written, and with its variables replaced

    def give(self, name: str, values: Iterable[str], path: Path) -> None:
        """A variable gets a value on a path; what it got before on the same path, or inside, is gone."""
        kept = [each for each in self._given.get(name, ()) if not encloses(path, each[0])]
        self._given[name] = [*kept, (path, tuple(dict.fromkeys(values)))]

    def of(self, name: str, path: Path) -> Values:
        """The texts that a variable may have on a path; a hole for what it may have had before."""
        found: list[str] = []
        arms: dict[Path, set[int]] = {}  # by the path of the arm that runs when no other does
        for given, values in reversed(self._given.get(name, ())):
            if excludes(given, path):
                continue
            found += values
            if encloses(given, path) or _covers(given, path, arms):
                break
        else:
            found.append(self.hole(None))
        return self.bounded(found)

    def knows(self, name: str) -> bool:
        return name in self._given

    def hole(self, node: Node | None, value: Node | None = None) -> str:
        """A sign for a part that is not known, but for the expression that gives it and what that stands for."""
        self._holes.append((node, value))
        return chr(FIRST_HOLE + (len(self._holes) - 1) % (_LAST_HOLE - FIRST_HOLE))

    def behind(self, sign: str) -> Node | None:
        """The expression that a hole stands for, when it reads tables."""
        return self._hole(sign)[1]

    def shown(self, sign: str, dialect: str) -> str:
        """The expression of a hole as it was written; empty when there is none."""
        node = self._hole(sign)[0]
        return str(node.sql(dialect or None)) if node is not None else ""

    def _hole(self, sign: str) -> tuple[Node | None, Node | None]:
        size = _LAST_HOLE - FIRST_HOLE
        at = ord(sign) - FIRST_HOLE
        last = at + (len(self._holes) - 1 - at) // size * size  # signs are used again after so many
        return self._holes[last] if 0 <= last < len(self._holes) else (None, None)

    def bounded(self, values: Iterable[str]) -> Values:
        """The values without repetition; a hole when they are too many or too long."""
        unique = tuple(dict.fromkeys(values))
        if len(unique) > _MOST or any(len(each) > LONGEST for each in unique):
            return (self.hole(None),)
        return unique

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Inside, no variable has a text: those of another routine begin anew."""
        before, self._given = self._given, {}
        try:
            yield
        finally:
            self._given = before


def _covers(given: Path, path: Path, arms: dict[Path, set[int]]) -> bool:
    """Return whether this arm of an IF is the last missing one of those that give a value before a place.
    `arms` are those that were seen, of each IF that has an ELSE: it stands last, so that it is seen first."""
    if not encloses(given[:-1], path):
        return False
    own = given[-1]
    if own.last:
        arms[given] = set(range(own.arm))
        return False
    for other, missing in arms.items():
        if other[:-1] == given[:-1] and other[-1].number == own.number:
            missing.discard(own.arm)
            return not missing
    return False


def is_variable(node: Node) -> bool:
    """Return whether a node can be the use of a variable: `@x`, `$x`, or a plain name."""
    return isinstance(node, exp.Parameter | exp.Placeholder | exp.Var) or (
        isinstance(node, exp.Column) and node.args.get("table") is None
    )


def variable_name(node: Node) -> str:
    """The name of a variable, without its sign and case."""
    name: str = node.name
    return name.lstrip("@$:").lower()


def inlined(variables: Mapping[str, Node | None], node: Node | None, bare: Container[str]) -> Node | None:
    """An expression with what its variables stand for now in their place; None when it has grown too large.
    `bare` are the variables that a query can name without a sign; those of them without a value get one, so that
    they are not taken for columns where the expression is used."""
    if not isinstance(node, exp.Expr):
        return None

    def replace(part: Node) -> Node:
        if not is_variable(part):
            return part
        name = variable_name(part)
        in_query = isinstance(part, exp.Column) and part.find_ancestor(exp.Select) is not None
        known = variables.get(name) if not in_query or name in bare else None
        if known is None:
            return exp.Placeholder(this=name) if in_query and name in bare else part
        is_output = isinstance(part.parent, exp.Select) and part.arg_key == "expressions"
        return exp.alias_(known.copy(), part.name) if is_output else known.copy()

    result: Node = node.copy().transform(replace)
    return result if sum(1 for _ in result.walk()) < _MAX_NODES else None


def reads(variables: Mapping[str, Node | None], node: Node) -> bool:
    """Return whether an expression reads tables, itself or by a variable."""
    for part in node.walk():
        if isinstance(part, exp.Query):
            return True
        known = variables.get(variable_name(part)) if is_variable(part) else None
        if known is not None and not isinstance(known, exp.Null):
            return True
    return False

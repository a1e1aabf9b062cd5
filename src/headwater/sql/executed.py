"""Statements that execute a string: EXEC(…), sp_executesql, EXECUTE IMMEDIATE, EXECUTE, PREPARE.
And what is left of an executed string where some of it is not known. A hole in a constant does not matter, one in the
place of a value makes the statement approximate, and one anywhere else leaves only the tables that are named
whole."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import TokenType

from headwater.sql.dialects import MICROSOFT, MYSQL
from headwater.sql.texts import is_hole
from headwater.sql.tokens import STRINGS, cut_list, group_end, read_name, token_like, word_at
from headwater.sql.without_lineage import kind_without_lineage

_MARKS = frozenset({TokenType.COLON, TokenType.PARAMETER, TokenType.PLACEHOLDER})
_HOLE = re.compile(r"headwater_hole_(\d+)_")


@dataclass(frozen=True, slots=True)
class Argument:
    """A value for a parameter of an executed string or of a routine: by name or by place."""

    tokens: tuple[Any, ...]
    name: str | None = None
    out: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """The value of an argument: as a tree, for lineage, and as the texts that it may be."""

    node: Any | None
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Executed:
    """A statement that executes a string."""

    string: tuple[Any, ...]  # the tokens of the expression that gives it
    arguments: tuple[Argument, ...] = ()
    into: tuple[str, ...] = ()  # variables that take the row which it gives
    elsewhere: bool = False  # on another server
    before: tuple[Any, ...] = ()  # what takes the rows which it gives: INSERT INTO t (…)


def read_executed(tokens: Sequence[Any], dialect: str, *, inside: bool) -> Executed | None:
    """The string that a statement executes; None when it is something else.
    `inside` says that the statement stands in procedural code, where PostgreSQL's EXECUTE takes a string."""
    first, second = word_at(tokens, 0), word_at(tokens, 1)
    if first in ("EXEC", "EXECUTE"):
        if dialect in MICROSOFT:
            return _read_microsoft(tokens)
        if second == "IMMEDIATE":
            return _read_immediate(tokens[2:]) if word_at(tokens, 2) != "FROM" else None
        if inside and dialect not in MYSQL and first == "EXECUTE":
            return _read_immediate(tokens[1:])
        return None
    if dialect in MICROSOFT and first == "INSERT":
        at = _executed_at(tokens)
        found = _read_microsoft(tokens[at:]) if at is not None else None
        return replace(found, before=tuple(tokens[:at])) if found is not None else None
    if first == "CALL" and word_at(tokens, 3) == "SYSEXECSQL":  # Teradata: CALL DBC.SysExecSQL(…)
        return Executed(tuple(tokens[5:-1]))
    at = next((at for at in range(min(6, len(tokens))) if tokens[at].token_type is TokenType.COLON_EQ), None)
    if at is not None and [word_at(tokens, at + each) for each in (1, 2, 3)] == ["(", "EXECUTE", "IMMEDIATE"]:
        return _read_immediate(tokens[at + 4 : (group_end(tokens, at + 1) or len(tokens)) - 1])
    return None


def _executed_at(tokens: Sequence[Any]) -> int | None:
    """Return where EXEC stands in `INSERT INTO t (a, b) EXEC …`; None in any other INSERT."""
    _, at = read_name(tokens, 2 if word_at(tokens, 1) == "INTO" else 1)
    if word_at(tokens, at) == "(":
        at = group_end(tokens, at) or at
    return at if word_at(tokens, at) in ("EXEC", "EXECUTE") else None


def _read_microsoft(tokens: Sequence[Any]) -> Executed | None:
    """EXEC('…'), EXEC(@s) AT server, EXEC sp_executesql @s, N'@p INT', @p = 1."""
    if word_at(tokens, 1) == "(":
        end = group_end(tokens, 1) or len(tokens)
        first = next(cut_list(tokens[2 : end - 1]), ())
        return Executed(tuple(first), elsewhere=word_at(tokens, end) == "AT")
    name, at = read_called(tokens)
    if not name or name[-1].lower() != "sp_executesql":
        return None
    parts = [_read_argument(part) for part in cut_list(tokens[at:])]
    if not parts:
        return None
    return Executed(parts[0].tokens, tuple(parts[2:]))


def read_called(tokens: Sequence[Any]) -> tuple[list[str], int]:
    """The name behind EXEC, with or without a variable for its result, and where it ends."""
    at = 4 if word_at(tokens, 1) == "@" and word_at(tokens, 3) == "=" else 1
    name, end = read_name(tokens, at)
    while name and word_at(tokens, end) == ".":  # master..xp_cmdshell
        more, end = read_name(tokens, end + 1)
        name += ["", *more] if more else []
        if not more:
            break
    return name, end


@dataclass(frozen=True, slots=True)
class ProcedureCall:
    """A statement that calls a procedure."""

    name: str  # its last part, in lower case
    owner: str  # the schema or package before it, in lower case; empty when it is not named
    arguments: tuple[Argument, ...]
    before: tuple[Any, ...] = ()  # what takes the rows which it gives


def read_call(tokens: Sequence[Any], dialect: str, known: Container[str]) -> ProcedureCall | None:
    """The procedure that a statement calls; None when it is something else.
    In PL/SQL a name with brackets is a call, and a name alone, if it is one of those `known`."""
    first = word_at(tokens, 0)
    before: Sequence[Any] = ()
    if dialect in MICROSOFT and first == "INSERT":
        at = _executed_at(tokens)
        if at is None:
            return None
        before, tokens, first = tokens[:at], tokens[at:], "EXEC"
    if first in ("EXEC", "EXECUTE", "CALL"):
        name, at = read_called(tokens)
    elif dialect == "oracle":
        name, at = read_name(tokens, 0)
        called = word_at(tokens, at) == "(" and group_end(tokens, at) == len(tokens)
        if not name or not (called or (at == len(tokens) and name[-1].lower() in known)):
            return None
    else:
        return None
    if not name:
        return None
    if word_at(tokens, at) == "(":
        given = tokens[at + 1 : (group_end(tokens, at) or len(tokens)) - 1]
    else:
        given = tokens[at:]
    owner = name[-2].lower() if len(name) > 1 else ""
    return ProcedureCall(name[-1].lower(), owner, read_arguments(given), tuple(before))


def read_arguments(tokens: Sequence[Any]) -> tuple[Argument, ...]:
    """The values in a list of arguments: `@x = 1`, `x => 1`, `@y OUTPUT`, `1`."""
    return tuple(_read_argument(part) for part in cut_list(tokens) if part)


def _read_argument(tokens: Sequence[Any]) -> Argument:
    words = [word_at(tokens, at) for at in range(len(tokens))]
    out = words[-1:] in (["OUTPUT"], ["OUT"])
    tokens = tokens[:-1] if out else tokens
    if words[:1] == ["@"] and words[2:3] == ["="]:
        return Argument(tuple(tokens[3:]), str(tokens[1].text).lower(), out)
    if words[1:2] in (["=>"], [":="]):
        return Argument(tuple(tokens[2:]), str(tokens[0].text).lower(), out)
    return Argument(tuple(tokens), None, out)


def variable_of(argument: Argument) -> str | None:
    """The variable that an argument is, so that it may take a value; None for any other expression."""
    tokens = [token for token in argument.tokens if token.token_type not in _MARKS]
    return str(tokens[0].text).lower() if len(tokens) == 1 and tokens[0].token_type not in STRINGS else None


def _read_immediate(tokens: Sequence[Any]) -> Executed | None:
    """`expression [INTO a, b] [USING x, OUT y]`, in either order."""
    cuts = {"": 0}
    depth = 0
    for at in range(len(tokens)):
        word = word_at(tokens, at)
        depth += (word == "(") - (word == ")")
        if depth == 0 and word in ("INTO", "USING", "BULK", "RETURNING", "RETURN") and word not in cuts:
            cuts[word] = at
    ends = sorted([*cuts.values(), len(tokens)])

    def part(word: str) -> Sequence[Any]:
        at = cuts.get(word)
        return () if at is None else tokens[at : next((end for end in ends if end > at), at)]

    string = part("")
    if not string:
        return None
    using = part("USING")[1:]
    if word_at(using, 0) == "(" and group_end(using, 0) == len(using):
        using = using[1:-1]
    arguments = tuple(_read_using(each) for each in cut_list(using) if each)
    into = [str(each[-1].text).lower() for each in cut_list(part("INTO")[1:]) if each]
    return Executed(tuple(string), arguments, tuple(into))


def _read_using(tokens: Sequence[Any]) -> Argument:
    out = False
    while word_at(tokens, 0) in ("IN", "OUT"):
        out = out or word_at(tokens, 0) == "OUT"
        tokens = tokens[1:]
    if len(tokens) > 2 and word_at(tokens, len(tokens) - 2) == "AS":
        return Argument(tuple(tokens[:-2]), str(tokens[-1].text).lower(), out)
    return Argument(tuple(tokens), None, out)


def read_prepared(tokens: Sequence[Any]) -> tuple[str, tuple[Any, ...], bool] | None:
    """`PREPARE s FROM expression` or `PREPARE s (types) AS statement`; None for anything else.
    The name, the tokens of the expression or the statement, and whether it is a statement."""
    if word_at(tokens, 0) != "PREPARE" or len(tokens) < 4:
        return None
    at = (group_end(tokens, 2) or 2) if word_at(tokens, 2) == "(" else 2
    if word_at(tokens, at) not in ("FROM", "AS"):
        return None
    return str(tokens[1].text).lower(), tuple(tokens[at + 1 :]), word_at(tokens, at) == "AS"


def set_on_the_way(tokens: Sequence[Any], dialect: str) -> Iterator[str]:
    """The variables that a statement sets besides: MySQL's `SELECT @x := 1`, T-SQL's `UPDATE t SET @x = 1`."""
    first = word_at(tokens, 0)
    gives = ":=" if dialect in MYSQL else "=" if dialect in MICROSOFT and first == "UPDATE" else ""
    if not gives or first == "SET":
        return
    for at in range(2, len(tokens)):
        if tokens[at].text == gives and word_at(tokens, at - 2) == "@":
            yield str(tokens[at - 1].text).lower()


def read_bound(tokens: Sequence[Any]) -> tuple[Argument, ...]:
    """The values of `EXECUTE s (1, x)` and `EXECUTE s USING @x`."""
    if word_at(tokens, 2) == "(":
        return read_arguments(tokens[3 : (group_end(tokens, 2) or len(tokens)) - 1])
    executed = _read_immediate(tokens[1:])
    return executed.arguments if executed is not None else ()


def given_back(arguments: Sequence[Argument]) -> dict[str, str]:
    """The parameters of a string that are given back, by name, with the variables that take them."""
    found: dict[str, str] = {}
    for number, argument in enumerate(arguments, start=1):
        if argument.out and argument.tokens:
            found[argument.name or f"headwater_using_{number}"] = str(argument.tokens[-1].text).lower()
    return found


def bind(tokens: Sequence[Any], count: int) -> tuple[Any, ...]:
    """Tokens with `:x`, `$1` and `?` replaced by the names of the arguments that they stand for, in order."""
    result: list[Any] = []
    seen: dict[str, int] = {}
    at = 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
        marked = token.token_type in _MARKS and token.text in (":", "$") and after is not None
        if token.text == "?" or marked:
            key = f"?{len(seen)}" if token.text == "?" else str(after.text).lower() if after is not None else ""
            number = int(key) if token.text == "$" and key.isdigit() else seen.setdefault(key, len(seen) + 1)
            if number <= count:
                name = f"headwater_using_{number}"
                result.append(token_like(token, TokenType.VAR, name))
                at += 1 if token.text == "?" else 2
                continue
        result.append(token)
        at += 1
    return tuple(result)


# ----------------------------------------------------------------------------------------------- holes


@dataclass(frozen=True, slots=True)
class ExecutedText:
    """A text to execute, with NULL for its holes; `hides` says what they hide: `value`, `names`, or None."""

    text: str
    hides: str | None = None
    shown: str = ""  # the expression of the hole


def without_holes(text: str) -> str:
    """A text with NULL in the place of its holes."""
    return "".join("NULL" if is_hole(each) else each for each in text)


def with_named_holes(text: str, dialect: str) -> str:
    """A text whose holes are names that a tokenizer can read."""
    if not any(map(is_hole, text)):
        return text
    sign = "@" if dialect in MICROSOFT else ""
    return "".join(f"{sign}headwater_hole_{ord(each)}_" if is_hole(each) else each for each in text)


def holes_in(tokens: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The tokens that have holes, and the sign of the first one in each."""
    for at, token in enumerate(tokens):
        found = _HOLE.search(token.text)
        if found is not None:
            yield at, chr(int(found[1]))


def hole_name(sign: str) -> str:
    """The name of the variable that stands for a hole."""
    return f"headwater_hole_{ord(sign)}_"


def worst_hole(tokens: Sequence[Any]) -> tuple[str, str] | None:
    """Return how much the holes of a statement hide, `value` or `names`, and the sign of the first; None for
    nothing."""
    worst: tuple[str, str] | None = None
    silent = kind_without_lineage(tokens) is not None
    for at, sign in holes_in(tokens):
        before = word_at(tokens, at - 1) if word_at(tokens, at - 1) != "(" else word_at(tokens, at - 3)
        if silent or (tokens[at].token_type in STRINGS and before not in _BEFORE_PLACES):
            continue
        if tokens[at].token_type in STRINGS or not _is_value(tokens, at):
            return "names", sign
        worst = worst or ("value", sign)
    return worst


_BEFORE_VALUES = frozenset(
    {
        *("=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "LIKE", "ILIKE", "BETWEEN", "THEN", "ELSE"),
        *("LIMIT", "OFFSET", "TOP", "INTERVAL", "||", "PERCENT"),
    }
)
_BEFORE_PLACES = frozenset({"FROM", "INTO", "JOIN", "LOCATION", "INFILE", "OUTFILE", "TO", "PROGRAM"})
_TABLES = frozenset({"INTO", "FROM", "JOIN", "TABLE", "UPDATE", "MERGE", "USING", "VIEW", "INSERT", "EXISTS"})


def _is_value(tokens: Sequence[Any], at: int) -> bool:
    """Return whether a hole stands where only one value can stand."""
    if _HOLE.fullmatch(tokens[at].text) is None or tokens[at].token_type is TokenType.IDENTIFIER:
        return False
    if word_at(tokens, at + 1) in (".", "("):
        return False
    if at and tokens[at - 1].token_type is TokenType.PARAMETER:
        at -= 1
    before = word_at(tokens, at - 1)
    if before == "AND":
        return any(word_at(tokens, each) == "BETWEEN" for each in range(max(0, at - 6), at))
    if before in _BEFORE_VALUES:
        return True
    if before not in ("(", ","):
        return False
    depth = 0
    for each in range(at - 1, -1, -1):
        word = word_at(tokens, each)
        depth += (word == ")") - (word == "(")
        if depth < 0:  # the bracket around it: a list of values, or the arguments of a function
            owner = word_at(tokens, each - 1)
            called = tokens[each - 1].token_type is TokenType.VAR and word_at(tokens, each - 2) not in _TABLES
            return (
                owner in ("IN", "VALUES", "TOP")
                or (owner == "," and any(word_at(tokens, before) == "VALUES" for before in range(each)))
                or called
            )
    return False

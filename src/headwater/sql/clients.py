"""Commands of the programs that send SQL to a server: psql, SQL*Plus, BTEQ, sqlcmd, the client of MySQL.

A script for such a program holds lines that are not SQL. They are overwritten with blanks, so that every other sign
keeps its place. Some of them end the statement before them as a semicolon would: `/`, `GO`, `\\g`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from headwater.sql.dialects import MICROSOFT, MYSQL

_POSTGRES = frozenset({"", "postgres", "redshift", "materialize", "risingwave"})
_DOTTED = frozenset({"teradata", "sqlite", "duckdb"})

_SQLPLUS = (
    r"(?:SET|SPOOL|PROMPT|WHENEVER|EXIT|QUIT|CONN(?:ECT)?|DISC(?:ONNECT)?|DEF(?:INE)?|UNDEF(?:INE)?|ACC(?:EPT)?"
    r"|COL(?:UMN)?|TTI(?:TLE)?|BTI(?:TLE)?|BREAK|COMP(?:UTE)?|CL(?:EAR)?|REM(?:ARK)?|SHO(?:W)?|PAUSE|HO(?:ST)?"
    r"|VAR(?:IABLE)?|PRI(?:NT)?|TIMI(?:NG)?|PASSW(?:ORD)?|STA(?:RT)?)\b|@|!"
)
_LINES = {  # what a command begins with, first on its line and where no statement is open
    "oracle": _SQLPLUS,
    **dict.fromkeys(_DOTTED, r"\.[A-Za-z]"),
    **dict.fromkeys(MICROSOFT, r":(?:setvar|r|connect|on|out|error|listvar|xml|exit|quit)\b|!!"),
    "snowflake": r"![a-z]",
    "hive": r"![a-z]",
}
_ENDS = {  # a line that ends the statement before it
    "oracle": r"/",
    **dict.fromkeys(MICROSOFT, r"GO(?:[ \t]+\d+)?"),
}
_SKIPPED = r"--[^\n]*|/\*.*?\*/"
_QUOTED = r"\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]\n]*\]"
_DATA = r"^[ \t]*\\?COPY\b[^;']*?\bFROM\s+STDIN\b(?:[^;'\n]|'[^']*')*;?[^\n]*\n(?P<data>.*?^\\\.[ \t]*$)"
_ENDING_COMMANDS = ("g", "crosstabview", "watch", "parse", "bind", "sendpipeline", "r")
_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ClientScript:
    """A text without client commands, and the places at which a statement ends though no semicolon says so."""

    text: str
    ends: tuple[int, ...] = ()


def without_commands(text: str, dialect: str) -> ClientScript:
    """Return the SQL of a script, each sign in its place."""
    found: list[tuple[int, int, bool]] = []
    if dialect in MYSQL:
        found += _delimiters(text)
    glance, pattern = _pattern(dialect) or (None, None)
    if glance is not None and pattern is not None and glance.search(f"\n{text}") is not None:
        found += _commands(text, pattern)
    if not found:
        return ClientScript(text)
    parts, last = [], 0
    for start, end, _ in found:
        parts += [text[last:start], re.sub(r"[^\n]", " ", text[start:end])]
        last = end
    return ClientScript("".join([*parts, text[last:]]), tuple(start for start, _, ends in found if ends))


def _delimiters(text: str) -> Iterator[tuple[int, int, bool]]:
    """DELIMITER // … // DELIMITER ;: what it names ends statements until the next."""
    marks = list(_DELIMITER.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None]):
        yield mark.start(), mark.end(), False
        if mark[1] != ";":
            stop = after.start() if after is not None else len(text)
            for each in re.compile(re.escape(mark[1])).finditer(text, mark.end(), stop):
                yield each.start(), each.end(), True


@cache
def _pattern(dialect: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """A quick test for commands of a client, and the pattern that finds them."""
    flags = re.IGNORECASE | re.MULTILINE | re.DOTALL
    if dialect in _POSTGRES:
        glance, command = r"\\", rf"(?P<data_of>{_DATA})|(?P<slash>\\[a-z;?!.\\][^\n]*)"
    elif dialect in _LINES:
        line = rf"^[ \t]*(?P<line>(?:{_LINES[dialect]})[^\n]*)"
        end = rf"^[ \t]*(?P<end>{_ENDS[dialect]})[ \t\r]*$" if dialect in _ENDS else r"(?P<end>(?!))"
        ends = rf"|{_ENDS[dialect]}[ \t\r]*$" if dialect in _ENDS else ""
        glance, command = rf"\n[ \t]*(?:{_LINES[dialect]}{ends})", rf"{end}|{line}"
    else:
        return None
    whole = (
        rf"(?P<skipped>{_SKIPPED})|{command}|(?P<quoted>{_QUOTED})|(?P<semicolon>;)|(?P<other>[^\s;'\"\\/$`\[-]+|\S)"
    )
    return re.compile(glance, flags), re.compile(whole, flags)


def _commands(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, bool]]:
    """Yield the places of commands, and whether they end a statement."""
    at, between = 0, True  # no statement is open
    while (match := pattern.search(text, at)) is not None:
        kind = match.lastgroup or ""
        start, at = match.start(kind), match.end()
        if kind == "line" and not between:  # a word of a statement that happens to stand first on its line
            between, at = False, start + 1
        elif kind == "data_of":
            yield match.start("data"), match.end("data"), True
            if text[start:].lstrip()[:1] == "\\":
                yield text.index("\\", start), text.index("\\", start) + 1, False
            between = True
        elif kind == "slash" and text[start + 1] == ";":  # it separates statements that psql sends as one
            yield start, start + 2, True
            between, at = True, start + 2
        elif kind == "slash":
            copies = text[start + 1 : start + 6].lower() == "copy "
            ends = copies or text[start + 1 :].lower().startswith(_ENDING_COMMANDS)
            yield start, start + 1 if copies else at, ends and not copies
            if copies:
                yield at, at, True
            between = between or ends
        elif kind in ("line", "end"):
            yield start, at, kind == "end"
            between = True
        elif kind != "skipped":
            between = kind == "semicolon"

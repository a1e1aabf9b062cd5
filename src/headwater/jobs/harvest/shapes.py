"""The shape of a statement: its text without the constants that lineage does not depend on.

A query log has one statement a thousand times, each time with another date or key. Constants that are compared, and
those of VALUES, decide which rows there are and never which columns take part. All others stay: a string may be a
path, a format, the name of a column of PIVOT, or SQL that is executed.
"""

import re

from headwater.lineage.slices import digest

_CONSTANT = (
    r"(?:[A-Z_]+\s*)?'(?:[^'\\]|''|\\.)*'(?:::\w+)?|[-+]?\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b|\bNULL\b|\bTRUE\b|\bFALSE\b"
)
_SPACES = re.compile(r"'(?:[^'\\]|''|\\.)*'|\"[^\"]*\"|`[^`]*`|(?:--[^\n]*|/\*.*?\*/|\s+)+", re.DOTALL)
_BETWEEN = re.compile(rf"(?P<before>\bBETWEEN )(?:{_CONSTANT}) AND (?:{_CONSTANT})", re.IGNORECASE)
_COMPARED = re.compile(
    rf"(?P<before>(?:(?<![-=<>!@#~?&|*%^])(?:[<>!]?=|<>?|>)|\bI?LIKE|\bLIMIT|\bOFFSET)\s?)(?:{_CONSTANT})",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"(?P<before>\bIN\s?)\(\s?(?:{_CONSTANT})(?:\s?,\s?(?:{_CONSTANT}))*\s?\)", re.IGNORECASE)
_ROW = rf"\(\s?(?:{_CONSTANT})(?:\s?,\s?(?:{_CONSTANT}))*\s?\)"
_VALUES = re.compile(rf"(?P<before>\bVALUES\s?){_ROW}(?:\s?,\s?{_ROW})*", re.IGNORECASE)
_QUERY = re.compile(
    r"[(\s]*(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE"
    r"|CREATE (?:OR REPLACE )?(?:TEMP |TEMPORARY |TRANSIENT )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?\S+ AS)\b",
    re.IGNORECASE,
)
_KEEPS = re.compile(r";|\bEXEC(?:UTE)?\b|\bPIVOT\b", re.IGNORECASE)


def shape_of(text: str) -> str:
    """A hash that is equal for texts that differ only in blanks, comments and, if they are one query or change of a
    table, in constants that are compared.

    >>> shape_of("SELECT a FROM t WHERE x = 'd' -- e") == shape_of("SELECT a  FROM t WHERE x = 'f'")
    True
    >>> shape_of("SELECT f(a, 'x') FROM t") == shape_of("SELECT f(a, 'y') FROM t")
    False
    """
    plain = _SPACES.sub(_one_space, text).strip(" ;")
    if _QUERY.match(plain) and not _KEEPS.search(plain):
        plain = _BETWEEN.sub(r"\g<before>?", plain)
        plain = _LISTED.sub(r"\g<before>(?)", plain)
        plain = _VALUES.sub(r"\g<before>(?)", plain)
        plain = _COMPARED.sub(r"\g<before>?", plain)
    return digest(plain.encode())


def _one_space(match: re.Match[str]) -> str:
    """Keep quoted text; replace blanks and comments by one space."""
    return match[0] if match[0][0] in "'\"`" else " "

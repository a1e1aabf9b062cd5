"""Variables that a client puts into SQL before it sends it to the server.

`${x}` is a variable of Hive, Spark and many tools, `$(x)` of sqlcmd, `:x` of psql, `&x` of SQL*Plus and SnowSQL.
Their values are given by the user, defined in the script, or shown in a comment: scripts often say how they are
called, as in `spark-sql -f x.hql -d source=db.t`. A value from a comment is an example: where it may be a name, it
comes with an issue. A variable without a value stays as it is.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from headwater.analysis.template import Rendered
from headwater.errors import Issue, IssueCode, Severity
from headwater.sql.dialects import MICROSOFT
from headwater.text import Source

_POSTGRES = frozenset({"postgres", "redshift", "materialize", "risingwave"})
_HIVE = frozenset({"hive", "spark", "spark2", "databricks"})
_BRACES = r"\$\{(?:\w+:)?(?P<name>[A-Za-z_][\w.]*)\}"
_USES = {
    **dict.fromkeys(MICROSOFT, r"\$\((?P<other>\w+)\)"),
    **dict.fromkeys(_POSTGRES, r"(?<![:\w]):(?P<quote>['\"]?)(?P<other>[A-Za-z_]\w*)(?P=quote)(?!\w)"),
    "oracle": r"&&?(?P<other>\w+)\.?",
    "snowflake": r"&(?P<bracket>\{)?(?P<other>\w+)(?(bracket)\})",
}
"""How a variable is used, by dialect, beside `${x}`."""

_SIGNS = {**dict.fromkeys(_POSTGRES, "$:"), "oracle": "$&", "snowflake": "$&"}
"""The characters that a use of a variable begins with: most texts have none, and need no search."""

_DEFINITIONS = {
    **dict.fromkeys(_HIVE, r"^[ \t]*SET[ \t]+(?:hivevar:|hiveconf:|var\.)?(\w[\w.]*)\s*=\s*([^;]*)"),
    **dict.fromkeys(MICROSOFT, r"^[ \t]*:setvar[ \t]+(\w+)[ \t]+([^\n]*)"),
    **dict.fromkeys(_POSTGRES, r"^[ \t]*\\set[ \t]+(\w+)[ \t]+([^\n]*)"),
    "oracle": r"^[ \t]*DEF(?:INE)?[ \t]+(\w+)[ \t]*=[ \t]*([^\n;]*)",
    "snowflake": r"^[ \t]*!define[ \t]+(\w+)=([^\n]*)",
}
_EXAMPLE = re.compile(
    r"^[ \t]*(?:--|#|\*)[^\n]*?[ \t](?:-d|--?define|--?hivevar|--?hiveconf|-v|--var)[ \t]+(\w+)=(\S+)", re.MULTILINE
)
_NESTED = 5  # a value may use variables, whose values may again


def substitute(source: Source, dialect: str, variables: Mapping[str, Any]) -> Rendered | None:
    """The text with the values of its variables, and an issue for each value that is an example; None if it has none.

    >>> made = substitute(Source("-- spark-sql -d s=db.t\\nSELECT a FROM ${s}"), "spark", {})
    >>> made.text.splitlines()[1], [issue.code.name for issue in made.issues]
    ('SELECT a FROM db.t', ['APPROXIMATE_LINEAGE'])
    """
    if not any(sign in source.text for sign in _SIGNS.get(dialect, "$")):
        return None
    pattern, definition = _patterns(dialect)
    if pattern.search(source.text) is None:
        return None
    given = {name: str(value) for name, value in variables.items()}
    if definition is not None:
        defined = {match[1]: _unquoted(match[2]) for match in definition.finditer(source.text)}
        given = defined | given
    examples = {match[1]: _unquoted(match[2].rstrip("\\")) for match in _EXAMPLE.finditer(source.text)}
    values = examples | given
    return _replaced(source, pattern, values, examples.keys() - given.keys()) if values else None


def _replaced(
    source: Source, pattern: re.Pattern[str], values: Mapping[str, str], examples: frozenset[str] | set[str]
) -> Rendered | None:
    out: list[str] = []
    starts: list[int] = []
    places: list[tuple[int, int, bool]] = []
    issues: dict[str, Issue] = {}
    last = size = 0
    for match in pattern.finditer(source.text):
        name = match["name"] or match["other"]
        if name not in values:
            continue
        value = _expanded(_written(match, values[name]), pattern, values)
        for text, place in (
            (source.text[last : match.start()], (last, match.start(), True)),
            (value, (match.start(), match.end(), False)),
        ):
            out.append(text)
            starts.append(size)
            places.append(place)
            size += len(text)
        last = match.end()
        quoted = source.text[match.start() - 1 : match.start()] in ("'", '"')
        if name in examples and name not in issues and not quoted and not value.isdigit():
            issues[name] = _issue(source, match, value)
    if not out:
        return None
    text = "".join([*out, source.text[last:]])
    starts.append(size)
    places.append((last, len(source.text), True))
    return Rendered(text, source, tuple(starts), tuple(places), tuple(issues.values()))


def _expanded(value: str, pattern: re.Pattern[str], values: Mapping[str, str]) -> str:
    for _ in range(_NESTED):
        after = pattern.sub(lambda match: values.get(match["name"] or match["other"], match[0]), value)
        if after == value:
            break
        value = after
    return value


def _written(match: re.Match[str], value: str) -> str:
    """A value as psql writes it: `:'x'` as a string, `:"x"` as a quoted name."""
    quote = match.groupdict().get("quote") or ""
    return f"{quote}{value.replace(quote, quote * 2)}{quote}" if quote else value


def _issue(source: Source, match: re.Match[str], value: str) -> Issue:
    name = match["name"] or match["other"]
    return Issue(
        IssueCode.APPROXIMATE_LINEAGE,
        Severity.INFO,
        f"the variable `{name}` is taken to be `{value}`, as in an example in a comment",
        span=source.span(match.start(), match.end()),
        source_name=source.name,
        hint=f"say what it is with --var {name}=VALUE",
    )


def _unquoted(value: str) -> str:
    value = value.strip().rstrip(";")
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


@cache
def _patterns(dialect: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """The patterns of a use and of a definition."""
    use = _USES.get(dialect, r"(?P<other>(?!))")
    definition = _DEFINITIONS.get(dialect)
    flags = re.MULTILINE | re.IGNORECASE
    return re.compile(f"{_BRACES}|{use}"), re.compile(definition, flags) if definition is not None else None

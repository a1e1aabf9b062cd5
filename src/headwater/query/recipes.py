"""The recipe of a statement: what it takes to run it again, besides the states of the tables that it read."""

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from headwater.lake.metadata.snapshot import FileVersion, Recipe
from headwater.query.parse import Node, SqlStatement
from headwater.query.select import StatementExecution
from headwater.text import without_secrets

ENGINE = "duckdb"
MASKED = "a literal looks like a credential and is masked"
_NAMES = r"(?:password|passwd|pwd|secret|token|credential|api_?key|access_?key|account_?key|passphrase|private_?key)"
_PARTS = re.compile(r"(?P<comment>--[^\n]*|/\*.*?\*/)|'(?:[^']|'')*'|(?P<double>\"(?:[^\"]|\"\")*\")", re.DOTALL)
_BEFORE = re.compile(
    rf"(?:{_NAMES}\w*[\"'`]?\s*(?:=|<>|!=|:|=>|,|\bin\s*\(|\blike\b)?|(?:crypt|hmac)\w*\([^()]*)\s*$", re.I
)
_AFTER = re.compile(rf"\s+AS\s+[\"`]?\w*{_NAMES}", re.I)
_TOKENS = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\b[sr]k_live_\w{10,}|\bxox[a-z]-[\w-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_PLAIN = (str, int, float, bool, type(None))
_READS = (exp.ReadCSV, exp.ReadParquet)


def recipe_of(run: StatementExecution) -> tuple[str, Recipe]:
    """The text of a statement without credentials, and the rest of what running it again takes."""
    statement = run.statement
    text, is_masked = masked_sql(statement.text)
    reason = MASKED if is_masked else None
    parameters = _plain(run.parameters)
    if parameters is None and run.parameters is not None:
        reason = "its parameters are not all plain values"
    elif _has_secret(parameters):
        parameters, reason = None, "a parameter looks like a credential and is not kept"
    files = tuple(version for path in file_paths(statement) for version in file_versions(path))
    recipe = Recipe(engine=ENGINE, database=run.names.database, parameters=parameters, files=files, reason=reason)
    return text, recipe


def masked_sql(text: str, *, double: bool = False) -> tuple[str, bool]:
    """A statement whose literals that look like credentials are masked, and whether there were any. A literal does so
    by its form, or by the name that it is compared with, assigned to or called by. With `double`, texts in double
    quotes are literals too, as in Spark. Comments lose what looks like a credential, which changes no meaning.

    >>> masked_sql("SELECT 'ok' AS a FROM t WHERE token = 'x7' AND t.token = u.token")
    ("SELECT 'ok' AS a FROM t WHERE token = '***' AND t.token = u.token", True)
    """
    made, at, is_masked = [], 0, False
    for part in _PARTS.finditer(text):
        made.append(text[at : part.start()])
        literal, at = part[0], part.end()
        if part["comment"] is not None:
            literal = without_secrets(_TOKENS.sub("***", literal))
        elif len(literal) > 2 and (double or part["double"] is None) and _is_secret(text, part):
            literal, is_masked = f"{literal[0]}***{literal[0]}", True
        made.append(literal)
    return "".join([*made, text[at:]]), is_masked


def _is_secret(text: str, part: "re.Match[str]") -> bool:
    before, after = text[max(0, part.start() - 200) : part.start()], text[part.end() : part.end() + 200]
    return _looks_secret(part[0][1:-1]) or bool(_BEFORE.search(before) or _AFTER.match(after))


def _looks_secret(value: str) -> bool:
    return _TOKENS.search(value) is not None or without_secrets(value) != value


def _has_secret(parameters: Any) -> bool:
    pairs = parameters.items() if isinstance(parameters, dict) else (("", value) for value in parameters or ())
    return any(
        isinstance(value, str) and (_looks_secret(value) or re.search(_NAMES, name, re.I)) for name, value in pairs
    )


def file_versions(pattern: str) -> Iterator[FileVersion]:
    """The local files that a path or a pattern names, as they are now."""
    for path in sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]:
        if os.path.isfile(path):
            known = os.stat(path)
            yield FileVersion(path=os.path.abspath(path), size=known.st_size, modified=known.st_mtime_ns)


def file_paths(statement: SqlStatement) -> Iterator[str]:
    """The files that a statement names: `FROM 'a.csv'`, `read_parquet('b.parquet')`, `read_json([…])`."""
    for node in statement.tree.find_all(exp.Table):
        if isinstance(node.this, exp.Identifier) and "start" in node.this.meta:
            if statement.source.text[node.this.meta["start"]] == "'":
                yield node.name
        elif _is_reader(node.this):
            yield from (each.this for each in node.this.find_all(exp.Literal) if each.is_string)


def _is_reader(node: Node) -> bool:
    return isinstance(node, _READS) or (isinstance(node, exp.Anonymous) and node.name.lower().startswith("read_"))


def _plain(parameters: Any) -> Any:
    """Parameters that JSON can hold, None for others."""
    if isinstance(parameters, Mapping):
        plain = all(isinstance(value, _PLAIN) for value in parameters.values())
        return {str(name): value for name, value in parameters.items()} if plain else None
    if isinstance(parameters, Sequence) and not isinstance(parameters, str | bytes):
        return tuple(parameters) if all(isinstance(value, _PLAIN) for value in parameters) else None
    return None

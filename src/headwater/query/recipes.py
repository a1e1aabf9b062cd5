"""The recipe of a statement: what it takes to run it again, besides the states of the tables that it read."""

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from headwater.lake.metadata.snapshot import FileVersion, Recipe
from headwater.query.parse import Node, SqlStatement
from headwater.query.select import StatementExecution
from headwater.text import without_secrets

ENGINE = "duckdb"
MASKED = "a literal looks like a credential and is masked"
_PLAIN = (str, int, float, bool, type(None))
_READS = (exp.ReadCSV, exp.ReadParquet)


def recipe_of(run: StatementExecution) -> tuple[str, Recipe]:
    """The text of a statement without credentials, and the rest of what running it again takes."""
    statement = run.statement
    text = without_secrets(statement.text)
    reason = MASKED if text != statement.text else None
    parameters = _plain(run.parameters)
    if parameters is None and run.parameters is not None:
        reason = "its parameters are not all plain values"
    files = tuple(version for path in _paths(statement) for version in file_versions(path))
    recipe = Recipe(engine=ENGINE, database=run.names.database, parameters=parameters, files=files, reason=reason)
    return text, recipe


def file_versions(pattern: str) -> Iterator[FileVersion]:
    """The local files that a path or a pattern names, as they are now."""
    for path in sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]:
        if os.path.isfile(path):
            known = os.stat(path)
            yield FileVersion(path=os.path.abspath(path), size=known.st_size, modified=known.st_mtime_ns)


def _paths(statement: SqlStatement) -> Iterator[str]:
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

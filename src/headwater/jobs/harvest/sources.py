"""The parts of an estate: folders of SQL, dbt projects and manifests, query logs, files of events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from headwater.analysis.substitution import substitute
from headwater.analysis.template import is_template
from headwater.analysis.texts import read_sql, sql_files
from headwater.errors import InputError
from headwater.graph.facts import TableWords
from headwater.jobs.harvest.dbt.manifest import read_manifest
from headwater.jobs.harvest.dbt.project import PROJECT_FILE
from headwater.jobs.harvest.dbt.scripts import read_dbt
from headwater.jobs.harvest.logs import LOGS, read_log
from headwater.jobs.harvest.sqlmesh import is_sqlmesh, read_sqlmesh
from headwater.jobs.harvest.targets import Patterns
from headwater.jobs.harvest.units import Script
from headwater.lineage.schema import SchemaTable
from headwater.sql.dialects import dialect_names
from headwater.text import Source


@dataclass(frozen=True, slots=True)
class Estate:
    """Everything that is harvested together."""

    scripts: tuple[Script, ...]
    roots: tuple[str, ...]  # what was named; what was found there earlier and is there no more, is removed
    events: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()  # files that had to be guessed at
    tables: tuple[SchemaTable, ...] = ()  # that it declares and does not make
    dialects: tuple[str | None, ...] = ()  # that were named, for an estate without scripts
    words: tuple[TableWords, ...] = ()  # what it says of tables


@dataclass(frozen=True, slots=True)
class Rules:
    """The files of a folder that count, and the tables that they make."""

    targets: Patterns = field(default_factory=Patterns)
    exclude: tuple[str, ...] = ()  # patterns of paths below what was named
    variables: Mapping[str, Any] = field(default_factory=dict)  # of dbt projects, and of clients

    def takes(self, file: Path, root: Path) -> bool:
        """Return whether a file below a root is harvested."""
        inside = PurePath(file.relative_to(root)) if file.is_relative_to(root) else PurePath(file)
        steps = [inside, *inside.parents]
        return not any(step.match(pattern.rstrip("/")) for pattern in self.exclude for step in steps)


def read_estate(names: Sequence[str], dialect: str | None = None, rules: Rules | None = None) -> Estate:
    """The texts that `PATH` or `DIALECT=PATH` name, in order.

    RAISES: InputError when something cannot be read or is of no known kind.
    """
    rules = rules or Rules()
    scripts: list[Script] = []
    roots: list[str] = []
    events: list[Path] = []
    warnings: list[str] = []
    tables: list[SchemaTable] = []
    words: list[TableWords] = []
    parted = [_parted(name, dialect) for name in names]
    for own, path in parted:
        if _is_events(path):
            events.append(path)
            continue
        roots.append(str(path))
        if (path / PROJECT_FILE).is_file() or path.name.endswith("manifest.json"):
            if path.is_dir():
                found = read_dbt(path, own, rules.variables, partial(rules.takes, root=path))
            else:
                found = read_manifest(path, own, rules.variables)
        elif is_sqlmesh(path):
            found = read_sqlmesh(path, own, partial(rules.takes, root=path))
        else:
            scripts += _scripts_at(path, own, warnings, rules)
            continue
        scripts += found.scripts
        tables += found.tables
        words += found.words
        warnings += found.warnings
    seen: dict[str, Script] = {}
    for script in scripts:
        if script.name in seen:
            raise InputError(f"{script.name} was named twice")
        seen[script.name] = script
    named = tuple(dict.fromkeys(own for own, _ in parted))
    places = tuple(sorted(set(roots))), tuple(events)
    return Estate(tuple(scripts), *places, tuple(warnings), tuple(tables), named, tuple(words))


def _parted(name: str, dialect: str | None) -> tuple[str | None, Path]:
    before, equals, path = name.partition("=")
    if equals and before.lower() in dialect_names() and not Path(name).exists():
        return before.lower(), Path(path)
    return dialect, Path(name)


def _scripts_at(path: Path, dialect: str | None, warnings: list[str], rules: Rules) -> Iterator[Script]:
    if path.is_dir():
        found = [file for file in sql_files(path) if rules.takes(file, path)]
        if not found:
            warnings.append(f"there are no files of SQL in {path} (.sql, .hql, .ddl and the like)")
        for file in found:
            try:
                text = read_sql(file, warnings.append)
            except InputError as err:
                warnings.append(f"{err}; it was left out")
                continue
            yield _script(file, text, dialect, str(path), rules)
    elif path.suffix.lower() in LOGS:
        yield from read_log(path, dialect)
    else:
        yield _script(path, read_sql(path, warnings.append), dialect, str(path), rules)


def _script(file: Path, text: str, dialect: str | None, root: str, rules: Rules) -> Script:
    made = None if is_template(text) else substitute(Source(text, str(file)), dialect or "", rules.variables)
    text = text if made is None else made.text
    target = rules.targets.target(file)
    if target is None:
        return Script(str(file), text, dialect, root, rendered=made)
    namespace = target.catalog, target.schema
    return Script(str(file), text, dialect, root, makes=target.written(dialect), namespace=namespace)


def _is_events(path: Path) -> bool:
    """Return whether a file holds OpenLineage events: its first line has the time of one."""
    if path.suffix.lower() not in (".ndjson", ".jsonl", ".json") or not path.is_file():
        return False
    with path.open("rb") as lines:
        return b'"eventTime"' in lines.readline(1 << 20)
